"""How much to smooth: choosing by criteria, and what it does to bias and variance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv, cross_val_predict

from verulam.base import DataError, Seed, clone, generator, unknown_name
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_rows

#: Criteria by name: what `TrainingSmooth` calls them.
CRITERIA = {
    "loo": "leave_one_out_error",
    "gcv": "generalised_error",
    "aicc": "corrected_aic",
    "folds": "",
}


@dataclass(frozen=True)
class SmoothingCurve:
    """Errors of a smoother by its smoothing parameter.

    Attributes
    ----------
    parameter
        The parameter that was varied.
    values
        Its values.
    criterion
        What `validation` is.
    training : ndarray of shape (n_values,)
        Mean squared residuals.
    validation : ndarray of shape (n_values,)
        The criterion.
    effective_degrees : ndarray of shape (n_values,)
        Effective degrees of freedom; NaN where the smoother has none.
    best
        The value with the least criterion.
    learner
        The smoother with that value, fitted to all rows.
    """

    parameter: str
    values: tuple[Any, ...]
    criterion: str
    training: np.ndarray
    validation: np.ndarray
    effective_degrees: np.ndarray
    best: Any
    learner: Any

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table, one row per value."""
        return pd.DataFrame(
            {
                "training": self.training,
                self.criterion: self.validation,
                "effective_degrees": self.effective_degrees,
                "best": [value == self.best for value in self.values],
            },
            index=pd.Index(self.values, name=self.parameter),
        )


def select_smoothing(
    smoother: Any,
    parameter: str,
    values: Sequence[Any],
    X: Any,
    y: Any,
    *,
    criterion: Literal["loo", "gcv", "aicc", "folds"] = "loo",
    cv: Any = 10,
) -> SmoothingCurve:
    """Smooth with each value of a parameter, and choose the one with the least error.

    Parameters
    ----------
    smoother
        Any smoother of this package, or with "folds" any regressor.
    parameter
        Name of its parameter, such as "bandwidth", "n_neighbors", "span", "degree" or "alpha".
    values
        Values to try.
    X, y
        Training data.
    criterion
        "loo" leaves out one row in turn, without fitting again; "gcv" is generalised
        cross-validation; "aicc" Akaike's corrected criterion; "folds" fits on all folds but one.
    cv
        Number of folds, or a splitter, for "folds".

    Notes
    -----
    See Alpaydin 8.9 and exercise 11.

    Examples
    --------
    >>> from verulam.data import noisy_sine
    >>> from verulam.nonparametric import NeighbourSmoother, select_smoothing
    >>> sine = noisy_sine(100, noise=0.3, random_state=0)
    >>> curve = select_smoothing(
    ...     NeighbourSmoother(), "n_neighbors", [1, 5, 10, 20, 50], sine.inputs, sine.target_values
    ... )
    >>> curve.best, curve.effective_degrees
    (5, array([100.,  20.,  10.,   5.,   2.]))
    """
    if criterion not in CRITERIA:
        raise unknown_name("criterion", criterion, CRITERIA)
    if len(values) == 0:
        raise DataError("values is empty; give at least one value to try.")
    targets = np.asarray(y, dtype=np.float64)
    splits = list(_shuffled(cv, targets).split(X, targets)) if criterion == "folds" else None
    learners, rows = [], []
    for value in values:
        learner = clone(smoother).set_params(**{parameter: value}).fit(X, y)
        learners.append(learner)
        rows.append(_errors(learner, X, targets, criterion, splits))
    training, validation, degrees = np.array(rows).T
    place = int(np.argmin(np.where(np.isnan(validation), np.inf, validation)))
    return SmoothingCurve(
        parameter=parameter,
        values=tuple(values),
        criterion=criterion,
        training=training,
        validation=validation,
        effective_degrees=degrees,
        best=values[place],
        learner=learners[place],
    )


def _errors(
    learner: Any, X: Any, targets: np.ndarray, criterion: str, splits: Any
) -> tuple[float, float, float]:
    """Return training error, criterion and effective degrees of a fitted learner."""
    if splits is None:
        smooth = learner.training_smooth()
        error = getattr(smooth, CRITERIA[criterion])
        if np.isnan(error):
            raise DataError(
                f"{type(learner).__name__} has no effective degrees of freedom, so {criterion!r} "
                "cannot be computed; accepted are 'loo' and 'folds'."
            )
        return smooth.training_error, error, smooth.effective_degrees
    predicted = cross_val_predict(clone(learner), X, targets, cv=splits)
    training = float(np.square(targets - learner.predict(X)).mean())
    smooth = learner.training_smooth() if hasattr(learner, "training_smooth") else None
    degrees = np.nan if smooth is None else smooth.effective_degrees
    return training, float(np.square(targets - predicted).mean()), degrees


def _shuffled(cv: Any, targets: np.ndarray) -> Any:
    """Return the splitter; folds asked for by number are drawn at random, with a fixed seed."""
    splitter = check_cv(cv, targets)
    if isinstance(cv, int):
        splitter.shuffle, splitter.random_state = True, 0
    return splitter


@dataclass(frozen=True)
class BiasVariance:
    """Bias and variance of a learner by one of its parameters, averaged over some inputs.

    Attributes
    ----------
    parameter
        The parameter that was varied.
    values
        Its values.
    squared_bias, variance : ndarray of shape (n_values,)
        Means over the inputs.
    noise
        Variance of the noise, which no learner can remove.
    curves : ndarray of shape (n_values, n_samples, n_points)
        Predictions from each sample.
    truth : ndarray of shape (n_points,)
        The true curve.
    """

    parameter: str
    values: tuple[Any, ...]
    squared_bias: np.ndarray
    variance: np.ndarray
    noise: float
    curves: np.ndarray
    truth: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """Mean squared distance to the true curve: squared bias plus variance."""
        return self.squared_bias + self.variance

    @property
    def best(self) -> Any:
        """The value with the least error."""
        return self.values[int(self.error.argmin())]

    def to_frame(self) -> pd.DataFrame:
        """Return the study as a table, one row per value."""
        return pd.DataFrame(
            {"squared_bias": self.squared_bias, "variance": self.variance, "error": self.error},
            index=pd.Index(self.values, name=self.parameter),
        )


def bias_variance(
    learner: Any,
    parameter: str,
    values: Sequence[Any],
    truth: Callable[[np.ndarray], np.ndarray],
    X: ArrayLike,
    *,
    noise: float,
    n_samples: int = 100,
    points: ArrayLike | None = None,
    random_state: Seed = None,
) -> BiasVariance:
    """Fit a learner to many noisy samples of a known curve, for each value of a parameter.

    Parameters
    ----------
    learner
        Any regressor.
    parameter
        Name of its parameter.
    values
        Values to try.
    truth
        The true curve: maps rows of inputs to targets.
    X
        Inputs of every sample.
    noise
        Standard deviation of the noise, drawn anew for every sample.
    n_samples
        Number of samples.
    points
        Inputs at which the predictions are compared; by default those of the samples.
    random_state
        Seed of the noise.

    Notes
    -----
    Little smoothing follows the noise (variance), much smoothing flattens the curve (bias). See
    Alpaydin 8.9.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import RunningMean, bias_variance
    >>> study = bias_variance(
    ...     RunningMean(), "bandwidth", [0.05, 0.2, 0.8], lambda X: np.sin(6 * X[:, 0]),
    ...     np.linspace(0, 1, 50)[:, None], noise=0.3, random_state=0,
    ... )
    >>> study.to_frame().round(3)
               squared_bias  variance  error
    bandwidth
    0.05              0.001     0.018  0.019
    0.20              0.037     0.005  0.042
    0.80              0.498     0.002  0.500
    """
    if len(values) == 0:
        raise DataError("values is empty; give at least one value to try.")
    check_at_least(noise, 0.0, "noise")
    check_at_least(n_samples, 1, "n_samples")
    inputs = checked_rows(X)
    places = inputs if points is None else checked_rows(points, "points", inputs.shape[1])
    clean = np.asarray(truth(inputs), dtype=np.float64)
    expected = np.asarray(truth(places), dtype=np.float64)
    errors = noise * generator(random_state).normal(size=(n_samples, len(inputs)))
    curves = np.empty((len(values), n_samples, len(places)))
    for position, value in enumerate(values):
        varied = clone(learner).set_params(**{parameter: value})
        # The same noise for every value, so that their differences are due to the value.
        for sample, error in enumerate(errors):
            curves[position, sample] = clone(varied).fit(inputs, clean + error).predict(places)
    means = curves.mean(axis=1)
    return BiasVariance(
        parameter=parameter,
        values=tuple(values),
        squared_bias=np.square(means - expected).mean(axis=1),
        variance=curves.var(axis=1).mean(axis=1),
        noise=float(noise) ** 2,
        curves=curves,
        truth=expected,
    )
