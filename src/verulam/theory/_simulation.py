"""Simulators: how often a learner fails its PAC promise, and what its error is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    FUNCTION,
    LEARNER,
    NUMBER,
    SEED,
    TABLE,
    WHOLE,
    DataError,
    Seed,
    checked_arguments,
    clone,
    generator,
)
from verulam.statistics import rate_interval

Sampler = Callable[[int, np.random.Generator], NDArray[np.float64]]
"""Draws so many rows."""


@dataclass(frozen=True, eq=False)
class LearningSimulation:
    """How far learned hypotheses were from a concept.

    Attributes
    ----------
    errors : ndarray of shape (n_repeats,)
        Error of the hypothesis of each repeat.
    error
        Error that was allowed.
    n_samples
        Examples in each repeat.
    failures
        Share of the repeats whose hypothesis had a larger error.
    interval
        95 % interval of that share.
    """

    errors: NDArray[np.float64]
    error: float
    n_samples: int
    failures: float
    interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.failures:.1%} of {len(self.errors)} hypotheses from {self.n_samples} examples "
            f"have an error above {self.error:g} (95 % interval {low:.1%} to {high:.1%})."
        )


@checked_arguments(
    learner=LEARNER,
    concept=FUNCTION,
    sampler=FUNCTION,
    n_samples=WHOLE,
    error=NUMBER,
    n_repeats=WHOLE,
    n_test=WHOLE,
    random_state=SEED,
)
def simulate_learning(
    learner: Any,
    concept: Callable[[NDArray[np.float64]], ArrayLike],
    sampler: Sampler,
    *,
    n_samples: int,
    error: float,
    n_repeats: int = 200,
    n_test: int = 10_000,
    random_state: Seed = 0,
) -> LearningSimulation:
    r"""Draw examples of a concept and learn from them, again and again.

    Parameters
    ----------
    learner
        A classifier; its hypotheses may hold the concept (proper learning) or not.
    concept
        Returns the true label of each row.
    sampler
        Draws rows: a function of their number and a random generator.
    n_samples
        Examples to learn from, m.
    error
        Error that is allowed, :math:`\varepsilon`.
    n_repeats
        How often to draw and learn.
    n_test
        Fresh rows that an error is measured on.
    random_state
        Seed.

    Notes
    -----
    A concept is PAC learnable if, for enough examples, the share of failures is at most
    :math:`\delta`, whatever the distribution of the rows. Examples of one class alone make a
    hypothesis that is constant. See SIT1305 I, "PAC learnability".

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.rule import BoxClassifier
    >>> from verulam.theory import box_bound, simulate_learning
    >>> inside = lambda X: ((X > 0.2) & (X < 0.8)).all(axis=1)
    >>> simulation = simulate_learning(
    ...     BoxClassifier(hypothesis="specific"), inside,
    ...     lambda count, random: random.random((count, 2)),
    ...     n_samples=box_bound(error=0.1, delta=0.05).n_samples, error=0.1, n_repeats=50,
    ... )
    >>> print(simulation)
    0.0% of 50 hypotheses from 174 examples have an error above 0.1 (95 % interval 0.0% to 7.1%).
    """
    _check_counts(n_samples=n_samples, n_repeats=n_repeats, n_test=n_test)
    if not 0.0 < error < 1.0:
        raise DataError(f"error must lie between 0 and 1, but is {error}.")
    random = generator(random_state)
    errors = np.empty(n_repeats)
    for repeat in range(n_repeats):
        X, fresh = sampler(n_samples, random), sampler(n_test, random)
        y, truth = np.asarray(concept(X)), np.asarray(concept(fresh))
        labels = np.unique(y)
        if len(labels) > 1:
            predicted = clone(learner).fit(X, y).predict(fresh)
        else:
            # Learners refuse a single class; the only hypothesis it suggests is that class.
            predicted = np.full(len(truth), labels[0])
        errors[repeat] = np.mean(predicted != truth)
    failures = int((errors > error).sum())
    limits = rate_interval(failures, n_repeats)
    interval = limits.low, limits.high
    return LearningSimulation(errors, error, n_samples, failures / n_repeats, interval)


@dataclass(frozen=True, eq=False)
class BiasVariance:
    """The expected squared error of a learner, taken apart at some points.

    Attributes
    ----------
    points : ndarray
        Rows at which the fits were compared.
    mean : ndarray
        Mean prediction at each point.
    bias : ndarray
        Difference of the mean prediction from the target at each point.
    variance : ndarray
        Variance of the predictions at each point.
    noise : float
        Variance of the observations about the target.
    fits : ndarray of shape (n_repeats, n_points)
        Every fit.
    """

    points: NDArray[np.float64]
    mean: NDArray[np.float64]
    bias: NDArray[np.float64]
    variance: NDArray[np.float64]
    noise: float
    fits: NDArray[np.float64]

    @property
    def squared_bias(self) -> float:
        """Mean over the points of the squared bias."""
        return float(np.mean(self.bias**2))

    @property
    def mean_variance(self) -> float:
        """Mean over the points of the variance."""
        return float(np.mean(self.variance))

    @property
    def error(self) -> float:
        """Expected squared error of a new observation."""
        return self.squared_bias + self.mean_variance + self.noise

    def to_frame(self) -> pd.DataFrame:
        """Return a row with squared bias, variance, noise and their sum."""
        parts = {
            "squared_bias": self.squared_bias,
            "variance": self.mean_variance,
            "noise": self.noise,
            "error": self.error,
        }
        return pd.DataFrame([parts])


@checked_arguments(
    learner=LEARNER,
    target=FUNCTION,
    sampler=FUNCTION,
    points=TABLE,
    noise=NUMBER,
    n_samples=WHOLE,
    n_repeats=WHOLE,
    random_state=SEED,
)
def bias_variance(
    learner: Any,
    target: Callable[[NDArray[np.float64]], ArrayLike],
    sampler: Sampler,
    points: ArrayLike,
    *,
    noise: float,
    n_samples: int,
    n_repeats: int = 200,
    random_state: Seed = 0,
) -> BiasVariance:
    r"""Fit a regression to many samples, and take its expected squared error apart.

    Parameters
    ----------
    learner
        A regression learner.
    target
        The true function of rows.
    sampler
        Draws rows: a function of their number and a random generator.
    points
        Rows at which to compare.
    noise
        Standard deviation of the observations about the target.
    n_samples
        Examples in each sample.
    n_repeats
        Number of samples.
    random_state
        Seed.

    Notes
    -----
    .. math:: E[(r - g(x))^2] = \sigma^2 + (E[g(x)] - f(x))^2 + \operatorname{Var}[g(x)]

    The variance has the number of repeats as its divisor, so that squared bias and variance add up
    to the mean squared distance of the fits from the target exactly. See SIT1305 I, "Noise and
    model complexity".

    Examples
    --------
    A straight line through noisy pieces of a sine has much bias and little variance:

    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from verulam.theory import bias_variance
    >>> parts = bias_variance(
    ...     LinearRegression(), lambda X: np.sin(6 * X[:, 0]),
    ...     lambda count, random: random.random((count, 1)),
    ...     np.linspace(0, 1, 50)[:, None], noise=0.3, n_samples=25,
    ... )
    >>> print(parts.to_frame().round(2).to_string(index=False))
     squared_bias  variance  noise  error
             0.19      0.02   0.09    0.3
    """
    _check_counts(n_samples=n_samples, n_repeats=n_repeats)
    if noise < 0.0 or not np.isfinite(noise):
        raise DataError(f"noise must not be negative, but is {noise}.")
    random = generator(random_state)
    places = np.asarray(points, dtype=np.float64)
    truth = np.asarray(target(places), dtype=np.float64)
    fits = np.empty((n_repeats, len(places)))
    for repeat in range(n_repeats):
        X = sampler(n_samples, random)
        y = np.asarray(target(X)) + noise * random.standard_normal(len(X))
        fits[repeat] = clone(learner).fit(X, y).predict(places)
    mean = fits.mean(axis=0)
    return BiasVariance(places, mean, mean - truth, fits.var(axis=0), noise**2, fits)


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise DataError(f"{name} must be at least 1, but is {count}.")
