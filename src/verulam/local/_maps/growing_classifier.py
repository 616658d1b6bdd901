"""Supervised growing cells: radial units on a net that gets a cell where classes are confused."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataWarning,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    encode_classes,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.local._competitive.competition_loops import smallest, square_distances
from verulam.local._maps.growing import insert_cell
from verulam.numerics import njit

#: Ridge of the last least squares, as a share of the mean squared activation.
RIDGE = 1e-6


@njit()
def supervised_pass(X, codes, order, units, count, joined, widths, outputs, rates, signals):
    """Move cells as growing maps do, and correct their outputs by the error of each row.

    `rates` are those of the winner, of its neighbours and of the outputs, whose steps are divided
    by the sum of squared activations, so that none overshoots.
    """
    n_classes = outputs.shape[0]
    values = np.zeros(units.shape[1])
    for step in range(order.shape[0]):
        row = X[order[step]]
        square_distances(row, units, count, values)
        winner = smallest(values, count)
        total = 1e-12  # above zero also for a row that is far from all units
        for u in range(count):
            values[u] = np.exp(-0.5 * values[u] / (widths[u] * widths[u]))
            total += values[u] * values[u]
        for k in range(n_classes):
            error = 1.0 if codes[order[step]] == k else 0.0
            for u in range(count):
                error -= outputs[k, u] * values[u]
            signals[winner] += error * error
            for u in range(count):
                outputs[k, u] += rates[2] * error * values[u] / total
        for u in range(count):
            pull = rates[0] if u == winner else (rates[1] if joined[winner, u] else 0.0)
            if pull > 0.0:
                for j in range(row.shape[0]):
                    units[j, u] += pull * (row[j] - units[j, u])


def edge_widths(units: np.ndarray, joined: np.ndarray) -> np.ndarray:
    """Return the mean length of the edges of each cell, above zero also where cells coincide."""
    lengths = cdist(units, units)
    widths = (lengths * joined).sum(axis=1) / np.maximum(joined.sum(axis=1), 1)
    typical = float(widths.mean()) or 1.0
    return np.maximum(widths, 1e-3 * typical)


class GrowingCellsClassifier(Classifier):
    r"""Grow a net of radial units over rows, a unit at a time where classes are confused.

    Parameters
    ----------
    max_units
        Number of cells at which growth ends; it begins with three.
    learning_rate
        Part of the way to a row that its winner goes.
    neighbour_share
        Share of that for the neighbours of the winner.
    output_rate
        Share of the error of a row that its outputs make good.
    steps_per_unit
        Rows between two new cells.
    decay
        Share of all errors that is forgotten before a new cell is put in.
    random_state
        Seed of the start and of the order of the rows.

    Attributes
    ----------
    cells_ : ndarray of shape (n_units, n_features)
        Centres of the units.
    widths_ : ndarray of shape (n_units,)
        Their widths: mean lengths of their edges.
    edges_ : ndarray of shape (n_edges, 2)
        Pairs of cells that are joined.
    coef_ : ndarray of shape (n_classes, n_units)
        Outputs of the units.
    signals_ : ndarray of shape (n_units,)
        Squared errors that the cells had gathered at the end.
    classes_ : ndarray
        The classes.

    Notes
    -----
    Cells move as in `GrowingCells`; each is a Gaussian unit with an output for each class, trained
    by the delta rule, and a new cell goes where squared errors of the outputs gather
    (Fritzke [fritzke1994]_). When growth has ended, the outputs are found by least squares. See
    Alpaydin 12.10.

    .. [fritzke1994] B. Fritzke, "Growing cell structures: a self-organizing network for
       unsupervised and supervised learning", Neural Networks 7, 1441-1460, 1994.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import GrowingCellsClassifier
    >>> iris = dataset("iris")
    >>> learner = GrowingCellsClassifier(12, random_state=0)
    >>> learner.fit(iris.inputs, iris.target_values).score(iris.inputs, iris.target_values) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_units": [Interval(Integral, 3, None, closed="left")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "neighbour_share": [Interval(Real, 0, 1, closed="both")],
        "output_rate": [Interval(Real, 0, 1, closed="right")],
        "steps_per_unit": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0, 1, closed="both")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        max_units: int = 30,
        *,
        learning_rate: float = 0.05,
        neighbour_share: float = 0.05,
        output_rate: float = 0.1,
        steps_per_unit: int = 200,
        decay: float = 0.1,
        random_state: Seed = None,
    ) -> None:
        self.max_units = max_units
        self.learning_rate = learning_rate
        self.neighbour_share = neighbour_share
        self.output_rate = output_rate
        self.steps_per_unit = steps_per_unit
        self.decay = decay
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["GrowingCellsClassifier"]:
        return [cls(10)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Grow the net over rows and their classes.

        Parameters
        ----------
        X
            Rows.
        y
            Classes.
        """
        rows, y = validate_data(self, X, y, dtype=np.float64, order="C")
        codes, self.classes_ = encode_classes(self, y)
        if len(self.classes_) < 2:
            raise ValueError(
                "GrowingCellsClassifier: y needs at least two classes, and there is only one "
                f"class: {self.classes_[0]}."
            )
        if len(rows) < self.max_units:
            warn_caller(
                f"max_units={self.max_units} is more than the rows of X (n_samples={len(rows)}); "
                "some cells lie between rows.",
                DataWarning,
            )
        self._grow(rows, codes.astype(np.int64), generator(self.random_state))
        activations = self._activations(rows)
        gram = activations.T @ activations
        gram += np.eye(len(gram)) * (RIDGE * np.trace(gram) / len(gram) + np.finfo(float).tiny)
        targets = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        self.coef_ = scipy.linalg.solve(gram, activations.T @ targets, assume_a="pos").T
        return self

    def _grow(self, rows: np.ndarray, codes: np.ndarray, random: np.random.Generator) -> None:
        units = np.empty((rows.shape[1], self.max_units))
        units[:, :3] = rows[random.choice(len(rows), 3, replace=len(rows) < 3)].T
        joined = np.zeros((self.max_units, self.max_units), dtype=np.bool_)
        joined[:3, :3] = ~np.eye(3, dtype=bool)
        outputs = np.zeros((len(self.classes_), self.max_units))
        signals = np.zeros(self.max_units)
        rate = float(self.learning_rate)
        rates = np.array([rate, rate * self.neighbour_share, self.output_rate])
        widths = np.ones(self.max_units)
        for count in range(3, self.max_units + 1):
            widths[:count] = edge_widths(units[:, :count].T, joined[:count, :count])
            order = random.integers(len(rows), size=self.steps_per_unit)
            supervised_pass(
                rows, codes, order, units, count, joined, widths, outputs, rates, signals
            )
            if count < self.max_units:
                signals *= 1.0 - self.decay
                insert_cell(units, joined, signals, count)
                outputs[:, count] = outputs[:, np.flatnonzero(joined[count])].mean(axis=1)
        self.cells_, self.signals_ = units.T.copy(), signals
        self.widths_ = edge_widths(self.cells_, joined)
        self.edges_ = np.argwhere(np.triu(joined))

    def _activations(self, rows: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * cdist(rows, self.cells_, "sqeuclidean") / self.widths_**2)

    def _scores(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        coef = self.coef_.T

        def outputs(part: np.ndarray) -> np.ndarray:
            return self._activations(part) @ coef

        return map_rows(outputs, rows, (len(rows), coef.shape[1]))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the output for each class; of two classes, the second less the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with the largest output of each row."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]
