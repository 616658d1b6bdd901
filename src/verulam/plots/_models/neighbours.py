"""Neighbours and windows: Voronoi cells, densities with their windows, kept rows, discs."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Circle
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import Voronoi

from verulam.base import DataError
from verulam.nonparametric import CoulombStage, KernelDensity, VoronoiEditing
from verulam.plots._style import axes_or_new, colour, marker, place_legend, tint

POINTS = 800
#: Far points around the data, which close every cell that would be open.
FAR = 50.0
#: Pixels along each side of the shading of conflicts.
CONFLICT_PIXELS = 300


def window_density(density: KernelDensity, *, ax: Axes | None = None, label: str = "") -> Axes:
    """Draw a density of one column as the sum of its windows.

    Parameters
    ----------
    density
        A fitted density of one column, of not too many rows.
    ax
        Axes to draw on.
    label
        Name of the curve; its bandwidth by default.

    Notes
    -----
    See Alpaydin 8.2.2 (figure 8.3), Bartkowiak 4.2 (figure 4.1).

    Examples
    --------
    >>> from verulam.nonparametric import KernelDensity
    >>> from verulam.plots import window_density
    >>> axes = window_density(KernelDensity(bandwidth=0.5).fit([[0.0], [1.0], [3.0]]))
    >>> len(axes.lines)  # three windows and their sum
    4
    """
    if density.inputs_.shape[1] != 1:
        raise DataError(f"density must have one column, not {density.inputs_.shape[1]}.")
    ax = axes_or_new(ax)
    centres = density.inputs_[:, 0]
    reach = 3.5 * density.local_factors_.max() / density.whitening_[0, 0]
    grid = np.linspace(centres.min() - reach, centres.max() + reach, POINTS)
    for row, share in enumerate(density.weights_):
        one = KernelDensity(
            kernel=density.kernel,
            bandwidth=density.local_factors_[row] / density.whitening_[0, 0],
        ).fit(density.inputs_[[row]])
        ax.plot(grid, share * np.exp(one.score_samples(grid[:, None])), color="0.65", linewidth=0.8)
    name = label or f"h = {1.0 / density.whitening_[0, 0]:.3g}"
    ax.plot(grid, np.exp(density.score_samples(grid[:, None])), color=colour(0), label=name)
    ax.scatter(centres, np.zeros(len(centres)), marker="|", color="0.2", s=60)
    ax.set(xlabel="x", ylabel="density", xlim=(grid[0], grid[-1]), ylim=(0, None))
    place_legend(ax)
    return ax


def voronoi_cells(X: ArrayLike, y: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the Voronoi cells of rows in the plane, and the nearest neighbour's boundary.

    Parameters
    ----------
    X
        Distinct rows in two columns.
    y
        Their classes.
    ax
        Axes to draw on.

    Notes
    -----
    Hollow rows are redundant: all cells around theirs are of their class. See Alpaydin 8.4
    (figure 8.5), Bartkowiak 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.plots import voronoi_cells
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> axes = voronoi_cells(X, X[:, 0] > 0)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['False', 'True', 'nearest-neighbour boundary', 'redundant']
    """
    points, labels = plane_points(X), np.asarray(y)
    if len(np.unique(points, axis=0)) < len(points):
        raise DataError("X has identical rows, which share a cell; draw each of them once.")
    beside = ax is None
    ax = axes_or_new(ax)
    classes, codes = np.unique(labels, return_inverse=True)
    centre, span = points.mean(axis=0), np.ptp(points, axis=0).max()
    corners = centre + FAR * span * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    cells = Voronoi(np.concatenate([points, corners]))
    segments = [cells.vertices[ridge] for ridge in cells.ridge_vertices if min(ridge) >= 0]
    inner = [
        pair.max() < len(points) and codes[pair[0]] != codes[pair[1]]
        for pair, ridge in zip(cells.ridge_points, cells.ridge_vertices, strict=True)
        if min(ridge) >= 0
    ]
    for row, code in enumerate(codes):
        region = cells.regions[cells.point_region[row]]
        if region and min(region) >= 0:
            ax.fill(*cells.vertices[region].T, color=tint(int(code), 0.18), linewidth=0)
    ax.add_collection(LineCollection(segments, colors="0.75", linewidths=0.6))
    is_kept = np.isin(np.arange(len(points)), VoronoiEditing().fit(points, codes).rows_)
    draw_kept(ax, points, codes, classes, is_kept)
    boundary = [segment for segment, between in zip(segments, inner, strict=True) if between]
    ax.add_collection(
        LineCollection(boundary, colors="0.1", linewidths=1.8, label="nearest-neighbour boundary")
    )
    if not is_kept.all():
        ax.scatter([], [], facecolors="none", edgecolors="0.3", label="redundant")
    _frame(ax, points)
    place_legend(ax, beside=beside, fontsize="small")
    return ax


def kept_rows(X: ArrayLike, y: ArrayLike, rows: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw which rows of the plane were kept by condensing or editing.

    Parameters
    ----------
    X
        Rows in two columns.
    y
        Their classes.
    rows
        Those that were kept.
    ax
        Axes to draw on.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import condense
    >>> from verulam.plots import kept_rows
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X[:, 0] > 0
    >>> axes = kept_rows(X, y, condense(X, y, random_state=0).rows)
    >>> axes.get_title()
    '13 of 60 rows'
    """
    points = plane_points(X)
    ax = axes_or_new(ax)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    numbers = np.asarray(rows, dtype=np.int64)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(points):
        raise DataError(f"rows must be numbers of rows, 0 to {len(points) - 1}.")
    is_kept = np.isin(np.arange(len(points)), numbers)
    draw_kept(ax, points, codes, classes, is_kept)
    ax.set_title(f"{int(is_kept.sum())} of {len(points)} rows", fontsize="small")
    _frame(ax, points)
    place_legend(ax, fontsize="small")
    return ax


def coulomb_discs(stage: CoulombStage, *, ax: Axes | None = None) -> Axes:
    """Draw the discs of a reduced Coulomb energy network over two inputs.

    Parameters
    ----------
    stage
        The discs after some patterns were presented, from `ReducedCoulombEnergy.stages`.
    ax
        Axes to draw on.

    Notes
    -----
    Where discs of two classes overlap, the answer is ambiguous: these zones are shaded dark. See
    Bartkowiak 4.5 (figures 4.5 and 4.6).

    Examples
    --------
    >>> from verulam.nonparametric import ReducedCoulombEnergy
    >>> from verulam.plots import coulomb_discs
    >>> stages = list(ReducedCoulombEnergy(max_radius=1.0).stages([[0, 0], [1, 1]], ["a", "b"]))
    >>> coulomb_discs(stages[-1]).get_title()
    'after 2 patterns'
    """
    points = plane_points(stage.centres)
    ax = axes_or_new(ax)
    finite = np.where(np.isfinite(stage.radii), stage.radii, np.ptp(points) or 1.0)
    for code in np.unique(stage.codes):
        members = np.flatnonzero(stage.codes == code)
        discs = [Circle(tuple(points[row]), finite[row]) for row in members]
        ax.add_collection(
            PatchCollection(
                discs, facecolor=(*tint(int(code), 0.8), 0.25), edgecolor=colour(int(code)), lw=0.6
            )
        )
        x, y = points[members].T
        ax.scatter(x, y, color=colour(int(code)), marker=marker(int(code)), s=14, zorder=2)
    _shade_conflicts(ax, points, finite, stage.codes)
    count = len(points)
    ax.set_title(f"after {count} pattern{'s' if count > 1 else ''}", fontsize="small")
    ax.set_aspect("equal")
    ax.autoscale_view()
    return ax


def _shade_conflicts(
    ax: Axes, centres: NDArray[np.float64], radii: NDArray[np.float64], codes: NDArray[Any]
) -> None:
    """Shade where discs of two classes or more overlap."""
    low, high = (centres - radii[:, None]).min(axis=0), (centres + radii[:, None]).max(axis=0)
    pixel = (high - low) / CONFLICT_PIXELS
    x, y = (low[:, None] + pixel[:, None] * (np.arange(CONFLICT_PIXELS) + 0.5))[:, :, None]
    classes = np.zeros((CONFLICT_PIXELS, CONFLICT_PIXELS), dtype=np.int64)
    for code in np.unique(codes):
        covered = np.zeros(classes.shape, dtype=bool)
        for (column, row), radius in zip(centres[codes == code], radii[codes == code], strict=True):
            covered |= (x.T - column) ** 2 + (y - row) ** 2 < radius**2
        classes += covered
    shade = np.zeros((*classes.shape, 4))
    shade[..., 3] = np.where(classes > 1, 0.35, 0.0)
    edges = (low[0], high[0], low[1], high[1])
    ax.imshow(shade, extent=edges, origin="lower", interpolation="nearest", zorder=1.5)


def plane_points(X: ArrayLike) -> NDArray[np.float64]:
    """Return rows of two columns, or say that they are not."""
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError(f"X must have two columns, but its shape is {points.shape}.")
    return points


def draw_kept(
    ax: Any, points: NDArray[np.float64], codes: NDArray[Any], classes: NDArray[Any], is_kept: Any
) -> None:
    """Draw kept rows filled and the others hollow, by class."""
    for code, label in enumerate(classes):
        members = codes == code
        looks: dict[str, Any] = {"marker": marker(code), "edgecolors": colour(code), "zorder": 3}
        filled: dict[str, Any] = {"facecolors": colour(code), "s": 26, "label": str(label)}
        ax.scatter(*points[members & is_kept].T, **filled, **looks)
        hollow: dict[str, Any] = {"facecolors": "none", "s": 18, "alpha": 0.7, "linewidths": 0.8}
        ax.scatter(*points[members & ~is_kept].T, **hollow, **looks)


def _frame(ax: Axes, points: NDArray[np.float64]) -> None:
    padding = 0.08 * np.ptp(points, axis=0)
    low, high = points.min(axis=0) - padding, points.max(axis=0) + padding
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x1", ylabel="x2")
