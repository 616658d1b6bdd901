"""Trade-off curves: errors against rejections, errors against complexity."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm

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
        Record with `values`, `training`, `validation`, and `selected` or else `best`, such as
        `verulam.parametric.select_complexity` and `verulam.nonparametric.select_smoothing` return;
        a `validation_error` is drawn as bars.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from verulam.plots import complexity_curve
    >>> curve = SimpleNamespace(
    ...     parameter="degree",
    ...     values=(1, 2, 3),
    ...     training=[3, 2, 1],
    ...     validation=[3, 2, 4],
    ...     selected=2,
    ... )
    >>> axes = complexity_curve(curve)
    >>> sorted(axes.get_legend_handles_labels()[1])
    ['selected: 2', 'training', 'validation']
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
    selected = curve.selected if hasattr(curve, "selected") else curve.best
    place = places[values.index(selected)]
    label = f"selected: {selected}"
    ax.axvline(place, color="0.4", linewidth=1.0, linestyle=":", label=label)
    ax.set(xlabel=str(getattr(curve, "parameter", "complexity")), ylabel="error")
    if not numeric:
        ax.set_xticks(places, [str(value) for value in values], rotation=30, ha="right")
    place_legend(ax)
    return ax


def response_surface(
    table: pd.DataFrame,
    *,
    factor: str = "complexity",
    label: str = "response",
    greater_is_better: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the response over complexity and training rows, and the best complexity for each.

    Parameters
    ----------
    table
        One row per number of training rows, one column per level of complexity, both numbers.
    factor
        What makes the model more complex.
    label
        What was measured.
    greater_is_better
        Direction of the response.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame([[3.0, 4.0, 9.0], [2.0, 1.0, 3.0]], [10, 100], [1, 2, 3])
    >>> axes = response_surface(table, factor="degree")
    >>> axes.lines[0].get_xydata().tolist()
    [[1.0, 10.0], [2.0, 100.0]]
    """
    ax = axes_or_new(ax, 6.0, 4.2)
    ordered = table.sort_index(axis=0).sort_index(axis=1)
    levels, rows = (axis.to_numpy(dtype=np.float64) for axis in (ordered.columns, ordered.index))
    values = ordered.to_numpy(dtype=np.float64)
    # Colours by rank: one model that is far off must not hide how the others differ.
    edges = np.unique(np.nanquantile(values, np.linspace(0.0, 1.0, 12)))
    if len(edges) > 1:
        shades = "viridis" if greater_is_better else "viridis_r"
        norm = BoundaryNorm(edges, 256)
        filled = ax.contourf(levels, rows, values, levels=edges, cmap=shades, norm=norm)
        bar = ax.figure.colorbar(filled, ax=ax, format="%.3g")
        bar.set_label(label)
    best = np.nanargmax(values, axis=1) if greater_is_better else np.nanargmin(values, axis=1)
    ax.plot(levels[best], rows, "o--", color=colour(1), label="best for these rows", clip_on=False)
    ax.set_yscale("log")
    ax.set_yticks(rows, [f"{count:g}" for count in rows])
    ax.minorticks_off()
    ax.set_xticks(levels, [f"{level:g}" for level in levels])
    ax.set(xlabel=factor, ylabel="training rows")
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize="small", frameon=False)
    return ax
