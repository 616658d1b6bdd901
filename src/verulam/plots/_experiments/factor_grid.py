"""Scores over a factorial grid: a curve of one factor, a map of two."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, marker

#: Above this ratio of the largest to the smallest value, a logarithmic axis reads better.
WIDE_RANGE = 20.0
#: Colours reach this many times as far below the best score as the median is.
CONTRAST = 3.0


def factor_map(grid: Any, *, factors: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the scores of a factorial grid, the best setting marked.

    One factor gives a curve, with bars of one deviation over the splits; two give a map of cells.
    Over factors that are not drawn, each cell shows the best.

    Parameters
    ----------
    grid
        What `verulam.kernel.factor_grid` returns.
    factors
        One or two factors to draw; None for the first two.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import Gaussian, SupportVectorClassifier, factor_grid
    >>> from verulam.plots import factor_map
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SupportVectorClassifier(kernel=Gaussian(1.0))
    >>> grid = factor_grid(machine, X, y, {"C": [0.1, 10.0], "width": [0.5, 1.0, 2.0]})
    >>> axes = factor_map(grid)
    >>> len(axes.texts), axes.get_xlabel(), axes.get_ylabel()
    (6, 'width', 'C')
    """
    shown = list(factors) if factors is not None else list(grid.factors)[:2]
    unknown = [name for name in shown if name not in grid.factors]
    if unknown or not 1 <= len(shown) <= 2 or len(set(shown)) < len(shown):
        raise DataError(
            f"factors must be one or two of {', '.join(grid.factors)}; got {', '.join(shown)}."
        )
    table = grid.table()
    # Sorted by score, the first of each cell is its best over all factors that are not drawn.
    best = table.sort_values("score", ascending=False, kind="stable").drop_duplicates(shown)
    return _curve(grid, best, shown[0], ax) if len(shown) == 1 else _map(grid, best, shown, ax)


def _curve(grid: Any, best: pd.DataFrame, name: str, ax: Axes | None) -> Axes:
    ax = axes_or_new(ax)
    rows = best.set_index(name).loc[grid.factors[name]]
    values = rows.index.to_numpy()
    numeric = np.issubdtype(values.dtype, np.number)
    places = values if numeric else np.arange(len(values))
    bars = rows.get("deviation", None)
    ax.errorbar(places, rows["score"], yerr=bars, color=colour(0), marker=marker(0), capsize=3)
    best_place = list(values).index(grid.best[name])
    ax.axvline(places[best_place], color="0.5", linestyle=":")
    ax.annotate(
        "best",
        (places[best_place], 1.0),
        xycoords=("data", "axes fraction"),
        ha="center",
        va="bottom",
    )
    if numeric and values.min() > 0 and values.max() > WIDE_RANGE * values.min():
        ax.set_xscale("log")
    elif not numeric:
        ax.set_xticks(places, [str(value) for value in values])
    ax.set(xlabel=name, ylabel="score")
    return ax


def _map(grid: Any, best: pd.DataFrame, shown: list[str], ax: Axes | None) -> Axes:
    down, across = (grid.factors[name] for name in shown)
    ax = axes_or_new(ax, max(4.8, 0.75 * len(across) + 2.2), max(3.4, 0.42 * len(down) + 1.6))
    cells = np.empty((len(down), len(across)))
    for row in best.to_dict("records"):
        cells[down.index(row[shown[0]]), across.index(row[shown[1]])] = row["score"]
    known = cells[np.isfinite(cells)]
    high = float(known.max())
    # One hopeless corner must not take all the colours.
    low = max(float(known.min()), high - CONTRAST * (high - float(np.median(known))))
    span = (high - low) or 1.0
    ax.imshow(cells, cmap="viridis", vmin=low, vmax=low + span, aspect="auto", origin="lower")
    for (row, column), value in np.ndenumerate(cells):
        light = np.isfinite(value) and value - low > 0.6 * span
        text = f"{value:.3f}" if np.isfinite(value) else "refused"
        shade = "black" if light or not np.isfinite(value) else "white"
        ax.text(column, row, text, ha="center", va="center", fontsize="small", color=shade)
    corner = across.index(grid.best[shown[1]]) - 0.5, down.index(grid.best[shown[0]]) - 0.5
    ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=colour(1), linewidth=3))
    ax.set_xticks(range(len(across)), [_label(value) for value in across])
    ax.set_yticks(range(len(down)), [_label(value) for value in down])
    ax.set(xlabel=shown[1], ylabel=shown[0])
    rest = {name: value for name, value in grid.best.items() if name not in shown}
    over = f" over {', '.join(rest)}" if rest else ""
    ax.set_title(f"score{over}; the best is framed", fontsize="medium")
    return ax


def _label(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
