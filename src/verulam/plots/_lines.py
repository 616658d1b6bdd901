"""Lines between two classes, and the way that trainers took in the space of weights."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from verulam.base import DataError
from verulam.linear import Hyperplane, LineComparison, solution_region
from verulam.plots._style import PALETTE, axes_or_new, colour, line, marker, place_legend


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
    for number, (name, trainer) in enumerate(comparison.trainers.items()):
        if not np.any(getattr(trainer, "coef_", 0.0)):
            continue
        ends = _across(trainer.hyperplane_, frame)
        style = line(number // len(PALETTE))
        ax.plot(*ends, style, color=colour(number), label=name, linewidth=1.4)
    for number, label in enumerate(np.unique(comparison.classes)):
        rows = inputs[comparison.classes == label]
        sign, places = marker(number), (rows[:, 0], rows[:, 1])
        ax.scatter(*places, s=18, marker=sign, color="0.25", label=str(label), zorder=3)
    ax.set(xlim=frame[0], ylim=frame[1], xlabel="$x_1$", ylabel="$x_2$")
    place_legend(ax)
    return ax


def weight_trajectory(trainer: Any, *, ax: Axes | None = None, rows: Any = None) -> Axes:
    """Draw the way of a trainer through its last two weights.

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
    path = trainer.trajectory_.weights[:, -2:]
    last = trainer.trajectory_.weights.shape[1] - 1
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


def _frame(inputs: np.ndarray) -> np.ndarray:
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    room = 0.1 * np.where(high > low, high - low, 1.0)
    return np.column_stack([low - room, high + room])


def _across(plane: Hyperplane, frame: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two points of the line, beyond the frame on both sides."""
    centre = plane.project(frame.mean(axis=1)[None])[0]
    along = np.array([-plane.weights[1], plane.weights[0]]) / np.linalg.norm(plane.weights)
    reach = 2.0 * float(np.linalg.norm(frame[:, 1] - frame[:, 0]))
    ends = centre + np.array([[-reach], [reach]]) * along
    return ends[:, 0], ends[:, 1]
