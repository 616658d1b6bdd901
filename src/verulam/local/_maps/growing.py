"""Growing cell structures: a net of triangles that gets a new cell where errors gather."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin

from verulam.base import (
    RANDOM_STATE,
    DataWarning,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.local._competitive.competition_loops import smallest, square_distances
from verulam.local._competitive.online_k_means import nearest_units
from verulam.numerics import njit


@njit()
def growing_pass(X, order, first, last, units, count, joined, rate, share, by_error, signals):
    """Move the winner of each row and its neighbours, and add to the winner's signal."""
    squares = np.zeros(units.shape[1])
    for step in range(first, last):
        row = X[order[step]]
        square_distances(row, units, count, squares)
        winner = smallest(squares, count)
        signals[winner] += squares[winner] if by_error else 1.0
        for u in range(count):
            pull = rate if u == winner else (rate * share if joined[winner, u] else 0.0)
            if pull > 0.0:
                for j in range(row.shape[0]):
                    units[j, u] += pull * (row[j] - units[j, u])


def insert_cell(units: np.ndarray, joined: np.ndarray, signals: np.ndarray, count: int) -> None:
    """Put cell number `count` between the cell with the largest signal and its farthest neighbour.

    It is joined to both and to the neighbours that they share, so that the net stays one of
    triangles, and takes an equal part of the signals of all that it is joined to.
    """
    worst = int(signals[:count].argmax())
    neighbours = np.flatnonzero(joined[worst, :count])
    lengths = np.square(units[:, neighbours] - units[:, [worst]]).sum(axis=0)
    farthest = int(neighbours[lengths.argmax()])
    units[:, count] = 0.5 * (units[:, worst] + units[:, farthest])
    # The edge between the two is cut in half, and so are the triangles on it: their third corners
    # are joined, too. All around pass on an equal part of what is theirs of the new cell's signal.
    common = np.flatnonzero(joined[worst, :count] & joined[farthest, :count])
    around = np.concatenate([[worst, farthest], common])
    joined[worst, farthest] = joined[farthest, worst] = False
    joined[count, around] = joined[around, count] = True
    parts = signals[around] / (len(around) + 1.0)
    signals[around] -= parts
    signals[count] = parts.sum()


class GrowingCells(ClassNamePrefixFeaturesOutMixin, ClusterMixin, Transformer):
    r"""Grow a net of cells over rows, a cell at a time where errors or rows gather.

    Parameters
    ----------
    max_units
        Number of cells at which growth ends; it begins with three.
    signal
        What cells gather: squared "errors" of the rows they win, or the number of "wins". New cells
        go where it is largest; by wins, cells come to be as dense as the rows.
    learning_rate
        Part of the way to a row that its winner goes.
    neighbour_share
        Share of that for the neighbours of the winner.
    steps_per_unit
        Rows between two new cells.
    decay
        Share of all signals that is forgotten before a new cell is put in.
    random_state
        Seed of the start and of the order of the rows.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_units, n_features)
        The cells, in the order in which they were put in.
    edges_ : ndarray of shape (n_edges, 2)
        Pairs of cells that are joined.
    signals_ : ndarray of shape (n_units,)
        What the cells had gathered at the end.
    labels_ : ndarray of shape (n_samples,)
        Nearest cell of each row.
    quantisation_error_ : float
        Mean distance of the rows from their cells.
    dead_units_ : ndarray
        Cells that no row has for its nearest.

    Notes
    -----
    After every `steps_per_unit` rows a cell is put between the one with the largest signal and its
    farthest neighbour (Fritzke [fritzke1994]_; of the cells around the new one each gives up an
    equal part of its signal). The self-organising map of a fixed grid is `SelfOrganisingMap`. See
    Alpaydin 12.10.

    .. [fritzke1994] B. Fritzke, "Growing cell structures: a self-organizing network for
       unsupervised and supervised learning", Neural Networks 7, 1441-1460, 1994.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import GrowingCells
    >>> learner = GrowingCells(12, random_state=0).fit(dataset("iris").inputs)
    >>> learner.cluster_centers_.shape, len(learner.edges_)
    ((12, 4), 21)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_units": [Interval(Integral, 3, None, closed="left")],
        "signal": [StrOptions({"errors", "wins"})],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "neighbour_share": [Interval(Real, 0, 1, closed="both")],
        "steps_per_unit": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0, 1, closed="both")],
        "random_state": RANDOM_STATE,
    }
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_clustering": "cells are many to a cluster, and one may be nearest to no row",
    }

    def __init__(
        self,
        max_units: int = 50,
        *,
        signal: str = "errors",
        learning_rate: float = 0.1,
        neighbour_share: float = 0.05,
        steps_per_unit: int = 200,
        decay: float = 0.1,
        random_state: Seed = None,
    ) -> None:
        self.max_units = max_units
        self.signal = signal
        self.learning_rate = learning_rate
        self.neighbour_share = neighbour_share
        self.steps_per_unit = steps_per_unit
        self.decay = decay
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["GrowingCells"]:
        return [cls(6), cls(8, signal="wins")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Grow the net over the rows.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        distinct = np.unique(rows, axis=0)
        if len(distinct) < self.max_units:
            warn_caller(
                f"max_units={self.max_units} is more than the different rows of X, of which there "
                f"are {len(distinct)} (n_samples={len(rows)}); some cells lie between rows.",
                DataWarning,
            )
        random = generator(self.random_state)
        units = np.empty((rows.shape[1], self.max_units))
        units[:, :3] = rows[random.choice(len(rows), 3, replace=len(rows) < 3)].T
        joined = np.zeros((self.max_units, self.max_units), dtype=np.bool_)
        joined[:3, :3] = ~np.eye(3, dtype=bool)
        signals = np.zeros(self.max_units)
        for count in range(3, self.max_units + 1):
            order = random.integers(len(rows), size=self.steps_per_unit)
            growing_pass(
                rows, order, 0, len(order), units, count, joined, float(self.learning_rate),
                float(self.neighbour_share), self.signal == "errors", signals,
            )  # fmt: skip
            if count < self.max_units:
                signals *= 1.0 - self.decay
                insert_cell(units, joined, signals, count)
        self.cluster_centers_ = units.T.copy()
        self.signals_ = signals
        self.edges_ = np.argwhere(np.triu(joined))
        self.labels_ = nearest_units(rows, self.cluster_centers_)
        wins = np.bincount(self.labels_, minlength=self.max_units)
        self.dead_units_ = np.flatnonzero(wins == 0)
        deviations = rows - self.cluster_centers_[self.labels_]
        self.quantisation_error_ = float(np.sqrt(np.square(deviations).sum(axis=1)).mean())
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _rows(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the number of the nearest cell of each row."""
        return nearest_units(self._rows(X), self.cluster_centers_)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row from each cell."""
        rows, cells = self._rows(X), self.cluster_centers_
        return map_rows(lambda part: cdist(part, cells), rows, (len(rows), len(cells)))
