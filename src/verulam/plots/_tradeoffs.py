"""Curves: hits against false alarms, errors against rejections, errors against complexity."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verulam.decision import ErrorRejectCurve
from verulam.measures import IsoCost, RocCurve
from verulam.plots._style import axes_or_new, by_name, colour, line, place_legend


def roc_curves(
    curves: Mapping[str, RocCurve] | RocCurve,
    *,
    ax: Axes | None = None,
    threshold: float | Mapping[str, float] | None = None,
    iso_cost: IsoCost | None = None,
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
            label=_with_area(name, curve.area),
        )
        if (value := marks.get(name)) is not None:
            ax.plot(*curve.at(value), "o", color=colour(code), ms=7, label=f"threshold {value:.3g}")
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


def error_reject_curve(
    curves: Mapping[str, ErrorRejectCurve] | ErrorRejectCurve,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw how errors fall as more instances are rejected.

    Parameters
    ----------
    curves
        One curve, or several by name.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam import decision, plots
    >>> curve = decision.error_reject_curve([0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> plots.error_reject_curve(curve).get_ylabel()
    'error rate'
    """
    ax = axes_or_new(ax)
    highest = 0.0
    for code, (name, curve) in enumerate(by_name(curves).items()):
        rates = np.append(curve.reject_rate, 1.0), np.append(curve.error_rate, 0.0)
        ax.plot(*rates, line(code), color=colour(code), label=_with_area(name, curve.area))
        highest = max(highest, float(curve.error_rate.max()))
    top = 1.08 * highest if highest > 0 else 1.0
    ax.set(xlim=(0, 1), ylim=(0, top), xlabel="reject rate", ylabel="error rate")
    place_legend(ax)
    return ax


def complexity_curve(curve: Any, *, ax: Axes | None = None) -> Axes:
    """Draw training and validation error against the complexity of a model.

    Parameters
    ----------
    curve
        Record with `values`, `training`, `validation` and `chosen`, such as
        `verulam.parametric.select_complexity` returns; a `validation_error` is drawn as bars.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from verulam.plots import complexity_curve
    >>> curve = SimpleNamespace(
    ...     parameter="degree", values=(1, 2, 3), training=[3, 2, 1], validation=[3, 2, 4], chosen=2
    ... )
    >>> axes = complexity_curve(curve)
    >>> sorted(axes.get_legend_handles_labels()[1])
    ['chosen: 2', 'training', 'validation']
    """
    ax = axes_or_new(ax)
    values = list(curve.values)
    numeric = all(isinstance(value, int | float | np.number) for value in values)
    places = values if numeric else list(range(len(values)))
    ax.plot(places, curve.training, "s--", color=colour(1), ms=4, label="training")
    bars = getattr(curve, "validation_error", None)
    ax.errorbar(
        places,
        curve.validation,
        bars,
        fmt="o-",
        color=colour(0),
        ms=4,
        capsize=3,
        label="validation",
    )
    chosen = places[values.index(curve.chosen)]
    ax.axvline(chosen, color="0.4", linewidth=1.0, linestyle=":", label=f"chosen: {curve.chosen}")
    ax.set(xlabel=str(getattr(curve, "parameter", "complexity")), ylabel="error")
    if not numeric:
        ax.set_xticks(places, [str(value) for value in values], rotation=30, ha="right")
    place_legend(ax)
    return ax


def _with_area(name: str, area: float) -> str:
    return f"{name} (area {area:.3f})" if name else f"area {area:.3f}"
