"""Multiple comparisons: p-values adjusted for their number, and all pairs as one record."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import unknown_name
from verulam.statistics._core.checks import Vector, checked_option, checked_p_values
from verulam.statistics._core.hypotheses import SWAPPED, named_hypotheses
from verulam.statistics._core.result import Alternative, EffectSize, TestResult

#: Statistics that change their sign when the learners of a pair change places.
SIGNED_STATISTICS = ("t", "z", "h", "median difference")
ADJUSTMENTS = ("none", "bonferroni", "holm", "hochberg", "benjamini-hochberg")


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All pairs of learners, compared at one overall level.

    Parameters
    ----------
    name
        Name of the procedure.
    table
        One row per pair: first, second, difference, statistic, p_value (of this pair alone),
        adjusted_p, reject.
    alpha
        Overall level of significance.
    statistic_name
        Symbol of the statistic.
    means
        Mean, or mean rank, of every learner.
    caveats
        What a reader should be told.
    critical_difference
        Difference of means that just rejects, NaN where it is not the same for all pairs.
    alternative
        Claim about the first of each pair.
    critical_value
        Limit beyond which the statistic of a pair rejects, NaN where it differs between pairs.
    adjusted
        Whether the procedure allows for the number of pairs.
    direction
        Column of the table whose sign says which of a pair has the smaller mean, or the better
        rank: negative for the first.
    """

    name: str
    table: pd.DataFrame
    alpha: float
    statistic_name: str
    means: pd.Series
    caveats: tuple[str, ...] = ()
    critical_difference: float = np.nan
    alternative: Alternative = "two-sided"
    critical_value: float = np.nan
    adjusted: bool = True
    direction: str = "difference"

    def result(self, first: Any, second: Any) -> TestResult:
        """Return one pair as a test result, with its adjusted p-value."""
        rows = self.table
        straight = (rows["first"] == first) & (rows["second"] == second)
        swapped = (rows["first"] == second) & (rows["second"] == first)
        if not (straight | swapped).any():
            known = [str(name) for name in self.means.index]
            raise unknown_name("pair", f"{first}, {second}", known)
        row = rows[straight | swapped].iloc[0]
        sign = 1.0 if straight.any() else -1.0
        tail = self.alternative if straight.any() else SWAPPED[self.alternative]
        signed = sign if self.statistic_name in SIGNED_STATISTICS else 1.0
        note = "" if self.adjusted else "not "
        return TestResult(
            name=self.name,
            **named_hypotheses(first, second, tail),
            statistic=signed * float(row["statistic"]),
            statistic_name=self.statistic_name,
            p_value=float(row["adjusted_p"]),
            alpha=self.alpha,
            critical_value=self.critical_value
            if tail == self.alternative
            else -self.critical_value,
            tail=tail,
            effect_size=EffectSize("difference", sign * float(row["difference"])),
            caveats=(*self.caveats, f"p-value {note}adjusted for {len(rows)} comparisons"),
        )

    def rejected(self) -> pd.DataFrame:
        """Return the rows of the pairs that differ."""
        return self.table[self.table["reject"]]

    def p_matrix(self) -> pd.DataFrame:
        """Return the adjusted p-values as a symmetric table with ones on the diagonal."""
        names = list(self.means.index)
        place = {name: position for position, name in enumerate(names)}
        matrix = np.eye(len(names))
        rows = self.table["first"].map(place).to_numpy(dtype=int)
        columns = self.table["second"].map(place).to_numpy(dtype=int)
        matrix[rows, columns] = matrix[columns, rows] = self.table["adjusted_p"]
        return pd.DataFrame(matrix, index=names, columns=names)

    def __str__(self) -> str:
        rejected = self.rejected()
        count = f"{len(rejected)} of {len(self.table)}"
        lines = [f"{self.name}: {count} pairs differ at {self.alpha:g}."]
        lines += [
            f"  {row.first} - {row.second}: {row.difference:.4g} (adjusted p {row.adjusted_p:.3g})"
            for row in rejected.itertuples()
        ]
        return "\n".join(lines)


def adjust_p_values(p_values: ArrayLike, method: str = "holm") -> Vector:
    """Return p-values that can be compared with one overall level.

    Parameters
    ----------
    p_values
        p-values of T tests.
    method
        ``"bonferroni"`` (times T), ``"holm"`` (never less powerful), ``"hochberg"`` (needs
        independence or positive dependence), ``"benjamini-hochberg"`` (bounds the share of false
        rejections among all rejections), or ``"none"``.

    Notes
    -----
    With T tests at level alpha the chance of a false rejection is at most T alpha: six 95 %
    intervals hold together with at least 70 % (Alpaydin 19.12). For all pairs of several learners
    `adjust_pairs` rejects more at the same level.

    Examples
    --------
    >>> from verulam.statistics import adjust_p_values
    >>> adjust_p_values([0.01, 0.04, 0.03], "bonferroni")
    array([0.03, 0.12, 0.09])
    >>> adjust_p_values([0.01, 0.04, 0.03], "holm")
    array([0.03, 0.06, 0.06])
    """
    checked_option(method, "method", ADJUSTMENTS)
    values = checked_p_values(p_values)
    count = len(values)
    if method == "none":
        return values.copy()
    if method == "bonferroni":
        return np.minimum(1.0, values * count)
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    remaining = np.arange(count, 0, -1)
    if method == "holm":
        # Step-down: with i - 1 rejected, only the remaining hypotheses can still be rejected
        # wrongly. The running maximum keeps the order of the p-values.
        stepped = np.maximum.accumulate(ascending * remaining)
    else:
        # Step-up, from the largest p-value down: the first that passes takes all smaller ones with
        # it.
        factor = remaining if method == "hochberg" else count / np.arange(1, count + 1)
        stepped = np.minimum.accumulate((ascending * factor)[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted
