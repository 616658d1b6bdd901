"""Transactions from lists, tables and pairs, and what they refuse."""

import numpy as np
import pandas as pd
import pytest

from verulam.association import Transactions, frequent_itemsets
from verulam.base import DataError, UnknownNameError

LISTS = [["beer", "chips"], ["beer", "beer"], ["chips", "salsa"], []]


def test_three_sources_agree():
    lists = Transactions.from_lists(LISTS[:3])
    table = Transactions.from_table(
        pd.DataFrame({"beer": [True, True, False], "chips": [1, 0, 1], "salsa": [0, 0, 1.0]})
    )
    pairs = Transactions.from_pairs(
        [1, 1, 2, 2, 3, 3], ["beer", "chips", "beer", "beer", "chips", "salsa"]
    )
    for other in (table, pairs):
        assert [set(other[place]) for place in range(3)] == [set(row) for row in LISTS[:3]]
        assert dict(zip(other.items, other.item_counts, strict=True)) == {
            "beer": 2, "chips": 2, "salsa": 1,
        }  # fmt: skip
    assert lists.density == pytest.approx(5 / 9)


def test_categories_become_items():
    table = pd.DataFrame({"sex": pd.Categorical(["f", "m", None]), "member": [True, False, None]})
    baskets = Transactions.from_table(table.astype({"member": "boolean"}))
    assert [set(baskets[place]) for place in range(3)] == [{"sex=f", "member"}, {"sex=m"}, set()]


def test_marks_with_gaps_are_items_where_they_are_set():
    baskets = Transactions.from_table(pd.DataFrame({"a": [1.0, np.nan, 0.0], "b": [0, 1, 1]}))
    assert [set(baskets[place]) for place in range(3)] == [{"a"}, {"b"}, {"b"}]


def test_counting():
    baskets = Transactions.from_lists(LISTS)
    assert baskets.counts(["beer"]) == 2
    assert baskets.counts([]) == 4
    assert baskets.support(["chips", "beer"]) == 0.25
    assert baskets.having(["chips"]).tolist() == [True, False, True, False]
    wide = Transactions.from_lists([["a"] if place % 3 else ["a", "b"] for place in range(200)])
    assert wide.counts(["a", "b"]) == 67


@pytest.mark.parametrize(
    ("rows", "items"),
    [
        ([[3, 1], [2, 3, 3], []], (1, 2, 3)),
        ([[10**12, 5], [-(10**12), 5]], (-(10**12), 5, 10**12)),
        ([[10**30, 1], [1]], (10**30, 1)),
        ([[2, 1.5], [1.5]], (2, 1.5)),
        ([["b", "a"], ["a", "b", "b"]], ("b", "a")),
        ([[np.int64(4), 2], [np.int64(2)]], (2, np.int64(4))),
        ([(True, 2), {2}], (True, 2)),
        ([[], []], ()),
    ],
)
def test_whole_numbers_are_in_order_and_others_as_they_appear(rows, items):
    baskets = Transactions.from_lists(rows)
    assert baskets.items == items
    assert [type(name) for name in baskets.items] == [type(name) for name in items]
    assert [set(baskets[place]) for place in range(len(rows))] == [set(row) for row in rows]
    assert sum(map(len, map(set, rows))) == len(baskets.codes)
    for place in range(len(rows)):
        codes = baskets.codes[baskets.starts[place] : baskets.starts[place + 1]]
        assert (np.diff(codes) > 0).all()


def test_what_only_stands_for_a_number_is_an_item_of_its_own():
    class Size:
        def __index__(self):
            return 3

    size = Size()
    assert Transactions.from_lists([[3, size], [size]]).items in ((3, size), (3,))
    assert Transactions.from_lists([[size, 3], [3]]).items == (size, 3)


def test_parts():
    baskets = Transactions.from_lists(LISTS)
    assert baskets.take([2, 0])[0] == ("chips", "salsa")
    assert len(baskets.take([True, False, False, True])) == 2
    train, test = Transactions.from_lists([[place] for place in range(10)]).split(
        0.3, random_state=0
    )
    assert (len(train), len(test)) == (7, 3)
    rows = [
        baskets[0]
        for part in (train, test)
        for baskets in (part.take([k]) for k in range(len(part)))
    ]
    assert sorted(rows) == [(place,) for place in range(10)]
    assert repr(test) == "Transactions(3 transactions of 10 items, 1.0 items each)"


def test_bad_input_is_named():
    with pytest.raises(DataError, match=r"Transaction 1 .* 'beer'; expected a list"):
        Transactions.from_lists([["a"], "beer"])
    with pytest.raises(DataError, match="Transaction 0"):
        Transactions.from_lists([[["nested"]]])
    with pytest.raises(DataError, match="An item is missing"):
        Transactions.from_lists([["a", np.nan]])
    with pytest.raises(DataError, match="Column 'price' has numbers"):
        Transactions.from_table(pd.DataFrame({"price": [1.5, 2.5]}))
    with pytest.raises(DataError, match="no columns"):
        Transactions.from_table(pd.DataFrame())
    with pytest.raises(DataError, match="several columns called 'a'"):
        Transactions.from_table(pd.DataFrame([[True, False]], columns=["a", "a"]))
    with pytest.raises(DataError, match="Expected a DataFrame"):
        Transactions.from_table([[True]])
    with pytest.raises(DataError, match="2 identifiers, but 1 items"):
        Transactions.from_pairs([1, 2], ["a"])
    with pytest.raises(DataError, match="no identifier or no item"):
        Transactions.from_pairs([1, None], ["a", "b"])
    with pytest.raises(DataError, match="transactions is 3; expected a list of lists"):
        Transactions.from_lists(3)
    with pytest.raises(DataError, match=r"an array of zeros and ones.*make it a DataFrame"):
        frequent_itemsets(np.eye(3, dtype=int), 0.5)
    baskets = Transactions.from_lists(LISTS)
    with pytest.raises(DataError, match="rows must be numbers from 0 to 3"):
        baskets.take([4])
    with pytest.raises(UnknownNameError, match="chips"):
        baskets.counts(["chip"])
    with pytest.raises(DataError, match="expected a list of items"):
        baskets.counts("beer")
    with pytest.raises(DataError, match="test_size"):
        baskets.split(1.5)
    with pytest.raises(DataError, match="no transactions"):
        Transactions.from_lists([]).support([])


def test_items_may_be_tuples():
    baskets = Transactions.from_lists([[("a", 1), ("b", 2)], [("a", 1)]])
    assert baskets.counts([("a", 1)]) == 2
    assert set(frequent_itemsets(baskets, 1)) == {
        (("a", 1),), (("b", 2),), (("a", 1), ("b", 2)),
    }  # fmt: skip
