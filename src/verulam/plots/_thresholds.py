"""Curves over thresholds: hits against false alarms, precision against recall."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from verulam.measures import IsoCost, PrecisionRecallCurve, RocCurve, roc_hull
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
