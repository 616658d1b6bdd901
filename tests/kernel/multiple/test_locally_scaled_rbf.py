"""A covariance for each place: the formula, the limit of one for all, and data that need it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import (
    LocalMahalanobis,
    Mahalanobis,
    SupportVectorClassifier,
    gram_report,
)

RNG = np.random.default_rng(0)
X = np.vstack(
    [
        RNG.normal(size=(40, 2)) * [3.0, 0.3] + [6.0, 0.0],
        RNG.normal(size=(40, 2)) * [0.3, 3.0] + [0.0, 6.0],
    ]
)


def test_formula_for_two_rows():
    kernel = LocalMahalanobis(n_neighbors=12, width=0.8, shrinkage=0.2).adapted(X)
    x, y = X[3], X[50]
    shapes = []
    for row in (x, y):
        near = X[np.argsort(((X - row) ** 2).sum(axis=1))[:12]]
        shapes.append(0.8 * np.cov(near.T, bias=True) + 0.2 * np.cov(X.T, bias=True))
    assert_allclose(kernel.covariances([x, y]), shapes, rtol=1e-5)
    mean = (shapes[0] + shapes[1]) / 2
    first, second, both = (np.linalg.det(covariance) for covariance in (*shapes, mean))
    square = (x - y) @ np.linalg.inv(mean) @ (x - y)
    expected = (first * second) ** 0.25 / both**0.5 * np.exp(-0.5 * square / 0.8**2)
    assert_allclose(kernel([x], [y]), [[expected]], rtol=1e-4)


def test_it_is_a_kernel():
    gram = LocalMahalanobis(n_neighbors=5, shrinkage=0.01).adapted(X)(X)
    assert_allclose(gram, gram.T)
    assert_allclose(np.diag(gram), 1.0)
    assert gram_report(gram).positive_semidefinite


def test_one_covariance_for_all_is_the_global_kernel():
    local = LocalMahalanobis(shrinkage=1.0).adapted(X)(X)
    assert_allclose(local, Mahalanobis().adapted(X)(X), rtol=1e-6)
    everyone = LocalMahalanobis(n_neighbors=80, shrinkage=0.3).adapted(X)(X)
    assert_allclose(everyone, Mahalanobis().adapted(X)(X), rtol=1e-4, atol=1e-9)


def test_neighbours_along_a_line_are_nearer_than_across():
    kernel = LocalMahalanobis(shrinkage=0.02).adapted(X)
    # The first cloud lies along the first axis, the second along the second.
    for place, (along, across) in (
        ([6.0, 0.0], ([7.0, 0.0], [6.0, 1.0])),
        ([0.0, 6.0], ([0.0, 7.0], [1.0, 6.0])),
    ):
        values = kernel([place], [along, across])[0]
        assert values[0] > 2 * values[1]
    everywhere = Mahalanobis().adapted(X)([[6.0, 0.0]], [[7.0, 0.0], [6.0, 1.0]])[0]
    assert everywhere[0] < 1.5 * everywhere[1]


def test_few_rows_and_flat_columns_are_regularised():
    flat = np.column_stack([X[:, 0], np.zeros(80)])
    gram = LocalMahalanobis(n_neighbors=2).adapted(flat)(flat)
    assert np.isfinite(gram).all()


def test_machines_take_it():
    y = np.repeat([0, 1], 40)
    machine = SupportVectorClassifier(kernel=LocalMahalanobis()).fit(X[::2], y[::2])
    assert machine.score(X[1::2], y[1::2]) > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 1}, "2 or more"),
        ({"width": 0.0}, "width must be a finite number above 0"),
        ({"shrinkage": 0.0}, "shrinkage must be a finite number above 0"),
        ({"shrinkage": 2.0}, "shrinkage must be above 0 and at most 1"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(DataError, match=message):
        LocalMahalanobis(**options)
    with pytest.raises(DataError, match="call adapted"):
        LocalMahalanobis()(X)
