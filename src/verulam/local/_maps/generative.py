"""Generative topographic mapping: a mixture of Gaussians whose means lie on a smooth sheet."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from verulam.base import (
    Chunk,
    DataError,
    Interval,
    ManyPasses,
    MemorySource,
    Source,
    StrOptions,
    Transformer,
    check_is_fitted,
    map_rows,
    validate_data,
)
from verulam.local._maps.batch_map import all_moments
from verulam.local._maps.grid import UnitGrid, make_grid, plane_of_units, warn_of_few_rows
from verulam.numerics import log_sum_exp

#: Joint densities of rows and points held at a time.
DENSITIES_AT_ONCE = 2**18
#: Least variance about the sheet, as a share of that of the rows.
LEAST_VARIANCE = 1e-9


@dataclass(frozen=True)
class Sheet:
    """A smooth sheet through the rows, and the noise about it.

    Attributes
    ----------
    basis : ndarray of shape (n_points, n_functions)
        Basis functions at the points of the latent grid; the last is constant.
    weights : ndarray of shape (n_functions, n_columns)
        Coordinates of the sheet.
    variance
        Variance of the noise in each direction.
    origin, scale
        What rows are measured from, and in.
    """

    basis: np.ndarray
    weights: np.ndarray
    variance: float
    origin: np.ndarray
    scale: float

    @property
    def means(self) -> np.ndarray:
        """The points of the sheet that are the means of the Gaussians, in its measure."""
        return self.basis @ self.weights

    def measured(self, X: np.ndarray) -> np.ndarray:
        """Return rows in the measure of the sheet."""
        return (X - self.origin) / self.scale


@dataclass(frozen=True)
class SheetSums:
    """Sums over the rows by the points that are responsible for them.

    Attributes
    ----------
    sheet
        The sheet of the pass.
    weights : ndarray of shape (n_points,)
        Rows that each point is responsible for.
    rows : ndarray of shape (n_points, n_columns)
        Their sums.
    squares
        Sum of the squared lengths of all rows.
    log_likelihood
        Sum of the log-densities.
    total
        Weight of all rows.
    """

    sheet: Sheet
    weights: np.ndarray
    rows: np.ndarray
    squares: float
    log_likelihood: float
    total: float

    def __add__(self, other: "SheetSums") -> "SheetSums":
        return SheetSums(
            self.sheet,
            self.weights + other.weights,
            self.rows + other.rows,
            self.squares + other.squares,
            self.log_likelihood + other.log_likelihood,
            self.total + other.total,
        )


def joint_log_densities(Z: np.ndarray, sheet: Sheet) -> np.ndarray:
    """Return the logarithm of p(row, point) for measured rows, up to their scale."""
    n_points, n_columns = sheet.basis.shape[0], Z.shape[1]
    constant = np.log(n_points) + 0.5 * n_columns * np.log(2.0 * np.pi * sheet.variance)
    return -cdist(Z, sheet.means, "sqeuclidean") / (2.0 * sheet.variance) - constant


def sheet_sums(chunk: Chunk, sheet: Sheet) -> SheetSums:
    """Return the sums of one chunk: the expectation step."""
    n_points = len(sheet.basis)
    weights, rows = np.zeros(n_points), np.zeros((n_points, chunk.inputs.shape[1]))
    squares = log_likelihood = total = 0.0
    block = max(64, DENSITIES_AT_ONCE // n_points)
    for start in range(0, len(chunk), block):
        Z = sheet.measured(chunk.inputs[start : start + block])
        joint = joint_log_densities(Z, sheet)
        densities = log_sum_exp(joint, axis=1)
        shares = np.exp(joint - densities[:, None])
        ones = np.ones(len(Z))
        if chunk.weights is not None:
            ones = chunk.weights[start : start + block]
            shares *= ones[:, None]
        weights += shares.sum(axis=0)
        rows += shares.T @ Z
        squares += float(ones @ np.einsum("nj,nj->n", Z, Z))
        log_likelihood += float(ones @ densities)
        total += float(ones.sum())
    return SheetSums(sheet, weights, rows, squares, log_likelihood, total)


def updated_sheet(sums: SheetSums, alpha: float) -> Sheet:
    """Return the sheet that the sums give: the maximisation step.

    The constant function is not held back by `alpha`, so that the origin does not matter.
    """
    old = sums.sheet
    basis = old.basis
    penalty = np.full(basis.shape[1], alpha * old.variance)
    penalty[-1] = 0.0
    normal = (basis.T * sums.weights) @ basis + np.diag(penalty)
    # Points without rows can leave the equations short of rank.
    normal += np.eye(len(normal)) * 1e-13 * np.trace(normal)
    weights = scipy.linalg.solve(normal, basis.T @ sums.rows, assume_a="pos")
    means = basis @ weights
    squares = (
        sums.squares
        - 2.0 * float(np.sum(means * sums.rows))
        + float(sums.weights @ np.einsum("kj,kj->k", means, means))
    )
    variance = max(squares / (sums.total * means.shape[1]), LEAST_VARIANCE)
    return Sheet(basis, weights, variance, old.origin, old.scale)


def bell_basis(points: np.ndarray, n_side: tuple[int, ...], width: float) -> np.ndarray:
    """Return Gaussian bells on a coarse grid over the same square, and a constant."""
    axes = [np.linspace(-1.0, 1.0, side) if side > 1 else np.zeros(1) for side in n_side]
    centres = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    spacing = 2.0 / max(1, max(n_side) - 1)
    bells = np.exp(-0.5 * cdist(points, centres, "sqeuclidean") / (width * spacing) ** 2)
    return np.column_stack([bells, np.ones(len(points))])


class GenerativeTopographicMap(ManyPasses, ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Fit a smooth sheet of Gaussians to rows by EM, and place rows on it.

    Parameters
    ----------
    grid_shape
        Points of the latent grid along each side: (rows, columns), or one number for a line.
    n_functions
        Basis functions along each side.
    bandwidth
        Width of the basis functions, in units of their spacing; wide ones make a stiff sheet.
    alpha
        Precision of the prior that holds the weights of the basis functions near zero.
    projection
        Where `transform` places a row: at the "mean" of the points by their posterior
        probabilities, or at their "mode", the most probable one.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the objective of a row by no more than this.

    Attributes
    ----------
    latent_points_ : ndarray of shape (n_points, n_sides)
        The latent grid, from -1 to 1.
    means_ : ndarray of shape (n_points, n_features)
        Its image in the space of the rows.
    variance_ : float
        Variance of the noise in each direction.
    sheet_ : Sheet
        The sheet in its own measure.
    objective_curve_ : list of float
        Log-likelihood of a row, with its share of the logarithm of the prior, before each pass; it
        never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.

    Notes
    -----
    .. math:: p(x) = \frac1K \sum_{k=1}^K N\bigl(x \mid y(u_k), \beta^{-1} I\bigr), \qquad
              y(u) = W^T \phi(u)

    The expectation step finds how responsible each point :math:`u_k` is for each row, the
    maximisation step solves :math:`(\Phi^T G \Phi + \frac{\alpha}{\beta} I) W = \Phi^T R X`
    [bishop1998]_. It is the probabilistic form of the self-organising map. A pass is a sum over the
    rows: memory, streams and Dask give the same sheet. See Alpaydin 12.10, Bartkowiak 6.

    .. [bishop1998] C. M. Bishop, M. Svensen and C. K. I. Williams, "GTM: the generative topographic
       mapping", Neural Computation 10, 215-234, 1998.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import GenerativeTopographicMap
    >>> learner = GenerativeTopographicMap((8, 8)).fit(dataset("iris").inputs)
    >>> places = learner.transform(dataset("iris").inputs)
    >>> places.shape, bool(abs(places).max() <= 1)
    ((150, 2), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "grid_shape": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "n_functions": [Interval(Integral, 1, None, closed="left")],
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "projection": [StrOptions({"mean", "mode"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        grid_shape: Any = (15, 15),
        *,
        n_functions: int = 4,
        bandwidth: float = 1.0,
        alpha: float = 1e-2,
        projection: str = "mean",
        max_iter: int = 200,
        tol: float = 1e-4,
    ) -> None:
        self.grid_shape = grid_shape
        self.n_functions = n_functions
        self.bandwidth = bandwidth
        self.alpha = alpha
        self.projection = projection
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def _example_learners(cls) -> list["GenerativeTopographicMap"]:
        return [cls((4, 4), n_functions=2), cls(8, n_functions=3, projection="mode")]

    def _start(self, source: Source) -> Sheet:
        grid = make_grid(self.grid_shape, "rectangular", periodic=False)
        if isinstance(source, MemorySource):
            warn_of_few_rows(grid, len(source.data))
        moments = source.total(all_moments)
        covariance = moments.scatter[0] / moments.weight[0]
        scale = float(np.sqrt(np.trace(covariance) / len(covariance))) or 1.0
        covariance = covariance / scale**2
        self.latent_points_ = latent_points(grid)
        n_side = (self.n_functions,) * len(grid.shape)
        basis = bell_basis(self.latent_points_, n_side, self.bandwidth)
        plane = plane_of_units(grid, np.zeros(len(covariance)), covariance)
        weights = np.linalg.lstsq(basis, plane, rcond=1e-10)[0]
        return Sheet(
            basis, weights, starting_variance(grid, basis @ weights, covariance),
            moments.mean[0], scale,
        )  # fmt: skip

    def _statistics(self, chunk: Chunk, parameters: Sheet) -> SheetSums:
        return sheet_sums(chunk, parameters)

    def _total(self, source: Source, parameters: Sheet) -> SheetSums:
        return source.total(partial(sheet_sums, sheet=parameters))

    def _update(self, statistics: SheetSums) -> Sheet:
        return updated_sheet(statistics, float(self.alpha))

    def _objective(self, statistics: SheetSums) -> float:
        prior = -0.5 * self.alpha * float(np.square(statistics.sheet.weights[:-1]).sum())
        shift = statistics.rows.shape[1] * np.log(statistics.sheet.scale)
        return (statistics.log_likelihood + prior) / statistics.total - float(shift)

    def _store(self, parameters: Sheet) -> None:
        self.sheet_ = parameters
        self.means_ = parameters.origin + parameters.scale * parameters.means
        self.variance_ = parameters.variance * parameters.scale**2

    @property
    def _n_features_out(self) -> int:
        return self.latent_points_.shape[1]

    def _joint(self, rows: np.ndarray) -> np.ndarray:
        return joint_log_densities(self.sheet_.measured(rows), self.sheet_)

    def _rows(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row."""
        rows = self._rows(X)
        shift = rows.shape[1] * np.log(self.sheet_.scale)

        def density(part: np.ndarray) -> np.ndarray:
            return log_sum_exp(self._joint(part), axis=1) - shift

        return map_rows(density, rows, (len(rows),))

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return the mean log-density of the rows.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        return float(self.score_samples(X).mean())

    def responsibilities(self, X: ArrayLike) -> np.ndarray:
        """Return the posterior probability of each latent point for each row.

        Parameters
        ----------
        X
            Rows.
        """
        rows = self._rows(X)
        return map_rows(self._posterior, rows, (len(rows), len(self.latent_points_)))

    def _posterior(self, part: np.ndarray) -> np.ndarray:
        joint = self._joint(part)
        return np.exp(joint - log_sum_exp(joint, axis=1)[:, None])

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the place of each row on the latent grid, by `projection`."""
        rows, points = self._rows(X), self.latent_points_

        def places(part: np.ndarray) -> np.ndarray:
            if self.projection == "mode":
                return points[self._joint(part).argmax(axis=1)]
            return self._posterior(part) @ points

        return map_rows(places, rows, (len(rows), points.shape[1]))


def latent_points(grid: UnitGrid) -> np.ndarray:
    """Return the places of a grid's units, each side from -1 to 1."""
    places = grid.positions - grid.positions.mean(axis=0)
    return places / np.maximum(np.abs(places).max(axis=0), 0.5)


def starting_variance(grid: UnitGrid, means: np.ndarray, covariance: np.ndarray) -> float:
    """Return the first variance: what the plane leaves out, or half the distance of neighbours."""
    n_axes = len(grid.shape)
    values = np.linalg.eigvalsh(covariance)[::-1]
    left = float(values[n_axes]) if len(values) > n_axes else 0.0
    first, second = grid.touching.T
    gaps = np.square(means[first] - means[second]).sum(axis=1)
    between = 0.25 * float(gaps.mean()) if len(gaps) else float(values[0])
    variance = max(left, between, LEAST_VARIANCE)
    if not np.isfinite(variance):
        raise DataError("X: the covariance of the rows is not finite; scale the columns.")
    return variance
