"""Two-class machines: exclusive or, hard margins and their certificates, scales of nu."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from verulam.kernel import (
    BinaryMachine,
    Gaussian,
    Linear,
    NotSeparableError,
    Polynomial,
    SupportVectorClassifier,
)
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._svm.binary import SolverOptions, cost_machine, hard_machine, nu_machine

OPTIONS = SolverOptions(tol=1e-8, max_iter=10_000)
CORNERS = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])
ALL = np.ones(4, dtype=bool)


def test_exclusive_or():
    """Alpha = 1/8, b = 0, dual 0.25, margin sqrt 2."""
    cache = RowCache(Polynomial(2), CORNERS, 1.0)
    for machine in (
        hard_machine(cache, SIGNS, ALL, OPTIONS),
        cost_machine(cache, SIGNS, np.full(4, 1e3), OPTIONS),
    ):
        assert_allclose(machine.coefficients, SIGNS / 8, atol=1e-9)
        assert machine.intercept == pytest.approx(0.0, abs=1e-9)
        assert machine.dual_objective == pytest.approx(0.25)
        assert machine.margin == pytest.approx(np.sqrt(2))


def separable(seed, size=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 3))
    signs = np.where(X @ [1.0, -1.0, 0.5] > 0, 1.0, -1.0)
    return X + 0.3 * signs[:, None] * [1.0, -1.0, 0.5], signs


@pytest.mark.parametrize("seed", range(5))
def test_hard_margin_equals_a_huge_cost(seed):
    X, signs = separable(seed)
    machine = hard_machine(RowCache(Linear(), X, 1.0), signs, np.ones(60, bool), OPTIONS)
    peer = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, signs)
    plane = machine.coefficients @ X
    assert_allclose(plane, peer.coef_[0], rtol=1e-4)
    assert machine.intercept == pytest.approx(peer.intercept_[0], rel=1e-3, abs=1e-4)
    margins = signs * (X @ plane + machine.intercept)
    assert margins.min() == pytest.approx(1.0, abs=1e-5)
    assert machine.margin == pytest.approx(1 / np.linalg.norm(plane))
    supports = machine.coefficients != 0
    assert_allclose(margins[supports], 1.0, atol=1e-5)


def test_other_rows_do_not_matter():
    X, signs = separable(9)
    machine = hard_machine(RowCache(Linear(), X, 1.0), signs, np.ones(60, bool), OPTIONS)
    support = machine.coefficients != 0
    assert support.sum() < 10
    again = hard_machine(
        RowCache(Linear(), X[support], 1.0), signs[support], np.ones(support.sum(), bool), OPTIONS
    )
    assert_allclose(again.coefficients @ X[support], machine.coefficients @ X, atol=1e-6)


def test_not_separable_has_a_certificate():
    with pytest.raises(NotSeparableError, match="not separable") as raised:
        hard_machine(RowCache(Linear(), CORNERS, 1.0), SIGNS, ALL, OPTIONS)
    shares = raised.value.certificate
    assert_allclose([shares[SIGNS > 0].sum(), shares[SIGNS < 0].sum()], 1.0)
    assert_allclose((shares * SIGNS) @ CORNERS, 0.0, atol=1e-6)


def test_nu_and_cost_are_the_same_machine():
    """The cost 1 / (N rho) gives the machine of nu, scaled to a margin of one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    signs = np.where(X[:, 0] + 0.8 * rng.normal(size=80) > 0, 1.0, -1.0)
    cache = RowCache(Gaussian(1.0), X, 1.0)
    machine = nu_machine(cache, signs, 0.5, np.ones(80), OPTIONS)
    cost = np.abs(machine.coefficients).max()
    same = cost_machine(cache, signs, np.full(80, cost), OPTIONS)
    assert_allclose(machine.coefficients, same.coefficients, atol=1e-4)
    assert machine.intercept == pytest.approx(same.intercept, abs=1e-5)
    margins = signs * (cache.kernel(X) @ machine.coefficients + machine.intercept)
    assert (margins < 1 - 1e-6).mean() <= 0.5 <= (machine.coefficients != 0).mean()


def test_classifiers_report_a_machine_for_each_pair():
    X, signs = separable(3)
    (machine,) = SupportVectorClassifier(kernel="linear", C=1.0).fit(X, signs).machines_
    assert isinstance(machine, BinaryMachine)
    length = np.linalg.norm(machine.coefficients @ X)
    assert machine.margin_width == pytest.approx(2.0 / length)
    assert machine.dual_objective == pytest.approx(
        np.abs(machine.coefficients).sum() - 0.5 * length**2
    )
