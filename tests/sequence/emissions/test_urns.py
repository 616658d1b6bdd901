"""Urns without replacement: every path enumerated, chances that add to one, the limit of many."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    UrnPosteriors,
    urns_without_replacement,
)

MATRIX = np.array([[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])
FIRST = np.array([0.5, 0.2, 0.3])
CONTENTS = np.array([[3, 1], [2, 2], [1, 4]])


def enumerated(balls):
    """Return the chance of the balls, and of each urn at each draw, path by path."""
    total, by_urn = 0.0, np.zeros((len(balls), 3))
    for path in product(range(3), repeat=len(balls)):
        left, joint = CONTENTS.copy(), 1.0
        for t, (urn, ball) in enumerate(zip(path, balls, strict=True)):
            joint *= FIRST[urn] if t == 0 else MATRIX[path[t - 1], urn]
            joint *= left[urn, ball] / max(left[urn].sum(), 1)
            left[urn, ball] -= 1
            if joint == 0:
                break
        total += joint
        for t, urn in enumerate(path):
            by_urn[t, urn] += joint
    return total, by_urn / total


@pytest.mark.parametrize("balls", [[0], [0, 0, 1], [1, 0, 0, 1, 1]])
def test_equals_enumeration(balls):
    total, by_urn = enumerated(balls)
    posteriors = urns_without_replacement(FIRST, MATRIX, CONTENTS, balls)
    assert_allclose(np.exp(posteriors.log_likelihood), total)
    assert_allclose(posteriors.probabilities, by_urn)


def test_chances_of_all_balls_add_to_one():
    chances = [
        np.exp(urns_without_replacement(FIRST, MATRIX, CONTENTS, balls).log_likelihood)
        for balls in product(range(2), repeat=4)
    ]
    assert_allclose(sum(chances), 1.0)


def test_of_many_balls_one_more_or_less_does_not_matter():
    shares = CONTENTS / CONTENTS.sum(axis=1, keepdims=True)
    model = HiddenMarkovModel.from_parameters(
        FIRST, MATRIX, CategoricalEmission(probabilities=shares)
    )
    balls = [0, 1, 1, 0]
    posteriors = urns_without_replacement(FIRST, MATRIX, CONTENTS * 10**7, balls)
    assert_allclose(posteriors.log_likelihood, model.score(balls), atol=1e-6)
    few = urns_without_replacement(FIRST, MATRIX, CONTENTS, balls)
    assert abs(few.log_likelihood - model.score(balls)) > 0.01


def test_more_balls_than_there_are_is_impossible():
    posteriors = urns_without_replacement([1.0], [[1.0]], [[1, 5]], [0, 0])
    assert posteriors.log_likelihood == -np.inf
    assert np.isnan(posteriors.probabilities).all()


@pytest.mark.parametrize(
    ("contents", "balls", "message"),
    [
        ([[0.5, 1.0]], [0], "contents needs whole numbers"),
        ([[1, 1]], [2], "whole numbers from 0 to 1"),
        ([[1, 1]], [], "one or more colours"),
    ],
)
def test_bad_input(contents, balls, message):
    with pytest.raises(DataError, match=message):
        urns_without_replacement([1.0], [[1.0]], contents, balls)


def test_balls_that_no_urn_has_are_impossible():
    posteriors = urns_without_replacement([0.5, 0.5], np.eye(2), [[1, 1], [1, 1]], [0, 0])
    assert isinstance(posteriors, UrnPosteriors)
    assert posteriors.log_likelihood == -np.inf
    assert np.isnan(posteriors.probabilities).all()
