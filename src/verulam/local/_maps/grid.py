"""Grids of units: where they stand, which are neighbours, and what a map of them tells."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin

from verulam.base import (
    DataError,
    DataWarning,
    Transformer,
    check_is_fitted,
    map_rows,
    nearest_names,
    validate_data,
    warn_caller,
)
from verulam.local._maps.map_loops import ROW_HEIGHT, best_units, second_units

LATTICES = {"rectangular", "hexagonal"}
NEIGHBOURHOODS = {"gaussian", "bubble"}
#: Products of rows and units held at a time, so that they are still in the cache when compared.
PRODUCTS_AT_ONCE = 2**17


@dataclass(frozen=True)
class UnitGrid:
    """Units in a line or in rows and columns.

    Attributes
    ----------
    shape
        Number of units along each side: one number for a line.
    lattice
        "rectangular"; or "hexagonal", where every other row is shifted by one half.
    periodic
        Whether ends are joined: a line to a ring, rows and columns to a torus.

    Examples
    --------
    >>> from verulam.local import UnitGrid
    >>> UnitGrid((2, 2), "hexagonal").positions.round(2).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.87], [1.5, 0.87]]
    """

    shape: tuple[int, ...]
    lattice: str = "rectangular"
    periodic: bool = False

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(np.prod(self.shape))

    @property
    def n_columns(self) -> int:
        """Number of units in a row."""
        return self.shape[-1]

    @property
    def hexagonal(self) -> bool:
        """Whether every other row is shifted."""
        return self.lattice == "hexagonal" and len(self.shape) == 2

    @cached_property
    def positions(self) -> np.ndarray:
        """Place of each unit: across, and down where there are rows."""
        rows, columns = np.divmod(np.arange(self.n_units), self.n_columns)
        across = columns + (0.5 * (rows % 2) if self.hexagonal else 0.0)
        if len(self.shape) == 1:
            return across[:, None].astype(np.float64)
        return np.column_stack([across, rows * (ROW_HEIGHT if self.hexagonal else 1.0)])

    def distances(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return how far units are from others on the grid; the arrays of numbers broadcast."""
        return np.sqrt(self._squares(first, second))

    def _squares(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        total: Any = 0.0
        for places, extent in zip(self.positions.T, self._extent, strict=True):
            steps = places[first] - places[second]
            if self.periodic:
                steps = np.abs(steps)
                steps = np.minimum(steps, extent - steps)
            total = total + steps * steps
        return total

    @property
    def _extent(self) -> np.ndarray:
        height = ROW_HEIGHT if self.hexagonal else 1.0
        sides = [float(self.n_columns), self.shape[0] * height]
        return np.array(sides[: len(self.shape)])

    def _pairs(self, reach: float) -> np.ndarray:
        tree = cKDTree(self.positions, boxsize=self._extent if self.periodic else None)
        return tree.query_pairs(reach, output_type="ndarray").astype(np.int64)

    @cached_property
    def touching(self) -> np.ndarray:
        """Pairs of units that are one apart: each has two, four or six such neighbours."""
        return self._pairs(1.0 + 1e-9)

    @cached_property
    def adjacent(self) -> np.ndarray:
        """Pairs of neighbours, corner to corner included on rectangular grids."""
        return self._pairs(self._reach)

    @property
    def _reach(self) -> float:
        return 1.1 if self.hexagonal else 1.5

    def are_adjacent(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return whether units are neighbours of others, corner to corner included."""
        lengths = self.distances(first, second)
        return (lengths > 0.0) & (lengths < self._reach)

    @cached_property
    def neighbours(self) -> np.ndarray:
        """Adjacent units of each unit, one row each; -1 where there are no more."""
        pairs = np.vstack([self.adjacent, self.adjacent[:, ::-1]])
        pairs = pairs[np.lexsort([pairs[:, 1], pairs[:, 0]])]
        counts = np.bincount(pairs[:, 0], minlength=self.n_units)
        table = np.full((self.n_units, max(1, counts.max(initial=0))), -1, dtype=np.int64)
        places = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
        table[pairs[:, 0], places] = pairs[:, 1]
        return table

    def weights(self, units: np.ndarray, radius: float, neighbourhood: str) -> np.ndarray:
        """Return how much some units learn with every unit that wins; 1 with themselves."""
        squares = self._squares(units[:, None], np.arange(self.n_units)[None, :])
        # Far below one step the bell is zero for all but the unit itself, and its square no number.
        if radius < 1e-6:
            return (squares == 0.0).astype(np.float64)
        if neighbourhood == "bubble":
            return (squares <= (radius * (1.0 + 1e-9)) ** 2).astype(np.float64)
        return np.exp(squares * (-0.5 / radius**2))

    def as_map(self, values: np.ndarray) -> np.ndarray:
        """Return one value for each unit as an array of the grid's shape."""
        return np.asarray(values).reshape(self.shape)


def make_grid(grid_shape: Any, lattice: str, periodic: bool) -> UnitGrid:
    """Return the grid that a learner's arguments stand for."""
    sides = (grid_shape,) if np.ndim(grid_shape) == 0 else tuple(grid_shape)
    whole = all(isinstance(side, int | np.integer) and side >= 1 for side in sides)
    if not whole or len(sides) not in (1, 2):
        raise DataError(
            f"grid_shape={grid_shape!r}; expected a whole number from 1 on for a line of units, or "
            "two of them for rows and columns."
        )
    if periodic and lattice == "hexagonal" and len(sides) == 2 and sides[0] % 2:
        raise DataError(
            f"grid_shape={grid_shape!r}: a periodic hexagonal grid needs an even number of rows."
        )
    return UnitGrid(tuple(int(side) for side in sides), lattice, periodic)


def starting_radius(grid: UnitGrid, first: float | None, last: float) -> float:
    """Return the first radius; by default half of what two units can be apart along one side."""
    extent = max(grid.shape) / (2.0 if grid.periodic else 1.0)
    start = max(1.0, extent / 2.0) if first is None else float(first)
    if last > start:
        raise DataError(
            f"last_radius={last!r} is more than first_radius, which is {start:g}; the "
            "neighbourhood shrinks."
        )
    return start


def warn_of_few_rows(grid: UnitGrid, n_rows: int) -> None:
    """Say that there are fewer rows than units."""
    if n_rows < grid.n_units:
        warn_caller(
            f"grid_shape has {grid.n_units} units and X has {n_rows} rows (n_samples={n_rows}); "
            "units without a row lie between those that have one.",
            DataWarning,
        )


def plane_of_units(grid: UnitGrid, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return units spread over the first principal components, two deviations to each side.

    The longer side of the grid runs along the first component.
    """
    values, vectors = np.linalg.eigh(covariance)
    n_axes = min(len(grid.shape), len(values))
    directions = vectors[:, ::-1][:, :n_axes]
    # A component and its opposite are the same: the largest loading is positive.
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(n_axes)])
    deviations = np.sqrt(np.maximum(values[::-1][:n_axes], 0.0))
    axes = (directions * np.where(signs < 0, -1.0, 1.0) * deviations).T
    places = grid.positions - grid.positions.mean(axis=0)
    places = 2.0 * places / np.maximum(np.abs(places).max(axis=0), 1.0)
    if len(grid.shape) == 2 and grid.shape[0] > grid.shape[1]:
        places = places[:, ::-1]
    return mean + places[:, :n_axes] @ axes


def winners(
    X: np.ndarray, origin: np.ndarray, units: np.ndarray, *, two: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest unit of each row, and the second where `two` says so.

    Units are measured from `origin`, so that products do not lose the digits that rows share.
    """
    best = np.empty(len(X), dtype=np.int64)
    second = np.empty(len(X) if two else 0, dtype=np.int64)
    half_squares = 0.5 * np.einsum("kj,kj->k", units, units)
    columns = np.ascontiguousarray(units.T)
    block = max(256, PRODUCTS_AT_ONCE // len(units))
    for start in range(0, len(X), block):
        rows = slice(start, start + block)
        products = (X[rows] - origin) @ columns
        best_units(products, half_squares, best[rows])
        if two:
            second_units(products, best[rows], second[rows])
    return best, second


def triangle_places(X: np.ndarray, units: np.ndarray, grid: UnitGrid) -> np.ndarray:
    """Return the place of each row in the triangle of its winner and two neighbours.

    The nearest neighbour of the winner is joined by the nearest unit that is a neighbour of both;
    the row is projected onto their plane, and into the triangle where it falls outside.
    """
    squares = cdist(X, units, "sqeuclidean")
    first = squares.argmin(axis=1)
    near = grid.neighbours[first]
    among = np.where(near >= 0, np.take_along_axis(squares, near, axis=1), np.inf)
    second = near[np.arange(len(X)), among.argmin(axis=1)]
    shared = (near >= 0) & grid.are_adjacent(near, second[:, None])
    among = np.where(shared, among, np.inf)
    third = np.where(shared.any(axis=1), near[np.arange(len(X)), among.argmin(axis=1)], second)
    corners = np.stack([first, second, third], axis=1)
    shares = _barycentric(X, units[corners])
    return np.einsum("nc,nca->na", shares, grid.positions[corners])


def _barycentric(X: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return weights of three corners, not below zero and with sum one, nearest to each row.

    The nearest point of a triangle is inside, or on one of its sides: of the four candidates that
    are allowed, the nearest is taken.
    """
    candidates = [_inside(X, corners)]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        step = corners[:, b] - corners[:, a]
        length = np.einsum("nj,nj->n", step, step)
        along = np.einsum("nj,nj->n", X - corners[:, a], step)
        share = np.clip(np.divide(along, length, out=np.zeros_like(along), where=length > 0), 0, 1)
        weights = np.zeros((len(X), 3))
        weights[:, a], weights[:, b] = 1.0 - share, share
        candidates.append(weights)
    stacked = np.stack(candidates)
    points = np.einsum("snc,ncj->snj", stacked, corners)
    errors = np.square(points - X).sum(axis=2)
    errors[(stacked < 0.0).any(axis=2)] = np.inf
    return stacked[errors.argmin(axis=0), np.arange(len(X))]


def _inside(X: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the weights of the projection onto the plane; negative where it has none inside."""
    # Barycentric coordinates, from the normal equations of w = second u + third v; corners on a
    # line span no plane.
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    w = X - corners[:, 0]
    uu, vv, uv, uw, vw = (
        np.einsum("nj,nj->n", a, b) for a, b in ((u, u), (v, v), (u, v), (u, w), (v, w))
    )
    area = uu * vv - uv**2
    flat = area <= 1e-12 * uu * vv
    area = np.where(flat, 1.0, area)
    second, third = (vv * uw - uv * vw) / area, (uu * vw - uv * uw) / area
    weights = np.stack([1.0 - second - third, second, third], axis=1)
    weights[flat] = -1.0
    return weights


class UnitMap(ClassNamePrefixFeaturesOutMixin, ClusterMixin, Transformer):
    """What fitted maps have in common: winners, places, and what the map tells of the rows."""

    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_clustering": "units are the places of a grid, several to a cluster or none",
    }
    grid_: UnitGrid
    cluster_centers_: np.ndarray
    hits_: np.ndarray
    _origin: np.ndarray

    @property
    def _n_features_out(self) -> int:
        return len(self.grid_.shape)

    @property
    def u_matrix_(self) -> np.ndarray:
        """Mean distance of each unit from those that touch it, in the shape of the grid."""
        check_is_fitted(self)
        grid, units = self.grid_, self.cluster_centers_
        first, second = grid.touching.T
        lengths = np.sqrt(np.square(units[first] - units[second]).sum(axis=1))
        ends = np.concatenate([first, second])
        totals = np.bincount(ends, np.tile(lengths, 2), minlength=grid.n_units)
        return grid.as_map(totals / np.maximum(np.bincount(ends, minlength=grid.n_units), 1))

    @property
    def dead_units_(self) -> np.ndarray:
        """Units that no training row has for its winner."""
        check_is_fitted(self)
        return np.flatnonzero(np.ravel(self.hits_) == 0)

    def _rows(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def _winners(self, rows: np.ndarray) -> np.ndarray:
        origin, units = self._origin, self.cluster_centers_ - self._origin
        return map_rows(lambda part: winners(part, origin, units)[0], rows, (len(rows),), np.int64)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the number of each row's winner, counted along the rows of the grid."""
        return self._winners(self._rows(X))

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the place of each row's winner on the grid: across, and down."""
        winners = self.predict(X)
        return self.grid_.positions[winners]

    def place(self, X: ArrayLike) -> np.ndarray:
        r"""Return a place on the grid for each row by itself, between the units.

        Parameters
        ----------
        X
            Rows.

        Notes
        -----
        Of the units next to the winner the nearest is found, and of those next to both the
        nearest again. The row is projected onto the triangle of the three in the space of the
        inputs, and its place is the point of the triangle on the grid with the same weights
        [vesanto1997]_. On a line of units the triangle is a segment. Bartkowiak 8.1.2 shows a
        point-wise projection of Liao's without its formula; this one is published and has the same
        aim: rows that share a winner come apart.

        .. [vesanto1997] J. Vesanto, "Data mining techniques based on the self-organizing map",
           master's thesis, Helsinki University of Technology, 1997.
        """
        rows = self._rows(X)
        if self.grid_.n_units == 1:
            return np.repeat(self.grid_.positions, len(rows), axis=0)
        units, grid = self.cluster_centers_, self.grid_
        # Joined ends have no place between them on a sheet.
        flat = UnitGrid(grid.shape, grid.lattice)
        shape = (len(rows), len(grid.shape))
        return map_rows(lambda part: triangle_places(part, units, flat), rows, shape)

    def component_plane(self, column: Any) -> np.ndarray:
        """Return one input of all units, in the shape of the grid.

        Parameters
        ----------
        column
            Its name, where the rows had names, or its number, counted from 0.
        """
        check_is_fitted(self)
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        if isinstance(column, str):
            if column not in names:
                nearest = ", ".join(nearest_names(column, names)) or "none, X had no names"
                raise DataError(f"column={column!r} is no column of X; nearest: {nearest}.")
            column = names.index(column)
        if not isinstance(column, int | np.integer) or not 0 <= column < self.n_features_in_:
            raise DataError(
                f"column={column!r}; expected a name, or a number from 0 to "
                f"{self.n_features_in_ - 1}."
            )
        return self.grid_.as_map(self.cluster_centers_[:, column])

    def quantisation_error(self, X: ArrayLike) -> float:
        """Return the mean distance of rows from their winners."""
        rows = self._rows(X)
        deviations = rows - self.cluster_centers_[self._winners(rows)]
        return float(np.sqrt(np.square(deviations).sum(axis=1)).mean())

    def topographic_error(self, X: ArrayLike) -> float:
        """Return the share of rows whose two nearest units are no neighbours on the grid."""
        rows = self._rows(X)
        if self.grid_.n_units < 2:
            return 0.0
        units = self.cluster_centers_ - self._origin
        best, second = winners(rows, self._origin, units, two=True)
        return float(np.mean(~self.grid_.are_adjacent(best, second)))
