"""The losses that machines minimise, beside those of other learners."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike


def hinge_loss(margins: ArrayLike) -> np.ndarray:
    r"""Return :math:`\max(0, 1 - r g)` of signed outputs :math:`r g`.

    Examples
    --------
    >>> from verulam.kernel import hinge_loss
    >>> hinge_loss([2.0, 1.0, 0.5, -1.0])
    array([0. , 0. , 0.5, 2. ])
    """
    return np.maximum(0.0, 1.0 - np.asarray(margins, dtype=np.float64))


def insensitive_loss(residuals: ArrayLike, epsilon: float) -> np.ndarray:
    r"""Return :math:`\max(0, |r - f| - \epsilon)` of residuals :math:`r - f`.

    Examples
    --------
    >>> from verulam.kernel import insensitive_loss
    >>> insensitive_loss([0.1, -0.5, 2.0], 0.25)
    array([0.  , 0.25, 1.75])
    """
    return np.maximum(0.0, np.abs(np.asarray(residuals, dtype=np.float64)) - epsilon)


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
