"""Corrections kept for a vote: with a kernel, in the inputs themselves, and what they vote."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel
from tests.linear.examples import overlapping, separable

from verulam.linear import augment
from verulam.linear._online import correction_history as votes_module
from verulam.linear._online.correction_history import (
    kernel_perceptron,
    linear_perceptron,
    linear_votes,
    voting_pass,
)
from verulam.linear._training.two_class_problem import Problem


def _problem(sample):
    rows, classes = sample
    return Problem(rows, np.where(classes == 1, 1.0, -1.0))


@pytest.mark.parametrize("sample", [overlapping(80), separable()])
def test_inputs_give_the_corrections_of_a_linear_kernel(sample):
    problem = _problem(sample)
    by_kernel = kernel_perceptron(
        problem, lambda a, b: 1.0 + linear_kernel(a, b), 30, np.random.default_rng(0)
    )
    by_inputs = linear_perceptron(problem, 30, np.random.default_rng(0))
    assert by_inputs.rows.tolist() == by_kernel.rows.tolist()
    assert by_inputs.survivals.tolist() == by_kernel.survivals.tolist()
    assert by_inputs.n_iter == by_kernel.n_iter
    assert by_inputs.converged == by_kernel.converged == (by_inputs.n_iter < 30)


def test_criterion_and_errors_are_kept_only_where_asked_for():
    problem = _problem(overlapping(80))
    for most, recorded in ((0, 1), (5, 6), (10_000, None)):
        history = kernel_perceptron(
            problem, linear_kernel, 3, np.random.default_rng(0), most_recorded=most
        )
        assert len(history.criterion) == len(history.errors) == (recorded or len(history.rows) + 1)


@pytest.mark.parametrize("signs_only", [True, False])
def test_blocks_do_not_change_a_vote(signs_only, monkeypatch):
    problem = _problem(overlapping(80))
    history = linear_perceptron(problem, 4, np.random.default_rng(0))
    corrections = problem.rows()[history.rows]
    vectors, rows = np.cumsum(corrections, axis=0), augment(problem.inputs)
    voices = rows @ vectors.T
    expected = (np.sign(voices) if signs_only else voices) @ history.survivals
    for block in (7, 10_000):
        monkeypatch.setattr(votes_module, "VOTE_ROWS", block)
        votes = linear_votes(rows, corrections, history.survivals, signs_only=signs_only)
        assert np.allclose(votes, expected)


def test_compiled_and_plain():
    problem = _problem(overlapping(50))
    results = []
    for function in (voting_pass, voting_pass.py_func):
        weights, rows = np.zeros(4), np.empty(50, dtype=np.int64)
        survivals = np.zeros(51, dtype=np.int64)
        made = function(problem.inputs, problem.signs, np.arange(50), weights, rows, survivals)
        assert survivals.sum() == 50
        results.append((made, rows[:made].tolist(), survivals.tolist(), weights))
    assert results[0][:3] == results[1][:3]
    assert np.allclose(results[0][3], results[1][3])
