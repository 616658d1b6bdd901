"""The main job: compare learners on one data set."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import get_tags

from verulam.base import Seed, spawn_seeds
from verulam.data import Dataset
from verulam.experiment._comparison import Comparison
from verulam.experiment._engines import run, worker_count
from verulam.experiment._learners import learner_choices
from verulam.experiment._plan import Plan, make_plan
from verulam.experiment._resampling import Resampling
from verulam.experiment._results import DEFAULT_MEASURES, Results
from verulam.experiment._sources import open_data, with_target
from verulam.experiment._study import DataChoice, Study
from verulam.experiment._summary import conclude, summarise
from verulam.measures import Measure, as_measure

CAVEATS = (
    "The conclusion is about this data set; on another one the order may differ.",
    "The training sets of the folds overlap, which the corrected resampled t test allows for.",
    "The best learner was picked by the scores it is tested with: p-values are a little too small.",
)


def compare(
    data: str | Path | pd.DataFrame | Dataset,
    learners: Sequence[Any] | Mapping[str, Any] | str | None = None,
    *,
    target: str | None = None,
    measure: str | Measure | None = None,
    folds: int = 10,
    repeats: int = 1,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    progress: bool = True,
    store: str | Path | None = None,
) -> Comparison:
    """Compare learners on one data set by cross-validation on shared splits.

    Parameters
    ----------
    data
        A data set, a DataFrame, the name of a bundled data set, or the path of a file.
    learners
        Names in the catalogue, estimators, or a mapping of your own names to either; simplest
        first, because among learners that do not differ the one named first is recommended
        (after a baseline such as the majority class). None compares a few of each kind.
    target
        The column to predict, where the data set does not say.
    measure
        What is measured; None takes the error of classes, the root mean squared error of numbers.
    folds, repeats
        Cross-validation: parts per repeat, and how often it is repeated on reshuffled rows.
    random_state
        Seed of the splits and of the learners; the same seed gives the same scores.
    n_jobs
        Processes; None runs one after the other, -1 takes all cores. The scores are the same.
    progress
        Show a progress bar, where the output is a terminal.
    store
        File that keeps every run: an interrupted comparison goes on where it stopped, and a
        larger one runs only what is new. None keeps nothing.

    Examples
    --------
    >>> comparison = compare("iris", ["majority class", "logistic regression"], progress=False)
    >>> comparison.summary["decision"].to_dict()
    {'majority class': 'reject', 'logistic regression': 'best'}
    """
    workers = 1 if n_jobs is None else worker_count(n_jobs, "n_jobs")
    chosen = with_target(open_data(data, target=target))
    response = _measure_for(chosen, measure)
    plan = make_plan(
        Study(
            chosen.name,
            [DataChoice(chosen)],
            learner_choices(learners, str(chosen.task)),
            measures=[response],
            resampling=Resampling("k-fold", folds, repeats),
            seed=spawn_seeds(random_state, 1)[0],
        )
    )
    with _kept_or_not(store) as path:
        results = run(
            plan,
            path,
            engine="processes" if workers > 1 else "serial",
            workers=workers,
            progress=progress,
        )
        scores = _scores(results, plan, response)
    return _concluded(plan, response, scores)


def _scores(results: Results, plan: Plan, measure: Measure) -> pd.DataFrame:
    """Return one row per run with its score, in the order of learners and splits."""
    names = [each.label for each in plan.contestants[0]]
    runs = results.runs()
    # By position: two learners that are the same share the runs that they are scored by.
    scored = results.scores(measure).set_index("position")[measure.name]
    runs["score"] = runs["position"].map(scored)
    runs[["stage", "error", "warning"]] = runs[["stage", "error", "warning"]].fillna("")
    unserved = (runs["status"] == "done") & runs["score"].isna()
    needed = "predict_proba" if measure.needs == "probabilities" else "scores of the classes"
    runs.loc[unserved, "stage"] = "score"
    runs.loc[unserved, "error"] = f"TypeError: measure {measure.name!r} needs {needed}"
    order = runs["learner"].map(names.index)
    columns = ["learner", "repeat", "fold", "score", "fit_seconds", "predict_seconds"]
    return (
        runs.iloc[np.lexsort((runs["fold"], runs["repeat"], order))]
        .reset_index(drop=True)
        .astype({"fit_seconds": float, "predict_seconds": float})[
            [*columns, "stage", "error", "warning"]
        ]
    )


def _concluded(plan: Plan, measure: Measure, scores: pd.DataFrame) -> Comparison:
    planned, contestants = plan.data[0], plan.contestants[0]
    names = [each.label for each in contestants]
    folds = len({split.fold for split in planned.splits})
    repeats = len({split.repeat for split in planned.splits})
    summary = summarise(scores, names, measure, folds=folds)
    simplest = sorted(contestants, key=lambda each: not get_tags(each.estimator).no_validation)
    kind = "stratified " if planned.data.task == "classification" else ""
    repeated = f", repeated {repeats} times" if repeats > 1 else ""
    return Comparison(
        data=planned.label,
        measure=measure,
        design=f"{kind}{folds}-fold cross-validation{repeated}",
        scores=scores,
        summary=summary,
        preparation={each.label: each.preparation for each in contestants},
        conclusion=conclude(summary, measure, [each.label for each in simplest]),
        caveats=CAVEATS,
        notices=(*planned.notices, *_warnings(scores)),
    )


def _measure_for(data: Dataset, measure: str | Measure | None) -> Measure:
    response = as_measure(measure or DEFAULT_MEASURES[str(data.task)])
    if response.task != data.task:
        raise ValueError(
            f"Measure {response.name!r} is for {response.task}, but {data.target!r} of data set "
            f"{data.name!r} is a {data.task} target."
        )
    return response


def _warnings(scores: pd.DataFrame) -> list[str]:
    """Return one line per learner and kind of warning, with the number of runs that gave it."""
    warned = scores[scores["warning"] != ""]
    kinds = warned["warning"].map(lambda text: text.partition(":")[0])
    return [
        f"{learner}: {len(texts)} of its runs warned, first with {texts.iloc[0][:160]}"
        for (learner, _), texts in warned.groupby(["learner", kinds], sort=False)["warning"]
    ]


@contextmanager
def _kept_or_not(store: str | Path | None) -> Iterator[Path]:
    """Give the path of the store: the one asked for, or one that is gone afterwards."""
    if store is not None:
        yield Path(store)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "runs.sqlite"
