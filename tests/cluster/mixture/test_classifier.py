"""Mixtures as class densities: Bayes' rule, the least error there is, and networks beside it."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from verulam.base import DataError
from verulam.cluster import Components, GaussianMixture, MixtureClassifier
from verulam.cluster._mixture.expectation import joint_log_densities, normalise, prepare
from verulam.parametric import GaussianClassifier

#: Class a is two spheres with class b between them.
TRUE = (
    Components(np.array([0.5, 0.5]), np.array([[-2.5, 0.0], [2.5, 0.0]]), np.ones(2), "spherical"),
    Components(np.array([1.0]), np.zeros((1, 2)), np.ones(1), "spherical"),
)


def true_log_density(components, X):
    prepared = prepare(components, np.zeros(2), np.ones(2))
    return normalise(joint_log_densities(X, prepared))


def drawn(n_rows, seed):
    random = np.random.default_rng(seed)
    codes = random.integers(2, size=n_rows)
    side = random.choice([-2.5, 2.5], n_rows)
    X = random.normal(size=(n_rows, 2))
    X[codes == 0, 0] += side[codes == 0]
    return X, np.array(["a", "b"])[codes]


def bayes_error(X, y):
    joint = np.column_stack([true_log_density(components, X) for components in TRUE])
    return np.mean(np.array(["a", "b"])[joint.argmax(axis=1)] != y)


def test_posteriors_are_by_bayes_rule():
    X, y = drawn(300, 0)
    classifier = MixtureClassifier([2, 1], random_state=0).fit(X, y)
    densities = np.column_stack(
        [classifier.priors_[k] * np.exp(classifier.mixtures_[k].score_samples(X)) for k in range(2)]
    )
    posteriors = densities / densities.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(classifier.predict_proba(X), posteriors, atol=1e-12)
    np.testing.assert_array_equal(classifier.predict(X), np.array(["a", "b"])[posteriors.argmax(1)])
    np.testing.assert_allclose(classifier.priors_, [np.mean(y == "a"), np.mean(y == "b")])
    for k, label in enumerate("ab"):
        alone = GaussianMixture(
            [2, 1][k], covariance_type="tied", variance_floor=1e-3,
            random_state=classifier.mixtures_[k].random_state,
        ).fit(X[y == label])  # fmt: skip
        np.testing.assert_allclose(alone.means_, classifier.mixtures_[k].means_)
    # One number is that of every class.
    equal = MixtureClassifier(2, random_state=0).fit(X, y)
    assert [len(mixture.means_) for mixture in equal.mixtures_] == [2, 2]
    assert equal.n_features_in_ == 2


def test_errors_come_near_the_least_and_a_network_does_no_better():
    X, y = drawn(2000, 1)
    X_new, y_new = drawn(20_000, 2)
    least = bayes_error(X_new, y_new)
    mixture = MixtureClassifier([2, 1], covariance_type="spherical", random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network = MLPClassifier((8,), max_iter=60, random_state=0).fit(X, y)
    one_gaussian = GaussianClassifier(covariance_type="full").fit(X, y)
    errors = {
        name: np.mean(learner.predict(X_new) != y_new)
        for name, learner in {"m": mixture, "n": network, "g": one_gaussian}.items()
    }
    # Nobody errs less than Bayes' rule, but for what 20 000 rows leave to chance.
    assert min(errors.values()) > least - 0.004
    assert errors["m"] < least + 0.005
    assert errors["m"] < errors["g"]


def test_one_component_each_is_quadratic_discriminant_analysis():
    X, y = drawn(200, 3)
    ours = MixtureClassifier(1, covariance_type="full").fit(X, y)
    theirs = GaussianClassifier(covariance_type="full").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.class_log_density(X), theirs.class_log_density(X))


def test_weights_are_repeated_rows_and_gaps_are_allowed():
    X, y = drawn(120, 4)
    X[::7, 1] = np.nan
    weights = np.random.default_rng(0).integers(0, 3, size=120)
    weighted = MixtureClassifier(1, tol=1e-10).fit(X, y, sample_weight=weights)
    repeated = MixtureClassifier(1, tol=1e-10).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"n_components": 9}, "aaabbb", "n_components=9 is more than class a has rows: 3"),
        ({"n_components": [1]}, "aaabbb", "one for each of the 2 classes"),
        ({}, "aaaaaa", "at least two classes, and there is only one class: a"),
        ({}, "aabb", "X has 6 rows and y has 4"),
    ],
)
def test_bad_input_is_refused_by_name(options, y, message):
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(DataError, match=message):
        MixtureClassifier(**options).fit(X, list(y))


def test_a_class_without_weight_is_refused():
    X = np.random.default_rng(0).normal(size=(6, 1))
    with pytest.raises(DataError, match="class b has no row with a weight above zero"):
        MixtureClassifier(1).fit(X, list("aaabbb"), sample_weight=[1, 1, 1, 0, 0, 0])
