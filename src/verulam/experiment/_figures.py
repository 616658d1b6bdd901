"""The pictures of a report, each made where the study has what it shows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from verulam.experiment._analysis import Analysis
from verulam.experiment._contestants import StoredContestant
from verulam.experiment._drawing import drawn
from verulam.experiment._predictions import PooledPredictions, pooled_predictions

#: More data sets, contestants or classes than this are left to the tables.
MOST_DATA_SETS, MOST_CONTESTANTS, MOST_CURVES, MOST_CLASSES = 12, 40, 8, 30

#: A baseline this many times the range of the others away from them is not drawn.
FAR = 3.0


@dataclass(frozen=True)
class ReportFigure:
    """A picture of a report.

    Attributes
    ----------
    title
        Its heading.
    caption
        How to read it.
    svg
        The picture.
    on_white
        Whether it needs a white background.
    folded
        Whether it is shown only when asked for.
    """

    title: str
    caption: str
    svg: str
    on_white: bool = False
    folded: bool = False


def figures(analysis: Analysis) -> tuple[ReportFigure, ...]:
    """Return the pictures that a study allows.

    Parameters
    ----------
    analysis
        What was found.
    """
    makers: list[Callable[[Analysis], Iterator[ReportFigure]]] = [
        _over_data,
        _scores,
        _costs,
        _roc,
        _confusion,
        _learning_curves,
        _factors,
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
        )
    means = analysis.responses.by_data()
    if means.shape[1] <= MOST_CONTESTANTS and not means.empty:
        yield ReportFigure(
            "Mean response on each data set",
            "One line per data set. Compare within a line, not between lines.",
            drawn(partial(mean_dots, means, label=analysis.measure.title)),
        )


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


def _costs(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.plots import cost_response

    several = analysis.overall is not None
    response = "mean rank" if several else analysis.measure.name
    names = {"mean_rank" if several else "mean": response, "fit_seconds": "seconds to fit"}
    table = analysis.table.rename(columns=names)
    far = _far_baselines(analysis, table[response])
    table = table.drop(far)
    if len(table) > MOST_CONTESTANTS or len(table[[response, "seconds to fit"]].dropna()) < 2:
        return
    draw = partial(
        cost_response,
        table,
        response,
        "seconds to fit",
        front=analysis.front,
        greater_is_better=analysis.measure.greater_is_better and not several,
    )
    yield ReportFigure(
        "Response against cost",
        f"The line joins the contestants that no other beats in both.{_left_out(far)}",
        drawn(draw),
    )


def _roc(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.measures import roc
    from verulam.plots import roc_curves

    for data in analysis.responses.data[:MOST_DATA_SETS]:
        curves: dict[str, Any] = {}
        for contestant in _leaders(analysis, data):
            pooled = _pooled(analysis, data, contestant)
            if pooled is None or pooled.probabilities is None or len(pooled.classes) != 2:
                continue
            positive = pooled.classes[1]
            curves[contestant.name] = roc(pooled.targets == positive, pooled.probabilities[:, 1])
        if curves:
            yield ReportFigure(
                f"ROC curves on {data}",
                f"Hits against false alarms for the class {positive}, over all validated rows.",
                drawn(partial(roc_curves, curves)),
                folded=len(analysis.responses.data) > 1,
            )


def _confusion(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.measures import confusion
    from verulam.plots import confusion_matrix

    chosen = next(
        (each for each in analysis.responses.contestants if each.name == analysis.recommended), None
    )
    if chosen is None:
        return
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        pooled = _pooled(analysis, data, chosen)
        if pooled is None or not 2 <= len(pooled.classes) <= MOST_CLASSES:
            continue
        table = confusion(pooled.targets, pooled.predicted, labels=list(pooled.classes))
        yield ReportFigure(
            f"Confusion matrix of {chosen.name} on {data}",
            "True classes in rows, predicted ones in columns, counted over all validated rows.",
            drawn(partial(confusion_matrix, table), on_white=True),
            on_white=True,
            folded=len(analysis.responses.data) > 1,
        )


def _learning_curves(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.plots import level_means

    scores = analysis.responses.scores
    if scores["share"].nunique() < 2:
        return
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        chosen = scores[scores["data"] == data]
        table = chosen.pivot_table(index="share", columns="contestant", values="score")
        names = [each.name for each in _leaders(analysis, data) if each.name in table.columns]
        draw = partial(
            level_means,
            table[names],
            factor="share of the training rows",
            label=analysis.measure.title,
        )
        yield ReportFigure(
            f"Learning curves on {data}",
            "Mean response against the part of the training rows that was learnt from.",
            drawn(draw),
            folded=len(analysis.responses.data) > 1,
        )


def _factors(analysis: Analysis) -> Iterator[ReportFigure]:
    from verulam.plots import level_means

    scores = analysis.responses.full
    for learner in dict.fromkeys(each.learner for each in analysis.responses.contestants):
        settings = [each for each in analysis.responses.contestants if each.learner == learner]
        for factor in settings[0].levels:
            table = _level_table(scores, settings, factor)
            if len(table) > 1:
                yield ReportFigure(
                    f"{learner}: {factor}",
                    "Mean response at each level, one line per data set and setting of the other "
                    "factors. Lines that are not parallel show an interaction.",
                    drawn(partial(level_means, table, factor=factor, label=analysis.measure.title)),
                )


def _level_table(
    scores: pd.DataFrame, settings: list[StoredContestant], factor: str
) -> pd.DataFrame:
    levels = {each.name: each.levels[factor] for each in settings}
    rest = {
        each.name: ", ".join(f"{k}={v}" for k, v in each.levels.items() if k != factor)
        for each in settings
    }
    chosen = scores[scores["contestant"].isin(levels)]
    series = [
        f"{data}, {rest[name]}" if rest[name] else str(data)
        for data, name in zip(chosen["data"], chosen["contestant"], strict=True)
    ]
    chosen = chosen.assign(level=chosen["contestant"].map(levels), series=series)
    table = chosen.pivot_table(index="level", columns="series", values="score", sort=False)
    return table.iloc[:, :MOST_CURVES]


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


def _leaders(analysis: Analysis, data: str) -> list[StoredContestant]:
    """Return the contestants with the best means on a data set, and the recommended one."""
    ranks = analysis.tables[data]["rank"].sort_values(kind="stable")
    leading = set(ranks.index[:MOST_CURVES]) | {analysis.recommended}
    return [each for each in analysis.responses.contestants if each.name in leading]


def _pooled(
    analysis: Analysis, data: str, contestant: StoredContestant
) -> PooledPredictions | None:
    return pooled_predictions(analysis.results, data, contestant.learner, contestant.setting)
