"""Evidence for a recommendation: intervals, the posterior of a difference, who may be the best."""

from collections.abc import Callable, Sequence
from math import ceil
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray
from scipy import stats

from verulam.base import DataError
from verulam.plots._style import LABEL_WIDTH, axes_or_new, colour

Vector = NDArray[np.float64]

#: Inches of a picture, of one contestant, of a line of text, and of all that is not a contestant.
WIDTH, ROW_HEIGHT, TEXT_LINE, FRAME = 6.5, 0.36, 0.17, 1.3
#: Share of the axis that contestants, or a single one, keep beside a baseline; with less, the axis
#: is cut.
LEAST_SHARE, LEAST_SHARE_OF_ONE = 0.5, 0.1
#: A contestant that lies this many times the span of the others beyond them is cut off as well.
FAR_OFF = 4.0
#: Colours of what stands back: baselines, and differences that do not matter.
MUTED, LEVEL = "0.45", "0.6"
#: Characters of a line of text as wide as the picture, and of an entry of a legend in columns.
LINE_WIDTH, ENTRY_WIDTH = 72, 28
#: Steps of an axis at the most, so that long numbers keep apart.
STEPS = 7
#: Standard errors of the posterior that are drawn at the most, however heavy its tails.
WIDEST_TAILS = 6.0
#: Probabilities below, and those above one minus this, are not told more exactly.
SMALLEST_SHARE = 0.01
#: As wide as a plus, which a hyphen is not.
MINUS = "\N{MINUS SIGN}"


def contestant_intervals(
    table: pd.DataFrame,
    *,
    best: str,
    recommended: str | None,
    margin: float,
    label: str,
    greater_is_better: bool = False,
    baseline: str | None = None,
    percent: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the interval of each contestant, best on top, and who is within a margin of the best.

    Parameters
    ----------
    table
        One row per contestant, with the columns estimate, low and high.
    best
        Contestant with the best estimate, where the shaded band begins.
    recommended
        Contestant that is marked; None marks none.
    margin
        Differences up to this size do not matter: the width of the band.
    label
        What the axis shows, such as "Error, 95 % interval".
    greater_is_better
        Direction of the measure.
    baseline
        Contestant that the others should beat, drawn in grey with a dotted line. Where it would
        squeeze the others the axis is cut, as it is for contestants that are very far off.
    percent
        Whether values are shares, shown in per cent.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.plots import contestant_intervals
    >>> table = pd.DataFrame(
    ...     {"estimate": [0.20, 0.18], "low": [0.17, 0.15], "high": [0.23, 0.21]},
    ...     index=["line", "forest"],
    ... )
    >>> axes = contestant_intervals(
    ...     table, best="forest", recommended="line", margin=0.02, label="Error", percent=True
    ... )
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['forest', 'line']
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['recommended', 'within 2 points of the best']
    """
    checked = _checked_table(table, ("estimate", "low", "high"))
    _check_names(checked, best=best, recommended=recommended, baseline=baseline)
    width = _checked_margin(margin)
    slack = 1e-9 * float(checked.abs().to_numpy().max())
    outside = (checked["low"] > checked["estimate"] + slack) | (
        checked["high"] < checked["estimate"] - slack
    )
    if outside.any():
        raise DataError(f"table: the estimate of {outside.idxmax()!r} is not between low and high.")
    sign = -1.0 if greater_is_better else 1.0
    # Of equal estimates the one that is called the best comes first.
    order = np.lexsort((checked.index != best, sign * checked["estimate"].to_numpy()))
    ordered = checked.iloc[order]
    ax = _axes_for(ax, ordered.index)
    behind = baseline if baseline not in (best, recommended) else None
    edge = float(checked["estimate"][best])
    band = sorted((edge, edge + sign * width))
    limits = _limits(ordered, band, behind, greater_is_better)
    for place, (name, estimate, low, high) in enumerate(ordered.itertuples()):
        role = "recommended" if name == recommended else "baseline" if name == behind else ""
        _draw_interval(ax, place, (low, estimate, high), limits, role, percent)
    entries = _draw_references(ax, band, edge, width, percent)
    if recommended is not None:
        entries.insert(0, _mark("D", colour(1), "recommended"))
    if behind is not None and limits[0] <= checked["estimate"][behind] <= limits[1]:
        ax.axvline(checked["estimate"][behind], color=MUTED, lw=1.2, ls=":", zorder=0)
        line = Line2D([], [], color=MUTED, lw=1.2, ls=":", label=f"baseline: {behind}")
        entries.append(line)
    _name_rows(ax, ordered.index, recommended, behind)
    _legend_above(ax, entries)
    ax.set_xlabel(fill(label, LINE_WIDTH), parse_math=False)
    _scale_axis(ax, limits, (lambda value: f"{_plain(100 * value, 6)} %") if percent else None)
    return ax


def difference_posterior(
    value: float,
    error: float,
    degrees_of_freedom: float,
    *,
    margin: float,
    names: Sequence[str],
    label: str,
    greater_is_better: bool = False,
    percent: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw how plausible each difference of two contestants is, and what that says of them.

    Parameters
    ----------
    value
        Estimated difference, first minus second.
    error
        Its standard error; 0 draws a line instead of a density.
    degrees_of_freedom
        Of the t distribution; may be infinite.
    margin
        Differences up to this size do not matter.
    names
        The first and the second contestant.
    label
        What differs, such as "Difference in error".
    greater_is_better
        Direction of the measure.
    percent
        Whether values are shares, whose difference is shown in points of per cent.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> from verulam.plots import difference_posterior
    >>> axes = difference_posterior(
    ...     -0.01, 0.02, 30, margin=0.01, names=["line", "forest"], label="Difference in error"
    ... )
    >>> [text.get_text() for text in axes.get_legend().get_texts()[:3]]
    ['line better: 50 %', 'no difference that matters: 34 %', 'forest better: 16 %']
    """
    width = _checked_margin(margin)
    if isinstance(names, str) or len(names) != 2:
        raise ValueError(f"names: expected the two contestants, got {names!r}.")
    if not np.isfinite(value):
        raise ValueError(f"value must be finite, got {value!r}.")
    if not (np.isfinite(error) and error >= 0.0):
        raise ValueError(f"error must be finite and not negative, got {error!r}.")
    if not degrees_of_freedom > 0.0:
        raise ValueError(f"degrees_of_freedom must be positive, got {degrees_of_freedom!r}.")
    first, second = (str(name).strip() for name in names)
    ax = axes_or_new(ax, WIDTH, 3.6)
    left, right = (second, first) if greater_is_better else (first, second)
    shades = (colour(1), colour(0)) if greater_is_better else (colour(0), colour(1))
    cuts = [-np.inf, -width, width, np.inf]
    regions = [(f"{left} better", shades[0]), (f"{right} better", shades[1])]
    regions.insert(1, ("no difference that matters", LEVEL))
    if error > 0.0:
        limits, shares = _draw_density(ax, value, error, degrees_of_freedom, cuts, regions)
    else:
        limits, shares = _draw_spike(ax, value, width, regions, percent)
    entries: list[Patch | Line2D] = [
        Patch(facecolor=shade, alpha=0.75, label=f"{words}: {_share(share, exact=error == 0.0)}")
        for (words, shade), share in zip(regions, shares, strict=True)
    ]
    ax.axvline(0.0, color="black", lw=1.0)
    if width > 0.0:
        for end in (-width, width):
            ax.axvline(end, color="black", lw=1.0, ls="--")
        words = f"margin: {_distance(width, percent)}"
        entries.append(Line2D([], [], color="black", lw=1.0, ls="--", label=words))
    elif error > 0.0 or shares[1] == 0.0:
        del entries[1]
    _legend_above(ax, entries, columns=1)
    unit = " (points)" if percent else ""
    axis = f"{label}{unit}\n{fill(f'{first} minus {second}', LINE_WIDTH)}"
    ax.set_xlabel(axis, parse_math=False)
    ax.set(ylim=(0.0, None), ylabel="plausibility", yticks=[])
    scale = 100.0 if percent else 1.0
    _scale_axis(ax, limits, lambda value: _signed(scale * value, 6))
    return ax


def best_probabilities(
    table: pd.DataFrame, *, recommended: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how probably each contestant is the best, and how probably it is close to the best.

    Parameters
    ----------
    table
        One row per contestant, with the columns probability_best and probability_within.
    recommended
        Contestant whose name is set in bold; None for none.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.plots import best_probabilities
    >>> table = pd.DataFrame(
    ...     {"probability_best": [0.3, 0.7], "probability_within": [0.6, 0.9]},
    ...     index=["line", "forest"],
    ... )
    >>> axes = best_probabilities(table, recommended="line")
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['forest', 'line']
    >>> [text.get_text() for text in axes.texts]
    ['70 %', '90 %', '30 %', '60 %']
    """
    columns = ["probability_best", "probability_within"]
    checked = _checked_table(table, columns)
    _check_names(checked, recommended=recommended)
    shares = checked.to_numpy()
    if (shares < -1e-9).any() or (shares > 1.0 + 1e-9).any():
        raise DataError("table: probabilities must be from 0 to 1.")
    ordered = checked.clip(0.0, 1.0).sort_values(columns, ascending=False, kind="stable")
    ax = _axes_for(ax, ordered.index, ROW_HEIGHT + 0.06)
    places = np.arange(len(ordered))
    near, best = ordered["probability_within"], ordered["probability_best"]
    ax.barh(places, near, height=0.8, color=colour(0), alpha=0.25, lw=0)
    ax.barh(places - 0.2, best, height=0.4, color=colour(0), lw=0)
    for place, pair in enumerate(zip(best, near, strict=True)):
        for share, offset in zip(pair, (-0.2, 0.2), strict=True):
            ax.annotate(
                _share(share, exact=len(ordered) == 1),
                (share, place + offset),
                (4, 0),
                textcoords="offset points",
                va="center_baseline",
                fontsize="small",
            )
    entries: list[Patch | Line2D] = [
        Patch(facecolor=colour(0), label="is the best"),
        Patch(facecolor=colour(0), alpha=0.25, label="is within the margin of the best"),
    ]
    if recommended is not None:
        entries.append(_mark("", "none", "in bold: recommended"))
    _name_rows(ax, ordered.index, recommended, None)
    _legend_above(ax, entries)
    ax.set(xlim=(0.0, 1.12), xlabel="probability", xticks=np.linspace(0.0, 1.0, 6))
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    return ax


def _checked_table(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the columns as finite numbers, or say what is wrong with them."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(f"table must be a DataFrame, not {type(table).__name__}.")
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise DataError(f"table has no column {', '.join(missing)}.")
    if table.empty:
        raise DataError("table has no contestants.")
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise DataError(f"table has more than one row for {twice!r}.")
    numbers = table[list(columns)].apply(pd.to_numeric, errors="coerce").astype(np.float64)
    wrong = ~np.isfinite(numbers.to_numpy())
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(f"table: {columns[column]} of {table.index[row]!r} is not a finite number.")
    return numbers


def _check_names(table: pd.DataFrame, **names: str | None) -> None:
    """Refuse the name of a contestant that is not in the table."""
    for argument, name in names.items():
        if name is not None and name not in table.index:
            raise ValueError(f"{argument}={name!r} is not a contestant of the table.")


def _checked_margin(margin: float) -> float:
    """Return the margin, which must be a finite number and not negative."""
    if not (np.isfinite(margin) and margin >= 0.0):
        raise ValueError(f"margin must be finite and not negative, got {margin!r}.")
    return float(margin)


def _axes_for(ax: Axes | None, names: pd.Index, row: float = ROW_HEIGHT) -> Axes:
    """Return axes with room for all names, if they are new."""
    lines = max(_row_label(name).count("\n") + 1 for name in names)
    return axes_or_new(ax, WIDTH, max(row, TEXT_LINE * lines + 0.1) * len(names) + FRAME)


def _row_label(name: object) -> str:
    """Return a name on as many lines as it needs; one without spaces is broken all the same."""
    return fill(str(name), LABEL_WIDTH) or str(name)


def _name_rows(ax: Axes, names: pd.Index, bold: str | None, muted: str | None) -> None:
    """Write the names beside their rows, the first on top."""
    # Names are never formulas, whatever signs they hold.
    ax.set_yticks(range(len(names)), [_row_label(name) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    for name, text in zip(names, ax.get_yticklabels(), strict=True):
        if name == bold:
            text.set_fontweight("bold")
        elif name == muted:
            text.set_color(MUTED)


def _legend_above(ax: Axes, entries: Sequence[Patch | Line2D], columns: int = 2) -> None:
    """Put the legend above the axes, in one column where its entries are long."""
    longest = max((len(str(entry.get_label())) for entry in entries), default=0)
    legend = ax.legend(
        handles=list(entries),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        frameon=False,
        fontsize="small",
        ncols=1 if longest > ENTRY_WIDTH else columns,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
        text.set_text(fill(text.get_text(), LINE_WIDTH))


def _scale_axis(
    ax: Axes, limits: tuple[float, float], write: Callable[[float], str] | None
) -> None:
    """Set the ends of the axis and how its numbers are written."""
    ax.set_xlim(limits)
    ax.locator_params(axis="x", nbins=STEPS)
    # A tick at zero may be off by rounding, which must not be written out.
    smallest = 1e-9 * max(map(abs, limits))
    if write is not None:
        ax.xaxis.set_major_formatter(
            lambda value, _: write(value if abs(value) > smallest else 0.0)
        )


def _mark(sign: str, shade: str, label: str) -> Line2D:
    """Return a marker for a legend."""
    return Line2D([], [], ls="", marker=sign, color=shade, ms=7, label=label)


def _limits(
    ordered: pd.DataFrame, band: list[float], baseline: str | None, greater_is_better: bool
) -> tuple[float, float]:
    """Return the ends of an axis that shows the contestants without those that are far off."""
    reach = -ordered["low"] if greater_is_better else ordered["high"]
    ranked = ordered.loc[reach.sort_values(kind="stable").index]
    others = ranked.drop(index=[] if baseline is None else [baseline])

    def ends(rows: pd.DataFrame) -> tuple[float, float]:
        return min(rows["low"].min(), band[0]), max(rows["high"].max(), band[1])

    # Those within reach are at least half of the contestants: the rest is cut off, not they.
    for count in range(max(2, ceil(len(others) / 2)), len(others)):
        low, high = ends(others.iloc[:count])
        gap = max(low - others["low"].iloc[count], others["high"].iloc[count] - high)
        if high > low and gap > FAR_OFF * (high - low):
            others = others.iloc[:count]
            break
    low, high = ends(others)
    if baseline is not None:
        all_low, all_high = ends(pd.concat([others, ordered.loc[[baseline]]]))
        share = LEAST_SHARE if len(others) > 1 else LEAST_SHARE_OF_ONE
        if high - low >= share * (all_high - all_low):
            low, high = all_low, all_high
    padding = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - padding, high + padding


def _draw_interval(
    ax: Axes,
    place: int,
    points: tuple[float, float, float],
    limits: tuple[float, float],
    role: str,
    percent: bool,
) -> None:
    """Draw one contestant: low end, estimate and high end; or a note on one beyond the axis."""
    low, estimate, high = points
    shade = {"recommended": colour(1), "baseline": MUTED}.get(role, colour(0))
    strong = role == "recommended"
    spread = [[max(estimate - low, 0.0)], [max(high - estimate, 0.0)]]
    ax.errorbar(
        estimate,
        place,
        xerr=spread,
        fmt="D" if strong else "o",
        color=shade,
        ms=7 if strong else 5,
        elinewidth=2.4 if strong else 1.5,
        capsize=3,
        zorder=4 if strong else 3,
    )
    before = estimate < limits[0]
    if not before and estimate <= limits[1]:
        return
    number = f"{100 * estimate:.1f} %" if percent else _plain(estimate)
    words = f"{role} {number} (axis cut)".strip()
    ax.annotate(
        f"← {words}" if before else f"{words} →",
        (0.0 if before else 1.0, place),
        (4 if before else -4, 0),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="left" if before else "right",
        va="center",
        fontsize="small",
        color=MUTED,
    )


def _draw_references(
    ax: Axes, band: list[float], edge: float, margin: float, percent: bool
) -> list[Patch | Line2D]:
    """Draw the best estimate and the band beside it, and return its entry of the legend."""
    ax.axvline(edge, color=colour(2), lw=1.0, zorder=0)
    if margin == 0.0:
        return [Line2D([], [], color=colour(2), lw=1.0, label="best estimate")]
    ax.axvspan(band[0], band[1], color=colour(2), alpha=0.2, lw=0, zorder=0)
    words = f"within {_distance(margin, percent)} of the best"
    return [Patch(facecolor=colour(2), alpha=0.2, label=words)]


def _draw_density(
    ax: Axes,
    value: float,
    error: float,
    degrees_of_freedom: float,
    cuts: list[float],
    regions: list[tuple[str, str]],
) -> tuple[tuple[float, float], Vector]:
    """Fill the regions under the density; return the ends of the axis and their probabilities."""
    posterior = stats.t(degrees_of_freedom, loc=value, scale=error)
    tail = min(float(stats.t.isf(5e-4, degrees_of_freedom)), WIDEST_TAILS)
    low, high = value - tail * error, value + tail * error
    ends = min(low, 1.3 * cuts[1], -0.1 * error), max(high, 1.3 * cuts[2], 0.1 * error)
    grid = np.union1d(np.linspace(low, high, 501), np.linspace(*ends, 101))
    ax.plot(grid, posterior.pdf(grid), color="black", lw=0.9)
    for start, stop, (_, shade) in zip(cuts[:-1], cuts[1:], regions, strict=True):
        # The limits belong to the regions on both sides, which leaves no gap between them.
        x = np.union1d(np.clip([start, stop], *ends), grid[(grid > start) & (grid < stop)])
        ax.fill_between(x, posterior.pdf(x), color=shade, alpha=0.75, lw=0)
    below, above = float(posterior.cdf(cuts[1])), float(posterior.sf(cuts[2]))
    return ends, np.array([below, max(0.0, 1.0 - below - above), above])


def _draw_spike(
    ax: Axes, value: float, margin: float, regions: list[tuple[str, str]], percent: bool
) -> tuple[tuple[float, float], Vector]:
    """Draw a difference without any spread; return the ends of the axis and probabilities."""
    place = 0 if value < -margin else 2 if value > margin else 1
    reach = 1.5 * max(abs(value), margin) or (0.01 if percent else 1.0)
    ax.plot([value, value], [0.0, 1.0], color=regions[place][1], lw=5.0, solid_capstyle="butt")
    side = "" if value == 0.0 else "+" if value > 0.0 else MINUS
    number = f"{side}{_distance(abs(value), percent)}"
    right = value > 0.0
    ax.annotate(
        f"no spread: always {number}",
        (value, 0.92),
        (-7 if right else 7, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        va="center",
        fontsize="small",
    )
    return (-reach, reach), np.eye(3)[place]


def _distance(size: float, percent: bool) -> str:
    """Return a distance in words, that of shares in points of per cent."""
    if not percent:
        return _plain(size)
    points = _plain(100 * size)
    return f"{points} point" if points == "1" else f"{points} points"


def _plain(number: float, digits: int = 4) -> str:
    """Return a number without an exponent, unless it is huge or tiny."""
    if number != 0.0 and not 1e-5 <= abs(number) < 1e7:
        return f"{number:.{digits}g}"
    rounded = float(f"{number:.{digits}g}")
    return np.format_float_positional(rounded, trim="-")


def _signed(number: float, digits: int = 4) -> str:
    """Return a number with its sign, and none for zero."""
    size = _plain(abs(number), digits)
    return size if float(size) == 0.0 else f"{'+' if number > 0.0 else MINUS}{size}"


def _share(probability: float, *, exact: bool = False) -> str:
    """Return a probability in per cent; what is nearly certain is not told more exactly."""
    if not exact and probability < SMALLEST_SHARE:
        return "< 1 %"
    if not exact and probability > 1.0 - SMALLEST_SHARE:
        return "> 99 %"
    return f"{100 * probability:.0f} %"
