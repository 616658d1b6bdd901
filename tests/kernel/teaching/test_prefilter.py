"""The filter before training: fewer rows, the same boundary."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.kernel import SupportVectorClassifier, near_boundary


def test_the_boundary_stays():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(800, 2))
    y = (X[:, 0] + 0.3 * np.sin(4 * X[:, 1]) > 0).astype(int)
    kept = near_boundary(X, y, n_neighbors=11)
    assert kept.mean() < 0.4
    whole = SupportVectorClassifier(C=10.0).fit(X, y)
    part = SupportVectorClassifier(kernel=whole.kernel_, C=10.0).fit(X[kept], y[kept])
    queries = rng.uniform(-1, 1, size=(2000, 2))
    assert (whole.predict(queries) == part.predict(queries)).mean() > 0.98


@pytest.mark.parametrize("n_neighbors", [3, 11])
def test_rows_with_a_neighbour_of_another_class_by_hand(n_neighbors):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(200, 2))
    y = np.array(["left", "middle", "right"])[np.digitize(X[:, 0], [-0.3, 0.3])]
    expected = []
    for row, label in zip(X, y, strict=True):
        # The nearest of all is the row itself.
        nearest = np.argsort(((X - row) ** 2).sum(axis=1))[1 : n_neighbors + 1]
        expected.append(bool((y[nearest] != label).any()))
    assert near_boundary(X, y, n_neighbors).tolist() == expected
    assert 0 < sum(expected) < len(y)


def test_refusals():
    with pytest.raises(DataError, match="from 1 to 2"):
        near_boundary([[0.0], [1.0], [2.0]], [0, 1, 0], n_neighbors=3)
