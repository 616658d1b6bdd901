"""Parameters that every support-vector machine has."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from verulam.base import DataError, Interval, StrOptions, check_weights
from verulam.kernel._kernels.space import KERNEL_OPTIONS

#: Constraints of the shared parameters.
SHARED_OPTIONS: dict[str, Any] = {
    "kernel": KERNEL_OPTIONS,
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
}
COST = [Interval(Real, 0, None, closed="neither")]
SHARE = [Interval(Real, 0, 1, closed="right")]
CLASS_WEIGHT: list[Any] = [StrOptions({"balanced"}), dict, None]


def row_weights(sample_weight: Any, inputs: np.ndarray) -> np.ndarray:
    """Return a weight for each row; one where none are given."""
    if sample_weight is None:
        return np.ones(len(inputs))
    weights = check_weights(sample_weight, np.empty((len(inputs), 1)))
    if weights is None or weights.sum() <= 0:
        raise DataError("sample_weight: all weights are zero; at least one must be above.")
    return weights
