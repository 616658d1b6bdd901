"""The losses that machines minimise, beside those of other learners."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from verulam.numerics import sigmoid


def hinge_loss(margins: ArrayLike) -> np.ndarray:
    r"""Return :math:`\max(0, 1 - r g)` of signed outputs :math:`r g`.

    Examples
    --------
    >>> from verulam.kernel import hinge_loss
    >>> hinge_loss([2.0, 1.0, 0.5, -1.0])
    array([0. , 0. , 0.5, 2. ])
    """
    return np.maximum(0.0, 1.0 - np.asarray(margins, dtype=np.float64))


def insensitive_loss(residuals: ArrayLike, epsilon: float, *, squared: bool = False) -> np.ndarray:
    r"""Return :math:`\max(0, |r - f| - \epsilon)` of residuals :math:`r - f`, or its square.

    Parameters
    ----------
    residuals
        What the function lacks, :math:`r - f`.
    epsilon
        Residuals up to this size cost nothing. With zero the loss is the absolute error, or the
        quadratic one where `squared`.
    squared
        Whether the excess is squared.

    Examples
    --------
    >>> from verulam.kernel import insensitive_loss
    >>> insensitive_loss([0.1, -0.5, 2.0], 0.25)
    array([0.  , 0.25, 1.75])
    >>> insensitive_loss([0.1, -0.5, 2.0], 0.25, squared=True)
    array([0.    , 0.0625, 3.0625])
    """
    excess = np.maximum(0.0, np.abs(np.asarray(residuals, dtype=np.float64)) - epsilon)
    return excess**2 if squared else excess


def insensitive_subgradient(
    residuals: ArrayLike, epsilon: float, *, squared: bool = False
) -> np.ndarray:
    r"""Return a slope of `insensitive_loss` with respect to the residual.

    On the walls of the tube, where anything between the slopes on both sides would do, it is zero.

    Parameters
    ----------
    residuals
        What the function lacks, :math:`r - f`.
    epsilon
        Residuals up to this size cost nothing.
    squared
        Whether the excess is squared.

    Examples
    --------
    >>> from verulam.kernel import insensitive_subgradient
    >>> insensitive_subgradient([0.1, -0.5, 2.0], 0.25)
    array([ 0., -1.,  1.])
    """
    differences = np.asarray(residuals, dtype=np.float64)
    excess = np.maximum(0.0, np.abs(differences) - epsilon)
    return np.sign(differences) * (2.0 * excess if squared else excess > 0.0)


def _zero_one(margins: ArrayLike) -> np.ndarray:
    return (np.asarray(margins, dtype=np.float64) <= 0).astype(np.float64)


def _squared(margins: ArrayLike) -> np.ndarray:
    return (1.0 - np.asarray(margins, dtype=np.float64)) ** 2


def _squared_hinge(margins: ArrayLike) -> np.ndarray:
    return hinge_loss(margins) ** 2


def _cross_entropy(margins: ArrayLike) -> np.ndarray:
    # Falling in the margin; the sign printed in Alpaydin's figure 13.3 would make it rise.
    return np.logaddexp(0.0, -np.asarray(margins, dtype=np.float64))


#: Losses of a signed output by name: Alpaydin 13.3, figure 13.3.
MARGIN_LOSSES: dict[str, Callable[[ArrayLike], np.ndarray]] = {
    "zero-one": _zero_one,
    "hinge": hinge_loss,
    "squared hinge": _squared_hinge,
    "squared": _squared,
    "cross-entropy": _cross_entropy,
}


def _hinge_subgradient(margins: ArrayLike) -> np.ndarray:
    return -(np.asarray(margins, dtype=np.float64) < 1.0).astype(np.float64)


def _squared_hinge_subgradient(margins: ArrayLike) -> np.ndarray:
    return -2.0 * hinge_loss(margins)


def _squared_subgradient(margins: ArrayLike) -> np.ndarray:
    return 2.0 * (np.asarray(margins, dtype=np.float64) - 1.0)


def _cross_entropy_subgradient(margins: ArrayLike) -> np.ndarray:
    return -sigmoid(-np.asarray(margins, dtype=np.float64))


#: Slopes of the convex ones with respect to the signed output; zero at the hinge itself, where any
#: number from -1 to 0 would do. The zero-one loss has none to follow: it is flat, with a step.
MARGIN_SUBGRADIENTS: dict[str, Callable[[ArrayLike], np.ndarray]] = {
    "hinge": _hinge_subgradient,
    "squared hinge": _squared_hinge_subgradient,
    "squared": _squared_subgradient,
    "cross-entropy": _cross_entropy_subgradient,
}
