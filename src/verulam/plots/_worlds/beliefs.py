"""Values over beliefs: the lines, and which of them is the best where."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, line, place_legend
from verulam.reinforcement import AlphaVectors


def alpha_lines(
    vectors: AlphaVectors,
    *,
    actions: Sequence[Any] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw linear functions of a belief over two states, their largest, and where it breaks.

    Parameters
    ----------
    vectors
        Values over beliefs of two states.
    actions
        Names of the actions, for the colours of the lines; None for numbers.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin figures 18.10 and 18.11.

    Examples
    --------
    >>> from verulam.plots import alpha_lines
    >>> from verulam.reinforcement import solve_exactly, tiger
    >>> axes = alpha_lines(solve_exactly(tiger(), 2)[1], actions=tiger().actions)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['open left', 'sense', 'open right', 'best']
    """
    if not isinstance(vectors, AlphaVectors):
        raise DataError(f"vectors is of type {type(vectors).__name__}; expected AlphaVectors.")
    if vectors.vectors.shape[1] != 2:
        raise DataError(f"lines are drawn over two states; these have {vectors.vectors.shape[1]}.")
    ax = axes_or_new(ax)
    order = np.argsort(vectors.vectors[:, 0] - vectors.vectors[:, 1])
    named = set()
    for row in order:
        code = int(vectors.actions[row])
        label = str(actions[code]) if actions is not None and code >= 0 else f"action {code}"
        if code < 0:
            label = "line"
        style: dict[str, Any] = {"color": colour(max(code, 0)), "linestyle": line(max(code, 0))}
        ends = vectors.vectors[row][::-1]
        ax.plot([0, 1], ends, linewidth=0.9, label=None if label in named else label, **style)
        named.add(label)
    points = np.unique(np.concatenate([np.linspace(0, 1, 201), vectors.breaks()]))
    best = vectors.values(np.column_stack([points, 1 - points]))
    ax.plot(points, best, color="0.1", linewidth=2.4, alpha=0.75, label="best", zorder=3)
    for place in vectors.breaks():
        ax.axvline(place, color="0.75", linewidth=0.7, linestyle=":", zorder=0)
    low, high = float(best.min()), float(best.max())
    ax.set(xlim=(0, 1), ylim=(low - 0.8 * (high - low), high + 0.08 * (high - low)))
    ax.set(xlabel="probability of the first state", ylabel="value")
    place_legend(ax)
    return ax
