"""Solvers: the same optimum whichever way."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.linear.examples import overlapping, separable

from verulam.linear._logistic import logistic_solvers as _logistic_solvers
from verulam.linear._logistic.logistic_problem import LogisticProblem
from verulam.linear._logistic.logistic_solvers import (
    lbfgs_step,
    solve_l1,
    solve_lbfgs,
    solve_newton,
)


def _problem(n_classes=2, alpha=0.5, inputs=None):
    rows, classes = overlapping(150)
    codes = classes if n_classes == 2 else np.random.default_rng(1).integers(0, n_classes, 150)
    return LogisticProblem(rows if inputs is None else inputs, codes, n_classes, None, alpha)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 50.0])
def test_both_solvers_reach_the_same_point(alpha):
    problem = _problem(alpha=alpha)
    newton, lbfgs = solve_newton(problem, 1e-9, 100), solve_lbfgs(problem, 1e-9, 500)
    assert newton.converged
    assert np.allclose(newton.coefficients, lbfgs.coefficients, atol=1e-6)


def test_the_loss_falls_with_every_step():
    assert (np.diff(solve_newton(_problem(), 1e-9, 100).losses) <= 1e-12).all()
    assert (np.diff(solve_lbfgs(_problem(4), 1e-9, 500).losses) <= 1e-9).all()


@pytest.mark.parametrize("n_classes", [3, 5])
def test_the_gradient_vanishes_and_free_weights_sum_to_zero(n_classes):
    problem = _problem(n_classes)
    solution = solve_lbfgs(problem, 1e-9, 500)
    assert solution.converged
    assert np.abs(problem.value_and_gradient(solution.coefficients)[1]).max() < 1e-5
    assert np.allclose(solution.coefficients.sum(axis=0), 0.0, atol=1e-7)


def test_whitening_saves_steps_where_scales_differ():
    rows = overlapping(150)[0] * [1e-3, 1.0, 1e3]
    dense = solve_lbfgs(_problem(4, inputs=rows), 1e-7, 2000)
    plain = solve_lbfgs(_problem(4, inputs=sp.csr_array(rows)), 1e-7, 2000)
    assert dense.n_iter < plain.n_iter
    values = [_problem(4, inputs=rows).value(solution.coefficients) for solution in (dense, plain)]
    assert values[0] <= values[1] + 1e-6


@pytest.mark.parametrize("solver", [solve_newton, solve_lbfgs])
def test_separable_classes_are_noticed(solver):
    rows, classes = separable()
    solution = solver(LogisticProblem(rows, classes, 2, None, 0.0), 1e-9, 500)
    assert solution.separated
    assert np.isfinite(solution.coefficients).all()


def test_dependent_columns_share_their_weight():
    rows = overlapping(150)[0]
    doubled = _problem(alpha=0.0, inputs=np.c_[rows, rows[:, 0]])
    solution = solve_newton(doubled, 1e-9, 100).coefficients[0]
    single = solve_newton(_problem(alpha=0.0), 1e-9, 100).coefficients[0]
    assert solution[1] == pytest.approx(solution[4])
    assert solution[1] + solution[4] == pytest.approx(single[1], rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_sizes_of_weights_as_penalty(n_classes):
    problem = _problem(n_classes, alpha=0.0)
    price = 16.0 if n_classes == 2 else 5.0
    solution = solve_l1(problem, price, 1e-10, 2000)
    gradient = problem.value_and_gradient(solution.coefficients)[1]
    weights = solution.coefficients[:, 1:]
    zero = weights == 0
    assert solution.converged
    assert zero.any()
    # At the optimum the slope is minus the price of a weight, or no larger where it is zero.
    assert np.allclose(gradient[:, 0], 0.0, atol=1e-4)
    assert np.allclose(gradient[:, 1:][~zero], -price * np.sign(weights[~zero]), atol=1e-3)
    assert (np.abs(gradient[:, 1:][zero]) <= price + 1e-6).all()


@pytest.mark.parametrize("solver", [solve_newton, solve_lbfgs])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_problems_begin_on_a_sample_and_end_at_the_same_point(solver, weighted, monkeypatch):
    rows, classes = overlapping(800)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=800) if weighted else None
    problem = LogisticProblem(rows, classes, 2, weights, 0.5)
    whole = solver(problem, 1e-9, 500)
    monkeypatch.setattr(_logistic_solvers, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(_logistic_solvers, "SAMPLE_ROWS_PER_WEIGHT", 1)
    sampled = solver(problem, 1e-9, 500)
    assert sampled.converged
    assert sampled.losses[0] != whole.losses[0]
    assert np.allclose(sampled.coefficients, whole.coefficients, atol=1e-6)


def test_a_sample_that_can_be_separated_is_no_start(monkeypatch):
    rows, classes = overlapping(800)
    problem = LogisticProblem(rows, classes, 2, None, 0.0)
    plain = solve_newton(problem, 1e-9, 500)
    monkeypatch.setattr(_logistic_solvers, "SAMPLE_ROWS", 6)
    monkeypatch.setattr(_logistic_solvers, "SAMPLE_ROWS_PER_WEIGHT", 1)
    solution = solve_newton(problem, 1e-9, 500)
    assert np.allclose(solution.coefficients, plain.coefficients, atol=1e-6)


def test_a_curvature_corrected_by_steps_is_that_of_a_bowl():
    """After a step in every direction the corrected curvature is the true one."""
    random = np.random.default_rng(0)
    root = random.normal(size=(3, 3))
    bowl = root @ root.T + np.eye(3)
    point, memory = np.array([3.0, -2.0, 1.0]), []
    for _ in range(12):
        gradient = bowl @ point
        step = -lbfgs_step(lambda slope: slope / 4.0, memory, gradient)
        step = step * -(gradient @ step) / (step @ bowl @ step)
        if np.abs(gradient).max() < 1e-9:
            break
        memory.append((step, bowl @ step))
        point = point + step
    assert len(memory) == 3
    assert np.allclose(point, 0.0, atol=1e-9)
