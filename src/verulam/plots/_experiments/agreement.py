"""Agreement: of contestants in their errors, and of probabilities with what happens."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.plots._experiments.study import legend_above
from verulam.plots._predictions.confusion import DARK
from verulam.plots._style import axes_or_new, colour, folded, line, marker

BINS = 10
#: Curves that stay below are drawn on a scale that ends where they do.
CORNER = 0.75
#: Inches of a line of a legend.
LEGEND_LINE = 0.2


def share_matrix(table: pd.DataFrame, *, label: str = "", ax: Axes | None = None) -> Axes:
    """Draw a square table of shares, such as that of errors which two learners have in common.

    Parameters
    ----------
    table
        Shares from 0 to 1, or correlations; the same names in rows and columns.
    label
        What the cells are.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame([[1.0, 0.25], [0.25, 1.0]], ["a", "b"], ["a", "b"])
    >>> [text.get_text() for text in share_matrix(table).texts]
    ['0.25', '0.25']
    """
    count = len(table)
    names = [folded(f"{name} [{place}]") for place, name in enumerate(table.index, 1)]
    lines = max((name.count("\n") + 1 for name in names), default=1)
    wide = 1.0 if lines > 1 else 0.0
    ax = axes_or_new(ax, 0.6 * count + 2.6 + wide, max(0.5, 0.2 * lines) * count + 1.4)
    cells = table.to_numpy(dtype=np.float64)
    # A contestant agrees with itself, which tells nothing.
    shown = np.where(np.eye(count, dtype=bool), np.nan, cells)
    ax.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for (row, column), value in np.ndenumerate(shown):
        if np.isfinite(value):
            shade = "white" if value > DARK else "black"
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=shade)
    ax.set_yticks(range(count), names)
    ax.set_xticks(range(count), [f"[{place}]" for place in range(1, count + 1)])
    ax.set_title(label, fontsize="medium", loc="left")
    return ax


def calibration_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    bins: int = BINS,
    ax: Axes | None = None,
) -> Axes:
    """Draw how often the positive class occurs where a probability was promised.

    Parameters
    ----------
    curves
        By name: whether each row is of the positive class, and the probability given to it.
    bins
        Number of parts with about equally many rows.
    ax
        Axes to draw on; None makes new ones.

    Notes
    -----
    Probabilities that keep their promise lie on the diagonal; above it, the class is more
    frequent than promised.

    Examples
    --------
    >>> axes = calibration_curves({"coin": ([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])})
    >>> axes.lines[1].get_xydata().tolist()
    [[0.5, 0.5]]
    """
    ax = axes_or_new(ax, 4.8, 4.4 + LEGEND_LINE * len(curves))
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=0)
    largest = 0.0
    for code, (name, (positive, probabilities)) in enumerate(curves.items()):
        promised, happened = reliability(positive, probabilities, bins=bins)
        largest = max(largest, *promised, *happened)
        style = f"{marker(code)}{line(code)}"
        ax.plot(promised, happened, style, color=colour(code), markersize=4, label=str(name))
    # Of a rare class all is in a corner, which is drawn by itself.
    edge = 1.0 if largest > CORNER else 1.1 * max(largest, 0.01)
    limits = (-0.02 * edge, 1.02 * edge)
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    ax.set(xlabel="mean probability given", ylabel="share of the class")
    legend_above(ax, columns=1)
    return ax


def reliability(
    positive: ArrayLike, probabilities: ArrayLike, *, bins: int = BINS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean probability and the share of the class in parts of about equal size.

    Parameters
    ----------
    positive
        Whether each row is of the class.
    probabilities
        What was given to the class.
    bins
        Number of parts; equal probabilities are never parted.
    """
    happened = np.asarray(positive, dtype=np.float64)
    forecast = np.asarray(probabilities, dtype=np.float64)
    if happened.shape != forecast.shape or forecast.ndim != 1 or forecast.size == 0:
        raise DataError(
            f"positive and probabilities have shapes {happened.shape} and {forecast.shape}: "
            "they must be columns of equal length."
        )
    # Parts with equally many rows: bins of equal width would hold hardly any in the middle.
    edges = np.unique(np.quantile(forecast, np.linspace(0.0, 1.0, bins + 1)[1:-1]))
    places = np.searchsorted(edges, forecast, side="right")
    counts = np.bincount(places)
    filled = counts > 0
    sums = [np.bincount(places, weights=values)[filled] for values in (forecast, happened)]
    return sums[0] / counts[filled], sums[1] / counts[filled]
