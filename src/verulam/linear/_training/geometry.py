"""Geometry of a linear discriminant: distances, projections, augmented rows, solutions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from verulam.base import DataError

#: Squared distance of the origin from the rows' mixtures, in units of the rows, that is none.
NOT_SEPARABLE = 1e-12


@dataclass(frozen=True)
class Hyperplane:
    r"""The points where :math:`g(x) = w^T x + w_0` is zero.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        Normal vector :math:`w`; it points to the side where :math:`g > 0`.
    bias
        Constant :math:`w_0`.

    Notes
    -----
    Every point is its projection plus a multiple of the normal,
    :math:`x = x_p + r\, w / \|w\|` with :math:`r = g(x) / \|w\|`. See Alpaydin 10.3.1 (10.4-10.5)
    and Bartkowiak 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> plane = Hyperplane(np.array([3.0, 4.0]), -10.0)
    >>> plane.signed_distance([[4.0, 2.0]]).tolist(), plane.origin_distance
    ([2.0], -2.0)
    """

    weights: np.ndarray
    bias: float

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.weights) > 0:
            raise DataError(
                "weights are all zero, so they describe no plane; got "
                f"{np.array2string(np.asarray(self.weights), threshold=8)}."
            )

    @classmethod
    def from_augmented(cls, weights: ArrayLike, *, last: bool = False) -> "Hyperplane":
        """Return the plane of an augmented vector, the bias of which comes first or last."""
        augmented = np.asarray(weights, dtype=np.float64)
        if last:
            return cls(augmented[:-1], float(augmented[-1]))
        return cls(augmented[1:], float(augmented[0]))

    @property
    def augmented(self) -> np.ndarray:
        """The bias and the weights in one vector."""
        return np.concatenate([[self.bias], self.weights])

    @property
    def origin_distance(self) -> float:
        """Signed distance of the origin."""
        return float(self.bias / np.linalg.norm(self.weights))

    def value(self, points: ArrayLike) -> np.ndarray:
        """Return :math:`g` at each row."""
        return points_of(points, len(self.weights)) @ self.weights + self.bias

    def signed_distance(self, points: ArrayLike) -> np.ndarray:
        """Return the distance of each row, negative where :math:`g < 0`."""
        return self.value(points) / np.linalg.norm(self.weights)

    def side(self, points: ArrayLike) -> np.ndarray:
        """Return 1, -1, or 0 for points on the plane."""
        return np.sign(self.value(points)).astype(np.int64)

    def project(self, points: ArrayLike) -> np.ndarray:
        """Return the nearest point of the plane to each row."""
        rows = points_of(points, len(self.weights))
        multiples = self.value(rows) / (self.weights @ self.weights)
        return rows - multiples[:, None] * self.weights


def points_of(points: ArrayLike, n_columns: int) -> np.ndarray:
    """Return points as a table with so many columns, or raise `DataError`."""
    rows = np.asarray(points, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_columns:
        raise DataError(
            f"points must be a table with {n_columns} columns, one for each weight; got the shape "
            f"{rows.shape}."
        )
    return rows


def augment(inputs: ArrayLike, *, last: bool = False) -> np.ndarray:
    """Return the rows with a one put in front, or last, so that the bias becomes a weight.

    Examples
    --------
    >>> augment([[2.0, 3.0]])
    array([[1., 2., 3.]])
    """
    rows = np.asarray(inputs, dtype=np.float64)
    ones = np.ones(len(rows))
    return np.column_stack([rows, ones] if last else [ones, rows])


def sign_normalise(inputs: ArrayLike, positive: ArrayLike, *, last: bool = False) -> np.ndarray:
    """Return augmented rows, negated where `positive` is false.

    A vector whose product with every row is above zero then separates the classes
    (Bartkowiak 5.2-5.3).

    Examples
    --------
    >>> sign_normalise([[2.0], [5.0]], [True, False])
    array([[ 1.,  2.],
           [-1., -5.]])
    """
    rows = augment(inputs, last=last)
    signs = np.where(np.asarray(positive, dtype=bool), 1.0, -1.0)
    if signs.shape != (len(rows),):
        raise DataError(
            f"positive must have {len(rows)} entries, one for each row; got {signs.shape}."
        )
    return rows * signs[:, None]


def solution_region(rows: ArrayLike, margin: float = 0.0, *, limit: float = 10.0) -> np.ndarray:
    """Return the corners of the weights that put every row above the margin, in two dimensions.

    Parameters
    ----------
    rows
        Sign-normalised rows with two columns.
    margin
        Least product with every row.
    limit
        The region is cut off at this size in both weights, for it may be unbounded.

    Returns
    -------
    ndarray of shape (n_corners, 2)
        Corners in order round the region; none where it is empty.

    Examples
    --------
    >>> solution_region([[1.0, 0.0], [0.0, 1.0]], margin=1.0, limit=2.0).tolist()
    [[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]]
    """
    constraints = np.asarray(rows, dtype=np.float64)
    if constraints.ndim != 2 or constraints.shape[1] != 2:
        raise DataError(f"rows need two columns to be drawn; got the shape {constraints.shape}.")
    # The square that bounds the region, which every row then cuts by its half-plane.
    corners = limit * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    for normal in constraints:
        corners = _cut(corners, normal, margin)
    if not len(corners):
        return corners
    # The lowest corner first, the left one of two, whichever cut made it.
    lowest = np.lexsort((corners[:, 0], corners[:, 1]))[0]
    return np.roll(corners, -lowest, axis=0)


def minimum_length_vector(rows: ArrayLike, margin: float = 1.0) -> np.ndarray:
    r"""Return the shortest vector whose product with every row reaches the margin.

    Many vectors separate classes that can be separated; the shortest is the only one of its kind.

    Parameters
    ----------
    rows
        Sign-normalised rows, in any number of columns.
    margin
        Least product :math:`b > 0` with every row.

    Returns
    -------
    ndarray of shape (n_columns,)
        The weights; of augmented rows the bias is one of them and counts in the length.

    Notes
    -----
    .. math:: \min \|a\| \quad\text{with}\quad a^T y_i \ge b \text{ for all } i

    (Bartkowiak 5.3). A larger margin only makes it longer in proportion. It is a combination of the
    rows that reach the margin just so, with weights that are not negative, which non-negative least
    squares finds (Lawson and Hanson 1974, 23.4).

    Examples
    --------
    >>> from verulam.linear import minimum_length_vector, sign_normalise
    >>> rows = sign_normalise([[0.0], [1.0], [3.0], [4.0]], [False, False, True, True])
    >>> minimum_length_vector(rows).round(3)
    array([-2.,  1.])
    """
    constraints = np.asarray(rows, dtype=np.float64)
    if constraints.ndim != 2 or not constraints.size:
        raise DataError(f"rows must be a table; got the shape {constraints.shape}.")
    if not np.isfinite(constraints).all():
        raise DataError("rows has missing or infinite values.")
    if not (np.isfinite(margin) and margin > 0):
        raise DataError(f"margin must be a number above 0; got {margin}.")
    # In units of the longest row, and of the margin, so that the last row weighs like the others.
    scale = float(np.linalg.norm(constraints, axis=1).max()) or 1.0
    design = np.vstack([constraints.T / scale, np.ones(len(constraints))])
    target = np.zeros(len(design))
    target[-1] = 1.0
    shares, _ = nnls(design, target)
    residual = target - design @ shares
    weights = -residual[:-1] / (scale * max(residual[-1], 1e-300))
    if not (residual[-1] > NOT_SEPARABLE and (constraints @ weights > 1.0 - 1e-6).all()):
        raise DataError(
            "rows cannot all have a product above the margin: the classes are not linearly "
            "separable; verulam.linear.separability has the proof."
        )
    return margin * weights


def _cut(corners: np.ndarray, normal: np.ndarray, margin: float) -> np.ndarray:
    """Clip a convex polygon to where the product with `normal` reaches `margin`.

    One step of the algorithm of Sutherland and Hodgman.
    """
    vertices = []
    for here, following in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        depth, next_depth = here @ normal - margin, following @ normal - margin
        if depth >= 0:
            vertices.append(here)
        # The edge crosses the border where the depth, which is linear along it, is zero.
        if depth * next_depth < 0:
            vertices.append(here + (following - here) * depth / (depth - next_depth))
    return np.array(vertices).reshape(-1, 2)
