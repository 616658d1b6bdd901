"""Model selection by cross-validation and the one-standard-error rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import check_cv, cross_validate

from verulam.base import clone, is_classifier


@dataclass(frozen=True)
class ComplexityCurve:
    """Training and validation error as a model grows.

    Attributes
    ----------
    parameter
        The parameter that was varied.
    values
        Its values, from the simplest model to the richest.
    training, validation : ndarray of shape (n_values,)
        Mean errors over the splits.
    validation_error : ndarray of shape (n_values,)
        Standard errors of the validation errors.
    best
        The value with the least validation error.
    selected
        The simplest value whose validation error is within one standard error of the least.
    """

    parameter: str
    values: tuple[Any, ...]
    training: np.ndarray
    validation: np.ndarray
    validation_error: np.ndarray
    best: Any
    selected: Any

    @property
    def diagnoses(self) -> tuple[str, ...]:
        """What each complexity does: "underfits", is "adequate", or "overfits".

        Adequate is what comes within one standard error of the least validation error; what
        does not is too simple before that minimum, and too rich behind it.
        """
        best = int(np.argmin(self.validation))
        limit = self.validation[best] + self.validation_error[best]
        return tuple(
            "adequate" if error <= limit else "underfits" if place < best else "overfits"
            for place, error in enumerate(self.validation)
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table, one row per value."""
        return pd.DataFrame(
            {
                "training": self.training,
                "validation": self.validation,
                "standard_error": self.validation_error,
                "selected": [value == self.selected for value in self.values],
                "diagnosis": self.diagnoses,
            },
            index=pd.Index(self.values, name=self.parameter),
        )


def select_complexity(
    learner: Any,
    parameter: str,
    values: Sequence[Any],
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    scoring: str | None = None,
) -> ComplexityCurve:
    """Fit a learner at each complexity on the same splits, and choose the simplest adequate one.

    Parameters
    ----------
    learner
        Any estimator.
    parameter
        Name of the parameter that sets its complexity, such as "covariance_type" or "degree".
    values
        Values to try, the simplest model first.
    X, y
        Training data; a test set should be kept apart.
    cv
        Number of folds, or a splitter.
    scoring
        scikit-learn's name of a score, of which the errors are the negative. None stands for
        the misclassification rate of classifiers and the mean squared error of regressors.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.parametric import PolynomialRegression
    >>> X = np.linspace(-1, 1, 60)[:, None]
    >>> y = X[:, 0] ** 2 + np.random.default_rng(0).normal(scale=0.1, size=60)
    >>> curve = select_complexity(PolynomialRegression(), "degree", range(1, 7), X, y, cv=10)
    >>> curve.selected
    2
    """
    splits = list(_shuffled(cv, learner, y).split(X, y))
    if scoring is None:
        scoring = "accuracy" if is_classifier(learner) else "neg_mean_squared_error"
    offset = 1.0 if scoring == "accuracy" else 0.0
    training, validation = [], []
    for value in values:
        results = cross_validate(
            clone(learner).set_params(**{parameter: value}),
            X,
            y,
            cv=splits,
            scoring=scoring,
            return_train_score=True,
            error_score="raise",
        )
        training.append(offset - results["train_score"])
        validation.append(offset - results["test_score"])
    errors = np.array(validation)
    means = errors.mean(axis=1)
    standard_errors = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
    best = int(means.argmin())
    # The one-standard-error rule: a difference within the noise is no reason for a richer model.
    adequate = np.flatnonzero(means <= means[best] + standard_errors[best])
    return ComplexityCurve(
        parameter=parameter,
        values=tuple(values),
        training=np.array(training).mean(axis=1),
        validation=means,
        validation_error=standard_errors,
        best=values[best],
        selected=values[int(adequate[0])],
    )


def _shuffled(cv: Any, learner: Any, y: Any) -> Any:
    """Return the splitter; folds asked for by number are drawn at random, with a fixed seed."""
    splitter = check_cv(cv, y, classifier=is_classifier(learner))
    if isinstance(cv, int):
        splitter.shuffle, splitter.random_state = True, 0
    return splitter
