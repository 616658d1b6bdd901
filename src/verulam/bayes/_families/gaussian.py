"""Gaussian observations of one number: mean, precision, or both unknown."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from verulam.base import DataError, Seed, generator
from verulam.bayes._families.conjugate import OfMoments
from verulam.bayes._families.distributions import (
    Distribution,
    Gamma,
    InverseChiSquare,
    InverseGamma,
    Normal,
    StudentT,
    check_finite,
    check_positive,
    is_number,
)
from verulam.bayes._sampling.chains import check_level
from verulam.numerics import FullMoments

_LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class GaussianParameters:
    """Mean and precision of a Gaussian, of one number or of a vector.

    Attributes
    ----------
    mean
        The mean.
    precision
        Inverse of the variance, or of the covariance matrix.
    """

    mean: Any
    precision: Any


@dataclass(frozen=True)
class GaussianMean(OfMoments):
    r"""The mean of a Gaussian whose variance is known, with a Gaussian prior.

    Attributes
    ----------
    prior_mean
        Prior mean :math:`\mu_0`.
    prior_variance
        Prior variance :math:`\sigma_0^2`; infinite for the flat prior.
    noise_variance
        Variance :math:`\sigma^2` of the observations.

    Notes
    -----
    .. math:: \mu_N = \frac{\sigma^2 \mu_0 + N \sigma_0^2 m}{N \sigma_0^2 + \sigma^2}, \qquad
        \frac{1}{\sigma_N^2} = \frac{1}{\sigma_0^2} + \frac{N}{\sigma^2}

    and the next observation is :math:`\mathcal N(\mu_N, \sigma_N^2 + \sigma^2)`. The printed text
    has :math:`\mu_0^2` for the prior mean. See Alpaydin 16.3.1 (16.5-16.8).

    Examples
    --------
    >>> from verulam.bayes import GaussianMean
    >>> prior = GaussianMean(prior_mean=4.0, prior_variance=0.8**2, noise_variance=1.5**2)
    >>> posterior = prior.posterior([6.0] * 20)
    >>> round(posterior.mean, 2), round(posterior.prior_variance, 6)
    (5.7, 0.095681)
    >>> round(posterior.predictive.variance, 6)
    2.345681
    """

    prior_mean: float = 0.0
    prior_variance: float = 1.0
    noise_variance: float = 1.0

    def __post_init__(self) -> None:
        check_finite(self, "prior_mean")
        check_positive(self, "noise_variance")
        if not is_number(self.prior_variance) or self.prior_variance != np.inf:
            check_positive(self, "prior_variance")

    @classmethod
    def uniform(cls, noise_variance: float = 1.0) -> "GaussianMean":
        """Return the flat prior, which is Jeffreys' prior of a mean too; it is improper."""
        return cls(0.0, np.inf, noise_variance)

    jeffreys = uniform

    @classmethod
    def from_interval(
        cls, lower: float, upper: float, noise_variance: float = 1.0, level: float = 0.95
    ) -> "GaussianMean":
        """Return the prior that has the share `level` of its probability in an interval."""
        check_level(level)
        if not lower < upper:
            raise DataError(f"lower must be below upper; got {lower!r} and {upper!r}.")
        scale = 0.5 * (upper - lower) / norm.ppf(0.5 + 0.5 * level)
        return cls(0.5 * (lower + upper), float(scale) ** 2, noise_variance)

    @property
    def distribution(self) -> Normal:
        """The Gaussian distribution of the mean."""
        return Normal(self.prior_mean, self.prior_variance)

    @property
    def predictive(self) -> Normal:
        """The distribution of the next observation."""
        self._refuse_improper("predictive distribution")
        return Normal(self.prior_mean, self.prior_variance + self.noise_variance)

    def at(self, parameter: float) -> Normal:
        """Return the distribution of one observation for a mean."""
        return Normal(float(parameter), self.noise_variance)

    def maximum_likelihood(self, data: Any) -> float:
        """Return the mean of the data."""
        _, mean, _ = moments_of(self.statistics(data), least=1)
        return mean

    def _updated(self, statistics: FullMoments) -> "GaussianMean":
        n, mean, _ = moments_of(statistics)
        if n == 0.0:
            return self
        # The weight of the data; it is 1 for a flat prior, whose variance is infinite.
        share = 1.0 / (1.0 + self.noise_variance / (n * self.prior_variance))
        return GaussianMean(
            self.prior_mean + share * (mean - self.prior_mean),
            share * self.noise_variance / n,
            self.noise_variance,
        )

    def _log_evidence(self, statistics: FullMoments, posterior: "GaussianMean") -> float:
        n, mean, scatter = moments_of(statistics)
        if n == 0.0:
            return 0.0
        spread = self.prior_variance + self.noise_variance / n
        return float(
            -0.5 * n * (_LOG_TWO_PI + np.log(self.noise_variance))
            + 0.5 * np.log(posterior.prior_variance / self.prior_variance)
            - 0.5 * scatter / self.noise_variance
            - 0.5 * (mean - self.prior_mean) ** 2 / spread
        )

    def _improper(self) -> str:
        return "prior_variance is infinite" if self.prior_variance == np.inf else ""


@dataclass(frozen=True)
class GaussianPrecision(OfMoments):
    r"""The precision (inverse variance) of a Gaussian whose mean is known, with a gamma prior.

    Attributes
    ----------
    shape, rate
        Those of the gamma prior :math:`\mathrm{Gamma}(a_0, b_0)`; 0 and 0 for Jeffreys' prior.
    known_mean
        Mean of the observations.

    Notes
    -----
    With :math:`s^2` the mean square about the known mean,

    .. math:: a_N = a_0 + N / 2, \qquad b_N = b_0 + N s^2 / 2

    An expected precision of :math:`1 / s_0^2`, worth :math:`\nu_0` observations, has :math:`a_0 =
    \nu_0 / 2` and :math:`b_0 = \nu_0 s_0^2 / 2`. See Alpaydin 16.3.2 (16.9-16.10).

    Examples
    --------
    >>> from verulam.bayes import GaussianPrecision
    >>> GaussianPrecision(shape=1.0, rate=1.0).posterior([2.0, -2.0])
    GaussianPrecision(shape=2.0, rate=5.0, known_mean=0.0)
    """

    shape: float = 1.0
    rate: float = 1.0
    known_mean: float = 0.0

    def __post_init__(self) -> None:
        check_finite(self, "known_mean")
        numbers = (self.shape, self.rate)
        if not all(map(is_number, numbers)) or numbers != (0.0, 0.0):
            check_positive(self, "shape", "rate")

    @classmethod
    def jeffreys(cls, known_mean: float = 0.0) -> "GaussianPrecision":
        r"""Return the prior :math:`p(\lambda) \propto 1 / \lambda`, which is improper."""
        return cls(0.0, 0.0, known_mean)

    @classmethod
    def from_variance(
        cls, df: float, variance: float, known_mean: float = 0.0
    ) -> "GaussianPrecision":
        """Return the prior about a variance, worth `df` imaginary observations."""
        prior = InverseChiSquare.of(df, variance)
        return cls(prior.shape, prior.scale, known_mean)

    @property
    def distribution(self) -> Gamma:
        """The gamma distribution of the precision."""
        return Gamma(self.shape, self.rate)

    @property
    def variance_distribution(self) -> InverseGamma:
        """The inverse gamma distribution of the variance."""
        self._refuse_improper("distribution of the variance")
        return InverseGamma(self.shape, self.rate)

    @property
    def predictive(self) -> StudentT:
        """The distribution of the next observation."""
        self._refuse_improper("predictive distribution")
        return StudentT(2.0 * self.shape, self.known_mean, self.rate / self.shape)

    def at(self, parameter: float) -> Normal:
        """Return the distribution of one observation for a precision."""
        return Normal(self.known_mean, _inverse(parameter))

    def maximum_likelihood(self, data: Any) -> float:
        """Return the inverse of the mean square about the known mean."""
        n, _, _ = moments_of(self.statistics(data), least=1)
        squares = self._squares(self.statistics(data))
        if not squares:
            raise DataError("data all equal known_mean, so that the likelihood has no maximum.")
        return n / squares

    def _squares(self, statistics: FullMoments) -> float:
        n, mean, scatter = moments_of(statistics)
        return scatter + n * (mean - self.known_mean) ** 2

    def _updated(self, statistics: FullMoments) -> "GaussianPrecision":
        n, _, _ = moments_of(statistics)
        if n == 0.0:
            return self
        squares = self._squares(statistics)
        return GaussianPrecision(self.shape + 0.5 * n, self.rate + 0.5 * squares, self.known_mean)

    def _log_evidence(self, statistics: FullMoments, posterior: "GaussianPrecision") -> float:
        n, _, _ = moments_of(statistics)
        return _gamma_ratio(self, posterior) - 0.5 * n * _LOG_TWO_PI

    def _improper(self) -> str:
        return "shape and rate are 0" if self.shape == 0.0 else ""


@dataclass(frozen=True)
class NormalGamma(OfMoments, Distribution):
    r"""Mean and precision of a Gaussian, both unknown, with a normal-gamma prior.

    Attributes
    ----------
    prior_mean
        Prior mean :math:`\mu_0`.
    kappa
        Imaginary observations :math:`\kappa_0` behind the mean.
    shape, rate
        Those of the gamma prior of the precision, :math:`a_0` and :math:`b_0`.

    Notes
    -----
    :math:`p(\mu, \lambda) = \mathcal N(\mu \mid \mu_0, (\kappa_0 \lambda)^{-1})\,
    \mathrm{Gamma}(\lambda \mid a_0, b_0)`. With :math:`m` the mean of the data and :math:`s^2`
    their mean square about :math:`m` (not about :math:`\mu`, as printed),

    .. math:: \kappa_N = \kappa_0 + N, \quad \mu_N = \frac{\kappa_0 \mu_0 + N m}{\kappa_N}, \quad
        a_N = a_0 + \frac N2, \quad
        b_N = b_0 + \frac{N s^2}{2} + \frac{\kappa_0 N (m - \mu_0)^2}{2 \kappa_N}

    The next observation has Student's t with :math:`2 a_N` degrees of freedom about
    :math:`\mu_N`, with the squared scale :math:`b_N (\kappa_N + 1) / (a_N \kappa_N)`, which is not
    its variance. See Alpaydin 16.3.2 (16.11-16.14).

    Examples
    --------
    >>> from verulam.bayes import NormalGamma
    >>> prior = NormalGamma(prior_mean=0.0, kappa=1.0, shape=2.0, rate=2.0)
    >>> posterior = prior.posterior([1.0, 3.0])
    >>> posterior
    NormalGamma(prior_mean=1.3333333333333333, kappa=3.0, shape=3.0, rate=4.333333333333333)
    >>> posterior.predictive
    StudentT(df=6.0, location=1.3333333333333333, squared_scale=1.92592592592592...)
    """

    prior_mean: float = 0.0
    kappa: float = 1.0
    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        check_finite(self, "prior_mean")
        numbers = (self.kappa, self.shape, self.rate)
        if not all(map(is_number, numbers)) or numbers != (0.0, -0.5, 0.0):
            check_positive(self, "kappa", "shape", "rate")

    @classmethod
    def jeffreys(cls) -> "NormalGamma":
        r"""Return the prior :math:`p(\mu, \lambda) \propto 1 / \lambda`, which is improper."""
        return cls(0.0, 0.0, -0.5, 0.0)

    @classmethod
    def from_variance(
        cls, prior_mean: float, kappa: float, df: float, variance: float
    ) -> "NormalGamma":
        """Return the prior about a mean and a variance, worth `kappa` and `df` observations."""
        prior = InverseChiSquare.of(df, variance)
        return cls(prior_mean, kappa, prior.shape, prior.scale)

    @property
    def distribution(self) -> "NormalGamma":
        """The joint distribution of mean and precision: this one."""
        return self

    @property
    def variance_distribution(self) -> InverseGamma:
        """The inverse gamma distribution of the variance."""
        self._refuse_improper("distribution of the variance")
        return InverseGamma(self.shape, self.rate)

    @property
    def mean_distribution(self) -> StudentT:
        """Student's t of the mean, whatever the precision."""
        self._refuse_improper("distribution of the mean")
        return StudentT(2.0 * self.shape, self.prior_mean, self.rate / (self.shape * self.kappa))

    @property
    def predictive(self) -> StudentT:
        """The distribution of the next observation."""
        self._refuse_improper("predictive distribution")
        scale = self.rate * (self.kappa + 1.0) / (self.shape * self.kappa)
        return StudentT(2.0 * self.shape, self.prior_mean, scale)

    def at(self, parameter: GaussianParameters) -> Normal:
        """Return the distribution of one observation for a mean and a precision."""
        return Normal(float(parameter.mean), _inverse(parameter.precision))

    def maximum_likelihood(self, data: Any) -> GaussianParameters:
        """Return the mean of the data and the inverse of their mean square about it."""
        n, mean, scatter = moments_of(self.statistics(data), least=1)
        if not scatter:
            raise DataError("data are all alike, so that the likelihood has no maximum.")
        return GaussianParameters(mean, n / scatter)

    def log_density(self, parameter: Any) -> np.ndarray:
        """Return the log-density of a mean and a precision, or of a list of them."""
        self._refuse_improper("density")
        pairs = parameter if isinstance(parameter, list) else [parameter]
        means = np.array([pair.mean for pair in pairs])
        precisions = np.array([pair.precision for pair in pairs])
        values = Gamma(self.shape, self.rate).log_density(precisions) + norm.logpdf(
            means, self.prior_mean, 1.0 / np.sqrt(self.kappa * precisions)
        )
        return np.asarray(values if isinstance(parameter, list) else values[0])

    def sample(self, n: int = 1, random_state: Seed = None) -> list[GaussianParameters]:
        """Return `n` draws of mean and precision."""
        self._refuse_improper("draws")
        rng = generator(random_state)
        precisions = rng.gamma(self.shape, 1.0 / self.rate, size=n)
        means = rng.normal(self.prior_mean, 1.0 / np.sqrt(self.kappa * precisions))
        return [
            GaussianParameters(float(mean), float(precision))
            for mean, precision in zip(means, precisions, strict=True)
        ]

    @property
    def mean(self) -> GaussianParameters:
        """Expected mean and precision."""
        self._refuse_improper("mean")
        return GaussianParameters(self.prior_mean, self.shape / self.rate)

    @property
    def mode(self) -> GaussianParameters:
        """The likeliest mean and precision together."""
        self._refuse_improper("mode")
        # The precision enters the normal factor with exponent 1/2 as well.
        return GaussianParameters(self.prior_mean, max(self.shape - 0.5, 0.0) / self.rate)

    def _updated(self, statistics: FullMoments) -> "NormalGamma":
        n, mean, scatter = moments_of(statistics)
        if n == 0.0:
            return self
        kappa = self.kappa + n
        shift = mean - self.prior_mean
        rate = self.rate + 0.5 * scatter + 0.5 * self.kappa * n * shift**2 / kappa
        if self.kappa == 0.0 and (n < 2 or not scatter):
            raise DataError(
                "Jeffreys' prior needs two observations or more that differ, else the posterior "
                f"is improper as well; got {n:g}."
            )
        return NormalGamma(self.prior_mean + n / kappa * shift, kappa, self.shape + 0.5 * n, rate)

    def _log_evidence(self, statistics: FullMoments, posterior: "NormalGamma") -> float:
        n, _, _ = moments_of(statistics)
        ratio = 0.5 * np.log(self.kappa / posterior.kappa)
        return float(_gamma_ratio(self, posterior) + ratio - 0.5 * n * _LOG_TWO_PI)

    def _improper(self) -> str:
        return "kappa and rate are 0" if self.kappa == 0.0 else ""


def moments_of(statistics: FullMoments, least: int = 0) -> tuple[float, float, float]:
    """Return number, mean and scatter of observations of one number; refuse fewer than `least`."""
    n = float(statistics.weight[0])
    if n < least:
        raise DataError("data has no rows, so that no likelihood has a maximum.")
    return n, float(statistics.mean[0, 0]), float(statistics.scatter[0, 0, 0])


def _gamma_ratio(prior: Any, posterior: Any) -> float:
    """Return the logarithm of the ratio of the normalisers of two gamma densities."""
    return float(
        gammaln(posterior.shape)
        - gammaln(prior.shape)
        + prior.shape * np.log(prior.rate)
        - posterior.shape * np.log(posterior.rate)
    )


def _inverse(precision: Any) -> float:
    if not precision > 0:
        raise DataError(
            f"a precision of {precision:g} has no variance; it must be above 0. The likeliest one "
            'is 0 where shape is not above 1: take estimate="full", or more data.'
        )
    return 1.0 / float(precision)
