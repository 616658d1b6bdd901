"""Gram matrices: verdicts, centring, cosines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.kernel import (
    DistanceKernel,
    EditKernel,
    Gaussian,
    GramReport,
    KernelPrincipalComponents,
    Linear,
    MultipleKernelClassifier,
    Sigmoid,
    SupportVectorClassifier,
    as_kernel,
    centre_gram,
    gram_report,
    mercer_check,
    normalise_gram,
)
from verulam.kernel._kernels import gram as module
from verulam.kernel._kernels.gram import check_gram, check_inner_product

X = np.random.default_rng(0).normal(size=(30, 2))


def test_verdicts():
    report = gram_report([[1.0, 2.0], [2.0, 1.0]])
    assert not report
    assert report.symmetric
    assert not report.positive_semidefinite
    assert_allclose((report.smallest_eigenvalue, report.largest_eigenvalue), (-1, 3))
    assert not gram_report([[1.0, 0.5], [0.0, 1.0]]).symmetric
    assert gram_report(X @ X.T), "rank two of thirty is no reason to refuse"


def test_large_matrices_by_iteration(monkeypatch):
    gram = Gaussian(1.0)(X) - 0.3 * np.eye(30)
    exact = gram_report(gram)
    monkeypatch.setattr(module, "ALL_EIGENVALUES", 10)
    quick = gram_report(gram)
    assert quick.smallest_eigenvalue == pytest.approx(exact.smallest_eigenvalue, abs=1e-8)
    assert not quick


def test_mercer():
    assert mercer_check("rbf", X)
    assert not mercer_check(Sigmoid(scale=1.0, offset=-1.0), X)


def test_centre_and_cosine():
    centred = centre_gram(X @ X.T)
    about_mean = X - X.mean(axis=0)
    assert_allclose(centred, about_mean @ about_mean.T, atol=1e-12)
    assert_allclose(normalise_gram(X @ X.T), Linear().normalised()(X))
    with pytest.raises(DataError, match="diagonal must not be negative"):
        normalise_gram([[-1.0]])


def test_what_machines_refuse_or_warn_of():
    with pytest.raises(DataError, match=r"must be square.*\(1, 2\)"):
        check_gram(np.ones((1, 2)))
    with pytest.raises(DataError, match=r"must be symmetric.*differ by 1"):
        check_gram(np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(DataError, match="finite"):
        check_gram(np.array([[np.nan]]))
    with pytest.warns(DataWarning, match=r"smallest eigenvalue is -1.*used as given"):
        check_gram(np.array([[1.0, 2.0], [2.0, 1.0]]))


UNCERTAIN = [
    Sigmoid(scale=1.0, offset=-1.0),
    Sigmoid(scale=1.0, offset=-1.0) + Gaussian(1.0),
    (2.0 * Sigmoid(scale=1.0, offset=-1.0)).on_columns([0]),
    lambda X, Y: -(X @ Y.T),
    DistanceKernel(lambda X, Y: (X[:, None, 0] - Y[None, :, 0]) ** 4, width=1.0),
]
ROWS, CLASSES = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2


@pytest.mark.parametrize("kernel", UNCERTAIN)
def test_kernels_that_are_none_on_the_data_are_told(kernel):
    with pytest.warns(DataWarning, match="of 40 inputs the smallest eigenvalue is -"):
        SupportVectorClassifier(kernel=kernel).fit(ROWS, CLASSES)
    with pytest.warns(DataWarning, match="no inner product on these data"):
        MultipleKernelClassifier([kernel, "linear"]).fit(ROWS, CLASSES)
    with pytest.warns(DataWarning, match="no inner product on these data"):
        check_inner_product(as_kernel(kernel), ROWS)


def test_kernels_that_are_some_are_not():
    SupportVectorClassifier(kernel=lambda X, Y: X @ Y.T).fit(ROWS, CLASSES)
    words = np.array(["ab", "abb", "b"], dtype=object)
    assert check_inner_product(EditKernel(), words) is None


def test_kernels_must_be_the_same_both_ways():
    with pytest.raises(DataError, match="not symmetric"):
        SupportVectorClassifier(kernel=lambda X, Y: X[:, :1] + 0.0 * Y[:, 0]).fit(ROWS, CLASSES)
    with pytest.raises(DataError, match="not symmetric"):
        KernelPrincipalComponents(kernel=lambda X, Y: X[:, :1] + 0.0 * Y[:, 0]).fit(ROWS)


def test_the_report_of_a_matrix_that_is_not_symmetric():
    """The symmetric part of [[2, 1], [0, 2]] has the eigenvalues 1.5 and 2.5."""
    report = gram_report([[2.0, 1.0], [0.0, 2.0]])
    assert report == GramReport(2, 1.0, 1.5, 2.5, symmetric=False, positive_semidefinite=True)
    assert not report
