"""The online map: rows come one by one, and pull their winner and its neighbours."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    DataError,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    checked_fit,
    generator,
    one_blas_thread,
    validate_data,
)
from verulam.local._competitive.online_k_means import units_of
from verulam.local._maps.grid import (
    LATTICES,
    NEIGHBOURHOODS,
    UnitMap,
    make_grid,
    plane_of_units,
    starting_radius,
    warn_of_few_rows,
    winners,
)
from verulam.local._maps.map_loops import map_pass, sum_by_winner
from verulam.numerics import Schedule, aligned_zeros, full_lines

#: A learning rate that is a number falls to this share of it.
LAST_SHARE = 0.01
#: Rows whose deviations stay in the cache until they have been multiplied.
BLOCK = 1024


class OnlineSelfOrganisingMap(InSteps, UnitMap):
    r"""Spread units that are neighbours on a grid over rows that come one by one.

    Parameters
    ----------
    grid_shape
        Units along each side: (rows, columns), or one number for a line.
    lattice
        "rectangular" grid, or "hexagonal" one.
    neighbourhood
        How units near the winner learn with it: "gaussian", or "bubble", alike within the radius.
    first_radius
        Radius at the first step, in steps of the grid; None for half the longer side,
        or a quarter of it where ends are joined.
    last_radius
        Radius at the last step; 0 leaves the winner to learn alone.
    learning_rate
        Step size: a number, which falls evenly to a hundredth of it, or a
        `verulam.numerics.Schedule` of the steps.
    max_iter
        Passes over the rows, each in a new random order.
    n_steps
        Steps after which radius and rate have reached their last values; None for all those of
        `fit`, or of the first call of `partial_fit`.
    init
        Where units start: "components" spreads them over the plane of the first principal
        components; "random" draws rows; an array of shape (n_units, n_features) holds them.
    periodic
        Whether the ends of the grid are joined, to a ring or a torus.
    shuffle
        Whether passes have random orders; without, rows are taken as they stand.
    random_state
        Seed of a random start and of the orders.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_units, n_features)
        The units, along the rows of the grid.
    grid_ : UnitGrid
        Where they stand, and which are neighbours.
    hits_ : ndarray of the grid's shape
        Number of rows that each unit wins.
    quantisation_error_ : float
        Mean distance of the rows from their winners.
    topographic_error_ : float
        Share of the rows whose two nearest units are no neighbours.
    labels_ : ndarray of shape (n_samples,)
        Winner of each row.
    n_iter_ : int
        Passes made.
    n_steps_ : int
        Rows learned from.
    u_matrix_ : ndarray of the grid's shape
        Mean distance of each unit from those that touch it: ridges are borders of clusters.
    dead_units_ : ndarray
        Units that no row has for its winner.

    Notes
    -----
    .. math:: \Delta m_l = \eta\, e(l, i)\,(x^t - m_l), \qquad i = \arg\min_l \|x^t - m_l\|

    with the neighbourhood :math:`e(l, i)` of `SelfOrganisingMap`, which is 1 for the winner. With a
    radius of zero it is `OnlineKMeans`, to the last bit. `partial_fit` goes on with the schedule
    where it was. See Alpaydin 12.2.3 (equations 12.10 and 12.12), SIT1305 V.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import OnlineSelfOrganisingMap
    >>> learner = OnlineSelfOrganisingMap((6, 4), random_state=0).fit(dataset("iris").inputs)
    >>> round(learner.quantisation_error_, 1), learner.u_matrix_.shape
    (0.4, (6, 4))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "grid_shape": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "lattice": [StrOptions(LATTICES)],
        "neighbourhood": [StrOptions(NEIGHBOURHOODS)],
        "first_radius": [None, Interval(Real, 0, None, closed="left")],
        "last_radius": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right"), Schedule],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_steps": [None, Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"components", "random"}), "array-like"],
        "periodic": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        grid_shape: Any = (10, 10),
        *,
        lattice: str = "rectangular",
        neighbourhood: str = "gaussian",
        first_radius: float | None = None,
        last_radius: float = 0.5,
        learning_rate: Any = 0.5,
        max_iter: int = 10,
        n_steps: int | None = None,
        init: Any = "components",
        periodic: bool = False,
        shuffle: bool = True,
        random_state: Seed = None,
    ) -> None:
        self.grid_shape = grid_shape
        self.lattice = lattice
        self.neighbourhood = neighbourhood
        self.first_radius = first_radius
        self.last_radius = last_radius
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.init = init
        self.periodic = periodic
        self.shuffle = shuffle
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["OnlineSelfOrganisingMap"]:
        return [
            cls((4, 3)),
            cls(5, neighbourhood="bubble", periodic=True, init="random"),
            cls((4, 3), lattice="hexagonal", learning_rate=0.1, shuffle=False),
        ]

    @checked_fit
    @one_blas_thread()
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from the rows in several passes.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        random = generator(self.random_state)
        self._begin(rows, random, self.max_iter * len(rows))
        for _ in self._steps(range(self.max_iter), "pass", self.max_iter):
            order = random.permutation(len(rows)) if self.shuffle else np.arange(len(rows))
            self._learn(rows, order)
        self.n_iter_ = self.max_iter
        self._describe(rows)
        return self

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from further rows once, in their order; radius and rate go on where they were.

        Parameters
        ----------
        X
            Rows; those of the first call also start the units.
        y
            Not used.
        """
        first = not hasattr(self, "n_steps_")
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=first)
        if first:
            self._begin(rows, generator(self.random_state), len(rows))
        self._learn(rows, np.arange(len(rows)))
        self.n_iter_ = 1 if first else self.n_iter_ + 1
        self._describe(rows)
        return self

    def _begin(self, rows: np.ndarray, random: np.random.Generator, n_steps: int) -> None:
        self.grid_ = make_grid(self.grid_shape, self.lattice, self.periodic)
        warn_of_few_rows(self.grid_, len(rows))
        self._origin = rows.mean(axis=0)
        if isinstance(self.init, str) and self.init == "components":
            units = plane_of_units(self.grid_, self._origin, covariance(rows, self._origin))
        elif isinstance(self.init, str):
            # More units than rows start at rows that are drawn more than once.
            places = random.permutation(len(rows))
            units = rows[np.resize(places, self.grid_.n_units)]
        else:
            units = units_of(self.init, self.grid_.n_units, rows.shape[1])
        self._units = np.ascontiguousarray(units.T)
        self._horizon = n_steps if self.n_steps is None else self.n_steps
        self._start_radius = starting_radius(self.grid_, self.first_radius, self.last_radius)
        self.n_steps_ = 0

    def _learn(self, rows: np.ndarray, order: np.ndarray) -> None:
        steps = np.arange(self.n_steps_, self.n_steps_ + len(order))
        progress = np.minimum(steps / max(1, self._horizon - 1), 1.0)
        radii = self._start_radius + (self.last_radius - self._start_radius) * progress
        if isinstance(self.learning_rate, Schedule):
            rates = self.learning_rate.table(self.n_steps_ + 1, len(order))
        else:
            rates = self.learning_rate * (1.0 - (1.0 - LAST_SHARE) * progress)
        grid = self.grid_
        run_pass(
            rows, order, rates, radii, self._units, grid.n_columns, hexagonal=grid.hexagonal,
            bubble=self.neighbourhood == "bubble", periodic=grid.periodic,
        )  # fmt: skip
        if not np.isfinite(self._units).all():
            raise DataError(
                f"learning_rate={self.learning_rate!r} made units infinite; rates above 1 diverge."
            )
        self.n_steps_ += len(order)

    def _describe(self, rows: np.ndarray) -> None:
        self.cluster_centers_ = self._units.T.copy()
        grid = self.grid_
        units = self.cluster_centers_ - self._origin
        self.labels_, second = winners(rows, self._origin, units, two=grid.n_units > 1)
        self.hits_ = grid.as_map(np.bincount(self.labels_, minlength=grid.n_units))
        _, lengths = sum_by_winner(
            rows, self.labels_, np.empty(0), self._origin, units, np.zeros(len(units)),
            np.zeros_like(units),
        )  # fmt: skip
        self.quantisation_error_ = lengths / len(rows)
        torn = ~grid.are_adjacent(self.labels_, second) if grid.n_units > 1 else np.zeros(1)
        self.topographic_error_ = float(torn.mean())


def run_pass(
    rows: np.ndarray,
    order: np.ndarray,
    rates: np.ndarray,
    radii: np.ndarray,
    units: np.ndarray,
    n_columns: int,
    *,
    hexagonal: bool = False,
    bubble: bool = False,
    periodic: bool = False,
) -> None:
    """Move the winners of rows and their neighbours, in place.

    Parameters
    ----------
    rows, order
        All rows, and the order in which they are taken.
    rates, radii
        Learning rate and radius of each step.
    units
        The units, in columns.
    n_columns, hexagonal, bubble, periodic
        Shape of the grid and of the neighbourhood.
    """
    d, k = units.shape
    # Where all columns begin at lines of the cache, a step takes three quarters of the time.
    width = full_lines(k)
    columns, room = aligned_zeros((d, width)), aligned_zeros((2, width))
    columns[:, :k] = units
    map_pass(
        rows, order, rates, radii, columns, k, n_columns, hexagonal, bubble, periodic, room
    )  # fmt: skip
    units[:] = columns[:, :k]


def covariance(rows: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the mean of the products of deviations from the mean, without a copy of all rows."""
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), BLOCK):
        deviations = rows[start : start + BLOCK] - mean
        total += deviations.T @ deviations
    return total / len(rows)
