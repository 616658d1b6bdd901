"""Training traces: weights and criterion over the passes, and a sigmoid that hardens."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.linear import Descent
from verulam.numerics import sigmoid
from verulam.plots._style import axes_or_new, colour, line, place_legend

#: Weights that are drawn with a name of their own.
_MOST_NAMED = 12


def weight_trace(way: Any, *, ax: Axes | None = None) -> Axes:
    """Draw each weight over the passes or steps of a training.

    Parameters
    ----------
    way
        Fitted trainer that recorded its trajectory, or what `verulam.linear.gradient_descent` and
        its like return.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.linear import GradientLogistic
    >>> rows, classes = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> model = GradientLogistic(record="passes", random_state=0).fit(rows, classes)
    >>> axes = weight_trace(model)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['$w_{10}$', '$w_{11}$', '$w_{20}$', '$w_{21}$']
    """
    steps, weights = _steps_and_weights(way)
    ax = axes_or_new(ax)
    names = _names(weights)
    for number, name in enumerate(names):
        label = name if len(names) <= _MOST_NAMED else None
        values = weights.reshape(len(weights), -1)[:, number]
        ax.plot(steps, values, line(number), color=colour(number), label=label)
    ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.set(xlabel="passes or steps", ylabel="weight")
    if len(names) <= _MOST_NAMED:
        place_legend(ax)
    return ax


def _steps_and_weights(way: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(way, Descent):
        return np.arange(len(way.path)), way.path
    trajectory = _trajectory(way)
    return trajectory.steps, trajectory.weights


def _trajectory(trainer: Any) -> Any:
    trajectory = getattr(trainer, "trajectory_", None)
    if trajectory is None:
        raise DataError(
            "the trainer has no trajectory; fit it with record='passes' or record='steps'."
        )
    return trajectory


def _names(weights: np.ndarray) -> list[str]:
    if weights.ndim == 2:
        return [f"$w_{{{column}}}$" for column in range(weights.shape[1])]
    outputs, columns = weights.shape[1:]
    if outputs == 1:
        return [f"$w_{{{column}}}$" for column in range(columns)]
    # A comma where two numbers of two digits would run together.
    comma = "," if max(outputs, columns) > 9 else ""
    return [f"$w_{{{i + 1}{comma}{j}}}$" for i in range(outputs) for j in range(columns)]


def criterion_trace(way: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the criterion over the passes or steps of a training.

    Parameters
    ----------
    way
        Fitted trainer that recorded its trajectory, or a descent that was given its criterion.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.linear import gradient_descent
    >>> way = gradient_descent(lambda a: 2 * a, [1.0], criterion=lambda a: float(a @ a))
    >>> criterion_trace(way).get_ylabel()
    'criterion'
    """
    if isinstance(way, Descent):
        if way.values is None:
            raise DataError("the descent has no values; give it the criterion.")
        steps, values = np.arange(len(way.values)), way.values
    else:
        trajectory = _trajectory(way)
        steps, values = trajectory.steps, trajectory.criterion
    ax = axes_or_new(ax)
    ax.plot(steps, values, color=colour(0))
    ax.set(xlabel="passes or steps", ylabel="criterion")
    return ax


def sigmoid_trace(
    trainer: Any,
    X: ArrayLike,
    *,
    steps: Sequence[int] = (10, 100, 1000),
    posterior: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the sigmoid of a trainer of two classes over one input, as it was after some passes.

    Parameters
    ----------
    trainer
        Fitted trainer of one input that recorded its trajectory.
    X
        Rows, whose range is drawn.
    steps
        Passes or steps after which to draw it; those beyond the last are left out.
    posterior
        Whether to draw the posterior of the second class instead of its log-odds.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.linear import GradientLogistic
    >>> rows, classes = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> options = {"mode": "batch", "tol": 0.0, "max_iter": 100}
    >>> model = GradientLogistic(record="passes", random_state=0, **options).fit(rows, classes)
    >>> axes = sigmoid_trace(model, rows)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['10', '100']
    """
    trajectory = _trajectory(trainer)
    rows = np.asarray(X, dtype=np.float64)
    if rows.shape[1] != 1 or trajectory.weights.shape[-1] != 2:
        raise DataError(f"a sigmoid is drawn over one input; these rows have {rows.shape[1]}.")
    if len(trainer.classes_) != 2:
        raise DataError(f"a sigmoid is for two classes; the trainer has {len(trainer.classes_)}.")
    lines = trajectory.weights
    if lines.ndim == 3:
        # The second class against the first, whatever the number of outputs.
        lines = lines[:, -1] - lines[:, 0] if lines.shape[1] == 2 else lines[:, 0]
    ax = axes_or_new(ax)
    padding = 0.1 * max(float(np.ptp(rows)), 1e-9)
    points = np.linspace(rows.min() - padding, rows.max() + padding, 400)
    recorded = [step for step in steps if step < len(lines)] or [len(lines) - 1]
    for number, step in enumerate(recorded):
        values = lines[step, 0] + lines[step, 1] * points
        values = sigmoid(values) if posterior else values
        ax.plot(points, values, line(number), color=colour(number), label=f"{step:,}")
    ax.axhline(0.5 if posterior else 0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.set(xlabel="$x$", ylabel="posterior" if posterior else "$w x + w_0$")
    place_legend(ax)
    return ax
