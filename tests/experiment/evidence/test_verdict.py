"""What may be read off a verdict."""

import pandas as pd
import pytest

from verulam.experiment._analysis.tests import protected, with_winners
from verulam.experiment._evidence.verdict import Verdict
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


def test_pairs_with_the_best(chain):
    assert chain.with_best[["first", "second"]].to_numpy().tolist() == [["a", "b"], ["a", "c"]]
    assert chain.with_best["decision"].tolist() == ["fail to reject", "reject"]
    other = verdict(("a", "b", 0.1, "reject"), ("b", "c", -0.2, "fail to reject"), best="b")
    assert len(other.with_best) == 2


def test_whom_nobody_beats_need_not_be_in_the_group_of_the_best():
    """The best has a noisy mean: tests of others may say more than its own."""
    found = verdict(
        ("a", "b", -0.1, "fail to reject"),
        ("a", "c", -0.2, "fail to reject"),
        ("b", "c", -0.1, "reject"),
        best="a",
    )
    assert found.group == ("a", "b", "c")
    assert found.unbeaten == ("a", "b")
    assert found.decides
    assert not verdict(("a", "b", -0.1, "fail to reject"), best="a").decides


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
