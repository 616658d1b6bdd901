"""Local fits over several inputs, or with any window: blocks of distances, many small fits."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.nonparametric._smoothing.neighbourhoods import (
    LocalValues,
    Neighbourhood,
    count_terms,
    polynomial_terms,
)
from verulam.nonparametric._tuning import WEIGHTS_AT_ONCE
from verulam.nonparametric._windows.functions import EXPONENTIAL, GAUSSIAN

#: Directions whose share of the variance is smaller are left out of a local fit.
SMALLEST_EIGENVALUE = 1e-10
#: Below this determinant, such directions are looked for.
SMALLEST_DETERMINANT = 1e-6


@dataclass(frozen=True)
class WeightBlock:
    """Weights of stored points for some of the queries.

    Attributes
    ----------
    rows
        The queries.
    weights
        Weight of each target, one row for each query.
    points
        Stored points that the columns stand for, one row for each query; None where they are all.
    empty
        Queries without any stored point in the window.
    """

    rows: slice
    weights: np.ndarray
    points: np.ndarray | None
    empty: np.ndarray


def space_values(
    hood: Neighbourhood,
    inputs: np.ndarray,
    targets: np.ndarray,
    prior: np.ndarray | None,
    queries: np.ndarray,
    *,
    self_rows: np.ndarray | None = None,
    leave_out: bool = False,
) -> LocalValues:
    """Return the local fits at some queries.

    Parameters
    ----------
    hood
        Window, width and degree.
    inputs, targets
        The stored points.
    prior
        Weight of each stored point besides its window's.
    queries
        Inputs to evaluate at.
    self_rows
        Which stored point each query is, where they are stored points.
    leave_out
        Whether each query does without its own point.
    """
    values, leverage, squares = (np.full(len(queries), np.nan) for _ in range(3))
    empty = np.zeros(len(queries), dtype=bool)
    left_out = self_rows if leave_out else None
    for block in weight_blocks(hood, inputs, prior, queries, left_out):
        rows, weights = block.rows, block.weights
        if block.points is None:
            values[rows] = weights @ targets
        else:
            values[rows] = (weights * targets[block.points]).sum(axis=1)
        squares[rows] = np.square(weights).sum(axis=1)
        empty[rows] = block.empty
        if self_rows is not None and block.points is None:
            leverage[rows] = np.take_along_axis(weights, self_rows[rows, None], axis=1)[:, 0]
        elif self_rows is not None:
            is_self = block.points == self_rows[rows, None]
            leverage[rows] = np.where(is_self, weights, 0.0).sum(axis=1)
    return LocalValues(values, leverage, squares, empty)


def weight_blocks(
    hood: Neighbourhood,
    inputs: np.ndarray,
    prior: np.ndarray | None,
    queries: np.ndarray,
    left_out: np.ndarray | None = None,
) -> Iterator[WeightBlock]:
    """Yield the weights of the targets, block by block of queries."""
    if hood.n_neighbors is None:
        yield from _window_blocks(hood, inputs, prior, queries, left_out)
    else:
        yield from _neighbour_blocks(hood, inputs, prior, queries, left_out)


def block_rows(n_queries: int, numbers_per_query: int) -> Iterator[slice]:
    """Yield slices of the queries whose numbers together fit into memory at once."""
    step = max(1, WEIGHTS_AT_ONCE // max(1, numbers_per_query))
    for start in range(0, n_queries, step):
        yield slice(start, min(start + step, n_queries))


def _window_blocks(
    hood: Neighbourhood,
    inputs: np.ndarray,
    prior: np.ndarray | None,
    queries: np.ndarray,
    left_out: np.ndarray | None,
) -> Iterator[WeightBlock]:
    assert hood.bandwidth is not None
    n_terms = count_terms(inputs.shape[1], hood.degree)
    for rows in block_rows(len(queries), len(inputs) * (1 + n_terms)):
        scaled = cdist(queries[rows], inputs) / hood.bandwidth
        if left_out is not None:
            np.put_along_axis(scaled, left_out[rows, None], np.inf, axis=1)
        if hood.side == "past":
            scaled[inputs[None, :, 0] > queries[rows]] = np.inf
        heights = _heights(hood, scaled)
        if prior is not None:
            heights *= prior
        empty = _take_nearest(heights, scaled)
        offsets = None
        if hood.degree:
            offsets = (inputs[None] - queries[rows, None]) / hood.bandwidth
        yield WeightBlock(rows, _fit_weights(heights, offsets, hood.degree), None, empty)


def _neighbour_blocks(
    hood: Neighbourhood,
    inputs: np.ndarray,
    prior: np.ndarray | None,
    queries: np.ndarray,
    left_out: np.ndarray | None,
) -> Iterator[WeightBlock]:
    assert hood.n_neighbors is not None
    count = min(hood.n_neighbors + (left_out is not None), len(inputs))
    index = NeighbourIndex(inputs)
    n_terms = count_terms(inputs.shape[1], hood.degree)
    for rows in block_rows(len(queries), count * (1 + n_terms)):
        nearest = index.query(queries[rows], count)
        distances, points = nearest.distances, nearest.rows
        if left_out is not None:
            distances, points = _drop_self(distances, points, left_out[rows])
        widths = distances[:, -1:]
        # Where repeated inputs fill the neighbourhood, all of it counts alike.
        scaled = np.divide(distances, widths, out=np.zeros_like(distances), where=widths > 0)
        heights = _heights(hood, scaled)
        if prior is not None:
            heights *= prior[points]
        empty = _take_nearest(heights, scaled)
        offsets = None
        if hood.degree:
            offsets = (inputs[points] - queries[rows, None]) / np.where(widths > 0, widths, 1.0)[
                :, None
            ]
        yield WeightBlock(rows, _fit_weights(heights, offsets, hood.degree), points, empty)


def _drop_self(
    distances: np.ndarray, points: np.ndarray, self_rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Take each query's own point, or the farthest, out of its neighbours."""
    is_self = points == self_rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    shape = (len(points), points.shape[1] - 1)
    return distances[~is_self].reshape(shape), points[~is_self].reshape(shape)


def _heights(hood: Neighbourhood, scaled: np.ndarray) -> np.ndarray:
    """Return the window's heights; windows with tails are measured from the nearest point."""
    window = hood.window
    nearest = scaled.min(axis=1, keepdims=True)
    if window.code in (GAUSSIAN, EXPONENTIAL):
        nearest = np.where(np.isfinite(nearest), nearest, 0.0)
        if window.code == GAUSSIAN:
            return np.exp(0.5 * (nearest**2 - scaled**2))
        return np.exp(nearest - scaled)
    # A fixed window is open, and the rank of a neighbour is counted with it.
    inside = scaled <= 1.0 if hood.n_neighbors is not None else scaled < window.radius
    return np.where(inside, window(np.where(inside, scaled, 0.0)), 0.0)


def _take_nearest(heights: np.ndarray, scaled: np.ndarray) -> np.ndarray:
    """Give weight to the nearest points of queries where no point has any; return which."""
    empty = ~(heights.sum(axis=1) > 0)
    if empty.any():
        nearest = scaled[empty].min(axis=1, keepdims=True)
        heights[empty] = scaled[empty] == nearest
    return empty


def _fit_weights(heights: np.ndarray, offsets: np.ndarray | None, degree: int) -> np.ndarray:
    """Return the weights of the targets in the value at the query of a local polynomial.

    Directions along which the neighbours do not spread are left out of the polynomial.
    """
    weights = heights / heights.sum(axis=1, keepdims=True)
    if offsets is None:
        return weights
    # Points without weight may lie far away, where high powers overflow.
    terms = polynomial_terms(np.where(weights[..., None] > 0, offsets, 0.0), degree)
    # About its weighted means, a term is orthogonal to the constant. The value at the query, where
    # all terms are 0, is the mean target less the means times the coefficients of the terms.
    means = weights[:, None, :] @ terms
    terms -= means
    covariances = np.swapaxes(terms * weights[..., None], 1, 2) @ terms
    spreads = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    scales = np.where(spreads > 1e-12, spreads, math.inf)
    correlations = covariances / (scales[:, :, None] * scales[:, None, :])
    loadings = _solve(correlations, -means[:, 0] / scales) / scales
    return weights * (1.0 + (terms @ loadings[..., None])[..., 0])


def _solve(matrices: np.ndarray, right_sides: np.ndarray) -> np.ndarray:
    """Return the solutions; of several, the smallest, without directions that hardly vary."""
    solutions = np.empty_like(right_sides)
    # The determinant of a correlation matrix is at most its smallest pivot.
    sound = np.linalg.det(matrices) > SMALLEST_DETERMINANT
    solutions[sound] = np.linalg.solve(matrices[sound], right_sides[sound, :, None])[..., 0]
    if not sound.all():
        rest = np.linalg.pinv(matrices[~sound], rcond=SMALLEST_EIGENVALUE, hermitian=True)
        solutions[~sound] = (rest @ right_sides[~sound, :, None])[..., 0]
    return solutions
