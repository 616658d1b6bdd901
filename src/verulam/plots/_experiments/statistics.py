"""Pictures of tests: power, regions of a distribution, results of learners, demonstrations."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, folded, line, marker, place_legend
from verulam.statistics import ManovaResult, PowerCurve, Simulation

KINDS = ("box", "range", "histogram")
#: Characters of a name on a line beside a narrow picture.
NAME_WIDTH = 26


def power_curves(curve: PowerCurve, *, ax: Axes | None = None) -> Axes:
    """Draw the power function of a test, one line per sample size.

    Parameters
    ----------
    curve
        What `verulam.statistics.power_curve` returned.
    ax
        Axes to draw on.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.plots import power_curves
    >>> from verulam.statistics import power_curve
    >>> axes = power_curves(power_curve(np.linspace(-1, 1, 21), [10, 30]))
    >>> axes.get_legend_handles_labels()[1]
    ['10 values', '30 values']
    """
    ax = axes_or_new(ax, 5.5, 3.6)
    for place, size in enumerate(curve.table.columns):
        ax.plot(
            curve.table.index,
            curve.table[size],
            line(place),
            color=colour(place),
            label=f"{size} values",
        )
    finish_power(ax, curve.alpha)
    return ax


def simulated_power(
    simulations: Sequence[Simulation] | Mapping[str, Simulation], *, ax: Axes | None = None
) -> Axes:
    """Draw rejection rates of simulated tests against the effect.

    Parameters
    ----------
    simulations
        What `verulam.statistics.simulate` returned for several effects, by test or by name.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import simulated_power
    >>> from verulam.statistics import simulate
    >>> axes = simulated_power([simulate("sign", [0, 0.5, 1], repeats=500)])
    >>> axes.get_ylabel()
    'probability of rejecting'
    """
    ax = axes_or_new(ax, 5.5, 3.6)
    named = (
        simulations
        if isinstance(simulations, Mapping)
        else {simulation.test: simulation for simulation in simulations}
    )
    for place, (name, simulation) in enumerate(named.items()):
        table = simulation.table
        ax.errorbar(
            table["effect"],
            table["rejection_rate"],
            2 * table["standard_error"],
            color=colour(place),
            marker=marker(place),
            ms=4,
            lw=1.2,
            label=name,
        )
    finish_power(ax, next(iter(named.values())).alpha)
    return ax


def finish_power(ax: Axes, alpha: float) -> None:
    """Add the level of the test, labels and a legend."""
    ax.axhline(alpha, color="0.6", lw=1, ls=":")
    ax.set(xlabel="effect", ylabel="probability of rejecting", ylim=(-0.02, 1.02))
    place_legend(ax, fontsize="small")


def normal_region(
    low: float = -np.inf, high: float = np.inf, *, distribution: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw a density with the mass between two limits shaded and written.

    Parameters
    ----------
    low, high
        Limits of the shaded region; without any, nothing is shaded.
    distribution
        Frozen SciPy distribution; the unit normal when not given.
    ax
        Axes to draw on.

    Notes
    -----
    Alpaydin Figures 19.5, 19.6 and A.1.

    Examples
    --------
    >>> from verulam.plots import normal_region
    >>> normal_region(-1.96, 1.96).texts[0].get_text()
    '0.950'
    """
    if not low < high:
        raise ValueError(f"low={low:g} must be below high={high:g}.")
    ax = axes_or_new(ax, 4.5, 2.8)
    density = stats.norm() if distribution is None else distribution
    ends = density.ppf([2e-5, 1 - 2e-5])
    x = np.linspace(ends[0], ends[1], 601)
    ax.plot(x, density.pdf(x), color=colour(0))
    if np.isfinite(low) or np.isfinite(high):
        inside = (x >= low) & (x <= high)
        ax.fill_between(x[inside], density.pdf(x[inside]), color=colour(0), alpha=0.25, lw=0)
        mass = float(density.cdf(high) - density.cdf(low))
        # A region beyond what is drawn has its text at the end of the drawing.
        weights = density.pdf(x[inside])
        beyond = float(np.clip(low, *ends))
        centre = float(np.average(x[inside], weights=weights)) if inside.any() else beyond
        ax.text(centre, 0.4 * density.pdf(x).max(), f"{mass:.3f}", ha="center")
        for limit in (low, high):
            if np.isfinite(limit):
                ax.plot([limit, limit], [0, density.pdf(limit)], color="black", lw=1)
                side = 1 if limit > centre else -1
                ax.annotate(
                    f"{limit:.2f}",
                    (limit, density.pdf(limit)),
                    (4 * side, 4),
                    textcoords="offset points",
                    ha="left" if side > 0 else "right",
                    fontsize="small",
                )
    ax.set(xlabel="x", ylabel="density", ylim=(0, None))
    return ax


def learner_results(table: pd.DataFrame, *, kind: str = "box", ax: Axes | None = None) -> Axes:
    """Draw the results of learners over splits or data sets.

    Parameters
    ----------
    table
        One row per split or data set, one column per learner.
    kind
        ``"box"`` for boxes and whiskers, ``"range"`` for smallest, mean and largest,
        ``"histogram"`` for counts.
    ax
        Axes to draw on.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from verulam.plots import learner_results
    >>> table = pd.DataFrame({"tree": [0.1, 0.2, 0.15], "net": [0.12, 0.1, 0.11]})
    >>> axes = learner_results(table, kind="range")
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['tree', 'net']
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}.")
    if not np.isfinite(table.to_numpy(dtype=np.float64)).any():
        raise DataError("table has no results to draw.")
    beside = ax is None
    ax = axes_or_new(ax, 5.5, 0.45 * table.shape[1] + 1.5 if kind != "histogram" else 3.6)
    if kind == "histogram":
        values = table.to_numpy(dtype=np.float64)
        edges = np.histogram_bin_edges(values[np.isfinite(values)], bins="auto")
        for name in table.columns:
            ax.hist(
                table[name].dropna(), bins=list(edges), histtype="step", lw=1.5, label=str(name)
            )
        ax.set(xlabel="result", ylabel="count")
        ax.locator_params(axis="y", integer=True)
        place_legend(ax, beside=beside, fontsize="small")
        return ax
    places = np.arange(table.shape[1])
    if kind == "box":
        known = [column[~np.isnan(column)] for column in table.to_numpy(dtype=np.float64).T]
        ax.boxplot(known, positions=places, orientation="horizontal", widths=0.5)
    else:
        means = table.mean().to_numpy()
        # The mean of equal results may lie beyond them, by rounding.
        spans = np.maximum([means - table.min().to_numpy(), table.max().to_numpy() - means], 0.0)
        ax.errorbar(means, places, xerr=spans, fmt="o", capsize=4)
    ax.set_yticks(places, [folded(str(name), NAME_WIDTH) for name in table.columns])
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.set_xlabel("result")
    return ax


def manova_projections(manova: ManovaResult, *, ax: Axes | None = None) -> Axes:
    """Draw the means of the learners along the directions that separate them best.

    Parameters
    ----------
    manova
        What `verulam.statistics.manova` returned.
    ax
        Axes to draw on.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.plots import manova_projections
    >>> from verulam.statistics import manova
    >>> values = np.random.default_rng(0).normal(size=(3, 10, 2)) + [[[0, 0]], [[1, 0]], [[2, 1]]]
    >>> manova_projections(manova(values)).get_xlabel()
    'direction 1 (96% of the separation)'
    """
    ax = axes_or_new(ax, 5, 3.6)
    points = manova.projections.to_numpy()
    second = points[:, 1] if points.shape[1] > 1 else np.zeros(len(points))
    ax.plot(points[:, 0], second, "o")
    for name, x, y in zip(manova.projections.index, points[:, 0], second, strict=True):
        ax.annotate(str(name), (x, y), (5, 5), textcoords="offset points", fontsize="small")
    ax.margins(0.2)
    ax.set_xlabel(f"direction 1 ({100 * manova.shares[0]:.0f}% of the separation)")
    if points.shape[1] > 1:
        ax.set_ylabel(f"direction 2 ({100 * manova.shares[1]:.0f}%)")
    else:
        ax.set_yticks([])
    return ax


def running_mean_paths(paths: Any, mean: float, *, ax: Axes | None = None) -> Axes:
    """Draw running means approaching the mean: the law of large numbers.

    Parameters
    ----------
    paths
        What `verulam.statistics.running_means` returned.
    mean
        The mean that they approach.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from scipy.stats import bernoulli
    >>> from verulam.plots import running_mean_paths
    >>> from verulam.statistics import running_means
    >>> axes = running_mean_paths(running_means(bernoulli(0.3), 100, random_state=0), 0.3)
    >>> axes.get_xscale()
    'log'
    """
    ax = axes_or_new(ax, 5, 3)
    values = np.atleast_2d(paths)
    ax.plot(np.arange(1, values.shape[1] + 1), values.T, lw=0.8, alpha=0.8)
    ax.axhline(mean, color="black", lw=1, ls=":")
    ax.set(xscale="log", xlabel="number of draws", ylabel="mean so far")
    return ax


def against_normal(values: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the histogram of standardised values with the unit normal density over it.

    Parameters
    ----------
    values
        For example what `verulam.statistics.standardised_sums` returned.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from verulam.plots import against_normal
    >>> from verulam.statistics import standardised_sums
    >>> against_normal(standardised_sums(uniform(), 12, 500, random_state=0)).get_ylabel()
    'density'
    """
    sample = np.asarray(values, dtype=np.float64).ravel()
    if len(sample) < 2 or not np.isfinite(sample).all():
        raise DataError("values: at least two are needed, all of them finite.")
    ax = axes_or_new(ax, 4, 2.8)
    levels = np.unique(np.round(sample, 9))
    if len(levels) < 60:
        # Few levels are bars of their own: bins between them would show gaps.
        step = np.diff(levels).min() if len(levels) > 1 else 1.0
        edges = np.append(levels - step / 2, levels[-1] + step / 2)
    else:
        edges = np.linspace(-4, 4, 61)
    ax.hist(sample, bins=list(edges), density=True, color=colour(0), alpha=0.4)
    x = np.linspace(-4, 4, 401)
    ax.plot(x, stats.norm.pdf(x), color="black", lw=1)
    ax.set(xlabel="standardised value", ylabel="density", xlim=(-4, 4))
    return ax
