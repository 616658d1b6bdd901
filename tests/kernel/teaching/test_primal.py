"""The primal program: equal to the dual, worked planes, features written out, certificates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import SVC

from verulam.base import DataError
from verulam.kernel import (
    NotSeparableError,
    Polynomial,
    PrimalMachine,
    SupportVectorClassifier,
    polynomial_features,
    primal_machine,
)

CORNERS = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
EXCLUSIVE_OR = np.array([1.0, 1.0, -1.0, -1.0])


def sample(seed, gap=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(10, 40)), int(rng.integers(2, 5))))
    signs = np.where(X[:, 0] + (0.0 if gap else rng.normal(size=len(X))) > 0, 1.0, -1.0)
    signs[:2] = [1.0, -1.0]
    X[:, 0] = np.where(signs > 0, np.abs(X[:, 0]) + gap, -np.abs(X[:, 0]) - gap) if gap else X[:, 0]
    return X, signs


@pytest.mark.parametrize("seed", range(20))
def test_hard_margin_equals_the_dual(seed):
    X, signs = sample(seed, gap=0.2)
    primal = primal_machine(X, signs)
    assert isinstance(primal, PrimalMachine)
    assert_allclose(primal.outputs(X), X @ primal.weights + primal.intercept)
    dual = SupportVectorClassifier(kernel="linear", form="hard", tol=1e-8).fit(X, signs)
    assert_allclose(primal.weights, dual.dual_coef_[0] @ dual.support_vectors_, atol=1e-5)
    assert primal.intercept == pytest.approx(dual.intercept_[0], abs=1e-5)
    machine = dual.machines_[0]
    assert primal.objective == pytest.approx(machine.dual_objective, rel=1e-6)
    assert primal.margin == pytest.approx(machine.margin, rel=1e-6)
    # Canonical: the nearest rows have an output of one.
    assert (signs * primal.outputs(X)).min() == pytest.approx(1.0, abs=1e-6)
    # The prices of the constraints are the coefficients of the dual.
    assert_allclose((primal.multipliers * signs) @ X, primal.weights, atol=1e-5)
    assert primal.multipliers @ signs == pytest.approx(0.0, abs=1e-6)


def test_the_rows_nearest_the_boundary_are_the_width_of_the_margin_apart():
    """Measured across the boundary, and never more along any other direction."""
    X, signs = sample(4, gap=0.3)
    primal = primal_machine(X, signs)
    assert isinstance(primal, PrimalMachine)
    assert_allclose(primal.outputs(X), X @ primal.weights + primal.intercept)
    dual = SupportVectorClassifier(kernel="linear", form="hard", tol=1e-8).fit(X, signs)

    def gap(direction):
        places = X @ direction / np.linalg.norm(direction)
        return places[signs > 0].min() - places[signs < 0].max()

    assert primal.margin_width == pytest.approx(gap(primal.weights), rel=1e-5)
    assert dual.machines_[0].margin_width == pytest.approx(gap(primal.weights), rel=1e-5)
    assert primal.margin_width == 2 * primal.margin
    others = np.random.default_rng(0).normal(size=(200, X.shape[1]))
    assert max(gap(primal.weights + 0.3 * other) for other in others) < primal.margin_width


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("cost", [0.1, 10.0])
def test_soft_margin_equals_the_dual(seed, cost):
    X, signs = sample(seed)
    primal = primal_machine(X, signs, cost=cost)
    dual = SupportVectorClassifier(kernel="linear", C=cost, tol=1e-8).fit(X, signs)
    assert primal.objective == pytest.approx(dual.machines_[0].dual_objective, rel=1e-6)
    assert_allclose(primal.weights, dual.dual_coef_[0] @ dual.support_vectors_, atol=1e-5)
    assert_allclose(primal.slack, np.maximum(0, 1 - signs * primal.outputs(X)), atol=1e-12)
    assert primal.multipliers.max() <= cost * (1 + 1e-9)
    assert primal.multipliers.min() >= 0.0


def test_agrees_with_libsvm_of_a_huge_cost():
    X, signs = sample(3, gap=0.3)
    peer = SVC(kernel="linear", C=1e8, tol=1e-9).fit(X, signs)
    primal = primal_machine(X, signs)
    assert_allclose(primal.weights, peer.coef_[0], rtol=1e-4, atol=1e-5)


def test_exclusive_or_with_its_features_written_out():
    """Alpha = 1/8, objective 0.25, margin sqrt 2, as from the kernel."""
    features = polynomial_features(CORNERS, Polynomial(2))
    machine = primal_machine(features, EXCLUSIVE_OR)
    assert machine.objective == pytest.approx(0.25)
    assert machine.margin == pytest.approx(np.sqrt(2))
    # The constant is a feature, too, so that the bias may be shared out between them.
    assert_allclose(machine.outputs(features), EXCLUSIVE_OR, atol=1e-6)
    assert_allclose(machine.multipliers, 1 / 8, atol=1e-6)


def test_units_do_not_matter():
    X, signs = sample(5, gap=0.3)
    plain, large = primal_machine(X, signs), primal_machine(1e5 * X, signs)
    assert_allclose(1e5 * large.weights, plain.weights, rtol=1e-5, atol=1e-7)
    assert_allclose(1e10 * large.multipliers, plain.multipliers, rtol=1e-4, atol=1e-6)
    soft, costly = primal_machine(X, signs, cost=0.1), primal_machine(1e5 * X, signs, cost=1e-11)
    assert_allclose(1e5 * costly.weights, soft.weights, rtol=1e-5, atol=1e-7)


def test_not_separable_has_a_certificate():
    with pytest.raises(NotSeparableError, match="not separable by a plane") as raised:
        primal_machine(CORNERS, EXCLUSIVE_OR)
    shares = raised.value.certificate
    assert_allclose([shares[:2].sum(), shares[2:].sum()], 1.0)
    assert_allclose((shares * EXCLUSIVE_OR) @ CORNERS, 0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0], [1.0]], [1, 1]), "must be -1 and 1, both"),
        (([[0.0], [1.0]], [0, 1]), "must be -1 and 1, both"),
        (([[0.0], [1.0]], [1]), "2 entries"),
        (([[0.0], [np.nan]], [-1, 1]), "finite"),
        (([["a"], ["b"]], [-1, 1]), "table of numbers"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(DataError, match=message):
        primal_machine(*arguments)
    with pytest.raises(DataError, match="cost must be a finite number above 0"):
        primal_machine([[0.0], [1.0]], [-1, 1], cost=0.0)


@pytest.mark.parametrize("size", [1e-160, 1e160, 1e300])
@pytest.mark.parametrize("cost", [None, 1.0])
def test_sizes_whose_squares_are_beyond_floating_point_are_refused(size, cost):
    with pytest.raises(DataError, match="squares of such are beyond floating point"):
        primal_machine(size * np.array([[0.0], [1.0], [3.0]]), [-1, -1, 1], cost=cost)


@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_any_other_unit_gives_the_same_plane(size):
    rows = np.array([[0.0], [1.0], [3.0]])
    machine = primal_machine(size * rows, [-1, -1, 1])
    assert_allclose(machine.outputs(size * rows), [-2.0, -1.0, 1.0], atol=1e-6)
