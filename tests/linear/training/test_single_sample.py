"""Single-sample training: compiled passes, and orders that see every row once."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from tests.linear.examples import overlapping, separable

from verulam.base import DataError
from verulam.linear._training import single_sample
from verulam.linear._training.single_sample import (
    OnlineState,
    UpdateRule,
    as_schedule,
    orders,
    shuffled_once,
    train_online,
)
from verulam.linear._training.single_sample_loops import (
    LEAST_MEAN_SQUARES,
    PERCEPTRON,
    RELAXATION,
    dense_pass,
    sparse_pass,
    winnow_pass,
)
from verulam.linear._training.two_class_problem import Problem


def _arguments(rule, margins=(0.5,)):
    rows, classes = overlapping(40)
    signs = np.where(classes == 1, 1.0, -1.0)
    order = np.random.default_rng(0).permutation(40)
    weights, drift, history = np.zeros(4), np.zeros(4), np.zeros((10, 4))
    rates = 0.1 / np.arange(1, 41)
    return rows, (signs, order, weights, drift, rule, np.array(margins), rates, True, 3, history)


OWN_MARGINS = np.linspace(0.1, 2.0, 40)


@pytest.mark.parametrize("rule", [PERCEPTRON, RELAXATION, LEAST_MEAN_SQUARES])
@pytest.mark.parametrize("margins", [(0.5,), OWN_MARGINS])
def test_passes_follow_the_rule(rule, margins):
    rows, shared = _arguments(rule, margins)
    signs, order, weights, drift, _, _, rates, _, clock, history = shared
    corrections, _ = dense_pass(rows, *shared, 0.0)
    expected, moments, steps = np.zeros(4), np.zeros(4), []
    for place, row in enumerate(order):
        augmented = signs[row] * np.r_[1.0, rows[row]]
        product, rate = expected @ augmented, rates[len(steps)]
        margin = margins[row] if len(margins) > 1 else margins[0]
        if rule == LEAST_MEAN_SQUARES:
            step = rate * (margin - product)
        elif product > margin:
            continue
        else:
            step = rate * (
                1.0 if rule == PERCEPTRON else (margin - product) / (augmented @ augmented)
            )
        expected = expected + step * augmented
        moments += step * (clock + place) * augmented
        steps.append(expected)
    assert corrections == len(steps)
    assert np.allclose(weights, expected)
    assert np.allclose(drift, moments)
    assert np.allclose(history, steps[:10])


@pytest.mark.parametrize("rule", [PERCEPTRON, RELAXATION, LEAST_MEAN_SQUARES])
@pytest.mark.parametrize("margins", [(0.5,), OWN_MARGINS])
def test_compressed_rows_pass_alike(rule, margins):
    rows, shared = _arguments(rule, margins)
    dense_pass(rows, *shared, 0.0)
    _, again = _arguments(rule, margins)
    table = sp.csr_array(rows)
    starts = table.indptr.astype(np.int64)
    sparse_pass(table.data, table.indices.astype(np.int64), starts, *again, 0.0)
    assert np.allclose(again[2], shared[2])
    assert np.allclose(again[3], shared[3])
    assert np.allclose(again[-1], shared[-1])


@pytest.mark.parametrize("both", [True, False])
def test_winnow_compiled_and_plain(both):
    rows, classes = overlapping(30)
    signs, order = np.where(classes == 1, 1.0, -1.0), np.arange(30)
    results = []
    for function in (winnow_pass, winnow_pass.py_func):
        positive, negative, weights = np.zeros(4), np.zeros(4), np.empty(4)
        history = np.zeros((5, 4))
        made = function(rows, signs, order, positive, negative, weights, 1.3, both, history)
        results.append((made, positive, negative, weights, history))
    assert results[0][0] == results[1][0] > 0
    for compiled, plain in zip(results[0][1:], results[1][1:], strict=True):
        assert np.allclose(compiled, plain)


def _problem(sample):
    rows, classes = sample
    return Problem(rows, np.where(classes == 1, 1.0, -1.0))


def test_the_mean_of_the_weights_over_all_rows_seen():
    problem = _problem(overlapping(30))
    rule = UpdateRule(PERCEPTRON, as_schedule(1.0), keep_mean=True)
    state = OnlineState.at(np.zeros(4), rule)
    training = train_online(problem, state, max_iter=3)
    weights, seen = np.zeros(4), []
    for row in list(problem.rows()) * 3:
        if weights @ row <= 0:
            weights = weights + row
        seen.append(weights)
    assert np.allclose(training.weights, np.mean(seen, axis=0))
    assert np.allclose(state.weights, weights)


@pytest.mark.parametrize("record", [None, "passes", "steps"])
def test_what_is_recorded(record):
    problem = _problem(separable())
    state = OnlineState.at(np.zeros(4), UpdateRule(PERCEPTRON, as_schedule(1.0)))
    training = train_online(problem, state, max_iter=100, record=record)
    expected = {None: 0, "passes": training.n_iter + 1, "steps": state.n_corrections + 1}
    assert len(training.path) == len(training.steps) == expected[record]
    if record:
        assert not training.path[0].any()
        assert np.array_equal(training.path[-1], training.weights)


def test_a_step_size_that_diverges_is_named_with_the_bound():
    problem = _problem(overlapping())
    rule = UpdateRule(LEAST_MEAN_SQUARES, as_schedule(50.0), margin=1.0, by_correction=False)
    with pytest.raises(DataError, match="learning_rate=50 makes the weights grow without bound"):
        train_online(problem, OnlineState.at(np.zeros(4), rule), max_iter=1000)


@pytest.fixture(params=["small", "large"])
def problem(request, monkeypatch):
    monkeypatch.setattr(
        single_sample, "SMALL_TABLE_BYTES", 10 if request.param == "large" else 10**9
    )
    rows, classes = overlapping(500)
    return Problem(rows, np.where(classes == 1, 1.0, -1.0))


def test_every_pass_sees_every_row_once_in_a_new_order(problem):
    passes = list(islice(orders(problem, np.random.default_rng(0)), 4))
    for order in passes:
        assert np.array_equal(np.sort(order), np.arange(500))
    assert len({tuple(order) for order in passes}) == 4


def test_without_chance_the_rows_stay_in_place(problem):
    assert shuffled_once(problem, None) is problem
    first, second = islice(orders(problem, None), 2)
    assert np.array_equal(first, np.arange(500))
    assert np.array_equal(second, np.arange(500))


def test_rows_signs_and_margins_are_shuffled_together(problem):
    problem = replace(problem, margins=problem.inputs[:, 0] ** 2)
    shuffled = shuffled_once(problem, np.random.default_rng(0))
    before, after = (
        {(*row, sign) for row, sign in zip(version.inputs, version.signs, strict=True)}
        for version in (problem, shuffled)
    )
    assert before == after
    assert np.array_equal(shuffled.margins, shuffled.inputs[:, 0] ** 2)


def test_large_tables_are_read_by_blocks(monkeypatch):
    monkeypatch.setattr(single_sample, "SMALL_TABLE_BYTES", 10)
    rows, classes = overlapping(5000)
    problem = Problem(rows, np.where(classes == 1, 1.0, -1.0))
    order = next(orders(problem, np.random.default_rng(0)))
    assert np.mean(np.diff(order) == 1) > 0.95
