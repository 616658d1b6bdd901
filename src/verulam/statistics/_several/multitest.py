"""MultiTest: a full order of learners from pairwise tests and a preference for the simple."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.statistics._core.checks import Vector, checked_level, checked_option, result_table
from verulam.statistics._core.multiple_comparisons import adjust_p_values
from verulam.statistics._core.result import TestResult
from verulam.statistics._two.paired_tests import corrected_t_test

DIRECTIONS = ("costlier", "both")


@dataclass(frozen=True, eq=False)
class LearnerOrder:
    """Learners from best to worst.

    Parameters
    ----------
    order
        Names, the preferred learner first.
    better
        Table of truth values: the row is significantly better than the column.
    p_values
        Adjusted one-sided p-values of the tests that were made, NaN elsewhere.
    caveats
        What a reader should be told.
    """

    order: tuple[Any, ...]
    better: pd.DataFrame
    p_values: pd.DataFrame
    caveats: tuple[str, ...] = ()

    @property
    def best(self) -> Any:
        """The learner to use."""
        return self.order[0]

    def __str__(self) -> str:
        text = " < ".join(str(name) for name in self.order)
        return f"Order from best to worst: {text}." + "".join(
            f" Caveat: {caveat}." for caveat in self.caveats
        )


def multitest_order(
    table: ArrayLike | pd.DataFrame,
    complexity: Sequence[float] | None = None,
    *,
    test: Callable[..., TestResult] = corrected_t_test,
    greater_is_better: bool = False,
    directions: str = "costlier",
    adjust: str = "holm",
    alpha: float = 0.05,
) -> LearnerOrder:
    """Order learners by error where tests can, and by simplicity where they cannot.

    Parameters
    ----------
    table
        Results, one column per learner and one row per split (or data set).
    complexity
        Cost of each learner, smaller is preferred; by position when not given.
    test
        Paired test, called as ``test(first, second, alternative="less", alpha=alpha)`` on losses.
    greater_is_better
        Direction of the results.
    directions
        ``"costlier"`` asks of each pair whether the costlier learner is better, as MultiTest does;
        ``"both"`` asks both ways, so that a learner never precedes one that beats it.
    adjust
        Adjustment of the p-values, a method of `adjust_p_values`.
    alpha
        Overall level of significance.

    Notes
    -----
    The L (L - 1) / 2 one-sided tests give a partial order. A topological sort completes it: of the
    learners that no remaining one beats, the simplest comes next (Alpaydin 19.15, exercise 7).
    Without any rejection the order is that of complexity.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import multitest_order
    >>> noise = np.random.default_rng(0).normal(size=(10, 3)) / 100
    >>> print(multitest_order(noise + [0.3, 0.1, 0.1]))
    Order from best to worst: learner 2 < learner 3 < learner 1.
    """
    checked_level(alpha)
    checked_option(directions, "directions", DIRECTIONS)
    frame = result_table(table, rows="splits")
    losses = -frame.to_numpy() if greater_is_better else frame.to_numpy()
    count = losses.shape[1]
    cost = np.arange(count) if complexity is None else np.asarray(complexity, dtype=np.float64)
    if cost.shape != (count,) or not np.isfinite(cost).all():
        raise DataError(f"complexity must be {count} numbers, one per learner.")
    simple_first = np.argsort(cost, kind="stable")
    # Only whether a costlier learner is better has to be shown: otherwise the simpler one comes
    # first anyway.
    asked = [(simple_first[b], simple_first[a]) for a in range(count) for b in range(a + 1, count)]
    if directions == "both":
        asked += [(second, first) for first, second in asked]
    raw, undefined = one_sided_p_values(losses, asked, test, alpha)
    p_values = np.full((count, count), np.nan)
    p_values[tuple(np.array(asked).T)] = adjust_p_values(raw, adjust)
    better = p_values < alpha
    order, cyclic = simplest_first_sort(better, simple_first)
    caveats = []
    if undefined:
        caveats.append(f"{undefined} pairs have constant differences and count as equal")
    if cyclic:
        caveats.append("the tests contradict one another in a circle, broken by simplicity")
    names = frame.columns
    return LearnerOrder(
        tuple(names[place] for place in order),
        pd.DataFrame(better, index=names, columns=names),
        pd.DataFrame(p_values, index=names, columns=names),
        tuple(caveats),
    )


def one_sided_p_values(
    losses: Vector, asked: list[tuple[Any, Any]], test: Callable[..., TestResult], alpha: float
) -> tuple[Vector, int]:
    """Return the p-values of "the first has the smaller loss", and how many were undefined."""
    p_values, undefined = np.ones(len(asked)), 0
    for number, (first, second) in enumerate(asked):
        if np.ptp(losses[:, first] - losses[:, second]) < 1e-12:
            undefined += 1
            continue
        result = test(losses[:, first], losses[:, second], alternative="less", alpha=alpha)
        p_values[number] = result.p_value
    return p_values, undefined


def simplest_first_sort(
    better: NDArray[np.bool_], simple_first: NDArray[np.intp]
) -> tuple[list[int], bool]:
    """Return a topological order that takes the simplest learner whenever it is free to."""
    remaining = list(simple_first)
    order: list[int] = []
    cyclic = False
    while remaining:
        free = [one for one in remaining if not better[remaining, one].any()]
        # Tests are not transitive. Where all that remain are beaten by one another, the simplest
        # goes first.
        cyclic |= not free
        learner = (free or remaining)[0]
        order.append(int(learner))
        remaining.remove(learner)
    return order, cyclic
