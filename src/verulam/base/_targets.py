"""Targets as learners compute with them: codes of classes, or finite numbers."""

from typing import Any

import numpy as np
import pandas as pd

from verulam.base._errors import DataError
from verulam.base._protocol import check_classification_targets, column_or_1d

#: Up to this many labels are sorted, which for few is quicker than hashing.
FEW_LABELS = 5000


def encode_classes(learner: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the class code of each label, and the sorted labels."""
    if y is None:
        raise ValueError(
            f"{type(learner).__name__} requires y to be passed, but the target y is None."
        )
    plain = type(y) is np.ndarray and y.ndim == 1
    labels = y if plain or isinstance(getattr(y, "dtype", None), pd.CategoricalDtype) else None
    if labels is None:
        labels = column_or_1d(y, warn=True)
    if len(labels) == 0:
        raise ValueError("y has no rows: at least one label is required.")
    kind = getattr(labels.dtype, "kind", "O")
    if kind in "US" or (kind in "iub" and len(labels) <= FEW_LABELS):
        classes, codes = np.unique(labels, return_inverse=True)
    else:
        # Hashing beats the sort of np.unique several times over.
        codes, classes = _factorise(labels)
    # Whole numbers and strings are classes, whatever their values.
    if not (plain and kind in "iubUS"):
        _refuse_continuous(classes)
    return codes, classes


def numeric_targets(learner: Any, y: Any) -> np.ndarray:
    """Return the numbers to predict as float64, all finite."""
    if y is None:
        raise ValueError(
            f"{type(learner).__name__} requires y to be passed, but the target y is None."
        )
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iuf"
    targets = (
        y.astype(np.float64, copy=False) if plain else column_or_1d(y, warn=True, dtype=np.float64)
    )
    if not np.isfinite(targets).all():
        row = int(np.argmin(np.isfinite(targets)))
        raise DataError(f"Input y contains NaN or infinity, first at row {row}.")
    return targets


def _refuse_continuous(classes: np.ndarray) -> None:
    """Raise scikit-learn's error where labels are fractions; it needs to see only a few."""
    if classes.dtype.kind == "f":
        fractional = classes[classes % 1 != 0]
        classes = fractional if len(fractional) else classes
    check_classification_targets(classes[:20])


def _factorise(labels: Any) -> tuple[np.ndarray, np.ndarray]:
    codes, uniques = pd.factorize(labels, sort=False)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise DataError(f"Input y contains NaN: the label of row {row} is missing.")
    classes = np.asarray(uniques)
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise DataError("Input y contains infinity.")
    try:
        order = np.argsort(classes, kind="stable")
    except TypeError as error:
        raise DataError("y mixes labels that cannot be put in order; use one type.") from error
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places[codes], classes[order]
