"""One-sample tests: z, t, binomial, its normal approximation, and t over runs."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataWarning
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_level,
    checked_number,
    checked_positive,
    sample,
    varying,
)
from verulam.statistics._core.distributions import NORMAL, Student
from verulam.statistics._core.hypotheses import hypotheses
from verulam.statistics._core.intervals import checked_rate, rate_interval
from verulam.statistics._core.result import (
    Alternative,
    Assumption,
    ConfidenceInterval,
    EffectSize,
    TestResult,
    capital,
)
from verulam.statistics._core.tails import normality, symmetric_interval, symmetric_tail

# The custom for approximating a binomial by a normal distribution: n p and n (1 - p).
SMALLEST_EXPECTED_COUNT = 5


def z_test(
    values: ArrayLike,
    mean: float,
    sigma: float,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    r"""Test a mean when the standard deviation is known.

    Parameters
    ----------
    values
        The sample.
    mean
        Hypothetical mean.
    sigma
        Known standard deviation.
    alternative
        What is claimed of the mean: ``"two-sided"`` (it differs), ``"greater"`` or ``"less"``.
    alpha
        Level of significance.

    Notes
    -----
    :math:`z = \sqrt{N} (m - \mu_0) / \sigma` (Alpaydin 19.9 (19.5), (19.7), exercise 3).

    Examples
    --------
    >>> from verulam.statistics import z_test
    >>> z_test([5.2, 5.1, 5.4, 5.3], mean=5.0, sigma=0.2, alternative="greater").decision
    'reject'
    """
    checked_alternative(alternative)
    checked_level(alpha)
    array = sample(values, "values", 1)
    mean = checked_number(mean, "mean")
    sigma = checked_positive(sigma, "sigma")
    centre, error = float(array.mean()), sigma / np.sqrt(len(array))
    statistic = (centre - mean) / error
    tail = symmetric_tail(statistic, NORMAL, alternative, alpha)
    return TestResult(
        name="z test",
        **hypotheses("the mean", mean, alternative),
        statistic=statistic,
        statistic_name="z",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        tail=alternative,
        estimate_name="mean",
        interval=symmetric_interval(centre, error, NORMAL, alternative, 1 - alpha, "normal"),
        effect_size=EffectSize("standardised difference", (centre - mean) / sigma),
        assumptions=(
            normality(array, "values"),
            Assumption("sigma is known"),
            Assumption("values are independent"),
        ),
        source="Alpaydin 19.9 (19.5), (19.7)",
    )


def t_test(
    values: ArrayLike,
    mean: float,
    *,
    alternative: Alternative = "two-sided",
    alpha: float = 0.05,
) -> TestResult:
    r"""Test a mean when the variance is estimated.

    Notes
    -----
    :math:`t = \sqrt{N} (m - \mu_0) / S` with N - 1 degrees of freedom (Alpaydin 19.9 (19.8),
    (19.9)). Parameters are those of `z_test`.

    Examples
    --------
    >>> from verulam.statistics import t_test
    >>> print(t_test([5.2, 5.1, 5.4, 5.3], mean=5.0).headline())
    t(3) = 3.873, p = 0.0305
    """
    array = sample(values, "values", 2)
    return student_test(
        array,
        mean,
        alternative,
        alpha,
        name="t test",
        what="the mean",
        assumptions=(normality(array, "values"), Assumption("values are independent")),
        source="Alpaydin 19.9 (19.8)",
    )


def runs_t_test(
    error_rates: ArrayLike,
    rate: float,
    *,
    alternative: Alternative = "greater",
    alpha: float = 0.05,
) -> TestResult:
    """Test the error rate of a learner over K training and validation sets.

    Parameters
    ----------
    error_rates
        Error rate in each run; ten or thirty runs are usual.
    rate
        Largest acceptable rate.
    alternative
        ``"greater"`` claims that the rate is exceeded, ``"less"`` that it is undercut.
    alpha
        Level of significance.

    Notes
    -----
    A t test with K - 1 degrees of freedom (Alpaydin 19.10.3 (19.12)).

    Examples
    --------
    >>> from verulam.statistics import runs_t_test
    >>> rates = [0.03, 0.025, 0.035, 0.02, 0.03, 0.04, 0.025, 0.03, 0.02, 0.035]
    >>> runs_t_test(rates, 0.02).decision
    'reject'
    """
    array = sample(error_rates, "error_rates", 2, "runs")
    return student_test(
        array,
        rate,
        alternative,
        alpha,
        name="t test over runs",
        what="the mean error rate",
        assumptions=(
            normality(array, "error rates of the runs"),
            Assumption("runs are independent"),
        ),
        caveats=(
            "training sets of cross-validation overlap, so that the runs are not independent",
        ),
        source="Alpaydin 19.10.3 (19.12)",
    )


def student_test(
    array: Vector,
    mean: float,
    alternative: Alternative,
    alpha: float,
    *,
    name: str,
    what: str,
    assumptions: tuple[Assumption, ...],
    caveats: tuple[str, ...] = (),
    source: str,
) -> TestResult:
    """Return the record of a t test of a sample's mean."""
    checked_alternative(alternative)
    mean = checked_number(mean, "mean")
    checked_level(alpha)
    varying(array, "values")
    centre, spread = float(array.mean()), float(array.std(ddof=1))
    error = spread / np.sqrt(len(array))
    distribution = Student(len(array) - 1)
    statistic = (centre - mean) / error
    tail = symmetric_tail(statistic, distribution, alternative, alpha)
    return TestResult(
        name=name,
        **hypotheses(what, mean, alternative),
        statistic=statistic,
        statistic_name="t",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        degrees_of_freedom=(len(array) - 1,),
        tail=alternative,
        estimate_name=what.removeprefix("the "),
        interval=symmetric_interval(centre, error, distribution, alternative, 1 - alpha, "t"),
        effect_size=EffectSize("Cohen's d", (centre - mean) / spread),
        assumptions=assumptions,
        caveats=caveats,
        source=source,
    )


def binomial_test(
    errors: int,
    trials: int,
    rate: float,
    *,
    alternative: Alternative = "greater",
    alpha: float = 0.05,
) -> TestResult:
    """Test the error probability of one classifier from its errors on one validation set.

    Parameters
    ----------
    errors, trials
        Number of errors on so many instances.
    rate
        Hypothetical error probability.
    alternative
        As in `runs_t_test`.
    alpha
        Level of significance.

    Notes
    -----
    The tail P{X >= e} of a binomial with the hypothetical rate (Alpaydin 19.10.1 (19.10)).

    Examples
    --------
    >>> from verulam.statistics import binomial_test
    >>> result = binomial_test(5, 100, 0.02)
    >>> round(result.p_value, 4), result.decision, result.critical_value
    (0.0508, 'fail to reject', 6.0)
    """
    checked_alternative(alternative)
    checked_level(alpha)
    checked_level(rate, "rate")
    errors, trials = checked_rate(errors, trials)
    null = stats.binom(trials, rate)
    return TestResult(
        name="Binomial test",
        **hypotheses("the error probability", rate, alternative),
        statistic=float(errors),
        statistic_name="X",
        p_value=float(stats.binomtest(errors, trials, rate, alternative).pvalue),
        alpha=alpha,
        critical_value=binomial_critical(null, trials, alternative, alpha),
        tail=alternative,
        estimate_name="error rate",
        interval=rate_test_interval(errors, trials, alternative, alpha, "clopper-pearson"),
        effect_size=cohen_h(errors / trials, rate),
        assumptions=(Assumption("instances are independent, with one error probability"),),
        caveats=("one training set: nothing is said about the learner on others",),
        source="Alpaydin 19.10.1 (19.10)",
    )


def binomial_critical(null: Any, trials: int, alternative: Alternative, alpha: float) -> float:
    """Return the first count that rejects in a one-sided test, NaN when none can."""
    counts = np.arange(trials + 1)
    if alternative == "greater":
        # sf(k - 1) is P(at least k), so the first such count is the critical one.
        rejecting = counts[null.sf(counts - 1) < alpha]
        return float(rejecting[0]) if len(rejecting) else np.nan
    if alternative == "less":
        rejecting = counts[null.cdf(counts) < alpha]
        return float(rejecting[-1]) if len(rejecting) else np.nan
    return np.nan


def normal_approximation_test(
    errors: int,
    trials: int,
    rate: float,
    *,
    alternative: Alternative = "greater",
    alpha: float = 0.05,
) -> TestResult:
    r"""Test an error probability by the normal approximation to the binomial.

    Warns when fewer than five errors, or fewer than five correct answers, are expected: use
    `binomial_test` then. Parameters are those of `binomial_test`.

    Notes
    -----
    :math:`z = (X/N - p_0) / \sqrt{p_0 (1 - p_0) / N}` (Alpaydin 19.10.2 (19.11)).

    Examples
    --------
    >>> from verulam.statistics import normal_approximation_test
    >>> print(normal_approximation_test(50, 1000, 0.04).headline())
    z = 1.614, p = 0.0533
    """
    checked_alternative(alternative)
    checked_level(alpha)
    checked_level(rate, "rate")
    errors, trials = checked_rate(errors, trials)
    statistic = float(rate_z(errors, trials, rate))
    tail = symmetric_tail(statistic, NORMAL, alternative, alpha)
    # The rarer of errors and hits decides how far a binomial is from normal.
    expected = trials * min(rate, 1 - rate)
    enough = expected >= SMALLEST_EXPECTED_COUNT
    caveats = ["one training set: nothing is said about the learner on others"]
    if not enough:
        message = (
            f"only {expected:.3g} are expected where the normal approximation needs "
            f"{SMALLEST_EXPECTED_COUNT}: use the binomial test"
        )
        warnings.warn(capital(message) + ".", DataWarning, stacklevel=2)
        caveats.append(message)
    return TestResult(
        name="Approximate normal test",
        **hypotheses("the error probability", rate, alternative),
        statistic=statistic,
        statistic_name="z",
        p_value=tail.p_value,
        alpha=alpha,
        critical_value=tail.critical_value,
        tail=alternative,
        estimate_name="error rate",
        interval=rate_test_interval(errors, trials, alternative, alpha, "wilson"),
        effect_size=cohen_h(errors / trials, rate),
        assumptions=(
            Assumption("the count is nearly normal", enough, f"smaller expected {expected:.3g}"),
            Assumption("instances are independent, with one error probability"),
        ),
        caveats=tuple(caveats),
        source="Alpaydin 19.10.2 (19.11)",
    )


def rate_z(errors: ArrayLike, trials: int, rate: float) -> Vector:
    """Return the standardised difference of observed and hypothetical rates."""
    return (np.asarray(errors) / trials - rate) / np.sqrt(rate * (1 - rate) / trials)


def rate_test_interval(
    errors: int, trials: int, alternative: Alternative, alpha: float, method: str
) -> ConfidenceInterval:
    """Return the interval that goes with a test of a rate."""
    return rate_interval(
        errors, trials, confidence=1 - alpha, method=method, alternative=alternative
    )


def cohen_h(observed: float, hypothetical: float) -> EffectSize:
    """Return the difference of two rates on the scale where their variance is constant."""
    return EffectSize(
        "Cohen's h", float(2 * np.arcsin(np.sqrt(observed)) - 2 * np.arcsin(np.sqrt(hypothetical)))
    )
