"""p-values of many simulated experiments at once: tests of one learner, and of two.

Each function draws `repeats` experiments in which the truth is off the null hypothesis by
`effect` and returns one p-value each.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from verulam.statistics._core.checks import Vector
from verulam.statistics._core.distributions import NORMAL, Student
from verulam.statistics._core.tails import symmetric_p_values
from verulam.statistics._datasets.wilcoxon import wilcoxon_p_values
from verulam.statistics._one.one_sample import rate_z
from verulam.statistics._two.auc import area_components, area_differences
from verulam.statistics._two.five_by_two import FOLDS, REPLICATIONS, five_by_two_statistics
from verulam.statistics._two.hotelling import hotelling_statistics
from verulam.statistics._two.mcnemar import mcnemar_z
from verulam.statistics._two.paired_tests import t_statistics

Generator = np.random.Generator
# Sign vectors times experiments held at once: about a hundred megabytes.
LARGEST_BLOCK = 10_000_000


def correlated_normals(
    rng: Generator, repeats: int, count: int, effect: float, correlation: float
) -> Vector:
    """Return unit-variance differences whose pairs all have the same correlation."""
    # A common part with variance rho and parts of their own with 1 - rho: unit variance, and
    # correlation rho between any two.
    shared = rng.normal(size=(repeats, 1))
    independent = rng.normal(size=(repeats, count))
    return effect + np.sqrt(correlation) * shared + np.sqrt(1.0 - correlation) * independent


def z_test(rng: Generator, repeats: int, effect: float, *, size: int = 20) -> Vector:
    """Two-sided z test of a unit-variance normal sample."""
    means = rng.normal(effect, 1.0, (repeats, size)).mean(axis=1)
    return symmetric_p_values(means * np.sqrt(size), NORMAL, "two-sided")


def t_test(rng: Generator, repeats: int, effect: float, *, size: int = 20) -> Vector:
    """Two-sided t test of a normal sample."""
    t = t_statistics(rng.normal(effect, 1.0, (repeats, size)))
    return symmetric_p_values(t, Student(size - 1), "two-sided")


def binomial(
    rng: Generator, repeats: int, effect: float, *, trials: int = 100, rate: float = 0.1
) -> Vector:
    """Binomial test that a classifier's error probability exceeds `rate`."""
    errors = rng.binomial(trials, rate + effect, repeats)
    return stats.binom.sf(errors - 1, trials, rate)


def normal_approximation(
    rng: Generator, repeats: int, effect: float, *, trials: int = 100, rate: float = 0.1
) -> Vector:
    """Approximate normal test of the same claim."""
    errors = rng.binomial(trials, rate + effect, repeats)
    return stats.norm.sf(rate_z(errors, trials, rate))


def runs_t(
    rng: Generator,
    repeats: int,
    effect: float,
    *,
    runs: int = 10,
    trials: int = 100,
    rate: float = 0.1,
) -> Vector:
    """T test of the same claim over independent runs of a Bernoulli classifier."""
    rates = rng.binomial(trials, rate + effect, (repeats, runs)) / trials
    spread = rates.std(axis=1, ddof=1)
    gap = rates.mean(axis=1) - rate
    # Runs that all agree have no spread: a tiny one leaves the sign of the gap.
    return stats.t.sf(np.sqrt(runs) * gap / np.maximum(spread, 1e-12), runs - 1)


def disagreements(
    rng: Generator, repeats: int, effect: float, trials: int, rate: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often only either of two independent Bernoulli classifiers errs."""
    first, second = rate + effect, rate
    shares = [first * (1 - second), second * (1 - first)]
    drawn = rng.multinomial(trials, [*shares, 1 - sum(shares)], repeats)
    return drawn[:, 0], drawn[:, 1]


def mcnemar(
    rng: Generator, repeats: int, effect: float, *, trials: int = 500, rate: float = 0.2
) -> Vector:
    """McNemar's chi-square test of two Bernoulli classifiers."""
    z = mcnemar_z(*disagreements(rng, repeats, effect, trials, rate))
    return symmetric_p_values(z, NORMAL, "two-sided")


def mcnemar_exact(
    rng: Generator, repeats: int, effect: float, *, trials: int = 500, rate: float = 0.2
) -> Vector:
    """McNemar's exact test of two Bernoulli classifiers."""
    first, second = disagreements(rng, repeats, effect, trials, rate)
    tail = stats.binom.cdf(np.minimum(first, second), first + second, 0.5)
    return np.minimum(1.0, 2 * tail)


def cv_t(
    rng: Generator, repeats: int, effect: float, *, folds: int = 10, correlation: float = 0.0
) -> Vector:
    """K-fold cv paired t test on fold differences of a known correlation."""
    t = t_statistics(correlated_normals(rng, repeats, folds, effect, correlation))
    return symmetric_p_values(t, Student(folds - 1), "two-sided")


def corrected_t(
    rng: Generator,
    repeats: int,
    effect: float,
    *,
    folds: int = 10,
    correlation: float = 0.1,
    test_share: float = 0.1,
) -> Vector:
    """Resampled t test, corrected, on differences of a known correlation."""
    differences = correlated_normals(rng, repeats, folds, effect, correlation)
    t = t_statistics(differences, 1.0 / folds + test_share / (1 - test_share))
    return symmetric_p_values(t, Student(folds - 1), "two-sided")


def five_by_two_tables(rng: Generator, repeats: int, effect: float, correlation: float) -> Vector:
    """Return five-by-two tables of differences."""
    flat = correlated_normals(rng, repeats, REPLICATIONS * FOLDS, effect, correlation)
    return flat.reshape(repeats, REPLICATIONS, FOLDS)


def five_by_two_t(
    rng: Generator, repeats: int, effect: float, *, correlation: float = 0.0
) -> Vector:
    """5x2 cv paired t test on normal differences."""
    statistics = five_by_two_statistics(five_by_two_tables(rng, repeats, effect, correlation))
    return symmetric_p_values(statistics.t[:, 0, 0], Student(REPLICATIONS), "two-sided")


def five_by_two_f(
    rng: Generator, repeats: int, effect: float, *, correlation: float = 0.0
) -> Vector:
    """5x2 cv F test, combined, on normal differences."""
    statistics = five_by_two_statistics(five_by_two_tables(rng, repeats, effect, correlation))
    return stats.f.sf(statistics.f, REPLICATIONS * FOLDS, REPLICATIONS)


def variance_ratio(rng: Generator, repeats: int, effect: float, *, size: int = 30) -> Vector:
    """Two-sided F test of two samples of errors; `effect` is the log of their ratio of scales."""
    first = np.exp(effect) * rng.normal(size=(repeats, size))
    ratio = (first**2).mean(axis=1) / (rng.normal(size=(repeats, size)) ** 2).mean(axis=1)
    upper = stats.f.sf(ratio, size, size)
    return 2 * np.minimum(upper, 1 - upper)


def permutation(rng: Generator, repeats: int, effect: float, *, pairs: int = 8) -> Vector:
    """Two-sided permutation test of paired normal differences, over all exchanges."""
    differences = rng.normal(effect, 1.0, (repeats, pairs))
    signs = 1.0 - 2.0 * ((np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1)
    p_values = np.empty(repeats)
    block = max(1, LARGEST_BLOCK // len(signs))
    for start in range(0, repeats, block):
        part = differences[start : start + block]
        sums = np.abs(part @ signs.T)
        # Slightly below, because equal sums differ by rounding.
        limit = np.abs(part.sum(axis=1, keepdims=True)) * (1 - 1e-12)
        p_values[start : start + block] = (sums >= limit).mean(axis=1)
    return p_values


def delong(rng: Generator, repeats: int, effect: float, *, size: int = 50) -> Vector:
    """DeLong's test of two classifiers with unit-variance scores, correlated by one half.

    The first separates the classes by 1 + `effect` standard deviations, the second by 1.
    """
    is_positive = np.arange(2 * size) < size
    noise = rng.normal(size=(repeats, 3, 2 * size)) * np.sqrt(0.5)
    # The third row of noise, with half the variance, is common to both classifiers.
    scores = noise[:, :2] + noise[:, 2:]
    scores[..., is_positive] += np.array([1.0 + effect, 1.0])[:, None]
    difference, variance = area_differences(area_components(scores, is_positive))
    return symmetric_p_values(difference / np.sqrt(variance), NORMAL, "two-sided")


def sign(rng: Generator, repeats: int, effect: float, *, rows: int = 15) -> Vector:
    """Two-sided sign test over data sets."""
    wins = (rng.normal(effect, 1.0, (repeats, rows)) < 0).sum(axis=1)
    return np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(wins, rows - wins), rows, 0.5))


def wilcoxon(rng: Generator, repeats: int, effect: float, *, rows: int = 15) -> Vector:
    """Two-sided exact signed rank test over data sets."""
    return wilcoxon_p_values(rng.normal(effect, 1.0, (rows, repeats)))


def hotelling(
    rng: Generator, repeats: int, effect: float, *, rows: int = 12, measures: int = 2
) -> Vector:
    """Hotelling's paired test of normal differences."""
    differences = rng.normal(size=(repeats, rows, measures))
    differences[..., 0] += effect
    f = hotelling_statistics(differences) * (rows - measures) / (measures * (rows - 1))
    return stats.f.sf(f, measures, rows - measures)


PAIR_TESTS: dict[str, Callable[..., Vector]] = {
    "z": z_test,
    "t": t_test,
    "binomial": binomial,
    "normal approximation": normal_approximation,
    "runs t": runs_t,
    "mcnemar": mcnemar,
    "mcnemar exact": mcnemar_exact,
    "cv t": cv_t,
    "corrected t": corrected_t,
    "5x2 t": five_by_two_t,
    "5x2 F": five_by_two_f,
    "variance ratio": variance_ratio,
    "permutation": permutation,
    "delong": delong,
    "sign": sign,
    "wilcoxon": wilcoxon,
    "hotelling": hotelling,
}
