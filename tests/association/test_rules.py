"""Rules: the lecture's six, every measure by its definition, tests in fresh transactions."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from verulam.association import (
    ItemSets,
    RuleSet,
    Transactions,
    association_rules,
    frequent_itemsets,
)
from verulam.base import DataError
from verulam.data import dataset


def by_sides(rules):
    pairs = zip(rules.antecedents, rules.consequents, strict=True)
    return {
        (frozenset(antecedent), frozenset(consequent)): place
        for place, (antecedent, consequent) in enumerate(pairs)
    }


def test_the_lectures_rules():
    rules = association_rules(dataset("baskets").inputs, 2, min_confidence=0.0)
    rules = rules.containing("I1", "I2", "I5")
    confidences = {
        ("".join(a), "".join(c)): (int(n), int(m))
        for a, c, n, m in zip(
            rules.antecedents,
            rules.consequents,
            rules.together,
            rules.antecedent_counts,
            strict=True,
        )
    }
    assert confidences == {
        ("I1I2", "I5"): (2, 4),
        ("I1I5", "I2"): (2, 2),
        ("I2I5", "I1"): (2, 2),
        ("I1", "I2I5"): (2, 6),
        ("I2", "I1I5"): (2, 7),
        ("I5", "I1I2"): (2, 2),
    }
    strong = association_rules(dataset("baskets").inputs, 2, min_confidence=0.7)
    assert len(strong.containing("I1", "I2", "I5")) == 3


@pytest.fixture(scope="module")
def baskets():
    random = np.random.default_rng(0)
    common = random.random((400, 1)) < 0.5
    present = random.random((400, 7)) < np.where(common, 0.6, 0.2)
    return Transactions.from_lists([np.flatnonzero(row).tolist() for row in present])


def test_rules_are_all_of_them(baskets):
    rules = association_rules(baskets, 0.05, min_confidence=0.4)
    sets = frequent_itemsets(baskets, 0.05)
    expected = {
        (frozenset(left), frozenset(items) - frozenset(left))
        for items in sets
        for length in range(1, len(items))
        for left in combinations(items, length)
        if baskets.counts(items) >= 0.4 * baskets.counts(left)
    }
    assert set(by_sides(rules)) == expected
    assert isinstance(rules, RuleSet)


def test_measures_by_their_definition(baskets):
    rules = association_rules(baskets, 0.1, min_confidence=0.3)
    frame = rules.to_frame()
    assert frame["confidence"].is_monotonic_decreasing
    for row in frame.sample(15, random_state=0).itertuples():
        left, right = baskets.having(row.antecedent), baskets.having(row.consequent)
        both = left & right
        assert row.count == both.sum()
        assert row.support == pytest.approx(both.mean())
        assert row.confidence == pytest.approx(right[left].mean())
        assert row.lift == pytest.approx(both.mean() / left.mean() / right.mean())
        assert row.leverage == pytest.approx(both.mean() - left.mean() * right.mean())
        assert row.conviction == pytest.approx((1 - right.mean()) / (1 - right[left].mean()))
        assert row.jaccard == pytest.approx(both.sum() / (left | right).sum())
        assert row.cosine == pytest.approx(both.mean() / np.sqrt(left.mean() * right.mean()))
        assert row.kulczynski == pytest.approx((right[left].mean() + left[right].mean()) / 2)
        table = [
            [both.sum(), (left & ~right).sum()],
            [(right & ~left).sum(), (~left & ~right).sum()],
        ]
        assert row.p == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


def test_lift_is_symmetric(baskets):
    rules = association_rules(baskets, 0.05, min_confidence=0.0)
    places = by_sides(rules)
    for (left, right), place in places.items():
        assert rules.lift[place] == pytest.approx(rules.lift[places[right, left]])


def test_filters(baskets):
    rules = association_rules(baskets, 0.05, min_confidence=0.3)
    assert all(len(c) == 1 for c in association_rules(baskets, 0.05, max_consequent=1).consequents)
    assert (association_rules(baskets, 0.05, min_lift=1.2).lift >= 1.2).all()
    assert set(rules.concluding(3).consequents) == {(3,)}
    sets = frequent_itemsets(baskets, 0.05)
    assert by_sides(association_rules(sets, min_confidence=0.3)) == by_sides(rules)


def test_redundant_rules_add_nothing(baskets):
    rules = association_rules(baskets, 0.02, min_confidence=0.2)
    lean = rules.without_redundant()
    assert 0 < len(lean) < len(rules)
    places, lean_places = by_sides(rules), set(by_sides(lean))
    for (left, right), place in places.items():
        better = [
            other
            for (part, conclusion), other in places.items()
            if conclusion == right
            and part < left
            and rules.confidence[other] >= rules.confidence[place] - 1e-12
        ]
        assert ((left, right) in lean_places) == (not better)


def test_certain_rules_have_infinite_conviction():
    frame = association_rules([["a", "b"], ["a", "b"], ["c"]], 2).to_frame()
    assert np.isinf(frame["conviction"]).all()


def test_chance_rules_do_not_pass_the_test_in_fresh_transactions():
    random = np.random.default_rng(1)
    noise = Transactions.from_lists(
        [np.flatnonzero(row).tolist() for row in random.random((600, 12)) < 0.3]
    )
    train, test = noise.split(0.5, random_state=0)
    rules = association_rules(train, 0.05, min_confidence=0.3)
    lucky = rules.where(rules.p_values < 0.05)
    assert len(lucky) > 3
    tested = lucky.tested_on(test)
    assert (tested["adjusted_p"] > 0.05).all()
    assert (tested["adjusted_p"] >= tested["p"]).all()


def test_true_rules_pass():
    random = np.random.default_rng(2)
    present = random.random((800, 5)) < np.where(random.random((800, 1)) < 0.5, 0.7, 0.2)
    together = Transactions.from_lists([np.flatnonzero(row).tolist() for row in present])
    train, test = together.split(0.5, random_state=0)
    rules = association_rules(train, 0.1, min_confidence=0.5, max_length=2)
    tested = rules.tested_on(test)
    assert (tested["adjusted_p"] < 0.05).all()
    row = tested.iloc[0]
    assert row["confidence"] == pytest.approx(
        test.counts((*row["antecedent"], *row["consequent"])) / test.counts(row["antecedent"])
    )
    strangers = rules.tested_on([["unknown"]])
    assert (strangers["count"] == 0).all()
    assert (strangers["p"] == 1).all()


def test_words(baskets):
    rules = association_rules([["beer", "chips"]] * 7 + [["beer"]] * 3 + [["wine"]] * 2, 2)
    place = by_sides(rules)[frozenset(["beer"]), frozenset(["chips"])]
    with pytest.raises(DataError, match="place is 9999; expected a number from 0 to"):
        rules.explain(9999)
    assert rules.explain(place) == (
        "7 of the 10 transactions with beer also have chips (70.0%); of all 12, 58.3% have it."
    )
    assert "beer -> chips  (support 0.583, confidence 0.700, lift 1.200)" in str(rules)
    many = association_rules(baskets, 0.02, min_confidence=0.0)
    assert str(many).endswith(f"... and {len(many) - 20:,} more")
    assert str(rules.where(np.zeros(len(rules), dtype=bool))) == "no rules"


def test_bad_input_is_named(baskets):
    with pytest.raises(DataError, match="min_confidence must lie between"):
        association_rules(baskets, min_confidence=2)
    with pytest.raises(DataError, match="which closed sets leave out"):
        association_rules(frequent_itemsets(baskets, 0.1, kind="closed"))
    with pytest.raises(DataError, match="More than 10 rules"):
        association_rules(baskets, 0.05, max_rules=10)
    with pytest.raises(DataError, match="too many to make rules of"):
        association_rules(_one_long_set())
    with pytest.raises(DataError, match="no transactions to test"):
        association_rules(baskets, 0.1).tested_on([])


def _one_long_set():
    """Return a list of sets that holds one of 31 items."""
    codes = np.arange(31, dtype=np.int32)
    starts = np.array([0, 31], dtype=np.int64)
    prefixes = np.array([-1], dtype=np.int32)
    return ItemSets(tuple(range(31)), 5, 1, "all", starts, codes, np.array([1]), prefixes)
