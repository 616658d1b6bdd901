"""Pictures of studies in which agents act: how their returns grow while they learn."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from verulam.experiment._report.svg import ReportFigure, drawn
from verulam.experiment._text import spoken_name

if TYPE_CHECKING:
    from verulam.experiment._analysis.analysis import Analysis

#: More environments than this are left to the tables.
MOST_ENVIRONMENTS = 12
#: Points that a curve is smoothed down to, about.
POINTS = 50


def reward_figures(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield the learning curves of agents in each environment, with bands over seeds.

    Parameters
    ----------
    analysis
        The analysis of a study of agents.
    """
    several = len(analysis.responses.data) > 1
    for data in analysis.responses.data[:MOST_ENVIRONMENTS]:
        curves = agent_curves(analysis, data)
        if not curves:
            continue
        window = max(1, min(curve.shape[1] for curve in curves.values()) // POINTS)
        smoothed = f", smoothed over {window} episodes" if window > 1 else ""
        yield ReportFigure(
            f"Learning curves on {data}",
            f"Mean return of each episode of training over the seeds{smoothed}; bands hold 80 % of "
            "the seeds.",
            drawn(partial(_curves, curves, window)),
            folded=several,
            leading=not several,
        )


def agent_curves(analysis: "Analysis", data: str) -> dict[str, np.ndarray]:
    """Return the returns of the leading agents by seed and episode.

    Parameters
    ----------
    analysis
        The analysis of the study.
    data
        Label of the environment.
    """
    curves = {}
    for contestant in analysis.leaders(data):
        # Beside one that learns nothing, nothing could be seen of those that do.
        if contestant.baseline and len(analysis.responses.contestants) > 1:
            continue
        returns = analysis.predictions.learning_curves(data, contestant.learner, contestant.setting)
        if returns is not None:
            curves[spoken_name(contestant.name)] = returns
    return curves


def _curves(curves: dict[str, np.ndarray], window: int) -> Any:
    from verulam.plots import learning_curves

    return learning_curves(curves, window=window)
