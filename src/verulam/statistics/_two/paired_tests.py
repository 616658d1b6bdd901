"""Paired t tests over splits, the paired permutation test, and the variance ratio test."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_count,
    checked_level,
    checked_positive,
    pair,
    sample,
    varying,
)
from verulam.statistics._core.distributions import Fisher, Student
from verulam.statistics._core.hypotheses import paired_hypotheses
from verulam.statistics._core.result import Alternative, Assumption, EffectSize, TestResult
from verulam.statistics._core.tails import (
    normality,
    symmetric_interval,
    symmetric_tail,
)

SAME_SPLITS = Assumption("both learners saw the same splits")
#: Entries of the table of signs that is made at a time.
BLOCK = 4_000_000


def t_statistics(differences: Vector, variance_factor: float | None = None) -> Vector:
    """Return paired t statistics along the last axis.

    The mean is divided by the root of `variance_factor` times the variance of the differences;
    the factor is one over their number unless given.
    """
    factor = 1.0 / differences.shape[-1] if variance_factor is None else variance_factor
    return differences.mean(axis=-1) / np.sqrt(factor * differences.var(axis=-1, ddof=1))


def cv_t_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    r"""Compare two learners by the differences of their errors over K folds.

    Parameters
    ----------
    first, second
        Error (or any other measure) of either learner in each fold, in the same order.
    alternative
        Claim about the first mean: ``"two-sided"``, ``"less"`` or ``"greater"``.
    alpha
        Level of significance.

    Notes
    -----
    :math:`t = \sqrt{K}\, m / S` with K - 1 degrees of freedom (Alpaydin 19.11.2 (19.14),
    exercise 4). Training parts overlap, which the test ignores: it rejects too often. Compare
    `corrected_t_test`.

    Examples
    --------
    >>> from verulam.statistics import cv_t_test
    >>> first = [0.11, 0.13, 0.10, 0.12, 0.14, 0.11, 0.12, 0.13, 0.10, 0.12]
    >>> second = [0.12, 0.15, 0.11, 0.12, 0.17, 0.12, 0.12, 0.15, 0.12, 0.13]
    >>> print(cv_t_test(first, second).headline())
    t(9) = -4.333, p = 0.0019
    """
    one, other = pair(first, second, what="folds")
    return paired_t(
        one - other,
        1.0 / len(one),
        alternative,
        alpha,
        name="K-fold cv paired t test",
        assumptions=(Assumption("folds are independent", False, "training parts overlap"),),
        caveats=(
            "training parts overlap: the variance is underestimated, rejections too frequent",
        ),
        source="Alpaydin 19.11.2 (19.14)",
    )


def corrected_t_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    test_share: float | None = None,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    r"""Compare two learners over resampled splits, corrected for the overlap of training parts.

    Parameters
    ----------
    first, second
        Error (or any other measure) of either learner in each split, in the same order.
    test_share
        Share of the data in each test part; one over the number of splits when not given, as in
        one K-fold cross-validation. Ten times tenfold has 0.1.
    alternative, alpha
        As in `cv_t_test`.

    Notes
    -----
    The variance of the mean difference is taken as :math:`(1/n + n_2/n_1) S^2`, where
    :math:`n_2/n_1` is the size of the test part over that of the training part [nadeau2003]_.

    References
    ----------
    .. [nadeau2003] C. Nadeau and Y. Bengio, "Inference for the generalization error",
       Machine Learning 52, 2003.

    Examples
    --------
    >>> from verulam.statistics import corrected_t_test
    >>> first = [0.11, 0.13, 0.10, 0.12, 0.14, 0.11, 0.12, 0.13, 0.10, 0.12]
    >>> second = [0.12, 0.15, 0.11, 0.12, 0.17, 0.12, 0.12, 0.15, 0.12, 0.13]
    >>> print(corrected_t_test(first, second).headline())
    t(9) = -2.982, p = 0.0154
    """
    one, other = pair(first, second, what="splits")
    share = checked_level(1.0 / len(one) if test_share is None else test_share, "test_share")
    return paired_t(
        one - other,
        1.0 / len(one) + share / (1 - share),
        alternative,
        alpha,
        name="Corrected resampled t test",
        assumptions=(
            Assumption("any two splits are equally correlated, by the share of the test part"),
        ),
        caveats=("the correction of the variance is an approximation",),
        source="Alpaydin 19.11.2, corrected after Nadeau and Bengio",
    )


def paired_t(
    differences: Vector,
    variance_factor: float,
    alternative: Alternative,
    alpha: float,
    *,
    name: str,
    assumptions: tuple[Assumption, ...],
    caveats: tuple[str, ...],
    source: str,
    freedom: int | None = None,
) -> TestResult:
    """Return the record of a t test on paired differences.

    The degrees of freedom are one less than the number of differences, unless given.
    """
    checked_alternative(alternative)
    checked_level(alpha)
    varying(differences, "differences")
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    degrees = len(differences) - 1 if freedom is None else freedom
    distribution = Student(degrees)
    statistic = float(t_statistics(differences, variance_factor))
    tail = symmetric_tail(statistic, distribution, alternative, alpha)
    error = spread * np.sqrt(variance_factor)
    return TestResult(
        name=name,
        **paired_hypotheses("mean", alternative),
        statistic=statistic,
        statistic_name="t",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=(degrees,),
        tail=alternative,
        estimate_name="mean difference",
        interval=symmetric_interval(mean, error, distribution, alternative, 1 - alpha, "t"),
        effect_size=EffectSize("Cohen's d", mean / spread),
        assumptions=(normality(differences, "differences"), SAME_SPLITS, *assumptions),
        caveats=caveats,
        source=source,
    )


def permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    statistic: Callable[..., Any] = np.mean,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
    resamples: int = 9999,
    random_state: Seed = None,
) -> TestResult:
    """Compare paired results by exchanging the learners at random.

    Parameters
    ----------
    first, second
        Results of either learner in the same splits, on the same instances or data sets.
    statistic
        Function of the differences, with an ``axis``.
    alternative, alpha
        As in `cv_t_test`.
    resamples
        Number of random exchanges; all are tried when there are no more than these.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.statistics import permutation_test
    >>> result = permutation_test([3, 1, 4, 1, 5, 9, 2, 6], [2, 0, 1, 1, 4, 8, 1, 5])
    >>> result.p_value, result.details["exchanges"]
    (0.015625, 256)
    """
    checked_alternative(alternative)
    checked_level(alpha)
    one, other = pair(first, second)
    differences = one - other
    if not differences.any():
        raise DataError("All ties: the results are equal in every pair.")
    resamples = checked_count(resamples, "resamples", 1)
    permutation = permute_signs(
        differences, statistic, alternative, resamples, generator(random_state)
    )
    return TestResult(
        name="Paired permutation test",
        null="the learners can be exchanged in every pair",
        alternative=paired_hypotheses("mean", alternative)["alternative"],
        statistic=permutation.statistic,
        statistic_name="statistic",
        p_value=permutation.p_value,
        alpha=alpha,
        tail=alternative,
        effect_size=EffectSize("share of pairs won by the first", float(np.mean(differences < 0))),
        assumptions=(Assumption("pairs are independent"), SAME_SPLITS),
        details={"exchanges": permutation.exchanges},
        source="companion of Alpaydin 19.11",
    )


def variance_ratio_test(
    first_errors: ArrayLike,
    second_errors: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    """Compare the squared errors of two regression learners by the ratio of their means.

    Parameters
    ----------
    first_errors, second_errors
        Errors (target minus prediction) of either learner, on independent test sets.
    alternative
        Claim about the first mean squared error.
    alpha
        Level of significance.

    Notes
    -----
    Normal errors around zero have chi-square sums of squares, so that the ratio of mean squares
    has an F distribution (Alpaydin 19.16, exercise 9). On one common test set the two sums are
    dependent: compare the squared errors with `cv_t_test` or `permutation_test` there.

    Examples
    --------
    >>> from verulam.statistics import variance_ratio_test
    >>> print(variance_ratio_test([1, -2, 3, -1, 2], [0.5, -0.5, 1, 0.2, -0.7]).headline())
    F(5, 5) = 9.36, p = 0.0283
    """
    checked_alternative(alternative)
    checked_level(alpha)
    one, other = sample(first_errors, "first_errors"), sample(second_errors, "second_errors")
    below = checked_positive(float(np.mean(other**2)), "the mean square of second_errors")
    statistic = checked_positive(float(np.mean(one**2)), "the mean square of first_errors") / below
    distribution = Fisher(len(one), len(other))
    upper, lower = float(distribution.sf(statistic)), float(distribution.cdf(statistic))
    p_value = {"greater": upper, "less": lower, "two-sided": min(1.0, 2 * min(upper, lower))}
    share = alpha / 2 if alternative == "two-sided" else alpha
    critical = distribution.isf(1 - share if alternative == "less" else share)
    return TestResult(
        name="Variance ratio F test",
        **paired_hypotheses("mean squared error", alternative),
        statistic=statistic,
        statistic_name="F",
        p_value=p_value[alternative],
        alpha=alpha,
        critical_value=float(critical),
        degrees_of_freedom=(len(one), len(other)),
        tail=alternative,
        effect_size=EffectSize("ratio of mean squared errors", statistic),
        assumptions=(
            normality(one, "first errors"),
            normality(other, "second errors"),
            Assumption("the two sets of errors are independent"),
        ),
        caveats=("on one common test set the errors are dependent: use a paired test there",),
        source="Alpaydin 19.16, exercise 9",
    )


class SignPermutations(NamedTuple):
    """The statistic, the share of exchanges that are as extreme, and their number."""

    statistic: float
    p_value: float
    exchanges: int


def permute_signs(
    differences: NDArray[np.float64],
    statistic: Callable[..., Any],
    alternative: Alternative,
    resamples: int,
    random: np.random.Generator,
) -> SignPermutations:
    """Return how extreme a statistic of the differences is among those with other signs.

    Parameters
    ----------
    differences
        Of the two learners in each pair.
    statistic
        Function of the differences, with an ``axis``.
    alternative
        Which side is extreme.
    resamples
        Number of random exchanges; all are tried where there are no more than these.
    random
        Source of the exchanges.
    """
    count = len(differences)
    # SciPy tries all exchanges where there are at most `resamples`; beyond that, random signs of
    # many pairs are a matrix product.
    if statistic is np.mean and count * np.log(2.0) > np.log(resamples):
        return _random_means(differences, alternative, resamples, random)
    permutation = stats.permutation_test(
        (differences,),
        statistic,
        permutation_type="samples",
        alternative=alternative,
        n_resamples=resamples,
        batch=max(1, BLOCK // count),
        rng=random,
    )
    return SignPermutations(
        float(permutation.statistic), float(permutation.pvalue), len(permutation.null_distribution)
    )


def _random_means(
    differences: NDArray[np.float64],
    alternative: Alternative,
    resamples: int,
    random: np.random.Generator,
) -> SignPermutations:
    """Do the same for means: a sum of random signs is a product with random bits."""
    # Pairs without a difference are the same whatever the sign.
    present = differences[differences != 0]
    observed = float(present.sum())
    # Sums of the same numbers in another order differ by rounding, and ties must count as extreme.
    tolerance = 1e-12 * float(np.abs(present).sum())
    above = below = 0
    rows = max(1, BLOCK // len(present))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        bits = np.unpackbits(
            random.integers(0, 256, size=(size, -(-len(present) // 8)), dtype=np.uint8), axis=1
        )[:, : len(present)]
        # With bit 1 for plus, the signed sum is the sum of the plus ones less that of the others:
        # twice the former less the total.
        sums = 2.0 * (bits.astype(np.float64) @ present) - observed
        above += int((sums >= observed - tolerance).sum())
        below += int((sums <= observed + tolerance).sum())
    # The observed assignment is one of those that could have been drawn.
    greater, less = ((count + 1) / (resamples + 1) for count in (above, below))
    sides = {"greater": greater, "less": less, "two-sided": min(1.0, 2.0 * min(greater, less))}
    return SignPermutations(observed / len(differences), sides[alternative], resamples)
