"""Learning from rows that have weights or belong together, as far as a learner can use it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.utils.validation import has_fit_parameter

from verulam.base import whole_trainings

#: Parts in which words are replaced by the mean target of the other parts.
ENCODING_FOLDS = 5


def encoding_folds() -> KFold:
    """Return the parts in which words become mean targets, where rows are by themselves."""
    return KFold(ENCODING_FOLDS, shuffle=True, random_state=0)


@whole_trainings()
def fit_learner(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    *,
    groups: NDArray[Any] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Any:
    """Fit a learner and return it.

    Parameters
    ----------
    estimator
        A learner, perhaps at the end of a pipeline.
    X, y
        Inputs and targets.
    groups
        The group of each row: a learner that cuts its rows into parts keeps groups whole, and so
        does the preparation.
    weights
        What each row weighs; a learner that takes no weights learns from all rows alike.
    """
    arguments = {}
    if weights is not None and takes_weights(estimator):
        arguments = weight_argument(estimator, weights)
    if groups is None:
        return estimator.fit(X, y, **arguments)
    groups = np.asarray(groups)
    if has_fit_parameter(estimator, "groups"):
        return estimator.fit(X, y, groups=groups, **arguments)
    if not any(target_encoders(estimator)):
        return estimator.fit(X, y, **arguments)
    count = min(ENCODING_FOLDS, len(np.unique(groups)))
    parts = list(GroupKFold(count).split(y, y, groups)) if count > 1 else encoding_folds()
    for encoder in target_encoders(estimator):
        encoder.cv = parts
    try:
        return estimator.fit(X, y, **arguments)
    finally:
        # The parts are those of these rows, and no part of the model.
        for encoder in target_encoders(estimator):
            encoder.cv = encoding_folds()


def takes_weights(estimator: Any) -> bool:
    """Tell whether a learner, perhaps at the end of a pipeline, learns from rows by their weight.

    Parameters
    ----------
    estimator
        The learner.
    """
    if isinstance(estimator, Pipeline):
        return takes_weights(estimator.steps[-1][1])
    if isinstance(estimator, TransformedTargetRegressor):
        return takes_weights(estimator.regressor)
    inner = getattr(estimator, "estimator", None)
    # A learner around another one hands the weights on.
    inner_takes = takes_weights(inner) if isinstance(inner, BaseEstimator) else True
    # An ensemble takes them if all its members do.
    inner_takes = getattr(estimator, "_takes_weights", lambda: inner_takes)()
    return has_fit_parameter(estimator, "sample_weight") and inner_takes


def weight_argument(estimator: Any, weights: ArrayLike) -> dict[str, NDArray[np.float64]]:
    """Return the argument of `fit` that brings the weights of rows to a learner.

    Parameters
    ----------
    estimator
        A learner, perhaps at the end of a pipeline.
    weights
        One for each row.
    """
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    return {f"{prefix}sample_weight": np.asarray(weights, dtype=np.float64)}


def target_encoders(estimator: Any) -> Iterator[TargetEncoder]:
    """Yield what replaces words by mean targets, within pipelines and learners around others."""
    if isinstance(estimator, TargetEncoder):
        yield estimator
        return
    parts: list[Any] = []
    if isinstance(estimator, Pipeline):
        parts = [step for _, step in estimator.steps]
    elif isinstance(estimator, ColumnTransformer):
        both = (estimator.transformers, getattr(estimator, "transformers_", ()))
        parts = [transformer for listing in both for _, transformer, *_ in listing]
    elif isinstance(estimator, BaseEstimator):
        parts = [value for value in vars(estimator).values() if isinstance(value, BaseEstimator)]
    for part in parts:
        yield from target_encoders(part)
