"""From a study to a table of runs, every one visible before anything is run."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import get_tags

from verulam.base import DataError, abilities, check_parameters, clone, generator
from verulam.catalogue import entry
from verulam.experiment._identity import describe, digest, digest_bytes, seed_of
from verulam.experiment._plan.data import PlannedData, planned_data
from verulam.experiment._plan.remarks import alias_tables, design_remarks
from verulam.experiment._plan.text import plan_text
from verulam.experiment._plan.tuning import check_tuning_budget, with_tuning
from verulam.experiment._resampling.rows import Split
from verulam.experiment._study.budget import Budget, affordable, budget
from verulam.experiment._study.choices import LearnerChoice
from verulam.experiment._study.cost_matrix import unsuited_losses
from verulam.experiment._study.factors import (
    DATA_SET,
    PREPARATION,
    SplitSetting,
    check_data_sets,
    scaled_parameters,
    split_setting,
)
from verulam.experiment._study.notebook import plan_html
from verulam.experiment._study.preparation import prepared
from verulam.experiment._study.study import Study, learner_settings


@dataclass(frozen=True, eq=False)
class Contestant:
    """A learner with one setting of its factors, ready for one data set.

    Attributes
    ----------
    label
        Name of the learner in the results.
    setting
        Level of each factor.
    estimator
        Unfitted; a pipeline where the table has to be prepared.
    preparation
        What is done to the columns first.
    description
        Everything that identifies the estimator.
    uses_names
        Whether it may refer to columns by name; otherwise it can be given an array.
    tuned
        Parameters that are tuned within the training rows.
    share
        Part of the training rows, where that is a factor of the learner; None where the study
        says.
    """

    label: str
    setting: dict[str, Any]
    estimator: Any
    preparation: str
    description: Any
    uses_names: bool
    tuned: tuple[str, ...] = ()
    share: float | None = None


@dataclass(frozen=True, eq=False)
class PlannedRun:
    """One row of a plan.

    Attributes
    ----------
    run_id
        Hash of what defines the run.
    data
        Position of the data set in the plan.
    contestant
        Position of the contestant among those of the data set.
    split
        Rows to learn from and to validate on.
    share
        Part of the training rows that is used.
    seed
        Seed of the learner.
    """

    run_id: str
    data: int
    contestant: int
    split: Split
    share: float
    seed: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Every run of a study, in the random order in which they will be carried out.

    With a budget they are carried out split by split, in that order within each.

    Attributes
    ----------
    study
        The study.
    data
        Its data sets with their splits.
    contestants
        For each data set its contestants.
    runs
        The runs.
    remarks
        What else there is to say of how it came about.
    """

    study: Study
    data: tuple[PlannedData, ...]
    contestants: tuple[tuple[Contestant, ...], ...]
    runs: tuple[PlannedRun, ...]
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def notices(self) -> tuple[str, ...]:
        """What had to be done otherwise than asked for, data set by data set."""
        notices = list(self.lasting_notices)
        untuned = {c.label: c for each in self.contestants for c in each if not c.tuned}
        if self.study.tuning is not None and untuned:
            notices.append(f"Nothing is tuned of {', '.join(untuned)}.")
        return (*notices, *design_remarks(json.loads(self.study.to_json())))

    @property
    def lasting_notices(self) -> tuple[str, ...]:
        """The notices that no analysis could find again: they are stored with the plan."""
        several = len(self.data) > 1
        data = [
            f"{each.label}: {text}" if several else text
            for each in self.data
            for text in each.notices
        ]
        return (*self.remarks, *data, *self._nuisance_notices, *self._loss_notices)

    @property
    def aliases(self) -> dict[str, pd.DataFrame]:
        """For each learner with a fractional design, the effects that cannot be told apart."""
        return alias_tables(json.loads(self.study.to_json()))

    @property
    def _nuisance_notices(self) -> list[str]:
        """Which nuisance factors will be tested, and which are words alone."""
        tested = {column.name: None for each in self.data for column in each.nuisance}
        words = [name for name in self.study.nuisance if name not in tested]
        lines = []
        if tested:
            lines.append(
                f"Nuisance factors, no inputs, tested in the analysis: {', '.join(tested)}."
            )
        if words:
            lines.append(f"Nuisance factors for the record, no columns: {', '.join(words)}.")
        return lines

    @property
    def _loss_notices(self) -> list[str]:
        """What the losses of the study will have no effect on."""
        if not _has_losses(self.study):
            return []
        lines = [f"{label}: {text}" for label, text in _unsuited(self.study, self.data).items()]
        silent = {
            contestant.label: None
            for each, contestants in zip(self.data, self.contestants, strict=True)
            for contestant in contestants
            if each.data.task == "classification"
            and not hasattr(contestant.estimator, "predict_proba")
        }
        if silent:
            lines.append(
                f"No probabilities are given by {', '.join(silent)}: as a final model it would "
                "decide without losses."
            )
        return lines

    def table(self) -> pd.DataFrame:
        """Return the plan as a table, one row per run."""
        rows = []
        for run in self.runs:
            contestant = self.contestants[run.data][run.contestant]
            rows.append(
                {
                    "run": run.run_id,
                    "data": self.data[run.data].label,
                    "learner": contestant.label,
                    "setting": setting_text(contestant.setting),
                    "repeat": run.split.repeat,
                    "fold": run.split.fold,
                    "share": run.share,
                    "training_rows": len(training_rows(run)),
                    "validation_rows": len(run.split.test),
                    "seed": run.seed,
                }
            )
        table = pd.DataFrame(rows)
        if self._budget is not None:
            table["affordable"] = [place in self.affordable for place in range(len(table))]
        return table

    def _repr_html_(self) -> str:
        return plan_html(self)

    def __str__(self) -> str:
        return plan_text(self)

    @cached_property
    def affordable(self) -> frozenset[int]:
        """Positions of the runs that the budget pays for, as far as it counts runs."""
        paid = {self.runs[place].run_id for place in affordable(self.runs, self._budget)}
        return frozenset(place for place, run in enumerate(self.runs) if run.run_id in paid)

    @property
    def _budget(self) -> Budget | None:
        return budget(self.study.budget)

    @property
    def budget_text(self) -> str:
        """What the budget allows and leaves out, in words; empty without one."""
        if self._budget is None:
            return ""
        left_out = len(self.runs) - len(self.affordable)
        used = len({self.runs[place].run_id for place in self.affordable})
        most = self._budget.most_runs
        unused = left_out and most is not None and used < most
        stop = f" ({used} of {most} used, since it stops at whole splits)" if unused else ""
        words = f", which leaves out {left_out} of the runs" if left_out else ""
        return f". Budget: {self._budget.title}{stop}{words}"

    @property
    def order(self) -> str:
        """In which order runs are carried out, in words."""
        return "in random order" if self._budget is None else "split by split, by the budget"


def make_plan(study: Study, *, part: bool = False) -> Plan:
    """Draw the splits of a study and lay out its runs.

    Parameters
    ----------
    study
        What is to be found out.
    part
        Whether it is a part of a larger study, whose other data sets its designs may name.

    Examples
    --------
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
    >>> learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    >>> plan = make_plan(Study("flowers", [DataChoice("iris")], learners, resampling="5-fold"))
    >>> print(plan)
    flowers: 10 runs = 2 settings of learners x 1 data set (iris) x 5 splits, 5-fold, seed 0
    """
    data = tuple(planned_data(study, choice) for choice in study.data)
    _refuse_repeats("data", [each.label for each in data])
    _unsuited(study, data)
    for place, choice in enumerate(() if part else study.learners):
        labels = [each.label for each in data]
        key = f"learners[{place}].factors.{DATA_SET}"
        check_data_sets(learner_settings(study, choice), labels, key)
    contestants = tuple(
        tuple(c for choice in study.learners for c in _contestants(study, choice, each))
        for each in data
    )
    for each in contestants:
        check_tuning_budget(study, {c.label: c.estimator for c in each})
        _refuse_repeats("learners", [f"{c.label} {setting_text(c.setting)}".strip() for c in each])
    runs = [
        run
        for number, each in enumerate(contestants)
        for run in _planned_runs(study, data[number], number, each)
    ]
    order = generator(study.seed).permutation(len(runs))
    return Plan(study, data, contestants, tuple(runs[position] for position in order))


def _unsuited(study: Study, data: Sequence[PlannedData]) -> dict[str, str]:
    if not _has_losses(study):
        return {}
    classes = {
        each.label: np.unique(each.targets).tolist()
        for each in data
        if each.data.task == "classification"
    }
    return unsuited_losses(classes, study.losses, study.reject_cost)


def _has_losses(study: Study) -> bool:
    return study.losses is not None or study.reject_cost is not None


def training_rows(run: PlannedRun) -> np.ndarray:
    """Return the rows to learn from; a smaller share is a part of every larger one."""
    train = run.split.train
    if run.share >= 1.0:
        return train
    seed = [run.split.repeat, run.split.fold, len(train)]
    count = max(2, round(run.share * len(train)))
    return np.sort(np.random.default_rng(seed).permutation(train)[:count])


def setting_text(setting: dict[str, Any]) -> str:
    """Return the levels of the factors as words."""
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def _contestants(study: Study, choice: LearnerChoice, planned: PlannedData) -> list[Contestant]:
    scale = False
    if isinstance(choice.learner, str):
        found = entry(choice.learner)
        base, name, scale = found.make(), found.name, found.wants_scaling
    else:
        base, name = clone(choice.learner), type(choice.learner).__name__
    task = abilities(base).task
    if task != planned.data.task:
        raise DataError(
            f"Learner {name!r} is for {task}, but data set {planned.label!r} asks for "
            f"{planned.data.task}."
        )
    contestants = []
    for given in learner_settings(study, choice):
        asked = split_setting(given)
        if asked.data not in (None, planned.label):
            continue
        for how in _ways(study, base, asked):
            setting = {name: level for name, level in given.items() if name != DATA_SET}
            front = prepared(base, planned.inputs, scale=scale, how=how).front
            levels = scaled_parameters(asked.parameters, planned.open_inputs, front)
            estimator = _with_parameters(base, {**choice.parameters, **levels}, name)
            ready = prepared(estimator, planned.inputs, scale=scale, how=how)
            if len(study.preparations) > 1 and not _ignores_inputs(base):
                setting[PREPARATION] = how
            whole, tuned = with_tuning(study, choice, planned.data, estimator, ready.estimator)
            contestants.append(
                Contestant(
                    label=choice.label or name,
                    setting=setting,
                    estimator=whole,
                    preparation=ready.words,
                    description=describe(whole),
                    # A learner of the catalogue knows no names but those its parameters give it.
                    uses_names=not isinstance(choice.learner, str) or bool(choice.parameters),
                    tuned=tuned,
                    share=asked.share,
                )
            )
    return contestants


def _ways(study: Study, base: Any, asked: SplitSetting) -> Sequence[str]:
    """Return the preparations that a setting is run with."""
    if asked.preparation is not None:
        return (asked.preparation,)
    # A learner that ignores the inputs is the same however they are prepared.
    return ("as needed",) if _ignores_inputs(base) else study.preparations


def _ignores_inputs(base: Any) -> bool:
    return bool(get_tags(base).no_validation)


def _with_parameters(base: Any, parameters: dict[str, Any], name: str) -> Any:
    estimator = clone(base)
    accepted = estimator.get_params(deep=True)
    for parameter in parameters:
        if parameter not in accepted:
            raise DataError(
                f"Learner {name!r} has no parameter {parameter!r}; it has "
                f"{', '.join(sorted(accepted)) or 'none'}."
            )
    estimator.set_params(**parameters)
    if parameters:
        try:
            check_parameters(estimator)
        except ValueError as error:
            raise DataError(f"Learner {name!r}: {error}") from None
    return estimator


def _planned_runs(
    study: Study, planned: PlannedData, number: int, contestants: Sequence[Contestant]
) -> Iterator[PlannedRun]:
    """Yield every run on one data set; descriptions are hashed once, not once a run."""
    splits = [
        (split, digest_bytes(split.train.tobytes()), digest_bytes(split.test.tobytes()))
        for split in planned.splits
    ]
    for position, contestant in enumerate(contestants):
        learner = digest(contestant.description)
        seeds = [[study.seed, more] if more else [study.seed] for more in range(study.replications)]
        if not _has_chance(contestant.estimator):
            seeds = [[study.seed]] * study.replications
        for split, train, test in splits:
            shares = study.training_shares if contestant.share is None else (contestant.share,)
            for share, drawn in product(shares, seeds):
                run_id = digest([planned.key, learner, train, test, share, *drawn])
                seed = seed_of(run_id, study.seed)
                yield PlannedRun(run_id, number, position, split, share, seed)


def _has_chance(estimator: Any) -> bool:
    """Return whether the seed of a run can make a difference."""
    parameters = estimator.get_params(deep=True).items()
    return any(
        name.rpartition("__")[2] == "random_state" and value is None for name, value in parameters
    )


def _refuse_repeats(key: str, labels: Sequence[str]) -> None:
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        also = "; a mapping of labels to learners in Python" if key == "learners" else ""
        raise DataError(
            f"{key}: {repeated[0]!r} is there twice; give each a label of its own (label in a "
            f"study file and in choices of a study{also})."
        )
