"""Predictions that are distributions: their means, error bars, intervals and log-densities."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp, ndtr, ndtri, stdtr, stdtrit

from verulam.base import DataError, Regressor
from verulam.bayes._sampling.chains import check_level

#: Halvings of an interval in which the quantile of a mixture lies: to double precision.
_HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Intervals:
    """An interval for the target of each row.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_samples,)
        Ends of the intervals.
    level
        Probability with which a target lies between them, if the model is right.
    """

    lower: np.ndarray
    upper: np.ndarray
    level: float

    def covers(self, y: ArrayLike) -> np.ndarray:
        """Return for each target whether its interval contains it."""
        targets = np.asarray(y, dtype=np.float64)
        if targets.shape != self.lower.shape:
            raise DataError(
                f"y must have a target for each of the {len(self.lower)} rows; got shape "
                f"{targets.shape}."
            )
        return (self.lower <= targets) & (targets <= self.upper)

    def coverage(self, y: ArrayLike) -> float:
        """Return the share of targets that lie in their intervals."""
        return float(self.covers(y).mean())


@dataclass(frozen=True, eq=False)
class Predictions:
    r"""The distribution of the target of each row: Gaussian, Student's t, or a mixture of them.

    Attributes
    ----------
    locations : ndarray of shape (n_components, n_samples)
        Centre of each component.
    scales : ndarray of shape (n_components, n_samples)
        Its scale: the standard deviation of a Gaussian.
    df : ndarray of shape (n_components,)
        Degrees of freedom; infinite for Gaussians.
    weights : ndarray of shape (n_components,)
        Probability of each component; a single 1 unless models were averaged.
    """

    locations: np.ndarray
    scales: np.ndarray
    df: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, mean: np.ndarray, variance: np.ndarray, df: float = np.inf) -> "Predictions":
        """Return predictions of one component with squared scales `variance`."""
        return cls(mean[None], np.sqrt(variance)[None], np.array([df]), np.ones(1))

    @property
    def mean(self) -> np.ndarray:
        """Expected target of each row."""
        return self.weights @ self.locations

    @property
    def variance(self) -> np.ndarray:
        """Variance of each target: mean of the variances and variance of the means."""
        with np.errstate(invalid="ignore", divide="ignore"):
            factors = np.where(np.isinf(self.df), 1.0, self.df / (self.df - 2.0))
        factors = np.where(self.df > 2.0, factors, np.inf)
        within = self.weights @ (factors[:, None] * self.scales**2)
        return within + self.weights @ (self.locations - self.mean) ** 2

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each target."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> Intervals:
        """Return the middle share `level` of each distribution.

        Parameters
        ----------
        level
            Probability between the two ends.
        """
        check_level(level)
        tail = 0.5 * (1.0 - level)
        return Intervals(self.quantile(tail), self.quantile(1.0 - tail), float(level))

    def quantile(self, share: float) -> np.ndarray:
        """Return for each row the number below which the target lies with probability `share`."""
        ends = self.locations + self._standard_quantiles(share)[:, None] * self.scales
        lower, upper = ends.min(axis=0), ends.max(axis=0)
        if len(self.weights) == 1:
            return lower
        # The quantile of a mixture lies between those of its components.
        for _ in range(_HALVINGS):
            middle = 0.5 * (lower + upper)
            low = self.cumulative(middle) < share
            lower, upper = np.where(low, middle, lower), np.where(low, upper, middle)
        return 0.5 * (lower + upper)

    def cumulative(self, y: ArrayLike) -> np.ndarray:
        """Return for each row the probability of a target of at most `y`."""
        scores = (np.asarray(y, dtype=np.float64) - self.locations) / self.scales
        return self.weights @ np.array([_cumulative(df, z) for df, z in self._each(scores)])

    def log_density(self, y: ArrayLike) -> np.ndarray:
        """Return the log-density of a target of each row."""
        scores = (np.asarray(y, dtype=np.float64) - self.locations) / self.scales
        heights = np.array([_log_density(df, z) for df, z in self._each(scores)])
        parts = heights - np.log(self.scales)
        return np.asarray(logsumexp(parts, axis=0, b=self.weights[:, None]))

    def _standard_quantiles(self, share: float) -> np.ndarray:
        return np.array(
            [float(ndtri(share) if np.isinf(df) else stdtrit(df, share)) for df in self.df]
        )

    def _each(self, scores: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        return zip(self.df, scores, strict=True)


def _cumulative(df: float, scores: np.ndarray) -> np.ndarray:
    return np.asarray(ndtr(scores) if np.isinf(df) else stdtr(df, scores))


def _log_density(df: float, scores: np.ndarray) -> np.ndarray:
    """Return the log-density of Student's t, or of the standard normal distribution."""
    if np.isinf(df):
        return -0.5 * (np.log(2.0 * np.pi) + scores**2)
    constant = gammaln(0.5 * (df + 1.0)) - gammaln(0.5 * df) - 0.5 * np.log(df * np.pi)
    return np.asarray(constant - 0.5 * (df + 1.0) * np.log1p(scores**2 / df))


class PredictsDistributions(Regressor):
    """A regressor whose `predict_distribution` says how sure it is."""

    def predict_distribution(self, X: ArrayLike) -> Predictions:
        """Return the distribution of the target of each row."""
        raise NotImplementedError

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Return the expected target of each row, and its standard deviation if asked for.

        Parameters
        ----------
        X
            Rows.
        return_std
            Whether to return standard deviations as well, as scikit-learn's Bayesian regressors do.
        """
        if not return_std:
            return self._predict_mean(X)
        predictions = self.predict_distribution(X)
        return predictions.mean, predictions.std

    def predict_interval(self, X: ArrayLike, level: float = 0.95) -> Intervals:
        """Return an interval for the target of each row.

        Parameters
        ----------
        X
            Rows.
        level
            Probability with which a target lies in its interval, if the model is right.
        """
        check_level(level)
        return self.predict_distribution(X).interval(level)

    def _predict_mean(self, X: ArrayLike) -> np.ndarray:
        return self.predict_distribution(X).mean
