"""p-values of many simulated experiments at once: tests of several learners.

As in `_simulated`, each function returns one p-value for each of `repeats` experiments. Procedures
that compare pairs return the smallest adjusted one, which rejects when any pair does.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate, stats

from verulam.statistics._core.checks import Vector, checked_option
from verulam.statistics._core.distributions import NORMAL, Fisher, Student
from verulam.statistics._core.multiple_comparisons import adjust_p_values
from verulam.statistics._core.tails import symmetric_p_values
from verulam.statistics._datasets.mean_ranks import rank_error
from verulam.statistics._datasets.rank_tests import (
    agreement_chance,
    friedman_statistics,
    iman_davenport_statistics,
)
from verulam.statistics._datasets.wilcoxon import wilcoxon_p_values
from verulam.statistics._several.anova import blocked_sums

Generator = np.random.Generator
FACTORS = ("first", "second", "interaction")
# Exact tails between which those of ten thousand ranges are interpolated, to about 1e-6.
RANGE_POINTS = 60


def learner_tables(
    rng: Generator, repeats: int, effect: float, rows: int, learners: int, block: float
) -> Vector:
    """Return tables in which the first learner is off by `effect`, with shared row effects."""
    tables = rng.normal(size=(repeats, rows, learners))
    # An effect of the data set or fold, which tests within rows must not see.
    tables += block * rng.normal(size=(repeats, rows, 1))
    tables[..., 0] += effect
    return tables


def one_way_anova(
    rng: Generator, repeats: int, effect: float, *, rows: int = 10, learners: int = 4
) -> Vector:
    """One-way analysis of variance of independent normal results."""
    tables = learner_tables(rng, repeats, effect, rows, learners, 0.0)
    return np.asarray(stats.f_oneway(*np.moveaxis(tables, -1, 0), axis=-1).pvalue)


def repeated_anova(
    rng: Generator, repeats: int, effect: float, *, rows: int = 10, learners: int = 4
) -> Vector:
    """Repeated-measures analysis of variance of normal results with fold effects."""
    sums = blocked_sums(learner_tables(rng, repeats, effect, rows, learners, 1.0))
    freedom = learners - 1, (learners - 1) * (rows - 1)
    return stats.f.sf(sums.treatments / sums.residual * (rows - 1), *freedom)


def two_factor_anova(
    rng: Generator,
    repeats: int,
    effect: float,
    *,
    levels: int = 3,
    runs: int = 3,
    source: str = "first",
) -> Vector:
    """Two-factor analysis of variance; one combination of levels is off by `effect`."""
    checked_option(source, "source", FACTORS)
    values = rng.normal(size=(repeats, levels, levels, runs))
    values[:, 0, 0] += effect
    cells = values.mean(axis=-1)
    sums = blocked_sums(cells)
    squares = {"first": sums.blocks, "second": sums.treatments, "interaction": sums.residual}
    freedom = levels - 1 if source != "interaction" else (levels - 1) ** 2
    error = ((values - cells[..., None]) ** 2).sum(axis=(1, 2, 3))
    below = levels**2 * (runs - 1)
    return Fisher(freedom, below).sf(runs * squares[source] / freedom / (error / below))


def kruskal_wallis(
    rng: Generator, repeats: int, effect: float, *, rows: int = 15, learners: int = 4
) -> Vector:
    """Kruskal-Wallis test of independent results."""
    tables = learner_tables(rng, repeats, effect, rows, learners, 0.0)
    ranks = stats.rankdata(tables.reshape(repeats, -1), axis=1).reshape(tables.shape)
    total = rows * learners
    gaps = ranks.mean(axis=1) - (total + 1) / 2
    return stats.chi2.sf(12 / ((total + 1) * learners) * (gaps**2).sum(axis=1), learners - 1)


def friedman(
    rng: Generator, repeats: int, effect: float, *, rows: int = 15, learners: int = 4
) -> Vector:
    """Friedman's test over data sets."""
    ranks = stats.rankdata(learner_tables(rng, repeats, effect, rows, learners, 1.0), axis=-1)
    return stats.chi2.sf(friedman_statistics(ranks), learners - 1)


def iman_davenport(
    rng: Generator, repeats: int, effect: float, *, rows: int = 15, learners: int = 4
) -> Vector:
    """Iman and Davenport's test over data sets."""
    ranks = stats.rankdata(learner_tables(rng, repeats, effect, rows, learners, 1.0), axis=-1)
    f = iman_davenport_statistics(friedman_statistics(ranks), rows, learners)
    tails = Fisher(learners - 1, (learners - 1) * (rows - 1)).sf(f)
    return np.where(np.isinf(f), agreement_chance(np.arange(float(learners)), rows), tails)


def manova(
    rng: Generator, repeats: int, effect: float, *, rows: int = 10, learners: int = 4
) -> Vector:
    """Wilks' test of two measures, whose F is then exact."""
    tables = rng.normal(size=(repeats, learners, rows, 2))
    tables[:, 0, :, 0] += effect
    centred = tables - tables.mean(axis=2, keepdims=True)
    whole = tables - tables.mean(axis=(1, 2), keepdims=True)
    within, total = (
        np.einsum("rlki,rlkj->rij", part, part, optimize=True) for part in (centred, whole)
    )
    # For two measures the F of the root of Wilks' lambda is exact.
    root = np.sqrt(np.linalg.det(within) / np.linalg.det(total))
    numerator, denominator = 2 * (learners - 1), 2 * (learners * (rows - 1) - 1)
    return stats.f.sf((1 - root) / root * denominator / numerator, numerator, denominator)


def pairs_of(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first and the second of all pairs."""
    return np.triu_indices(count, 1)


def smallest_adjusted(p_values: Vector, adjust: str) -> Vector:
    """Return the smallest adjusted p-value of each row."""
    return np.array([adjust_p_values(row, adjust).min() for row in p_values])


def range_tails(ranges: Vector, count: int, freedom: float) -> Vector:
    """Return upper tails of the studentised range."""
    grid = np.linspace(0.0, float(ranges.max()), RANGE_POINTS)
    exact = stats.studentized_range.sf(grid, count, freedom)
    return interpolate.make_interp_spline(grid, exact, k=3)(ranges)


def standardised_means(tables: Vector) -> tuple[Vector, int]:
    """Return means over their estimated standard error, and its degrees of freedom."""
    rows, learners = tables.shape[-2:]
    means = tables.mean(axis=-2)
    freedom = learners * (rows - 1)
    square = ((tables - means[..., None, :]) ** 2).sum(axis=(-2, -1)) / freedom
    return means / np.sqrt(square / rows)[..., None], freedom


def contrast(
    rng: Generator, repeats: int, effect: float, *, rows: int = 10, learners: int = 4
) -> Vector:
    """Contrast of the first learner with the mean of the others."""
    means, freedom = standardised_means(learner_tables(rng, repeats, effect, rows, learners, 0.0))
    gaps = means[:, 0] - means[:, 1:].mean(axis=1)
    t = gaps / np.sqrt(1.0 + 1.0 / (learners - 1))
    return symmetric_p_values(t, Student(freedom), "two-sided")


def lsd(
    rng: Generator,
    repeats: int,
    effect: float,
    *,
    rows: int = 10,
    learners: int = 4,
    adjust: str = "none",
) -> Vector:
    """Any pair by Fisher's least significant difference, adjusted or not."""
    means, freedom = standardised_means(learner_tables(rng, repeats, effect, rows, learners, 0.0))
    first, second = pairs_of(learners)
    t = (means[:, first] - means[:, second]) / np.sqrt(2.0)
    raw = symmetric_p_values(t, Student(freedom), "two-sided")
    return smallest_adjusted(raw, adjust)


def tukey(
    rng: Generator, repeats: int, effect: float, *, rows: int = 10, learners: int = 4
) -> Vector:
    """Any pair by Tukey's test, and by the first step of Newman and Keuls."""
    means, freedom = standardised_means(learner_tables(rng, repeats, effect, rows, learners, 0.0))
    return range_tails(np.ptp(means, axis=1), learners, freedom)


def scheffe(
    rng: Generator, repeats: int, effect: float, *, rows: int = 10, learners: int = 4
) -> Vector:
    """Any pair by Scheffe's test."""
    means, freedom = standardised_means(learner_tables(rng, repeats, effect, rows, learners, 0.0))
    largest = np.ptp(means, axis=1) ** 2 / 2 / (learners - 1)
    return Fisher(learners - 1, freedom).sf(largest)


def mean_ranks(
    rng: Generator, repeats: int, effect: float, rows: int, learners: int
) -> tuple[Vector, Vector]:
    """Return ranks within data sets, and their means."""
    tables = learner_tables(rng, repeats, effect, rows, learners, 1.0)
    ranks = stats.rankdata(tables, axis=-1)
    return ranks, ranks.mean(axis=-2)


def nemenyi(
    rng: Generator, repeats: int, effect: float, *, rows: int = 15, learners: int = 4
) -> Vector:
    """Any pair by the Nemenyi test."""
    _, means = mean_ranks(rng, repeats, effect, rows, learners)
    ranges = np.ptp(means, axis=1) / rank_error(rows, learners) * np.sqrt(2.0)
    return range_tails(ranges, learners, np.inf)


def tukey_on_ranks(
    rng: Generator, repeats: int, effect: float, *, rows: int = 15, learners: int = 4
) -> Vector:
    """Any pair by Tukey's test on ranks within data sets."""
    ranks, means = mean_ranks(rng, repeats, effect, rows, learners)
    freedom = (learners - 1) * (rows - 1)
    error = np.sqrt(blocked_sums(ranks).residual / freedom / rows)
    return range_tails(np.ptp(means, axis=1) / error, learners, freedom)


def control(
    rng: Generator,
    repeats: int,
    effect: float,
    *,
    rows: int = 15,
    learners: int = 4,
    adjust: str = "holm",
) -> Vector:
    """Any learner against the first by mean ranks, adjusted."""
    _, means = mean_ranks(rng, repeats, effect, rows, learners)
    z = (means[:, :1] - means[:, 1:]) / rank_error(rows, learners)
    return smallest_adjusted(symmetric_p_values(z, NORMAL, "two-sided"), adjust)


def wilcoxon_pairs(
    rng: Generator,
    repeats: int,
    effect: float,
    *,
    rows: int = 15,
    learners: int = 4,
    adjust: str = "holm",
) -> Vector:
    """Any pair by the signed rank test, adjusted."""
    tables = learner_tables(rng, repeats, effect, rows, learners, 1.0)
    first, second = pairs_of(learners)
    differences = np.moveaxis(tables[..., first] - tables[..., second], 1, 0)
    raw = wilcoxon_p_values(differences.reshape(rows, -1)).reshape(repeats, -1)
    return smallest_adjusted(raw, adjust)


MANY_TESTS: dict[str, Callable[..., Vector]] = {
    "one-way anova": one_way_anova,
    "repeated anova": repeated_anova,
    "two-factor anova": two_factor_anova,
    "contrast": contrast,
    "lsd": lsd,
    "tukey": tukey,
    "scheffe": scheffe,
    "kruskal-wallis": kruskal_wallis,
    "friedman": friedman,
    "iman-davenport": iman_davenport,
    "nemenyi": nemenyi,
    "tukey on ranks": tukey_on_ranks,
    "control": control,
    "wilcoxon-holm": wilcoxon_pairs,
    "manova": manova,
}
