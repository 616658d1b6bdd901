"""Several numbers to predict: learnt together where a learner can, else one after the other."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from verulam.base import MetaEstimatorMixin, check_is_fitted, clone
from verulam.experiment._learning.fitting import fit_learner, target_encoders


class OneForEachOutput(MetaEstimatorMixin, BaseEstimator):
    """A learner of one number, fitted once for each of several.

    Parameters
    ----------
    estimator
        A regressor, perhaps at the end of a pipeline.

    Attributes
    ----------
    estimators_
        The fitted regressors, in the order of the outputs.

    Notes
    -----
    Other than scikit-learn's `MultiOutputRegressor` it hands weights and groups on to pipelines.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        groups: NDArray[Any] | None = None,
        sample_weight: NDArray[np.float64] | None = None,
    ) -> Self:
        """Fit a regressor to each column of `y`.

        Parameters
        ----------
        X, y
            Inputs, and a column for each output.
        groups, sample_weight
            The group of each row, and what it weighs.
        """
        self.estimators_ = [
            fit_learner(clone(self.estimator), X, output, groups=groups, weights=sample_weight)
            for output in np.asarray(y).T
        ]
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return a column for each output."""
        check_is_fitted(self)
        return np.column_stack([fitted.predict(X) for fitted in self.estimators_])

    def __sklearn_tags__(self) -> Any:
        tags = get_tags(self.estimator)
        tags.target_tags.multi_output = True
        return tags


def learns_outputs(estimator: Any) -> bool:
    """Tell whether a learner, perhaps at the end of a pipeline, predicts several numbers at once.

    Parameters
    ----------
    estimator
        The learner.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.svm import SVR
    >>> learns_outputs(LinearRegression()), learns_outputs(SVR())
    (True, False)
    """
    if any(target_encoders(estimator)):
        return False  # a word is replaced by the mean of one target
    if isinstance(estimator, Pipeline):
        return learns_outputs(estimator.steps[-1][1])
    if isinstance(estimator, TransformedTargetRegressor):
        return learns_outputs(estimator.regressor)
    return bool(get_tags(estimator).target_tags.multi_output)


def with_outputs(ready: Any) -> Any:
    """Return a prepared learner that predicts several numbers.

    Parameters
    ----------
    ready
        The learner behind its preparation: a record with estimator, prefix and words.
    """
    if learns_outputs(ready.estimator):
        return replace(ready, words=f"{ready.words}; all outputs at once")
    return replace(
        ready,
        estimator=OneForEachOutput(ready.estimator),
        words=f"{ready.words}; a model for each output",
        prefix=f"estimator__{ready.prefix}",
    )


def output_scale(targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation of each of several outputs; 1 for one that is constant.

    Parameters
    ----------
    targets
        A column for each output.
    """
    deviations = targets.std(axis=0)
    return np.where(deviations > 0, deviations, 1.0)
