"""The pictures of a report, each made where the study has what it shows."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pandas as pd

from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._evidence.evidence import Evidence
from verulam.experiment._evidence.tables import pareto_front
from verulam.experiment._report.factor_figures import (
    effect_figures,
    learning_curves,
    learning_surfaces,
    vector_figures,
)
from verulam.experiment._report.prediction_figures import (
    confusion_figures,
    overlap_figures,
    threshold_figures,
)
from verulam.experiment._report.svg import ReportFigure, drawn

#: More data sets or contestants than this are left to the tables.
MOST_DATA_SETS, MOST_CONTESTANTS = 12, 40

#: Costs that are drawn, the first one openly, and what they are called.
COST_WORDS = {
    "fit_seconds": "seconds to fit",
    "predict_seconds": "seconds to predict",
    "model_size": "bytes of the model",
}

#: A baseline this many times the range of the others away from them is not drawn.
FAR = 3.0


def figures(analysis: Analysis) -> tuple[ReportFigure, ...]:
    """Return the pictures that a study allows.

    Parameters
    ----------
    analysis
        What was found.
    """
    makers: list[Callable[[Analysis], Iterator[ReportFigure]]] = [
        _over_data,
        _intervals,
        _difference,
        _probabilities,
        _scores,
        _costs,
        threshold_figures,
        confusion_figures,
        overlap_figures,
        learning_curves,
        learning_surfaces,
        effect_figures,
        vector_figures,
    ]
    return tuple(figure for make in makers for figure in make(analysis))


def _over_data(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.plots import critical_difference, mean_dots

    if analysis.over_data is None:
        return
    many = analysis.over_data.many
    if many is not None and len(many.ranks) <= MOST_CONTESTANTS:
        yield ReportFigure(
            "Critical differences",
            "Mean ranks over the data sets, the best on the left. Bars join contestants that the "
            "tests cannot tell apart.",
            drawn(partial(critical_difference, many)),
            leading=True,
        )
    means = analysis.responses.by_data()
    if means.shape[1] <= MOST_CONTESTANTS and not means.empty:
        yield ReportFigure(
            "Mean response on each data set",
            "One line per data set. Compare within a line, not between lines.",
            drawn(partial(mean_dots, means, label=analysis.measure.title)),
        )


def _intervals(analysis: Analysis) -> Iterator[ReportFigure]:
    several = len(analysis.responses.data) > 1
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        if data in analysis.evidence and len(analysis.evidence[data].names) <= MOST_CONTESTANTS:
            yield ReportFigure(
                f"Intervals on {data}" if several else "How good is each",
                "95 % intervals; shaded is what is within the margin of the best estimate.",
                drawn(partial(analysis.plot_intervals, data)),
                folded=several,
                leading=not several,
            )


def _difference(analysis: Analysis) -> Iterator[ReportFigure]:
    known = _only_evidence(analysis)
    if known is not None and len(known.names) > 1:
        yield ReportFigure(
            "The difference that matters most",
            "How probable each difference of the recommended contestant from its nearest rival "
            "is; differences between the dashed lines would not matter.",
            drawn(analysis.plot_difference),
            leading=True,
        )


def _probabilities(analysis: Analysis) -> Iterator[ReportFigure]:
    known = _only_evidence(analysis)
    if known is not None and 1 < len(known.names) <= MOST_CONTESTANTS:
        yield ReportFigure(
            "Who may be the best",
            "The probability of being the best of all, and of being within the margin of the best.",
            drawn(analysis.plot_probabilities),
            leading=True,
        )


def _only_evidence(analysis: Analysis) -> Evidence | None:
    data = analysis.responses.data
    return analysis.evidence.get(data[0]) if len(data) == 1 else None


def _scores(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.plots import score_boxes

    several = len(analysis.responses.data) > 1
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        table = analysis.responses.by_split(data)
        if table.empty:
            continue
        order = table.mean().sort_values(ascending=not analysis.measure.greater_is_better)
        far = _far_baselines(analysis, order)
        table = table[order.drop(far).index[:MOST_CONTESTANTS]]
        yield ReportFigure(
            f"Scores on {data}",
            "One point per split; the box holds the middle half, the line in it is the median."
            + _left_out(far),
            drawn(partial(score_boxes, table, label=analysis.measure.title)),
            folded=several,
        )
        yield ReportFigure(
            f"Ranges on {data}",
            f"From the smallest to the largest score of the splits; the point is the mean."
            f"{_left_out(far)}",
            drawn(partial(_ranges, table, analysis.measure.title)),
            folded=True,
        )


def _ranges(table: pd.DataFrame, label: str) -> Any:
    from verulam.plots import learner_results

    axes = learner_results(table, kind="range")
    axes.set_xlabel(label)
    return axes


def _costs(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.plots import cost_response

    several = analysis.overall is not None
    response = "mean rank" if several else analysis.measure.name
    plain = analysis.table.rename(columns={"mean_rank" if several else "mean": response})
    far = _far_baselines(analysis, plain[response])
    greater = analysis.measure.greater_is_better and not several
    for place, (cost, words) in enumerate(COST_WORDS.items()):
        table = plain.drop(far).rename(columns={cost: words})
        known = table[[response, words]].dropna()
        if len(table) > MOST_CONTESTANTS or len(known) < 2:
            continue
        front = pareto_front(plain, response, cost, greater_is_better=greater)
        draw = partial(
            cost_response, table, response, words, front=front, greater_is_better=greater
        )
        yield ReportFigure(
            "Response against cost" if place == 0 else f"Response against {words}",
            f"The line joins the contestants that no other beats in both.{_left_out(far)}",
            drawn(draw),
            folded=place > 0,
        )


def _far_baselines(analysis: Analysis, means: pd.Series) -> list[str]:
    """Return the baselines that are so far off that nothing else could be seen beside them."""
    baselines = [each.name for each in analysis.responses.contestants if each.baseline]
    others = means.drop([name for name in baselines if name in means.index])
    if len(others) < 2 or others.max() == others.min():
        return []
    near = FAR * (others.max() - others.min())
    low, high = others.min() - near, others.max() + near
    return [name for name in baselines if name in means.index and not low < means[name] < high]


def _left_out(names: list[str]) -> str:
    return f" Far off and left out: {', '.join(names)}." if names else ""
