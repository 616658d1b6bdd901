"""Votes: weights that sum to one, zero distances, and each way to break a tie."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.nonparametric._voting.votes import class_shares, vote_weights, winning_class


def test_weights_of_votes():
    distances = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 3.0], [1e-310, 1e-310, 1.0]])
    assert_allclose(vote_weights(distances, "uniform"), 1 / 3)
    inverse = vote_weights(distances, "distance")
    assert_allclose(inverse[0], np.array([4, 2, 1]) / 7)
    assert_allclose(inverse[1], [0.5, 0.5, 0.0])
    assert_allclose(inverse[2], [0.5, 0.5, 0.0], atol=1e-300)
    custom = vote_weights(distances, lambda d: (d > 1.5).astype(float))
    assert_allclose(custom, [[0, 0.5, 0.5], [0, 0, 1], [1 / 3, 1 / 3, 1 / 3]])


def test_bad_weights():
    with pytest.raises(ValueError, match="one number of at least 0 for each distance"):
        vote_weights(np.ones((2, 2)), lambda d: -d)


def test_shares_and_ties():
    codes = np.array([[2, 0, 0, 2, 1], [1, 1, 1, 0, 2]])
    shares = class_shares(codes, np.full((2, 5), 0.2), 3)
    assert_allclose(shares, [[0.4, 0.2, 0.4], [0.2, 0.6, 0.2]])
    counts = np.array([5, 9, 7])
    assert_array_equal(winning_class(shares, codes, counts, "nearest"), [2, 1])
    assert_array_equal(winning_class(shares, codes, counts, "prior"), [2, 1])
    assert_array_equal(winning_class(shares, codes, counts, "first"), [0, 1])
