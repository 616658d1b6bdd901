"""Confidence bands of linear smoothers: at each point, along a curve, or at some rows at once."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from scipy.stats import t as student

from verulam.base import DataError, Seed, generator, unknown_name

Coverage = Literal["pointwise", "curve", "rows"]
COVERAGES = ("pointwise", "curve", "rows")

Weights = Callable[[np.ndarray], np.ndarray]

#: Weights, or draws of noise, held at a time. Not for speed alone: draws of a block share a seed,
#: so that another size draws other noise.
BLOCK_NUMBERS = 2**22
#: Points along a curve at first, and at most, when the length of its path is measured.
FIRST_POINTS, MOST_POINTS = 129, 4097
#: The path is measured again with twice the points until its length grows by less than this.
SETTLED = 0.01
#: Samples of noise from which the joint limits at some rows are read.
N_DRAWS = 5_000


@dataclass(frozen=True)
class Band:
    """A smooth with confidence limits.

    Attributes
    ----------
    values
        The smooth.
    lower, upper
        Confidence limits of the smooth at each point.
    standard_errors
        Standard error of each value.
    noise
        Estimated standard deviation of the targets around the curve.
    degrees_of_freedom
        Of the estimate of the noise.
    factor
        Standard errors from the smooth to a limit.
    coverage
        What the limits enclose at the level asked for: the smooth at each point for itself
        ("pointwise"), the whole "curve", or the smooth at all "rows" at once.
    """

    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    standard_errors: np.ndarray
    noise: float
    degrees_of_freedom: float
    factor: float
    coverage: Coverage

    @classmethod
    def around(
        cls,
        values: np.ndarray,
        standard_errors: np.ndarray,
        noise: float,
        degrees: float,
        factor: float,
        coverage: Coverage,
    ) -> "Band":
        """Return limits that lie a factor of standard errors from the values."""
        reach = factor * standard_errors
        lower, upper = values - reach, values + reach
        return cls(values, lower, upper, standard_errors, noise, degrees, factor, coverage)


def check_band(level: Any, coverage: str) -> None:
    """Raise where a level is no probability, or a coverage is unknown."""
    if not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise ValueError(f"level must be between 0 and 1, but got {level!r}.")
    if coverage not in COVERAGES:
        raise unknown_name("coverage", coverage, COVERAGES)


def estimate_noise(
    mean_square: float, n_rows: int, effective_degrees: float, squares: float
) -> tuple[float, float]:
    """Return the standard deviation of the targets around a smooth, and its degrees of freedom.

    Parameters
    ----------
    mean_square
        Mean squared residual.
    n_rows
        Number of residuals.
    effective_degrees
        Sum of the weights of targets in their own fitted values.
    squares
        Sum of the squares of all weights.
    """
    degrees = n_rows - 2.0 * effective_degrees + squares
    if degrees < 1e-6:
        raise DataError(
            "The smooth follows every point, which leaves nothing to estimate the noise from; "
            "smooth more (a larger bandwidth, span, number of neighbours or penalty)."
        )
    return float(np.sqrt(mean_square * n_rows / degrees)), float(degrees)


def band_factor(
    weights: Weights,
    inputs: np.ndarray,
    queries: np.ndarray,
    *,
    level: float,
    coverage: Coverage,
    degrees: float,
    random_state: Seed,
) -> float:
    """Return how many standard errors the limits lie from the smooth.

    Parameters
    ----------
    weights
        Maps some inputs to the weights of all targets in the smooth there.
    inputs
        Training inputs.
    queries
        Where the band is asked for.
    level
        Probability of the limits.
    coverage
        What they enclose.
    degrees
        Degrees of freedom of the estimate of the noise.
    random_state
        Seed of the draws for "rows".
    """
    if coverage == "pointwise":
        return float(student.ppf(0.5 + 0.5 * level, degrees))
    if coverage == "rows":
        return joint_factor(weights, queries, level, degrees, random_state)
    if inputs.shape[1] != 1:
        raise DataError(
            f"coverage='curve' needs one input; X has {inputs.shape[1]} columns. "
            "Use coverage='rows', for the rows that you ask for."
        )
    ends = np.concatenate([inputs, queries])
    return tube_factor(path_length(weights, ends.min(), ends.max()), level, degrees)


def tube_factor(length: float, level: float, degrees: float) -> float:
    r"""Return the factor of a band around a whole curve, by the volume of a tube.

    The chance that a curve leaves the band :math:`\pm c` standard errors wide is at most

    .. math:: \frac{\kappa}{\pi} \left(1 + \frac{c^2}{\nu}\right)^{-\nu/2} + P(|t_\nu| > c)

    with :math:`\kappa` the length of the path of :math:`l(x) / \|l(x)\|`.

    Examples
    --------
    A path of no length is a single point:

    >>> round(tube_factor(0.0, 0.95, 1e6), 2), round(tube_factor(20.0, 0.95, 1e6), 2)
    (1.96, 3.13)
    """

    def excess(factor: float) -> float:
        tube = length / np.pi * np.exp(-0.5 * degrees * np.log1p(factor**2 / degrees))
        return float(tube + 2.0 * student.sf(factor, degrees) - (1.0 - level))

    high = 4.0
    while excess(high) > 0.0:
        high *= 2.0
    return float(brentq(excess, 0.0, high))


def path_length(weights: Weights, low: float, high: float) -> float:
    """Return the length of the path that normalised weights describe from one end to the other."""
    if low == high:
        return 0.0
    # Chords cut corners: with more points the length grows until they follow the path.
    points, length = FIRST_POINTS, _polygon_length(weights, low, high, FIRST_POINTS)
    while points < MOST_POINTS:
        points, before = 2 * points - 1, length
        length = _polygon_length(weights, low, high, points)
        if length <= (1.0 + SETTLED) * before:
            break
    return length


def _polygon_length(weights: Weights, low: float, high: float, n_points: int) -> float:
    grid = np.linspace(low, high, n_points)[:, None]
    step = max(1, BLOCK_NUMBERS // weights(grid[:1]).shape[1])
    total, last = 0.0, np.empty((0, 0))
    for start in range(0, n_points, step):
        units = _unit_rows(weights(grid[start : start + step]))
        path = np.concatenate([last, units]) if start else units
        chords = np.linalg.norm(np.diff(path, axis=0), axis=1)
        # Along the sphere, not through it.
        total += float(2.0 * np.arcsin(np.minimum(0.5 * chords, 1.0)).sum())
        last = units[-1:]
    return total


def joint_factor(
    weights: Weights, queries: np.ndarray, level: float, degrees: float, random_state: Seed
) -> float:
    """Return the factor of a band that holds at all queries at once, from draws of noise."""
    chance = generator(random_state)
    seeds = chance.integers(2**63, size=N_DRAWS)
    scales = np.sqrt(chance.chisquare(degrees, size=N_DRAWS) / degrees)
    n_targets = weights(queries[:1]).shape[1]
    rows_at_once = max(1, BLOCK_NUMBERS // n_targets)
    draws_at_once = max(1, BLOCK_NUMBERS // max(n_targets, min(rows_at_once, len(queries))))
    largest = np.zeros(N_DRAWS)
    for start in range(0, len(queries), rows_at_once):
        units = _unit_rows(weights(queries[start : start + rows_at_once]))
        for first in range(0, N_DRAWS, draws_at_once):
            block = slice(first, first + draws_at_once)
            # The same noise for every block of rows, from the same seed.
            count = len(largest[block])
            noise = np.random.default_rng(seeds[first]).normal(size=(n_targets, count))
            largest[block] = np.maximum(largest[block], np.abs(units @ noise).max(axis=0))
    return float(np.quantile(largest / scales, level))


def _unit_rows(weights: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(weights, axis=1, keepdims=True)
    return weights / np.where(norms > 0, norms, 1.0)
