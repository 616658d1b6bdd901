"""Law of large numbers, central limit theorem, sampling distributions, bias of estimators."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import Vector, checked_count, label_column


def running_means(
    distribution: Any, size: int, *, paths: int = 1, random_state: Seed = None
) -> Vector:
    """Return the means of the first 1, 2, ..., `size` draws: the law of large numbers at work.

    Parameters
    ----------
    distribution
        Frozen SciPy distribution.
    size
        Number of draws.
    paths
        Number of repetitions, one row each.
    random_state
        Seed.

    Notes
    -----
    The probability of being further than any distance from the mean vanishes (Alpaydin A.2.7
    (A.32)).

    Examples
    --------
    >>> from scipy.stats import bernoulli
    >>> from verulam.statistics import running_means
    >>> running_means(bernoulli(0.3), 10_000, random_state=0)[0, [9, -1]].round(3)
    array([0.4, 0.3])
    """
    drawn = distribution.rvs(size=(paths, size), random_state=generator(random_state))
    return np.cumsum(drawn, axis=1) / np.arange(1, size + 1)


def standardised_sums(
    distribution: Any, count: int, size: int, *, random_state: Seed = None
) -> Vector:
    r"""Return standardised sums of `count` draws, nearly unit normal for a large count.

    Parameters
    ----------
    distribution
        Frozen SciPy distribution with a finite variance.
    count
        Number of draws in each sum.
    size
        Number of sums.
    random_state
        Seed.

    Notes
    -----
    :math:`(\sum_t X^t - N \mu) / \sqrt{N \sigma^2}` (Alpaydin A.3.5 (A.45)). Twelve uniform draws
    minus six are the classic generator of normal numbers.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from verulam.statistics import standardised_sums
    >>> sums = standardised_sums(uniform(), 12, 100_000, random_state=0)
    >>> round(abs(float(sums.mean())), 2), round(float(sums.var()), 2)
    (0.0, 1.0)
    """
    drawn = distribution.rvs(size=(size, count), random_state=generator(random_state))
    return (drawn.sum(axis=1) - count * distribution.mean()) / np.sqrt(count * distribution.var())


@dataclass(frozen=True, eq=False)
class SamplingDistribution:
    """Mean and variance of many samples.

    Parameters
    ----------
    means, variances
        Mean and unbiased variance of each sample.
    sample_size
        Number of values in each sample.
    """

    means: Vector
    variances: Vector
    sample_size: int

    @property
    def correlation(self) -> float:
        """Correlation of means and variances, zero for normal samples."""
        return float(np.corrcoef(self.means, self.variances)[0, 1])


def sampling_distribution(
    distribution: Any, sample_size: int, repeats: int, *, random_state: Seed = None
) -> SamplingDistribution:
    """Return means and variances of `repeats` samples.

    Parameters
    ----------
    distribution
        Frozen SciPy distribution.
    sample_size
        Number of values in each sample.
    repeats
        Number of samples.
    random_state
        Seed.

    Notes
    -----
    For normal samples the mean is normal with variance sigma^2 / N, (N - 1) S^2 / sigma^2 is
    chi-square with N - 1 degrees of freedom, and both are independent (Alpaydin A.3.6 (A.50)).

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from verulam.statistics import sampling_distribution
    >>> found = sampling_distribution(norm(5, 2), 16, 50_000, random_state=0)
    >>> round(float(found.means.var()), 2), round(float(found.variances.mean()), 1)
    (0.25, 4.0)
    """
    if checked_count(sample_size, "sample_size") < 2:
        raise DataError("sample_size must be at least 2.")
    drawn = distribution.rvs(size=(repeats, sample_size), random_state=generator(random_state))
    return SamplingDistribution(drawn.mean(axis=1), drawn.var(axis=1, ddof=1), sample_size)


def chi_square_draws(degrees: int, size: int, *, random_state: Seed = None) -> Vector:
    """Return sums of `degrees` squared unit normals (Alpaydin A.3.6 (A.47))."""
    return (generator(random_state).normal(size=(size, degrees)) ** 2).sum(axis=1)


def t_draws(degrees: int, size: int, *, random_state: Seed = None) -> Vector:
    """Return unit normals over the root of a mean chi-square (Alpaydin A.3.7 (A.51))."""
    rng = generator(random_state)
    normal = rng.normal(size=size)
    return normal / np.sqrt(chi_square_draws(degrees, size, random_state=rng) / degrees)


def f_draws(numerator: int, denominator: int, size: int, *, random_state: Seed = None) -> Vector:
    """Return ratios of two mean chi-squares (Alpaydin A.3.8 (A.53))."""
    rng = generator(random_state)
    above = chi_square_draws(numerator, size, random_state=rng) / numerator
    return above / (chi_square_draws(denominator, size, random_state=rng) / denominator)


@dataclass(frozen=True)
class EstimatorStudy:
    """Bias, variance and mean squared error of an estimator, by simulation.

    Parameters
    ----------
    bias
        Mean of the estimates minus the true value.
    variance
        Variance of the estimates.
    mean_squared_error
        Mean squared distance from the true value: variance plus squared bias.
    """

    bias: float
    variance: float
    mean_squared_error: float


def estimator_study(
    estimator: Callable[..., Any],
    distribution: Any,
    true_value: float,
    *,
    sample_size: int,
    repeats: int = 10_000,
    random_state: Seed = None,
) -> EstimatorStudy:
    """Return how an estimator behaves over many samples.

    Parameters
    ----------
    estimator
        Called as ``estimator(samples, axis=1)`` on rows of samples.
    distribution
        Frozen SciPy distribution of the values.
    true_value
        What is estimated.
    sample_size
        Number of values in each sample.
    repeats
        Number of samples.
    random_state
        Seed.

    Notes
    -----
    SIT1305 II: the variance divided by N is too small by sigma^2 / N on average.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> from verulam.statistics import estimator_study
    >>> study = estimator_study(np.var, norm(0, 2), 4.0, sample_size=10, random_state=0)
    >>> round(study.bias, 1)
    -0.4
    """
    samples = distribution.rvs(size=(repeats, sample_size), random_state=generator(random_state))
    estimates = np.asarray(estimator(samples, axis=1), dtype=np.float64)
    errors = estimates - true_value
    return EstimatorStudy(float(errors.mean()), float(estimates.var()), float((errors**2).mean()))


def bootstrap_left_out(sizes: Any) -> pd.Series:
    """Return the chance that an instance is in no bootstrap sample, by size; its limit is 1/e.

    Examples
    --------
    >>> from verulam.statistics import bootstrap_left_out
    >>> bootstrap_left_out([10, 1000]).round(4).to_dict()
    {10: 0.3487, 1000: 0.3677}
    """
    counts = np.atleast_1d(label_column(sizes, "sizes"))
    return pd.Series((1 - 1 / counts) ** counts, index=counts)
