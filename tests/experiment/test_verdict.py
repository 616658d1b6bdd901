"""What may be read off a verdict."""

import pandas as pd
import pytest

from verulam.experiment._verdict import Verdict, order_of_all, protected, with_winners
from verulam.statistics import mcnemar


def verdict(*rows, best, **options):
    columns = ["first", "second", "difference", "decision"]
    table = with_winners(pd.DataFrame(rows, columns=columns), greater=False)
    return Verdict("iris", best, table, **options)


@pytest.fixture
def chain():
    """Return the order a < b < c of errors, where only the ends differ."""
    return verdict(
        ("a", "b", -0.1, "fail to reject"),
        ("a", "c", -0.2, "reject"),
        ("b", "c", -0.1, "fail to reject"),
        best="a",
    )


def test_group_and_unbeaten(chain):
    assert chain.names == ("a", "b", "c")
    assert chain.group == chain.unbeaten == ("a", "b")
    assert chain.beats("a", "c")
    assert not chain.beats("c", "a")
    assert not chain.beats("b", "c")


def test_order_is_filled_by_simplicity(chain):
    assert order_of_all(chain, ["c", "b", "a"]) == ("b", "a", "c")
    assert order_of_all(chain, ["a", "b", "c"]) == ("a", "b", "c")


def test_order_without_rejection_is_that_of_simplicity():
    nothing = verdict(("a", "b", -0.1, "fail to reject"), best="a")
    assert order_of_all(nothing, ["b", "a"]) == ("b", "a")


def test_order_ends_even_where_tests_go_in_a_circle():
    circle = verdict(
        ("a", "b", -0.1, "reject"),
        ("b", "c", -0.1, "reject"),
        ("a", "c", 0.1, "reject"),
        best="a",
    )
    assert sorted(order_of_all(circle, ["a", "b", "c"])) == ["a", "b", "c"]


def test_undecided(chain):
    significant = mcnemar(15, 5)
    pairs = [("a", "b", -0.1), ("a", "c", -0.1), ("b", "c", 0.1)]
    rows = [(*pair, "fail to reject") for pair in pairs]
    assert verdict(*rows, best="a", overall=significant).undecided
    assert not verdict(*rows, best="a", overall=mcnemar(6, 5)).undecided
    assert not chain.undecided


def test_overall_test_protects(chain):
    assert (protected(chain.pairs, mcnemar(6, 5))["decision"] == "fail to reject").all()
    assert protected(chain.pairs, mcnemar(15, 5)) is chain.pairs


def test_winners_follow_the_direction():
    pairs = pd.DataFrame({"first": ["a"], "second": ["b"], "difference": [0.1]})
    assert with_winners(pairs, greater=True)["better"].tolist() == ["a"]
    assert with_winners(pairs, greater=False)["better"].tolist() == ["b"]


def test_tests_and_whether_there_are_any(chain):
    assert chain.tests == ()
    assert chain.tested
    assert not verdict(("a", "b", 0.1, "not tested"), best="a").tested
