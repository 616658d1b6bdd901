"""Curves over thresholds: hits against false alarms, precision against recall, and its sets."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from verulam.measures import IsoCost, PrecisionRecallCurve, Retrieval, RocCurve, roc_hull
from verulam.plots._style import axes_or_new, by_name, colour, line, place_legend, with_area
from verulam.statistics import RocBand


def roc_curves(
    curves: Mapping[str, RocCurve] | RocCurve,
    *,
    ax: Axes | None = None,
    threshold: float | Mapping[str, float] | None = None,
    iso_cost: IsoCost | None = None,
    band: RocBand | None = None,
    hull: bool = False,
) -> Axes:
    """Draw ROC curves over one another, with their areas in the legend.

    Parameters
    ----------
    curves
        One curve, or several by name.
    ax
        Axes to draw on.
    threshold
        Threshold to mark: one for all curves, or some by name of the curve.
    iso_cost
        Line of equal cost to draw, with the point where it touches its curve.
    band
        Band of `verulam.statistics.roc_band`, drawn behind the first curve.
    hull
        Also draw the convex hull of each curve, dotted.

    Examples
    --------
    >>> from verulam.measures import roc
    >>> from verulam.plots import roc_curves
    >>> curve = roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> axes = roc_curves({"first": curve}, threshold=0.5)
    >>> axes.get_legend_handles_labels()[1]
    ['first (area 0.750)', 'threshold 0.5']
    """
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=0.8, zorder=0)
    named = by_name(curves)
    marks = threshold if isinstance(threshold, Mapping) else dict.fromkeys(named, threshold)
    for code, (name, curve) in enumerate(named.items()):
        ax.plot(
            curve.fp_rate,
            curve.tp_rate,
            line(code),
            color=colour(code),
            label=with_area(name, curve.area),
        )
        if hull:
            outer = roc_hull(curve)
            ax.plot(outer.fp_rate, outer.tp_rate, color=colour(code), lw=1, ls=":")
        if (value := marks.get(name)) is not None:
            ax.plot(*curve.at(value), "o", color=colour(code), ms=7, label=f"threshold {value:.3g}")
    if band is not None:
        limits = band.table
        ax.fill_between(
            limits["fp_rate"], limits["low"], limits["high"], color=colour(0), alpha=0.2, lw=0
        )
    if iso_cost is not None:
        ends = np.array([0.0, 1.0])
        label = f"equal cost {iso_cost.cost:.3g}"
        ax.plot(ends, iso_cost.intercept + iso_cost.slope * ends, ":", color="0.25", label=label)
        ax.plot(iso_cost.fp_rate, iso_cost.tp_rate, "D", color="0.25", ms=6)
    ax.set(
        xlim=(-0.01, 1.01),
        ylim=(-0.01, 1.01),
        xlabel="false-positive rate",
        ylabel="true-positive rate",
        aspect="equal",
    )
    place_legend(ax, loc="lower right")
    return ax


def precision_recall_curves(
    curves: Mapping[str, PrecisionRecallCurve] | PrecisionRecallCurve, *, ax: Axes | None = None
) -> Axes:
    """Draw precision against recall as steps, with the precision of retrieving everything.

    Parameters
    ----------
    curves
        One curve, or several by name; the average precision is in the legend.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.measures import precision_recall
    >>> from verulam.plots import precision_recall_curves
    >>> curve = precision_recall([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision_recall_curves({"scores": curve}).get_xlabel()
    'recall'
    """
    ax = axes_or_new(ax, 4.5, 4.5)
    for place, (name, curve) in enumerate(by_name(curves).items()):
        # The precision of a threshold holds back to the recall of the one before it.
        ax.step(
            curve.recall,
            curve.precision,
            where="pre",
            color=colour(place),
            ls=line(place),
            label=with_area(name, curve.area, "average precision"),
        )
        ax.axhline(curve.prevalence, color=colour(place), lw=1, ls=":")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    ax.set(xlabel="recall", ylabel="precision")
    place_legend(ax, loc="lower left", fontsize="small")
    return ax


def retrieval_venn(retrieval: Retrieval, *, ax: Axes | None = None) -> Axes:
    """Draw relevant and retrieved records as discs with areas and overlap to scale.

    Parameters
    ----------
    retrieval
        What `verulam.measures.retrieval` returned.
    ax
        Axes to draw on.

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
    ax = axes_or_new(ax, 4.5, 3.2)
    first, second = (
        float(np.sqrt(max(len(part), 1e-9) / np.pi))
        for part in (retrieval.relevant, retrieval.retrieved)
    )
    apart = disc_distance(first, second, len(retrieval.hits))
    for place, radius, tone in ((0.0, first, colour(0)), (apart, second, colour(1))):
        ax.add_patch(Circle((place, 0), radius, facecolor=tone, alpha=0.35, edgecolor="black"))
    shared = max(-first, apart - second), min(first, apart + second)
    centres = (apart - first - second) / 2, sum(shared) / 2, (first + apart + second) / 2
    counts = len(retrieval.missed), len(retrieval.hits), len(retrieval.false_alarms)
    for centre, count in zip(centres, counts, strict=True):
        if count:
            ax.text(centre, 0, str(count), ha="center", va="center")
    top = max(first, second) * 1.15
    ax.text(-first, top, "relevant", ha="left", color=colour(0))
    ax.text(max(first, apart + second), top, "retrieved", ha="right", color=colour(1))
    low, high = min(-first, apart - second), max(first, apart + second)
    ax.set(xlim=(low * 1.05 - 0.1, high * 1.05 + 0.1), ylim=(-top, top * 1.25), aspect="equal")
    ax.set_axis_off()
    ax.set_title(
        f"precision {retrieval.precision:.2f}, recall {retrieval.recall:.2f}", fontsize="medium"
    )
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
    # Two sectors less the kite of centres and crossings, whose area is Heron's.
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
