"""Pairs from ratings, orders and clicks."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.linear import (
    preferences_from_clicks,
    preferences_from_order,
    preferences_from_relevance,
)


def _pairs(pairs):
    return sorted(zip(pairs.better.tolist(), pairs.worse.tolist(), strict=True))


def test_the_third_clicked_is_preferred_to_the_first_and_second():
    assert _pairs(preferences_from_clicks([[1, 2, 3, 4]], [[3]])) == [(3, 1), (3, 2)]


def test_clicked_rows_are_not_compared_with_one_another():
    assert _pairs(preferences_from_clicks([[1, 2, 3, 4]], [[1, 4]])) == [(4, 2), (4, 3)]


def test_ratings_compare_within_groups_only():
    pairs = preferences_from_relevance([3, 1, 2, 9], ["q", "q", "r", "r"])
    assert _pairs(pairs) == [(0, 1), (3, 2)]


def test_equal_ratings_give_no_pair():
    assert len(preferences_from_relevance([1, 1, 1])) == 0


def test_a_partial_order_is_closed():
    assert _pairs(preferences_from_order([(0, 1), (1, 2), (5, 2)])) == [
        (0, 1),
        (0, 2),
        (1, 2),
        (5, 2),
    ]


def test_sets_of_pairs_add():
    both = preferences_from_order([(0, 1)]) + preferences_from_clicks([[1, 2]], [[2]])
    assert _pairs(both) == [(0, 1), (2, 1)]
    assert len(both) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: preferences_from_order([(0, 1), (1, 0)]), "contradict"),
        (lambda: preferences_from_clicks([[1, 2]], [[3]]), "lacks"),
    ],
)
def test_contradictions_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: preferences_from_relevance([1, 2, 3], [0, 0]), "3 entries"),
        (lambda: preferences_from_clicks([[1, 2]], [[1], [2]]), "1 lists and clicked 2"),
    ],
)
def test_lengths_that_differ_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_clicks_count_once():
    assert len(preferences_from_clicks([[1, 2, 3]], [[3, 3]])) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: preferences_from_relevance([1.0, np.nan]), "a number for each row"),
        (lambda: preferences_from_relevance([]), "some rows there must be"),
        (lambda: preferences_from_relevance(["good", "bad"]), "relevance must have numbers only"),
        (lambda: preferences_from_order([("a", "b")]), "positions of two rows"),
        (lambda: preferences_from_order([(0, 1, 2)]), "positions of two rows"),
    ],
)
def test_what_is_no_preference_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
