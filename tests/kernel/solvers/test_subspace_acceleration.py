"""Subspace acceleration: feasible, never worse, and far fewer working sets on hard problems."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.kernel import Gaussian
from verulam.kernel._solvers import dual as module
from verulam.kernel._solvers.dual import solve_dual
from verulam.kernel._solvers.dual_problems import (
    BoxProblem,
    classification_problem,
    nu_classification_problem,
)
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._solvers.subspace_acceleration import SubspaceAcceleration
from verulam.kernel._tuning import ACCELERATED_MOVES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
SIGNS = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * RNG.normal(size=300) > 0, 1.0, -1.0)
GRAM = Gaussian(2.0)(X)


class NoAcceleration:
    def __init__(self, *_):
        pass

    def joint_step(self, _move, _K_move, beta, K_beta):
        return beta, K_beta


def solved(problem):
    return solve_dual(problem, RowCache(Gaussian(2.0), X, 10.0), tol=1e-4, working_set_size=24)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fewer_working_sets_to_the_same_end(monkeypatch, fit_intercept):
    problem = classification_problem(SIGNS, np.full(300, 100.0), fit_intercept=fit_intercept)
    accelerated = solved(problem)
    monkeypatch.setattr(module, "SubspaceAcceleration", NoAcceleration)
    plain = solved(problem)
    assert accelerated.n_iter < 0.7 * plain.n_iter
    assert accelerated.objective == pytest.approx(plain.objective, rel=1e-6)


@pytest.mark.parametrize("constraint", ["total", "groups", "none"])
def test_bounds_and_sums_hold(constraint):
    if constraint == "groups":
        problem = nu_classification_problem(SIGNS, 0.3, np.ones(300))
    else:
        problem = classification_problem(
            SIGNS, np.full(300, 5.0), fit_intercept=constraint == "total"
        )
    solution = solve_dual(
        problem, RowCache(Gaussian(2.0), X, 10.0), tol=1e-6, working_set_size=24, max_iter=100_000
    )
    assert (solution.coefficients >= problem.lower).all()
    assert (solution.coefficients <= problem.upper).all()
    assert_allclose(solution.K_beta, GRAM @ solution.coefficients, atol=1e-9)
    if constraint == "total":
        assert solution.coefficients.sum() == pytest.approx(0.0, abs=1e-10)
    if constraint == "groups":
        assert solution.coefficients[SIGNS > 0].sum() == pytest.approx(0.15)


def test_each_joint_step_lowers_the_program():
    cache = RowCache(Gaussian(2.0), X, 10.0)
    box = BoxProblem(-SIGNS, np.full(300, -1.0), np.full(300, 1.0), np.arange(300), None)
    acceleration, beta = SubspaceAcceleration(box, cache), np.zeros(300)
    K_beta = np.zeros(300)

    def value(coefficients):
        return 0.5 * coefficients @ GRAM @ coefficients - SIGNS @ coefficients

    for _ in range(2 * ACCELERATED_MOVES):
        move = 0.01 * (SIGNS - K_beta) * (RNG.random(300) < 0.3)
        move = np.clip(beta + move, -1.0, 1.0) - beta
        beta, K_beta = beta + move, K_beta + GRAM @ move
        before = value(beta)
        beta, K_beta = acceleration.joint_step(move, GRAM @ move, beta, K_beta)
        assert value(beta) <= before + 1e-12
        assert np.abs(beta).max() <= 1.0
        assert_allclose(K_beta, GRAM @ beta, atol=1e-10)


def test_no_joint_step_where_the_kernel_has_no_bottom():
    box = BoxProblem(np.zeros(2), np.full(2, -9.0), np.full(2, 9.0), np.arange(2), None)
    acceleration = SubspaceAcceleration(box, RowCache(Gaussian(2.0), X[:2], 1.0))
    beta, K_beta = np.zeros(2), np.zeros(2)
    for move in np.eye(2):
        after = acceleration.joint_step(move, -move, beta, K_beta)
    assert after[0] is beta
    assert after[1] is K_beta
