"""The batch map: all winners first, then every unit to the weighted mean of the rows about it."""

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    Additive,
    Chunk,
    Interval,
    MemorySource,
    Seed,
    Source,
    StrOptions,
    generator,
    one_blas_thread,
)
from verulam.local._competitive.online_k_means import units_of
from verulam.local._maps.grid import (
    LATTICES,
    NEIGHBOURHOODS,
    UnitGrid,
    UnitMap,
    make_grid,
    plane_of_units,
    starting_radius,
    warn_of_few_rows,
    winners,
)
from verulam.local._maps.map_loops import sum_by_winner
from verulam.numerics import full_moments

#: Neighbourhood weights held at a time; those of all pairs of a large map would fill the memory.
WEIGHTS_AT_ONCE = 2**20


@dataclass(frozen=True)
class MapUnits:
    """The units of a pass, measured from a point amid the rows.

    Attributes
    ----------
    origin : ndarray of shape (n_columns,)
        That point.
    units : ndarray of shape (n_units, n_columns)
        Deviations of the units from it.
    grid
        Where the units stand.
    radius
        How far neighbours learn with a winner.
    neighbourhood
        "gaussian" or "bubble".
    judged
        Whether the second winners of rows are looked for, too.
    """

    origin: np.ndarray
    units: np.ndarray
    grid: UnitGrid
    radius: float
    neighbourhood: str
    judged: bool = False


@dataclass(frozen=True)
class MapSums:
    """Sums over the rows of each winner.

    Attributes
    ----------
    parameters
        The units of the pass.
    weights : ndarray of shape (n_units,)
        Weight of the rows.
    deviations : ndarray of shape (n_units, n_columns)
        Sum of their deviations from the winner.
    squares, lengths
        Sums of squared and of plain distances from the winners.
    torn
        Weight of the rows whose two nearest units are no neighbours.
    """

    parameters: MapUnits
    weights: np.ndarray
    deviations: np.ndarray
    squares: float
    lengths: float
    torn: float

    def __add__(self, other: "MapSums") -> "MapSums":
        return MapSums(
            self.parameters,
            self.weights + other.weights,
            self.deviations + other.deviations,
            self.squares + other.squares,
            self.lengths + other.lengths,
            self.torn + other.torn,
        )


def map_sums(chunk: Chunk, parameters: MapUnits) -> MapSums:
    """Return the sums of one chunk."""
    X, origin, units = chunk.inputs, parameters.origin, parameters.units
    two = parameters.judged and len(units) > 1
    best, second = winners(X, origin, units, two=two)
    weights, deviations = np.zeros(len(units)), np.zeros(units.shape)
    row_weights = np.empty(0) if chunk.weights is None else chunk.weights
    squares, lengths = sum_by_winner(X, best, row_weights, origin, units, weights, deviations)
    torn = 0.0
    if two:
        apart = ~parameters.grid.are_adjacent(best, second)
        torn = float(apart.sum() if chunk.weights is None else chunk.weights[apart].sum())
    return MapSums(parameters, weights, deviations, squares, lengths, torn)


def updated_units(sums: MapSums) -> np.ndarray:
    """Return every unit at the mean of all rows, weighted by how near their winners are to it."""
    past = sums.parameters
    grid, units = past.grid, past.units
    totals = np.column_stack([sums.weights, sums.weights[:, None] * units + sums.deviations])
    new = units.copy()
    block = max(1, WEIGHTS_AT_ONCE // grid.n_units)
    for start in range(0, grid.n_units, block):
        some = np.arange(start, min(start + block, grid.n_units))
        pulled = grid.weights(some, past.radius, past.neighbourhood) @ totals
        # A unit that nothing pulls, as in a small bubble, stays where it is.
        moves = pulled[:, 0] > np.finfo(float).tiny
        new[some[moves]] = pulled[moves, 1:] / pulled[moves, :1]
    return new


def radius_steps(first: float | None, last: float, grid: UnitGrid, count: int) -> np.ndarray:
    """Return the radius of each pass: equal ratios where both ends are above zero."""
    start = starting_radius(grid, first, last)
    if count == 1:
        return np.array([start])
    if last > 0.0:
        return np.geomspace(start, last, count)
    return np.linspace(start, last, count)


class SelfOrganisingMap(UnitMap, Additive):
    r"""Spread units that are neighbours on a grid over the rows, by passes over all of them.

    Parameters
    ----------
    grid_shape
        Units along each side: (rows, columns), or one number for a line.
    lattice
        "rectangular" grid, or "hexagonal" one.
    neighbourhood
        How units near the winner learn with it: "gaussian", or "bubble", alike within the radius.
    first_radius
        Radius in the first pass, in steps of the grid; None for half the longer side,
        or a quarter of it where ends are joined.
    last_radius
        Radius in the last pass; 0 makes that pass one of k-means.
    n_iter
        Number of passes.
    init
        Where units start: "components" spreads them over the plane of the first principal
        components; "random" draws them from a Gaussian with the moments of the rows; an array of
        shape (n_units, n_features) holds them.
    periodic
        Whether the ends of the grid are joined, to a ring or a torus.
    random_state
        Seed of a random start.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_units, n_features)
        The units, along the rows of the grid.
    grid_ : UnitGrid
        Where they stand, and which are neighbours.
    hits_ : ndarray of the grid's shape
        Weight of the rows that each unit wins.
    quantisation_error_ : float
        Mean distance of the rows from their winners.
    topographic_error_ : float
        Share of the rows whose two nearest units are no neighbours.
    error_curve_ : list of float
        Mean squared distance of the rows from their winners, before each pass.
    labels_ : ndarray of shape (n_samples,)
        Winner of each row, where the data is in memory.
    u_matrix_ : ndarray of the grid's shape
        Mean distance of each unit from those that touch it: ridges are borders of clusters.
    dead_units_ : ndarray
        Units that no row has for its winner.

    Notes
    -----
    .. math:: m_l = \frac{\sum_t e(l, i_t)\, x^t}{\sum_t e(l, i_t)}, \qquad
              i_t = \arg\min_l \|x^t - m_l\|, \qquad
              e(l, i) = \exp\Bigl(-\frac{\|r_l - r_i\|^2}{2\sigma^2}\Bigr)

    where :math:`r_l` is the place of a unit on the grid and the radius :math:`\sigma` falls from
    pass to pass (Kohonen's batch map [kohonen1995]_). Alpaydin's (12.11) is a density, so that the
    winner's own weight grows without bound as :math:`\sigma` falls; here it is always 1. As
    :math:`e` depends on the winner alone, a pass needs only sums by winner: memory, streams and
    Dask give the same map. See Alpaydin 12.2.3, SIT1305 V, Bartkowiak 8.1.

    .. [kohonen1995] T. Kohonen, "Self-Organizing Maps", Springer, 1995.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import SelfOrganisingMap
    >>> learner = SelfOrganisingMap((6, 4)).fit(dataset("iris").inputs)
    >>> round(learner.quantisation_error_, 2), learner.hits_.shape
    (0.32, (6, 4))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "grid_shape": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "lattice": [StrOptions(LATTICES)],
        "neighbourhood": [StrOptions(NEIGHBOURHOODS)],
        "first_radius": [None, Interval(Real, 0, None, closed="left")],
        "last_radius": [Interval(Real, 0, None, closed="left")],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"components", "random"}), "array-like"],
        "periodic": ["boolean"],
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
        n_iter: int = 20,
        init: Any = "components",
        periodic: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.grid_shape = grid_shape
        self.lattice = lattice
        self.neighbourhood = neighbourhood
        self.first_radius = first_radius
        self.last_radius = last_radius
        self.n_iter = n_iter
        self.init = init
        self.periodic = periodic
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["SelfOrganisingMap"]:
        return [
            cls((4, 3)),
            cls(5, neighbourhood="bubble", periodic=True),
            cls((4, 3), lattice="hexagonal", init="random", n_iter=5),
        ]

    @property
    def labels_(self) -> np.ndarray:
        """Winner of each row of training, where the data was in memory."""
        labels = vars(self).get("_labels")
        if labels is None:
            raise AttributeError("labels_ are there after fit on data in memory; use predict.")
        return labels

    @one_blas_thread()
    def _learn(self, source: Source) -> None:
        grid = make_grid(self.grid_shape, self.lattice, self.periodic)
        if isinstance(source, MemorySource):
            warn_of_few_rows(grid, len(source.data))
        parameters = self._start(source, grid)
        curve: list[float] = []
        for radius in radius_steps(self.first_radius, self.last_radius, grid, self.n_iter):
            sums = self._total(source, replace(parameters, radius=float(radius)))
            curve.append(sums.squares / float(sums.weights.sum()))
            parameters = self._update(sums)
        self.error_curve_ = curve
        self.grid_ = grid
        self._store(parameters)
        self._describe(source, replace(parameters, judged=True))

    def _start(self, source: Source, grid: UnitGrid) -> MapUnits:
        moments = source.total(all_moments)
        mean, scatter = moments.mean[0], moments.scatter[0]
        covariance = scatter / moments.weight[0]
        if not isinstance(self.init, str):
            units = units_of(self.init, grid.n_units, len(mean))
            deviations = units - mean
        elif self.init == "components":
            deviations = plane_of_units(grid, np.zeros_like(mean), covariance)
        else:
            values, vectors = np.linalg.eigh(covariance)
            normal = generator(self.random_state).normal(size=(grid.n_units, len(mean)))
            deviations = (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        return MapUnits(mean, deviations, grid, 0.0, self.neighbourhood)

    def _statistics(self, chunk: Chunk, parameters: MapUnits) -> MapSums:
        return map_sums(chunk, parameters)

    def _total(self, source: Source, parameters: MapUnits) -> MapSums:
        # A pass depends on the units alone, so that no copy of the learner is made for it.
        return source.total(partial(map_sums, parameters=parameters))

    def _update(self, statistics: MapSums) -> MapUnits:
        return replace(statistics.parameters, units=updated_units(statistics))

    def _store(self, parameters: MapUnits) -> None:
        self._origin = parameters.origin
        self.cluster_centers_ = parameters.origin + parameters.units

    def _describe(self, source: Source, parameters: MapUnits) -> None:
        sums = self._total(source, parameters)
        total = float(sums.weights.sum())
        self.hits_ = parameters.grid.as_map(sums.weights)
        self.quantisation_error_ = sums.lengths / total
        self.topographic_error_ = sums.torn / total
        self._labels = None
        if isinstance(source, MemorySource):
            self._labels = self._winners(source.data.inputs)


def all_moments(chunk: Chunk) -> Any:
    """Return mean and scatter of the rows of a chunk, as one class."""
    codes = np.zeros(len(chunk), dtype=np.intp)
    return full_moments(chunk.inputs, codes, chunk.weights, 1)
