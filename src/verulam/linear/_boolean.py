"""Threshold units (McCulloch and Pitts): Boolean functions of one unit, and of two layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError, unknown_name
from verulam.linear._training.geometry import points_of
from verulam.linear._training.separability import separability

#: Inputs of the largest truth table that is written out, a million rows.
_MOST_INPUTS = 20


@dataclass(frozen=True)
class ThresholdUnit:
    r"""A unit that gives one where :math:`w^T x + w_0 > 0`, and zero elsewhere, at equality too.

    Attributes
    ----------
    weights, bias
        The weights and the bias, which is minus the threshold.

    Notes
    -----
    See Alpaydin 11.2 (11.3) and SIT1305 IV (McCulloch and Pitts).

    Examples
    --------
    >>> import numpy as np
    >>> both = ThresholdUnit(np.array([1.0, 1.0]), -1.5)
    >>> both([[0, 0], [0, 1], [1, 0], [1, 1]]).tolist()
    [0, 0, 0, 1]
    """

    weights: np.ndarray
    bias: float

    def __call__(self, inputs: ArrayLike) -> np.ndarray:
        """Return 0 or 1 for each row."""
        values = points_of(inputs, len(self.weights)) @ self.weights + self.bias
        return (values > 0).astype(np.int64)


@dataclass(frozen=True)
class ThresholdNetwork:
    """Units in one hidden layer, and one unit that reads them.

    Attributes
    ----------
    hidden_weights : ndarray of shape (n_units, n_inputs)
        Weights of the hidden units.
    hidden_biases : ndarray of shape (n_units,)
        Their biases.
    output
        The unit that reads them.

    Examples
    --------
    >>> network = network_for(truth_table("xor"))
    >>> len(network.hidden_biases), network(boolean_inputs(2)).tolist()
    (2, [0, 1, 1, 0])
    """

    hidden_weights: np.ndarray
    hidden_biases: np.ndarray
    output: ThresholdUnit

    def hidden(self, inputs: ArrayLike) -> np.ndarray:
        """Return what the hidden units give for each row."""
        rows = points_of(inputs, self.hidden_weights.shape[1])
        values = rows @ self.hidden_weights.T + self.hidden_biases
        return (values > 0).astype(np.int64)

    def __call__(self, inputs: ArrayLike) -> np.ndarray:
        """Return 0 or 1 for each row."""
        return self.output(self.hidden(inputs))


_FUNCTIONS: dict[str, Callable[[np.ndarray], Any]] = {
    "and": lambda rows: rows.all(axis=1),
    "or": lambda rows: rows.any(axis=1),
    "nand": lambda rows: np.logical_not(rows.all(axis=1)),
    "nor": lambda rows: np.logical_not(rows.any(axis=1)),
    "not": lambda rows: np.logical_not(rows[:, 0]),
    "xor": lambda rows: rows.sum(axis=1) % 2 == 1,
    "parity": lambda rows: rows.sum(axis=1) % 2 == 1,
}


def boolean_inputs(n_inputs: int, *, bipolar: bool = False) -> np.ndarray:
    """Return all rows of a truth table, in counting order.

    Parameters
    ----------
    n_inputs
        Number of inputs.
    bipolar
        Whether to write -1 for false instead of 0.

    Examples
    --------
    >>> boolean_inputs(2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    if not 1 <= n_inputs <= _MOST_INPUTS:
        raise DataError(
            f"n_inputs must be from 1 to {_MOST_INPUTS}, for a table has 2**n_inputs rows; got "
            f"{n_inputs}."
        )
    rows = np.array(list(product([0.0, 1.0], repeat=n_inputs)))
    return 2.0 * rows - 1.0 if bipolar else rows


def truth_table(name: str, n_inputs: int | None = None) -> np.ndarray:
    """Return the outputs of a named function for all rows of its table.

    Parameters
    ----------
    name
        "and", "or", "not", "nand", "nor", "xor" or "parity".
    n_inputs
        Number of inputs, two if not given, or one for "not".

    Examples
    --------
    >>> truth_table("xor").tolist()
    [0, 1, 1, 0]
    """
    if name not in _FUNCTIONS:
        raise unknown_name("Boolean function", name, _FUNCTIONS)
    size = n_inputs or (1 if name == "not" else 2)
    return _FUNCTIONS[name](boolean_inputs(size).astype(bool)).astype(np.int64)


def known_unit(name: str, n_inputs: int = 2) -> ThresholdUnit:
    """Return a unit with weights written down by hand.

    Parameters
    ----------
    name
        "and", "or", "not", "nand" or "nor".
    n_inputs
        Number of inputs.

    Examples
    --------
    >>> known_unit("or")(boolean_inputs(2)).tolist()
    [0, 1, 1, 1]
    """
    units = {
        "and": (1.0, 0.5 - n_inputs),
        "or": (1.0, -0.5),
        "nand": (-1.0, n_inputs - 0.5),
        "nor": (-1.0, 0.5),
    }
    if name == "not":
        return ThresholdUnit(np.array([-1.0]), 0.5)
    if name not in units:
        raise unknown_name("unit", name, [*units, "not"])
    weight, bias = units[name]
    return ThresholdUnit(np.full(n_inputs, weight), bias)


def is_separable(outputs: Sequence[int] | np.ndarray) -> bool:
    """Whether one unit can compute a function, given by its outputs for all rows of its table.

    Of the sixteen functions of two inputs fourteen are separable, all but XOR and its negation.

    Examples
    --------
    >>> is_separable(truth_table("and")), is_separable(truth_table("xor"))
    (True, False)
    """
    table = _checked_table(outputs)
    if len(set(table.tolist())) == 1:
        return True
    return bool(separability(boolean_inputs(_input_count(table)), table))


def network_for(outputs: Sequence[int] | np.ndarray) -> ThresholdNetwork:
    """Build two layers that compute a function: one hidden unit for each true row, then OR.

    A lookup table in disguise: it is exact, needs up to :math:`2^d` units, and knows nothing of
    rows it was not told of. See Alpaydin 11.6 (figure 11.7).

    Examples
    --------
    >>> network_for([1, 0, 0, 1])(boolean_inputs(2)).tolist()
    [1, 0, 0, 1]
    """
    table = _checked_table(outputs)
    rows = boolean_inputs(_input_count(table))[table == 1]
    # A unit fires for its own row only: every input that differs costs one, of a slack of a half.
    weights = 2.0 * rows - 1.0
    biases = 0.5 - rows.sum(axis=1)
    return ThresholdNetwork(weights, biases, ThresholdUnit(np.ones(len(rows)), -0.5))


@dataclass(frozen=True)
class CellApproximator:
    r"""A function built of constant or linear pieces over a grid of cells.

    Attributes
    ----------
    edges : list of ndarray
        Borders of the cells along each input: the hyperplanes of the first layer.
    values : ndarray
        Value in the middle of each cell: the weights of the output.
    slopes : ndarray or None
        Gradient in each cell, for linear pieces.

    Notes
    -----
    Units of the first layer say on which side of a border a row lies, those of the second AND the
    borders of one cell, and the output adds up the values of the cells that fire, which is one.
    See Alpaydin 11.6 and exercise 11.10.

    Examples
    --------
    >>> import numpy as np
    >>> built = build_approximator(np.sin, [(0.0, 3.0)], n_cells=30)
    >>> float(abs(built([[1.0]]) - np.sin(1.0)).max().round(3))
    0.028
    """

    edges: list[np.ndarray]
    values: np.ndarray
    slopes: np.ndarray | None

    def cells(self, inputs: ArrayLike) -> np.ndarray:
        """Return the second layer: one column for each cell, one where the row lies in it."""
        rows = np.asarray(inputs, dtype=np.float64)
        places = self._places(rows)
        fired = np.zeros((len(rows), self.values.size), dtype=np.int64)
        fired[np.arange(len(rows)), np.ravel_multi_index(places, self.values.shape)] = 1
        return fired

    def __call__(self, inputs: ArrayLike) -> np.ndarray:
        """Return the value of the piece in which each row lies."""
        rows = np.asarray(inputs, dtype=np.float64)
        places = self._places(rows)
        values = self.values[places]
        if self.slopes is None:
            return values
        middles = np.column_stack(
            [
                (edges[:-1] + edges[1:])[place] / 2
                for edges, place in zip(self.edges, places, strict=True)
            ]
        )
        return values + (self.slopes[places] * (rows - middles)).sum(axis=1)

    def _places(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(
            # A border belongs to the cell below it, since a unit fires strictly beyond.
            np.clip(np.searchsorted(edges, rows[:, column], side="left") - 1, 0, len(edges) - 2)
            for column, edges in enumerate(self.edges)
        )


def build_approximator(
    function: Callable[[np.ndarray], np.ndarray],
    bounds: Sequence[tuple[float, float]],
    *,
    n_cells: int = 10,
    linear: bool = False,
) -> CellApproximator:
    """Approximate a function by pieces over a grid; the error falls as the grid gets finer.

    Parameters
    ----------
    function
        Function of a table of rows, or of a column where there is one input.
    bounds
        Least and largest value of each input.
    n_cells
        Cells along each input.
    linear
        Whether the pieces are linear instead of constant.
    """
    if n_cells < 1:
        raise DataError(f"n_cells must be at least 1; got {n_cells}.")
    for low, high in bounds:
        if not low < high:
            raise DataError(f"bounds must rise from the least to the largest; got {(low, high)}.")
    edges = [np.linspace(low, high, n_cells + 1) for low, high in bounds]
    middles = [(borders[:-1] + borders[1:]) / 2 for borders in edges]
    grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
    rows = grid.reshape(-1, len(bounds))

    def at(points: np.ndarray) -> np.ndarray:
        return np.asarray(function(points), dtype=np.float64).reshape(len(points), -1)[:, 0]

    shape = grid.shape[:-1]
    if not linear:
        return CellApproximator(edges, at(rows).reshape(shape), None)
    slopes = np.empty_like(rows)
    for column, borders in enumerate(edges):
        reach = np.zeros(len(bounds))
        reach[column] = (borders[1] - borders[0]) / 2
        # The slope of the secant between the two borders of the cell.
        slopes[:, column] = (at(rows + reach) - at(rows - reach)) / (2 * reach[column])
    return CellApproximator(edges, at(rows).reshape(shape), slopes.reshape(grid.shape))


def _checked_table(outputs: Sequence[int] | np.ndarray) -> np.ndarray:
    table = np.asarray(outputs)
    size = len(table)
    if table.ndim != 1 or size < 2 or size & (size - 1) or not np.isin(table, (0, 1)).all():
        raise DataError(
            "outputs must be zeros and ones for all rows of a truth table, so 2, 4, 8, ... of "
            f"them; got {table.tolist() if size <= 8 else size}."
        )
    return table.astype(np.int64)


def _input_count(table: np.ndarray) -> int:
    return int(table.size).bit_length() - 1
