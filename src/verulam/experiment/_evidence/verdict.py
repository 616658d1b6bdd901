"""The outcome of the tests in one place, and what may be read off it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from verulam.statistics import ManyComparison, TestResult


@dataclass(frozen=True, eq=False)
class Verdict:
    """The outcome of the tests in one place: a data set, or all of them.

    Attributes
    ----------
    scope
        Label of the data set, or "all data sets".
    best
        Contestant with the best mean, or the best mean rank.
    pairs
        One row per pair: first, second, difference, p_value, adjusted_p, decision.
    overall
        The test that all contestants are equal, or of the only pair; None where there is none.
    further
        Other tests of the same question.
    method
        The tests in words.
    why
        Why these tests.
    notes
        What was left out, and why.
    assumptions
        What the tests take for granted.
    many
        The record behind a critical-difference diagram, where there is one.
    control
        The pairs with the baseline, adjusted among themselves, since it was not picked by its
        results; None where none takes part.
    """

    scope: str
    best: str
    pairs: pd.DataFrame
    overall: "TestResult | None" = None
    further: tuple["TestResult", ...] = ()
    method: str = "no test"
    why: str = ""
    notes: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    many: "ManyComparison | None" = field(default=None, repr=False)
    control: pd.DataFrame | None = field(default=None, repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The contestants, baselines first."""
        # Pairs are combinations in the order of the contestants, which this restores.
        both = [*self.pairs["first"], *self.pairs["second"]]
        return tuple(dict.fromkeys(both)) or (self.best,)

    @property
    def tests(self) -> tuple["TestResult", ...]:
        """The overall test, then the others."""
        return self.further if self.overall is None else (self.overall, *self.further)

    @property
    def tested(self) -> bool:
        """Whether any pair was tested."""
        return bool((self.pairs["decision"] != "not tested").any())

    @property
    def decides(self) -> bool:
        """Whether any pair can be told apart."""
        return bool(self._wins)

    def beats(self, winner: str, loser: str) -> bool:
        """Return whether the tests say that one contestant is better than another."""
        return (winner, loser) in self._wins

    @cached_property
    def _wins(self) -> set[tuple[str, str]]:
        rejected = self.pairs[self.pairs["decision"] == "reject"]
        # A set, because every sentence and table asks for pairs one by one.
        return set(zip(rejected["better"], rejected["worse"], strict=True))

    @property
    def group(self) -> tuple[str, ...]:
        """The contestants that cannot be told from the best, which is one of them."""
        wins = self._wins
        return tuple(name for name in self.names if (self.best, name) not in wins)

    @property
    def unbeaten(self) -> tuple[str, ...]:
        """The contestants that no other one is shown to beat, baselines first."""
        beaten = {loser for _, loser in self._wins}
        return tuple(name for name in self.names if name not in beaten)

    @property
    def undecided(self) -> bool:
        """Whether all are not equal, but no pair can be named: more data are needed."""
        differs = self.overall is not None and self.overall.reject
        return differs and len(self.names) > 2 and not self._wins

    @property
    def with_best(self) -> pd.DataFrame:
        """The pairs with the best; their p-values are adjusted for all, since it was picked."""
        pairs = self.pairs
        return pairs[(pairs["first"] == self.best) | (pairs["second"] == self.best)]
