"""Effects of factors: which stand out from chance, and the surface over two of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import special

from verulam.plots._style import axes_or_new, colour, folded, marker


def effect_pareto(
    effects: pd.Series, *, limit: float | None = None, label: str = "effect", ax: Axes | None = None
) -> Axes:
    """Draw the sizes of effects as bars, the largest on top.

    Parameters
    ----------
    effects
        Effect of each factor and interaction.
    limit
        Size beyond which an effect is significant, drawn as a line; None draws none.
    label
        What the effects are measured in.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> axes = effect_pareto(pd.Series({"k": -0.1, "p": 0.02, "k x p": 0.3}), limit=0.05)
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['k x p (+)', 'k (-)', 'p (+)']
    """
    ordered = effects.reindex(effects.abs().sort_values(ascending=False, kind="stable").index)
    ax = axes_or_new(ax, 6.5, 0.34 * len(ordered) + 1.2)
    places = np.arange(len(ordered))
    ax.barh(places, ordered.abs(), color=[colour(int(value < 0)) for value in ordered], height=0.6)
    if limit is not None and np.isfinite(limit):
        ax.axvline(limit, color="0.5", linestyle="--", linewidth=1)
    words = [folded(f"{name} ({'-' if value < 0 else '+'})") for name, value in ordered.items()]
    ax.set_yticks(places, words)
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlabel(f"size of the {label}")
    return ax


def effect_normal(effects: pd.Series, *, label: str = "effect", ax: Axes | None = None) -> Axes:
    """Draw effects against normal quantiles: those that are chance lie on a line through zero.

    Parameters
    ----------
    effects
        Effect of each factor and interaction.
    label
        What the effects are measured in.
    ax
        Axes to draw on; None makes new ones.

    Notes
    -----
    The line has the slope of the median absolute effect, which a few real effects leave alone.

    Examples
    --------
    >>> import pandas as pd
    >>> axes = effect_normal(pd.Series({"k": 0.9, "p": -0.01, "k x p": 0.02}))
    >>> sorted(text.get_text() for text in axes.texts)
    ['k', 'k x p', 'p']
    """
    ax = axes_or_new(ax, 6.5, 4.0)
    ordered = effects.sort_values()
    quantiles = special.ndtri((np.arange(len(ordered)) + 0.5) / len(ordered))
    for place, (name, value) in enumerate(ordered.items()):
        ax.plot(value, quantiles[place], marker(0), color=colour(0))
        ax.annotate(
            str(name),
            (float(value), quantiles[place]),
            (6, -4),
            textcoords="offset points",
            fontsize="small",
        )
    # The median of the absolute values of a unit normal variable is 0.6745.
    spread = float(ordered.abs().median()) / 0.6745
    ends = np.array([quantiles.min(initial=-1.0), quantiles.max(initial=1.0)])
    ax.plot(spread * ends, ends, "--", color="0.5", linewidth=1)
    ax.margins(0.15)
    ax.set(xlabel=label, ylabel="normal quantile")
    return ax


def effect_half_normal(
    effects: pd.Series,
    *,
    margins: Mapping[str, float] | None = None,
    label: str = "effect",
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the sizes of effects against half-normal quantiles, with the margins of Lenth's method.

    Parameters
    ----------
    effects
        Effect of each factor and interaction.
    margins
        Sizes to draw as lines, by what they are called, such as the margin of error and the
        simultaneous margin of `verulam.design.lenth_method`. Effects beyond the smallest of
        them are named; without margins, all are.
    label
        What the effects are measured in.
    ax
        Axes to draw on; None makes new ones.

    Notes
    -----
    Daniel (1959). The :math:`i`-th smallest of :math:`m` sizes stands at the quantile
    :math:`\Phi^{-1}(\frac{1}{2} + \frac{i - 0.5}{2 m})`; sizes of chance lie on a line through
    zero, here with the slope of the median size, and signs do not matter.

    Examples
    --------
    >>> import pandas as pd
    >>> effects = pd.Series({"k": 0.9, "p": -0.01, "k x p": 0.02})
    >>> axes = effect_half_normal(effects, margins={"margin of error": 0.1})
    >>> [text.get_text() for text in axes.texts]
    ['k']
    """
    ax = axes_or_new(ax, 6.5, 4.0)
    ordered = effects.abs().sort_values(kind="stable")
    count = len(ordered)
    quantiles = special.ndtri(0.5 + (np.arange(count) + 0.5) / (2 * count))
    lines = sorted((margins or {}).items(), key=lambda margin: margin[1])
    for place, (name, size) in enumerate(ordered.items()):
        beyond = not lines or size > lines[0][1]
        code = int(bool(lines) and beyond)
        ax.plot(size, quantiles[place], marker(code), color=colour(code))
        if beyond:
            at = (float(size), quantiles[place])
            ax.annotate(
                str(name), at, (-6, 3), textcoords="offset points", fontsize="small", ha="right"
            )
    spread = float(ordered.median()) / 0.6745
    top = float(quantiles.max(initial=1.0))
    ax.plot([0.0, spread * top], [0.0, top], "--", color="0.5", linewidth=1)
    for place, (words, margin) in enumerate(lines):
        style = (":", "-.")[min(place, 1)]
        ax.axvline(margin, color=colour(2), linestyle=style, linewidth=1, label=words)
    if lines:
        ax.legend(loc="lower right", fontsize="small", frameon=False)
    ax.margins(0.1)
    ax.set(xlabel=f"size of the {label}", ylabel="half-normal quantile")
    ax.set_xlim(left=0.0)
    ax.set_ylim(bottom=0.0)
    return ax


def surface_contours(
    surface: Any,
    settings: pd.DataFrame,
    factors: Sequence[str] | None = None,
    *,
    label: str = "response",
    ax: Axes | None = None,
) -> Axes:
    """Draw lines of equal response over two factors, and the settings that were run.

    Parameters
    ----------
    surface
        What `verulam.design.fit_response_surface` returned.
    settings
        The settings that were run, a column per factor.
    factors
        The two factors to draw; None takes the first two. Others are held at the stationary
        point, or at the middle where that lies outside the range.
    label
        What the lines are of.
    ax
        Axes to draw on; None makes new ones.
    """
    ax = axes_or_new(ax, 5.5, 4.4)
    by_name = {factor.name: factor for factor in surface.factors}
    across, along = (by_name[name] for name in factors or list(by_name)[:2])
    grids = [factor.decoded(np.linspace(-1.05, 1.05, 60)) for factor in (across, along)]
    wide, high = np.meshgrid(*grids)
    points = {factor.name: np.full(wide.size, _held(surface, factor)) for factor in surface.factors}
    points[across.name], points[along.name] = wide.ravel(), high.ravel()
    heights = surface.predict(pd.DataFrame(points)).reshape(wide.shape)
    lines = ax.contour(wide, high, heights, levels=9, cmap="viridis", linewidths=1)
    ax.clabel(lines, fontsize="small")
    ax.plot(settings[across.name], settings[along.name], "o", color=colour(0), label="run")
    stationary = surface.stationary_point
    if not surface.warnings:
        ax.plot(
            stationary[across.name],
            stationary[along.name],
            "X",
            color=colour(1),
            markersize=9,
            label=surface.kind,
        )
    for factor, scale in ((across, ax.set_xscale), (along, ax.set_yscale)):
        if factor.kind == "log":
            scale("log")
    ax.set(xlabel=across.name, ylabel=along.name)
    ax.set_title(label, fontsize="medium", loc="left")
    ax.legend(loc="lower left", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize="small", frameon=False)
    return ax


def _held(surface: Any, factor: Any) -> float:
    value = float(surface.stationary_point[factor.name])
    return value if factor.low <= value <= factor.high else float(factor.decoded([0.0])[0])
