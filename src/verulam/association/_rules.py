"""Association rules: confidence, lift and other measures; filters, explanations, tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom

from verulam.association._item_sets import ItemSets, frequent_itemsets
from verulam.association._search_loops import find_rules
from verulam.association._transactions import Transactions, as_transactions
from verulam.base import (
    NONE,
    NUMBER,
    WHOLE,
    DataError,
    checked_arguments,
)
from verulam.statistics import adjust_p_values

#: Sets longer than this have too many parts to make rules of.
LONGEST_SET = 30


@dataclass(frozen=True, eq=False)
class RuleSet:
    """Rules "who has these items also has those", with the counts behind every measure.

    Attributes
    ----------
    antecedents, consequents
        Items of each rule's two sides.
    together : ndarray of int
        Transactions that have both sides.
    antecedent_counts, consequent_counts : ndarray of int
        Transactions that have each side.
    n_transactions
        All transactions.

    Examples
    --------
    >>> from verulam.association import association_rules
    >>> from verulam.data import dataset
    >>> rules = association_rules(dataset("baskets").inputs, 2, min_confidence=0.7)
    >>> print(rules.containing("I1", "I2", "I5"))
    I5 -> I1, I2  (support 0.222, confidence 1.000, lift 2.250)
    I2, I5 -> I1  (support 0.222, confidence 1.000, lift 1.500)
    I1, I5 -> I2  (support 0.222, confidence 1.000, lift 1.286)
    """

    antecedents: tuple[tuple[Any, ...], ...]
    consequents: tuple[tuple[Any, ...], ...]
    together: NDArray[np.int64]
    antecedent_counts: NDArray[np.int64]
    consequent_counts: NDArray[np.int64]
    n_transactions: int

    def __len__(self) -> int:
        return len(self.together)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Share of the transactions with the antecedent that have the consequent too."""
        return self.together / self.antecedent_counts

    @property
    def lift(self) -> NDArray[np.float64]:
        """How many times as frequent both sides are together as if they were independent."""
        expected = self.antecedent_counts * (self.consequent_counts / self.n_transactions)
        return self.together / expected

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """Fisher's exact test of each rule: probability of so many by chance, or more."""
        # Of transactions with the consequent, as many among those with the antecedent, or more.
        return np.asarray(
            hypergeom.sf(
                self.together - 1,
                self.n_transactions,
                self.antecedent_counts,
                self.consequent_counts,
            )
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a row per rule with all measures."""
        total = self.n_transactions
        support = self.together / total
        left, right = self.antecedent_counts / total, self.consequent_counts / total
        with np.errstate(divide="ignore", invalid="ignore"):
            conviction = (1.0 - right) / (1.0 - self.confidence)
            reverse = support / right
        return pd.DataFrame(
            {
                "antecedent": list(self.antecedents),
                "consequent": list(self.consequents),
                "count": self.together,
                "support": support,
                "confidence": self.confidence,
                "lift": self.lift,
                "leverage": support - left * right,
                "conviction": np.where(self.confidence >= 1.0, np.inf, conviction),
                "jaccard": support / (left + right - support),
                "cosine": support / np.sqrt(left * right),
                "kulczynski": 0.5 * (self.confidence + reverse),
                "p": self.p_values,
            }
        )

    def where(self, mask: Any) -> "RuleSet":
        """Return the rules of a Boolean mask."""
        return self._take(np.flatnonzero(np.asarray(mask, dtype=bool)))

    def _take(self, places: NDArray[np.intp]) -> "RuleSet":
        return RuleSet(
            tuple(self.antecedents[place] for place in places),
            tuple(self.consequents[place] for place in places),
            self.together[places],
            self.antecedent_counts[places],
            self.consequent_counts[places],
            self.n_transactions,
        )

    def containing(self, *items: Any) -> "RuleSet":
        """Return the rules that have all of some items, on whichever side."""
        return self.where(
            [
                set(items) <= {*antecedent, *consequent}
                for antecedent, consequent in zip(self.antecedents, self.consequents, strict=True)
            ]
        )

    def concluding(self, *items: Any) -> "RuleSet":
        """Return the rules whose consequent is just these items."""
        return self.where([set(consequent) == set(items) for consequent in self.consequents])

    def without_redundant(self) -> "RuleSet":
        """Return the rules that no shorter antecedent makes as confident, for the same consequent.

        A rule is redundant if leaving items out of its antecedent loses no confidence.
        """
        best = {
            (frozenset(antecedent), frozenset(consequent)): confidence
            for antecedent, consequent, confidence in zip(
                self.antecedents, self.consequents, self.confidence, strict=True
            )
        }
        by_consequent: dict[frozenset[Any], list[tuple[frozenset[Any], float]]] = {}
        for (antecedent, consequent), confidence in best.items():
            by_consequent.setdefault(consequent, []).append((antecedent, confidence))
        mask = [
            not any(
                shorter < frozenset(antecedent) and other >= confidence - 1e-12
                for shorter, other in by_consequent[frozenset(consequent)]
            )
            for antecedent, consequent, confidence in zip(
                self.antecedents, self.consequents, self.confidence, strict=True
            )
        ]
        return self.where(mask)

    def explain(self, place: int) -> str:
        """Return a rule in words, with the counts behind it."""
        if place not in range(len(self)):
            raise DataError(f"place is {place!r}; expected a number from 0 to {len(self) - 1}.")
        antecedent = ", ".join(map(str, self.antecedents[place]))
        consequent = ", ".join(map(str, self.consequents[place]))
        both, left = self.together[place], self.antecedent_counts[place]
        share = self.consequent_counts[place] / self.n_transactions
        return (
            f"{both:,} of the {left:,} transactions with {antecedent} also have {consequent} "
            f"({both / left:.1%}); of all {self.n_transactions:,}, {share:.1%} have it."
        )

    def tested_on(self, transactions: Any, *, method: str = "holm") -> pd.DataFrame:
        """Count the rules in other transactions, and test them there.

        Parameters
        ----------
        transactions
            Transactions that the rules were not found in.
        method
            Correction for testing many rules, as in `verulam.statistics.adjust_p_values`.

        Notes
        -----
        The best of many rules looks better where it was found than it is. In fresh transactions
        Fisher's exact test of each rule is honest, and its p-value is adjusted for their number.
        """
        baskets = as_transactions(transactions)
        if not len(baskets):
            raise DataError("There are no transactions to test the rules on.")
        recounted = RuleSet(
            self.antecedents,
            self.consequents,
            _counts(
                baskets, [(*a, *c) for a, c in zip(self.antecedents, self.consequents, strict=True)]
            ),
            _counts(baskets, self.antecedents),
            _counts(baskets, self.consequents),
            len(baskets),
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            confidence, lift = recounted.confidence, recounted.lift
        p = recounted.p_values
        frame = pd.DataFrame(
            {
                "antecedent": list(self.antecedents),
                "consequent": list(self.consequents),
                "found_confidence": self.confidence,
                "count": recounted.together,
                "confidence": confidence,
                "lift": lift,
                "p": p,
                "adjusted_p": adjust_p_values(p, method) if len(p) else p,
            }
        )
        return frame.sort_values("adjusted_p", kind="stable").reset_index(drop=True)

    def __str__(self) -> str:
        lines = [
            f"{', '.join(map(str, antecedent))} -> {', '.join(map(str, consequent))}  "
            f"(support {both / self.n_transactions:.3f}, confidence {confidence:.3f}, "
            f"lift {lift:.3f})"
            for antecedent, consequent, both, confidence, lift in zip(
                self.antecedents[:20],
                self.consequents[:20],
                self.together[:20],
                self.confidence[:20],
                self.lift[:20],
                strict=True,
            )
        ]
        left = len(self) - len(lines)
        return "\n".join([*lines, f"... and {left:,} more"] if left else lines) or "no rules"


@checked_arguments(
    min_support=NUMBER,
    min_confidence=NUMBER,
    min_lift=NUMBER,
    max_consequent=WHOLE | NONE,
    max_length=WHOLE | NONE,
    max_itemsets=WHOLE,
    max_rules=WHOLE,
)
def association_rules(
    transactions: Any,
    min_support: float = 0.1,
    *,
    min_confidence: float = 0.5,
    min_lift: float = 0.0,
    max_consequent: int | None = None,
    max_length: int | None = None,
    max_itemsets: int = 1_000_000,
    max_rules: int = 1_000_000,
) -> RuleSet:
    r"""Find the rules that are frequent and confident enough, the most confident first.

    Parameters
    ----------
    transactions
        As for `frequent_itemsets`; or `ItemSets` of all lengths that it returned, whose support
        then counts.
    min_support
        Least share of the transactions that have both sides, or a whole number of them.
    min_confidence
        Least share of those with the antecedent that have the consequent too.
    min_lift
        Least lift.
    max_consequent
        Most items of a consequent.
    max_length
        Most items of a rule.
    max_itemsets, max_rules
        More sets or rules than these are refused.

    Notes
    -----
    For every frequent set X and every part A of it, the rule :math:`A \to X \setminus A` has the
    confidence :math:`n(X) / n(A)`. See SIT1305 II, "Association rules".
    """
    if not 0.0 <= min_confidence <= 1.0:
        raise DataError(f"min_confidence must lie between 0 and 1, but is {min_confidence}.")
    sets = (
        transactions
        if isinstance(transactions, ItemSets)
        else frequent_itemsets(
            transactions, min_support, max_length=max_length, max_itemsets=max_itemsets
        )
    )
    whole, left, right = _rules_of(sets, min_confidence, max_consequent, max_rules)
    if len(whole) > max_rules:
        raise DataError(
            f"More than {max_rules:,} rules; raise min_support or min_confidence, or name a "
            "max_consequent."
        )
    rules = RuleSet(
        tuple(sets[place] for place in left),
        tuple(sets[place] for place in right),
        sets.counts[whole],
        sets.counts[left],
        sets.counts[right],
        sets.n_transactions,
    )
    rules = rules._take(np.lexsort((-rules.lift, -rules.confidence)))
    return rules.where(rules.lift >= min_lift) if min_lift > 0.0 else rules


def _rules_of(
    sets: ItemSets, min_confidence: float, max_consequent: int | None, limit: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the sets that every rule is made of: both sides, antecedent and consequent."""
    if sets.kind != "all":
        raise DataError(f"Rules need all parts of a set, which {sets.kind} sets leave out.")
    if len(sets) and sets.lengths.max() > LONGEST_SET:
        raise DataError(
            f"A set has {sets.lengths.max()} items, too many to make rules of; name a max_length."
        )
    last = sets.codes[sets.starts[1:] - 1]
    starts = np.searchsorted(sets.prefixes, np.arange(-1, len(sets) + 1))
    longest = LONGEST_SET if max_consequent is None else max_consequent
    # Counts are whole numbers: rounding matters only where a confidence is met exactly.
    return find_rules(
        sets.prefixes, last, sets.counts, starts, min_confidence - 1e-12, longest, limit
    )


def _counts(baskets: Transactions, sets: Iterable[tuple[Any, ...]]) -> NDArray[np.int64]:
    """Return how many transactions have each set; items that none has are in no transaction."""
    known = set(baskets.items)
    table: dict[tuple[Any, ...], int] = {}
    for items in sets:
        if items not in table:
            table[items] = baskets.counts(items) if known >= set(items) else 0
    return np.array([table[items] for items in sets], dtype=np.int64)
