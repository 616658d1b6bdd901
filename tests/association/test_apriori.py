"""Apriori: the lecture's table, level by level."""

import numpy as np
import pytest

from verulam.association import AprioriLevel, AprioriTrace, apriori, frequent_itemsets
from verulam.base import DataError
from verulam.data import dataset


@pytest.fixture
def trace():
    return apriori(dataset("baskets").inputs, 2)


def words(sets):
    return ["".join(name[1] for name in items) for items in sets]


def test_levels_of_the_lecture(trace):
    assert isinstance(trace, AprioriTrace)
    assert all(isinstance(level, AprioriLevel) for level in trace.levels)
    first, second, third, fourth = trace.levels
    assert list(first.counts.values()) == [6, 7, 6, 2, 2]
    assert dict(zip(words(second.counts), second.counts.values(), strict=True)) == {
        "12": 4, "13": 4, "14": 1, "15": 2, "23": 4, "24": 2, "25": 2, "34": 0, "35": 1, "45": 0,
    }  # fmt: skip
    assert words(second.frequent) == ["12", "13", "15", "23", "24", "25"]
    assert words(third.joined) == ["123", "125", "135", "234", "235", "245"]
    assert words(third.pruned) == ["135", "234", "235", "245"]
    assert words(third.pruned.values()) == ["35", "34", "35", "45"]
    assert third.frequent == {("I1", "I2", "I3"): 2, ("I1", "I2", "I5"): 2}
    assert words(fourth.pruned) == ["1235"]
    assert not fourth.frequent


def test_a_share_of_the_transactions_is_the_same(trace):
    assert apriori(dataset("baskets").inputs, 2 / 9).frequent == trace.frequent


@pytest.mark.parametrize("seed", range(5))
def test_frequent_sets_are_those_of_the_fast_search(seed):
    random = np.random.default_rng(seed)
    baskets = [np.flatnonzero(row).tolist() for row in random.random((80, 8)) < 0.45]
    sets = frequent_itemsets(baskets, 9)
    fast = {frozenset(items): int(n) for items, n in zip(sets, sets.counts, strict=True)}
    slow = {frozenset(items): n for items, n in apriori(baskets, 9).frequent.items()}
    assert slow == fast


def test_frame(trace):
    frame = trace.to_frame()
    assert len(frame) == 5 + 10 + 6 + 1
    pruned = frame[frame["fate"] == "pruned"]
    assert pruned["count"].isna().all()
    assert pruned["infrequent_part"].notna().all()
    assert (frame["fate"] == "frequent").sum() == len(trace.frequent)


def test_bad_input_is_named():
    baskets = [list(range(30))] * 3
    with pytest.raises(DataError, match="435 candidates of 2 items"):
        apriori(baskets, 1, max_candidates=400)
    with pytest.raises(DataError, match="no transactions"):
        apriori([], 1)


def test_items_of_several_types_have_some_order():
    assert apriori([["a", 1], ["a", 1, 2]], 2).frequent[(1, "a")] == 2
