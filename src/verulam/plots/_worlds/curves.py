"""Curves of learning: returns over episodes with bands over seeds, regret, eligibility."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, line, place_legend
from verulam.reinforcement import BanditRun, TrainingRun


def learning_curves(
    curves: Mapping[str, ArrayLike | TrainingRun | Sequence[TrainingRun]],
    *,
    window: int = 1,
    share: float = 0.8,
    ax: Axes | None = None,
) -> Axes:
    """Draw the return of each episode, as a mean over seeds with a band around it.

    Parameters
    ----------
    curves
        By name of the agent, an array of returns by seed and episode, or of one seed alone; or
        what `verulam.reinforcement.train` returned, one run or several of as many episodes.
    window
        Episodes over which each curve is averaged.
    share
        Share of the seeds that the band holds.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import learning_curves
    >>> axes = learning_curves({"agent": [[0.0, 1.0, 2.0], [0.0, 3.0, 4.0]]})
    >>> axes.lines[0].get_ydata().tolist()
    [0.0, 2.0, 3.0]
    """
    if not isinstance(curves, Mapping) or not curves:
        raise DataError("curves must be a dictionary from names to returns.")
    if not 0 < share <= 1:
        raise DataError(f"share is {share!r}; expected a number above 0 and at most 1.")
    ax = axes_or_new(ax)
    for number, (name, returns) in enumerate(curves.items()):
        table = _returns(name, returns)
        if table.ndim != 2 or not table.size or not 1 <= window <= table.shape[1]:
            raise DataError(
                f"curves: {name!r} has shape {table.shape}, too few for window {window}."
            )
        smooth = np.array([_running(row, window) for row in table])
        episodes = np.arange(window, table.shape[1] + 1)
        shade = colour(number)
        ax.plot(episodes, smooth.mean(axis=0), color=shade, linestyle=line(number), label=name)
        if len(table) > 1:
            edges = np.quantile(smooth, [(1 - share) / 2, (1 + share) / 2], axis=0)
            ax.fill_between(episodes, *edges, color=shade, alpha=0.18, linewidth=0)
    ax.set(xlabel="episode", ylabel="return")
    place_legend(ax)
    return ax


def _returns(name: str, returns: Any) -> NDArray[np.float64]:
    """Return the returns of an agent by seed and episode."""
    runs = returns if isinstance(returns, list | tuple) else [returns]
    if all(isinstance(run, TrainingRun) for run in runs):
        returns = [run.returns for run in runs]
    try:
        return np.atleast_2d(np.asarray(returns, dtype=np.float64))
    except (TypeError, ValueError):
        raise DataError(
            f"curves: {name!r} must hold returns by seed and episode, or runs of as many episodes."
        ) from None


def regret_curves(runs: Mapping[str, BanditRun], *, ax: Axes | None = None) -> Axes:
    """Draw the regret of rules that pull arms, as means over their runs.

    Parameters
    ----------
    runs
        What `verulam.reinforcement.play_bandit` returned, by name of the rule.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import regret_curves
    >>> from verulam.reinforcement import Bandit, UpperConfidence, play_bandit
    >>> run = play_bandit(Bandit([0.2, 0.8]), UpperConfidence(), n_pulls=50, random_state=0)
    >>> regret_curves({"UCB1": run}).get_ylabel()
    'regret'
    """
    if not isinstance(runs, Mapping) or not runs:
        raise DataError("runs must be a dictionary from names to what play_bandit returned.")
    ax = axes_or_new(ax)
    for number, (name, run) in enumerate(runs.items()):
        if not isinstance(run, BanditRun):
            raise DataError(f"runs: {name!r} is of type {type(run).__name__}, not a BanditRun.")
        pulls = np.arange(1, run.regret.shape[1] + 1)
        style: dict[str, Any] = {"color": colour(number), "linestyle": line(number)}
        ax.plot(pulls, run.regret.mean(axis=0), label=name, **style)
    ax.set(xlabel="pull", ylabel="regret", xlim=(1, None), ylim=(0, None))
    place_legend(ax)
    return ax


def eligibility_trace(
    visits: ArrayLike,
    *,
    n_steps: int,
    decay: float,
    traces: str = "replacing",
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the eligibility of a value over time, with an asterisk at each visit.

    Parameters
    ----------
    visits
        Steps at which it is visited, counted from 0.
    n_steps
        Number of steps.
    decay
        :math:`\gamma \lambda`, by which it falls at each step.
    traces
        "replacing" sets it to 1 at a visit, "accumulating" adds 1.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin figure 18.7.

    Examples
    --------
    >>> from verulam.plots import eligibility_trace
    >>> axes = eligibility_trace([1, 3], n_steps=5, decay=0.5)
    >>> axes.lines[0].get_ydata().tolist()
    [0.0, 1.0, 0.5, 1.0, 0.5]
    """
    steps = np.asarray(visits, dtype=np.int64)
    if steps.ndim != 1 or (len(steps) and (steps.min() < 0 or steps.max() >= n_steps)):
        raise DataError(f"visits must lie from 0 to {n_steps - 1}.")
    if traces not in ("replacing", "accumulating"):
        raise DataError(f"traces is {traces!r}; expected 'replacing' or 'accumulating'.")
    ax = axes_or_new(ax, 6.0, 2.6)
    values = np.zeros(n_steps)
    for step in range(n_steps):
        faded = decay * values[step - 1] if step else 0.0
        if step in steps:
            faded = faded + 1.0 if traces == "accumulating" else 1.0
        values[step] = faded
    ax.plot(np.arange(n_steps), values, color=colour(0), drawstyle="steps-post")
    ax.plot(steps, np.full(len(steps), -0.08), "*", color=colour(1), clip_on=False, label="visit")
    ax.set(xlabel="step", ylabel="eligibility", ylim=(-0.15, None))
    place_legend(ax)
    return ax


def _running(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    sums = np.cumsum(np.append(0.0, values))
    return (sums[window:] - sums[:-window]) / window
