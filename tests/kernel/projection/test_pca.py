"""Kernel principal components: scikit-learn's, linear PCA, shares, new inputs, preimages."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA, KernelPCA

from verulam.base import DataError, DataWarning
from verulam.kernel import Gaussian, KernelPrincipalComponents, Linear, ObjectKernel, Polynomial
from verulam.kernel._projection.pca import centred_spectrum
from verulam.kernel._tuning import ITERATED_EIGENVECTORS
from verulam.numerics import column_signs

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(50, 3)), RNG.normal(size=(7, 3))

CASES = [
    (Gaussian(1.0), {"kernel": "rbf", "gamma": 0.5}),
    (Polynomial(2), {"kernel": "poly", "degree": 2, "gamma": 1, "coef0": 1}),
    (Linear(), {"kernel": "linear"}),
]


@pytest.mark.parametrize(("kernel", "options"), CASES)
def test_agrees_with_scikit_learn(kernel, options):
    rows = X - X.mean(axis=0)  # where a preimage towards the mean is one towards zero
    ours = KernelPrincipalComponents(3, kernel=kernel).fit(rows)
    theirs = KernelPCA(3, fit_inverse_transform=True, **options).fit(rows)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_)
    assert_allclose(np.abs(ours.transform(NEW)), np.abs(theirs.transform(NEW)), atol=1e-10)
    assert_allclose(
        ours.inverse_transform(ours.transform(NEW)),
        theirs.inverse_transform(theirs.transform(NEW)),
        atol=1e-9,
    )


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Linear()])
def test_preimages_move_with_the_data(kernel):
    plain = KernelPrincipalComponents(3, kernel=kernel, alpha=1e-6).fit(X)
    moved = KernelPrincipalComponents(3, kernel=kernel, alpha=1e-6).fit(X + 50.0)
    back = moved.inverse_transform(moved.transform(X + 50.0)) - 50.0
    assert_allclose(back, plain.inverse_transform(plain.transform(X)), atol=1e-3)
    if isinstance(kernel, Linear):
        assert_allclose(back, X, atol=1e-3)


def test_linear_kernel_is_principal_components_analysis():
    shifted = X + 5.0
    ours = KernelPrincipalComponents(2, kernel="linear").fit(shifted)
    theirs = PCA(2).fit(shifted)
    assert_allclose(np.abs(ours.transform(NEW)), np.abs(theirs.transform(NEW)), atol=1e-10)
    assert_allclose(ours.explained_share_, theirs.explained_variance_ratio_)


def test_training_coordinates_are_scaled_eigenvectors():
    learner = KernelPrincipalComponents(4).fit(X)
    expected = np.sqrt(learner.eigenvalues_) * learner.eigenvectors_
    assert_allclose(learner.transform(X), expected, atol=1e-10)
    assert_allclose(learner.fit_transform(X), expected)


def test_quadratic_kernel_of_two_columns_has_five_dimensions():
    learner = KernelPrincipalComponents(None, kernel=Polynomial(2)).fit(X[:, :2])
    assert learner.n_components_ == 5
    assert_allclose(learner.explained_share_.sum(), 1.0)


def test_share_of_the_variance_chooses_the_number():
    every = KernelPrincipalComponents(None, kernel=Polynomial(2)).fit(X)
    components = KernelPrincipalComponents(0.8, kernel=Polynomial(2)).fit(X)
    count = components.n_components_
    assert every.explained_share_[: count - 1].sum() < 0.8 <= components.explained_share_.sum()


def test_sum_of_two_kernels_gives_joint_components():
    joint = Linear().on_columns([0]) + Linear().on_columns([1, 2])
    ours = KernelPrincipalComponents(2, kernel=joint).fit_transform(X)
    assert_allclose(np.abs(ours), np.abs(PCA(2).fit_transform(X)), atol=1e-10)


def test_iterated_eigenvectors_are_those_of_the_dense_solver():
    rows = RNG.normal(size=(ITERATED_EIGENVECTORS, 4))
    gram = Gaussian(2.0)(rows)
    few, every = centred_spectrum(gram, 5), centred_spectrum(gram)
    assert_allclose(few.values, every.values[:5])
    assert_allclose(few.vectors, every.vectors[:, :5], atol=1e-8)


def test_inputs_that_are_all_the_same():
    with pytest.raises(DataError, match="no variance"):
        KernelPrincipalComponents(1).fit(np.ones((5, 2)))


def test_preimage_needs_rows():
    same_letter = ObjectKernel(lambda first, second: float(first[0] == second[0]))
    learner = KernelPrincipalComponents(1, kernel=same_letter).fit(["a", "ab", "b"])
    with pytest.raises(DataError, match="the kernel compares objects"):
        learner.inverse_transform([[1.0]])


def test_preimage_of_the_wrong_width():
    with pytest.raises(DataError, match="must have 2 columns"):
        KernelPrincipalComponents(2).fit(X).inverse_transform(X)


def test_sign_does_not_turn_on_rounding():
    column = np.array([0.2, -0.5, 0.5, -0.5])
    for rounding in (-1e-12, 0.0, 1e-12):
        later, first = np.array([0, 0, rounding, 0]), np.array([0, rounding, 0, 0])
        vectors = np.stack([column + later, -column - first], axis=1)
        assert_allclose(column_signs(vectors), [-1.0, 1.0])


def test_largest_entry_is_positive():
    vectors = KernelPrincipalComponents(5).fit(X).eigenvectors_
    assert (vectors.max(axis=0) >= -vectors.min(axis=0)).all()


def test_kernels_that_cannot_compress_are_told():
    X = np.random.default_rng(0).normal(size=(100, 4))
    with pytest.warns(DataWarning, match="explain 2.* hardly more than the 2.02% of any"):
        narrow = KernelPrincipalComponents(2, kernel=Gaussian(0.05)).fit(X)
    assert narrow.explained_share_.sum() < 0.04
    wide = KernelPrincipalComponents(2, kernel=Gaussian(2.0)).fit(X)  # a warning would be an error
    assert wide.explained_share_.sum() > 0.2
