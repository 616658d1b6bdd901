"""The pictures of a report, each made where the study has what it shows."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.experiment._evidence.tables import pareto_front
from verulam.experiment._learning.decisions import DECISIONS
from verulam.experiment._preparation.inspection import RARE_SHARE
from verulam.experiment._report.factor_figures import (
    effect_figures,
    learning_curves,
    learning_surfaces,
    vector_figures,
)
from verulam.experiment._report.svg import ReportFigure, drawn
from verulam.experiment._report.task_figures import reward_figures
from verulam.experiment._tasks.tasks import CONTROL
from verulam.experiment._text import measure_words, spoken_name
from verulam.measures import confusion, precision_recall, roc

if TYPE_CHECKING:
    from verulam.experiment._analysis.analysis import Analysis
    from verulam.experiment._evidence.evidence import Evidence
    from verulam.experiment._store.predictions import PooledPredictions
    from verulam.experiment._store.responses import StoredContestant
    from verulam.statistics import ManyComparison

#: More data sets, contestants or classes than this are left to the tables.
MOST_DATA_SETS, MOST_CONTESTANTS, MOST_CLASSES = 12, 40, 30
#: Costs that are drawn, the first one openly, and what they are called.
COST_WORDS = {
    "fit_seconds": "seconds to fit",
    "predict_seconds": "seconds to predict",
    "model_size": "bytes of the model",
}
#: A baseline this many times the range of the others away from them is not drawn.
FAR = 3.0
#: Inches of a square picture, and of a line of its legend.
SQUARE, LEGEND_LINE = 4.4, 0.2


def figures(analysis: "Analysis") -> tuple[ReportFigure, ...]:
    """Return the pictures that a study allows.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    makers: list[Callable[[Analysis], Iterator[ReportFigure]]] = [
        _over_data,
        _intervals,
        _difference,
        _probabilities,
        *([reward_figures] if analysis.measure.task == CONTROL else []),
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


def _over_data(analysis: "Analysis") -> Iterator[ReportFigure]:
    from verulam.plots import critical_difference, mean_dots

    if analysis.over_data is None:
        return
    many = analysis.over_data.many
    if many is not None and len(many.ranks) <= MOST_CONTESTANTS:
        yield ReportFigure(
            "Critical differences",
            "Mean ranks over the data sets, the best on the left. Bars join contestants that the "
            "tests cannot tell apart.",
            drawn(partial(critical_difference, _spoken_ranks(many))),
            leading=True,
        )
    means = analysis.responses.by_data().rename(columns=spoken_name)
    if means.shape[1] <= MOST_CONTESTANTS and not means.empty:
        yield ReportFigure(
            "Mean response on each data set",
            "One line per data set. Compare within a line, not between lines.",
            drawn(partial(mean_dots, means, label=analysis.measure.title)),
        )


def _spoken_ranks(many: "ManyComparison") -> "ManyComparison":
    """Return a comparison over data sets whose learners are called as in a sentence."""
    pairs = replace(many.pairs, means=many.pairs.means.rename(index=spoken_name))
    cliques = [[spoken_name(str(name)) for name in clique] for clique in many.cliques]
    return replace(many, pairs=pairs, cliques=cliques)


def _intervals(analysis: "Analysis") -> Iterator[ReportFigure]:
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


def _difference(analysis: "Analysis") -> Iterator[ReportFigure]:
    known = _only_evidence(analysis)
    if known is not None and len(known.names) > 1:
        yield ReportFigure(
            "The difference that matters most",
            "How probable each difference of the recommended contestant from its nearest rival "
            "is; differences between the dashed lines would not matter.",
            drawn(analysis.plot_difference),
            leading=True,
        )


def _probabilities(analysis: "Analysis") -> Iterator[ReportFigure]:
    known = _only_evidence(analysis)
    if known is not None and 1 < len(known.names) <= MOST_CONTESTANTS:
        yield ReportFigure(
            "Who may be the best",
            "The probability of being the best of all, and of being within the margin of the best.",
            drawn(analysis.plot_probabilities),
            leading=True,
        )


def _only_evidence(analysis: "Analysis") -> "Evidence | None":
    data = analysis.responses.data
    return analysis.evidence.get(data[0]) if len(data) == 1 else None


def _scores(analysis: "Analysis") -> Iterator[ReportFigure]:
    from verulam.plots import score_boxes

    several = len(analysis.responses.data) > 1
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        table = analysis.responses.by_split(data)
        if table.empty:
            continue
        order = table.mean().sort_values(ascending=not analysis.measure.greater_is_better)
        far = _far_baselines(analysis, order)
        table = table[order.drop(far).index[:MOST_CONTESTANTS]].rename(columns=spoken_name)
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


def _costs(analysis: "Analysis") -> Iterator[ReportFigure]:
    from verulam.plots import cost_response

    several = analysis.overall is not None
    response = "mean rank" if several else measure_words(analysis.measure)
    plain = analysis.table.rename(columns={"mean_rank" if several else "mean": response})
    far = _far_baselines(analysis, plain[response])
    greater = analysis.measure.greater_is_better and not several
    for place, (cost, words) in enumerate(COST_WORDS.items()):
        table = plain.drop(far).rename(columns={cost: words}, index=spoken_name)
        known = table[[response, words]].dropna()
        if len(table) > MOST_CONTESTANTS or len(known) < 2:
            continue
        front = pareto_front(plain, response, cost, greater_is_better=greater)
        draw = partial(
            cost_response,
            table,
            response,
            words,
            front=[spoken_name(name) for name in front],
            greater_is_better=greater,
        )
        yield ReportFigure(
            "Response against cost" if place == 0 else f"Response against {words}",
            f"The line joins the contestants that no other beats in both.{_left_out(far)}",
            drawn(draw),
            folded=place > 0,
        )


def _far_baselines(analysis: "Analysis", means: pd.Series) -> list[str]:
    """Return the baselines that are so far off that nothing else could be seen beside them."""
    baselines = [
        contestant.name for contestant in analysis.responses.contestants if contestant.baseline
    ]
    others = means.drop([name for name in baselines if name in means.index])
    if len(others) < 2 or others.max() == others.min():
        return []
    near = FAR * (others.max() - others.min())
    low, high = others.min() - near, others.max() + near
    return [name for name in baselines if name in means.index and not low < means[name] < high]


def _left_out(names: list[str]) -> str:
    return f" Far off and left out: {', '.join(map(spoken_name, names))}." if names else ""


def threshold_figures(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield ROC, precision-recall and calibration curves where there are two classes.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    from verulam.plots import calibration_curves, precision_recall_curves, roc_curves

    several = len(analysis.responses.data) > 1
    balanced = _balanced_learners(analysis)
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        supports: dict[str, tuple[Any, Any]] = {}
        scored, without, weighted = [], [], []
        positive, rare = "", False
        for contestant in analysis.leaders(data):
            pooled = _pooled(analysis, data, contestant)
            if pooled is None or len(pooled.classes) != 2:
                continue
            # Of a rare class the curves tell more than of the common one.
            place = 0 if pooled.share_of(0) < RARE_SHARE else 1
            rare = pooled.share_of(place) < RARE_SHARE
            positive, name = pooled.classes[place], spoken_name(contestant.name)
            support = pooled.support(place)
            if support is None:
                without.append(name)
                continue
            supports[name] = (pooled.targets == positive, support)
            if pooled.probabilities is None:
                scored.append(name)
            elif contestant.learner in balanced:
                weighted.append(name)
        if not supports:
            continue
        yield ReportFigure(
            f"ROC curves on {data}",
            f"Hits against false alarms for the class {positive}, over all validated rows, and so "
            "are the areas; the table has means over the splits." + _origin(scored, without),
            drawn(partial(_square, roc_curves, {name: roc(*p) for name, p in supports.items()})),
            folded=several,
        )
        curves = {name: precision_recall(*pair) for name, pair in supports.items()}
        yield ReportFigure(
            f"Precision and recall on {data}",
            f"Of the rows called {positive}, the share that are; of the rows that are, the share "
            "called so. The dotted line is what calling every row so would give.",
            drawn(partial(_square, precision_recall_curves, curves)),
            folded=several or not rare,
        )
        # Weighted ones have probabilities of other classes than the table, and would set the scale.
        likely = {name: supports[name] for name in supports if name not in {*scored, *weighted}}
        if not likely:
            continue
        aside = f" Too high by their weights, and left out: {', '.join(weighted)}."
        yield ReportFigure(
            f"Calibration on {data}",
            f"How often the class {positive} occurs where it was given a probability, in ten parts "
            "of equal size. On the diagonal, probabilities mean what they say."
            + (aside if weighted else ""),
            drawn(partial(calibration_curves, likely)),
            folded=several or not rare,
        )


def _balanced_learners(analysis: "Analysis") -> set[str]:
    """Return the learners whose classes were weighted to count the same."""
    # By what was done, not by the name: a label of the user's may end in any brackets.
    preparations = analysis.results.preparations()
    return {
        learner
        for words, learners in preparations.items()
        if DECISIONS["balanced"] in words
        for learner in learners
    }


def _origin(scored: list[str], without: list[str]) -> str:
    """Return whose curve is not one of probabilities, and who has none."""
    words = ""
    if scored:
        words += f" By scores that are no probabilities: {', '.join(scored)}."
    if without:
        words += f" Only labels, and so no curve: {', '.join(without)}."
    return words


def shown_contestant(analysis: "Analysis") -> "StoredContestant | None":
    """Return whose predictions are shown row by row: the recommended, or the best for a baseline.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    known = {contestant.name: contestant for contestant in analysis.responses.contestants}
    shown = known.get(str(analysis.recommended))
    if shown is not None and shown.baseline and analysis.verdict is not None:
        # The matrix of a baseline has one column, and says nothing that the classes do not.
        shown = known.get(analysis.verdict.best, shown)
    return shown


def confusion_figures(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield the confusion matrices of the recommended contestant; of the best for a baseline.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    from verulam.plots import confusion_matrix

    shown = shown_contestant(analysis)
    if shown is None:
        return
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        pooled = _pooled(analysis, data, shown)
        if pooled is None or not 2 <= len(pooled.classes) <= MOST_CLASSES:
            continue
        table = confusion(
            pooled.targets,
            pooled.predicted,
            labels=list(pooled.classes),
            sample_weight=pooled.row_shares,
        ).matrix.round(1)
        yield ReportFigure(
            f"Confusion matrix of {spoken_name(shown.name)} on {data}",
            "True classes in rows, predicted ones in columns. Every row of the data counts once: "
            "where repeats disagree, by their shares.",
            drawn(partial(confusion_matrix, table), on_white=True),
            on_white=True,
            folded=len(analysis.responses.data) > 1,
        )


def overlap_figures(analysis: "Analysis") -> Iterator[ReportFigure]:
    """Yield how far the leading contestants make the same errors.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    from verulam.plots import share_matrix

    several = len(analysis.responses.data) > 1
    for overlap in analysis.overlaps[:MOST_DATA_SETS]:
        if len(overlap.shared) < 3:
            continue
        shared = overlap.shared.rename(index=spoken_name, columns=spoken_name)
        label = "correlation of errors" if overlap.numbers else "share of errors in common"
        yield ReportFigure(
            f"Shared errors on {overlap.data}",
            f"{overlap.sentence} Those with few errors in common may gain from being combined.",
            drawn(partial(share_matrix, shared, label=label), on_white=True),
            on_white=True,
            folded=several,
        )


def _square(draw: Callable[..., Any], curves: Mapping[str, Any]) -> Any:
    """Draw curves on square axes with their legend above, which keeps them square on a phone."""
    import matplotlib.pyplot as plt

    from verulam.plots import legend_above

    height = SQUARE + LEGEND_LINE * len(curves)
    axes = draw(curves, ax=plt.subplots(figsize=(SQUARE + 0.4, height), layout="constrained")[1])
    legend_above(axes, columns=1)
    return axes


def _pooled(
    analysis: "Analysis", data: str, contestant: "StoredContestant"
) -> "PooledPredictions | None":
    return analysis.predictions.pooled(data, contestant.learner, contestant.setting)
