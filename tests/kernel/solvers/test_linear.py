"""Starts for linear kernels: all but solved, feasible, and the engine has little left to do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

from verulam.kernel import Linear, RowCache, SupportVectorClassifier, solve_dual
from verulam.kernel._solvers import dual as module
from verulam.kernel._solvers.dual_problems import (
    classification_problem,
    one_class_problem,
    regression_problem,
)
from verulam.kernel._solvers.linear import linear_start
from verulam.kernel._solvers.linear_loops import descend_coordinates

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)) + 3.0
SIGNS = np.where(X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=400) > 1.5, 1.0, -1.0)
Y = X @ [1.0, 2.0, 0.0, -1.0] + 0.3 * RNG.normal(size=400)

PROBLEMS = {
    "bias": (classification_problem(SIGNS, np.full(400, 0.7)), np.arange(400)),
    "no bias": (classification_problem(SIGNS, np.full(400, 0.7), bias=False), np.arange(400)),
    "regression": (regression_problem(Y, np.full(400, 2.0), 0.1), np.tile(np.arange(400), 2)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_start_is_feasible_and_all_but_optimal(name):
    problem, owners = PROBLEMS[name]
    start = linear_start(problem, owners, X, 1e-3)
    assert (start >= problem.lower).all()
    assert (start <= problem.upper).all()
    if problem.constraint == "total":
        assert start.sum() == pytest.approx(0.0, abs=1e-9)
    plane = X.T @ np.bincount(owners, start, 400)
    value = 0.5 * plane @ plane + problem.linear @ start
    # Another kernel with the same Gram matrix takes the way of all kernels.
    full = solve_dual(problem, RowCache(1.0 * Linear(), X, 10.0), tolerance=1e-6)
    assert value == pytest.approx(full.objective, rel=2e-3)


@pytest.mark.parametrize("name", PROBLEMS)
def test_solver_ends_where_it_would_without(name, monkeypatch):
    problem, _ = PROBLEMS[name]
    own = solve_dual(problem, RowCache(Linear(), X, 10.0), tolerance=1e-6, block=64)
    monkeypatch.setattr(module, "linear_start", lambda *_: None)
    general = solve_dual(problem, RowCache(Linear(), X, 10.0), tolerance=1e-6, block=64)
    assert own.objective == pytest.approx(general.objective, rel=1e-6)
    assert own.violation <= 1e-6
    assert own.n_iter < general.n_iter


def test_agrees_with_liblinear():
    machine = SupportVectorClassifier(kernel="linear", bias=False, C=0.5, tol=1e-6)
    weights = (machine.fit(X, SIGNS).dual_coef_ @ machine.support_vectors_)[0]
    peer = LinearSVC(loss="hinge", C=0.5, fit_intercept=False, tol=1e-9, max_iter=10**6)
    assert_allclose(weights, peer.fit(X, SIGNS).coef_[0], atol=1e-3)


def test_other_programs_start_where_they_did():
    assert linear_start(one_class_problem(np.ones(400), 0.5), np.arange(400), X, 1e-3) is None


def test_compiled_descent_equals_plain_python():
    problem, owners = PROBLEMS["no bias"]
    ends = []
    for function in (descend_coordinates, descend_coordinates.py_func):
        values, plane = np.zeros(40), np.zeros(4)
        parts = (problem.linear[:40], problem.lower[:40], problem.upper[:40])
        passes = function(X[:40], owners[:40], *parts, 20, 1e-3, values, plane)
        ends.append((passes, values, plane))
    assert ends[0][0] == ends[1][0]
    assert_allclose(ends[0][1], ends[1][1], atol=1e-9)
    assert_allclose(ends[0][2], X[:40].T @ ends[0][1], atol=1e-9)
