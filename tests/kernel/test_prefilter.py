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


def test_refusals():
    with pytest.raises(DataError, match="from 1 to 2"):
        near_boundary([[0.0], [1.0], [2.0]], [0, 1, 0], n_neighbors=3)
