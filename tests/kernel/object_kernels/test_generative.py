"""Model kernels: finite differences, invariance to parameters, rank."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax
from scipy.stats import multinomial, norm
from sklearn.mixture import GaussianMixture

from verulam.base import DataError
from verulam.kernel import (
    FisherKernel,
    GenerativeKernel,
    KernelDiscriminants,
    gaussian_mixture_scores,
    gram_report,
    multinomial_scores,
)

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(40, 2)), RNG.normal(size=(40, 2)) + 3.0])
LOGITS = np.array([0.2, -0.5, 0.4])
MEANS = RNG.normal(size=(3, 2))
VARIANCES = RNG.uniform(0.5, 2.0, size=(3, 2))


def mixture_log_density(row, parameters):
    logits, means, log_variances = np.split(parameters, [3, 9])
    parts = norm(means.reshape(3, 2), np.exp(0.5 * log_variances.reshape(3, 2))).pdf(row)
    return np.log(softmax(logits) @ parts.prod(axis=1))


def by_differences(function, parameters, step=1e-6):
    moves = step * np.eye(len(parameters))
    return [
        (function(parameters + move) - function(parameters - move)) / (2 * step) for move in moves
    ]


def mixture_scores(rows):
    return gaussian_mixture_scores(rows, softmax(LOGITS), MEANS, VARIANCES)


def test_mixture_scores_by_finite_differences():
    parameters = np.concatenate([LOGITS, MEANS.ravel(), np.log(VARIANCES).ravel()])
    for row, found in zip(X[:6], mixture_scores(X[:6]), strict=True):
        expected = by_differences(lambda at, row=row: mixture_log_density(row, at), parameters)
        assert_allclose(found, expected, atol=1e-6)


def test_multinomial_scores_by_finite_differences():
    counts = np.array([3, 0, 2])

    def log_probability(logits):
        return multinomial(5, softmax(logits)).logpmf(counts)

    found = multinomial_scores(counts[None], softmax(LOGITS))[0]
    assert_allclose(found, by_differences(log_probability, LOGITS), atol=1e-5)


def test_scores_vanish_on_the_mean_at_the_estimate():
    """At the maximum of the likelihood no parameter would change."""
    model = GaussianMixture(2, covariance_type="diag", tol=1e-12, max_iter=1000, random_state=0)
    model.fit(X)
    scores = gaussian_mixture_scores(X, model.weights_, model.means_, model.covariances_)
    assert_allclose(scores.mean(axis=0), 0.0, atol=1e-4)


def test_empirical_information_makes_parameters_irrelevant():
    change = RNG.normal(size=(15, 15))
    plain = FisherKernel(mixture_scores).adapted(X)
    turned = FisherKernel(lambda rows: mixture_scores(rows) @ change).adapted(X)
    assert_allclose(turned(X), plain(X), atol=1e-4)
    identity = FisherKernel(mixture_scores, information="identity")
    other = FisherKernel(lambda rows: mixture_scores(rows) @ change, information="identity")
    assert not np.allclose(identity(X), other(X))


def test_features_have_the_kernel_as_inner_products():
    kernel = FisherKernel(mixture_scores).adapted(X)
    assert_allclose(kernel.features(X) @ kernel.features(X).T, kernel(X))
    assert_allclose(kernel.diagonal(X), np.diagonal(kernel(X)))
    assert gram_report(kernel(X))


def test_learners_adapt_the_kernel():
    labels = np.repeat([0, 1], 40)
    learner = KernelDiscriminants(kernel=FisherKernel(mixture_scores)).fit(X[::2], labels[::2])
    assert learner.score(X[1::2], labels[1::2]) > 0.85


def test_models_of_objects():
    words = ["aab", "abb", "bbb"]
    counts = [[each.count("a"), each.count("b")] for each in words]
    kernel = FisherKernel(
        lambda each: multinomial_scores(
            [[word.count("a"), word.count("b")] for word in each], np.full(2, 0.5)
        ),
        information="identity",
        objects=True,
    )
    expected = multinomial_scores(counts, np.full(2, 0.5))
    assert_allclose(kernel(words), expected @ expected.T)


def test_generative_kernel_has_rank_one():
    model = GaussianMixture(2, random_state=0).fit(X)
    kernel = GenerativeKernel(model.score_samples)
    densities = np.exp(model.score_samples(X))
    assert_allclose(kernel(X), np.outer(densities, densities))
    assert np.linalg.matrix_rank(kernel(X), tol=1e-12) == 1


def test_small_densities_do_not_vanish():
    kernel = GenerativeKernel(lambda rows: -5000.0 - rows[:, 0] ** 2)
    assert kernel([[0.0]]) == 0
    assert kernel.adapted([[0.0], [1.0]])([[0.0]]) == 1


def test_bad_arguments():
    with pytest.raises(DataError, match='information must be "empirical"'):
        FisherKernel(mixture_scores, information="exact")
    with pytest.raises(DataError, match=r"call adapted\(X\) first"):
        FisherKernel(mixture_scores)(X)
    with pytest.raises(DataError, match="one row for each of the 80 inputs"):
        FisherKernel(lambda rows: rows[:3], information="identity")(X)
