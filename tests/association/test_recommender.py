"""Purchase probabilities by group, and recommendations by rules."""

import numpy as np
import pytest

from verulam.association import RuleRecommender, conditional_probability
from verulam.base import DataError
from verulam.statistics import rate_interval

BASKETS = [["beer", "chips"]] * 7 + [["beer"]] * 3 + [["chips", "salsa"]] * 5


def test_the_lectures_share():
    row = conditional_probability(BASKETS, ["chips"], having=["beer"]).loc["all"]
    assert row["probability"] == pytest.approx(0.7)
    interval = rate_interval(7, 10)
    assert (row["low"], row["high"]) == (interval.low, interval.high)


def test_groups_of_customers():
    groups = ["young"] * 8 + ["old"] * 7
    table = conditional_probability(BASKETS, ["chips"], having=["beer"], by=groups)
    assert table.loc["young", "probability"] == pytest.approx(7 / 8)
    assert table.loc["old", "probability"] == 0.0
    assert table.loc["old", "transactions"] == 2


def test_without_a_condition_it_is_the_support():
    row = conditional_probability(BASKETS, ["chips"]).loc["all"]
    assert row["probability"] == pytest.approx(12 / 15)


def test_a_group_without_the_condition_has_no_estimate():
    table = conditional_probability(BASKETS, ["beer"], having=["salsa"], by=["a"] * 10 + ["b"] * 5)
    assert np.isnan(table.loc["a", "probability"])
    assert table.loc["b", "probability"] == 0.0


def test_recommendations_come_by_confidence_then_by_popularity():
    recommender = RuleRecommender().fit(BASKETS)
    table = recommender.recommend(["beer"])
    assert table["item"].tolist() == ["chips", "salsa"]
    assert table["score"].tolist() == pytest.approx([0.7, 1 / 3])
    assert table["because"].tolist() == [("beer",), ()]
    assert recommender.recommend([], n_items=1)["item"].tolist() == ["chips"]
    assert recommender.recommend(["martian", "salsa"], 1)["item"].tolist() == ["chips"]
    assert recommender.recommend(["beer", "chips", "salsa"]).empty


def test_longer_antecedents_count():
    baskets = [["a", "b", "c"]] * 5 + [["a", "d"]] * 10 + [["b", "e"]] * 10
    best = RuleRecommender().fit(baskets).recommend(["a", "b"]).iloc[0]
    assert best["item"] == "c"
    assert set(best["because"]) == {"a", "b"}


def test_bad_input_is_named():
    with pytest.raises(DataError, match="2 groups for 15 transactions"):
        conditional_probability(BASKETS, ["chips"], by=["a", "b"])
    with pytest.raises(DataError, match="not fitted"):
        RuleRecommender().recommend(["a"])
    with pytest.raises(DataError, match="expected a list of items"):
        RuleRecommender().fit(BASKETS).recommend("beer")
