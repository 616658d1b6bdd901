"""Gaussian observations of vectors: mean unknown, or mean and covariance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from scipy.special import multigammaln

from verulam.base import DataError, Seed, generator
from verulam.bayes._families.conjugate import OfMoments, as_table
from verulam.bayes._families.distributions import Distribution, check_positive
from verulam.bayes._families.gaussian import GaussianParameters
from verulam.bayes._families.multivariate import (
    InverseWishart,
    MultivariateNormal,
    MultivariateT,
    Wishart,
    as_definite,
    check_freedom,
)
from verulam.numerics import FullMoments

_LOG_TWO_PI = float(np.log(2.0 * np.pi))


class _OfVectors(OfMoments):
    """A family of observations with several columns."""

    prior_mean: np.ndarray

    def _width(self) -> int:
        return len(self.prior_mean)

    def _rows(self, data: Any) -> np.ndarray:
        rows = as_table(data, "data")
        if rows.size == 0:
            return np.empty((0, self._width()))
        if rows.ndim != 2 or rows.shape[1] != self._width():
            raise DataError(
                f"data must be a table with the {self._width()} columns of prior_mean; got shape "
                f"{rows.shape}."
            )
        return rows

    def _observations(self, rows: np.ndarray) -> np.ndarray:
        return rows

    def _store_mean(self) -> None:
        mean = as_table(self.prior_mean, "prior_mean")
        if mean.ndim != 1:
            raise DataError(f"prior_mean must be a vector; got shape {mean.shape}.")
        object.__setattr__(self, "prior_mean", mean)


@dataclass(frozen=True, eq=False)
class GaussianMeanVector(_OfVectors):
    r"""The mean vector of a Gaussian whose covariance is known, with a Gaussian prior.

    Attributes
    ----------
    prior_mean : ndarray of shape (n_columns,)
        Prior mean :math:`\mu_0`.
    prior_covariance : ndarray of shape (n_columns, n_columns)
        Prior covariance :math:`\Sigma_0`.
    noise_covariance : ndarray of shape (n_columns, n_columns)
        Covariance :math:`\Sigma` of the observations.

    Notes
    -----
    .. math:: \Sigma_N^{-1} = \Sigma_0^{-1} + N \Sigma^{-1}, \qquad
        \mu_N = \Sigma_N (\Sigma_0^{-1} \mu_0 + N \Sigma^{-1} m)

    See Alpaydin 16.3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import GaussianMeanVector
    >>> prior = GaussianMeanVector([0.0, 0.0], np.eye(2), np.eye(2))
    >>> prior.posterior([[1.0, 2.0], [3.0, 4.0]]).mean
    array([1.33333333, 2.        ])
    """

    prior_mean: np.ndarray
    prior_covariance: np.ndarray
    noise_covariance: np.ndarray

    def __post_init__(self) -> None:
        self._store_mean()
        for name in ("prior_covariance", "noise_covariance"):
            matrix = as_definite(getattr(self, name), name, self._width())
            object.__setattr__(self, name, matrix)

    @property
    def distribution(self) -> MultivariateNormal:
        """The Gaussian distribution of the mean."""
        return MultivariateNormal(self.prior_mean, self.prior_covariance)

    @property
    def predictive(self) -> MultivariateNormal:
        """The distribution of the next observation."""
        return MultivariateNormal(self.prior_mean, self.prior_covariance + self.noise_covariance)

    def at(self, parameter: ArrayLike) -> MultivariateNormal:
        """Return the distribution of one observation for a mean."""
        return MultivariateNormal(np.asarray(parameter), self.noise_covariance)

    def maximum_likelihood(self, data: Any) -> np.ndarray:
        """Return the mean of the data."""
        statistics = self.statistics(data)
        if not statistics.weight[0]:
            raise DataError("data has no rows, so that no likelihood has a maximum.")
        return np.asarray(statistics.mean[0])

    def _updated(self, statistics: FullMoments) -> "GaussianMeanVector":
        n = float(statistics.weight[0])
        if n == 0.0:
            return self
        # In the form of Kalman's gain no inverse of a covariance is needed.
        total = self.prior_covariance + self.noise_covariance / n
        gain = cho_solve(cho_factor(total), self.prior_covariance).T
        covariance = gain @ self.noise_covariance / n
        return GaussianMeanVector(
            self.prior_mean + gain @ (statistics.mean[0] - self.prior_mean),
            0.5 * (covariance + covariance.T),
            self.noise_covariance,
        )

    def _log_evidence(self, statistics: FullMoments, posterior: "GaussianMeanVector") -> float:
        n, d = float(statistics.weight[0]), self._width()
        if n == 0.0:
            return 0.0
        noise = cho_factor(self.noise_covariance)
        scatter = float(np.trace(cho_solve(noise, statistics.scatter[0])))
        log_noise = 2.0 * float(np.log(np.diagonal(noise[0])).sum())
        of_mean = MultivariateNormal(
            self.prior_mean, self.prior_covariance + self.noise_covariance / n
        ).log_density(statistics.mean[0])
        # Density of the mean of the data, and of their deviations from it.
        rest = (n - 1) * (d * _LOG_TWO_PI + log_noise) + d * np.log(n) + scatter
        return float(of_mean - 0.5 * rest)


@dataclass(frozen=True, eq=False)
class NormalWishart(_OfVectors, Distribution):
    r"""Mean and precision matrix of a Gaussian, both unknown, with a normal-Wishart prior.

    Attributes
    ----------
    prior_mean : ndarray of shape (n_columns,)
        Prior mean :math:`\mu_0`.
    kappa
        Imaginary observations :math:`\kappa_0` behind the mean.
    df
        Degrees of freedom :math:`\nu_0` of the Wishart prior.
    scatter : ndarray of shape (n_columns, n_columns)
        Inverse :math:`V_0^{-1}` of its scale matrix: a prior scatter.

    Notes
    -----
    :math:`p(\mu, \Lambda) = \mathcal N(\mu \mid \mu_0, (\kappa_0 \Lambda)^{-1})\,
    \mathrm{Wishart}(\Lambda \mid \nu_0, V_0)`. With mean :math:`m` and scatter :math:`C` of the
    data about it,

    .. math:: \kappa_N = \kappa_0 + N, \quad \mu_N = \frac{\kappa_0 \mu_0 + N m}{\kappa_N}, \quad
        \nu_N = \nu_0 + N, \quad
        V_N^{-1} = V_0^{-1} + C + \frac{\kappa_0 N}{\kappa_N} (m - \mu_0)(m - \mu_0)^T

    The next observation has Student's t with :math:`\nu_N - d + 1` degrees of freedom about
    :math:`\mu_N`, with the squared scale :math:`\frac{\kappa_N + 1}{\kappa_N (\nu_N - d + 1)}
    V_N^{-1}`. See Alpaydin 16.3.3 (16.15-16.18).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import NormalWishart
    >>> prior = NormalWishart([0.0, 0.0], kappa=1.0, df=2.0, scatter=np.eye(2))
    >>> posterior = prior.posterior([[1.0, 0.0], [2.0, 1.0]])
    >>> posterior.prior_mean.round(4), posterior.df
    (array([1.    , 0.3333]), 4.0)
    >>> posterior.scatter.round(4)
    array([[3.    , 1.    ],
           [1.    , 1.6667]])
    """

    prior_mean: np.ndarray
    kappa: float
    df: float
    scatter: np.ndarray

    def __post_init__(self) -> None:
        self._store_mean()
        check_positive(self, "kappa")
        check_freedom(self.df, self._width(), "NormalWishart")
        scatter = as_definite(self.scatter, "scatter of NormalWishart", self._width())
        object.__setattr__(self, "scatter", scatter)

    @classmethod
    def from_covariance(
        cls, prior_mean: ArrayLike, kappa: float, df: float, covariance: ArrayLike
    ) -> "NormalWishart":
        """Return the prior whose expected precision is the inverse of a covariance."""
        return cls(np.asarray(prior_mean), kappa, df, df * np.asarray(covariance))

    @property
    def distribution(self) -> "NormalWishart":
        """The joint distribution of mean and precision: this one."""
        return self

    @property
    def precision_distribution(self) -> Wishart:
        """The Wishart distribution of the precision matrix."""
        return Wishart(self.df, np.linalg.inv(self.scatter))

    @property
    def covariance_distribution(self) -> InverseWishart:
        """The inverse Wishart distribution of the covariance matrix."""
        return InverseWishart(self.df, self.scatter)

    @property
    def predictive(self) -> MultivariateT:
        """The distribution of the next observation."""
        freedom = self.df - self._width() + 1.0
        factor = (self.kappa + 1.0) / (self.kappa * freedom)
        return MultivariateT(freedom, self.prior_mean, factor * self.scatter)

    def at(self, parameter: GaussianParameters) -> MultivariateNormal:
        """Return the distribution of one observation for a mean and a precision matrix."""
        return MultivariateNormal(parameter.mean, np.linalg.inv(parameter.precision))

    def maximum_likelihood(self, data: Any) -> GaussianParameters:
        """Return the mean of the data and the inverse of their covariance."""
        statistics = self.statistics(data)
        n = float(statistics.weight[0])
        if not n:
            raise DataError("data has no rows, so that no likelihood has a maximum.")
        covariance = as_definite(statistics.scatter[0] / n, "the covariance of the data")
        return GaussianParameters(statistics.mean[0], np.linalg.inv(covariance))

    def log_density(self, parameter: Any) -> np.ndarray:
        """Return the log-density of a mean and a precision matrix, or of a list of them."""
        if isinstance(parameter, list):
            return np.array([self.log_density(one) for one in parameter])
        covariance = np.linalg.inv(self.kappa * np.asarray(parameter.precision))
        of_mean = MultivariateNormal(self.prior_mean, covariance).log_density(parameter.mean)
        return np.asarray(of_mean + self.precision_distribution.log_density(parameter.precision))

    def sample(self, n: int = 1, random_state: Seed = None) -> list[GaussianParameters]:
        """Return `n` draws of mean and precision matrix."""
        rng = generator(random_state)
        precisions = self.precision_distribution.sample(n, rng)
        noise = rng.standard_normal((n, self._width(), 1))
        roots = np.linalg.cholesky(self.kappa * precisions)
        # With precision L L^T, L^-T times white noise has its inverse as covariance.
        moves = np.linalg.solve(roots.transpose(0, 2, 1), noise)[:, :, 0]
        means = self.prior_mean + moves
        return [GaussianParameters(*pair) for pair in zip(means, precisions, strict=True)]

    @property
    def mean(self) -> GaussianParameters:
        """Expected mean and precision matrix."""
        return GaussianParameters(self.prior_mean, self.precision_distribution.mean)

    @property
    def mode(self) -> GaussianParameters:
        """The likeliest mean and precision matrix together."""
        # (nu - d) V; the mode of the covariance is another one, V^-1 / (nu + d + 2).
        precision = (self.df - self._width()) * np.linalg.inv(self.scatter)
        return GaussianParameters(self.prior_mean, precision)

    @property
    def covariance_mode(self) -> np.ndarray:
        """The likeliest covariance, where the density is that of mean and covariance."""
        return self.scatter / (self.df + self._width() + 2.0)

    def _updated(self, statistics: FullMoments) -> "NormalWishart":
        n = float(statistics.weight[0])
        if n == 0.0:
            return self
        kappa = self.kappa + n
        shift = statistics.mean[0] - self.prior_mean
        scatter = statistics.scatter[0] + self.kappa * n / kappa * np.outer(shift, shift)
        return NormalWishart(
            self.prior_mean + n / kappa * shift, kappa, self.df + n, self.scatter + scatter
        )

    def _log_evidence(self, statistics: FullMoments, posterior: "NormalWishart") -> float:
        n, d = float(statistics.weight[0]), self._width()
        before, after = (float(np.linalg.slogdet(one.scatter)[1]) for one in (self, posterior))
        return float(
            multigammaln(0.5 * posterior.df, d)
            - multigammaln(0.5 * self.df, d)
            + 0.5 * (self.df * before - posterior.df * after)
            + 0.5 * d * np.log(self.kappa / posterior.kappa)
            - 0.5 * n * d * np.log(np.pi)
        )
