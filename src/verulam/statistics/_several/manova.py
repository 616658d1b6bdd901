"""Multivariate analysis of variance: several learners by several measures at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from scipy import linalg, special

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import Vector, checked_level, checked_option, numbers, too_few
from verulam.statistics._core.distributions import Fisher
from verulam.statistics._core.hypotheses import Hypotheses
from verulam.statistics._core.multiple_comparisons import adjust_p_values
from verulam.statistics._core.result import WIDTH, Assumption, EffectSize, TestResult
from verulam.statistics._two.hotelling import (
    SINGULAR_SHARE,
    hotelling_test,
    in_own_units,
    measure_table,
)

# With the observed arrangement 1,000, so that p-values are whole thousandths.
PERMUTATIONS = 999
# Share of the mean variance that is added in every direction where scatters are singular.
SHRINKAGE = 0.1
EQUAL_VECTORS: Hypotheses = {
    "null": "all learners have the same mean vector",
    "alternative": "at least two mean vectors differ",
}
SOURCE = "Alpaydin 19.14.2 (19.29)"
#: Share of the first direction above which one axis orders the learners.
DOMINANT_SHARE = 0.9
STATISTICS = {
    "wilks": "Wilks' lambda",
    "pillai": "Pillai's trace",
    "hotelling-lawley": "Hotelling-Lawley trace",
    "roy": "Roy's greatest root",
}


@dataclass(frozen=True, eq=False)
class Scatter:
    """Between- and within-group scatter matrices."""

    between: Vector
    within: Vector


@dataclass(frozen=True, eq=False)
class ManovaResult:
    """Outcome of a multivariate analysis of variance.

    Parameters
    ----------
    result
        The test by the chosen statistic.
    statistics
        Wilks, Pillai, Hotelling-Lawley and Roy with their F approximations; empty when the
        covariance was singular and the p-value came from permutations.
    eigenvalues
        Eigenvalues of :math:`E^{-1} H`, largest first.
    shares
        Their shares of the sum.
    directions
        Eigenvectors, one column each: combinations of measures in which learners differ.
    projections
        Mean of each learner along each direction.
    univariate
        Analysis of variance of each measure, adjusted after Holm.
    """

    result: TestResult
    statistics: pd.DataFrame
    eigenvalues: Vector
    shares: Vector
    directions: pd.DataFrame
    projections: pd.DataFrame
    univariate: pd.DataFrame

    @property
    def one_axis(self) -> bool:
        """Whether the first direction alone explains the differences."""
        return bool(self.shares[0] > DOMINANT_SHARE)

    def __str__(self) -> str:
        enough = "one axis orders the learners" if self.one_axis else "more than one axis is needed"
        order = self.projections.iloc[:, 0].sort_values(ascending=False)
        single = self.univariate[self.univariate["reject"]].index
        parts = [
            str(self.result),
            f"The first direction has {self.shares[0]:.1%} of the difference ({enough}); along it: "
            + ", ".join(f"{name} {value:.4g}" for name, value in order.items())
            + ".",
            "Measures that differ by themselves, after Holm: "
            + (", ".join(map(str, single)) or "none")
            + ".",
        ]
        return "\n".join(fill(part, WIDTH) for part in parts)


def scatter(groups: Sequence[Vector]) -> Scatter:
    """Return the scatter of group means about the grand mean, and of rows about their means."""
    grand = np.concatenate(groups).mean(axis=0)
    means = np.array([group.mean(axis=0) for group in groups])
    sizes = np.array([len(group) for group in groups])
    off = means - grand
    within = sum(
        (group - mean).T @ (group - mean) for group, mean in zip(groups, means, strict=True)
    )
    return Scatter((off * sizes[:, None]).T @ off, np.asarray(within))


def measured_groups(groups: Any) -> dict[Any, Vector]:
    """Return checked tables of measures by learner."""
    if not isinstance(groups, Mapping):
        stack = numbers(groups, "groups")
        if stack.ndim != 3:
            raise DataError(
                "groups must be a mapping from learners to tables, or an array of shape "
                f"(learners, splits, measures), but its shape is {stack.shape}."
            )
        groups = {f"learner {place + 1}": table for place, table in enumerate(stack)}
    if len(groups) < 2:
        raise too_few(len(groups), "groups", 2, "learners")
    tables = {name: measure_table(values, f"group {name!r}") for name, values in groups.items()}
    if len({table.shape[1] for table in tables.values()}) > 1:
        raise DataError("All learners need the same measures.")
    if min(len(table) for table in tables.values()) < 2:
        raise DataError("Every learner needs at least 2 splits.")
    return tables


def manova(
    groups: Any,
    *,
    statistic: str = "wilks",
    names: Sequence[str] | None = None,
    alpha: float = 0.05,
    random_state: Seed = 0,
) -> ManovaResult:
    r"""Compare several learners by several measures at once.

    Parameters
    ----------
    groups
        Mapping from learners to tables with splits in rows and measures in columns, or an array
        of shape (learners, splits, measures).
    statistic
        ``"wilks"``, ``"pillai"`` (the most robust), ``"hotelling-lawley"`` or ``"roy"``.
    names
        Names of the measures.
    alpha
        Level of significance.
    random_state
        Seed of the permutations that a singular covariance needs.

    Notes
    -----
    With between- and within-scatter H and E, Wilks' :math:`\Lambda = |E| / |E + H|
    = \prod_i 1 / (1 + \lambda_i)` for the eigenvalues of :math:`E^{-1} H` (Alpaydin 19.14.2
    (19.29)). *Small* values reject, against the inequality that the text prints. Rao's F
    approximates its distribution.

    Measures that depend on one another are replaced by the directions in which they vary. If E
    is singular even there, it is shrunk and the p-value is that of permuted learners.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import manova
    >>> values = np.random.default_rng(0).normal(size=(3, 10, 2)) + [[[0, 0]], [[1, 0]], [[2, 1]]]
    >>> found = manova(values)
    >>> print(found.result.headline(), found.one_axis)
    Lambda(4, 52) = 0.3928, p < 0.0001 True
    """
    checked_level(alpha)
    checked_option(statistic, "statistic", tuple(STATISTICS))
    tables = measured_groups(groups)
    sets = list(tables.values())
    count = sets[0].shape[1]
    labels = list(names) if names is not None else [f"measure {k + 1}" for k in range(count)]
    if len(labels) != count:
        raise DataError(f"names has {len(labels)} entries for {count} measures.")
    scaled = in_own_units(np.concatenate(sets))
    basis = varying_directions(scaled.values)
    ends = np.cumsum([len(table) for table in sets])[:-1]
    reduced = np.split(scaled.values @ basis, ends)
    parts = scatter(reduced)
    singular = np.linalg.matrix_rank(parts.within, hermitian=True) < basis.shape[1]
    within = shrunken(parts) if singular else parts.within
    values, vectors = directions_of(parts.between, within, len(sets) - 1)
    if singular:
        statistics = pd.DataFrame()
        result = permuted_result(reduced, values, within, alpha, random_state)
    else:
        rows = sum(len(table) for table in sets)
        statistics = four_statistics(values, basis.shape[1], len(sets), rows)
        critical = critical_value(statistics, statistic, basis.shape[1], len(sets), alpha)
        dependent = basis.shape[1] < count
        result = statistic_result(statistics, statistic, critical, values, dependent, alpha)
    columns = [f"direction {axis + 1}" for axis in range(len(values))]
    directions = scaled.raw(basis @ vectors)
    means = np.array([table.mean(axis=0) for table in sets])
    return ManovaResult(
        result,
        statistics,
        values,
        values / values.sum() if values.any() else values,
        pd.DataFrame(directions, index=labels, columns=columns),
        pd.DataFrame(means @ directions, index=list(tables), columns=columns),
        univariate_analyses(tables, labels, alpha),
    )


def shrunken(parts: Scatter) -> Vector:
    """Return the within-scatter with a little of the total variance added in every direction."""
    size = len(parts.within)
    return parts.within + np.eye(size) * SHRINKAGE * np.trace(parts.within + parts.between) / size


def directions_of(between: Vector, within: Vector, most: int) -> tuple[Vector, Vector]:
    """Return eigenvalues and eigenvectors of within^-1 between, largest first, at most `most`."""
    # The generalised symmetric problem has real eigenvalues; within^-1 between, which is not
    # symmetric, might show complex ones by rounding.
    values, vectors = linalg.eigh(between, within)
    return np.clip(values[::-1][:most], 0.0, None), vectors[:, ::-1][:, :most]


def varying_directions(everything: Vector) -> Vector:
    """Return an orthonormal basis of the directions in which all rows together vary."""
    _, sizes, directions = np.linalg.svd(everything - everything.mean(axis=0), full_matrices=False)
    if sizes[0] <= 1e-12 * max(float(np.abs(everything).max()), 1e-300):
        raise DataError("No measure varies: with zero variance the statistics are undefined.")
    return directions[sizes**2 > SINGULAR_SHARE * sizes[0] ** 2].T


def statistic_result(
    table: pd.DataFrame,
    statistic: str,
    critical: float,
    values: Vector,
    dependent: bool,
    alpha: float,
) -> TestResult:
    """Return the record of one of the four statistics."""
    value, numerator, denominator, ratio, p_value = table.to_numpy()[
        list(STATISTICS).index(statistic)
    ]
    symbols = {"wilks": "Lambda", "pillai": "V", "hotelling-lawley": "U", "roy": "theta"}
    caveats = ["training parts of cross-validation overlap, so that splits are not independent"]
    if statistic == "roy":
        caveats.append("the F of Roy's root is an upper bound, its p-value a lower one")
    if dependent:
        caveats.append("the measures depend on one another: only directions that vary were used")
    wilks = float(np.prod(1 / (1 + values)))
    return TestResult(
        name=f"Multivariate analysis of variance ({STATISTICS[statistic]})",
        statistic=float(value),
        statistic_name=symbols[statistic],
        p_value=float(p_value),
        critical_value=critical,
        degrees_of_freedom=(float(numerator), float(denominator)),
        tail="less" if statistic == "wilks" else "greater",
        effect_size=EffectSize("one minus Wilks' lambda", 1 - wilks),
        assumptions=(
            Assumption("measures are jointly normal with one covariance"),
            Assumption("results of different learners are independent"),
        ),
        caveats=tuple(caveats),
        table=table,
        details={"F": float(ratio)},
        alpha=alpha,
        **EQUAL_VECTORS,
        source=SOURCE,
    )


def permuted_result(
    groups: Sequence[Vector],
    values: Vector,
    within: Vector,
    alpha: float,
    random_state: Seed,
) -> TestResult:
    """Return a test by permuted learners when the within-scatter is singular."""
    rng = generator(random_state)
    rows = np.concatenate(groups)
    ends = np.cumsum([len(group) for group in groups])[:-1]
    # The same amount is added for every permutation, so that all statistics are of one kind.
    shrinkage = within - scatter(groups).within

    def trace_of(parts: Sequence[Vector]) -> float:
        sums = scatter(parts)
        return float(np.trace(np.linalg.solve(sums.within + shrinkage, sums.between)))

    observed = float(values.sum())
    larger = sum(
        trace_of(np.split(rng.permutation(rows), ends)) >= observed * (1 - 1e-9)
        for _ in range(PERMUTATIONS)
    )
    return TestResult(
        name="Multivariate analysis of variance, shrunken, by permutation",
        statistic=observed,
        statistic_name="U",
        # The observed assignment is one of those that could have been drawn.
        p_value=(larger + 1) / (PERMUTATIONS + 1),
        tail="greater",
        assumptions=(Assumption("without a difference the learners can be exchanged"),),
        caveats=(
            f"{len(rows)} results of {rows.shape[1]} measures have a singular scatter",
            "the scatter within learners was shrunk towards the identity",
        ),
        alpha=alpha,
        **EQUAL_VECTORS,
        source=SOURCE,
    )


def univariate_analyses(tables: dict[Any, Vector], labels: list[str], alpha: float) -> pd.DataFrame:
    """Return the analysis of variance of each measure; constant ones are undefined."""
    sets = list(tables.values())
    parts = scatter(sets)
    between, within = np.diag(parts.between), np.diag(parts.within)
    freedom = len(sets) - 1, sum(len(table) for table in sets) - len(sets)
    varying = within > SINGULAR_SHARE * (between + within).max() * 1e-6
    ratios = np.full(len(labels), np.nan)
    ratios[varying] = between[varying] / within[varying] * freedom[1] / freedom[0]
    p_values = np.where(varying, Fisher(*freedom).sf(np.nan_to_num(ratios)), 1.0)
    adjusted = adjust_p_values(p_values)
    return pd.DataFrame(
        {"F": ratios, "p_value": p_values, "adjusted_p": adjusted, "reject": adjusted < alpha},
        index=pd.Index(labels, name="measure"),
    )


def pairwise_hotelling(groups: Any, *, adjust: str = "holm", alpha: float = 0.05) -> pd.DataFrame:
    """Return Hotelling's test of every pair of learners, after a rejecting `manova`.

    Parameters
    ----------
    groups
        As in `manova`; the splits are the same for all learners.
    adjust
        A method of `adjust_p_values`.
    alpha
        Overall level of significance.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import pairwise_hotelling
    >>> values = np.random.default_rng(0).normal(size=(3, 10, 2)) + [[[0, 0]], [[0, 0]], [[2, 1]]]
    >>> pairwise_hotelling(values)["reject"].tolist()
    [False, True, True]
    """
    tables = measured_groups(groups)
    pairs = list(combinations(tables, 2))
    results = [hotelling_test(tables[one], tables[other]) for one, other in pairs]
    adjusted = adjust_p_values([result.p_value for result in results], adjust)
    return pd.DataFrame(
        {
            "first": [one for one, _ in pairs],
            "second": [other for _, other in pairs],
            "T2": [result.statistic for result in results],
            "p_value": [result.p_value for result in results],
            "adjusted_p": adjusted,
            "reject": adjusted < alpha,
        }
    )


def rao_power(size: int, effect: int) -> float:
    """Return the root of Wilks' lambda that Rao's F is a function of."""
    spread = size**2 + effect**2 - 5
    return float(np.sqrt(((size * effect) ** 2 - 4) / spread)) if spread > 0 else 1.0


def critical_value(
    table: pd.DataFrame, statistic: str, size: int, groups: int, alpha: float
) -> float:
    """Return the value of a statistic whose F is the critical one."""
    row = table.to_numpy()[list(STATISTICS).index(statistic)]
    value, numerator, denominator, ratio = (float(number) for number in row[:4])
    limit = float(Fisher(numerator, denominator).isf(alpha))
    odds = limit * numerator / denominator
    if statistic == "wilks":
        return float((1 + odds) ** -rao_power(size, groups - 1))
    if statistic == "pillai":
        return float(min(size, groups - 1) * odds / (1 + odds))
    # The F of the other two is proportional to them.
    return float(limit * value / ratio) if ratio > 0 else np.nan


def four_statistics(values: Vector, size: int, groups: int, rows: int) -> pd.DataFrame:
    """Return the four statistics with their F approximations, from the eigenvalues.

    Rao's F for Wilks, Pillai's own, Hotelling and Lawley's after McKeon, and the bound for Roy.
    """
    effect, error = groups - 1, rows - groups
    # The between-scatter has rank at most groups - 1, and so many eigenvalues are above zero.
    axes, product = min(size, effect), size * effect
    wilks, trace = float(np.prod(1 / (1 + values))), float(values.sum())
    pillai = float((values / (1 + values)).sum())
    power = rao_power(size, effect)
    root = wilks ** (1 / power)
    below = (error - (size - effect + 1) / 2) * power - (product - 2) / 2
    # The m and n of the printed tables, in which the F of Pillai and of Lawley are written.
    first, second = (abs(size - effect) - 1) / 2, (error - size - 1) / 2
    outer = axes * (2 * first + axes + 1), axes * (2 * second + axes + 1)
    if second > 0:
        whole = (size + 2 * second) * (effect + 2 * second)
        part = 2 * (2 * second + 1) * (second - 1)
        lawley = float(product), 4 + (product + 2) * part / (whole - part)
        lawley_f = lawley[1] / product * trace * 2 * second / (lawley[1] - 2)
    else:
        lawley = float(outer[0]), axes * (axes * second + 1)
        lawley_f = lawley[1] / lawley[0] / axes * trace
    wider = max(size, effect)
    table = np.array(
        [
            [wilks, product, below, (1 - root) / root * below / product],
            [pillai, *outer, outer[1] / outer[0] * pillai / (axes - pillai)],
            [trace, *lawley, lawley_f],
            [
                values[0],
                wider,
                error - wider + effect,
                (error - wider + effect) / wider * values[0],
            ],
        ]
    )
    # A table that grows by a column takes as long as all the rest.
    p_values = special.fdtrc(table[:, 1], table[:, 2], table[:, 3])
    return pd.DataFrame(
        np.column_stack([table, p_values]),
        index=pd.Index(list(STATISTICS.values()), name="statistic"),
        columns=["value", "numerator", "denominator", "F", "p_value"],
    )
