"""GaussianClassifier: its formulas, scikit-learn's numbers, limits and bad input."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError, DataWarning
from verulam.parametric import (
    COVARIANCE_TYPES,
    GaussianClassifier,
    LinearDiscriminants,
    QuadraticDiscriminants,
)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_full_is_quadratic_discriminant_analysis(iris):
    X, y = iris
    ours = GaussianClassifier(covariance_type="full").fit(X, y)
    peer = QuadraticDiscriminantAnalysis().fit(X, y)
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_tied_is_linear_discriminant_analysis(iris):
    X, y = iris
    ours = GaussianClassifier(covariance_type="tied").fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert_allclose(ours.covariances_, peer.covariance_)
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_diag_is_gaussian_naive_bayes(iris):
    X, y = iris
    ours = GaussianClassifier(covariance_type="diag").fit(X, y)
    peer = GaussianNB(var_smoothing=0.0).fit(X, y)
    assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-8, atol=1e-12)


def test_one_dimension_by_hand():
    classifier = GaussianClassifier(covariance_type="diag")
    classifier.fit([[0.0], [2.0], [5.0], [7.0], [9.0]], [0, 0, 1, 1, 1])
    x = 3.0
    means, variances, priors = (
        np.array([1.0, 7.0]),
        np.array([1.0, 8.0 / 3.0]),
        np.array([0.4, 0.6]),
    )
    g = -0.5 * np.log(2 * np.pi * variances) - (x - means) ** 2 / (2 * variances) + np.log(priors)
    assert_allclose(classifier.class_log_density([[x]])[0] + np.log(priors), g)
    assert_allclose(classifier.decision_function([[x]]), g[1] - g[0])
    # Two means, two variances, and one of the two priors.
    assert classifier.n_parameters_ == 5


def test_two_spheres_by_hand():
    """Means -1 and 1, variance 1, equal priors: the posterior at 0.5 is sigmoid(1) = 0.7311."""
    classifier = GaussianClassifier(covariance_type="tied")
    classifier.fit([[-2.0], [0.0], [0.0], [2.0]], [0, 0, 1, 1])
    assert_allclose(classifier.means_[:, 0], [-1.0, 1.0])
    assert_allclose(classifier.covariances_, [[1.0]])
    assert_allclose(classifier.predict_proba([[0.5]])[0, 1], 0.7310585786)
    assert_allclose(classifier.decision_function([[0.5]]), [1.0])


@pytest.mark.parametrize("family", COVARIANCE_TYPES)
def test_discriminants_read_off_as_weights(iris, family):
    X, y = iris
    classifier = GaussianClassifier(covariance_type=family).fit(X, y)
    discriminants = classifier.discriminants()
    kind = LinearDiscriminants if family.startswith("tied") else QuadraticDiscriminants
    assert isinstance(discriminants, kind)
    differences = discriminants(X) - classifier.class_log_density(X) - np.log(classifier.priors_)
    # Up to a constant of each row the discriminants are the joint log-likelihoods.
    assert_allclose(differences - differences[:, :1], 0.0, atol=1e-9)
    assert_array_equal(discriminants(X).argmax(axis=1), classifier.predict(X))


@pytest.mark.parametrize("family", COVARIANCE_TYPES)
def test_class_densities_agree_with_scipy(iris, family):
    X, y = iris
    classifier = GaussianClassifier(covariance_type=family).fit(X, y)
    covariances = classifier.covariances_
    if family.endswith("spherical"):
        covariances = np.multiply.outer(covariances, np.ones(4))
    if family not in ("full", "tied"):
        covariances = np.einsum("...i,ij->...ij", covariances, np.eye(4))
    matrices = np.broadcast_to(covariances, (3, 4, 4))
    expected = [
        multivariate_normal(mean, matrix).logpdf(X)
        for mean, matrix in zip(classifier.means_, matrices, strict=True)
    ]
    assert_allclose(classifier.class_log_density(X), np.transpose(expected), rtol=1e-9)


def test_regularisation_runs_from_full_to_tied_to_sphere(iris):
    X, y = iris
    pooled = GaussianClassifier(covariance_type="full", shared_weight=1.0).fit(X, y)
    shared = GaussianClassifier(covariance_type="tied").fit(X, y)
    assert_allclose(pooled.predict_proba(X), shared.predict_proba(X), atol=1e-9)
    sphere = GaussianClassifier(covariance_type="full", spherical_weight=1.0).fit(X, y)
    spherical = GaussianClassifier(covariance_type="tied_spherical").fit(X, y)
    assert_allclose(sphere.predict_proba(X), spherical.predict_proba(X), atol=1e-9)


def test_weights_are_mixed_shares():
    with pytest.raises(DataError, match=r"their sum is 1\.2, above 1"):
        GaussianClassifier(shared_weight=0.6, spherical_weight=0.6).fit([[0.0], [1.0]], [0, 1])


def test_number_of_parameters(iris):
    X, y = iris
    assert GaussianClassifier(covariance_type="full").fit(X, y).n_parameters_ == 30 + 12 + 2
    fixed = GaussianClassifier(covariance_type="tied_diag", priors="equal").fit(X, y)
    assert fixed.n_parameters_ == 4 + 12


def test_priors_move_the_boundary():
    X, y = [[-2.0], [0.0], [0.0], [2.0]], [0, 0, 1, 1]
    classifier = GaussianClassifier(priors=[0.9, 0.1]).fit(X, y)
    # The log-odds 2x + ln(1/9) vanish at x = ln 3.
    assert_allclose(classifier.decision_function([[np.log(3.0)]]), [0.0], atol=1e-12)
    with pytest.raises(DataError, match="must not be negative"):
        GaussianClassifier(priors=[-0.5, 1.5]).fit(X, y)


def test_scales_of_the_columns_do_not_matter(iris):
    X, y = iris
    scales = np.array([1e-9, 1.0, 1e6, 1e12])
    for family in ("full", "tied", "diag"):
        plain = GaussianClassifier(covariance_type=family).fit(X, y)
        scaled = GaussianClassifier(covariance_type=family).fit(X * scales, y)
        assert_allclose(scaled.predict_proba(X * scales), plain.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("family", ["full", "tied", "tied_diag"])
@pytest.mark.parametrize("value", [7.0, 0.1, 1e8 / 3])
def test_constant_column_is_named_and_harmless(iris, family, value):
    """Rounding must not pass for variance, whatever the value is in binary."""
    X, y = (part[:137] for part in iris)
    wider = np.column_stack([X, np.full(len(X), value)])
    with pytest.warns(DataWarning, match=r"degenerate \(constant columns, counted from 0: \[4\]\)"):
        classifier = GaussianClassifier(covariance_type=family).fit(wider, y)
    plain = GaussianClassifier(covariance_type=family).fit(X, y)
    assert_allclose(classifier.predict_proba(wider), plain.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("family", COVARIANCE_TYPES)
def test_large_offset_costs_no_predictions(iris, family):
    X, y = iris
    near = GaussianClassifier(covariance_type=family).fit(X, y)
    far = GaussianClassifier(covariance_type=family).fit(X + 1e7, y)
    assert_array_equal(far.predict(X + 1e7), near.predict(X))
    assert_allclose(far.predict_proba(X + 1e7), near.predict_proba(X), atol=1e-4)


def test_fitted_family_outlives_set_params(iris):
    X, y = iris
    classifier = GaussianClassifier(covariance_type="full").fit(X, y)
    before = classifier.predict_proba(X)
    classifier.set_params(covariance_type="tied")
    assert_allclose(classifier.predict_proba(X), before)
    with pytest.raises(ValueError, match="parameters have changed since the first call"):
        classifier.partial_fit(X, y)


def test_class_without_rows_is_never_predicted(iris):
    X, y = iris
    for priors in (None, "equal", [0.2, 0.4, 0.4]):
        classifier = GaussianClassifier(covariance_type="diag", priors=priors)
        with pytest.warns(DataWarning, match="class 2 is degenerate"):
            classifier.fit(X + 100, y, sample_weight=(y != 2).astype(float))
        assert classifier.priors_[2] == 0.0
        assert classifier.priors_.sum() == pytest.approx(1.0)
        assert 2 not in classifier.predict(np.zeros((3, 4)))


def test_unbiased_needs_weights_that_count_rows(iris):
    X, y = iris
    with pytest.raises(DataError, match="unbiased=True needs sample weights that count rows"):
        GaussianClassifier(unbiased=True).fit(X, y, sample_weight=np.full(150, 1 / 150))


def test_class_with_a_single_row():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [9.0, 9.0]])
    with pytest.warns(DataWarning, match="class b is degenerate"):
        classifier = GaussianClassifier(covariance_type="full").fit(X, list("aaab"))
    assert_array_equal(classifier.predict([[9.0, 9.0], [0.5, 0.5]]), ["b", "a"])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "contains NaN"),
        ([[1.0], [np.inf]], [0, 1], "contains infinity"),
        (np.empty((0, 2)), [], "0 sample"),
        ([["a"], ["b"]], [0, 1], "could not convert string to float"),
        ([[1.0]], [0], "only one class"),
    ],
)
def test_bad_training_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        GaussianClassifier().fit(X, y)


def test_wrong_columns_at_prediction(iris):
    X, y = iris
    classifier = GaussianClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but GaussianClassifier is expecting 4"):
        classifier.predict(X[:, :3])


def test_huge_values_do_not_break():
    X = np.array([[1e150], [2e150], [5e150], [6e150]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = GaussianClassifier(covariance_type="diag").fit(X, [0, 0, 1, 1])
        assert_array_equal(classifier.predict(X), [0, 0, 1, 1])


def test_family_as_a_hyperparameter(iris):
    X, y = iris
    search = GridSearchCV(
        GaussianClassifier(), {"covariance_type": list(COVARIANCE_TYPES)}, cv=3
    ).fit(X, y)
    assert search.best_score_ > 0.95
