"""Which parameter a density should have: the one under which rows left out are most likely."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, check_cv

from verulam.base import DataError, clone
from verulam.nonparametric._density.nearest_neighbour import NearestNeighbourDensity
from verulam.nonparametric._neighbours.inputs import check_at_least


@dataclass(frozen=True)
class LikelihoodCurve:
    """Held-out likelihood of a density by one of its parameters.

    Attributes
    ----------
    parameter
        The parameter that was varied.
    values
        Its values.
    log_likelihoods : ndarray of shape (n_values,)
        Mean log-density of the rows, each under the rows of the other folds.
    standard_errors : ndarray of shape (n_values,)
        How far each mean may be off, from the spread of the rows.
    best
        The value with the largest likelihood.
    density
        The density with that value, fitted to all rows.
    """

    parameter: str
    values: tuple[Any, ...]
    log_likelihoods: np.ndarray
    standard_errors: np.ndarray
    best: Any
    density: Any

    def to_frame(self) -> pd.DataFrame:
        """Return the curve as a table, one row per value."""
        return pd.DataFrame(
            {
                "log_likelihood": self.log_likelihoods,
                "standard_error": self.standard_errors,
                "best": [value == self.best for value in self.values],
            },
            index=pd.Index(self.values, name=self.parameter),
        )


def select_density(
    estimator: Any, parameter: str, values: Sequence[Any], X: Any, *, cv: Any = 10
) -> LikelihoodCurve:
    """Fit a density with each value of a parameter; choose by the likelihood of rows left out.

    Parameters
    ----------
    estimator
        Any density of this package, or other learner with `score_samples`, that integrates to one.
    parameter
        Name of its parameter, such as "bandwidth", "n_neighbors" of the local shape, "adaptive",
        "bin_width" or "smoothing".
    values
        Values to try.
    X
        One row per point.
    cv
        Number of folds, drawn at random with a fixed seed; or a splitter.

    Notes
    -----
    The estimate from the distance to the k-th neighbour has an infinite integral whatever its k,
    so that likelihoods cannot be compared, and is refused. `KernelDensity` with `shape="local"`
    integrates to one and has a number of neighbours to choose. For one bandwidth,
    `select_bandwidth` leaves out each row in turn. See Alpaydin 8.9.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import KernelDensity, select_density
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(200, 1)), rng.normal(8, 0.1, size=(200, 1))])
    >>> density = KernelDensity(shape="local")
    >>> curve = select_density(density, "n_neighbors", [3, 30, 300], X)
    >>> curve.best, curve.log_likelihoods.round(1)
    (30, array([-1.7, -1. , -2. ]))
    """
    if isinstance(estimator, NearestNeighbourDensity):
        raise DataError(
            "NearestNeighbourDensity does not integrate to one, so likelihood cannot choose its "
            "parameters. Use KernelDensity(shape='local'), which has n_neighbors too."
        )
    if len(values) == 0:
        raise DataError("values is empty; give at least one value to try.")
    if isinstance(cv, int):
        check_at_least(cv, 2, "cv")
        cv = KFold(cv, shuffle=True, random_state=0)
    splits = list(check_cv(cv).split(X))
    scores = [
        _held_out(clone(estimator).set_params(**{parameter: value}), X, splits) for value in values
    ]
    means = np.array([logs.mean() for logs in scores])
    if not np.isfinite(means).any():
        raise DataError(
            f"Whatever the {parameter}, some rows left out are impossible under the others; give "
            "values that smooth more."
        )
    place = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
    return LikelihoodCurve(
        parameter=parameter,
        values=tuple(values),
        log_likelihoods=means,
        standard_errors=np.array([_standard_error(logs) for logs in scores]),
        best=values[place],
        density=clone(estimator).set_params(**{parameter: values[place]}).fit(X),
    )


def _held_out(density: Any, X: Any, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the log-densities of all rows that some fold leaves out."""
    scores = []
    for training, held_out in splits:
        fitted = clone(density).fit(_rows_of(X, training))
        scores.append(np.asarray(fitted.score_samples(_rows_of(X, held_out))))
    return np.concatenate(scores)


def _rows_of(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]


def _standard_error(scores: np.ndarray) -> float:
    if not np.isfinite(scores).all():
        return float("nan")
    return float(scores.std(ddof=1) / np.sqrt(len(scores)))
