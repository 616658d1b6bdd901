"""Theory of learning: labelings of points, version spaces, bounds beside simulations."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, line, marker, place_legend, tint
from verulam.rule import BoxClassifier
from verulam.theory import BiasVariance, LearningSimulation, Shattering

#: Space around the points of a labeling, as a share of their extent.
MARGIN = 0.35
#: Fits that are drawn beside their mean.
FITS = 20


def labelings_grid(shattering: Shattering, *, ax: Axes | None = None) -> Axes:
    """Draw every labeling of points in the plane, those without a hypothesis crossed out.

    Parameters
    ----------
    shattering
        What `verulam.theory.shatters` returned for points of two columns.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import labelings_grid
    >>> from verulam.theory import shatters
    >>> axes = labelings_grid(shatters([[0, 0], [0, 1], [1, 0], [1, 1]]))
    >>> axes.get_title()
    '14 of 16 labelings are realised'
    """
    if shattering.points.shape[1] != 2:
        raise DataError(f"Points of two columns can be drawn, not of {shattering.points.shape[1]}.")
    count = len(shattering.labelings)
    width = int(np.ceil(np.sqrt(count)))
    ax = axes_or_new(ax, 1.1 * width, 1.2 * -(-count // width))
    low, extent = shattering.points.min(axis=0), np.ptp(shattering.points, axis=0)
    unit = (shattering.points - low) / np.where(extent > 0, extent, 1.0)
    step = 1.0 + 2.0 * MARGIN
    for place, labels in enumerate(shattering.labelings):
        corner = np.array([place % width, -(place // width)]) * (step + 0.15)
        _draw_labeling(ax, unit + corner, labels, corner, bool(shattering.realised[place]))
    ax.set_aspect("equal")
    ax.axis("off")
    ax.autoscale_view()
    ax.set_title(f"{int(shattering.realised.sum())} of {count} labelings are realised")
    return ax


def _draw_labeling(
    ax: Axes,
    points: NDArray[np.float64],
    labels: NDArray[np.bool_],
    corner: NDArray[np.float64],
    realised: bool,
) -> None:
    step = 1.0 + 2.0 * MARGIN
    shade = "none" if realised else "0.92"
    edge = "0.8" if realised else colour(1)
    ax.add_patch(
        Rectangle(
            (corner[0] - MARGIN, corner[1] - MARGIN), step, step, facecolor=shade, edgecolor=edge
        )
    )
    for code in (0, 1):
        rows = points[labels == bool(code)]
        ax.scatter(rows[:, 0], rows[:, 1], color=colour(code), marker=marker(code), s=30, zorder=2)
    if not realised:
        ends = np.array([corner - MARGIN, corner - MARGIN + step])
        ax.plot(*ends.T, color=colour(1), linewidth=0.8)


def version_space(
    classifier: BoxClassifier, X: ArrayLike, y: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw the tightest box S, the loosest ones G, and the box chosen between them.

    Parameters
    ----------
    classifier
        A fitted box of two columns, whose `hypothesis` is "general" or "midway".
    X, y
        Its examples.
    ax
        Axes to draw on.

    Notes
    -----
    Every box between S and one of G agrees with all examples. See SIT1305 I.

    Examples
    --------
    >>> from verulam.plots import version_space
    >>> from verulam.rule import BoxClassifier
    >>> X, y = [[2, 2], [3, 4], [0, 3], [5, 3], [3, 0], [2, 6]], [1, 1, 0, 0, 0, 0]
    >>> axes = version_space(BoxClassifier().fit(X, y), X, y)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['S, the tightest', 'one of G, the loosest', 'chosen', '0', '1']
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise DataError("X: expected two columns.")
    if not classifier.general_:
        raise DataError("classifier has no most general boxes: every box has errors, or S is kept.")
    ax = axes_or_new(ax)
    span = np.ptp(rows, axis=0)
    low, high = rows.min(axis=0) - 0.12 * span, rows.max(axis=0) + 0.12 * span
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    boxes = [(classifier.specific_, "S, the tightest", colour(2), "-")]
    boxes += [(box, "one of G, the loosest", colour(1), "--") for box in classifier.general_]
    boxes += [(classifier.box_, "chosen", colour(0), ":")]
    for place, (box, label, shade, style) in enumerate(boxes):
        # Open sides end a little within the frame, where they can be seen.
        inset = 0.004 * span * (place + 1)
        start, stop = np.maximum(box.lower, low + inset), np.minimum(box.upper, high - inset)
        named = label if place == 0 or boxes[place - 1][1] != label else None
        ax.add_patch(
            Rectangle(
                start, *(stop - start), fill=False, edgecolor=shade, linestyle=style, label=named
            )
        )
    labels = np.asarray(y)
    for code, label in enumerate(np.unique(labels)):
        points = rows[labels == label].T
        ax.scatter(*points, color=tint(code, 0.9), marker=marker(code), label=str(label), zorder=3)
    place_legend(ax, beside=True)
    return ax


def bound_and_simulation(
    simulations: Sequence[LearningSimulation], bounds: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw how often learners failed, by the number of examples, beside what a bound promises.

    Parameters
    ----------
    simulations
        One for each number of examples.
    bounds
        Largest probability of failure that a bound allows for each.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import bound_and_simulation
    >>> from verulam.rule import BoxClassifier
    >>> from verulam.theory import box_bound, simulate_learning
    >>> counts = (50, 100)
    >>> runs = [
    ...     simulate_learning(
    ...         BoxClassifier(hypothesis="specific"), lambda X: ((X > 0.3) & (X < 0.8)).all(axis=1),
    ...         lambda count, random: random.random((count, 2)),
    ...         n_samples=count, error=0.1, n_repeats=20, n_test=500,
    ...     )
    ...     for count in counts
    ... ]
    >>> promised = [box_bound(error=0.1, n_samples=count).delta for count in counts]
    >>> axes = bound_and_simulation(runs, promised)
    >>> axes.get_ylabel()
    'probability of an error above 0.1'
    """
    limits = np.asarray(bounds, dtype=np.float64)
    if len(simulations) != len(limits) or not len(limits):
        raise DataError(f"{len(simulations)} simulations, but {len(limits)} bounds.")
    ax = axes_or_new(ax)
    counts = np.array([simulation.n_samples for simulation in simulations])
    shares = np.array([simulation.failures for simulation in simulations])
    ends = np.array([simulation.interval for simulation in simulations])
    ax.plot(counts, limits, color=colour(1), linestyle=line(1), label="bound")
    reach = np.maximum(np.abs(ends.T - shares), 0.0)
    ax.errorbar(counts, shares, reach, color=colour(0), fmt="o", capsize=3, label="simulated")
    ax.set(
        xlabel="examples",
        ylabel=f"probability of an error above {simulations[0].error:g}",
        ylim=(-0.02, 1.05),
    )
    place_legend(ax)
    return ax


def bias_and_variance(
    parts: Mapping[str, BiasVariance], target: ArrayLike, *, ax: Sequence[Axes] | None = None
) -> Sequence[Axes]:
    """Draw fits to many samples, their mean and the target, side by side for several learners.

    Parameters
    ----------
    parts
        What `verulam.theory.bias_variance` returned for each learner, at points of one column.
    target
        True values at the points.
    ax
        Axes to draw on, one for each learner.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from verulam.plots import bias_and_variance
    >>> from verulam.theory import bias_variance
    >>> points = np.linspace(0, 1, 30)[:, None]
    >>> parts = bias_variance(
    ...     LinearRegression(), lambda X: X[:, 0] ** 2,
    ...     lambda count, random: random.random((count, 1)), points, noise=0.1, n_samples=10,
    ... )
    >>> axes = bias_and_variance({"line": parts}, points[:, 0] ** 2)
    >>> axes[0].get_title().splitlines()[0]
    'line'
    """
    truth = np.asarray(target, dtype=np.float64)
    if ax is None:
        size = 4.0 * len(parts), 3.4
        ax = plt.subplots(
            1, len(parts), figsize=size, sharey=True, squeeze=False, layout="constrained"
        )[1][0]
    for axes, (name, part) in zip(ax, parts.items(), strict=True):
        if part.points.shape[1] != 1:
            raise DataError(f"{name}: points of one column can be drawn.")
        order = np.argsort(part.points[:, 0])
        x = part.points[order, 0]
        axes.plot(x, part.fits[:FITS, order].T, color="0.8", linewidth=0.7)
        axes.plot(x, part.mean[order], color=colour(0), label="mean of the fits")
        axes.plot(x, truth[order], color=colour(1), linestyle=line(1), label="target")
        axes.set(
            xlabel="x",
            title=f"{name}\nbias² {part.squared_bias:.3f}, variance {part.mean_variance:.3f}",
        )
    place_legend(ax[0])
    return ax
