"""Outliers: how typical each point of the plane is, and whose neighbourhood is how wide."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.nonparametric import LocalOutlierFactor
from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.plots._models.neighbours import plane_points
from verulam.plots._style import axes_or_new, colour, place_legend


def outlier_map(
    detector: Any, X: ArrayLike, *, ax: Axes | None = None, resolution: int = 120
) -> Axes:
    """Draw where a fitted detector finds points typical, and which of some points it flags.

    Parameters
    ----------
    detector
        Fitted detector with `decision_function`.
    X
        Points, in two columns; they set the range.
    ax
        Axes to draw on.
    resolution
        Number of grid points along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import GaussianDetector
    >>> from verulam.plots import outlier_map
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> axes = outlier_map(GaussianDetector(contamination=0.05).fit(X), X)
    >>> axes.get_legend_handles_labels()[1]
    ['typical', 'outliers: 3']
    """
    points = plane_points(X)
    ax = axes_or_new(ax)
    padding = 0.12 * np.ptp(points, axis=0) + 1e-9
    horizontal, vertical = (
        np.linspace(low, high, resolution)
        for low, high in zip(
            points.min(axis=0) - padding, points.max(axis=0) + padding, strict=True
        )
    )
    mesh = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    scores = _finite(detector.decision_function(mesh)).reshape(resolution, resolution)
    # Ranks spread the colours evenly, however far the lowest scores reach.
    ranks = np.argsort(np.argsort(scores, axis=None)).reshape(scores.shape) / scores.size
    ax.contourf(horizontal, vertical, ranks, levels=12, cmap="Greys_r", alpha=0.5)
    if scores.min() < 0 < scores.max():
        ax.contour(horizontal, vertical, scores, levels=[0.0], colors="0.2", linewidths=1.0)
    flagged = detector.predict(points) == -1
    ax.plot(*points[~flagged].T, "o", color=colour(0), markersize=3.5, label="typical")
    label = f"outliers: {flagged.sum()}"
    ax.plot(*points[flagged].T, "X", color=colour(1), markersize=7, mec="white", label=label)
    names = getattr(X, "columns", ["x1", "x2"])
    ax.set(xlabel=str(names[0]), ylabel=str(names[1]))
    place_legend(ax)
    return ax


def neighbour_circles(
    detector: LocalOutlierFactor, query: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw circles that reach to the k-th neighbour, around a query and around its neighbours.

    Parameters
    ----------
    detector
        Fitted local outlier factor over two inputs.
    query
        One point of the plane.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.nonparametric import LocalOutlierFactor
    >>> from verulam.plots import neighbour_circles
    >>> detector = LocalOutlierFactor(n_neighbors=2).fit([[0, 0], [1, 0], [0, 1], [1, 1]])
    >>> axes = neighbour_circles(detector, [3.0, 3.0])
    >>> len(axes.patches), axes.get_title()
    (3, 'LOF = 3.61')
    """
    points = plane_points(detector.inputs_)
    if detector.metric != "euclidean" or detector.radius is not None:
        raise DataError(
            "Circles reach to k neighbours by Euclid's distance: the detector must have "
            "metric='euclidean' and radius=None."
        )
    centre = np.asarray(query, dtype=np.float64).reshape(1, 2)
    ax = axes_or_new(ax)
    neighbours = NeighbourIndex(points).query(centre, detector.n_neighbors_)
    ax.plot(*points.T, "+", color="0.3", markersize=7)
    ax.plot(*centre.T, "x", color=colour(1), markersize=9, markeredgewidth=2)
    for row in neighbours.rows[0]:
        ax.add_patch(_circle(points[row], detector.distances_[row], colour(0)))
    ax.add_patch(_circle(centre[0], neighbours.distances[0, -1], colour(1)))
    ax.set_aspect("equal")
    ax.autoscale_view()
    ax.set(xlabel="x1", ylabel="x2", title=f"LOF = {detector.outlier_factors(centre)[0]:.2f}")
    return ax


def _circle(centre: np.ndarray, radius: float, edge: str) -> Circle:
    x, y = centre
    return Circle((float(x), float(y)), float(radius), fill=False, edgecolor=edge, linewidth=1.0)


def _finite(scores: ArrayLike) -> np.ndarray:
    """Return the scores with minus infinity raised to the least of the others."""
    values = np.asarray(scores, dtype=np.float64)
    finite = values[np.isfinite(values)]
    return np.nan_to_num(values, neginf=float(finite.min()) if len(finite) else -1.0)
