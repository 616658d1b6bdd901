"""Starts: surveys add up, groups of steps, left-to-right stretches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import Chunk
from verulam.sequence import (
    GaussianEmission,
    HiddenMarkovModel,
    TransitionMatrix,
    read_sequences,
)
from verulam.sequence._learners import initialisation as module
from verulam.sequence._learners.initialisation import joined, survey_chunk

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def survey(lengths):
    sequences = read_sequences([np.arange(float(length)) for length in lengths])
    return survey_chunk(Chunk(sequences), GaussianEmission())


def test_surveys_add_up_to_the_same_head(monkeypatch):
    monkeypatch.setattr(module, "HEAD_STEPS", 10)
    whole, parts = survey([4, 4, 4, 4]), survey([4]) + survey([4, 4]) + survey([4])
    assert whole.n_steps == parts.n_steps == 16
    assert_array_equal(*(joined([p.values for p in part.pieces]) for part in (whole, parts)))


def test_left_to_right_begins_with_equal_stretches():
    X = np.concatenate([np.zeros(10), np.full(10, 5.0), np.full(10, 1.0)])
    X += np.tile([0.1, -0.1], 15)
    model = HiddenMarkovModel(
        3, transitions=TransitionMatrix("left-to-right"), max_iter=1, random_state=0
    ).fit(X)
    assert_allclose(model.emission_.means.ravel(), [0.0, 5.0, 1.0], atol=0.05)


def test_random_starts_differ_by_seed():
    X = np.random.default_rng(0).normal(size=200)
    first, second = (
        HiddenMarkovModel(3, init="random", max_iter=1, random_state=seed)
        .fit(X)
        .objective_curve_[0]
        for seed in (0, 1)
    )
    assert first != second
