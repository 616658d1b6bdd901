"""Kinds of arguments that functions of networks take."""

from typing import Any

import numpy as np

from verulam.base import WHOLE, Kind, array_of_numbers


def _n_dimensions(value: Any) -> int:
    """Return the dimensions of what makes an array, and 0 for all else."""
    if isinstance(value, str | dict | set):
        return 0
    try:
        return np.ndim(value)
    except ValueError:  # rows of unlike lengths
        return 0


def _are_whole(value: Any) -> bool:
    is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return is_list and all(WHOLE.accepts(number) for number in value)


def _has_layers(value: Any) -> bool:
    names = ("fit", "score", "size_report", "hidden_layer_sizes")
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


def _is_error(value: Any) -> bool:
    names = ("network", "value_and_gradient")
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


WHOLES = Kind("a list or tuple of whole numbers", _are_whole)
BY_LAYER = Kind(
    "a list with an array or None for each layer",
    lambda value: (
        isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    ),
)
#: Rows whose missing numbers the learner refuses, which can name their column.
ROWS = array_of_numbers(2, words="a table of numbers", finite=False, empty=True)
TARGETS = Kind(
    "a vector or a table of targets, one row for each row of X",
    lambda value: _n_dimensions(value) in (1, 2),
)
PAIR = Kind(
    "other rows and their targets, (X, y)",
    lambda value: (
        isinstance(value, tuple | list)
        and len(value) == 2
        and ROWS.accepts(value[0])
        and TARGETS.accepts(value[1])
    ),
)
PERCEPTRON = Kind("a perceptron such as `MLPClassifier` or `MLPRegressor`", _has_layers)
LAYERED_ERROR = Kind("a `TrainingError` or a `SequenceError`", _is_error)
