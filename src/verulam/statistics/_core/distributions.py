"""Tails and quantiles of the four distributions that tests use, from the special functions.

SciPy's frozen distributions say the same, but take longer to make than a whole test.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from verulam.statistics._core.checks import Vector


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
