"""Winners: found at once, or by units that excite themselves and inhibit the others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from verulam.base import DataError
from verulam.numerics import distances


@dataclass(frozen=True)
class Winners:
    """The answer of a layer of competing units.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_units)
        What the units compute: inner products, or distances.
    winners : ndarray of shape (n_rows,)
        Number of the winning unit, the first of equals.
    outputs : ndarray of shape (n_rows, n_units)
        1 for the winner and 0 for the others.
    """

    values: np.ndarray
    winners: np.ndarray
    outputs: np.ndarray


def winner_take_all(X: ArrayLike, units: ArrayLike, *, similarity: str = "product") -> Winners:
    r"""Return the winner of each row in a layer of units without biases.

    Parameters
    ----------
    X
        Rows.
    units
        Weights :math:`m_i` of the units, one row each.
    similarity
        "product": the largest :math:`m_i^T x` wins; "distance": the nearest :math:`m_i`.

    Notes
    -----
    As :math:`\|x - m_i\|^2 = \|x\|^2 - 2 m_i^T x + \|m_i\|^2`, both agree where all :math:`\|m_i\|`
    are the same. See Alpaydin 12.2.1 (equation 12.6).

    Examples
    --------
    >>> from verulam.local import winner_take_all
    >>> answer = winner_take_all([[1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]])
    >>> answer.values, answer.outputs
    (array([[1., 2.]]), array([[0., 1.]]))
    """
    rows, weights = number_table(X, "X"), number_table(units, "units")
    if rows.shape[1] != weights.shape[1]:
        raise DataError(
            f"X has {rows.shape[1]} columns and units has {weights.shape[1]}; they must be the "
            "same."
        )
    if similarity not in ("product", "distance"):
        raise DataError(f"similarity={similarity!r}; accepted are 'product' and 'distance'.")
    if similarity == "product":
        values = rows @ weights.T
        winners = values.argmax(axis=1)
    else:
        values = distances(rows, weights)
        winners = values.argmin(axis=1)
    outputs = (winners[:, None] == np.arange(len(weights))).astype(np.float64)
    return Winners(values, winners, outputs)


@dataclass(frozen=True)
class Inhibition:
    """The states of units that inhibit one another, until one is left.

    Attributes
    ----------
    states : ndarray of shape (n_steps + 1, n_units)
        Values at the start and after each step.
    winner
        Number of the unit that is left; -1 where none or several are.
    converged
        Whether exactly one unit is left.
    """

    states: np.ndarray
    winner: int
    converged: bool


def lateral_inhibition(
    values: ArrayLike, *, inhibition: float | None = None, max_iter: int = 10_000
) -> Inhibition:
    r"""Let units excite themselves and inhibit all others until the largest is left.

    Parameters
    ----------
    values
        What the units begin with, such as their inner products with a row.
    inhibition
        Weight :math:`\epsilon` between two units, above 0 and below :math:`1/(k-1)` for
        :math:`k` units; None for half of that bound.
    max_iter
        Most steps.

    Notes
    -----
    .. math:: b_i \leftarrow \max\Bigl(0,\ b_i - \epsilon \sum_{l \neq i} b_l\Bigr)

    MAXNET [lippmann1987]_ keeps the order of the units and widens their differences by the factor
    :math:`1 + \epsilon` a step, so that the largest of different values is left alone; it is given
    the value 1. Equal largest values die together. Values below zero are shifted to zero first. See
    Alpaydin 12.2.1 (figure 12.3), SIT1305 V.

    .. [lippmann1987] R. P. Lippmann, "An introduction to computing with neural nets", IEEE ASSP
       Magazine 4(2), 4-22, 1987.

    Examples
    --------
    >>> from verulam.local import lateral_inhibition
    >>> dynamics = lateral_inhibition([0.5, 0.9, 0.6])
    >>> dynamics.winner, dynamics.states[-1]
    (1, array([0., 1., 0.]))
    """
    try:
        state = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        state = np.empty(0)
    if state.ndim != 1 or not len(state) or not np.isfinite(state).all():
        raise DataError(
            f"values: expected a list of finite numbers, one for each unit; got {values!r}."
        )
    bound = 1.0 / max(1, len(state) - 1)
    strength = 0.5 * bound if inhibition is None else inhibition
    if not isinstance(strength, int | float) or not 0 < strength < bound:
        raise DataError(
            f"inhibition={inhibition!r}; expected a number above 0 and below 1/(k-1), which is "
            f"{bound:.6g} for {len(state)} units."
        )
    if not isinstance(max_iter, int) or max_iter < 1:
        raise DataError(f"max_iter={max_iter!r}; expected a whole number from 1 on.")
    state -= min(0.0, float(state.min()))
    # The dynamics do not depend on the scale of the values.
    state /= max(float(state.max()), np.finfo(float).tiny)
    states = [state]
    for _ in range(max_iter):
        if np.count_nonzero(state) <= 1:
            break
        state = np.maximum(0.0, (1.0 + strength) * state - strength * state.sum())
        # Differences grow; dividing by the largest keeps what is left of them from underflow.
        if 0.0 < state.max() < 1e-100:
            state = state / state.max()
        states.append(state)
    active = np.flatnonzero(state)
    converged = len(active) == 1
    if converged:
        states[-1] = (np.arange(len(state)) == active[0]).astype(np.float64)
    return Inhibition(np.array(states), int(active[0]) if converged else -1, converged)


@dataclass(frozen=True)
class RegionCodes:
    """Codes of rows by the units of a layer, and the regions that they tell apart.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_units)
        Value of each unit for each row: 0 or 1, or between for soft codes.
    active : ndarray of shape (n_rows,)
        Number of units above one half.
    n_regions
        Number of different patterns of units above one half.
    """

    codes: np.ndarray
    active: np.ndarray
    n_regions: int


def local_codes(
    X: ArrayLike, centers: ArrayLike, *, spread: float = 1.0, hard: bool = False
) -> RegionCodes:
    r"""Return the local code of rows: units that answer near their centres alone.

    Parameters
    ----------
    X
        Rows.
    centers
        Centres :math:`m_h` of the units, one row each.
    spread
        Width :math:`s` of the units.
    hard
        Whether the nearest unit is 1 and all others 0, instead of Gaussian values
        :math:`\exp(-\|x - m_h\|^2 / 2 s^2)`.

    Notes
    -----
    Hard, :math:`H` units tell :math:`H` regions apart; `distributed_codes` of as many planes may
    tell :math:`2^H`. See Alpaydin 12.3 (figure 12.7).

    Examples
    --------
    >>> from verulam.local import local_codes
    >>> local_codes([[0.0], [1.0], [5.0]], [[0.0], [4.0]], hard=True).codes
    array([[1., 0.],
           [1., 0.],
           [0., 1.]])
    """
    rows, middles = number_table(X, "X"), number_table(centers, "centers")
    if not isinstance(spread, int | float) or not 0 < spread < np.inf:
        raise DataError(f"spread={spread!r}; expected a finite number above 0.")
    if hard:
        return _regions(winner_take_all(rows, middles, similarity="distance").outputs)
    if rows.shape[1] != middles.shape[1]:
        raise DataError(
            f"X has {rows.shape[1]} columns and centers has {middles.shape[1]}; they must be the "
            "same."
        )
    return _regions(np.exp(-distances(rows, middles, "sqeuclidean") / (2.0 * spread**2)))


def distributed_codes(X: ArrayLike, planes: ArrayLike, *, hard: bool = False) -> RegionCodes:
    r"""Return the distributed code of rows: which side of each plane they lie on.

    Parameters
    ----------
    X
        Rows.
    planes
        One row for each plane: its intercept :math:`w_0`, then a weight for each input.
    hard
        Whether the code is 0 or 1, instead of the sigmoid of :math:`w^T x + w_0`.

    Notes
    -----
    Many units answer to the same row. See Alpaydin 12.3 (figure 12.7).

    Examples
    --------
    >>> from verulam.local import distributed_codes
    >>> X = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
    >>> code = distributed_codes(X, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], hard=True)
    >>> code.codes[3], code.n_regions
    (array([1., 1.]), 4)
    """
    rows, weights = number_table(X, "X"), number_table(planes, "planes")
    if weights.shape[1] != rows.shape[1] + 1:
        raise DataError(
            f"planes has {weights.shape[1]} columns; expected {rows.shape[1] + 1}: the intercept, "
            "then a weight for each column of X."
        )
    values = weights[:, 0] + rows @ weights[:, 1:].T
    return _regions((values > 0).astype(np.float64) if hard else expit(values))


def _regions(codes: np.ndarray) -> RegionCodes:
    above = codes > 0.5
    return RegionCodes(codes, above.sum(axis=1), len(np.unique(above, axis=0)))


def number_table(values: Any, name: str) -> np.ndarray:
    """Return rows of finite numbers as float64, or raise with the name of the argument."""
    try:
        matrix = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise DataError(f"{name}: expected a table of finite numbers with at least one row.")
    return matrix
