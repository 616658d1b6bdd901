"""Families of covariances: what they hold, count and estimate."""

import numpy as np
import pytest

from verulam.cluster import COVARIANCE_TYPES, Components
from verulam.cluster._mixture.components import (
    estimate_covariances,
    exceeds,
    parameter_count,
    raise_to_floor,
)

SHAPES = {
    "full": (2, 3, 3),
    "tied": (3, 3),
    "diag": (2, 3),
    "tied_diag": (3,),
    "spherical": (2,),
    "tied_spherical": (),
}


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_estimates_by_the_formula(kind):
    random = np.random.default_rng(0)
    X, shares = random.normal(size=(50, 3)), random.random((50, 2))
    weight = shares.sum(axis=0)
    means = shares.T @ X / weight[:, None]
    by_component = np.array([np.cov(X.T, aweights=shares[:, k], bias=True) for k in range(2)])
    pooled = np.tensordot(weight, by_component, 1) / weight.sum()
    expected = {
        "full": by_component,
        "tied": pooled,
        "diag": np.diagonal(by_component, axis1=1, axis2=2),
        "tied_diag": np.diagonal(pooled),
        "spherical": np.trace(by_component, axis1=1, axis2=2) / 3,
        "tied_spherical": np.trace(pooled) / 3,
    }[kind]
    products = np.einsum("tk,ti,tj->kij", shares, X, X)
    scatter = {"full": products, "tied": products.sum(axis=0)}.get(
        kind, np.diagonal(products, axis1=1, axis2=2)
    )
    estimate = estimate_covariances(weight, means, scatter, kind)
    assert estimate.shape == SHAPES[kind]
    np.testing.assert_allclose(estimate, expected)
    matrices = Components(weight, means, estimate, kind).matrices()
    assert matrices.shape == (2, 3, 3)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(matrices[0]).sum(),
        {"full": np.trace(by_component[0]), "diag": np.trace(by_component[0])}.get(
            kind, np.trace(by_component[0]) if kind == "spherical" else np.trace(pooled)
        ),
    )


def test_parameters_are_counted():
    counts = {kind: parameter_count(kind, 2, 3) for kind in COVARIANCE_TYPES}
    assert counts == {
        "tied_spherical": 9,
        "spherical": 11,
        "tied_diag": 10,
        "diag": 14,
        "tied": 11,
        "full": 17,
    }


def test_matrices_are_raised_in_the_direction_that_is_flat():
    scale = np.array([2.0, 10.0])
    flat = np.outer(scale, scale)
    raised, low = raise_to_floor(np.array([flat, np.diag(scale**2)]), "full", scale, 1e-3)
    np.testing.assert_array_equal(low, [True, False])
    np.testing.assert_allclose(np.linalg.eigvalsh(raised[0] / np.outer(scale, scale)), [1e-3, 2.0])
    np.testing.assert_array_equal(raised[1], np.diag(scale**2))


@pytest.mark.parametrize(
    ("kind", "covariances", "expected", "low"),
    [
        ("diag", [[0.0, 5.0], [1.0, 5.0]], [[0.04, 5.0], [1.0, 5.0]], [True, False]),
        ("tied_diag", [0.0, 5.0], [0.04, 5.0], [True]),
        ("spherical", [0.0, 5.0], [0.52, 5.0], [True, False]),
        ("tied_spherical", 0.0, 0.52, [True]),
    ],
)
def test_variances_are_raised(kind, covariances, expected, low):
    raised, which = raise_to_floor(np.array(covariances), kind, np.array([2.0, 10.0]), 0.01)
    np.testing.assert_allclose(raised, expected)
    np.testing.assert_array_equal(which, low)


def test_exceeds():
    assert exceeds(np.eye(2)[None], 0.9)
    assert not exceeds(np.array([np.eye(2), np.diag([1.0, 0.1])]), 0.5)
