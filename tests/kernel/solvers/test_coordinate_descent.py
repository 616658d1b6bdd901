"""Dual coordinate descent: a warm start, feasible and all but solved, for linear kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

from verulam.kernel import Linear, SupportVectorClassifier, solve_dual
from verulam.kernel._solvers import dual as module
from verulam.kernel._solvers.coordinate_descent_loops import descend_coordinates
from verulam.kernel._solvers.dual import linear_warm_start
from verulam.kernel._solvers.dual_problems import (
    classification_problem,
    one_class_problem,
    regression_problem,
)
from verulam.kernel._solvers.row_cache import RowCache

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)) + 3.0
SIGNS = np.where(X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=400) > 1.5, 1.0, -1.0)
Y = X @ [1.0, 2.0, 0.0, -1.0] + 0.3 * RNG.normal(size=400)

PROBLEMS = {
    "bias": (classification_problem(SIGNS, np.full(400, 0.7)), np.arange(400)),
    "no bias": (
        classification_problem(SIGNS, np.full(400, 0.7), fit_intercept=False),
        np.arange(400),
    ),
    "regression": (regression_problem(Y, np.full(400, 2.0), 0.1), np.tile(np.arange(400), 2)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_start_is_feasible_and_all_but_optimal(name):
    problem, row_of = PROBLEMS[name]
    beta = linear_warm_start(problem, X, 1e-3)
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    if problem.constraint == "total":
        assert beta.sum() == pytest.approx(0.0, abs=1e-9)
    plane = X.T @ np.bincount(row_of, beta, 400)
    value = 0.5 * plane @ plane + problem.linear @ beta
    # Another kernel with the same Gram matrix takes the way of all kernels.
    full = solve_dual(problem, RowCache(1.0 * Linear(), X, 10.0), tol=1e-6)
    assert value == pytest.approx(full.objective, rel=2e-3)


@pytest.mark.parametrize("name", PROBLEMS)
def test_solver_ends_where_it_would_without(name, monkeypatch):
    problem, _ = PROBLEMS[name]
    quick = solve_dual(problem, RowCache(Linear(), X, 10.0), tol=1e-6, working_set_size=64)
    monkeypatch.setattr(module, "linear_warm_start", lambda *_: None)
    general = solve_dual(problem, RowCache(Linear(), X, 10.0), tol=1e-6, working_set_size=64)
    assert quick.objective == pytest.approx(general.objective, rel=1e-6)
    assert quick.kkt_violation <= 1e-6
    assert quick.n_iter < general.n_iter


def test_agrees_with_liblinear():
    machine = SupportVectorClassifier(kernel="linear", fit_intercept=False, C=0.5, tol=1e-6)
    weights = (machine.fit(X, SIGNS).dual_coef_ @ machine.support_vectors_)[0]
    peer = LinearSVC(loss="hinge", C=0.5, fit_intercept=False, tol=1e-9, max_iter=10**6)
    assert_allclose(weights, peer.fit(X, SIGNS).coef_[0], atol=1e-3)


def test_other_programs_start_where_they_did():
    assert linear_warm_start(one_class_problem(np.ones(400), 0.5), X, 1e-3) is None


def test_high_costs_need_no_kernel_values():
    # Most coefficients rest at a bound, so that thousands of passes over the others are short.
    rows = np.random.default_rng(0).normal(size=(600, 20))
    signs = np.where(rows[:, 0] + np.random.default_rng(1).normal(size=600) > 0, 1.0, -1.0)
    machine = SupportVectorClassifier(kernel="linear", fit_intercept=False, C=10.0)
    assert machine.fit(rows, signs).n_iter_ < 10


def test_compiled_descent_equals_plain_python():
    problem, row_of = PROBLEMS["no bias"]
    ends = []
    for function in (descend_coordinates, descend_coordinates.py_func):
        beta, plane = np.zeros(40), np.zeros(4)
        squares = (X[:40] ** 2).sum(axis=1)
        parts = (squares, problem.linear[:40], problem.lower[:40], problem.upper[:40])
        state = (beta, plane, np.arange(40))
        steps = function(X[:40], row_of[:40], *parts, 800, 1e-3, *state)
        ends.append((steps, beta, plane))
    assert ends[0][0] == ends[1][0]
    assert_allclose(ends[0][1], ends[1][1], atol=1e-9)
    assert_allclose(ends[0][2], X[:40].T @ ends[0][1], atol=1e-9)
