"""Pictures of a study: scores run by run, costs, learning curves, levels of factors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from verulam.plots._style import axes_or_new, colour, folded, line, marker

#: Inches of one contestant in a list of them.
ROW_HEIGHT = 0.42
#: Inches of a line of text, and how many lines of a legend axes have room for as they are.
TEXT_LINE, ROOMY_LINES = 0.18, 4
#: Characters of a name that still fits beside another in a legend.
NAME_WIDTH = 42
#: With more splits than this, points would hide one another, and the box.
MOST_POINTS = 60
#: Above this ratio of the largest to the smallest cost, a logarithmic axis reads better.
WIDE_RANGE = 20.0


def score_boxes(table: pd.DataFrame, *, label: str = "score", ax: Any = None) -> Any:
    """Draw a box for each contestant, with the score of every split as a point upon it.

    Of very many splits the points are left out, and the whiskers hold nine tenths of them.

    Parameters
    ----------
    table
        One row per split, one column per contestant; scores may be missing.
    label
        What was measured.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"tree": [0.1, 0.2, 0.15], "net": [0.12, None, 0.11]})
    >>> axes = score_boxes(table, label="error")
    >>> [text.get_text() for text in axes.get_yticklabels()], axes.get_xlabel()
    (['tree', 'net'], 'error')
    """
    names = [folded(str(name)) for name in table.columns]
    row = max([ROW_HEIGHT, *(TEXT_LINE * (name.count("\n") + 1) + 0.1 for name in names)])
    ax = axes_or_new(ax, 6.5, row * table.shape[1] + 1.0)
    columns = [table[name].dropna().to_numpy() for name in table.columns]
    places = np.arange(len(columns))
    many = len(table) > MOST_POINTS
    ax.boxplot(
        columns,
        positions=places,
        orientation="horizontal",
        widths=0.55,
        showfliers=False,
        whis=(5, 95) if many else 1.5,
    )
    for place, values in enumerate([] if many else columns):
        # Spread by hand instead of by chance, so that the picture is the same each time.
        offsets = (
            np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.zeros(len(values))
        )
        ax.plot(values, place + offsets, "o", color=colour(0), alpha=0.55, markersize=3.5)
    ax.set_yticks(places, names)
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlabel(label)
    return ax


def mean_dots(means: pd.DataFrame, *, label: str = "score", ax: Any = None) -> Any:
    """Draw the mean score of each contestant on each data set, one line of dots per data set.

    Parameters
    ----------
    means
        One row per data set, one column per contestant.
    label
        What was measured.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> means = pd.DataFrame({"tree": [0.1, 0.2], "net": [0.3, 0.1]}, ["iris", "wine"])
    >>> [text.get_text() for text in mean_dots(means).get_yticklabels()]
    ['iris', 'wine']
    """
    ax = axes_or_new(ax, 6.5, 0.32 * len(means) + 1.6)
    places = np.arange(len(means))
    ax.hlines(places, means.min(axis=1), means.max(axis=1), color="0.6", linewidth=0.8, zorder=0)
    for code, name in enumerate(means.columns):
        ax.plot(means[name], places, marker(code), color=colour(code), alpha=0.85, label=str(name))
    ax.set_yticks(places, [str(data) for data in means.index])
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlabel(label)
    legend_above(ax)
    return ax


def cost_response(
    table: pd.DataFrame,
    response: str,
    cost: str,
    *,
    front: Sequence[str] = (),
    greater_is_better: bool = False,
    ax: Any = None,
) -> Any:
    """Draw the response of contestants against what they cost, and join those that none beats.

    Parameters
    ----------
    table
        One row per contestant.
    response, cost
        Columns of the table.
    front
        Contestants that no other beats in both.
    greater_is_better
        Direction of the response.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"error": [0.3, 0.1], "seconds": [0.01, 2.0]}, ["mean", "forest"])
    >>> axes = cost_response(table, "error", "seconds", front=["mean", "forest"])
    >>> axes.get_xscale(), axes.get_legend_handles_labels()[1]
    ('log', ['mean', 'forest'])
    """
    ax = axes_or_new(ax, 6.5, 4.2)
    known = table[[response, cost]].dropna()
    on_front = known.loc[[name for name in front if name in known.index]].sort_values(cost)
    ax.plot(on_front[cost], on_front[response], "-", color="0.55", lw=1.0, zorder=1)
    for code, (name, row) in enumerate(known.iterrows()):
        ax.plot(row[cost], row[response], marker(code), color=colour(code), label=str(name))
    positive = known[cost][known[cost] > 0]
    if len(positive) == len(known) > 1 and positive.max() > WIDE_RANGE * positive.min():
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.xaxis.set_minor_formatter(lambda *_: "")
    ax.margins(0.1)
    words = f"{response} ({'higher' if greater_is_better else 'lower'} is better)"
    ax.set(xlabel=cost.replace("_", " "), ylabel=words.replace("_", " "))
    legend_above(ax)
    return ax


def level_means(
    table: pd.DataFrame, *, factor: str = "level", label: str = "score", ax: Any = None
) -> Any:
    """Draw mean responses against the levels of a factor, one line per series.

    Lines that are not parallel show that the factor acts differently from series to series.

    Parameters
    ----------
    table
        One row per level, one column per series.
    factor
        What the levels are of.
    label
        What was measured.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"iris": [0.1, 0.08], "wine": [0.2, 0.3]}, index=[1, 5])
    >>> axes = level_means(table, factor="n_neighbors", label="error")
    >>> axes.get_xlabel(), axes.get_legend_handles_labels()[1]
    ('n_neighbors', ['iris', 'wine'])
    """
    ax = axes_or_new(ax, 6.5, 4.0)
    numeric = all(isinstance(level, int | float | np.number) for level in table.index)
    ordered = table.sort_index() if numeric else table
    places = ordered.index.to_numpy() if numeric else np.arange(len(ordered))
    for code, name in enumerate(ordered.columns):
        style = f"{marker(code)}{line(code)}"
        ax.plot(places, ordered[name], style, color=colour(code), markersize=4, label=str(name))
    if not numeric or len(places) <= 8:
        ax.set_xticks(places, [str(level) for level in ordered.index])
    ax.set(xlabel=factor, ylabel=label)
    if ordered.shape[1] > 1:
        legend_above(ax)
    return ax


def legend_above(ax: Any, *, columns: int = 2) -> None:
    """Put the legend above the axes, where it hides nothing, however many entries it has.

    The figure of axes that stand alone grows by what the legend takes.

    Parameters
    ----------
    ax
        Axes with named curves or points.
    columns
        Entries side by side, where their names are short enough.
    """
    labels = [str(label) for label in ax.get_legend_handles_labels()[1]]
    if max(map(len, labels), default=0) > NAME_WIDTH:
        columns = 1
    legend = ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        fontsize="small",
        frameon=False,
        ncols=columns,
    )
    for text in legend.get_texts():
        text.set_text(folded(text.get_text(), 2 * NAME_WIDTH))
    lines = sum(text.get_text().count("\n") + 1 for text in legend.get_texts()) / columns
    figure = ax.figure
    if lines > ROOMY_LINES and figure.axes == [ax]:
        figure.set_figheight(figure.get_figheight() + TEXT_LINE * (lines - ROOMY_LINES))
