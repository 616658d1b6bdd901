"""Lines between two classes, and the way that trainers took in the space of weights."""

from typing import Any

import numpy as np
from contourpy import contour_generator
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from verulam.base import DataError
from verulam.linear import Hyperplane, LineComparison, solution_region
from verulam.plots._style import PALETTE, axes_or_new, colour, line, marker, place_legend

#: Steps of a way that are drawn.
_MOST_STEPS = 60
#: Widths of the first and the last line of a picture.
WIDEST, NARROWEST = 3.0, 1.0


def lines(comparison: LineComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the line of every trainer over the two classes.

    Parameters
    ----------
    comparison
        What `verulam.linear.compare_lines` returned, for rows with two inputs.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.linear import compare_lines
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> names = ["batch perceptron", "least squares"]
    >>> axes = lines(compare_lines(corners, [0, 0, 0, 1], names))
    >>> [text.get_text() for text in axes.get_legend().get_texts()][:2]
    ['batch perceptron', 'least squares']
    """
    inputs = comparison.inputs
    if inputs.shape[1] != 2:
        raise DataError(f"lines are drawn over two inputs; these rows have {inputs.shape[1]}.")
    ax = axes_or_new(ax)
    frame = _frame(inputs)
    # Where lines lie upon one another, the wider ones below show on both sides.
    widths = np.linspace(WIDEST, NARROWEST, len(comparison.trainers))
    for number, (name, trainer) in enumerate(comparison.trainers.items()):
        boundary = _boundary(trainer, frame)
        if boundary is not None:
            ax.plot(*boundary, **_style(number), label=name, linewidth=widths[number])
    for number, label in enumerate(np.unique(comparison.classes)):
        rows = inputs[comparison.classes == label]
        sign, places = marker(number), (rows[:, 0], rows[:, 1])
        ax.scatter(*places, s=18, marker=sign, color="0.25", label=str(label), zorder=3)
    ax.set(xlim=frame[0], ylim=frame[1], xlabel="$x_1$", ylabel="$x_2$")
    place_legend(ax)
    return ax


def weight_trajectory(trainer: Any, *, ax: Axes | None = None, rows: Any = None) -> Axes:
    """Draw the way of a trainer through its last two weights, of several outputs the last one's.

    Parameters
    ----------
    trainer
        Fitted trainer that recorded its trajectory.
    ax
        Axes to draw on.
    rows
        Sign-normalised rows with two columns; the region of their solutions is shaded.

    Examples
    --------
    >>> from verulam.linear import Perceptron
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> trainer = Perceptron(record="steps", random_state=0).fit(corners, [0, 1, 1, 1])
    >>> weight_trajectory(trainer).get_xlabel()
    '$w_1$'
    """
    if getattr(trainer, "trajectory_", None) is None:
        raise DataError(
            "the trainer has no trajectory; fit it with record='passes' or record='steps'."
        )
    ax = axes_or_new(ax)
    weights = trainer.trajectory_.weights
    weights = weights[:, -1] if weights.ndim == 3 else weights
    path, last = weights[:, -2:], weights.shape[1] - 1
    if rows is not None:
        limit = 1.2 * max(float(np.abs(path).max()), 1e-9)
        corners = solution_region(rows, limit=limit)
        if len(corners):
            ax.add_patch(Polygon(corners, facecolor=colour(2), alpha=0.2, label="solutions"))
    ax.plot(*path.T, "-o", color=colour(0), markersize=3, linewidth=1.0)
    ax.plot(*path[0], "s", color="0.3", label="start")
    ax.plot(*path[-1], "*", color=colour(1), markersize=12, label="end")
    ax.set(xlabel=f"$w_{last - 1}$", ylabel=f"$w_{last}$")
    place_legend(ax)
    return ax


def trajectories(comparison: LineComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the ways of all trainers through their last two weights in one picture.

    All weights are divided by their length, for a line stays the same whatever that is: the ways
    lie in a circle of radius one. Of long ways some steps are drawn, early ones more closely.

    Parameters
    ----------
    comparison
        What `verulam.linear.compare_lines` returned.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.linear import compare_lines
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> axes = trajectories(compare_lines(corners, [0, 0, 0, 1], ["fixed increment"]))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['fixed increment']
    """
    ax = axes_or_new(ax)
    last = comparison.inputs.shape[1]
    for number, (name, way) in _ways(comparison):
        lengths = np.linalg.norm(way.weights, axis=1)
        if not lengths[-1] > 0:
            continue
        path = (way.weights[:, -2:] / np.maximum(lengths, 1e-300)[:, None])[_some(len(lengths))]
        ax.plot(*path.T, **_style(number), label=name, linewidth=1.0, alpha=0.7)
        ax.plot(*path[-1], "*", color=colour(number), markersize=8, zorder=3)
    ax.plot(0.0, 0.0, "s", color="0.3", markersize=4)
    ax.set(xlabel=rf"$w_{last - 1} / \|a\|$", ylabel=rf"$w_{last} / \|a\|$")
    place_legend(ax)
    return ax


def error_curves(comparison: LineComparison, *, ax: Axes | None = None) -> Axes:
    """Draw the fewest rows that each trainer had wrong so far, by passes or corrections.

    Parameters
    ----------
    comparison
        What `verulam.linear.compare_lines` returned.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.linear import compare_lines
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> axes = error_curves(compare_lines(corners, [0, 0, 0, 1], ["fixed increment"]))
    >>> axes.get_ylabel()
    'fewest rows wrong so far'
    """
    ax = axes_or_new(ax)
    for number, (name, way) in _ways(comparison):
        fewest = np.minimum.accumulate(way.errors)
        style = {**_style(number), "drawstyle": "steps-post", "linewidth": 1.2}
        ax.plot(way.steps, fewest, label=name, **style)
    ax.set_xscale("symlog", linthresh=10)
    ax.set(xlabel="passes or corrections", ylabel="fewest rows wrong so far", xlim=(0, None))
    place_legend(ax)
    return ax


def _ways(comparison: LineComparison) -> list[tuple[int, tuple[str, Any]]]:
    """Return the trajectories by name, each with the number of its trainer."""
    return [
        (number, (name, trainer.trajectory_))
        for number, (name, trainer) in enumerate(comparison.trainers.items())
        if getattr(trainer, "trajectory_", None) is not None
    ]


def _some(n_steps: int) -> np.ndarray:
    """Return the numbers of the steps to draw, closer at the beginning, with the last."""
    spaced = np.geomspace(1, n_steps, min(n_steps, _MOST_STEPS)).astype(np.int64) - 1
    return np.unique(np.concatenate([np.arange(min(n_steps, _MOST_STEPS // 4)), spaced]))


def _style(number: int) -> dict[str, Any]:
    return {"linestyle": line(number // len(PALETTE)), "color": colour(number)}


def _boundary(trainer: Any, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return points of the boundary, or None where there is none to draw."""
    weights = np.atleast_2d(getattr(trainer, "coef_", np.empty((0, 2))))
    if len(weights) == 1:
        if not np.any(weights):
            return None
        return _across(Hyperplane(weights[0], float(np.ravel(trainer.intercept_)[0])), frame)
    if not hasattr(trainer, "classes_"):
        return None
    places = [np.linspace(low, high, 200) for low, high in frame]
    grid = np.stack(np.meshgrid(*places), axis=-1)
    values = trainer.decision_function(grid.reshape(-1, 2)).reshape(200, 200)
    pieces = contour_generator(x=places[0], y=places[1], z=values).lines(0.0)
    if not pieces:
        return None
    # A gap between two pieces keeps the line from jumping.
    gap = np.full((1, 2), np.nan)
    points = np.concatenate([part for piece in pieces for part in (np.asarray(piece), gap)])
    return points[:, 0], points[:, 1]


def _frame(inputs: np.ndarray) -> np.ndarray:
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    padding = 0.1 * np.where(high > low, high - low, 1.0)
    return np.column_stack([low - padding, high + padding])


def _across(plane: Hyperplane, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two points of the line, beyond the frame on both sides."""
    centre = plane.project(frame.mean(axis=1)[None])[0]
    along = np.array([-plane.weights[1], plane.weights[0]]) / np.linalg.norm(plane.weights)
    reach = 2.0 * float(np.linalg.norm(frame[:, 1] - frame[:, 0]))
    ends = centre + np.array([[-reach], [reach]]) * along
    return ends[:, 0], ends[:, 1]
