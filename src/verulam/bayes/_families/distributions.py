"""Distributions of one number, with the parameters that Bayesian formulas use."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from verulam.base import DataError, Seed, generator
from verulam.bayes._sampling.chains import check_level


class Distribution:
    """A distribution: its density, moments and draws."""

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the logarithm of the density, or of the probability, at each entry of `x`."""
        raise NotImplementedError

    def density(self, x: ArrayLike) -> np.ndarray:
        """Return the density, or the probability, at each entry of `x`."""
        return np.exp(self.log_density(x))

    def sample(self, n: int = 1, random_state: Seed = None) -> Any:
        """Return `n` independent draws."""
        raise NotImplementedError


class OneNumber(Distribution):
    """A distribution of a single number, evaluated by SciPy."""

    def _frozen(self) -> Any:
        """Return SciPy's form of the distribution."""
        raise NotImplementedError

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the logarithm of the density, or of the probability, at each entry of `x`."""
        frozen = self._frozen()
        function = frozen.logpdf if hasattr(frozen.dist, "logpdf") else frozen.logpmf
        return np.asarray(function(np.asarray(x, dtype=np.float64)))

    def cumulative(self, x: ArrayLike) -> np.ndarray:
        """Return the probability of a number of at most each entry of `x`."""
        return np.asarray(self._frozen().cdf(np.asarray(x, dtype=np.float64)))

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` independent draws."""
        return np.asarray(self._frozen().rvs(size=n, random_state=generator(random_state)))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the ends between which the middle share `level` of the probability lies."""
        check_level(level)
        lower, upper = self._frozen().interval(level)
        return float(lower), float(upper)


class WithMoments(OneNumber):
    """A distribution of a single number whose moments follow from other parameters."""

    @property
    def mean(self) -> float:
        """The expected value; NaN or infinite where it does not exist."""
        return float(self._frozen().mean())

    @property
    def variance(self) -> float:
        """The variance; infinite or NaN where it does not exist."""
        return float(self._frozen().var())


@dataclass(frozen=True)
class Bernoulli(WithMoments):
    """One with some probability, otherwise zero.

    Attributes
    ----------
    probability
        Probability of a one.
    """

    probability: float

    def __post_init__(self) -> None:
        if not is_number(self.probability) or not 0.0 <= self.probability <= 1.0:
            raise DataError(f"probability must be from 0 to 1; got {self.probability!r}.")

    def _frozen(self) -> Any:
        return stats.bernoulli(self.probability)

    @property
    def mode(self) -> float:
        """The likelier of the two values, 1 where they are equally likely."""
        return float(self.probability >= 0.5)


@dataclass(frozen=True)
class Beta(WithMoments):
    r"""The beta distribution of a probability, :math:`p(q) \propto q^{a-1} (1-q)^{b-1}`.

    Attributes
    ----------
    a, b
        Shapes; imaginary counts of ones and of zeros.

    Examples
    --------
    >>> from verulam.bayes import Beta
    >>> belief = Beta(3.0, 2.0)
    >>> belief.mean, round(belief.mode, 4)
    (0.6, 0.6667)
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        check_positive(self, "a", "b")

    def _frozen(self) -> Any:
        return stats.beta(self.a, self.b)

    @property
    def mode(self) -> float:
        """The likeliest probability; NaN where the density is highest at both ends, or flat."""
        a, b = self.a, self.b
        if a > 1 and b > 1:
            return (a - 1) / (a + b - 2)
        # At an end of the interval, unless both ends or no place at all are higher than others.
        return np.nan if (a < 1) == (b < 1) and a <= 1 and b <= 1 else float(a > b)


@dataclass(frozen=True)
class Normal(OneNumber):
    """The Gaussian distribution.

    Attributes
    ----------
    mean, variance
        Its moments.
    """

    mean: float
    variance: float

    def __post_init__(self) -> None:
        check_finite(self, "mean")
        check_positive(self, "variance")

    def _frozen(self) -> Any:
        return stats.norm(self.mean, np.sqrt(self.variance))

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the logarithm of the density at each entry of `x`."""
        squares = (np.asarray(x, dtype=np.float64) - self.mean) ** 2 / self.variance
        return np.asarray(-0.5 * (np.log(2.0 * np.pi * self.variance) + squares))

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` independent draws."""
        return generator(random_state).normal(self.mean, np.sqrt(self.variance), size=n)

    @property
    def mode(self) -> float:
        """The mean."""
        return self.mean


@dataclass(frozen=True)
class LaplaceDistribution(OneNumber):
    r"""The Laplace distribution, :math:`p(x) = \frac{1}{2s} e^{-|x - \mu| / s}`.

    Attributes
    ----------
    mean
        Centre :math:`\mu`.
    scale
        Mean distance :math:`s` from it.
    """

    mean: float
    scale: float

    def __post_init__(self) -> None:
        check_finite(self, "mean")
        check_positive(self, "scale")

    def _frozen(self) -> Any:
        return stats.laplace(self.mean, self.scale)

    @property
    def variance(self) -> float:
        """Twice the square of the scale."""
        return 2.0 * self.scale**2

    @property
    def mode(self) -> float:
        """The mean."""
        return self.mean


@dataclass(frozen=True)
class StudentT(WithMoments):
    r"""Student's t, shifted and scaled; a normal distribution whose variance is not known.

    Attributes
    ----------
    df
        Degrees of freedom :math:`\nu`.
    location
        Centre.
    squared_scale
        Square of the scale, which is not the variance: that is :math:`\nu / (\nu - 2)` times it.

    Examples
    --------
    >>> from verulam.bayes import StudentT
    >>> round(StudentT(df=4.0, location=1.0, squared_scale=0.5).variance, 6)
    1.0
    """

    df: float
    location: float = 0.0
    squared_scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self, "df", "squared_scale")
        check_finite(self, "location")

    def _frozen(self) -> Any:
        return stats.t(self.df, self.location, np.sqrt(self.squared_scale))

    @property
    def mode(self) -> float:
        """The centre."""
        return self.location


@dataclass(frozen=True)
class Gamma(WithMoments):
    r"""The gamma distribution, :math:`p(\lambda) \propto \lambda^{a-1} e^{-b \lambda}`.

    Attributes
    ----------
    shape
        Shape :math:`a`.
    rate
        Rate :math:`b`, the inverse of SciPy's scale.
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        check_positive(self, "shape", "rate")

    def _frozen(self) -> Any:
        return stats.gamma(self.shape, scale=1.0 / self.rate)

    @property
    def mode(self) -> float:
        """The likeliest number; 0 for shapes up to 1."""
        return max(self.shape - 1.0, 0.0) / self.rate


@dataclass(frozen=True)
class InverseGamma(WithMoments):
    r"""The distribution of the inverse of a gamma variable, such as a variance.

    Attributes
    ----------
    shape
        Shape :math:`a` of the inverse.
    scale
        Rate :math:`b` of the inverse, which is a scale here.
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        check_positive(self, "shape", "scale")

    def _frozen(self) -> Any:
        return stats.invgamma(self.shape, scale=self.scale)

    @property
    def mode(self) -> float:
        """The likeliest number."""
        return self.scale / (self.shape + 1.0)


@dataclass(frozen=True)
class InverseChiSquare(InverseGamma):
    r"""The scaled inverse chi-square: :math:`\nu s^2` over a chi-square variable.

    Attributes
    ----------
    shape, scale
        Those of the inverse gamma, :math:`\nu / 2` and :math:`\nu s^2 / 2`.
    """

    @classmethod
    def of(cls, df: float, variance: float) -> "InverseChiSquare":
        """Return the distribution with degrees of freedom and a variance about which it lies."""
        for name, value in (("df", df), ("variance", variance)):
            if not is_number(value) or not 0.0 < float(value) < np.inf:
                raise DataError(f"{name} must be a finite number above 0; got {value!r}.")
        return cls(0.5 * df, 0.5 * df * variance)

    @property
    def df(self) -> float:
        """Degrees of freedom."""
        return 2.0 * self.shape


def check_positive(record: Any, *names: str) -> None:
    """Refuse fields of a record that are not finite numbers above zero."""
    for name in names:
        value = getattr(record, name)
        if not is_number(value) or not 0.0 < float(value) < np.inf:
            raise DataError(
                f"{name} of {type(record).__name__} must be a finite number above 0; got {value!r}."
            )


def check_finite(record: Any, *names: str) -> None:
    """Refuse fields of a record that are not finite numbers."""
    for name in names:
        value = getattr(record, name)
        if not is_number(value) or not np.isfinite(float(value)):
            raise DataError(
                f"{name} of {type(record).__name__} must be a finite number; got {value!r}."
            )


def is_number(value: Any) -> bool:
    """Tell one real number from all else."""
    return isinstance(value, int | float | np.number) and not isinstance(
        value, bool | np.complexfloating
    )
