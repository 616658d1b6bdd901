"""Random variables that occur so often that they have names: counts, uniform and normal ones."""

from dataclasses import dataclass
from math import isclose
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from verulam.base import DataError, Seed, generator
from verulam.statistics._core.checks import (
    Vector,
    checked_count,
    checked_number,
    checked_positive,
    numbers,
)
from verulam.statistics._theory.random_variables import DiscreteVariable


@dataclass(frozen=True)
class BinomialVariable:
    r"""How many of some independent trials succeed; with one trial, a Bernoulli variable.

    Parameters
    ----------
    n_trials
        Number :math:`N` of trials.
    rate
        Probability :math:`p` of a success.

    Notes
    -----
    .. math:: P\{X = i\} = \binom{N}{i} p^i (1-p)^{N-i}, \quad E[X] = N p, \quad
              \mathrm{Var}(X) = N p (1 - p)

    (Alpaydin A.3.1-A.3.2, A.33-A.37). Independent counts with the same rate add up to a count.

    Examples
    --------
    >>> from verulam.statistics import BinomialVariable
    >>> errors = BinomialVariable(20, 0.25)
    >>> errors.mean, errors.variance, round(errors.mass(5), 4)
    (5.0, 3.75, 0.2023)
    >>> errors + BinomialVariable(10, 0.25)
    BinomialVariable(n_trials=30, rate=0.25)
    """

    n_trials: int
    rate: float

    def __post_init__(self) -> None:
        checked_count(self.n_trials, "n_trials", 1)
        if not 0.0 <= checked_number(self.rate, "rate") <= 1.0:
            raise DataError(f"rate must lie between 0 and 1, but is {self.rate}.")

    @property
    def mean(self) -> float:
        """Expected number of successes."""
        return self.n_trials * self.rate

    @property
    def variance(self) -> float:
        """Expected squared distance from the mean."""
        return self.n_trials * self.rate * (1.0 - self.rate)

    def mass(self, count: float) -> float:
        """Return the probability of one number of successes."""
        if count != int(count) or not 0 <= count <= self.n_trials:
            return 0.0
        failures = self.n_trials - count
        return float(
            np.exp(
                _log_choices(np.array([count, failures]))
                + special.xlogy(count, self.rate)
                + special.xlog1py(failures, -self.rate)
            )
        )

    def distribution(self, count: float) -> float:
        """Return the probability of this number of successes or a smaller one."""
        if count < 0:
            return 0.0
        return float(special.bdtr(min(int(count), self.n_trials), self.n_trials, self.rate))

    def as_table(self) -> DiscreteVariable:
        """Return all counts with their probabilities."""
        counts = np.arange(self.n_trials + 1)
        return DiscreteVariable(counts, [self.mass(float(count)) for count in counts])

    def sample(self, size: int, random_state: Seed = None) -> NDArray[np.int64]:
        """Return independent counts."""
        return generator(random_state).binomial(self.n_trials, self.rate, size)

    def __add__(self, other: Any) -> "BinomialVariable":
        if not isinstance(other, BinomialVariable):
            return NotImplemented
        _refuse_itself(self, other)
        if not isclose(self.rate, other.rate):
            raise DataError(
                "rate must be the same in both for their sum to be binomial, but is "
                f"{self.rate:g} and {other.rate:g}."
            )
        return BinomialVariable(self.n_trials + other.n_trials, self.rate)


@dataclass(frozen=True, eq=False)
class MultinomialVariable:
    r"""How often each of several outcomes occurs in some independent trials.

    Parameters
    ----------
    n_trials
        Number :math:`N` of trials.
    rates
        Probability :math:`p_i` of each outcome.

    Notes
    -----
    .. math:: P(N_1, \dots, N_K) = N! \prod_i \frac{p_i^{N_i}}{N_i!}

    (Alpaydin A.3.3, A.38-A.39). Each count is binomial by itself, and more of one outcome leaves
    less for the others: :math:`\mathrm{Cov}(N_i, N_j) = -N p_i p_j`.

    Examples
    --------
    >>> from verulam.statistics import MultinomialVariable
    >>> votes = MultinomialVariable(4, [0.5, 0.25, 0.25])
    >>> votes.mean.tolist(), round(votes.mass([2, 1, 1]), 4), float(votes.covariance[0, 1])
    ([2.0, 1.0, 1.0], 0.1875, -0.5)
    """

    n_trials: int
    rates: ArrayLike

    def __post_init__(self) -> None:
        checked_count(self.n_trials, "n_trials", 1)
        shares = numbers(self.rates, "rates")
        if shares.ndim != 1 or (shares < 0).any() or not np.isclose(shares.sum(), 1.0):
            raise DataError("rates must be a column that is not negative and sums to one.")
        object.__setattr__(self, "rates", shares)

    @property
    def mean(self) -> Vector:
        """Expected number of each outcome."""
        return self.n_trials * np.asarray(self.rates)

    @property
    def covariance(self) -> Vector:
        """Covariances of the counts, their variances on the diagonal."""
        shares = np.asarray(self.rates)
        return self.n_trials * (np.diag(shares) - np.outer(shares, shares))

    def mass(self, counts: ArrayLike) -> float:
        """Return the probability of certain numbers of all outcomes."""
        times = numbers(counts, "counts")
        if times.shape != np.shape(self.rates):
            raise DataError(
                f"counts must have a number for each of the {np.size(self.rates)} outcomes, but "
                f"its shape is {times.shape}."
            )
        if (times < 0).any() or (times != np.floor(times)).any() or times.sum() != self.n_trials:
            return 0.0
        logs = _log_choices(times) + special.xlogy(times, np.asarray(self.rates)).sum()
        return float(np.exp(logs))

    def count(self, outcome: int) -> BinomialVariable:
        """Return how often one outcome occurs, whatever the others."""
        return BinomialVariable(self.n_trials, float(np.asarray(self.rates)[outcome]))

    def sample(self, size: int, random_state: Seed = None) -> NDArray[np.int64]:
        """Return independent counts, one row each."""
        return generator(random_state).multinomial(self.n_trials, np.asarray(self.rates), size)


@dataclass(frozen=True)
class UniformVariable:
    r"""A number from an interval whose parts of equal length are equally probable.

    Parameters
    ----------
    low, high
        Ends :math:`a < b` of the interval.

    Notes
    -----
    .. math:: p(x) = \frac{1}{b - a} \text{ for } a \le x \le b, \quad
              E[X] = \frac{a + b}{2}, \quad \mathrm{Var}(X) = \frac{(b - a)^2}{12}

    (Alpaydin A.3.4, A.40-A.41). A multiple of it plus a constant is uniform again; a sum of two is
    not.

    Examples
    --------
    >>> from verulam.statistics import UniformVariable
    >>> waiting = UniformVariable(0.0, 12.0)
    >>> waiting.mean, waiting.variance, waiting.distribution(3.0)
    (6.0, 12.0, 0.25)
    >>> 5 - 0.25 * waiting
    UniformVariable(low=2.0, high=5.0)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not checked_number(self.low, "low") < checked_number(self.high, "high"):
            raise DataError(f"low must be below high, but they are {self.low} and {self.high}.")

    @property
    def mean(self) -> float:
        """Expected value."""
        return 0.5 * (self.low + self.high)

    @property
    def variance(self) -> float:
        """Expected squared distance from the mean."""
        return (self.high - self.low) ** 2 / 12.0

    def density(self, values: ArrayLike) -> Vector:
        """Return the density at some values."""
        x = np.asarray(values, dtype=np.float64)
        return np.where((x >= self.low) & (x <= self.high), 1.0 / (self.high - self.low), 0.0)

    def distribution(self, value: float) -> float:
        """Return the probability of this value or a smaller one."""
        return float(np.clip((value - self.low) / (self.high - self.low), 0.0, 1.0))

    def sample(self, size: int, random_state: Seed = None) -> Vector:
        """Return independent values."""
        return generator(random_state).uniform(self.low, self.high, size)

    def __mul__(self, factor: float) -> "UniformVariable":
        ends = sorted((_factor(factor) * self.low, factor * self.high))
        return UniformVariable(*ends)

    def __add__(self, shift: Any) -> "UniformVariable":
        if isinstance(shift, UniformVariable):
            raise DataError("a sum of uniform variables is not uniform; add a number instead.")
        amount = checked_number(shift, "shift")
        return UniformVariable(self.low + amount, self.high + amount)

    def __rsub__(self, shift: float) -> "UniformVariable":
        return -1.0 * self + shift

    def __sub__(self, shift: float) -> "UniformVariable":
        return self + -1.0 * shift

    __rmul__, __radd__ = __mul__, __add__


@dataclass(frozen=True)
class NormalVariable:
    r"""A number that varies about a typical value: normal, or Gaussian.

    Parameters
    ----------
    mean
        The typical value :math:`\mu`.
    variance
        Expected squared distance :math:`\sigma^2` from it.

    Notes
    -----
    .. math:: p(x) = \frac{1}{\sqrt{2 \pi} \sigma}
              \exp\left[-\frac{(x - \mu)^2}{2 \sigma^2}\right]

    (Alpaydin A.3.5, A.42-A.44). :math:`a X + b` is normal with mean :math:`a \mu + b` and variance
    :math:`a^2 \sigma^2`; independent normal variables add up to one whose mean and variance are
    the sums of theirs; :math:`(X - \mu) / \sigma` is unit normal (z-normalisation).

    Examples
    --------
    >>> from verulam.statistics import NormalVariable
    >>> height = NormalVariable(mean=170.0, variance=100.0)
    >>> round(height.within(2.0), 4), height.z([170.0, 185.0]).tolist()
    (0.9545, [0.0, 1.5])
    >>> 0.5 * height + 3.0
    NormalVariable(mean=88.0, variance=25.0)
    >>> height + NormalVariable(mean=5.0, variance=21.0)
    NormalVariable(mean=175.0, variance=121.0)
    """

    mean: float = 0.0
    variance: float = 1.0

    def __post_init__(self) -> None:
        checked_number(self.mean, "mean")
        checked_positive(self.variance, "variance")

    @property
    def standard_deviation(self) -> float:
        """Square root of the variance."""
        return float(np.sqrt(self.variance))

    def density(self, values: ArrayLike) -> Vector:
        """Return the density at some values."""
        return np.exp(-0.5 * self.z(values) ** 2) / np.sqrt(2.0 * np.pi * self.variance)

    def distribution(self, value: float) -> float:
        """Return the probability of this value or a smaller one."""
        return float(special.ndtr(self.z(value)))

    def within(self, deviations: float) -> float:
        """Return the probability of being less than some standard deviations off the mean."""
        return float(special.erf(deviations / np.sqrt(2.0)))

    def z(self, values: ArrayLike) -> Vector:
        """Return values as numbers of standard deviations above the mean."""
        return (np.asarray(values, dtype=np.float64) - self.mean) / self.standard_deviation

    def sample(self, size: int, random_state: Seed = None) -> Vector:
        """Return independent values."""
        return generator(random_state).normal(self.mean, self.standard_deviation, size)

    def __mul__(self, factor: float) -> "NormalVariable":
        return NormalVariable(_factor(factor) * self.mean, factor**2 * self.variance)

    def __add__(self, other: "float | NormalVariable") -> "NormalVariable":
        if isinstance(other, NormalVariable):
            _refuse_itself(self, other)
            return NormalVariable(self.mean + other.mean, self.variance + other.variance)
        return NormalVariable(self.mean + checked_number(other, "shift"), self.variance)

    def __sub__(self, other: "float | NormalVariable") -> "NormalVariable":
        _refuse_itself(self, other)
        return self + -1.0 * other

    def __rsub__(self, shift: float) -> "NormalVariable":
        return -1.0 * self + shift

    __rmul__, __radd__ = __mul__, __add__


def _factor(value: Any) -> float:
    """Return a number to multiply with, which must leave something to vary."""
    if checked_number(value, "factor") == 0.0:
        raise DataError("factor must not be 0, for nothing would vary.")
    return float(value)


def _refuse_itself(first: Any, second: Any) -> None:
    """Raise where a variable is added to itself, of which it is not independent."""
    if first is second:
        raise DataError(
            "a variable is not independent of itself: multiply it by 2, or make a second one."
        )


def _log_choices(counts: Vector) -> float:
    """Return the logarithm of the number of orders in which such counts come about."""
    return float(special.gammaln(counts.sum() + 1.0) - special.gammaln(counts + 1.0).sum())
