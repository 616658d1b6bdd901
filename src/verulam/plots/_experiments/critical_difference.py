"""The critical-difference diagram: mean ranks on a line, bars over learners not told apart."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from verulam.plots._style import axes_or_new
from verulam.statistics import Comparisons, ManyComparison, cliques

#: Inches: one character of a label, one row of labels, one bar, and what a bar overhangs.
CHARACTER, ROW, BAR, OVERHANG = 0.085, 0.22, 0.12, 0.04
#: Inches of the rank axis: at least, at most, and for each learner in between.
SHORTEST_AXIS, LONGEST_AXIS, AXIS_SHARE = 4.5, 8.0, 0.2
#: Inches that the line to a label goes beyond the axis, and sizes of its letters.
LEAD, LABEL_SIZE, SMALLEST_LABEL = 0.1, 8.3, 6.0
#: Rows above the axis that numbers and the ruler take.
HEAD = 0.75


def critical_difference(compared: ManyComparison | Comparisons, *, ax: Axes | None = None) -> Axes:
    """Draw mean ranks, best on the left, with bars joining learners that are not told apart.

    Parameters
    ----------
    compared
        What `verulam.statistics.compare_many`, `nemenyi_test`, `mean_rank_test` or
        `wilcoxon_holm` returned. With a critical difference, which only Nemenyi's test has, a
        ruler above the axis shows it; otherwise the name of the procedure stands there.
    ax
        Axes to draw on; None makes new ones of a fitting size.

    Notes
    -----
    After Demsar (Alpaydin 19.13.2). Labels of the better half are on the left, the others on the
    right, so that no line crosses another. Bars are the groups of `verulam.statistics.cliques`:
    no pair under a bar is rejected, and a bar ends before a pair that is. Where the overall test of
    `compare_many` does not reject, one bar joins all.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.plots import critical_difference
    >>> from verulam.statistics import compare_many
    >>> table = np.random.default_rng(0).normal(size=(20, 3)) + [0, 0, 1.5]
    >>> axes = critical_difference(compare_many(table))
    >>> [text.get_text() for text in axes.texts if "learner" in text.get_text()]
    ['learner 2  1.55', 'learner 1  1.60', '2.85  learner 3']
    """
    if isinstance(compared, ManyComparison):
        pairs, members = compared.pairs, compared.cliques
    else:
        pairs, members = compared, cliques(compared)
    ranks = pairs.means.sort_values(kind="stable")
    groups = [(ranks[group[0]], ranks[group[-1]]) for group in members]
    axis = float(np.clip(AXIS_SHARE * len(ranks), SHORTEST_AXIS, LONGEST_AXIS))
    levels = bar_levels(groups, 5 * OVERHANG * (len(ranks) - 1) / axis)
    rows = int(np.ceil(len(ranks) / 2))
    depth = (max(levels, default=-1) + 1) * BAR
    height = HEAD + depth + ROW * (rows + 1)
    label = CHARACTER * max(len(str(name)) for name in ranks.index) + 0.55
    if ax is None:
        # The axes are the whole figure, so that an inch is known to be one.
        ax = plt.figure(figsize=(axis + 2 * label, height)).add_axes((0.0, 0.0, 1.0, 1.0))
    ax = axes_or_new(ax)
    scale = prepare(ax, len(ranks), label, height)
    draw_axis(ax, len(ranks))
    for (low, high), level in zip(groups, levels, strict=True):
        place = -(level + 1) * BAR
        ax.plot([low - scale, high + scale], [place, place], color="black", lw=3.5, zorder=3)
    draw_labels(ax, ranks, -depth - ROW, label)
    if np.isfinite(pairs.critical_difference):
        draw_ruler(ax, len(ranks), pairs.critical_difference)
    else:
        ax.text(1, 0.45, f"{pairs.name}, level {pairs.alpha:g}", ha="left", fontsize="small")
    return ax


def bar_levels(groups: list[tuple[float, float]], gap: float) -> list[int]:
    """Return the row of each bar, such that bars in one row are at least `gap` ranks apart."""
    ends: list[float] = []
    levels = []
    for low, high in groups:
        # First fit: groups come in order of their left ends, so the lowest free row is the best.
        free = next((row for row, end in enumerate(ends) if low > end + gap), len(ends))
        if free == len(ends):
            ends.append(high)
        else:
            ends[free] = high
        levels.append(free)
    return levels


def inches_wide(ax: Axes) -> float:
    """Return the width of axes, which may stand in a part of a figure."""
    return float(ax.bbox.width / ax.figure.dpi)


def prepare(ax: Axes, count: int, label: float, height: float) -> float:
    """Set limits in ranks and inches, and return the overhang of a bar in ranks."""
    width = inches_wide(ax)
    # In axes that were passed in, long labels must not squeeze the scale to nothing.
    axis = max(width - 2 * label, 0.4 * width)
    margin = (width - axis) / 2 * (count - 1) / axis
    ax.set_xlim(1 - margin, count + margin)
    ax.set_ylim(HEAD - height, HEAD)
    ax.set_axis_off()
    return OVERHANG * (count - 1) / axis


def draw_axis(ax: Axes, count: int) -> None:
    """Draw the line of ranks with its ticks."""
    ax.plot([1, count], [0, 0], color="black", lw=1)
    step = max(1, round(count / 10))
    for rank in sorted({*range(1, count + 1, step), count}):
        if rank != count and count - rank < step / 2:
            continue
        ax.plot([rank, rank], [0, 0.07], color="black", lw=1)
        ax.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize="small")


def draw_labels(ax: Axes, ranks: pd.Series, top: float, label: float) -> None:
    """Draw a line from each rank to its label: the better half left, the others right.

    Parameters
    ----------
    ax
        Axes that `prepare` has set up.
    ranks
        Mean ranks, best first.
    top
        Where the first row of labels stands.
    label
        Inches that the longest label takes; where axes have fewer, letters are smaller.
    """
    count = len(ranks)
    half = int(np.ceil(count / 2))
    low, high = ax.get_xlim()
    inch = (high - low) / inches_wide(ax)
    inches = (1 - low) / inch
    size = max(SMALLEST_LABEL, LABEL_SIZE * min(1.0, (inches - LEAD) / (label - LEAD)))
    left, right = 1 - LEAD * inch, count + LEAD * inch
    for place, (name, rank) in enumerate(ranks.items()):
        better = place < half
        row = place if better else count - 1 - place
        y, edge = top - row * ROW, left if better else right
        ax.plot([rank, rank, edge], [0, y, y], color="0.35", lw=0.8)
        text = f"{name}  {rank:.2f}" if better else f"{rank:.2f}  {name}"
        ax.text(
            edge + (-0.05 if better else 0.05) * inch,
            y,
            text,
            ha="right" if better else "left",
            va="center",
            fontsize=size,
        )


def draw_ruler(ax: Axes, count: int, difference: float) -> None:
    """Draw the critical difference above the left end of the axis."""
    end = min(1 + difference, count + 0.5)
    ax.plot([1, end], [0.45, 0.45], color="black", lw=1.2)
    for edge in (1, end):
        ax.plot([edge, edge], [0.41, 0.49], color="black", lw=1.2)
    ax.text(
        (1 + end) / 2, 0.52, f"CD = {difference:.2f}", ha="center", va="bottom", fontsize="small"
    )
