"""Scores of compared learners, run by run."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from verulam.plots._style import axes_or_new, colour


class Compared(Protocol):
    """What is drawn: a comparison of `verulam.experiment`, or anything like it."""

    def scores(self) -> pd.DataFrame:
        """Return one row per run, with the columns learner and score."""

    @property
    def measure(self) -> Any:
        """What was measured, with a title and a range."""


def comparison(compared: Compared, *, ax: Axes | None = None) -> Axes:
    """Draw the score of every run as a point, and each learner's mean and spread.

    Parameters
    ----------
    compared
        What `verulam.compare` returned.
    ax
        Axes to draw on; None makes new ones.

    Examples
    --------
    >>> from verulam import compare
    >>> axes = comparison(compare("iris", ["majority class", "naive bayes"], progress=False))
    >>> axes.get_xlabel()
    'Error'
    """
    ax = axes_or_new(ax)
    scores = compared.scores()
    names = list(dict.fromkeys(scores["learner"]))
    # Spread by hand instead of by chance, so that the picture is the same each time.
    for place, name in enumerate(names):
        values = scores.loc[scores["learner"] == name, "score"].dropna()
        if values.empty:
            continue
        offsets = np.linspace(-0.15, 0.15, len(values)) if len(values) > 1 else np.zeros(1)
        ax.plot(values, place + offsets, "o", color=colour(0), alpha=0.5, markersize=4)
        spread = values.std(ddof=1) if len(values) > 1 else 0.0
        low, high = compared.measure.range
        # A bar that leaves the range of the measure would show what cannot be.
        reach = [[min(spread, values.mean() - low)], [min(spread, high - values.mean())]]
        ax.errorbar(
            values.mean(), place, xerr=reach, fmt="D", color="black", capsize=4, markersize=5
        )
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(compared.measure.title)
    ax.set_title("Every run; mean ± standard deviation in black", fontsize="medium")
    return ax
