"""Classes with averaged Gaussian densities."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.bayes import (
    BayesianGaussianClassifier,
    GaussianMean,
    NormalGamma,
    NormalWishart,
)

RNG = np.random.default_rng(0)
MANY = np.concatenate([RNG.normal(size=(4000, 2)), RNG.normal([1.5, 0.5], [2.0, 0.7], (4000, 2))])
LABELS = np.repeat([0, 1], 4000)
FEW, FEW_LABELS = MANY[[0, 1, 2, 4000, 4001, 4002, 4003]], np.array([0, 0, 0, 1, 1, 1, 1])
NEW = RNG.normal(scale=2.0, size=(20, 2))
DENSITIES = ("gaussian", "t", "multivariate_t")


def test_predictives_are_those_of_the_families():
    mean = FEW.mean(axis=0)
    within = sum(
        ((FEW[k == FEW_LABELS] - FEW[k == FEW_LABELS].mean(axis=0)) ** 2).sum(axis=0)
        for k in (0, 1)
    )
    variances = within / len(FEW)
    for density in DENSITIES:
        learner = BayesianGaussianClassifier(density=density, kappa=0.5, df=3.0)
        learner.fit(FEW, FEW_LABELS)
        expected = np.zeros((len(NEW), 2))
        for k in (0, 1):
            rows = FEW[k == FEW_LABELS]
            if density == "multivariate_t":
                prior = NormalWishart.from_covariance(mean, 0.5, 4.0, np.diag(variances))
                expected[:, k] = prior.posterior(rows).predictive.log_density(NEW)
                continue
            for j in range(2):
                prior = (
                    GaussianMean(mean[j], variances[j] / 0.5, variances[j])
                    if density == "gaussian"
                    else NormalGamma.from_variance(mean[j], 0.5, 3.0, variances[j])
                )
                expected[:, k] += prior.posterior(rows[:, j]).predictive.log_density(NEW[:, j])
        np.testing.assert_allclose(learner.class_log_density(NEW), expected, rtol=1e-9)
        joint = np.exp(expected) * [3 / 7, 4 / 7]
        shares = joint / joint.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(learner.predict_proba(NEW), shares, rtol=1e-8)


def test_many_rows_come_to_naive_bayes_and_quadratic_discriminants():
    naive = GaussianNB().fit(MANY, LABELS).predict_proba(NEW)
    quadratic = QuadraticDiscriminantAnalysis().fit(MANY, LABELS).predict_proba(NEW)
    t = BayesianGaussianClassifier(density="t").fit(MANY, LABELS).predict_proba(NEW)
    wishart = BayesianGaussianClassifier(density="multivariate_t").fit(MANY, LABELS)
    np.testing.assert_allclose(t, naive, atol=0.01)
    np.testing.assert_allclose(wishart.predict_proba(NEW), quadratic, atol=0.01)


def test_ml_is_naive_bayes_at_once():
    ours = BayesianGaussianClassifier(estimate="ml").fit(FEW, FEW_LABELS)
    theirs = GaussianNB(var_smoothing=0.0).fit(FEW, FEW_LABELS)
    np.testing.assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-9)


def test_few_rows_make_wider_tails_and_milder_shares():
    far = np.array([[8.0, -8.0]])
    sure = BayesianGaussianClassifier(estimate="map").fit(FEW, FEW_LABELS).predict_proba(far)
    mild = BayesianGaussianClassifier(estimate="full").fit(FEW, FEW_LABELS).predict_proba(far)
    assert mild.max() < sure.max()


@pytest.mark.parametrize("density", DENSITIES)
def test_one_row_of_a_class_is_enough(density):
    rows, labels = FEW[[0, 3, 4, 5]], [0, 1, 1, 1]
    learner = BayesianGaussianClassifier(density=density).fit(rows, labels)
    assert np.isfinite(learner.predict_proba(NEW)).all()


@pytest.mark.parametrize("density", DENSITIES)
def test_later_rows_are_added(density):
    whole = BayesianGaussianClassifier(density=density).fit(FEW, FEW_LABELS)
    parts = BayesianGaussianClassifier(density=density)
    parts.partial_fit(FEW[[0, 3, 4]], FEW_LABELS[[0, 3, 4]])
    parts.partial_fit(FEW[[1, 2, 5, 6]], FEW_LABELS[[1, 2, 5, 6]])
    np.testing.assert_allclose(parts.predict_proba(NEW), whole.predict_proba(NEW), rtol=1e-9)


def test_singular_scatter_and_constant_columns():
    rows = np.column_stack([FEW[:, 0], np.full(7, 3.0), 2.0 * FEW[:, 0]])
    new = np.column_stack([NEW[:, 0], np.full(20, 3.0), 2.0 * NEW[:, 0]])
    for density in DENSITIES:
        learner = BayesianGaussianClassifier(density=density).fit(rows, FEW_LABELS)
        assert np.isfinite(learner.predict_proba(new)).all()


def test_priors_of_classes():
    equal = BayesianGaussianClassifier(priors="equal").fit(FEW, FEW_LABELS)
    np.testing.assert_allclose(equal.priors_, 0.5)
    stated = BayesianGaussianClassifier(priors=[0.9, 0.1]).fit(FEW, FEW_LABELS)
    odds = stated.predict_proba(NEW) / equal.predict_proba(NEW)
    np.testing.assert_allclose(odds[:, 0] / odds[:, 1], 9.0, rtol=1e-6)
    with pytest.raises(DataError, match="priors must sum to 1"):
        BayesianGaussianClassifier(priors=[0.9, 0.3]).fit(FEW, FEW_LABELS)
    with pytest.raises(DataError, match="for each of the 2 classes"):
        BayesianGaussianClassifier(priors=[1.0]).fit(FEW, FEW_LABELS)
    with pytest.raises(ValueError, match="'kappa' parameter"):
        BayesianGaussianClassifier(kappa=0.0).fit(FEW, FEW_LABELS)
