"""Densities of classes: along one input, and as contours over two."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.decision import KnownDensities, Partition
from verulam.plots._style import axes_or_new, colour, line, marker, place_legend, tint

Vector = NDArray[np.float64]

POINTS = 600


def densities_1d(
    model: KnownDensities,
    *,
    ax: Axes | None = None,
    threshold: float | None = None,
    loss: Any = None,
    reject_cost: Any = None,
) -> Axes:
    """Draw prior times density of each class over one input, and where each decision is taken.

    Parameters
    ----------
    model
        Classes with known densities of one input.
    ax
        Axes to draw on.
    threshold
        A threshold between two classes to be drawn instead of the best one; the areas of its
        two kinds of error are filled.
    loss
        Losses behind the best decisions.
    reject_cost
        Cost of rejecting.

    Notes
    -----
    The strip below the curves has the colours of the decisions (Bartkowiak 2.2, Figure 2.1);
    with a threshold, see Figure 2.2.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from verulam.decision import KnownDensities
    >>> from verulam.plots import densities_1d
    >>> axes = densities_1d(KnownDensities(None, [norm(0, 1), norm(2, 1)]), reject_cost=0.2)
    >>> len(axes.lines)  # two curves and two boundaries
    4
    """
    if model.dimensions != 1:
        raise DataError(f"densities_1d needs one input, but the model has {model.dimensions}.")
    if threshold is not None and len(model.classes) != 2:
        raise DataError("threshold is for two classes; leave it out to draw the best decisions.")
    ax = axes_or_new(ax)
    low, high = model.bulk()
    x = np.arange(low, high + 1) if model.discrete else np.linspace(low, high, POINTS)
    heights = np.exp(model.log_joint(x))
    for code, label in enumerate(model.classes):
        dot = marker(code) if model.discrete else ""
        ax.plot(x, heights[:, code], line(code), marker=dot, color=colour(code), label=str(label))
    if threshold is None:
        _draw_decisions(ax, model, model.regions(loss, reject_cost=reject_cost), (low, high))
    else:
        _draw_threshold(ax, model, threshold, x, heights)
    # The names of the two errors need room above the curves.
    top = heights.max() * (1.1 if threshold is None else 1.5)
    height = "prior × probability" if model.discrete else "prior × density"
    ax.set(xlim=(low, high), ylim=(0, top), xlabel="x", ylabel=height)
    place_legend(ax)
    return ax


def log_odds_curve(model: KnownDensities, *, ax: Axes | None = None) -> Axes:
    r"""Draw the log odds of the first of two classes over one input, and where they change sign.

    Parameters
    ----------
    model
        Two classes with known densities of one input.
    ax
        Axes to draw on.

    Notes
    -----
    One function, :math:`g(x) = \log P(C_1 \mid x) - \log P(C_2 \mid x)`, does the work of two
    discriminants: above zero the first class is chosen, below it the second (course notes,
    Discriminant functions). The strip at the foot has the colours of the decisions.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from verulam.decision import KnownDensities
    >>> from verulam.plots import log_odds_curve
    >>> axes = log_odds_curve(KnownDensities(None, {"a": norm(0, 1), "b": norm(2, 1)}))
    >>> axes.get_ylabel()
    'log odds of a'
    """
    if model.dimensions != 1 or len(model.classes) != 2:
        raise DataError(
            "model must have one input and two classes to draw their log odds, but it has "
            f"{model.dimensions} and {len(model.classes)}."
        )
    ax = axes_or_new(ax)
    low, high = model.bulk()
    x = np.arange(low, high + 1) if model.discrete else np.linspace(low, high, POINTS)
    dot = marker(0) if model.discrete else ""
    ax.plot(x, model.log_odds(x), line(0), marker=dot, color="0.25")
    ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
    _draw_decisions(ax, model, model.regions(), (low, high))
    for code, side, offset in ((0, "bottom", 3), (1, "top", -3)):
        # On either side of the zero line: there the sign is read.
        ax.annotate(
            str(model.classes[code]),
            (0.98, 0.0),
            xycoords=("axes fraction", "data"),
            xytext=(0, offset),
            textcoords="offset points",
            color=colour(code),
            ha="right",
            va=side,
        )
    ax.set(xlim=(low, high), xlabel="x", ylabel=f"log odds of {model.classes[0]}")
    return ax


def _draw_decisions(
    ax: Axes, model: KnownDensities, pieces: Partition, limits: tuple[float, float]
) -> None:
    """Mark the boundaries, and colour a strip along the foot of the axes by decision."""
    edges = np.clip(pieces.edges, *limits)
    classes = model.classes.tolist()
    named: set[Any] = set()
    for start, end, label in zip(edges[:-1], edges[1:], pieces.labels, strict=True):
        if label is None or end <= start:
            continue
        known = label in classes
        # Classes have their name from the curves; other answers are named here, once.
        name = None if known or label in named else str(label)
        named.add(label)
        face = tint(classes.index(label), 0.5) if known else "0.9"
        ax.axvspan(
            start, end, 0, 0.04, facecolor=face, hatch=None if known else "///", label=name, lw=0
        )
    for boundary in pieces.boundaries:
        if limits[0] < boundary < limits[1]:
            ax.axvline(boundary, color="0.25", linewidth=0.8)


def _draw_threshold(
    ax: Axes, model: KnownDensities, threshold: float, x: Vector, heights: Vector
) -> None:
    """Mark a threshold and fill the errors on both sides of it."""
    edge = float(np.ceil(threshold) - 0.5) if model.discrete else threshold
    first, second = (str(label) for label in model.classes)
    if not model.discrete:
        x = np.sort(np.append(x, threshold))
        heights = np.exp(model.log_joint(x))
    for code, side, name in (
        (0, x >= threshold, f"{first} taken for {second}"),
        (1, x <= threshold if not model.discrete else x < threshold, f"{second} taken for {first}"),
    ):
        ax.fill_between(
            x[side],
            heights[side, code],
            color=tint(code, 0.5),
            step="mid" if model.discrete else None,
            label=name,
            lw=0,
        )
    ax.axvline(edge, color="0.25", linewidth=0.8)
    ax.annotate(
        "x*", (edge, 1.06 * heights.max()), xytext=(-4, 0), textcoords="offset points", ha="right"
    )


def density_contours(
    density: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    deviations: tuple[float, ...] = (1.0, 2.0, 3.0),
    resolution: int = 150,
) -> Axes:
    r"""Draw contours of a density over two inputs, or of the density of each class.

    Parameters
    ----------
    density
        Fitted object with `score_samples` (one log-density) or `class_log_density` (one per
        class), or `KnownDensities` of two inputs.
    X
        Instances, in two columns; they set the range.
    y
        Classes of the instances.
    ax
        Axes to draw on.
    deviations
        A contour runs where the density is :math:`e^{-r^2/2}` of its largest value on the grid:
        for a Gaussian, r standard deviations from the mean.
    resolution
        Number of grid points along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.mixture import GaussianMixture
    >>> from verulam.plots import density_contours
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> axes = density_contours(GaussianMixture(random_state=0).fit(X), X)
    >>> len(axes.collections)  # the instances and the contours
    2
    """
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError(f"X must have two columns, but its shape is {points.shape}.")
    ax = axes_or_new(ax)
    labels = getattr(density, "classes_", getattr(density, "classes", None))
    padding = 0.25 * np.ptp(points, axis=0) + 1e-9
    horizontal, vertical = (
        np.linspace(column.min() - extra, column.max() + extra, resolution)
        for column, extra in zip(points.T, padding, strict=True)
    )
    mesh = np.stack(np.meshgrid(horizontal, vertical), axis=-1).reshape(-1, 2)
    logs = _log_densities(density, mesh)
    _draw_points(ax, points, y, labels)
    levels = np.exp(-0.5 * np.sort(np.asarray(deviations))[::-1] ** 2)
    single = logs.shape[1] == 1
    for code, values in enumerate(logs.T):
        relative = np.exp(values - values.max()).reshape(resolution, resolution)
        shade = "0.2" if single else colour(code)
        ax.contour(horizontal, vertical, relative, levels=levels, colors=shade, linewidths=1.0)
    names = getattr(X, "columns", ["x1", "x2"])
    ax.set(xlabel=str(names[0]), ylabel=str(names[1]))
    place_legend(ax)
    return ax


def _log_densities(density: Any, points: Vector) -> Vector:
    """Return log-densities at points, one column for each class or a single one."""
    if isinstance(density, KnownDensities):
        return np.column_stack([component.log_at(points) for component in density.densities])
    for name in ("class_log_density", "score_samples"):
        if hasattr(density, name):
            return np.asarray(getattr(density, name)(points)).reshape(len(points), -1)
    raise DataError(
        "density must have score_samples or class_log_density, or be KnownDensities, "
        f"but got {type(density).__name__}."
    )


def _draw_points(ax: Axes, points: Vector, y: ArrayLike | None, labels: Any) -> None:
    if y is None:
        ax.scatter(points[:, 0], points[:, 1], color="0.55", s=12)
        return
    targets = np.asarray(y)
    for code, label in enumerate(np.unique(targets) if labels is None else labels):
        members = points[targets == label]
        ax.scatter(
            members[:, 0],
            members[:, 1],
            color=tint(code, 0.7).reshape(1, 3),
            marker=marker(code),
            s=16,
            label=str(label),
        )
