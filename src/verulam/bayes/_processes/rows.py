"""Which rows a Gaussian process needs, and which it should ask for next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from verulam.base import (
    COUNT,
    NONE,
    NUMBER,
    SEED,
    TABLE,
    WHOLE,
    DataError,
    Kind,
    Seed,
    check_is_fitted,
    checked_arguments,
    generator,
)
from verulam.bayes._processes.regression import GaussianProcessRegressor
from verulam.bayes._sampling.chains import check_level
from verulam.kernel import Kernel, as_kernel

PROCESS = Kind(
    "a GaussianProcessRegressor", lambda value: isinstance(value, GaussianProcessRegressor)
)


@dataclass(frozen=True, eq=False)
class PrunedProcess:
    """A process of the rows that matter.

    Attributes
    ----------
    rows : ndarray
        Positions of the training rows that stayed: like support vectors, the others would not have
        been missed.
    process : GaussianProcessRegressor
        The process of these rows.
    level : float
        Level of the intervals outside of which they lay.
    """

    rows: np.ndarray
    process: GaussianProcessRegressor
    level: float


@checked_arguments(process=PROCESS, level=NUMBER)
def prune_process(process: GaussianProcessRegressor, level: float = 0.95) -> PrunedProcess:
    r"""Drop the training rows whose targets all others foretell.

    Parameters
    ----------
    process
        A fitted process.
    level
        A row is dropped if its target lies in the interval of this level that the other rows give
        it.

    Notes
    -----
    Rows are looked at from the best foretold on, with those that stayed so far; leaving one out is
    a downdate of the inverse covariance, so that all together cost one more inversion. See Alpaydin
    16.9 and exercise 6.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import GaussianProcessRegressor, prune_process
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(scale=0.1, size=60)
    >>> pruned = prune_process(GaussianProcessRegressor().fit(X, y), level=0.9)
    >>> len(pruned.rows) < 30
    True
    """
    if not hasattr(process, "refit_rows"):
        raise DataError(
            f"process must be a GaussianProcessRegressor; got {type(process).__name__}."
        )
    check_is_fitted(process)
    check_level(level)
    stays = _surprising(process, process.interval_reach(level))
    rows = np.flatnonzero(stays)
    return PrunedProcess(rows, process.refit_rows(rows), float(level))


def _surprising(process: GaussianProcessRegressor, quantile: float) -> np.ndarray:
    """Return which rows stay when those that the others foretell are dropped, one after another."""
    factor = process._factor
    lower = np.tril(factor.inverse())
    inverse = lower + np.tril(lower, -1).T
    weights = factor.dual_weights.copy()
    stays = np.ones(len(weights), dtype=bool)
    # Residual over deviation of a row left out is a_i / sqrt([C^-1]_ii).
    for row in np.argsort(np.abs(weights) / np.sqrt(np.diagonal(inverse)), kind="stable"):
        precision = inverse[row, row]
        if abs(weights[row]) > quantile * np.sqrt(precision) or stays.sum() == 1:
            continue
        # Without the row, inverse and weights lose a matrix of rank one.
        column = inverse[:, row] / precision
        weights -= column * weights[row]
        inverse -= np.outer(column, inverse[row])
        stays[row] = False
    return stays


@checked_arguments(X=TABLE, n_rows=WHOLE, noise_variance=NUMBER)
def spread_rows(
    kernel: str | Kernel | Any, X: ArrayLike, n_rows: int, *, noise_variance: float = 1e-6
) -> np.ndarray:
    """Pick rows one after another where a process of those picked before is least sure.

    Parameters
    ----------
    kernel
        Covariance of the function at two rows.
    X
        Rows, of which there may be very many: time grows with their number and the square of
        `n_rows`.
    n_rows
        Number of rows to pick.
    noise_variance
        Variance of the noise, in units of the kernel.

    Returns
    -------
    ndarray of shape (n_rows,)
        Positions, in the order in which they were picked.

    Notes
    -----
    This is a Cholesky factorisation with pivots, stopped early: pivots are the largest remaining
    variances. See Alpaydin 16.9 for large data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import spread_rows
    >>> from verulam.kernel import Gaussian
    >>> spread_rows(Gaussian(4.0), np.arange(11.0)[:, None], 3).tolist()
    [0, 10, 5]
    """
    inputs = np.asarray(X, dtype=np.float64)
    if inputs.ndim != 2 or not len(inputs) or not np.isfinite(inputs).all():
        raise DataError(f"X must be a table of finite numbers; got shape {inputs.shape}.")
    if not isinstance(n_rows, int | np.integer) or not 1 <= n_rows <= len(inputs):
        raise DataError(f"n_rows must be from 1 to the {len(inputs)} rows of X; got {n_rows!r}.")
    if not noise_variance > 0:
        raise DataError(f"noise_variance must be above 0; got {noise_variance!r}.")
    adapted = as_kernel(kernel).adapted(inputs)
    variances = adapted.diagonal(inputs) + 0.0
    columns = np.zeros((n_rows, len(inputs)))
    picked = np.empty(n_rows, dtype=np.intp)
    free = np.ones(len(inputs), dtype=bool)
    for count in range(n_rows):
        row = int(np.argmax(np.where(free, variances, -np.inf)))
        picked[count], free[row] = row, False
        # The next column of a Cholesky factor with pivots; its squares are what the row explains of
        # the variance of all others.
        kernels = adapted(inputs[row : row + 1], inputs)[0]
        column = kernels - columns[:count, row] @ columns[:count]
        column /= np.sqrt(max(float(variances[row]), 0.0) + noise_variance)
        columns[count] = column
        variances -= column**2
    return picked


@dataclass(frozen=True, eq=False)
class Query:
    """The row whose target would tell most.

    Attributes
    ----------
    point : ndarray of shape (n_features,)
        The row.
    std : float
        Standard deviation of its target, noise included.
    position : int or None
        Its place in the pool; None where it was searched within bounds.
    """

    point: np.ndarray
    std: float
    position: int | None


@checked_arguments(
    process=PROCESS, pool=TABLE | NONE, bounds=TABLE | NONE, n_init=COUNT, random_state=SEED
)
def next_query(
    process: GaussianProcessRegressor,
    *,
    pool: ArrayLike | None = None,
    bounds: Sequence[tuple[float, float]] | None = None,
    n_init: int = 10,
    random_state: Seed = 0,
) -> Query:
    """Return the row at which the process is least sure, to be asked for next.

    Parameters
    ----------
    process
        A fitted process.
    pool
        Rows to choose from; or
    bounds
        Lowest and highest value of each column, between which the row is searched.
    n_init
        Random places from which the search within bounds begins.
    random_state
        Seed of these places.

    Notes
    -----
    See Alpaydin 16, exercise 7. Without bounds the variance is highest far from all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import GaussianProcessRegressor, next_query
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> process = GaussianProcessRegressor(optimise=False, noise_variance=0.01).fit(X, X[:, 0])
    >>> next_query(process, bounds=[(0.0, 10.0)]).point.round(1)
    array([5.])
    """
    check_is_fitted(process)
    if (pool is None) == (bounds is None):
        raise DataError("give either a pool of rows or bounds of the columns, not both or neither.")
    if pool is not None:
        deviations = process.predict(pool, return_std=True)[1]
        position = int(np.argmax(deviations))
        return Query(np.asarray(pool)[position], float(deviations[position]), position)
    limits = np.asarray(bounds, dtype=np.float64)
    if limits.shape != (process.n_features_in_, 2) or not (limits[:, 0] < limits[:, 1]).all():
        raise DataError(
            "bounds must be a lowest and a higher highest value for each of the "
            f"{process.n_features_in_} columns; got {bounds!r}."
        )

    def cost(point: np.ndarray) -> float:
        return -float(process.predict_distribution(point[None]).variance[0])

    rng = generator(random_state)
    starts = rng.uniform(limits[:, 0], limits[:, 1], size=(n_init, len(limits)))
    ends = [minimize(cost, start, method="L-BFGS-B", bounds=limits.tolist()) for start in starts]
    best = min(ends, key=lambda end: float(end.fun))
    return Query(np.asarray(best.x), float(np.sqrt(-best.fun)), None)
