"""Voronoi facets in space: the boundary of the nearest neighbour rule between classes."""

from itertools import product
from typing import cast

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import Voronoi

from verulam.base import DataError
from verulam.nonparametric import VoronoiEditing
from verulam.plots._models.neighbours import FAR, draw_kept
from verulam.plots._style import colour, place_legend


def voronoi_facets(X: ArrayLike, y: ArrayLike, *, ax: Axes3D | None = None) -> Axes3D:
    """Draw the nearest neighbour's boundary between rows in three columns.

    Parameters
    ----------
    X
        Distinct rows in three columns.
    y
        Their classes.
    ax
        Three-dimensional axes to draw on, as made with `projection="3d"`.

    Notes
    -----
    Of the facets of the Voronoi cells only those between two classes are drawn, a colour for each
    pair of classes, cut off where the data end. Hollow rows are redundant, as in `voronoi_cells`.
    See Bartkowiak 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.plots import voronoi_facets
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> axes = voronoi_facets(X, X[:, 0] > 0)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['False', 'True', 'False | True', 'redundant']
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3:
        raise DataError(f"X must have three columns, but its shape is {points.shape}.")
    if not np.isfinite(points).all():
        raise DataError("X contains NaN or infinity.")
    if len(np.unique(points, axis=0)) < len(points):
        raise DataError("X has identical rows, which share a cell; draw each of them once.")
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(codes) != len(points):
        raise DataError(f"y has {len(codes)} labels, but X has {len(points)} rows.")
    if ax is None:
        ax = cast(Axes3D, Figure(layout="constrained").add_subplot(projection="3d"))
    elif not isinstance(ax, Axes3D):
        raise DataError('facets need three-dimensional axes; make them with projection="3d".')
    is_kept = np.isin(np.arange(len(points)), VoronoiEditing().fit(points, codes).rows_)
    draw_kept(ax, points, codes, classes, is_kept)
    for place, (pair, facets) in enumerate(sorted(class_facets(points, codes).items())):
        shown = colour(len(classes) + place)
        name = f"{classes[pair[0]]} | {classes[pair[1]]}"
        looks = {"facecolor": shown, "edgecolor": "0.3", "lw": 0.4, "alpha": 0.3}
        ax.add_collection3d(Poly3DCollection(even(facets), label=name, **looks))
    if not is_kept.all():
        x, y, z = points[~is_kept][:1].T
        ax.scatter(x, y, z, s=18, facecolors="none", edgecolors="0.3", label="redundant")
    ax.set(xlabel="x1", ylabel="x2", zlabel="x3")
    place_legend(ax, fontsize="small")
    return ax


def class_facets(
    points: NDArray[np.float64], codes: NDArray[np.int64]
) -> dict[tuple[int, int], list[NDArray[np.float64]]]:
    """Return the facets between cells of different classes, by pair of classes.

    Parameters
    ----------
    points
        Distinct rows in three columns.
    codes
        Class of each, as a number.
    """
    centre, span = points.mean(axis=0), np.ptp(points, axis=0).max()
    corners = centre + FAR * (span or 1.0) * np.array(list(product((-1.0, 1.0), repeat=3)))
    cells = Voronoi(np.concatenate([points, corners]))
    padding = 0.08 * np.ptp(points, axis=0)
    low, high = points.min(axis=0) - padding, points.max(axis=0) + padding
    facets: dict[tuple[int, int], list[NDArray[np.float64]]] = {}
    for pair, ridge in zip(cells.ridge_points, cells.ridge_vertices, strict=True):
        if pair.max() >= len(points) or min(ridge) < 0 or codes[pair[0]] == codes[pair[1]]:
            continue
        facet = clipped(cells.vertices[ridge], low, high)
        if len(facet) > 2:
            first, second = sorted(int(code) for code in codes[pair])
            facets.setdefault((first, second), []).append(facet)
    return facets


def even(polygons: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return polygons with equally many corners, the last one of each repeated.

    The axes' limits follow all corners; where numbers of corners differ, some would be undefined.
    """
    most = max(len(polygon) for polygon in polygons)
    return np.array(
        [np.pad(polygon, ((0, most - len(polygon)), (0, 0)), mode="edge") for polygon in polygons]
    )


def clipped(
    polygon: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the part of a flat convex polygon within a box, edge after edge."""
    # Sutherland and Hodgman: what is left is cut by one side of the box after the other.
    for column in range(polygon.shape[1]):
        for sign, bound in ((1.0, high[column]), (-1.0, -low[column])):
            inside = bound - sign * polygon[:, column]
            corners = []
            for here in range(len(polygon)):
                after = (here + 1) % len(polygon)
                if inside[here] >= 0:
                    corners.append(polygon[here])
                if (inside[here] >= 0) != (inside[after] >= 0):
                    share = inside[here] / (inside[here] - inside[after])
                    corners.append(polygon[here] + share * (polygon[after] - polygon[here]))
            polygon = np.array(corners).reshape(-1, polygon.shape[1])
    return polygon
