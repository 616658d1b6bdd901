"""Confusion matrices as pictures."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verulam.base import DataError
from verulam.plots._style import axes_or_new

# Above this share of the darkest cell, white figures are easier to read.
DARK = 0.6


def confusion_matrix(table: Any, *, ax: Axes | None = None, normalise: bool = False) -> Axes:
    """Draw counts of true against predicted classes.

    Parameters
    ----------
    table
        Record from `verulam.measures.confusion`, or a pandas table with true classes in rows.
    ax
        Axes to draw on.
    normalise
        Show shares of each true class instead of counts.

    Examples
    --------
    >>> from verulam.measures import confusion
    >>> from verulam.plots import confusion_matrix
    >>> axes = confusion_matrix(confusion(["cat", "cat", "dog"], ["cat", "dog", "dog"]))
    >>> [text.get_text() for text in axes.texts]
    ['1', '1', '0', '1']
    """
    frame = getattr(table, "matrix", table)
    if not hasattr(frame, "index"):
        raise DataError(
            "table must be what verulam.measures.confusion returns, or a pandas table, "
            f"but got {type(table).__name__}."
        )
    ax = axes_or_new(ax)
    cells = frame.to_numpy(dtype=np.float64)
    if normalise:
        totals = cells.sum(axis=1, keepdims=True)
        cells = np.divide(cells, totals, out=np.zeros_like(cells), where=totals > 0)
    highest = cells.max() if cells.max() > 0 else 1.0
    ax.imshow(cells, cmap="Blues", vmin=0.0, vmax=highest)
    for (row, column), value in np.ndenumerate(cells):
        shade = "white" if value > DARK * highest else "black"
        text = f"{value:.2f}" if normalise else f"{value:g}"
        ax.text(column, row, text, ha="center", va="center", color=shade)
    ax.set_xticks(range(cells.shape[1]), [str(label) for label in frame.columns])
    ax.set_yticks(range(cells.shape[0]), [str(label) for label in frame.index])
    if cells.shape[1] > 4 or max(len(str(label)) for label in frame.columns) > 8:
        ax.tick_params(axis="x", rotation=30)
    ax.set(xlabel="predicted", ylabel="true")
    return ax
