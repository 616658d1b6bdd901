"""What goes with a basket: purchase probabilities, and recommendations by rules."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.association._rules import RuleSet, association_rules
from verulam.association._transactions import as_transactions
from verulam.base import (
    COLLECTION,
    LABELS,
    NONE,
    NUMBER,
    DataError,
    checked_arguments,
)
from verulam.statistics import rate_interval


@checked_arguments(items=COLLECTION, having=COLLECTION, by=LABELS | NONE, confidence=NUMBER)
def conditional_probability(
    transactions: Any,
    items: Iterable[Any],
    *,
    having: Iterable[Any] = (),
    by: ArrayLike | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    r"""Estimate the probability that somebody who buys some items also buys others.

    Parameters
    ----------
    transactions
        As for `frequent_itemsets`.
    items
        Items asked for, Y.
    having
        Items that are in the basket, X.
    by
        Group of each transaction's customer, D, for a row per group.
    confidence
        Coverage of the intervals.

    Notes
    -----
    :math:`P(Y \mid X, D) = n_D(X \cup Y) / n_D(X)`, with Wilson's interval. A group without X has
    no estimate. See SIT1305 I, "Learning associations".

    Examples
    --------
    >>> from verulam.association import conditional_probability
    >>> baskets = [["beer", "chips"]] * 7 + [["beer"]] * 3 + [["chips"]] * 5
    >>> print(conditional_probability(baskets, ["chips"], having=["beer"]).round(3))
         transactions  both  probability    low   high
    all            10     7          0.7  0.397  0.892
    """
    baskets = as_transactions(transactions)
    condition = baskets.having(having)
    both = condition & baskets.having(items)
    groups = pd.Series(["all"] * len(baskets) if by is None else np.asarray(by))
    if len(groups) != len(baskets):
        raise DataError(f"by has {len(groups)} groups for {len(baskets)} transactions.")
    rows = {}
    for group, places in groups.groupby(groups, observed=True).groups.items():
        n_condition, n_both = int(condition[places].sum()), int(both[places].sum())
        low, high = np.nan, np.nan
        if n_condition:
            interval = rate_interval(n_both, n_condition, confidence=confidence)
            low, high = interval.low, interval.high
        rows[group] = {
            "transactions": n_condition,
            "both": n_both,
            "probability": n_both / n_condition if n_condition else np.nan,
            "low": low,
            "high": high,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


class RuleRecommender:
    """Recommend items that go with those in a basket, by association rules.

    Parameters
    ----------
    min_support
        Least share of the transactions behind a rule, or a whole number of them.
    min_confidence
        Least confidence of a rule.
    max_length
        Most items of a rule.

    Attributes
    ----------
    rules_ : RuleSet
        Rules with one item in the consequent.

    Notes
    -----
    An item's score is the largest confidence of a rule whose antecedent is in the basket; items
    that no rule speaks for follow by how often they are bought at all.

    Examples
    --------
    >>> from verulam.association import RuleRecommender
    >>> baskets = [["beer", "chips"]] * 7 + [["beer"]] * 3 + [["chips", "salsa"]] * 5
    >>> print(RuleRecommender().fit(baskets).recommend(["beer"]).round(3))
        item  score  because
    0  chips  0.700  (beer,)
    1  salsa  0.333       ()
    """

    def __init__(
        self, *, min_support: float = 0.01, min_confidence: float = 0.1, max_length: int = 4
    ) -> None:
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.max_length = max_length

    def fit(self, transactions: Any) -> Self:
        """Find the rules, and return the recommender.

        Parameters
        ----------
        transactions
            As for `frequent_itemsets`.
        """
        baskets = as_transactions(transactions)
        self.rules_: RuleSet = association_rules(
            baskets,
            self.min_support,
            min_confidence=self.min_confidence,
            max_consequent=1,
            max_length=self.max_length,
        )
        counts = baskets.item_counts
        order = np.argsort(-counts, kind="stable")
        self.popularity_ = {
            baskets.items[place]: float(counts[place] / len(baskets)) for place in order
        }
        return self

    def recommend(self, basket: Iterable[Any], n_items: int = 5) -> pd.DataFrame:
        """Return the best items for a basket, with the antecedent that speaks for each.

        Parameters
        ----------
        basket
            Items that are there; unknown ones are ignored.
        n_items
            Most items to recommend.
        """
        if not hasattr(self, "rules_"):
            raise DataError("The recommender is not fitted: call fit with transactions first.")
        if isinstance(basket, str):
            raise DataError(f"basket is {basket!r}; expected a list of items.")
        present = set(basket)
        scores: dict[Any, tuple[float, tuple[Any, ...]]] = {}
        confidences = self.rules_.confidence
        for place, (antecedent, consequent) in enumerate(
            zip(self.rules_.antecedents, self.rules_.consequents, strict=True)
        ):
            item = consequent[0]
            if item not in present and present.issuperset(antecedent):
                score = float(confidences[place])
                if score > scores.get(item, (-1.0, ()))[0]:
                    scores[item] = score, antecedent
        ranked = sorted(scores.items(), key=lambda pair: -pair[1][0])
        rest = [
            (item, (share, ()))
            for item, share in self.popularity_.items()
            if item not in scores and item not in present
        ]
        rows = [
            {"item": item, "score": score, "because": antecedent}
            for item, (score, antecedent) in [*ranked, *rest][:n_items]
        ]
        return pd.DataFrame(rows, columns=["item", "score", "because"])
