"""The main job: compare learners on one data set."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import get_tags

from verulam.base import Seed, spawn_seeds
from verulam.data import Dataset
from verulam.experiment._comparison import Comparison
from verulam.experiment._learners import NamedLearner, named_learners
from verulam.experiment._preparation import usable_inputs
from verulam.experiment._runs import Run, Work, carry_out
from verulam.experiment._sources import open_data, with_target
from verulam.experiment._splits import Splits, draw_splits
from verulam.experiment._summary import conclude, summarise
from verulam.measures import Measure, as_measure

DEFAULT_MEASURES = {"classification": "error", "regression": "root_mean_squared_error"}

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
        Processes; None runs one after the other. The scores do not depend on it.
    progress
        Show a progress bar, where the output is a terminal.

    Examples
    --------
    >>> comparison = compare("iris", ["majority class", "logistic regression"], progress=False)
    >>> comparison.summary["decision"].to_dict()
    {'majority class': 'reject', 'logistic regression': 'best'}
    """
    chosen = with_target(open_data(data, target=target))
    inputs, left_out = usable_inputs(chosen.inputs)
    response = _measure_for(chosen, measure)
    contestants = named_learners(learners, chosen, inputs)
    split_seed, run_seed = spawn_seeds(random_state, 2)
    splits = draw_splits(chosen, folds=folds, repeats=repeats, random_state=split_seed)
    work = Work(inputs, _plain(chosen.target_values), response, run_seed)
    with _bar(len(contestants) * len(splits), show=progress) as finished:
        runs = carry_out(work, contestants, splits, n_jobs=n_jobs, finished=finished)
    notices = [text for text in (splits.notice, left_out, *_warnings(runs)) if text]
    return _concluded(chosen, response, contestants, splits, runs, tuple(notices))


def _concluded(
    data: Dataset,
    measure: Measure,
    learners: Sequence[NamedLearner],
    splits: Splits,
    runs: Sequence[Run],
    notices: tuple[str, ...],
) -> Comparison:
    names = [learner.name for learner in learners]
    scores = pd.DataFrame([asdict(run) for run in runs])
    summary = summarise(scores, names, measure, folds=splits.folds)
    simplest = sorted(learners, key=lambda learner: not get_tags(learner.estimator).no_validation)
    kind = "stratified " if data.task == "classification" else ""
    repeated = f", repeated {splits.repeats} times" if splits.repeats > 1 else ""
    return Comparison(
        data=data.name,
        measure=measure,
        design=f"{kind}{splits.folds}-fold cross-validation{repeated}",
        scores=scores,
        summary=summary,
        preparation={learner.name: learner.preparation for learner in learners},
        conclusion=conclude(summary, measure, [learner.name for learner in simplest]),
        caveats=CAVEATS,
        notices=notices,
    )


def _measure_for(data: Dataset, measure: str | Measure | None) -> Measure:
    response = as_measure(measure or DEFAULT_MEASURES[str(data.task)])
    if response.task != data.task:
        raise ValueError(
            f"Measure {response.name!r} is for {response.task}, but {data.target!r} of data set "
            f"{data.name!r} is a {data.task} target."
        )
    return response


def _plain(targets: pd.Series) -> pd.Series:
    """Return class labels without their category type, which not every learner knows."""
    if isinstance(targets.dtype, pd.CategoricalDtype):
        values = np.asarray(targets.cat.categories)[targets.cat.codes.to_numpy()]
        return pd.Series(values, index=targets.index, name=targets.name)
    return targets


def _warnings(runs: Sequence[Run]) -> list[str]:
    """Return one line per learner and kind of warning, with the number of runs that gave it."""
    counts: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        if run.warning:
            kind = run.warning.partition(":")[0]
            counts.setdefault((run.learner, kind), []).append(run.warning)
    return [
        f"{learner}: {len(texts)} of its runs warned, first with {' '.join(texts[0].split())[:160]}"
        for (learner, _), texts in counts.items()
    ]


@contextmanager
def _bar(total: int, *, show: bool) -> Any:
    """Give a function to call after each run, which moves a bar on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not show or not console.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("runs", total=total)
        yield lambda run: bar.update(task, advance=1, description=run.learner)
