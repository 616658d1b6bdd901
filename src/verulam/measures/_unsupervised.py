"""Measures where no target is predicted: rewards of agents, densities of rows, clusterings."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

from verulam.base import DataError


def mean_return(y_true: ArrayLike, prediction: ArrayLike) -> float:  # noqa: ARG001 (as others)
    """Return the mean sum of rewards over episodes in which an agent shows what it has learned.

    Parameters
    ----------
    y_true
        Nothing that counts: nobody knows what would have been right.
    prediction
        The return of each episode.
    """
    return float(_numbers(prediction, 1).mean())


def learning_return(y_true: ArrayLike, prediction: ArrayLike) -> float:  # noqa: ARG001 (as others)
    """Return the mean return of the episodes of training: the area under the learning curve.

    Parameters
    ----------
    y_true
        Nothing that counts.
    prediction
        Returns in the first row, steps in the second, a column for each episode.
    """
    return float(_curve(prediction)[0].mean())


def learning_steps(y_true: ArrayLike, prediction: ArrayLike) -> float:  # noqa: ARG001 (as others)
    """Return the number of steps that training took.

    Parameters
    ----------
    y_true
        Nothing that counts.
    prediction
        Returns in the first row, steps in the second, a column for each episode.
    """
    return float(_curve(prediction)[1].sum())


def log_densities(y_true: ArrayLike, prediction: ArrayLike) -> NDArray[np.float64]:  # noqa: ARG001 (as others)
    """Return the log-density of each row, which the log-likelihood is the mean of."""
    return _numbers(prediction, 1)


def log_likelihood(y_true: ArrayLike, prediction: ArrayLike) -> float:
    """Return the mean log-density of rows that a density was not fitted to.

    Parameters
    ----------
    y_true
        Nothing that counts.
    prediction
        The log-density of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.measures import log_likelihood
    >>> round(log_likelihood(None, np.log([0.5, 0.125])), 4)
    -1.3863
    """
    return float(log_densities(y_true, prediction).mean())


def silhouette(y_true: ArrayLike, prediction: ArrayLike) -> float:  # noqa: ARG001 (as others)
    """Return the mean silhouette of rows that a clustering was not fitted to.

    Parameters
    ----------
    y_true
        Nothing that counts.
    prediction
        The silhouette of each row: 1 deep in its cluster, 0 between two, below 0 in a wrong one.
    """
    return float(_numbers(prediction, 1).mean())


def stability(y_true: ArrayLike, prediction: ArrayLike) -> float:  # noqa: ARG001 (as others)
    """Return how far clusterings of two halves of the rows agree on further rows.

    Parameters
    ----------
    y_true
        Nothing that counts.
    prediction
        For each row its cluster by either half, in two columns.

    Notes
    -----
    The adjusted Rand index of Hubert and Arabie (1985): 1 for the same clusters, whatever their
    names, and 0 on average for clusters at random.

    Examples
    --------
    >>> from verulam.measures import stability
    >>> stability(None, [[0, 1], [0, 1], [1, 0], [1, 0]])
    1.0
    """
    labels = _numbers(prediction, 2)
    if labels.shape[1] != 2:
        raise DataError(f"prediction has {labels.shape[1]} columns; expected two clusterings.")
    return float(adjusted_rand_score(labels[:, 0], labels[:, 1]))


def _curve(prediction: ArrayLike) -> NDArray[np.float64]:
    curve = _numbers(prediction, 2)
    if len(curve) != 2:
        raise DataError(f"prediction has {len(curve)} rows; expected returns and steps.")
    return curve


def _numbers(prediction: ArrayLike, ndim: int) -> NDArray[np.float64]:
    try:
        values = np.asarray(prediction, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("prediction holds something else than numbers.") from None
    if values.ndim != ndim or not values.size:
        raise DataError(
            f"prediction has shape {values.shape}; expected {ndim} dimension{'s' * (ndim > 1)} and "
            "at least one number."
        )
    return values
