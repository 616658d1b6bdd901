"""Finite probability spaces: events, conditioning, Bayes' rule."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import Vector
from verulam.statistics._theory.random_variables import DiscreteVariable

Event = Iterable[Any] | Callable[[Any], bool]


@dataclass(frozen=True, eq=False)
class FiniteSpace:
    """Outcomes with probabilities; events are sets of outcomes or conditions on them.

    Parameters
    ----------
    outcomes
        The sample space.
    probabilities
        Probability of each outcome; equal when not given.

    Notes
    -----
    Axioms and conditioning as in Alpaydin A.1 (A.1)-(A.7).

    Examples
    --------
    >>> from verulam.statistics import FiniteSpace
    >>> die = FiniteSpace(range(1, 7))
    >>> even, large = {2, 4, 6}, lambda face: face > 3
    >>> round(die.union_probability(even, large), 4)
    0.6667
    >>> round(die.conditional(even, large), 4)
    0.6667
    >>> die.independent(even, lambda face: face < 3)
    True
    """

    outcomes: Sequence[Any]
    probabilities: ArrayLike | None = None

    def __post_init__(self) -> None:
        outcomes = tuple(self.outcomes)
        if len(set(outcomes)) != len(outcomes) or not outcomes:
            raise DataError("outcomes must be at least one, and differ from one another.")
        shares = np.full(len(outcomes), 1.0 / len(outcomes))
        if self.probabilities is not None:
            shares = np.asarray(self.probabilities, dtype=np.float64)
        if (
            shares.shape != (len(outcomes),)
            or (shares < 0).any()
            or not np.isclose(shares.sum(), 1)
        ):
            raise DataError(
                f"probabilities must be {len(outcomes)} numbers, not negative, that sum to one."
            )
        object.__setattr__(self, "outcomes", outcomes)
        object.__setattr__(self, "probabilities", shares)

    @property
    def shares(self) -> Vector:
        """Probability of each outcome."""
        return np.asarray(self.probabilities)

    def event(self, event: Event) -> frozenset[Any]:
        """Return the event as a set of outcomes."""
        if callable(event):
            return frozenset(outcome for outcome in self.outcomes if event(outcome))
        outcomes = frozenset(event)
        unknown = outcomes - frozenset(self.outcomes)
        if unknown:
            raise DataError(f"{next(iter(unknown))!r} is not an outcome of this space.")
        return outcomes

    def probability(self, event: Event) -> float:
        """Return the probability of an event."""
        outcomes = self.event(event)
        return float(
            sum(p for o, p in zip(self.outcomes, self.shares, strict=True) if o in outcomes)
        )

    def complement(self, event: Event) -> frozenset[Any]:
        """Return the outcomes that are not in the event."""
        return frozenset(self.outcomes) - self.event(event)

    def union_probability(self, *events: Event) -> float:
        """Return the probability that some event occurs, by inclusion and exclusion."""
        sets = [self.event(event) for event in events]
        total = 0.0
        for count in range(1, len(sets) + 1):
            # Inclusion and exclusion: what two events share was counted twice, and so on.
            sign = 1.0 if count % 2 else -1.0
            for subset in combinations(sets, count):
                total += sign * self.probability(frozenset.intersection(*subset))
        return total

    def conditional(self, event: Event, condition: Event) -> float:
        """Return the conditional probability P(event | condition)."""
        outcomes = self.event(condition)
        below = self.probability(outcomes)
        if below == 0:
            raise DataError("The condition has probability zero: nothing is defined given it.")
        return self.probability(self.event(event) & outcomes) / below

    def independent(self, first: Event, second: Event, *, tol: float = 1e-12) -> bool:
        """Say whether two events are independent."""
        one, other = self.event(first), self.event(second)
        product = self.probability(one) * self.probability(other)
        return abs(self.probability(one & other) - product) <= tol

    def posterior(self, event: Event, causes: dict[str, Event]) -> pd.Series:
        """Return P(cause | event) for causes that exclude one another and cover the space."""
        sets = {name: self.event(cause) for name, cause in causes.items()}
        if sum(len(cause) for cause in sets.values()) != len(self.outcomes) or frozenset().union(
            *sets.values()
        ) != frozenset(self.outcomes):
            raise DataError("causes must exclude one another and cover the whole space.")
        return pd.Series({name: self.conditional(cause, event) for name, cause in sets.items()})

    def variable(self, function: Callable[[Any], float]) -> DiscreteVariable:
        """Return the random variable that gives `function` of the outcome."""
        values = np.array([float(function(outcome)) for outcome in self.outcomes])
        levels, codes = np.unique(values, return_inverse=True)
        return DiscreteVariable(levels, np.bincount(codes, self.shares))

    def sample(self, size: int, *, random_state: Seed = None) -> list[Any]:
        """Return `size` random outcomes."""
        drawn = generator(random_state).choice(len(self.outcomes), size=size, p=self.shares)
        return [self.outcomes[place] for place in drawn]
