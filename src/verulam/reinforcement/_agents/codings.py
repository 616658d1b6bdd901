"""Codings of states as numbers: cells, tiles, radial bases, and worlds cut into cells."""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from verulam.base import DataError
from verulam.reinforcement._checks import check_array, check_count, check_number


class Parameterised(BaseEstimator):
    """Has `get_params` and a repr as agents have; checked when it is made, and copied as it is."""

    def __sklearn_clone__(self) -> Self:
        return deepcopy(self)


class OneHot(Parameterised):
    """A numbered state as a vector with a single one: linear functions of it are tables.

    Parameters
    ----------
    n_states
        Number of states.

    Examples
    --------
    >>> from verulam.reinforcement import OneHot
    >>> OneHot(3)(1).tolist()
    [0.0, 1.0, 0.0]
    """

    def __init__(self, n_states: int) -> None:
        self.n_states = self.n_features = check_count("n_states", n_states)

    def __call__(self, state: Any) -> NDArray[np.float64]:
        """Return the features of a state."""
        vector = np.zeros(self.n_features)
        if not 0 <= state < self.n_features:
            raise DataError(f"state is {state!r}; expected a number from 0 to {len(vector) - 1}.")
        vector[int(state)] = 1.0
        return vector


class Identity(Parameterised):
    """The numbers of a state as they are, with a one in front.

    Parameters
    ----------
    state_size
        How many numbers a state has.

    Examples
    --------
    >>> from verulam.reinforcement import Identity
    >>> Identity(2)([3.0, 4.0]).tolist()
    [1.0, 3.0, 4.0]
    """

    def __init__(self, state_size: int = 1) -> None:
        self.state_size = check_count("state_size", state_size)
        self.n_features = self.state_size + 1

    def __call__(self, state: Any) -> NDArray[np.float64]:
        """Return the features of a state."""
        return np.append(1.0, np.asarray(state, dtype=np.float64).ravel())


class Cells(Parameterised):
    """A box cut into equal cells, numbered; values beyond it belong to the cells at its edge.

    Parameters
    ----------
    low, high
        Corners of the box.
    n_bins
        Cells along each side, one number for all or one for each.

    Examples
    --------
    >>> from verulam.reinforcement import Cells
    >>> cells = Cells([0.0, 0.0], [1.0, 2.0], [2, 4])
    >>> cells.code([0.9, 0.1]), cells.n_states
    (4, 8)
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, n_bins: ArrayLike) -> None:
        self.low, self.high = _box(low, high)
        bins = np.broadcast_to(np.asarray(n_bins), self.low.shape)
        if not np.issubdtype(bins.dtype, np.integer) or (bins < 1).any():
            raise DataError(f"n_bins is {n_bins!r}; expected whole numbers of at least 1.")
        self.n_bins: NDArray[np.int64] = bins.astype(np.int64)
        self.n_states = int(np.prod(self.n_bins))
        self.n_features = self.n_states

    def code(self, state: ArrayLike) -> int:
        """Return the number of the cell that a state lies in."""
        places = self._places(check_array("state", np.ravel(state), self.low.shape))
        return int(np.ravel_multi_index(tuple(places), tuple(self.n_bins)))

    def _places(self, point: NDArray[np.float64]) -> NDArray[np.int64]:
        shares = (point - self.low) / (self.high - self.low) * self.n_bins
        return np.clip(shares, 0, self.n_bins - 1).astype(np.int64)

    def __call__(self, state: Any) -> NDArray[np.float64]:
        """Return the features of a state: a single one."""
        vector = np.zeros(self.n_features)
        vector[self.code(state)] = 1.0
        return vector


class Tiles(Parameterised):
    r"""Several grids of cells, each shifted a little: one feature of each grid is 1.

    Parameters
    ----------
    low, high
        Corners of the box.
    n_bins
        Cells along each side, one number for all or one for each.
    n_tilings
        Number of grids.

    Notes
    -----
    Learning with a rate :math:`\eta` moves a value by its error times :math:`\eta` times the
    number of grids. See Sutton and Barto (2018), section 9.5.4.

    Examples
    --------
    >>> from verulam.reinforcement import Tiles
    >>> tiles = Tiles([0.0], [1.0], 4, n_tilings=2)
    >>> tiles([0.3]).nonzero()[0].tolist()
    [1, 6]
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, n_bins: ArrayLike, *, n_tilings: int = 8
    ) -> None:
        self.n_tilings = check_count("n_tilings", n_tilings)
        self.low, self.high = corner, top = _box(low, high)
        self.n_bins = bins = np.broadcast_to(np.asarray(n_bins), corner.shape)
        width = (top - corner) / bins
        # One cell more on each side, as the shifts push the box over the edge.
        self._grids = [
            Cells(
                corner - width * number / n_tilings,
                top + width * (1 - number / n_tilings),
                bins + 1,
            )
            for number in range(n_tilings)
        ]
        self.n_features = sum(grid.n_states for grid in self._grids)

    def __call__(self, state: Any) -> NDArray[np.float64]:
        """Return the features of a state: a one for each grid."""
        vector = np.zeros(self.n_features)
        start = 0
        for grid in self._grids:
            vector[start + grid.code(state)] = 1.0
            start += grid.n_states
        return vector


class RadialBasis(Parameterised):
    r"""Bumps :math:`\exp(-\|s - c_i\|^2 / 2 w^2)` around centres, and a one.

    Parameters
    ----------
    centres
        One in each row.
    width
        :math:`w`, one number for all directions or one for each.
    normalise
        Whether bumps are divided by their sum, so that every state has some.

    Notes
    -----
    A local coding: learning in one place leaves others as they are. See Alpaydin 18.6 and 12.3.

    Examples
    --------
    >>> from verulam.reinforcement import RadialBasis
    >>> bumps = RadialBasis.over([0.0], [1.0], 3)
    >>> bumps([0.5]).round(3).tolist()
    [0.107, 0.787, 0.107]
    """

    def __init__(self, centres: ArrayLike, width: ArrayLike, *, normalise: bool = True) -> None:
        self.centres = check_array("centres", centres, (None, None))
        self.width = np.asarray(width, dtype=np.float64)
        if not (np.isfinite(self.width).all() and (self.width > 0).all()):
            raise DataError(f"width is {width!r}; expected numbers above 0.")
        self.normalise = normalise
        self.n_features = len(self.centres)

    @classmethod
    def over(
        cls, low: ArrayLike, high: ArrayLike, n_centres: int, *, overlap: float = 1.0
    ) -> "RadialBasis":
        """Return bumps on a grid over a box, as wide as half of their distance times `overlap`.

        Parameters
        ----------
        low, high
            Corners of the box.
        n_centres
            Centres along each side.
        overlap
            Factor of the width.
        """
        corner, top = _box(low, high)
        check_count("n_centres", n_centres, 2)
        check_number("overlap", overlap, 0.0, open_low=True)
        sides = [np.linspace(a, b, n_centres) for a, b in zip(corner, top, strict=True)]
        grid = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, len(corner))
        return cls(grid, overlap * (top - corner) / (n_centres - 1) / 2.0)

    def __call__(self, state: Any) -> NDArray[np.float64]:
        """Return the features of a state."""
        gaps = (np.asarray(state, dtype=np.float64).ravel() - self.centres) / self.width
        squares = (gaps**2).sum(axis=1)
        if not self.normalise:
            return np.exp(-squares / 2.0)
        bumps = np.exp(-(squares - squares.min()) / 2.0)
        return bumps / bumps.sum()


class CodedEnvironment:
    """A world of vectors whose states are numbered cells, for agents with tables.

    Parameters
    ----------
    environment
        The world, such as a Gymnasium environment.
    cells
        The cells.

    Notes
    -----
    Cutting a state into cells makes errors, which shrink with the cells. See Alpaydin 18.6.

    Examples
    --------
    >>> import gymnasium
    >>> from verulam.reinforcement import Cells, CodedEnvironment
    >>> cells = Cells([-1.2, -0.07], [0.6, 0.07], 10)
    >>> world = CodedEnvironment(gymnasium.make("MountainCar-v0"), cells)
    >>> world.n_states, world.n_actions
    (100, 3)
    """

    def __init__(self, environment: Any, cells: Cells) -> None:
        self.environment = environment
        self.cells = cells
        self.n_states = cells.n_states
        actions = getattr(environment, "action_space", None)
        self.n_actions = int(getattr(environment, "n_actions", 0) or getattr(actions, "n", 0))
        if not self.n_actions:
            raise DataError(
                f"environment has the action space {actions}; expected a finite number of actions."
            )

    def reset(self, *, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        """Begin an episode, and return the cell of its first state."""
        state, facts = self.environment.reset(seed=seed)
        return self.cells.code(state), facts

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Act, and return the cell of the next state with the rest."""
        state, reward, over, cut, facts = self.environment.step(action)
        return self.cells.code(state), float(reward), bool(over), bool(cut), facts


def _box(low: ArrayLike, high: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    corner = check_array("low", np.atleast_1d(np.asarray(low, dtype=np.float64)), (None,))
    top = check_array("high", np.atleast_1d(np.asarray(high, dtype=np.float64)), (len(corner),))
    if not (top > corner).all():
        raise DataError("high must be above low in every direction.")
    return corner, top
