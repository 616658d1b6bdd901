"""Confidence intervals: known and unknown variance, rates, and the bootstrap for anything."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import (
    Vector,
    checked_alternative,
    checked_count,
    checked_level,
    checked_option,
    checked_positive,
    numbers,
    sample,
    too_few,
    varying,
)
from verulam.statistics._core.distributions import NORMAL, Student
from verulam.statistics._core.result import Alternative, ConfidenceInterval
from verulam.statistics._core.tails import symmetric_interval

RATE_METHODS = ("wilson", "clopper-pearson", "normal")
#: Cubes of larger numbers may be infinite, and those of inverses vanish.
LARGEST_CUBED = 1e100
#: So many drawn values at a time stay in the cache; fewer would be many calls.
_CACHED = 2**17
BOOTSTRAP_METHODS = ("bca", "percentile", "basic")


def z_interval(
    values: ArrayLike,
    sigma: float,
    *,
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
) -> ConfidenceInterval:
    r"""Return the interval of a mean when the standard deviation is known.

    Parameters
    ----------
    values
        The sample.
    sigma
        Known standard deviation.
    confidence
        Coverage.
    alternative
        ``"two-sided"``; ``"greater"`` for a lower bound, which the text calls the one-sided upper
        interval; ``"less"`` for an upper bound.

    Notes
    -----
    :math:`m \pm z_{\alpha/2}\, \sigma / \sqrt{N}` (Alpaydin 19.8 (19.2), (19.3)).

    Examples
    --------
    >>> from verulam.statistics import z_interval
    >>> print(z_interval([4.9, 5.1, 5.3, 4.7], sigma=0.2))
    95% interval [4.804, 5.196]
    """
    checked_alternative(alternative)
    checked_level(confidence, "confidence")
    array = sample(values, "values", 1)
    error = checked_positive(sigma, "sigma") / np.sqrt(len(array))
    return symmetric_interval(
        float(array.mean()), error, NORMAL, alternative, confidence, "normal, known variance"
    )


def t_interval(
    values: ArrayLike,
    *,
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
) -> ConfidenceInterval:
    r"""Return the interval of a mean when the variance is estimated.

    Notes
    -----
    :math:`m \pm t_{\alpha/2, N-1}\, S / \sqrt{N}` (Alpaydin 19.8 (19.4)). Parameters are those of
    `z_interval`.

    Examples
    --------
    >>> from verulam.statistics import t_interval
    >>> print(t_interval([4.9, 5.1, 5.3, 4.7]))
    95% interval [4.589, 5.411]
    """
    checked_alternative(alternative)
    checked_level(confidence, "confidence")
    array = sample(values, "values", 2)
    varying(array, "values")
    error = float(array.std(ddof=1) / np.sqrt(len(array)))
    return symmetric_interval(
        float(array.mean()), error, Student(len(array) - 1), alternative, confidence, "t"
    )


def rate_interval(
    errors: int,
    trials: int,
    *,
    confidence: float = 0.95,
    method: str = "wilson",
    alternative: Alternative = "two-sided",
) -> ConfidenceInterval:
    """Return an interval for a rate from a count.

    Parameters
    ----------
    errors, trials
        Number of errors among the trials.
    confidence
        Coverage.
    method
        ``"wilson"`` (close to its coverage), ``"clopper-pearson"`` (never below it) or
        ``"normal"`` (the plain approximation, poor near 0 and 1).
    alternative
        As in `z_interval`.

    Examples
    --------
    >>> from verulam.statistics import rate_interval
    >>> print(rate_interval(5, 100))
    95% interval [0.02154, 0.1118]
    >>> print(rate_interval(5, 100, method="clopper-pearson"))
    95% interval [0.01643, 0.1128]
    """
    checked_alternative(alternative)
    checked_option(method, "method", RATE_METHODS)
    checked_level(confidence, "confidence")
    errors, trials = checked_rate(errors, trials)
    rate = errors / trials
    if method == "normal":
        error = float(np.sqrt(rate * (1 - rate) / trials))
        plain = symmetric_interval(rate, error, NORMAL, alternative, confidence, method)
        low, high = max(0.0, plain.low), min(1.0, plain.high)
    else:
        limits = stats.binomtest(errors, trials, alternative=alternative).proportion_ci(
            confidence, method="exact" if method == "clopper-pearson" else "wilson"
        )
        low, high = float(limits.low), float(limits.high)
    return ConfidenceInterval(low, high, confidence, rate, method)


def checked_rate(errors: float, trials: float) -> tuple[int, int]:
    """Return a count of errors and the number of trials it came from."""
    errors, trials = checked_count(errors, "errors"), checked_count(trials, "trials")
    if trials == 0:
        raise DataError("trials is 0: at least 1 is needed.")
    if errors > trials:
        raise DataError(f"errors ({errors}) must not exceed trials ({trials}).")
    return errors, trials


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """Replicates of a statistic and what they say about it.

    Parameters
    ----------
    interval
        Confidence interval.
    replicates
        The statistic on every resample.
    """

    interval: ConfidenceInterval
    replicates: Vector

    @property
    def mean(self) -> float:
        """Mean of the replicates."""
        return float(self.replicates.mean())

    @property
    def variance(self) -> float:
        """Variance of the replicates, divided by their number (Bartkowiak 7.4)."""
        return float(self.replicates.var())

    @property
    def bias(self) -> float:
        """Mean of the replicates minus the statistic of the sample."""
        return self.mean - self.interval.estimate

    def __str__(self) -> str:
        return (
            f"Estimate {self.interval.estimate:.4g}, {self.interval} ({self.interval.method}; "
            f"{len(self.replicates)} replicates, bias {self.bias:.3g})"
        )


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[..., Any] = np.mean,
    *,
    confidence: float = 0.95,
    method: str = "bca",
    resamples: int = 9999,
    random_state: Seed = None,
) -> BootstrapResult:
    """Return a bootstrap interval for any statistic.

    Parameters
    ----------
    values
        A sample, or a table whose rows are drawn together.
    statistic
        Function of such a sample or table. One that takes ``axis`` is called for many resamples
        of a sample at once, which is much faster.
    confidence
        Coverage.
    method
        ``"bca"`` (corrected for bias and skewness), ``"percentile"`` or ``"basic"``.
    resamples
        Number of resamples.
    random_state
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.statistics import bootstrap_interval
    >>> found = bootstrap_interval(np.arange(20.0), np.median, random_state=0)
    >>> print(found.interval)
    95% interval [5.5, 13.5]
    """
    checked_level(confidence, "confidence")
    checked_option(method, "method", BOOTSTRAP_METHODS)
    array = numbers(values, "values")
    data: Any = array
    function = statistic
    if array.ndim == 1:
        sample(array, "values", 2)
        varying(array, "values")
        if method == "bca":
            _refuse_without_cubes(array)
    else:
        if array.ndim == 0 or len(array) < 2:
            raise too_few(array.size, "values", 2, "rows")
        data = np.arange(len(array))

        def function(rows: Any) -> Any:
            return statistic(array[rows])

    # SciPy draws indices, so that a table is resampled by its rows through a function of them.
    bootstrap = stats.bootstrap(
        (data,),
        function,
        n_resamples=checked_count(resamples, "resamples", 2),
        batch=max(1, _CACHED // len(data)),
        confidence_level=confidence,
        method="BCa" if method == "bca" else "basic" if method == "basic" else "percentile",
        rng=generator(random_state),
    )
    interval = ConfidenceInterval(
        float(bootstrap.confidence_interval.low),
        float(bootstrap.confidence_interval.high),
        confidence,
        float(statistic(array)),
        f"bootstrap, {method}",
    )
    return BootstrapResult(interval, np.asarray(bootstrap.bootstrap_distribution))


def _refuse_without_cubes(values: Vector) -> None:
    """Raise where cubes, which the correction for skewness takes, are infinite or vanish."""
    if np.abs(values).max() > LARGEST_CUBED or np.ptp(values) < 1.0 / LARGEST_CUBED:
        raise DataError(
            "values are too large or too small to be cubed, as method='bca' does: divide all by a "
            "constant first."
        )
