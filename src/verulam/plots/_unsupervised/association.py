"""Associations: the lattice of Apriori, and rules by support, confidence and lift."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from verulam.association import AprioriTrace, RuleSet
from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, place_legend

#: Sets that a level of a readable lattice has at most.
MOST_WIDE = 40


def apriori_lattice(trace: AprioriTrace, *, ax: Axes | None = None) -> Axes:
    """Draw the candidates of Apriori level by level: frequent, infrequent and pruned ones.

    Parameters
    ----------
    trace
        What `verulam.association.apriori` returned, for few items.
    ax
        Axes to draw on.

    Notes
    -----
    Lines join frequent sets to the candidates that they are part of. See SIT1305 II.

    Examples
    --------
    >>> from verulam.association import apriori
    >>> from verulam.data import dataset
    >>> from verulam.plots import apriori_lattice
    >>> axes = apriori_lattice(apriori(dataset("baskets").inputs, 2))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['frequent', 'infrequent', 'pruned, not counted']
    """
    widest = max(len(level.joined) for level in trace.levels)
    if widest > MOST_WIDE:
        raise DataError(f"A level has {widest} candidates; at most {MOST_WIDE} can be read.")
    ax = axes_or_new(ax, max(6.4, 0.95 * widest), 1.3 * len(trace.levels) + 0.8)
    places: dict[tuple, tuple[float, float]] = {}
    fates = trace.to_frame().set_index("items")["fate"].to_dict()
    styles = {
        "frequent": (colour(0), "white", "frequent"),
        "infrequent": ("0.85", "0.2", "infrequent"),
        "pruned": ("white", colour(1), "pruned, not counted"),
    }
    for level in trace.levels:
        for number, items in enumerate(level.joined):
            places[items] = (number - (len(level.joined) - 1) / 2, -float(level.length))
    _draw_parts(ax, trace, places)
    for fate, (face, ink, label) in styles.items():
        if fate in fates.values():
            edge = ink if fate == "pruned" else face
            ax.scatter([], [], marker="s", s=90, facecolor=face, edgecolor=edge, label=label)
    counts = {items: n for level in trace.levels for items, n in level.counts.items()}
    for items, place in places.items():
        face, ink, _ = styles[fates[items]]
        text = " ".join(map(str, items))
        count = f"\n{counts[items]}" if items in counts else ""
        box = {"boxstyle": "round", "facecolor": face, "edgecolor": ink, "linewidth": 0.8}
        ax.text(*place, text + count, color=ink, ha="center", va="center", fontsize=8, bbox=box)
    ax.set(
        xlim=(-widest / 2 - 0.3, widest / 2 + 0.3),
        ylim=(-len(trace.levels) - 0.5, -0.5),
        yticks=[-level.length for level in trace.levels],
        yticklabels=[_items(level.length) for level in trace.levels],
    )
    ax.xaxis.set_visible(False)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.tick_params(length=0)
    place_legend(ax, beside=True)
    return ax


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"


def _draw_parts(ax: Axes, trace: AprioriTrace, places: dict) -> None:
    segments = []
    for level in trace.levels[1:]:
        before = trace.levels[level.length - 2].frequent
        for items in level.joined:
            parts = (items[:place] + items[place + 1 :] for place in range(len(items)))
            segments += [[places[part], places[items]] for part in parts if part in before]
    ax.add_collection(LineCollection(segments, colors="0.8", linewidths=0.7, zorder=0))


def rule_map(rules: RuleSet, *, named: int = 6, ax: Axes | None = None) -> Axes:
    """Draw rules by support and confidence, coloured by lift, the highest lifts named.

    Parameters
    ----------
    rules
        Rules.
    named
        How many are named.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.association import association_rules
    >>> from verulam.data import dataset
    >>> from verulam.plots import rule_map
    >>> axes = rule_map(association_rules(dataset("baskets").inputs, 2))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('support', 'confidence')
    """
    if not len(rules):
        raise DataError("There are no rules to draw.")
    ax = axes_or_new(ax, 7.2, 4.6)
    support = rules.together / rules.n_transactions
    order = np.argsort(rules.lift, kind="stable")
    dots = ax.scatter(
        support[order], rules.confidence[order], c=rules.lift[order], s=28, cmap="viridis"
    )
    ax.figure.colorbar(dots, ax=ax, label="lift")
    placed: list[tuple[float, float]] = []
    reach = np.ptp(support) or 1.0, np.ptp(rules.confidence) or 1.0
    for place in order[::-1]:
        here = support[place], rules.confidence[place]
        near = any(
            abs(here[0] - x) < 0.3 * reach[0] and abs(here[1] - y) < 0.05 * reach[1]
            for x, y in placed
        )
        if near or len(placed) >= named:
            continue
        placed.append(here)
        left, right = (
            ", ".join(map(str, side[place])) for side in (rules.antecedents, rules.consequents)
        )
        ax.annotate(
            f"{left} → {right}", here, xytext=(4, 4), textcoords="offset points", fontsize="x-small"
        )
    ax.margins(0.12)
    ax.set(xlabel="support", ylabel="confidence")
    return ax
