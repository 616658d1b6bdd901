"""The range of independent standard normal variables: the studentised range of infinite freedom."""

import numpy as np
from scipy import optimize, special

#: Points of the trapezoidal rule, whose error vanishes faster than any power of their distance
#: where a smooth integrand fades at both ends, as this one does far inside of them.
_POINTS = np.arange(-9.0, 14.0, 0.05)
_DENSITY = 0.05 * np.exp(-0.5 * _POINTS**2) / np.sqrt(2.0 * np.pi)
_SHARE_BELOW = special.ndtr(_POINTS)


def range_tail(q: np.ndarray | float, count: int) -> np.ndarray:
    r"""Return the chance that the range of some standard normal variables is above `q`.

    Parameters
    ----------
    q
        Ranges.
    count
        How many variables there are.

    Notes
    -----
    With the smallest variable at z, the others lie between z and z + q:
    :math:`P\{Q \le q\} = k \int \varphi(z) (\Phi(z) - \Phi(z - q))^{k-1} dz`, here with z the
    largest. The tail is the integral of the difference from :math:`\Phi(z)^{k-1}`, which keeps its
    digits however small it is.

    Examples
    --------
    >>> float(range_tail(3.314493, 3).round(6))
    0.05
    """
    excess = special.ndtr(_POINTS - np.asarray(q, dtype=np.float64)[..., None]) / _SHARE_BELOW
    # Of a range of zero all variables are the same, and nothing is left inside.
    with np.errstate(divide="ignore"):
        outside = -np.expm1((count - 1) * np.log1p(-np.minimum(excess, 1.0)))
    return count * (outside * (_SHARE_BELOW ** (count - 1) * _DENSITY)).sum(axis=-1)


def range_quantile(alpha: float, count: int) -> float:
    """Return the range that is exceeded with chance `alpha`.

    Parameters
    ----------
    alpha
        The chance, above 0 and below 1.
    count
        How many variables there are.

    Examples
    --------
    >>> round(range_quantile(0.05, 3), 4)
    3.3145
    """

    def difference(q: float) -> float:
        return float(np.log(range_tail(q, count)) - np.log(alpha))

    # Beyond the upper end tails are below the smallest level that anybody asks for.
    return float(optimize.brentq(difference, 1e-9, 26.0, xtol=1e-13))
