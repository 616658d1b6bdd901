"""Learners compared on one data set: a study with defaults, planned, run and analysed."""

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from verulam.base import DataError, Seed, spawn_seeds, unknown_name
from verulam.data import Dataset
from verulam.experiment._analysis.analyse import analyse
from verulam.experiment._comparison import Comparison
from verulam.experiment._evidence.evidence import DEFAULT_RULE
from verulam.experiment._plan.plan import make_plan
from verulam.experiment._plan.records import Plan
from verulam.experiment._plan.task_inputs import usual_learners
from verulam.experiment._preparation.inspection import (
    Finding,
    given_away,
    rare_classes,
    suggested_groups,
)
from verulam.experiment._resampling.advice import suggest_resampling
from verulam.experiment._resampling.kinds import ORDERED
from verulam.experiment._resampling.resampling import Resampling
from verulam.experiment._resampling.resampling import resampling as as_resampling
from verulam.experiment._run.run import run, worker_count
from verulam.experiment._store.results import DEFAULT_MEASURES
from verulam.experiment._study.analysis_options import AnalysisOptions
from verulam.experiment._study.budget import Budget
from verulam.experiment._study.choices import (
    DataChoice,
    LearnerChoice,
    default_learners,
    labelled_learners,
    named_outputs,
)
from verulam.experiment._study.cost_matrix import Losses, read_losses
from verulam.experiment._study.data_source import open_choice, open_data, settled_target
from verulam.experiment._study.study import USUAL_RESAMPLING, Study
from verulam.experiment._tasks.environments import EnvironmentChoice, fitting_agents, open_world
from verulam.experiment._tasks.tasks import TABLE_TASKS
from verulam.measures import Measure, as_measure
from verulam.statistics import SELECTION_RULES

#: Of fewer rows of a class the area under the curve scatters more than its splits show.
FEWEST_RARE = 10
COSTLY = (
    "Learners are compared by what their decisions cost on average: each decides for the least "
    "expected loss by its probabilities, and one without any as it says itself. measure (--measure "
    "of a command) names another."
)


def compare(
    data: str | Path | pd.DataFrame | Dataset | EnvironmentChoice,
    learners: Sequence[Any] | Mapping[str, Any] | str | None = None,
    *,
    target: str | Sequence[str] | None = None,
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
    categorical: Sequence[str] = (),
    groups: str | bool | None = None,
    weights: str | None = None,
    losses: Losses | pd.DataFrame | str | Path | None = None,
    reject_cost: float | None = None,
    matters: float | None = None,
    rule: str = DEFAULT_RULE,
    time_budget: float | None = None,
    task: str | None = None,
    preparations: Sequence[str] = ("as needed",),
) -> Comparison:
    """Compare learners on one data set, on splits that they share.

    Parameters
    ----------
    data
        A data set, a DataFrame, the name of a bundled data set, or the path of a file. For agents,
        an `EnvironmentChoice`.
    learners
        Names in the catalogue, estimators, pairs of a label and either, or a mapping of labels to
        either, in any order. None compares one of each kind, or the agents that fit.
    target
        The column to predict, where the data set does not say; a list of several columns of
        numbers, which are predicted together and measured in standard deviations of each.
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
    categorical
        Columns of numbers that are codes, each value a category; of the target, each a class.
    groups
        Column whose equal values stay on one side of every split, such as the patient that
        several rows are about. None takes a column that seems to be one, and says so; False takes
        none.
    weights
        Column that says how much each row weighs, in learning (where a learner can) and in the
        measures; None for all the same.
    losses
        What decisions cost: ``{decision: {class: loss}}``, a DataFrame with a row per decision and
        a column per class, or a CSV file of it. Then learners are compared by what their decisions
        of least risk cost on average, unless a measure is named. None counts every mistake as 1.
    reject_cost
        What it costs to withhold a decision; None decides always.
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
    task
        "density" compares densities by the log-likelihood of held-out rows, "clustering"
        clusterings by silhouette and stability; None predicts the target.
    preparations
        Ways to prepare the table, with each of which every learner is compared, such as
        "standardised", "ranks", "principal components 5" or "self-organising map".

    Examples
    --------
    >>> comparison = compare("iris", ["majority class", "logistic regression"], progress=False)
    >>> comparison.ranking()["against_best"].to_dict()
    {'logistic regression': 'best', 'majority class': 'worse'}
    """
    first, outputs = _several(target)
    options = _study_options(random_state, matters, rule, time_budget, preparations)
    columns: Any = {"leave_out": leave_out, "keep": keep, "categorical": categorical}
    workers = 1 if n_jobs is None else worker_count(n_jobs, "n_jobs")
    if losses is not None or reject_cost is not None:
        options |= {"losses": read_losses(losses), "reject_cost": reject_cost}
    if isinstance(data, EnvironmentChoice) or task is not None:
        if outputs or weights is not None:
            unused = "target: several columns have" if outputs else "weights: a column of them has"
            raise DataError(f"{unused} no place where nothing is predicted.")
        column = groups if isinstance(groups, str) else None
        source = (
            data
            if isinstance(data, EnvironmentChoice)
            else DataChoice(data, target=first, groups=column, **columns)
        )
        judges = _one_or_several(measure, measures)
        study = task_study(source, learners, task, judges, resampling, options)
        return _carried_out(make_plan(study), store, workers, progress=progress)
    choice = DataChoice(
        data,
        target=first,
        outputs=outputs,
        drop_missing_target=drop_missing_target,
        rare=rare,
        weights=weights,
        **columns,
    )
    dataset = settled_target(open_choice(choice), rare).data
    rare_class = rare_classes(dataset)
    seeming = suggested_groups(dataset) if groups is None else None
    grouping = _grouping(groups, resampling, seeming)
    omission = ""
    by_default = _default_measure(dataset, rare_class, costly="losses" in options)
    judges = _measures_for(dataset, measure, measures, by_default.name)
    if learners is None:
        learners, omission = _usual_learners(dataset, judges[0], rare_class, losses is not None)
    plan = make_plan(
        Study(
            dataset.name,
            [replace(choice, groups=grouping.column).recorded(dataset)],
            labelled_learners(learners),
            measures=judges,
            resampling=resampling or suggest_resampling(dataset.n_rows).resampling,
            **options,
        )
    )
    unasked = measure is None and measures is None
    rarity = by_default.remark if unasked else _blind_remark(dataset, rare_class, judges[0])
    suspicions = given_away(dataset, grouping.column, shuffled=resampling is None)
    remarks = (rarity, grouping.remark, *map(str, suspicions), omission)
    plan = replace(plan, remarks=tuple(filter(None, remarks)))
    return _carried_out(plan, store, workers, progress=progress)


def _study_options(
    random_state: Seed,
    matters: float | None,
    rule: str,
    time_budget: float | None,
    preparations: Sequence[str],
) -> dict[str, Any]:
    """Return the parts of a study that every comparison has, or say what is wrong with them."""
    if isinstance(random_state, int) and random_state < 0:
        raise ValueError(f"random_state: {random_state}; expected a whole number of at least 0.")
    if rule not in SELECTION_RULES:
        raise DataError(f"rule: {rule!r}; expected one of {', '.join(SELECTION_RULES)}.")
    if time_budget is not None and not time_budget > 0:
        raise DataError(f"time_budget: {time_budget!r}; expected a number of seconds above 0.")
    return {
        "seed": spawn_seeds(random_state, 1)[0],
        "analysis": AnalysisOptions(matters=matters, rule=rule),
        "budget": None if time_budget is None else Budget(seconds=time_budget),
        "preparations": tuple(preparations),
    }


def _several(target: str | Sequence[str] | None) -> tuple[str | None, tuple[str, ...]]:
    """Return the first column to predict, and all of them where there are several."""
    if target is None:
        return None, ()
    names = named_outputs(target)
    return names[0], names if len(names) > 1 else ()


def _usual_learners(
    data: Dataset, measure: Measure, rare: Mapping[str, float], costly: bool
) -> tuple[list[str], str]:
    """Return what is compared where nothing is named, and a notice about what is left out."""
    return default_learners(
        str(data.task),
        data.n_rows,
        rare=bool(rare),
        by_labels=measure.needs == "labels" and measure.name != "risk",
        costly=costly,
        intervals=measure.needs in ("intervals", "predictive densities"),
    )


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
            study=plan.study,
        )
    except BaseException:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if folder is not None:
        # Its report and other measures need the predictions, so they live as long as it does.
        weakref.finalize(comparison, shutil.rmtree, folder, ignore_errors=True)
    return comparison


class Grouping(NamedTuple):
    """The column that keeps rows together, if any, and why, where nobody named it."""

    column: str | None
    remark: str = ""


def _grouping(
    groups: str | bool | None,
    asked: str | Mapping[str, Any] | Resampling | None,
    seeming: Finding | None,
) -> Grouping:
    """Return the column of groups that was named, or the one that the table seems to have."""
    if isinstance(groups, str):
        return Grouping(groups)
    if groups not in (None, False):
        raise DataError(f"groups: {groups!r}; expected the name of a column, False or None.")
    named = None if asked is None else as_resampling(asked)
    if groups is False or (named is not None and (named.groups or named.kind in ORDERED)):
        return Grouping(None)
    if seeming is None:
        return Grouping(None)
    column = seeming.columns[0]
    return Grouping(
        column,
        f"{seeming.sentence} Rows of one {column} are kept on one side of every split, and "
        f"{column} is no input: otherwise the answer would be known from its other rows. If the "
        "rows are independent, say groups=False (--groups none).",
    )


class DefaultMeasure(NamedTuple):
    """What is measured where nobody says, and why it is not the usual."""

    name: str
    remark: str = ""


def _default_measure(data: Dataset, rare: Mapping[str, float], *, costly: bool) -> DefaultMeasure:
    """Return what is measured where nobody says: what mistakes cost, if that was told."""
    if costly and data.task != "classification":
        raise DataError(f"losses: {data.target!r} is a number; decisions are between classes.")
    if costly:
        return DefaultMeasure("risk", COSTLY)
    if not rare:
        return DefaultMeasure(DEFAULT_MEASURES[str(data.task)])
    label, share = next(iter(rare.items()))
    remark = (
        f"{_share_words(data, label, share)}. Learners are therefore compared by the area under "
        "the ROC curve, which always answering with the common class does not improve; measure "
        "(--measure of a command) names another."
    )
    return DefaultMeasure("auc", remark + _few_remark(data, share))


def _share_words(data: Dataset, label: str, share: float) -> str:
    """Return how rare a class is."""
    return f"Only {100 * share:.2f} % of the rows are {data.target}={label}"


def _few_remark(data: Dataset, share: float) -> str:
    """Return that the rows of a class are too few for what is said of them; empty for enough."""
    count = round(share * data.n_rows)
    if count >= FEWEST_RARE:
        return ""
    return (
        f" There are only {count} of them: the intervals are too narrow, and a learner may seem "
        "better by chance."
    )


def _blind_remark(data: Dataset, rare: Mapping[str, float], measure: Measure) -> str:
    """Return that a measure which was asked for hardly sees the rare class, or few rows of it."""
    if not rare:
        return ""
    label, share = next(iter(rare.items()))
    few, rows = _few_remark(data, share), _share_words(data, label, share)
    if measure.name not in ("error", "accuracy"):
        return f"{rows}.{few}" if few else ""
    return (
        f"{rows}: always answering with the common class is right in {100 - 100 * share:.1f} % and "
        "finds none of them. The measures auc, f_score and balanced_accuracy see the rare class."
        f"{few}"
    )


def task_study(
    choice: DataChoice | EnvironmentChoice,
    learners: Any,
    task: str | None,
    measures: Sequence[str | Measure],
    resampling: Any,
    options: Mapping[str, Any],
) -> Study:
    """Return the study of a comparison that predicts nothing, with its defaults.

    Parameters
    ----------
    choice
        The environment, or the data set.
    learners
        Who is compared; None takes those that fit.
    task
        "density" or "clustering"; None for an environment.
    measures
        What is measured; none takes the usual of the task.
    resampling
        How splits are drawn; None takes the usual of the task.
    options
        Further parts of the study.
    """
    if learners is None and isinstance(choice, EnvironmentChoice):
        learners = fitting_agents(open_world(choice).spaces)
    elif learners is None and isinstance(choice, DataChoice):
        if task not in TABLE_TASKS:
            raise unknown_name("task", str(task), TABLE_TASKS)
        learners = [
            LearnerChoice(name, factors=factors)
            for name, factors in usual_learners(str(task), choice).items()
        ]
    if isinstance(choice, DataChoice):
        opened = open_data(choice.source, target=choice.target, leave_out=choice.leave_out)
        choice = choice.recorded(opened)
    else:
        choice = replace(choice, label=choice.label or open_world(choice).name)
    return Study(
        str(choice.label),
        [choice],
        labelled_learners(learners),
        measures=measures or None,
        resampling=resampling or USUAL_RESAMPLING,
        task=task,
        **options,
    )


def _one_or_several(
    measure: str | Measure | None, measures: Sequence[str | Measure] | None
) -> Sequence[str | Measure]:
    """Return the measures that were asked for, by either argument; none where neither was."""
    if measure is not None and measures is not None:
        raise ValueError("measure and measures: only one of them can be given.")
    if measures is not None and (isinstance(measures, str | Measure) or not measures):
        raise ValueError("measures: expected a list of at least one; measure= is for one.")
    return measures or ([] if measure is None else [measure])


def _measures_for(
    data: Dataset,
    measure: str | Measure | None,
    measures: Sequence[str | Measure] | None,
    default: str,
) -> list[Measure]:
    names = _one_or_several(measure, measures) or [default]
    resolved = [as_measure(name) for name in names]
    for candidate in resolved:
        if candidate.task != data.task:
            raise ValueError(
                f"Measure {candidate.name!r} is for {candidate.task}, but {data.target!r} of data "
                f"set {data.name!r} is a {data.task} target."
            )
    return resolved
