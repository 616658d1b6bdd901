"""Curves over thresholds with bands, hulls and costs, and retrieval as overlapping sets."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from verulam.measures import (
    IsoCost,
    PrecisionRecallCurve,
    Retrieval,
    RocCurve,
    roc_hull,
)
from verulam.plots._axes import axes_of_size
from verulam.plots._style import colour, line
from verulam.plots._tradeoffs import roc_curves
from verulam.statistics import RocBand


def roc_analysis(
    curves: Mapping[str, RocCurve],
    *,
    band: RocBand | None = None,
    hull: bool = True,
    iso_cost: IsoCost | None = None,
    ax: Any = None,
) -> Any:
    """Draw ROC curves with what can be read off them: a band, hulls, the cheapest point.

    Parameters
    ----------
    curves
        Curves by name; the area is added to the name.
    band
        Band of `verulam.statistics.roc_band`, drawn behind the first curve.
    hull
        Also draw the convex hull of each curve, dotted.
    iso_cost
        Line of equal cost of `verulam.measures.iso_cost`, with its cheapest point.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> from verulam.measures import roc
    >>> from verulam.plots import roc_analysis
    >>> axes = roc_analysis({"scores": roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> axes.get_legend_handles_labels()[1]
    ['scores (area 0.750)']
    """
    ax = roc_curves(curves, ax=axes_of_size(ax, 4.5, 4.5), iso_cost=iso_cost)
    if band is not None:
        table = band.table
        ax.fill_between(
            table["fp_rate"], table["low"], table["high"], color=colour(0), alpha=0.2, lw=0
        )
    if hull:
        for place, curve in enumerate(curves.values()):
            outer = roc_hull(curve)
            ax.plot(outer.fp_rate, outer.tp_rate, color=colour(place), lw=1, ls=":")
    return ax


def precision_recall_curves(curves: Mapping[str, PrecisionRecallCurve], *, ax: Any = None) -> Any:
    """Draw precision against recall as steps, with the precision of retrieving everything.

    Parameters
    ----------
    curves
        Curves by name; the average precision is added to the name.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> from verulam.measures import precision_recall
    >>> from verulam.plots import precision_recall_curves
    >>> curve = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision_recall_curves({"scores": curve}).get_xlabel()
    'recall'
    """
    ax = axes_of_size(ax, 4.5, 4.5)
    for place, (name, curve) in enumerate(curves.items()):
        label = f"{name} (average precision {curve.area:.3f})"
        # The precision of a threshold holds back to the recall of the one before it.
        ax.step(
            curve.recall,
            curve.precision,
            where="pre",
            color=colour(place),
            ls=line(place),
            label=label,
        )
        ax.axhline(curve.prevalence, color=colour(place), lw=1, ls=":")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel="recall", ylabel="precision")
    ax.legend(loc="lower left", fontsize="small")
    return ax


def retrieval_venn(found: Retrieval, *, ax: Any = None) -> Any:
    """Draw relevant and retrieved records as discs with areas and overlap to scale.

    Parameters
    ----------
    found
        What `verulam.measures.retrieval` returned.
    ax
        Axes to draw on; None makes new ones.

    Notes
    -----
    Alpaydin Figure 19.4.

    Examples
    --------
    >>> from verulam.measures import retrieval
    >>> from verulam.plots import retrieval_venn
    >>> retrieval_venn(retrieval({1, 2, 3, 4}, {3, 4, 5})).get_title()
    'precision 0.67, recall 0.50'
    """
    from matplotlib.patches import Circle

    ax = axes_of_size(ax, 4.5, 3.2)
    first, second = (
        float(np.sqrt(max(len(part), 1e-9) / np.pi)) for part in (found.relevant, found.retrieved)
    )
    apart = disc_distance(first, second, len(found.hits))
    for place, radius, tone in ((0.0, first, colour(0)), (apart, second, colour(1))):
        ax.add_patch(Circle((place, 0), radius, facecolor=tone, alpha=0.35, edgecolor="black"))
    shared = max(-first, apart - second), min(first, apart + second)
    centres = (apart - first - second) / 2, sum(shared) / 2, (first + apart + second) / 2
    counts = len(found.missed), len(found.hits), len(found.false_alarms)
    for centre, count in zip(centres, counts, strict=True):
        if count:
            ax.text(centre, 0, str(count), ha="center", va="center")
    top = max(first, second) * 1.15
    ax.text(-first, top, "relevant", ha="left", color=colour(0))
    ax.text(max(first, apart + second), top, "retrieved", ha="right", color=colour(1))
    low, high = min(-first, apart - second), max(first, apart + second)
    ax.set(xlim=(low * 1.05 - 0.1, high * 1.05 + 0.1), ylim=(-top, top * 1.25), aspect="equal")
    ax.set_axis_off()
    ax.set_title(f"precision {found.precision:.2f}, recall {found.recall:.2f}", fontsize="medium")
    return ax


def disc_distance(first: float, second: float, overlap: float) -> float:
    """Return how far apart two discs must be to share the area `overlap`."""
    smaller = np.pi * min(first, second) ** 2
    if overlap >= smaller * (1 - 1e-9):
        return 0.9 * abs(first - second)
    if overlap <= 0:
        return 1.05 * (first + second)
    low, high = abs(first - second), first + second
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if shared_area(first, second, middle) > overlap else (low, middle)
        )
    return (low + high) / 2


def shared_area(first: float, second: float, apart: float) -> float:
    """Return the area that two overlapping discs share."""
    one = np.clip((apart**2 + first**2 - second**2) / (2 * apart * first), -1, 1)
    other = np.clip((apart**2 + second**2 - first**2) / (2 * apart * second), -1, 1)
    kite = max(
        0.0,
        (-apart + first + second)
        * (apart + first - second)
        * (apart - first + second)
        * (apart + first + second),
    )
    return float(first**2 * np.arccos(one) + second**2 * np.arccos(other) - 0.5 * np.sqrt(kite))
