"""HammingDensity: probabilities of all rows sum to one; Hamming's distance decides."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from verulam.nonparametric import HammingDensity

RNG = np.random.default_rng(0)
ROWS = RNG.integers(0, 3, size=(40, 4))


def test_all_rows_together_have_probability_one():
    learner = HammingDensity(smoothing=0.2).fit(ROWS)
    every = np.array(list(product(range(3), repeat=4)))
    assert np.exp(learner.score_samples(every)).sum() == pytest.approx(1.0)


def test_window_of_hammings_distance():
    learner = HammingDensity(smoothing=0.2).fit(ROWS)
    differing = np.rint(cdist(ROWS, ROWS, "hamming") * 4)
    expected = (0.8 ** (4 - differing) * 0.1**differing).mean(axis=1)
    assert_allclose(np.exp(learner.score_samples(ROWS)), expected)


def test_little_smoothing_gives_relative_frequencies():
    rows = [["a", "x"], ["a", "x"], ["b", "y"], ["a", "y"]]
    learner = HammingDensity(smoothing=1e-9).fit(rows)
    probabilities = np.exp(learner.score_samples([["a", "x"], ["b", "y"]]))
    assert_allclose(probabilities, [0.5, 0.25], atol=1e-6)


def test_tables_of_categories_and_values_never_seen():
    frame = pd.DataFrame(
        {"colour": pd.Categorical(["red", "blue", "red"]), "big": [True, True, False]}
    )
    learner = HammingDensity(smoothing=0.3).fit(frame)
    assert [list(values) for values in learner.categories_] == [["blue", "red"], [False, True]]
    unseen = learner.score_samples(frame.assign(colour=["green", "red", "red"]))
    assert np.isfinite(unseen).all()
    assert unseen[0] < learner.score_samples(frame)[0]


def test_samples_have_the_probabilities():
    learner = HammingDensity(smoothing=0.2).fit(ROWS[:, :2])
    drawn = learner.sample(20_000, random_state=0)
    for row in product(range(3), repeat=2):
        share = (drawn == row).all(axis=1).mean()
        assert share == pytest.approx(np.exp(learner.score_samples([row]))[0], abs=0.012)


def test_a_constant_column_changes_nothing():
    one = HammingDensity().fit(ROWS)
    more = HammingDensity().fit(np.column_stack([ROWS, np.zeros(40, dtype=int)]))
    both = np.column_stack([ROWS, np.zeros(40, dtype=int)])
    assert_allclose(one.score_samples(ROWS), more.score_samples(both))


def test_gaps_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        HammingDensity().fit([["a"], [None]])


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    X, counts = rng.integers(3, size=(30, 2)), rng.integers(0, 4, size=30)
    counts[:3], X[:3] = 1, [[0, 0], [1, 1], [2, 2]]
    weighted = HammingDensity().fit(X, sample_weight=counts)
    repeated = HammingDensity().fit(np.repeat(X, counts, axis=0))
    assert_allclose(weighted.score_samples(X), repeated.score_samples(X))
    drawn = (
        HammingDensity(smoothing=0.01)
        .fit([[0], [1]], sample_weight=[9.0, 1.0])
        .sample(500, random_state=0)
    )
    assert np.mean(drawn == 0) == pytest.approx(0.9, abs=0.05)
