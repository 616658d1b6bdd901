"""Learners compared on one data set: a study with defaults, planned, run and analysed."""

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from verulam.base import DataError, Seed, spawn_seeds
from verulam.data import Dataset
from verulam.experiment._analysis.analyse import analyse
from verulam.experiment._comparison import Comparison
from verulam.experiment._evidence.evidence import DEFAULT_RULE
from verulam.experiment._plan.plan import make_plan
from verulam.experiment._plan.records import Plan
from verulam.experiment._resampling.advice import suggest_resampling
from verulam.experiment._resampling.kinds import ORDERED
from verulam.experiment._resampling.resampling import Resampling
from verulam.experiment._resampling.resampling import resampling as as_resampling
from verulam.experiment._run.run import run, worker_count
from verulam.experiment._store.results import DEFAULT_MEASURES
from verulam.experiment._study.analysis_options import AnalysisOptions
from verulam.experiment._study.budget import Budget
from verulam.experiment._study.choices import DataChoice, default_learners, labelled_learners
from verulam.experiment._study.data_source import open_choice
from verulam.experiment._study.inspection import rare_classes, suggested_groups, suggested_order
from verulam.experiment._study.study import Study
from verulam.experiment._study.target_checks import settled_target
from verulam.measures import Measure, as_measure
from verulam.statistics import SELECTION_RULES

#: Of fewer rows of a class the area under the curve scatters more than its splits show.
FEWEST_RARE = 10


def compare(
    data: str | Path | pd.DataFrame | Dataset,
    learners: Sequence[Any] | Mapping[str, Any] | str | None = None,
    *,
    target: str | None = None,
    measure: str | Measure | None = None,
    measures: Sequence[str | Measure] | None = None,
    resampling: str | Mapping[str, Any] | Resampling | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    progress: bool = True,
    store: str | Path | None = None,
    drop_missing_target: bool = False,
    leave_out: Sequence[str] = (),
    rare: str = "keep",
    keep: Sequence[str] = (),
    groups: str | bool | None = None,
    matters: float | None = None,
    rule: str = DEFAULT_RULE,
    time_budget: float | None = None,
) -> Comparison:
    """Compare learners on one data set, on splits that they share.

    Parameters
    ----------
    data
        A data set, a DataFrame, the name of a bundled data set, or the path of a file.
    learners
        Names in the catalogue, estimators, pairs of a label and either, or a mapping of labels to
        either, in any order. None compares one of each kind.
    target
        The column to predict, where the data set does not say.
    measure
        What is measured; None takes the error of classes (the area under the ROC curve where one
        of two classes is rarer than 10 %), and the root mean squared error of numbers.
    measures
        Several of them instead, of which the first decides.
    resampling
        How splits are drawn, such as "10-fold", "5x10-fold" or "5x2"; None takes what
        `suggest_resampling` says, which for most tables is 10-fold cross-validation, repeated
        twice and then up to ten times until the choice would survive other splits.
    random_state
        Seed of the splits and of the learners; the same seed gives the same scores.
    n_jobs
        Processes; None runs one after the other, -1 takes all cores. The scores are the same.
    progress
        Show a progress bar, where the output is a terminal or a notebook.
    store
        File that keeps every run: an interrupted comparison goes on where it stopped, and a
        larger one runs only what is new. None keeps them as long as the comparison itself.
    drop_missing_target
        Leave out the rows whose target is missing, instead of refusing them.
    leave_out
        Columns that are no inputs, such as the number of a customer.
    rare
        What is done with classes of fewer than 5 rows: "keep", "drop" leaves their rows out,
        "join" makes one class of them.
    keep
        Columns that are inputs although they seem to name the rows alone.
    groups
        Column whose equal values stay on one side of every split, such as the patient that
        several rows are about. None takes a column that seems to be one, and says so; False takes
        none.
    matters
        Difference of the measure, in its own units, below which two learners are as good as
        equal, such as 0.01 of an error; None takes 1 percentage point for shares, and otherwise
        a share of what guessing scores.
    rule
        Whom to recommend: by "half standard error" the simplest whose mean is behind the best by
        no more than `matters` and half its standard error, by "one standard error" the simplest
        within that, by "best mean" the best, by "not rejected" the simplest that no test shows to
        be worse.
    time_budget
        Seconds of fitting and predicting after which no more repeats are begun; None for no limit.

    Examples
    --------
    >>> comparison = compare("iris", ["majority class", "logistic regression"], progress=False)
    >>> comparison.ranking()["against_best"].to_dict()
    {'logistic regression': 'best', 'majority class': 'worse'}
    """
    if isinstance(random_state, int) and random_state < 0:
        raise ValueError(f"random_state: {random_state}; expected a whole number of at least 0.")
    if rule not in SELECTION_RULES:
        raise DataError(f"rule: {rule!r}; expected one of {', '.join(SELECTION_RULES)}.")
    if time_budget is not None and not time_budget > 0:
        raise DataError(f"time_budget: {time_budget!r}; expected a number of seconds above 0.")
    workers = 1 if n_jobs is None else worker_count(n_jobs, "n_jobs")
    choice = DataChoice(
        data,
        target=target,
        drop_missing_target=drop_missing_target,
        leave_out=leave_out,
        rare=rare,
        keep=keep,
    )
    dataset = settled_target(open_choice(choice), rare).data
    grouping = _grouping(dataset, groups, resampling)
    omission = ""
    if learners is None:
        learners, omission = default_learners(str(dataset.task), dataset.n_rows)
    by_default = _default_measure(dataset)
    plan = make_plan(
        Study(
            dataset.name,
            [_recordable(replace(choice, groups=grouping.column), dataset)],
            labelled_learners(learners),
            measures=_measures_for(dataset, measure, measures, by_default.name),
            resampling=resampling or suggest_resampling(dataset.n_rows).resampling,
            seed=spawn_seeds(random_state, 1)[0],
            analysis=AnalysisOptions(matters=matters, rule=rule),
            budget=None if time_budget is None else Budget(seconds=time_budget),
        )
    )
    rarity = by_default.remark if measure is None and measures is None else ""
    remarks = (rarity, grouping.remark, _order_remark(dataset, resampling), omission)
    plan = replace(plan, remarks=tuple(filter(None, remarks)))
    return _carried_out(plan, store, workers, progress=progress)


def _carried_out(
    plan: Plan, store: str | Path | None, workers: int, *, progress: bool
) -> Comparison:
    """Run a plan of one data set, and keep its runs where they belong."""
    folder = None
    if store is None:
        folder = tempfile.mkdtemp(prefix="verulam-")
        store = Path(folder, f"{plan.data[0].label}.sqlite")
    try:
        results = run(
            plan,
            store,
            engine="processes" if workers > 1 else "serial",
            workers=workers,
            progress=progress,
        )
        comparison = Comparison(
            analysis=analyse(results),
            preparation={
                contestant.label: contestant.preparation for contestant in plan.contestants[0]
            },
            persistent=folder is None,
        )
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if folder is not None:
        # Its report and other measures need the predictions, so they live as long as it does.
        weakref.finalize(comparison, shutil.rmtree, folder, ignore_errors=True)
    return comparison


def _recordable(choice: DataChoice, dataset: Dataset) -> DataChoice:
    """Return the choice with all that the store is to record: absolute path, target, label."""
    source = choice.source
    if isinstance(source, str | Path):
        source = str(Path(source).resolve() if Path(source).is_file() else source)
    return replace(choice, source=source, target=dataset.target, label=dataset.name)


class Grouping(NamedTuple):
    """The column that keeps rows together, if any, and why, where nobody named it."""

    column: str | None
    remark: str = ""


def _grouping(
    data: Dataset, groups: str | bool | None, asked: str | Mapping[str, Any] | Resampling | None
) -> Grouping:
    """Return the column of groups that was named, or one that the table seems to have."""
    if isinstance(groups, str):
        return Grouping(groups)
    if groups not in (None, False):
        raise DataError(f"groups: {groups!r}; expected the name of a column, False or None.")
    named = None if asked is None else as_resampling(asked)
    if groups is False or (named is not None and (named.groups or named.kind in ORDERED)):
        return Grouping(None)
    finding = suggested_groups(data)
    if finding is None:
        return Grouping(None)
    column = finding.columns[0]
    return Grouping(
        column,
        f"{finding.sentence} Rows of one {column} are kept on one side of every split, and "
        f"{column} is no input: otherwise the answer would be known from its other rows. If the "
        "rows are independent, say groups=False (--groups none).",
    )


def _order_remark(data: Dataset, asked: str | Mapping[str, Any] | Resampling | None) -> str:
    """Return the proposal to test on later rows, where the rows are in the order of a date."""
    return "" if asked is not None else str(suggested_order(data) or "")


class DefaultMeasure(NamedTuple):
    """What is measured where nobody says, and why it is not the usual."""

    name: str
    remark: str = ""


def _default_measure(data: Dataset) -> DefaultMeasure:
    """Return what is measured where nobody says."""
    rare = rare_classes(data)
    if not rare:
        return DefaultMeasure(DEFAULT_MEASURES[str(data.task)])
    label, share = next(iter(rare.items()))
    remark = (
        f"Only {share:.2%} of the rows are {data.target}={label}. Learners are therefore compared "
        "by the area under the ROC curve, which always answering with the common class does not "
        "improve; measure (--measure of a command) names another."
    )
    count = round(share * data.n_rows)
    if count < FEWEST_RARE:
        remark += (
            f" There are {count} of them alone: the intervals are too narrow, and a learner may "
            "seem better by chance."
        )
    return DefaultMeasure("auc", remark)


def _measures_for(
    data: Dataset,
    measure: str | Measure | None,
    measures: Sequence[str | Measure] | None,
    default: str,
) -> list[Measure]:
    if measure is not None and measures is not None:
        raise ValueError("measure and measures: only one of them can be given.")
    if measures is not None and (isinstance(measures, str | Measure) or not measures):
        raise ValueError("measures: expected a list of at least one; measure= is for one.")
    names = measures or [measure or default]
    resolved = [as_measure(name) for name in names]
    for candidate in resolved:
        if candidate.task != data.task:
            raise ValueError(
                f"Measure {candidate.name!r} is for {candidate.task}, but {data.target!r} of data "
                f"set {data.name!r} is a {data.task} target."
            )
    return resolved
