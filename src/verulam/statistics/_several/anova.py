"""Analysis of variance: one factor, one factor in blocks, and two factors with interaction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataError
from verulam.statistics._core.checks import (
    Vector,
    checked_level,
    checked_number,
    label_column,
    named_groups,
    result_table,
    sample,
)
from verulam.statistics._core.distributions import Fisher
from verulam.statistics._core.result import Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import NORMALITY_LEVEL, normality, upper_tail

COLUMNS = ["sum_of_squares", "degrees_of_freedom", "mean_square", "F", "p_value"]
EQUAL_MEANS: dict[str, Any] = {
    "null": "all learners have the same mean",
    "alternative": "at least two means differ",
}


@dataclass(frozen=True)
class Source:
    """One source of variation: its sum of squares and degrees of freedom."""

    name: str
    sum_of_squares: float
    degrees_of_freedom: float

    @property
    def mean_square(self) -> float:
        """Sum of squares per degree of freedom."""
        return self.sum_of_squares / self.degrees_of_freedom


def anova_table(effects: list[Source], error: Source, scale: float = 1.0) -> pd.DataFrame:
    """Return the usual table: effects tested against the error, F over a scale, and a total."""
    rows = []
    for source in effects:
        ratio = source.mean_square / error.mean_square / scale
        p_value = Fisher(source.degrees_of_freedom, error.degrees_of_freedom).sf(ratio)
        rows.append(
            [
                source.sum_of_squares,
                source.degrees_of_freedom,
                source.mean_square,
                ratio,
                float(p_value),
            ]
        )
    rows.append([error.sum_of_squares, error.degrees_of_freedom, error.mean_square, np.nan, np.nan])
    totals = [sum(row[place] for row in rows) for place in (0, 1)]
    rows.append([*totals, np.nan, np.nan, np.nan])
    names = [source.name for source in (*effects, error)]
    return pd.DataFrame(rows, pd.Index([*names, "total"], name="source"), COLUMNS).astype(float)


def refuse_no_error(sum_of_squares: float, total: float, values: Vector) -> None:
    """Raise when nothing varies that the factor could be compared with, but for rounding."""
    rounding = 1e-28 * float((values**2).sum())
    if sum_of_squares <= max(1e-24 * total, rounding):
        raise DataError("The values within groups do not vary: with zero variance F is undefined.")


def effect_result(
    effect: Source,
    error: Source,
    table: pd.DataFrame,
    alpha: float,
    *,
    scale: float = 1.0,
    **fields: Any,
) -> TestResult:
    """Return the record for one effect of an analysis of variance, with F divided by a scale."""
    freedom = (effect.degrees_of_freedom, error.degrees_of_freedom)
    statistic = effect.mean_square / error.mean_square / scale
    tail = upper_tail(statistic, Fisher(*freedom), alpha)
    share = effect.sum_of_squares / (effect.sum_of_squares + error.sum_of_squares)
    return TestResult(
        statistic=statistic,
        statistic_name="F",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=freedom,
        tail="greater",
        effect_size=EffectSize("partial eta squared", share),
        table=table,
        **fields,
    )


def one_way_anova(groups: Any, *, alpha: float = 0.05) -> TestResult:
    r"""Test whether several learners have the same mean, with independent results.

    Parameters
    ----------
    groups
        A table with one column per learner and one row per replication, or a mapping from names
        to results, whose numbers may differ.
    alpha
        Level of significance.

    Notes
    -----
    :math:`F = MS_b / MS_w` with L - 1 and L (K - 1) degrees of freedom (Alpaydin 19.12 (19.23),
    Table 19.4). Folds that all learners share are blocks: `repeated_anova` uses them.

    Examples
    --------
    >>> from verulam.statistics import one_way_anova
    >>> result = one_way_anova({"a": [1, 2, 3], "b": [2, 3, 4], "c": [5, 6, 7]})
    >>> print(result.table.round(3))
                    sum_of_squares  degrees_of_freedom  mean_square     F  p_value
    source
    between groups            26.0                 2.0         13.0  13.0    0.007
    within groups              6.0                 6.0          1.0   NaN      NaN
    total                     32.0                 8.0          NaN   NaN      NaN
    """
    checked_level(alpha)
    named = named_groups(groups)
    sets = list(named.values())
    everything = np.concatenate(sets)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in sets)
    between = sum(len(group) * (group.mean() - everything.mean()) ** 2 for group in sets)
    refuse_no_error(within, within + between, everything)
    effect = Source("between groups", float(between), len(sets) - 1)
    error = Source("within groups", within, len(everything) - len(sets))
    residuals = np.concatenate([group - group.mean() for group in sets])
    return effect_result(
        effect,
        error,
        anova_table([effect], error),
        alpha,
        name="One-way analysis of variance",
        **EQUAL_MEANS,
        assumptions=(
            normality(residuals, "residuals"),
            equal_variances(sets),
            Assumption("results are independent, also between learners"),
        ),
        caveats=("results on shared folds are dependent: analyse them as blocks",),
        source="Alpaydin 19.12 (19.23)",
    )


def equal_variances(sets: list[Vector]) -> Assumption:
    """Ask Brown and Forsythe whether the groups vary alike."""
    text = "the variances of the groups are equal"
    # Brown and Forsythe: an analysis of variance of the distances from the medians, which bears
    # skewed groups better than the means do.
    spreads = [np.abs(group - np.median(group)) for group in sets]
    if max(map(len, sets)) < 3 or all(np.ptp(spread) == 0 for spread in spreads):
        return Assumption(text, None, "too few values")
    p_value = float(stats.f_oneway(*spreads).pvalue)
    return Assumption(text, p_value >= NORMALITY_LEVEL, f"Brown-Forsythe p = {p_value:.2g}")


@dataclass(frozen=True, eq=False)
class BlockedSums:
    """Sums of squares of tables with blocks in rows and treatments in columns."""

    treatments: Vector
    blocks: Vector
    residual: Vector


def blocked_sums(values: Vector) -> BlockedSums:
    """Return the sums of squares of tables in the last two axes."""
    blocks, treatments = values.shape[-2:]
    grand = values.mean(axis=(-2, -1), keepdims=True)
    rows, columns = values.mean(axis=-1, keepdims=True), values.mean(axis=-2, keepdims=True)
    rest = values - rows - columns + grand
    return BlockedSums(
        blocks * ((columns - grand) ** 2).sum(axis=(-2, -1)),
        treatments * ((rows - grand) ** 2).sum(axis=(-2, -1)),
        (rest**2).sum(axis=(-2, -1)),
    )


def repeated_anova(
    table: ArrayLike | pd.DataFrame, *, alpha: float = 0.05, overlap: float = 0.0
) -> TestResult:
    r"""Test whether several learners have the same mean, on folds that all of them share.

    Parameters
    ----------
    table
        One column per learner, one row per fold (block).
    alpha
        Level of significance.
    overlap
        Rows tested over rows learnt from in each fold, where training parts overlap: F is divided
        by :math:`1 + K\, n_2/n_1`, as in the corrected resampled t test. 0 corrects nothing.

    Notes
    -----
    Differences between folds are taken out of the error, which leaves (L - 1)(K - 1) degrees of
    freedom (Alpaydin 19.4, 19.12). ``details`` holds the Greenhouse-Geisser epsilon, and the
    p-value corrected by it for unequal variances of differences.

    Examples
    --------
    >>> from verulam.statistics import repeated_anova
    >>> result = repeated_anova([[1, 2, 4], [2, 3, 6], [4, 5, 7], [3, 5, 6]])
    >>> print(result.headline())
    F(2, 6) = 55.29, p = 0.000136
    """
    checked_level(alpha)
    if checked_number(overlap, "overlap") < 0:
        raise DataError(f"overlap must not be negative, but is {overlap}.")
    frame = result_table(table, rows="folds")
    values = frame.to_numpy()
    folds, learners = values.shape
    sums = blocked_sums(values)
    refuse_no_error(float(sums.residual), float(sums.treatments + sums.residual), values)
    effect = Source("learners", float(sums.treatments), learners - 1)
    blocks = Source("folds", float(sums.blocks), folds - 1)
    error = Source("residual", float(sums.residual), (learners - 1) * (folds - 1))
    epsilon = sphericity(values)
    # Greenhouse and Geisser: unequal variances of differences cost degrees of freedom.
    freedom = epsilon * effect.degrees_of_freedom, epsilon * error.degrees_of_freedom
    # The variance of a mean over n folds is s^2 (1/n + overlap) instead of s^2 / n.
    scale = 1.0 + folds * overlap
    ratio = effect.mean_square / error.mean_square / scale
    return effect_result(
        effect,
        error,
        anova_table([effect, blocks], error, scale),
        alpha,
        scale=scale,
        name="Repeated-measures analysis of variance"
        + (", corrected for overlapping training parts" if overlap else ""),
        **EQUAL_MEANS,
        assumptions=(
            normality(residuals_of(values), "residuals"),
            Assumption(
                "differences have equal variances",
                epsilon > 0.75,
                f"Greenhouse-Geisser epsilon {epsilon:.2f}",
            ),
            Assumption("all learners saw the same folds"),
        ),
        caveats=()
        if overlap
        else ("training parts of cross-validation overlap, so that folds are not independent",),
        details={
            "epsilon": epsilon,
            "corrected_p_value": float(Fisher(*freedom).sf(ratio)),
        },
        source="Alpaydin 19.12, with blocks as in 19.4",
    )


def residuals_of(values: Vector) -> Vector:
    """Return what is left of a table after its row and column means, as one column."""
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0)
    return (values - rows - columns + values.mean()).ravel()


def sphericity(values: Vector) -> float:
    """Return the Greenhouse-Geisser epsilon, one when all differences vary alike."""
    learners = values.shape[1]
    centring = np.eye(learners) - 1.0 / learners
    covariance = centring @ np.cov(values, rowvar=False) @ centring
    # The scale cancels out, and its square might be too large or too small for a number.
    covariance /= np.abs(covariance).max()
    return float(np.trace(covariance) ** 2 / ((learners - 1) * (covariance**2).sum()))


@dataclass(frozen=True, eq=False)
class TwoFactorAnova:
    """Tests of two factors and of their interaction.

    Parameters
    ----------
    first, second, interaction
        Results of the three tests.
    table
        The whole table.
    """

    first: TestResult
    second: TestResult
    interaction: TestResult
    table: pd.DataFrame


def two_factor_anova(
    values: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    names: tuple[str, str] = ("first factor", "second factor"),
    alpha: float = 0.05,
) -> TwoFactorAnova:
    """Test two factors, such as learner and representation, and their interaction.

    Parameters
    ----------
    values
        Result of each run.
    first, second
        Level of either factor in each run.
    names
        Names of the factors.
    alpha
        Level of significance.

    Notes
    -----
    Sums of squares of the second type, equal to the usual ones in a balanced design (Alpaydin
    19.12). Each combination needs at least two runs on average to estimate the error.

    Examples
    --------
    >>> from verulam.statistics import two_factor_anova
    >>> found = two_factor_anova(
    ...     [1, 2, 3, 4, 5, 6, 9, 10], list("aaaabbbb"), list("xxyyxxyy"))
    >>> print(found.interaction.headline())
    F(1, 4) = 4, p = 0.116
    """
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    checked_level(alpha)
    response = sample(values, "values", 4)
    frame = pd.DataFrame({"response": response})
    for name, levels in (("first", first), ("second", second)):
        codes, distinct = pd.factorize(label_column(levels, name))
        if len(codes) != len(response):
            raise DataError(f"{name} has {len(codes)} levels for {len(response)} values.")
        if len(distinct) < 2:
            raise DataError(f"{name} has one level: at least 2 are needed.")
        frame[name] = codes
    cells = frame.groupby(["first", "second"]).size()
    if len(cells) < frame["first"].nunique() * frame["second"].nunique():
        raise DataError("Some combinations of the two factors have no runs.")
    if len(response) == len(cells):
        raise DataError("One run per combination: at least 2 are needed to test the interaction.")
    # Type II sums of squares: each factor after the other one, so that unequal numbers of runs do
    # not make the order matter.
    analysis = anova_lm(ols("response ~ C(first) * C(second)", frame).fit(), typ=2)
    squares = analysis["sum_sq"]
    refuse_no_error(float(squares.iloc[-1]), float(squares.sum()), frame["response"].to_numpy())
    interaction = f"{names[0]} x {names[1]}"
    *effects, error = (
        Source(name, float(squares), float(freedom))
        for name, squares, freedom in zip(
            [*names, interaction, "residual"], analysis["sum_sq"], analysis["df"], strict=True
        )
    )
    table = anova_table(effects, error)
    results = [
        effect_result(
            effect,
            error,
            table,
            alpha,
            name="Two-factor analysis of variance",
            null=f"{effect.name} has no effect",
            alternative=f"{effect.name} has an effect",
            assumptions=(Assumption("residuals are independent and normal with one variance"),),
            source="Alpaydin 19.12",
        )
        for effect in effects
    ]
    return TwoFactorAnova(results[0], results[1], results[2], table)
