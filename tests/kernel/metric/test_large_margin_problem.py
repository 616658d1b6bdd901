"""The large margin objective: its definition, gradient, candidates, scale and optimum."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad

from verulam.base import DataError
from verulam.kernel._metric import large_margin_problem as _large_margin_problem
from verulam.kernel._metric.large_margin_loops import pull, push, target_squares, within_reach
from verulam.kernel._metric.large_margin_problem import (
    best_scale,
    condition,
    find_candidates,
    learn_projection,
    margin_loss,
    margin_problem,
)

RNG = np.random.default_rng(0)
CODES = np.arange(60) % 3
X = RNG.normal(size=(60, 4)) + 0.8 * CODES[:, None]


def problem(weight=0.4, nearby=False):
    return margin_problem(X, CODES, 3, weight, nearby=nearby)


def by_definition(posed, projection):
    """Return the objective with every triple written out."""
    points = posed.inputs @ projection.T
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    total = 0.0
    for i, targets in enumerate(posed.targets):
        others = np.flatnonzero(posed.codes != posed.codes[i])
        if posed.allowed is not None:
            others = np.intersect1d(others, posed.allowed[i])
        for j in targets:
            total += (1 - posed.push_weight) * squares[i, j]
            total += posed.push_weight * np.maximum(0, 1 + squares[i, j] - squares[i, others]).sum()
    return total


@pytest.mark.parametrize("nearby", [False, True])
@pytest.mark.parametrize("shape", [(4, 4), (2, 4)])
def test_loss_is_the_sum_over_triples(shape, nearby):
    posed, projection = problem(nearby=nearby), RNG.normal(size=shape)
    loss = margin_loss(posed, find_candidates(posed, projection), projection)
    assert_allclose(loss.value, by_definition(posed, projection))


def test_targets_are_the_nearest_of_the_class():
    posed = problem()
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    squares[CODES[:, None] != CODES] = np.inf
    np.fill_diagonal(squares, np.inf)
    assert_array_equal(np.sort(posed.targets), np.sort(np.argsort(squares)[:, :3]))


def test_gradient_by_finite_differences():
    posed = problem()

    def loss(flat):
        projection = flat.reshape(3, 4)
        return margin_loss(posed, find_candidates(posed, projection), projection)

    for seed in range(5):
        point = np.random.default_rng(seed).normal(size=12)
        scale = np.linalg.norm(loss(point).gradient)
        error = check_grad(
            lambda flat: loss(flat).value, lambda flat: loss(flat).gradient.ravel(), point
        )
        assert error < 1e-5 * scale


def test_blocks_change_nothing(monkeypatch):
    projection = RNG.normal(size=(4, 4))
    whole = find_candidates(problem(), projection)
    monkeypatch.setattr(_large_margin_problem, "IMPOSTOR_BLOCK_ENTRIES", 7 * 60)
    blocks = find_candidates(problem(), projection)
    assert_array_equal(whole.starts, blocks.starts)
    assert_array_equal(whole.others, blocks.others)


def test_scale_is_the_best_multiple():
    posed = problem()
    scale = best_scale(posed, np.eye(4))
    values = [by_definition(posed, factor * scale * np.eye(4)) for factor in (0.9, 1.0, 1.1)]
    assert values[1] < min(values[0], values[2])
    assert best_scale(posed, 10 * np.eye(4)) == pytest.approx(scale / 10, rel=1e-2)


def test_same_optimum_from_two_starts():
    posed = problem()
    ends = [
        learn_projection(posed, start, 3000, 1e-8)
        for start in (np.eye(4), RNG.normal(size=(4, 4)), 0.1 * RNG.normal(size=(4, 4)))
    ]
    values = [by_definition(posed, end.projection) for end in ends]
    assert_allclose(values, values[0], rtol=2e-4)
    metrics = [end.projection.T @ end.projection for end in ends]
    assert_allclose(metrics[1], metrics[0], atol=0.03 * np.abs(metrics[0]).max())


def test_optimum_is_a_minimum_over_all_metrics():
    """The objective is convex in M: no mixture with another metric does better."""
    posed = problem()
    learned = learn_projection(posed, np.eye(4), 3000, 1e-8)
    best = by_definition(posed, learned.projection)
    for seed in range(20):
        other = np.random.default_rng(seed).normal(size=(4, 4))
        mixed = 0.98 * learned.projection.T @ learned.projection + 0.02 * other.T @ other
        assert by_definition(posed, np.linalg.cholesky(mixed).T) >= best * (1 - 1e-4)


def test_losses_fall_from_round_to_round():
    learned = learn_projection(problem(), np.eye(4), 200, 1e-6)
    assert (np.diff(learned.losses) <= 1e-9 * learned.losses[0]).all()


def test_classes_of_one_row_each():
    with pytest.raises(DataError, match="two rows or more of some class"):
        margin_problem(X[:3], np.arange(3), 1, 0.5, nearby=False)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_loops_equal_their_python_source():
    posed = problem()
    candidates = find_candidates(posed, np.eye(4))
    outcomes = []
    for compiled in (True, False):
        loops = [
            loop if compiled else loop.py_func
            for loop in (target_squares, push, pull, within_reach)
        ]
        squares, pulled, forces = np.empty((60, 3)), np.zeros((60, 3)), np.zeros((60, 4))
        loops[0](X, posed.targets, squares)
        listed = (candidates.starts, candidates.others, 0, 60)
        sums = loops[1](X, posed.targets, squares, *listed, pulled, forces, np.empty(4))
        loops[2](X, posed.targets, pulled, forces)
        counts, others = np.zeros(60, dtype=np.int64), np.zeros(3601, dtype=np.int32)
        half = 0.5 * (X**2).sum(axis=1)
        total = loops[3](X @ X.T, half, half - 2.0, CODES, 0, counts, others)
        outcomes.append([squares, pulled, forces, sums, counts, others[:total]])
    for first, second in zip(*outcomes, strict=True):
        assert_allclose(first, second)


def test_conditioned_problem_has_the_same_values():
    posed = problem()
    inputs = posed.inputs * [1.0, 100.0, 1e-3, 5.0]
    posed = replace(posed, inputs=inputs - inputs.mean(axis=0))
    there = condition(posed)
    assert_allclose(there.problem.inputs.std(axis=0), 1.0)
    assert_allclose(there.forth @ there.back, np.eye(4), atol=1e-10)
    projection = RNG.normal(size=(3, 4))
    value = by_definition(there.problem, projection)
    assert by_definition(posed, projection @ there.back) == pytest.approx(value)
    assert_allclose(posed.inputs @ (projection @ there.back).T, there.problem.inputs @ projection.T)


def test_constant_column_is_left_alone():
    posed = problem()
    inputs = posed.inputs.copy()
    inputs[:, 2] = 0.0
    there = condition(replace(posed, inputs=inputs))
    assert np.isfinite(there.problem.inputs).all()
    assert np.isfinite(there.back).all()
