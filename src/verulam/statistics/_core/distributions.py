"""Tails and quantiles of the distributions of test statistics, from the special functions.

SciPy's frozen distributions say the same, but take longer to make than a whole test.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from verulam.statistics._core.checks import Vector

#: Number of values of the estimated standard error that are averaged over.
N_ERRORS = 64
#: Places of the largest mean so far, in standard errors; beyond them nothing happens.
PLACES = np.linspace(-8.5, 8.5, 1701)


@dataclass(frozen=True)
class Normal:
    """The unit normal distribution."""

    def cdf(self, value: Any) -> Vector:
        """Return the probability of a smaller value."""
        return special.ndtr(value)

    def sf(self, value: Any) -> Vector:
        """Return the probability of a larger value."""
        return special.ndtr(np.negative(value))

    def isf(self, share: Any) -> Vector:
        """Return the value that is exceeded with a probability."""
        return -special.ndtri(share)


@dataclass(frozen=True)
class Student:
    """The t distribution."""

    freedom: float

    def cdf(self, value: Any) -> Vector:
        """Return the probability of a smaller value."""
        return special.stdtr(self.freedom, value)

    def sf(self, value: Any) -> Vector:
        """Return the probability of a larger value."""
        return special.stdtr(self.freedom, np.negative(value))

    def isf(self, share: Any) -> Vector:
        """Return the value that is exceeded with a probability."""
        return -special.stdtrit(self.freedom, share)


@dataclass(frozen=True)
class Fisher:
    """The F distribution."""

    numerator: float
    denominator: float

    def cdf(self, value: Any) -> Vector:
        """Return the probability of a smaller value."""
        return special.fdtr(self.numerator, self.denominator, value)

    def sf(self, value: Any) -> Vector:
        """Return the probability of a larger value."""
        return special.fdtrc(self.numerator, self.denominator, value)

    def isf(self, share: Any) -> Vector:
        """Return the value that is exceeded with a probability."""
        return special.fdtri(self.numerator, self.denominator, np.subtract(1.0, share))


@dataclass(frozen=True)
class ChiSquare:
    """The chi-square distribution."""

    freedom: float

    def sf(self, value: Any) -> Vector:
        """Return the probability of a larger value."""
        return special.chdtrc(self.freedom, value)

    def isf(self, share: Any) -> Vector:
        """Return the value that is exceeded with a probability."""
        return special.chdtri(self.freedom, share)


NORMAL = Normal()


@dataclass(frozen=True)
class OrderedRange:
    r"""Distribution of the largest fall from an earlier to a later one of several means.

    Parameters
    ----------
    count
        Number of means.
    freedom
        Degrees of freedom of their estimated standard error.

    Notes
    -----
    For unit normal :math:`x_1, \dots, x_L` and an independent estimate s of their spread this is
    :math:`\max_{i<j} (x_i - x_j) / s` [hayter1990]_. No fall exceeds h if every value is at most h
    below the largest one before it, so that the density of the largest so far follows step by
    step: :math:`g_j(m) = g_{j-1}(m) [\Phi(m) - \Phi(m - h)] + \varphi(m) G_{j-1}(m)`.

    References
    ----------
    .. [hayter1990] A. J. Hayter, "A one-sided studentized range test for testing against a simple
       ordered alternative", Journal of the American Statistical Association 85, 1990.
    """

    count: int
    freedom: float

    def sf(self, fall: ArrayLike) -> Vector:
        """Return the probability of a larger fall."""
        # The standard error is estimated: average over its distribution, which is independent of
        # the means.
        errors, weights = error_points(self.freedom)
        tails = [
            weights @ exceeding(value * errors, self.count)
            for value in np.atleast_1d(np.asarray(fall, dtype=np.float64))
        ]
        return np.clip(tails, 0.0, 1.0).reshape(np.shape(fall))

    def isf(self, share: float) -> float:
        """Return the fall that is exceeded with a probability."""
        # Brackets the root: the tail falls with the distance, and few degrees of freedom need far
        # more than 20.
        largest = 20.0
        while self.sf(largest) > share:
            largest *= 4.0
        return float(optimize.brentq(lambda fall: float(self.sf(fall)) - share, -largest, largest))


def error_points(freedom: float) -> tuple[Vector, Vector]:
    """Return values of the estimated standard error of a unit normal, and their weights."""
    # s^2 is chi-square over its degrees of freedom; beyond these limits it has no weight that
    # counts.
    low, high = np.sqrt(special.chdtri(freedom, [1 - 1e-13, 1e-13]) / freedom)
    nodes, weights = np.polynomial.legendre.leggauss(N_ERRORS)
    errors = low + (high - low) * (nodes + 1) / 2
    half = freedom / 2
    log_density = half * np.log(half) - special.gammaln(half) + np.log(2.0)
    density = np.exp(log_density + (freedom - 1) * np.log(errors) - half * errors**2)
    chances = weights * density
    return errors, chances / chances.sum()


def exceeding(falls: Vector, count: int) -> Vector:
    """Return for each fall the probability that `count` unit normals have a larger one."""
    step = PLACES[1] - PLACES[0]
    density = np.exp(-0.5 * PLACES**2) / np.sqrt(2 * np.pi)
    distribution = special.ndtr(PLACES)
    shifts = falls[:, np.newaxis]
    between = np.maximum(distribution - special.ndtr(PLACES - shifts), 0.0)
    largest = np.tile(density, (len(falls), 1))
    for _ in range(count - 1):
        # The integral up to a point holds only half of the cell around it.
        reached = np.cumsum(largest, axis=1) * step - largest * step / 2
        for place in np.flatnonzero(falls < 0):
            # A fall below zero asks every value to rise by more than that.
            reached[place] = np.interp(PLACES + falls[place], PLACES, reached[place])
        # Either the largest so far stays, with the new value within the fall below it, or the new
        # value is the largest.
        largest = largest * between + density * reached
    return 1.0 - largest.sum(axis=1) * step
