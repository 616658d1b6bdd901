"""Item sets: every search against brute force, closed and maximal ones, streams, refusals."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from verulam.association import ItemSets, Transactions, _item_sets, frequent_itemsets
from verulam.base import DataError
from verulam.data import dataset


def random_baskets(seed, n_rows=60, n_items=9, share=0.4):
    random = np.random.default_rng(seed)
    shares = share * 2.0 ** np.linspace(1, -1, n_items)
    present = random.random((n_rows, n_items)) < shares
    return [np.flatnonzero(row).tolist() for row in present]


def brute_force(baskets, least):
    items = sorted({item for basket in baskets for item in basket})
    sets = [frozenset(basket) for basket in baskets]
    counts = {
        frozenset(members): sum(frozenset(members) <= basket for basket in sets)
        for length in range(1, len(items) + 1)
        for members in combinations(items, length)
    }
    return {members: count for members, count in counts.items() if count >= least}


def as_dictionary(sets):
    assert len({frozenset(items) for items in sets}) == len(sets)
    return {frozenset(items): int(count) for items, count in zip(sets, sets.counts, strict=True)}


@pytest.mark.parametrize("least", [1, 3, 8, 30])
@pytest.mark.parametrize("seed", range(6))
def test_every_search_finds_what_brute_force_finds(seed, least):
    baskets = random_baskets(seed)
    assert as_dictionary(frequent_itemsets(baskets, least)) == brute_force(baskets, least)


@pytest.mark.parametrize(
    "limits",
    [{"WORDS_PER_PAIR": 10**9}, {"WORDS_PER_PAIR": 0}, {"WORDS_PER_PAIR": 0, "MOST_PAIRED": 0}],
)
@pytest.mark.parametrize(("n_items", "share", "least"), [(200, 0.03, 4), (9, 0.4, 30)])
def test_every_way_to_search_finds_the_same(limits, n_items, share, least, monkeypatch):
    baskets = random_baskets(7, 640, n_items, share)
    expected = as_dictionary(frequent_itemsets(baskets, least))
    for name, value in limits.items():
        monkeypatch.setattr(_item_sets, name, value)
    assert as_dictionary(frequent_itemsets(baskets, least)) == expected
    short = {items: count for items, count in expected.items() if len(items) <= 2}
    assert as_dictionary(frequent_itemsets(baskets, least, max_length=2)) == short
    assert max(map(len, expected)) > 1


@pytest.mark.parametrize("seed", range(4))
def test_sets_stand_by_length_and_items_whatever_is_rare(seed):
    random = np.random.default_rng(seed)
    names = random.permutation(list("abcdefghi")).tolist()
    baskets = [[names[item] for item in basket] for basket in random_baskets(seed)]
    sets = frequent_itemsets(baskets, 5)
    rows = [
        sets.codes[start:stop].tolist()
        for start, stop in zip(sets.starts, sets.starts[1:], strict=False)
    ]
    assert rows == sorted(rows, key=lambda row: (len(row), row))
    assert max(map(len, rows)) > 3
    assert list(sets) == [tuple(sets.items[code] for code in row) for row in rows]
    for row, prefix in zip(rows, sets.prefixes, strict=True):
        assert row[:-1] == (rows[prefix] if prefix >= 0 else [])
    parts = frequent_itemsets(lambda: iter([baskets]), 5)
    assert list(parts) == list(sets)
    assert parts.prefixes.tolist() == sets.prefixes.tolist()


def test_what_does_not_fit_into_memory_is_searched_in_parts(monkeypatch):
    baskets = random_baskets(8, 300, 12, 0.3)
    expected = frequent_itemsets(baskets, 0.05)
    monkeypatch.setattr(_item_sets, "MOST_BYTES", 100)
    parts = frequent_itemsets(baskets, 0.05)
    assert as_dictionary(parts) == as_dictionary(expected)
    assert parts.least_count == expected.least_count


def test_lengths_are_limited():
    baskets = random_baskets(1)
    expected = {items: n for items, n in brute_force(baskets, 3).items() if len(items) <= 2}
    assert as_dictionary(frequent_itemsets(baskets, 3, max_length=2)) == expected


@pytest.mark.parametrize("least", [1, 3, 8])
@pytest.mark.parametrize("seed", range(6))
def test_closed_and_maximal_sets_by_their_definition(seed, least):
    baskets = random_baskets(seed)
    every = brute_force(baskets, least)
    closed = {
        items: count
        for items, count in every.items()
        if not any(items < other and every[other] == count for other in every)
    }
    maximal = {
        items: count for items, count in every.items() if not any(items < other for other in every)
    }
    assert as_dictionary(frequent_itemsets(baskets, least, kind="closed")) == closed
    assert as_dictionary(frequent_itemsets(baskets, least, kind="maximal")) == maximal
    # Closed sets tell the count of every frequent one.
    for items, count in every.items():
        assert count == max(n for other, n in closed.items() if items <= other)


def test_an_item_in_all_transactions_is_in_every_closed_set():
    baskets = [["bread", *basket] for basket in (["a"], ["a", "b"], ["b"])]
    closed = as_dictionary(frequent_itemsets(baskets, 1, kind="closed"))
    assert closed[frozenset(["bread"])] == 3
    assert all("bread" in items for items in closed)


def test_the_lectures_example():
    sets = frequent_itemsets(dataset("baskets").inputs, 2)
    counts = {",".join(items): int(n) for items, n in zip(sets, sets.counts, strict=True)}
    assert counts == {
        "I1": 6, "I2": 7, "I3": 6, "I4": 2, "I5": 2,
        "I1,I2": 4, "I1,I3": 4, "I1,I5": 2, "I2,I3": 4, "I2,I4": 2, "I2,I5": 2,
        "I1,I2,I3": 2, "I1,I2,I5": 2,
    }  # fmt: skip
    assert isinstance(sets, ItemSets)
    assert sets.count(["I5", "I1"]) == 2
    assert sets.supports.max() == pytest.approx(7 / 9)


def test_parts_of_frequent_sets_are_at_least_as_frequent():
    sets = as_dictionary(frequent_itemsets(random_baskets(3, 400, 15, 0.2), 0.02))
    for items, count in sets.items():
        for item in items:
            if len(items) > 1:
                assert sets[items - {item}] >= count


def _parts(baskets, size):
    return [baskets[start : start + size] for start in range(0, len(baskets), size)]


def test_a_stream_gives_what_memory_gives():
    baskets = random_baskets(5, 300, 12, 0.3)
    memory = frequent_itemsets(baskets, 0.05)
    stream = frequent_itemsets(lambda: iter(_parts(baskets, 70)), 0.05)
    assert as_dictionary(stream) == as_dictionary(memory)
    assert stream.n_transactions == 300
    assert stream.least_count == memory.least_count == 15


def test_dask_gives_what_memory_gives():
    dd = pytest.importorskip("dask.dataframe")
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.random((200, 6)) < 0.4, columns=list("abcdef"))
    memory = frequent_itemsets(table, 0.1)
    cluster = frequent_itemsets(dd.from_pandas(table, npartitions=3), 0.1)
    assert as_dictionary(cluster) == as_dictionary(memory)


def test_an_explosion_is_refused_with_a_support_that_fits():
    table = pd.DataFrame(np.random.default_rng(0).random((200, 25)) < 0.7)
    with pytest.raises(DataError, match=r"More than 1,000 sets .* min_support=") as error:
        frequent_itemsets(table, 0.1, max_itemsets=1000)
    support = float(str(error.value).split("min_support=")[1].split()[0])
    assert 1 < len(frequent_itemsets(table, support, max_itemsets=1000)) <= 1000


def test_an_explosion_that_no_support_helps_says_so():
    baskets = [list("abcdefghijkl")] * 4 + [["m"]]
    message = "sets are in at least 1 transactions.*No support that leaves any set has fewer: leave"
    with pytest.raises(DataError, match=message):
        frequent_itemsets(baskets, 1, max_itemsets=1000)


@pytest.mark.parametrize(
    ("counts", "n_rows"),
    [
        ((1020, 1010, 1005), 1020),
        # A share of three digits would be above all of them.
        ((100_449, 100_440, 100_440), 102_000),
        # A share of 1 would be a count of 1.
        ((1020, 1019, 1019), 1020),
    ],
)
def test_a_support_is_found_among_items_of_nearly_the_same_count(counts, n_rows):
    table = pd.DataFrame(
        {name: np.arange(n_rows) < counts[place] for place, name in enumerate("abc")}
    )
    message = r"More than 1 sets are in .*min_support=(\S+) there are at most 1;"
    with pytest.raises(DataError, match=message) as error:
        frequent_itemsets(table, 1000 / 1020, max_itemsets=1)
    text = re.search(message, str(error.value))[1]
    support = float(text) if "." in text else int(text)
    assert list(frequent_itemsets(table, support, max_itemsets=1)) == [("a",)]


def test_shares_are_not_missed_by_rounding():
    baskets = [["a"]] * 3 + [["b"]] * 7
    assert as_dictionary(frequent_itemsets(baskets, 0.3)) == {
        frozenset("a"): 3,
        frozenset("b"): 7,
    }
    assert len(frequent_itemsets(baskets, 1.0 - 1e-9)) == 0


def test_empty_baskets_count_as_transactions():
    sets = frequent_itemsets([["a"], [], ["a", "b"], []], 0.5)
    assert as_dictionary(sets) == {frozenset("a"): 2}
    none = frequent_itemsets([[], []], 0.5)
    assert len(none) == 0
    assert str(none) == "No set of items is in 1 or more transactions."


def test_frame_and_words():
    sets = frequent_itemsets(dataset("baskets").inputs, 2)
    frame = sets.to_frame()
    assert frame["length"].is_monotonic_increasing
    assert frame["items"][0] == ("I2",)
    assert "I1, I2, I5" in str(sets)
    many = frequent_itemsets(random_baskets(0), 1)
    assert str(many).splitlines()[-1] == f"... and {len(many) - 20:,} more"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_support": 0}, "min_support is 0"),
        ({"min_support": 1.5}, "min_support is 1.5"),
        ({"min_support": -0.1}, "a share between 0 and 1"),
        ({"kind": "open"}, "kind is 'open'"),
        ({"max_length": 0}, "max_length must be at least 1"),
        ({"max_itemsets": 0}, "max_itemsets must be at least 1"),
        ({"kind": "closed", "max_length": 2}, "goes with kind='all'"),
    ],
)
def test_bad_options_are_named(options, words):
    with pytest.raises(DataError, match=words):
        frequent_itemsets([["a"], ["b"]], **options)


def test_bad_data_are_named():
    with pytest.raises(DataError, match="There are no transactions"):
        frequent_itemsets([], 0.5)
    with pytest.raises(DataError, match="not int"):
        frequent_itemsets(7, 0.5)
    with pytest.raises(DataError, match="needs all transactions in memory"):
        frequent_itemsets(lambda: iter([]), 0.5, kind="closed")
    sets = frequent_itemsets(Transactions.from_lists([["a"]]), 1)
    with pytest.raises(DataError, match="is not among the 1 sets"):
        sets.count(["b"])
    with pytest.raises(DataError, match="expected a list of items"):
        sets.count("a")
