"""Wrappers around another classifier: fitting it, its labels and columns, and scores."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.frozen import FrozenEstimator

from verulam.base import (
    DataError,
    check_weights,
    clone,
    column_or_1d,
    has_fit_parameter,
    refuse_duplicate_names,
)


def class_positions(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each label of `y` in `classes`."""
    labels = column_or_1d(y)
    positions = pd.Index(classes).get_indexer(pd.Index(labels))
    if (positions < 0).any():
        row = int(np.argmax(positions < 0))
        raise DataError(
            f"y contains {labels[row]!r} in row {row}, which is not one of the classes "
            f"{list(classes)}."
        )
    return positions


def fitted_clone(estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Any:
    """Return a fitted copy of `estimator`; weights are refused if it cannot use them."""
    if isinstance(X, pd.DataFrame):
        refuse_duplicate_names(X.columns)
    copy = clone(estimator)
    # A frozen learner is not taught again, so that weights are no concern of its own.
    if sample_weight is None or isinstance(estimator, FrozenEstimator):
        return copy.fit(X, y)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise DataError(
            f"sample_weight was given, but {type(estimator).__name__}.fit does not take it."
        )
    return copy.fit(X, y, sample_weight=sample_weight)


def adopt_features(learner: Any, part: Any) -> None:
    """Copy what the fitted `part` knows about the columns to the learner that wraps it."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(part, name):
            setattr(learner, name, getattr(part, name))


def refuse_single_class(classes: NDArray[Any]) -> None:
    """Raise if there is nothing to decide."""
    if len(classes) < 2:
        raise DataError(
            f"y has {len(classes)} class {classes.tolist()}: a decision needs two or more classes."
        )


def hit_rate(answers: NDArray[Any], y: ArrayLike, sample_weight: ArrayLike | None) -> float:
    """Return the share of answers that are the true class, whatever the kinds of labels."""
    hits = np.asarray(answers, dtype=object) == np.asarray(y, dtype=object)
    return weighted_mean(hits, sample_weight)


def weighted_mean(values: NDArray[Any], sample_weight: ArrayLike | None) -> float:
    """Return the mean of one value per row, by weight."""
    return float(np.average(values, weights=check_weights(sample_weight, values)))
