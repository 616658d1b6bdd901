"""Model kernels: scores by finite differences, also of hidden Markov models, and ranks."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_softmax, softmax
from scipy.stats import multinomial, norm
from sklearn.mixture import GaussianMixture

from verulam.base import DataError
from verulam.kernel import (
    FisherKernel,
    GenerativeKernel,
    KernelDiscriminants,
    gaussian_mixture_scores,
    gram_report,
    hidden_markov_scores,
    multinomial_scores,
)
from verulam.sequence import CategoricalEmission, HiddenMarkovModel

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
    for row, score in zip(X[:6], mixture_scores(X[:6]), strict=True):
        expected = by_differences(lambda at, row=row: mixture_log_density(row, at), parameters)
        assert_allclose(score, expected, atol=1e-6)


def test_multinomial_scores_by_finite_differences():
    counts = np.array([3, 0, 2])

    def log_probability(logits):
        return multinomial(5, softmax(logits)).logpmf(counts)

    score = multinomial_scores(counts[None], softmax(LOGITS))[0]
    assert_allclose(score, by_differences(log_probability, LOGITS), atol=1e-5)


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
    counts = [[word.count("a"), word.count("b")] for word in words]
    kernel = FisherKernel(
        lambda strings: multinomial_scores(
            [[word.count("a"), word.count("b")] for word in strings], np.full(2, 0.5)
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


HMM_RNG = np.random.default_rng(0)
HMM_LOGITS = [HMM_RNG.normal(size=shape) for shape in ((2,), (2, 2), (2, 3))]
SEQUENCES = [[0, 2, 1, 1], [2], [1, 0, 0, 2, 2]]


def tables(logits):
    return [np.exp(log_softmax(table, axis=-1)) for table in logits]


def log_probability(sequence, logits):
    """Return the logarithm of the sum over all paths of states."""
    start, transitions, emissions = tables(logits)
    total = 0.0
    for path in product(range(2), repeat=len(sequence)):
        one = start[path[0]] * emissions[path[0], sequence[0]]
        for before, state, observed in zip(path, path[1:], sequence[1:], strict=False):
            one *= transitions[before, state] * emissions[state, observed]
        total += one
    return np.log(total)


def test_scores_by_finite_differences():
    step = 1e-6
    score_rows = hidden_markov_scores(SEQUENCES, *tables(HMM_LOGITS))
    for sequence, scores in zip(SEQUENCES, score_rows, strict=True):
        expected = []
        for table, logits in enumerate(HMM_LOGITS):
            for place in np.ndindex(logits.shape):
                ends = []
                for sign in (1, -1):
                    moved = [logit_table.copy() for logit_table in HMM_LOGITS]
                    moved[table][place] += sign * step
                    ends.append(log_probability(sequence, moved))
                expected.append((ends[0] - ends[1]) / (2 * step))
        assert_allclose(scores, expected, atol=1e-7)


def test_fisher_kernel_of_sequences():
    sequences = [HMM_RNG.integers(3, size=length).tolist() for length in (3, 8, 5, 9, 4)]
    kernel = FisherKernel(
        lambda X: hidden_markov_scores(X, *tables(HMM_LOGITS)), objects=True
    ).adapted(sequences)
    assert gram_report(kernel(sequences))
    assert kernel(SEQUENCES, sequences).shape == (3, 5)


def test_long_sequences_do_not_underflow():
    long = HMM_RNG.integers(3, size=3000).tolist()
    assert np.isfinite(hidden_markov_scores([long], *tables(HMM_LOGITS))).all()


@pytest.mark.parametrize("sequence", [[], [3], [-1]])
def test_observations_that_the_model_does_not_know(sequence):
    with pytest.raises(DataError, match="sequence 0 must have observations from 0 to 2"):
        hidden_markov_scores([sequence], *tables(HMM_LOGITS))


def test_impossible_sequence():
    emissions = np.array([[1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(DataError, match="sequence 1 is impossible under the model at step 1"):
        hidden_markov_scores([[0], [0, 1]], np.full(2, 0.5), np.full((2, 2), 0.5), emissions)


def test_scores_of_a_fitted_model_vanish_on_the_mean():
    """At its own estimate a hidden Markov model wishes for no change."""
    random = np.random.default_rng(1)
    tapes = [np.cumsum(random.random(20) > 0.7) % 2 for _ in range(30)]
    model = HiddenMarkovModel(
        2, CategoricalEmission(), tol=1e-9, max_iter=2000, random_state=0
    ).fit(tapes)
    fitted = model.initial_, model.transitions_, model.emission_.probabilities
    scores = hidden_markov_scores(tapes, *fitted)
    assert np.abs(scores).mean() > 0.1
    assert_allclose(scores.mean(axis=0), 0.0, atol=1e-3)
