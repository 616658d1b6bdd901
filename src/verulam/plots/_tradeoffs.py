"""What is paid for what: errors against rejections, errors against complexity."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verulam.decision import ErrorRejectCurve
from verulam.plots._style import axes_or_new, by_name, colour, line, place_legend, with_area


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
        ax.plot(*rates, line(code), color=colour(code), label=with_area(name, curve.area))
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
