"""Scores of hidden Markov models: finite differences of a brute-force probability."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_softmax

from verulam.base import DataError
from verulam.kernel import FisherKernel, gram_report, hidden_markov_scores
from verulam.sequence import CategoricalEmission, HiddenMarkovModel

RNG = np.random.default_rng(0)
LOGITS = [RNG.normal(size=shape) for shape in ((2,), (2, 2), (2, 3))]
SEQUENCES = [[0, 2, 1, 1], [2], [1, 0, 0, 2, 2]]


def tables(logits):
    return [np.exp(log_softmax(each, axis=-1)) for each in logits]


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
    found = hidden_markov_scores(SEQUENCES, *tables(LOGITS))
    for sequence, scores in zip(SEQUENCES, found, strict=True):
        expected = []
        for table, logits in enumerate(LOGITS):
            for place in np.ndindex(logits.shape):
                ends = []
                for sign in (1, -1):
                    moved = [each.copy() for each in LOGITS]
                    moved[table][place] += sign * step
                    ends.append(log_probability(sequence, moved))
                expected.append((ends[0] - ends[1]) / (2 * step))
        assert_allclose(scores, expected, atol=1e-7)


def test_fisher_kernel_of_sequences():
    sequences = [RNG.integers(3, size=length).tolist() for length in (3, 8, 5, 9, 4)]
    kernel = FisherKernel(
        lambda each: hidden_markov_scores(each, *tables(LOGITS)), objects=True
    ).adapted(sequences)
    assert gram_report(kernel(sequences))
    assert kernel(SEQUENCES, sequences).shape == (3, 5)


def test_long_sequences_do_not_underflow():
    long = RNG.integers(3, size=3000).tolist()
    assert np.isfinite(hidden_markov_scores([long], *tables(LOGITS))).all()


@pytest.mark.parametrize("sequence", [[], [3], [-1]])
def test_observations_that_the_model_does_not_know(sequence):
    with pytest.raises(DataError, match="sequence 0 must have observations from 0 to 2"):
        hidden_markov_scores([sequence], *tables(LOGITS))


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
