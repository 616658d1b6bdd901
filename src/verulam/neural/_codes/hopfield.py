"""Hopfield networks: patterns that are recalled from a part of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed, generator


@dataclass(frozen=True, eq=False)
class Recall:
    """Where a Hopfield network came to rest.

    Attributes
    ----------
    state : ndarray
        The last state, of -1 and 1.
    energies : tuple of float
        Energy at the start and after each sweep; it never rises.
    settled : bool
        Whether the last sweep changed nothing.
    """

    state: NDArray[np.int8]
    energies: tuple[float, ...]
    settled: bool


@dataclass(frozen=True, eq=False)
class HopfieldNetwork:
    r"""Units of -1 and 1, all connected, that settle in patterns they were given.

    The weights are :math:`w_{ij} = \frac1N \sum_p x_i^p x_j^p` without those of a unit to itself; a
    unit takes the sign of its weighted sum, which never raises the energy
    :math:`E = -\frac12 \sum_{ij} w_{ij} s_i s_j`.

    Attributes
    ----------
    weights : ndarray of shape (n_units, n_units)
        Symmetric, with zeros on the diagonal.

    Notes
    -----
    Alpaydin 11.14 names it. Patterns are recalled well while there are fewer than about 0.14 for
    each unit, and if they are not too alike.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import HopfieldNetwork
    >>> patterns = np.array([[1, 1, 1, 1, -1, -1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1]])
    >>> network = HopfieldNetwork.of(patterns)
    >>> network.recall([1, 1, 1, -1, -1, -1, -1, -1], random_state=0).state
    array([ 1,  1,  1,  1, -1, -1, -1, -1], dtype=int8)
    """

    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=np.float64)
        # Otherwise the energy might rise, and the units never settle.
        symmetric = weights.ndim == 2 and np.array_equal(weights, weights.T)
        if not symmetric or not np.isfinite(weights).all() or np.diag(weights).any():
            raise DataError(
                "weights: expected a symmetric table of finite numbers with zeros on its diagonal; "
                f"got the shape {weights.shape}."
            )

    @classmethod
    def of(cls, patterns: ArrayLike) -> "HopfieldNetwork":
        """Return a network that remembers patterns.

        Parameters
        ----------
        patterns : array of shape (n_patterns, n_units)
            Rows of -1 and 1.
        """
        rows = _signs("patterns", np.atleast_2d(np.asarray(patterns))).astype(np.float64)
        if rows.ndim != 2 or not rows.size:
            raise DataError(f"patterns: expected a table of -1 and 1, got the shape {rows.shape}.")
        weights = rows.T @ rows / rows.shape[1]
        np.fill_diagonal(weights, 0.0)
        return cls(weights)

    def energy(self, state: ArrayLike) -> float:
        """Return the energy of a state."""
        signs = self._state(state).astype(np.float64)
        return float(-0.5 * signs @ self.weights @ signs)

    def recall(self, state: ArrayLike, *, max_iter: int = 100, random_state: Seed = None) -> Recall:
        """Let the units change one after the other, in random order, until none does.

        Parameters
        ----------
        state
            Where to start: a pattern with errors or gaps filled at will.
        max_iter
            Most sweeps over all units.
        random_state
            Seed of the orders.
        """
        signs, random = self._state(state).astype(np.float64), generator(random_state)
        energies = [self.energy(signs)]
        for _ in range(max_iter):
            before = signs.copy()
            for unit in random.permutation(len(signs)):
                total = self.weights[unit] @ signs
                # A unit without a reason stays, so that no cycle of equal energies is possible.
                if total != 0.0:
                    signs[unit] = np.sign(total)
            energies.append(self.energy(signs))
            if np.array_equal(before, signs):
                return Recall(signs.astype(np.int8), tuple(energies), True)
        return Recall(signs.astype(np.int8), tuple(energies), False)

    def _state(self, state: ArrayLike) -> NDArray[np.int8]:
        signs = _signs("state", np.asarray(state))
        if signs.shape != (len(self.weights),):
            raise DataError(
                f"state: the network has {len(self.weights)} units; got the shape {signs.shape}."
            )
        return signs


def _signs(name: str, values: NDArray[np.generic]) -> NDArray[np.int8]:
    if not np.isin(values, (-1, 1)).all():
        raise DataError(f"{name}: only -1 and 1 are accepted; write 2 * x - 1 for 0 and 1.")
    return values.astype(np.int8)
