"""KernelSpace: what learners of Gram matrices accept and refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.kernel import (
    FunctionKernel,
    Gaussian,
    KernelPrincipalComponents,
    MultipleKernelClassifier,
    ObjectKernel,
)

X = np.random.default_rng(0).normal(size=(12, 3))


def test_precomputed_matrix_gives_what_its_kernel_gives():
    kernel = Gaussian(1.5)
    direct = KernelPrincipalComponents(3, kernel=kernel).fit(X[:9])
    given = KernelPrincipalComponents(3, kernel="precomputed").fit(kernel(X[:9]))
    assert_allclose(given.transform(kernel(X[9:], X[:9])), direct.transform(X[9:]), atol=1e-12)


def test_objects_are_accepted():
    words = ["cart", "card", "bard", "dog", "dig"]
    kernel = ObjectKernel(lambda first, second: len(set(first) & set(second)))
    learner = KernelPrincipalComponents(2, kernel=kernel).fit(words)
    assert_allclose(learner.transform(words), learner.spectrum_.coordinates, atol=1e-10)


def test_the_kernel_adapts_to_the_training_data():
    learner = KernelPrincipalComponents(1).fit(X)
    assert learner.space_.kernel == Gaussian().adapted(X)


def test_later_changes_of_the_data_change_nothing():
    rows = X.copy()
    learner = KernelPrincipalComponents(2).fit(rows)
    before = learner.transform(X)
    rows[:] = 0.0
    assert_allclose(learner.transform(X), before)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((3, 2)), r"must be square.*\(3, 2\)"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "must be symmetric.*0.3"),
    ],
)
def test_matrix_that_is_no_gram_matrix(matrix, message):
    with pytest.raises(DataError, match=message):
        KernelPrincipalComponents(1, kernel="precomputed").fit(matrix)


def test_indefinite_matrix_is_named_with_its_eigenvalue():
    with pytest.warns(DataWarning, match="indefinite.*-1"):
        KernelPrincipalComponents(1, kernel="precomputed").fit(
            np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 5.0]])
        )


def test_kernel_without_numbers():
    broken = FunctionKernel(lambda left, right: np.full((len(left), len(right)), np.nan))
    with pytest.raises(DataError, match="returned nan for row 0"):
        KernelPrincipalComponents(1, kernel=broken).fit(X)


def test_strings_where_numbers_are_needed():
    with pytest.raises(ValueError, match="could not convert string to float"):
        KernelPrincipalComponents(1).fit([["a", "b"], ["c", "d"]])


@pytest.mark.parametrize("learner", [KernelPrincipalComponents(), MultipleKernelClassifier()])
def test_words_are_refused_with_kernels_that_take_them(learner):
    with pytest.raises(DataError, match="kernel of objects such as SpectrumKernel"):
        learner.fit([["red"], ["blue"]], [0, 1])


def test_what_is_done_with_an_indefinite_matrix_is_said():
    gram = np.diag([3.0, 2.0, 1.0, -0.5])
    with pytest.warns(DataWarning, match=r"is -0.5. Directions of negative .* were left out"):
        learner = KernelPrincipalComponents(4, kernel="precomputed").fit(gram)
    assert learner.eigenvalues_.min() > 0
