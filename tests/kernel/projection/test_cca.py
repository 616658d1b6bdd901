"""Kernel correlations: linear CCA, nonlinear relations, both views, new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import Gaussian, KernelCorrelations

RNG = np.random.default_rng(2)
SHARED = RNG.normal(size=(80, 2))
FIRST = SHARED @ RNG.normal(size=(2, 3)) + 0.3 * RNG.normal(size=(80, 3))
SECOND = SHARED @ RNG.normal(size=(2, 4)) + 0.3 * RNG.normal(size=(80, 4))


def linear_correlations(first, second):
    """Return canonical correlations as singular values of the whitened cross-products."""
    bases = [np.linalg.qr(view - view.mean(axis=0))[0] for view in (first, second)]
    return np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)


def test_linear_kernels_give_canonical_correlations():
    learner = KernelCorrelations(3, kernel="linear", target_kernel="linear", alpha=1e-12)
    learner.fit(FIRST, SECOND)
    assert_allclose(learner.correlations_, linear_correlations(FIRST, SECOND), atol=1e-8)


def test_projections_of_both_views_correlate_as_reported():
    learner = KernelCorrelations(2).fit(FIRST, SECOND)
    first, second = learner.transform(FIRST), learner.transform_target(SECOND)
    correlations = [np.corrcoef(first[:, j], second[:, j])[0, 1] for j in range(2)]
    assert_allclose(correlations, learner.correlations_, atol=1e-8)


def test_a_nonlinear_relation_holds_on_new_rows():
    angle = RNG.uniform(-np.pi, np.pi, size=300)
    first = np.column_stack([angle, RNG.normal(size=300)])
    second = np.column_stack([np.cos(angle), RNG.normal(size=300)])
    learner = KernelCorrelations(1, kernel=Gaussian(1.0), target_kernel=Gaussian(1.0))
    learner.fit(first[:200], second[:200])
    correlations = np.corrcoef(
        learner.transform(first[200:])[:, 0], learner.transform_target(second[200:])[:, 0]
    )
    assert correlations[0, 1] > 0.9
    assert linear_correlations(first, second)[0] < 0.3


def test_second_view_of_one_column_and_of_a_gram_matrix():
    column = KernelCorrelations(1, target_kernel="linear").fit(FIRST, SECOND[:, 0])
    matrix = np.outer(SECOND[:, 0], SECOND[:, 0])
    by_matrix = KernelCorrelations(1, target_kernel="precomputed").fit(FIRST, matrix)
    assert_allclose(column.correlations_, by_matrix.correlations_)
    assert_allclose(
        np.abs(column.transform_target(SECOND[:, 0])), np.abs(by_matrix.transform_target(matrix))
    )


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (SECOND[:5], "as many rows: X has 80, y 5"),
        (np.ones(80), "y must vary"),
        (np.full(80, np.nan), "finite numbers only"),
        (None, "y is the second view"),
    ],
)
def test_bad_second_view(second, message):
    with pytest.raises(DataError, match=message):
        KernelCorrelations().fit(FIRST, second)
