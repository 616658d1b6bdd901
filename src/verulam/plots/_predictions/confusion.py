"""Confusion matrices as pictures."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
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
        Record from `verulam.measures.confusion`, or a square array or pandas table of counts with
        true classes in rows.
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
    if isinstance(frame, list | tuple) and np.ndim(frame) == 2:
        frame = np.asarray(frame)
    if isinstance(frame, np.ndarray) and frame.ndim == 2:
        frame = pd.DataFrame(frame)
    if not isinstance(frame, pd.DataFrame):
        raise DataError(
            "table must be what verulam.measures.confusion returns, or an array or pandas table "
            f"of counts, but got {type(table).__name__}."
        )
    n_classes = max(frame.shape)
    side = max(4.8, 0.55 * n_classes + 1.5)
    ax = axes_or_new(ax, 1.2 * side, side)
    cells = frame.to_numpy(dtype=np.float64)
    if not np.isfinite(cells).all() or (cells < 0).any():
        raise DataError("table must hold counts, which are finite and not negative.")
    if normalise:
        totals = cells.sum(axis=1, keepdims=True)
        cells = np.divide(cells, totals, out=np.zeros_like(cells), where=totals > 0)
    highest = cells.max() if cells.max() > 0 else 1.0
    ax.imshow(cells, cmap="Blues", vmin=0.0, vmax=highest)
    texts = {True: "{:.2f}", False: "{:g}"}[normalise]
    longest = max(len(texts.format(value)) for value in cells.ravel())
    size = _text_size(ax, n_classes, longest)
    for (row, column), value in np.ndenumerate(cells):
        shade = "white" if value > DARK * highest else "black"
        text = texts.format(value)
        ax.text(column, row, text, ha="center", va="center", color=shade, fontsize=size)
    ax.set_xticks(range(cells.shape[1]), [str(label) for label in frame.columns])
    ax.set_yticks(range(cells.shape[0]), [str(label) for label in frame.index])
    if cells.shape[1] > 4 or max(len(str(label)) for label in frame.columns) > 8:
        ax.tick_params(axis="x", rotation=30)
    ax.set(xlabel="predicted", ylabel="true")
    return ax


def _text_size(ax: Axes, n_classes: int, longest: int) -> float:
    """Return the largest font size, up to the usual one, at which figures stay in their cells."""
    box = ax.get_position()
    width, height = ax.get_figure(root=True).get_size_inches()  # type: ignore[union-attr]
    cell = 72 * min(box.width * width, box.height * height) / n_classes
    usual = float(plt.rcParams["font.size"])
    # A digit is about 0.6 of the font size wide; the rest of the cell is margin.
    return max(4.0, min(usual, 0.9 * cell / (0.62 * longest)))
