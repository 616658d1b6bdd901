"""Pictures of predictions: curves over thresholds, confusion, calibration, shared errors."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._report.svg import ReportFigure, drawn
from verulam.experiment._store.predictions import PooledPredictions
from verulam.experiment._store.responses import StoredContestant

#: More data sets or classes than this are left to the tables.
MOST_DATA_SETS, MOST_CLASSES = 12, 30
#: Inches of a square picture, and of a line of its legend.
SQUARE, LEGEND_LINE = 4.4, 0.2


def threshold_figures(analysis: Analysis) -> Iterator[ReportFigure]:
    """Yield ROC, precision-recall and calibration curves where there are two classes.

    Parameters
    ----------
    analysis
        What was found.
    """
    from verulam.measures import precision_recall, roc
    from verulam.plots import calibration_curves, precision_recall_curves, roc_curves

    several = len(analysis.responses.data) > 1
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        given: dict[str, tuple[Any, Any]] = {}
        scored, without = [], []
        positive = ""
        for contestant in analysis.leaders(data):
            pooled = _pooled(analysis, data, contestant)
            if pooled is None or len(pooled.classes) != 2:
                continue
            positive = pooled.classes[1]
            support = pooled.for_second_class
            if support is None:
                without.append(contestant.name)
                continue
            given[contestant.name] = (pooled.targets == positive, support)
            if pooled.probabilities is None:
                scored.append(contestant.name)
        if not given:
            continue
        yield ReportFigure(
            f"ROC curves on {data}",
            f"Hits against false alarms for the class {positive}, over all validated rows."
            + _origin(scored, without),
            drawn(partial(_square, roc_curves, {name: roc(*p) for name, p in given.items()})),
            folded=several,
        )
        curves = {name: precision_recall(*pair) for name, pair in given.items()}
        yield ReportFigure(
            f"Precision and recall on {data}",
            f"Of the rows called {positive}, the share that are; of the rows that are, the share "
            "called so. The dotted line is what calling every row so would give.",
            drawn(partial(_square, precision_recall_curves, curves)),
            folded=True,
        )
        likely = {name: pair for name, pair in given.items() if name not in scored}
        if not likely:
            continue
        yield ReportFigure(
            f"Calibration on {data}",
            f"How often the class {positive} occurs where it was given a probability, in ten parts "
            "of equal size. On the diagonal, probabilities mean what they say.",
            drawn(partial(calibration_curves, likely)),
            folded=True,
        )


def _origin(scored: list[str], without: list[str]) -> str:
    """Return whose curve is not one of probabilities, and who has none."""
    words = ""
    if scored:
        words += f" By scores that are no probabilities: {', '.join(scored)}."
    if without:
        words += f" Only labels, and so no curve: {', '.join(without)}."
    return words


def confusion_figures(analysis: Analysis) -> Iterator[ReportFigure]:
    """Yield the confusion matrices of the recommended contestant; of the best for a baseline.

    Parameters
    ----------
    analysis
        What was found.
    """
    from verulam.measures import confusion
    from verulam.plots import confusion_matrix

    known = {each.name: each for each in analysis.responses.contestants}
    chosen = known.get(str(analysis.recommended))
    if chosen is None:
        return
    if chosen.baseline and analysis.verdict is not None:
        # The matrix of a baseline has one column, and says nothing that the classes do not.
        chosen = known.get(analysis.verdict.best, chosen)
    for data in analysis.responses.data[:MOST_DATA_SETS]:
        pooled = _pooled(analysis, data, chosen)
        if pooled is None or not 2 <= len(pooled.classes) <= MOST_CLASSES:
            continue
        table = confusion(pooled.targets, pooled.predicted, labels=list(pooled.classes))
        yield ReportFigure(
            f"Confusion matrix of {chosen.name} on {data}",
            "True classes in rows, predicted ones in columns, counted over the validated rows of "
            "all splits.",
            drawn(partial(confusion_matrix, table), on_white=True),
            on_white=True,
            folded=len(analysis.responses.data) > 1,
        )


def overlap_figures(analysis: Analysis) -> Iterator[ReportFigure]:
    """Yield how far the leading contestants make the same errors.

    Parameters
    ----------
    analysis
        What was found.
    """
    from verulam.plots import share_matrix

    several = len(analysis.responses.data) > 1
    for each in analysis.overlaps[:MOST_DATA_SETS]:
        if len(each.shared) < 3:
            continue
        label = "correlation of errors" if each.numbers else "share of errors in common"
        yield ReportFigure(
            f"Shared errors on {each.data}",
            f"{each.sentence} Contestants with few errors in common are worth combining.",
            drawn(partial(share_matrix, each.shared, label=label), on_white=True),
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
    analysis: Analysis, data: str, contestant: StoredContestant
) -> PooledPredictions | None:
    return analysis.predictions.pooled(data, contestant.learner, contestant.setting)
