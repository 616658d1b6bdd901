"""Starts: a sample that no cut or order of the data changes, and draws from it."""

import numpy as np
import pytest

from verulam.base import Chunk, DataError
from verulam.cluster._seeding import (
    array_of_starts,
    check_enough_rows,
    check_width,
    plus_plus_rows,
    random_rows,
    row_keys,
    sample_rows,
    survey,
)


def assert_same(first, second):
    np.testing.assert_array_equal(first.keys, second.keys)
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_allclose(first.weights, second.weights)


def test_keys_depend_on_the_row_alone():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [np.nan, 1.0], [-np.nan, 1.0]])
    keys = row_keys(X, 0)
    assert keys[0] == keys[1]
    assert keys[3] == keys[4]
    assert len(np.unique(keys)) == 3
    assert not np.array_equal(keys, row_keys(X, 1))


def test_keys_of_small_whole_numbers_are_spread_evenly():
    X = np.array(np.meshgrid(*[np.arange(40.0)] * 3)).reshape(3, -1).T.copy()
    keys = row_keys(X, 3)
    assert len(np.unique(keys)) == len(X)
    counts = np.bincount((keys >> np.uint64(60)).astype(int), minlength=16)
    assert np.abs(counts - len(X) / 16).max() < 6 * np.sqrt(len(X) / 16)


def test_a_sample_does_not_depend_on_cuts_or_order():
    random = np.random.default_rng(0)
    X = random.integers(0, 30, size=(3000, 2)).astype(float)
    whole = sample_rows(Chunk(X), 5, 100)
    parts = [sample_rows(Chunk(part.copy()), 5, 100) for part in np.array_split(X, 7)]
    assert_same(whole, sum(parts[1:], parts[0]))
    assert_same(whole, sample_rows(Chunk(X[random.permutation(len(X))]), 5, 100))
    assert len(whole.keys) == 100
    equal = (whole.rows[0] == X).all(axis=1).sum()
    assert whole.weights[0] == equal > 1


def test_weights_are_repeated_rows():
    random = np.random.default_rng(1)
    X, weights = random.normal(size=(200, 2)), random.integers(0, 3, size=200)
    weighted = sample_rows(Chunk(X, weights=weights.astype(float)), 2, 50)
    assert_same(weighted, sample_rows(Chunk(np.repeat(X, weights, axis=0)), 2, 50))


def test_a_survey_knows_mean_and_spread_of_what_is_there():
    X = np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 5.0]])
    view = survey(Chunk(X), 0, 10)
    np.testing.assert_allclose(view.mean, [3.0, 5.0])
    np.testing.assert_allclose(view.scale, [np.sqrt(8 / 3), 1.0])
    assert sorted(view.filled()[:, 1]) == [5.0, 5.0, 5.0]


def test_plus_plus_takes_one_row_of_each_distant_group():
    random = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0], [100.0, 100.0]])
    rows = np.repeat(centres, 50, axis=0) + random.normal(size=(200, 2))
    for seed in range(10):
        starts = plus_plus_rows(rows, np.ones(200), 4, np.random.default_rng(seed))
        assert len({tuple(np.round(row / 100)) for row in starts}) == 4


def test_draws_follow_weights_and_repeat_only_for_lack_of_rows():
    rows = np.arange(4.0)[:, None]
    weights = np.array([0.0, 1.0, 0.0, 3.0])
    counts = np.zeros(4)
    for seed in range(300):
        counts[int(random_rows(rows, weights, 1, np.random.default_rng(seed))[0, 0])] += 1
    assert counts[0] == counts[2] == 0
    assert 0.65 < counts[3] / 300 < 0.85
    for draw in (random_rows, plus_plus_rows):
        starts = draw(rows[:2], np.ones(2), 3, np.random.default_rng(0))
        assert sorted(set(starts.ravel())) == [0.0, 1.0]
        assert len(starts) == 3
    for seed in range(5):
        starts = random_rows(rows, np.ones(4), 4, np.random.default_rng(seed))
        assert sorted(starts.ravel()) == [0.0, 1.0, 2.0, 3.0]


def test_messages():
    with pytest.raises(DataError, match=r"n_clusters=5 is more than the data has: n_samples=2"):
        check_enough_rows(5, 2, "n_clusters")
    with pytest.raises(DataError, match=r"init has shape \(2, 2\); expected 3 rows"):
        array_of_starts(np.eye(2), 3, "init")
    with pytest.raises(DataError, match="init has missing or infinite values"):
        array_of_starts([[np.nan]], 1, "init")
    with pytest.raises(DataError, match="init has 2 columns and X has 3"):
        check_width(np.ones((4, 3)), np.ones((1, 2)), "init")
