"""Leaps along the last moves: feasible, never worse, and far fewer blocks on hard problems."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.kernel import Gaussian, RowCache
from verulam.kernel._solvers import dual as module
from verulam.kernel._solvers.dual import solve_dual
from verulam.kernel._solvers.dual_problems import classification_problem, nu_classification_problem
from verulam.kernel._solvers.subspace_acceleration import MEMORY, Bounds, Leaps

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
SIGNS = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * RNG.normal(size=300) > 0, 1.0, -1.0)
GRAM = Gaussian(2.0)(X)


class NoLeaps:
    def __init__(self, *_):
        pass

    def after(self, _move, _product, values, products):
        return values, products


def solved(problem, block=24):
    return solve_dual(problem, RowCache(Gaussian(2.0), X, 10.0), tolerance=1e-4, block=block)


@pytest.mark.parametrize("bias", [True, False])
def test_fewer_blocks_to_the_same_end(monkeypatch, bias):
    problem = classification_problem(SIGNS, np.full(300, 100.0), bias=bias)
    leaping = solved(problem)
    monkeypatch.setattr(module, "Leaps", NoLeaps)
    walking = solved(problem)
    assert leaping.n_iter < 0.7 * walking.n_iter
    assert leaping.objective == pytest.approx(walking.objective, rel=1e-6)


@pytest.mark.parametrize("constraint", ["total", "groups", "none"])
def test_bounds_and_sums_hold(constraint):
    if constraint == "groups":
        problem = nu_classification_problem(SIGNS, 0.3, np.ones(300))
    else:
        problem = classification_problem(SIGNS, np.full(300, 5.0), bias=constraint == "total")
    found = solve_dual(
        problem, RowCache(Gaussian(2.0), X, 10.0), tolerance=1e-6, block=24, max_iter=100_000
    )
    assert (found.coefficients >= problem.lower).all()
    assert (found.coefficients <= problem.upper).all()
    assert_allclose(found.products, GRAM @ found.coefficients, atol=1e-9)
    if constraint == "total":
        assert found.coefficients.sum() == pytest.approx(0.0, abs=1e-10)
    if constraint == "groups":
        assert found.coefficients[SIGNS > 0].sum() == pytest.approx(0.15)


def test_each_leap_lowers_the_program():
    cache = RowCache(Gaussian(2.0), X, 10.0)
    bounds = Bounds(-SIGNS, np.full(300, -1.0), np.full(300, 1.0), np.arange(300), None)
    leaps, values = Leaps(bounds, cache), np.zeros(300)
    products = np.zeros(300)

    def value(coefficients):
        return 0.5 * coefficients @ GRAM @ coefficients - SIGNS @ coefficients

    for _ in range(2 * MEMORY):
        move = 0.01 * (SIGNS - products) * (RNG.random(300) < 0.3)
        move = np.clip(values + move, -1.0, 1.0) - values
        values, products = values + move, products + GRAM @ move
        before = value(values)
        values, products = leaps.after(move, GRAM @ move, values, products)
        assert value(values) <= before + 1e-12
        assert np.abs(values).max() <= 1.0
        assert_allclose(products, GRAM @ values, atol=1e-10)


def test_no_leap_where_the_kernel_has_no_bottom():
    bounds = Bounds(np.zeros(2), np.full(2, -9.0), np.full(2, 9.0), np.arange(2), None)
    leaps = Leaps(bounds, RowCache(Gaussian(2.0), X[:2], 1.0))
    values, products = np.zeros(2), np.zeros(2)
    for move in np.eye(2):
        found = leaps.after(move, -move, values, products)
    assert found[0] is values
    assert found[1] is products
