"""Neural networks: error by epoch, units as a graph, templates, and what is learned by epoch."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import ArrayLike

from verulam.base import DataError, check_is_fitted, is_classifier
from verulam.plots._predictions.regions import decision_regions
from verulam.plots._style import axes_or_new, colour, line, place_legend

#: Layers with more units than this are drawn with some left out.
MOST_UNITS = 12
#: Width of the line of the largest weight, in points.
WIDEST = 3.0


def training_curves(history: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the training error by epoch and, where rows were set aside, the validation error.

    Parameters
    ----------
    history
        The `history_` of a fitted network.
    ax
        Axes to draw on.

    Notes
    -----
    The epoch of the least validation error is marked: later ones fit the noise of the training
    rows (Alpaydin 11.8.2, fig. 11.13).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.neural import MLPClassifier
    >>> from verulam.plots import training_curves
    >>> net = MLPClassifier(8, early_stopping=True, tol=1e-2, random_state=0)
    >>> axes = training_curves(net.fit(*load_iris(return_X_y=True)).history_)
    >>> [curve.get_label() for curve in axes.lines[:2]]
    ['training', 'validation']
    """
    if "loss" not in history or not len(history):
        raise DataError("history: expected the history_ of a fitted network, with some epochs.")
    ax = axes_or_new(ax, 6.0, 3.6)
    ax.plot(history["epoch"], history["loss"], line(0), color=colour(0), label="training")
    unseen = history["validation_loss"]
    if unseen.notna().any():
        ax.plot(history["epoch"], unseen, line(1), color=colour(1), label="validation")
        best = float(history["epoch"].to_numpy()[int(np.nanargmin(unseen.to_numpy()))])
        ax.axvline(best, color="0.6", linewidth=1.0, label=f"least, epoch {best:g}")
    ax.set(xlabel="epoch", ylabel="mean error")
    place_legend(ax)
    return ax


def network_diagram(
    learner: Any, *, input_names: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a network as units in layers; wide lines are large weights, colours are their signs.

    Parameters
    ----------
    learner
        A fitted network.
    input_names
        Names of the inputs; those that it was fitted with where there are any.
    ax
        Axes to draw on.

    Notes
    -----
    Of a large layer the first and last units are drawn, with dots between them. Weights that a
    mask removes have no line. Feedback is named in the title, and not drawn. Units of a cascade,
    which see all units before them, stand on a stair (Alpaydin fig. 11.17).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.neural import MLPClassifier
    >>> from verulam.plots import network_diagram
    >>> X, y = load_iris(return_X_y=True)
    >>> axes = network_diagram(MLPClassifier(3, tol=1e-2, random_state=0).fit(X, y))
    >>> axes.get_title()
    '4-3-3'
    """
    check_is_fitted(learner)
    if hasattr(learner, "hidden_"):
        return _cascade_diagram(learner, input_names, ax)
    if not hasattr(learner, "network_"):
        raise DataError(
            f"learner: expected a fitted network of verulam.neural, not {type(learner).__name__}."
        )
    sizes = learner.network_.layout.sizes
    ax = axes_or_new(ax, 1.2 + 1.9 * len(sizes), 4.2)
    shown = [_shown_units(size) for size in sizes]
    places = [_unit_places(layer, len(units)) for layer, units in enumerate(shown)]
    if any(
        weights.shape != pair for weights, pair in zip(learner.coefs_, pairwise(sizes), strict=True)
    ):
        raise DataError(
            "learner: a network whose units see all units before them is drawn; units of "
            f"{type(learner).__name__} see patches (weight_templates draws those)."
        )
    largest = max(float(np.abs(weights).max()) for weights in learner.coefs_) or 1.0
    for layer, weights in enumerate(learner.coefs_):
        _draw_weights(ax, weights[np.ix_(shown[layer], shown[layer + 1])] / largest,
                      places[layer], places[layer + 1])  # fmt: skip
    for layer, points in enumerate(places):
        fill = "white" if 0 < layer < len(sizes) - 1 else "0.85"
        ax.scatter(points[:, 0], points[:, 1], s=120, facecolor=fill, edgecolor="0.2", zorder=3)
        if len(points) < sizes[layer]:
            _draw_dots(ax, points)
    _name_inputs(ax, _input_names(learner, input_names, sizes[0]), shown[0], places[0])
    feedback = ", ".join(getattr(learner, "feedback_coefs_", ()))
    title = "-".join(str(size) for size in sizes)
    _finish_diagram(ax, f"{title}, feedback: {feedback}" if feedback else title)
    return ax


def _cascade_diagram(learner: Any, input_names: Sequence[str] | None, ax: Axes | None) -> Axes:
    """Draw inputs to the left, outputs to the right, and hidden units on a stair above them."""
    n_outputs, n_units = learner.outputs_.shape[1], len(learner.hidden_)
    n_inputs = len(learner.outputs_) - 1 - n_units
    shown = _shown_units(n_inputs)
    inputs = _unit_places(0, len(shown))
    # A stair that bends, or lines between its steps would lie on one another.
    steps = np.arange(n_units)
    stair = np.column_stack([steps + 1.0, 1.15 + 0.3 * np.sqrt(steps)])
    outputs = _unit_places(n_units + 1, n_outputs)
    ax = axes_or_new(ax, 2.8 + 1.1 * n_units, 4.2)
    blocks = [
        (weights[1:, None], inputs, stair[:place], stair[place : place + 1])
        for place, weights in enumerate(learner.hidden_)
    ]
    for weights, sources, before, targets in [*blocks, (learner.outputs_[1:], inputs, stair,
                                                        outputs)]:  # fmt: skip
        scaled = weights / (float(np.abs(weights).max()) or 1.0)
        _draw_weights(ax, scaled[shown], sources, targets)
        _draw_weights(ax, scaled[n_inputs:], before, targets)
    for points, fill in ((inputs, "0.85"), (stair, "white"), (outputs, "0.85")):
        ax.scatter(points[:, 0], points[:, 1], s=120, facecolor=fill, edgecolor="0.2", zorder=3)
    if len(shown) < n_inputs:
        _draw_dots(ax, inputs)
    _name_inputs(ax, _input_names(learner, input_names, n_inputs), shown, inputs)
    _finish_diagram(ax, "-".join(map(str, [n_inputs, *[1] * n_units, n_outputs])))
    return ax


def _draw_dots(ax: Axes, points: np.ndarray) -> None:
    """Say in the middle of a layer that some of its units are not drawn."""
    middle = points[len(points) // 2 - 1 : len(points) // 2 + 1].mean(axis=0)
    ax.text(middle[0], middle[1], "\u22ee", ha="center", va="center", zorder=4)


def _finish_diagram(ax: Axes, title: str) -> None:
    for label, shade in (("positive weight", colour(0)), ("negative weight", colour(1))):
        ax.plot([], [], color=shade, label=label)
    place_legend(ax, loc="lower center", bbox_to_anchor=(0.5, -0.08), ncols=2, frameon=False)
    ax.set_title(title)
    ax.axis("off")
    ax.margins(0.12, 0.08)


def _shown_units(size: int) -> np.ndarray:
    if size <= MOST_UNITS:
        return np.arange(size)
    half = MOST_UNITS // 2
    return np.r_[np.arange(half), np.arange(size - half, size)]


def _unit_places(layer: int, count: int) -> np.ndarray:
    heights = (np.arange(count)[::-1] + 0.5) / count if count > 1 else np.array([0.5])
    return np.column_stack([np.full(count, float(layer)), heights])


def _draw_weights(ax: Axes, shares: np.ndarray, sources: np.ndarray, targets: np.ndarray) -> None:
    rows, columns = np.nonzero(shares)
    values = shares[rows, columns]
    lines = np.stack([sources[rows], targets[columns]], axis=1)
    shades = [colour(0) if value > 0 else colour(1) for value in values]
    ax.add_collection(
        LineCollection(list(lines), colors=shades, linewidths=WIDEST * np.abs(values))
    )


def _input_names(learner: Any, names: Sequence[str] | None, n_inputs: int) -> Sequence[str]:
    """Return names of the inputs, and none where there are none."""
    if names is None:
        names = getattr(learner, "feature_names_in_", ())
        # Columns of a table of sequences are steps, not inputs.
        return names if len(names) == n_inputs else ()
    if len(names) != n_inputs:
        raise DataError(f"input_names: {len(names)} names for {n_inputs} inputs.")
    return names


def _name_inputs(ax: Axes, names: Sequence[str], shown: np.ndarray, places: np.ndarray) -> None:
    for unit, (x, y) in zip(shown if len(names) else (), places, strict=False):
        ax.annotate(str(names[unit]), (x, y), (-10, 0), textcoords="offset points",
                    ha="right", va="center", fontsize="small")  # fmt: skip


def hidden_unit_curves(
    learner: Any, grid: ArrayLike, *, axes: Sequence[Axes] | None = None
) -> list[Axes]:
    """Draw what the hidden units of a network with one input do, in three steps.

    Parameters
    ----------
    learner
        A fitted `verulam.neural.MLPRegressor` of one input, one hidden layer and one output.
    grid
        Inputs to draw at.
    axes
        Three axes to draw on.

    Notes
    -----
    The weighted sums, the outputs of the units, and these times their weights, whose sum is the
    fit (Alpaydin fig. 11.10).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor
    >>> from verulam.plots import hidden_unit_curves
    >>> x = np.linspace(-0.5, 0.5, 50)
    >>> net = MLPRegressor(2, activation="logistic", solver="lbfgs", tol=1e-3, random_state=0)
    >>> axes = hidden_unit_curves(net.fit(x[:, None], np.sin(6 * x)), x)
    >>> [ax.get_title() for ax in axes]
    ['weighted sums', 'outputs of the units', 'times their weights']
    """
    check_is_fitted(learner)
    sizes = learner.network_.layout.sizes
    if len(sizes) != 3 or sizes[0] != 1 or sizes[2] != 1 or hasattr(learner, "feedback_coefs_"):
        form = "-".join(str(size) for size in sizes)
        form += " with feedback" if hasattr(learner, "feedback_coefs_") else ""
        raise DataError(
            "learner: a network of one input, one hidden layer and one output is drawn, not "
            f"{form}."
        )
    if axes is None:
        axes = _grid_of_axes(1, 3, 9.6, 3.2)
    points = np.asarray(grid, dtype=np.float64)
    hidden = learner.hidden_outputs(points[:, None])
    parts = hidden * learner.coefs_[1][:, 0]
    steps = {
        "weighted sums": points[:, None] @ learner.coefs_[0] + learner.intercepts_[0],
        "outputs of the units": hidden,
        "times their weights": parts,
    }
    for ax, (title, curves) in zip(axes, steps.items(), strict=True):
        for unit, curve in enumerate(curves.T):
            ax.plot(points, curve, line(unit), color=colour(unit), label=f"unit {unit + 1}")
        ax.set(title=title, xlabel="input")
    axes[2].plot(points, learner.predict(points[:, None]), color="0.1", label="fit", linewidth=2)
    place_legend(axes[2])
    return list(axes)


def weight_templates(
    learner: Any,
    shape: Sequence[int],
    *,
    n_columns: int = 8,
    most: int = 32,
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw the weights that lead into each hidden unit as an image: what the unit looks for.

    Parameters
    ----------
    learner
        A fitted network whose inputs, or patches of them, are images.
    shape
        Height and width of the images, or of the patches of a convolutional network.
    n_columns
        Images side by side.
    most
        Most units that are drawn: the first ones.
    axes
        Axes to draw on, one for each unit.

    Notes
    -----
    A weighted sum is largest for inputs that look like its weights (Alpaydin 11.11): blue pixels
    speak for the unit, red ones against it. All images have one scale.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from verulam.neural import MLPClassifier
    >>> from verulam.plots import weight_templates
    >>> X, y = load_digits(return_X_y=True)
    >>> net = MLPClassifier(4, tol=0.1, random_state=0).fit(X / 16, y)
    >>> [ax.get_title() for ax in weight_templates(net, (8, 8))]
    ['unit 1', 'unit 2', 'unit 3', 'unit 4']
    """
    check_is_fitted(learner)
    weights = np.asarray(learner.coefs_[0])
    height, width = (int(size) for size in shape)
    if height * width != len(weights):
        raise DataError(
            f"shape: {height} by {width} are {height * width} weights; a unit has {len(weights)}."
        )
    count = min(weights.shape[1], most)
    if axes is None:
        n_columns = min(n_columns, count)
        n_rows = -(-count // n_columns)
        axes = _grid_of_axes(n_rows, n_columns, 1.25 * n_columns, 1.4 * n_rows)
        for ax in axes[count:]:
            ax.remove()
    largest = float(np.abs(weights[:, :count]).max()) or 1.0
    for unit, ax in enumerate(list(axes)[:count]):
        ax.imshow(weights[:, unit].reshape(height, width), cmap="RdBu", vmin=-largest, vmax=largest)
        ax.set(xticks=[], yticks=[], title=f"unit {unit + 1}")
    return list(axes)[:count]


def film_strip(
    learner: Any,
    X: ArrayLike,
    y: ArrayLike,
    epochs: Sequence[int],
    *,
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Train a network and draw what it has learned at some epochs, side by side.

    Parameters
    ----------
    learner
        A network with `epochs`, not yet fitted: a classifier of two inputs, whose regions are
        drawn, or a regressor of one input, whose fit is.
    X, y
        Rows to train on.
    epochs
        Epochs to draw, in order; training ends with the last.
    axes
        Axes to draw on, one for each epoch.

    Notes
    -----
    After Alpaydin fig. 11.8. Where training ends earlier, the last picture is of its end.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor
    >>> from verulam.plots import film_strip
    >>> x = np.linspace(-1, 1, 30)
    >>> net = MLPRegressor(3, activation="tanh", random_state=0)
    >>> [ax.get_title() for ax in film_strip(net, x[:, None], x**2, [1, 20])]
    ['epoch 1', 'epoch 20']
    """
    rows, targets = np.asarray(X, dtype=np.float64), np.asarray(y)
    width = 2 if is_classifier(learner) else 1
    if rows.ndim != 2 or rows.shape[1] != width:
        raise DataError(
            f"X: a {'classifier' if width == 2 else 'regressor'} of {width} input(s) can be drawn; "
            f"got the shape {rows.shape}."
        )
    numbers = [int(number) for number in epochs]
    if not numbers or min(numbers) < 1 or numbers != sorted(set(numbers)):
        raise DataError(f"epochs: expected rising numbers of at least 1; got {list(epochs)}.")
    if axes is None:
        axes = _grid_of_axes(1, len(numbers), 2.6 * len(numbers), 2.7)
    if len(axes) != len(numbers):
        raise DataError(f"axes: {len(axes)} for {len(numbers)} epochs.")
    left = list(zip(numbers, axes, strict=True))
    number = 0
    for epoch in learner.epochs(rows, targets):
        number = epoch.number
        if number == left[0][0]:
            _draw_state(learner, rows, targets, left.pop(0)[1], f"epoch {number}")
            if not left:
                break
    for place, (_, ax) in enumerate(left):
        if place:
            ax.remove()
        else:
            _draw_state(learner, rows, targets, ax, f"epoch {number}, the last")
    return list(axes)[: len(numbers) - max(len(left) - 1, 0)]


def _draw_state(learner: Any, rows: np.ndarray, targets: np.ndarray, ax: Axes, title: str) -> None:
    if rows.shape[1] == 2:
        decision_regions(learner, rows, targets, ax=ax, resolution=80)
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
    else:
        grid = np.linspace(rows.min(), rows.max(), 200)
        ax.plot(rows[:, 0], targets, ".", color="0.6")
        ax.plot(grid, learner.predict(grid[:, None]), color=colour(0), linewidth=2)
        ax.set(xlabel="input")
    ax.set_title(title)


def _grid_of_axes(n_rows: int, n_columns: int, width: float, height: float) -> list[Axes]:
    new = axes_or_new(None, width, height)
    figure = new.figure
    new.remove()
    return list(np.atleast_1d(figure.subplots(n_rows, n_columns)).ravel())
