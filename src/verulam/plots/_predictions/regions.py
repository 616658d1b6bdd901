"""Decision regions of classifiers over two inputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from verulam import decision
from verulam.base import DataError
from verulam.plots._style import HATCHES, axes_or_new, colour, marker, place_legend, tint

WEAKEST_TINT, STRONGEST_TINT = 0.12, 0.4
REJECT_COLOUR = "0.95"


def decision_regions(
    classifier: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    features: Sequence[Any] = (0, 1),
    resolution: int = 200,
) -> Axes:
    """Draw what a fitted classifier decides over two inputs.

    Each class has its colour, stronger where the posterior is larger; answers that are no class,
    such as a rejection, are hatched.

    Parameters
    ----------
    classifier
        Fitted classifier.
    X
        All inputs of the classifier: an array or a pandas table.
    y
        True classes; the instances are drawn if given.
    ax
        Axes to draw on.
    features
        Positions or names of the two inputs to draw; the others are held at their mean or most
        frequent value, which a line above the picture says.
    resolution
        Number of grid points along each axis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from verulam.plots import decision_regions
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> axes = decision_regions(GaussianNB().fit(X, y), X, y, features=(2, 3))
    >>> axes.get_xlabel(), axes.get_title()
    ('petal length (cm)', 'held: sepal length (cm) = 5.84, sepal width (cm) = 3.06')
    """
    grid = decision.decision_regions(classifier, X, features=features, resolution=resolution)
    # A picture that is coloured all over has no empty place for a legend.
    beside = ax is None
    ax = axes_or_new(ax)
    extent = (*grid.horizontal[[0, -1]], *grid.vertical[[0, -1]])
    ax.imshow(_image(grid), extent=extent, origin="lower", aspect="auto", zorder=0)
    _draw_boundaries(ax, grid)
    hatched = _draw_other_answers(ax, grid)
    if y is not None:
        _draw_instances(ax, X, np.asarray(y), grid)
    ax.set(xlim=extent[:2], ylim=extent[2:], xlabel=grid.names[0], ylabel=grid.names[1])
    if grid.held:
        values = [f"{name} = {_short(value)}" for name, value in grid.held.items()]
        ax.set_title(f"held: {', '.join(values)}", fontsize="small")
    if y is not None or hatched:
        place_legend(ax, beside=beside)
    return ax


def _image(grid: decision.DecisionGrid) -> NDArray[np.float64]:
    """Return the picture's colours: the class's tint by confidence, grey for other answers."""
    strength = WEAKEST_TINT + (STRONGEST_TINT - WEAKEST_TINT) * grid.certainty
    image = np.empty((*grid.codes.shape, 3))
    image[:] = to_rgb(REJECT_COLOUR)
    for code in range(grid.n_classes):
        members = grid.codes == code
        image[members] = tint(code, strength[members])
    return image


def _draw_boundaries(ax: Axes, grid: decision.DecisionGrid) -> None:
    for code in np.unique(grid.codes):
        members = (grid.codes == code).astype(float)
        if members.min() < members.max():
            ax.contour(
                grid.horizontal, grid.vertical, members, levels=[0.5], colors="0.25", linewidths=0.8
            )


def _draw_other_answers(ax: Axes, grid: decision.DecisionGrid) -> bool:
    """Hatch the answers that are no class, each with an entry in the legend."""
    others = [code for code in np.unique(grid.codes) if code >= grid.n_classes]
    for code in others:
        hatch = HATCHES[(code - grid.n_classes) % len(HATCHES)]
        members = (grid.codes == code).astype(float)
        ax.contourf(
            grid.horizontal,
            grid.vertical,
            members,
            levels=[0.5, 1.5],
            colors="none",
            hatches=[hatch],
        )
        # Contours take no label; a rectangle without size stands for them in the legend.
        ax.add_patch(
            Rectangle(
                (grid.horizontal[0], grid.vertical[0]),
                0,
                0,
                facecolor=REJECT_COLOUR,
                edgecolor="0.25",
                hatch=hatch,
                label=str(grid.labels[code]),
            )
        )
    return bool(others)


def _draw_instances(ax: Axes, X: Any, y: NDArray[Any], grid: decision.DecisionGrid) -> None:
    horizontal, vertical = pd.DataFrame(X).iloc[:, list(grid.columns)].to_numpy(np.float64).T
    if len(y) != len(horizontal):
        raise DataError(f"y has {len(y)} rows, but X has {len(horizontal)}.")
    known = np.asarray(grid.labels[: grid.n_classes]).tolist()
    unknown = [label for label in pd.unique(y).tolist() if label not in known]
    if unknown:
        raise DataError(f"y has the label {unknown[0]!r}; the classifier knows {known}.")
    for code, label in enumerate(grid.labels[: grid.n_classes]):
        members = y == label
        ax.scatter(
            horizontal[members],
            vertical[members],
            color=colour(code),
            marker=marker(code),
            edgecolors="white",
            linewidths=0.5,
            s=24,
            label=str(label),
        )


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
