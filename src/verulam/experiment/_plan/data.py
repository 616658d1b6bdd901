"""Data sets of a study: inputs, nuisance factors, and the splits that all learners share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, UnknownNameError, unknown_name
from verulam.data import Dataset
from verulam.experiment._identity import digest, digest_bytes
from verulam.experiment._plan.row_columns import (
    NuisanceColumn,
    nuisance_columns,
    output_targets,
    outputs_notice,
    row_groups,
    row_times,
    row_weights,
    weights_notice,
)
from verulam.experiment._plan.task_inputs import task_inputs
from verulam.experiment._preparation.preparation import usable_inputs
from verulam.experiment._resampling.kinds import ORDERED
from verulam.experiment._resampling.resampling import (
    UsableResampling,
    needs_every_class,
    resampling,
)
from verulam.experiment._resampling.rows import Split, fingerprint, lock_test_part
from verulam.experiment._study.choices import DataChoice
from verulam.experiment._study.cost_matrix import decision_risk, losses_on
from verulam.experiment._study.data_source import open_choice, settled_target
from verulam.experiment._study.study import Study, response_name
from verulam.experiment._tasks.environments import EnvironmentChoice
from verulam.experiment._text import counted
from verulam.measures import as_measure, measures


@dataclass(frozen=True, eq=False)
class PlannedData:
    """A data set of a study with its splits drawn.

    Attributes
    ----------
    label
        What it is called in the results.
    data
        The data set itself.
    task
        What contestants are to do, as measures call it.
    target_name
        What is predicted, in words; empty for nothing.
    key
        What identifies the data in a store.
    inputs, targets
        What learners see: usable columns, plain labels or numbers.
    splits
        Shared by all learners; row numbers of the data set.
    locked
        Rows that no run may touch.
    fingerprint
        Hash of the splits.
    notices
        What had to be done otherwise than asked for.
    groups
        The group of each row, which stays on one side of every split; None where there are none.
    nuisance
        Nuisance factors that are columns of the data set, and no inputs.
    weights
        What each row weighs in learning; None where all weigh the same.
    outputs
        Names of the columns of the targets, where there are several.
    """

    label: str
    data: Any
    task: str
    target_name: str
    key: str
    inputs: pd.DataFrame
    targets: np.ndarray
    splits: tuple[Split, ...]
    locked: np.ndarray
    fingerprint: str
    notices: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    nuisance: tuple[NuisanceColumn, ...] = ()
    weights: np.ndarray | None = None
    outputs: tuple[str, ...] = ()

    @cached_property
    def classes(self) -> np.ndarray:
        """The labels that the targets have, in order."""
        return np.unique(self.targets)

    @cached_property
    def open_inputs(self) -> pd.DataFrame:
        """The inputs of the rows that are not locked."""
        return self.inputs.drop(index=self.inputs.index[self.locked])

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The inputs as one array, which is quicker to cut; None where some are categories."""
        if not _all_numbers(self.inputs):
            return None
        return np.ascontiguousarray(self.inputs.to_numpy(dtype=np.float64))


def _all_numbers(inputs: pd.DataFrame) -> bool:
    return all(dtype.kind in "iuf" for dtype in inputs.dtypes)


def planned_data(study: Study, choice: DataChoice | EnvironmentChoice) -> PlannedData:
    """Return a data set of a study with its splits drawn.

    Parameters
    ----------
    study
        What says how.
    choice
        The data set, or the environment, as the study has it.
    """
    if study.task is not None or isinstance(choice, EnvironmentChoice):
        return _planned_task(study, choice)
    opened = open_choice(choice)
    data, rare = settled_target(opened, choice.rare)
    label = choice.label or data.name
    _check_measures(study, data, label)
    asked = resampling(study.resampling)
    groups, column = row_groups(data, choice.groups or asked.groups, label)
    if groups is not None and asked.kind in ORDERED:
        raise DataError(
            f"groups: {column[0]!r} of {label!r} cannot be kept together, since {asked.kind} "
            "resampling goes by time; leave out the groups, or take k-fold."
        )
    times = row_times(data, asked.order, label) if asked.kind in ORDERED else None
    nuisance = nuisance_columns(data, study.nuisance, label)
    weights = row_weights(data, choice.weights, label)
    outputs = output_targets(data, choice.outputs, study)
    judges = [as_measure(measure) for measure in study.measures or ()]
    column_notices = outputs_notice(choice.outputs), weights_notice(choice.weights, judges)
    no_inputs = [*column, *(factor.name for factor in nuisance)]
    no_inputs += [choice.weights] if choice.weights else []
    for name in choice.keep:
        if name not in data.table.columns:
            raise UnknownNameError(f"keep: {unknown_name('column', name, data.table.columns)}")
    inputs, left_out = usable_inputs(
        data.inputs.drop(columns=no_inputs, errors="ignore"), choice.keep
    )
    targets = _plain_targets(data)
    task = str(data.task)
    rows, locked = np.arange(len(targets)), np.empty(0, dtype=np.int64)
    if study.test_share:
        rows, locked = lock_test_part(
            targets,
            share=study.test_share,
            seed=study.seed,
            task=task,
            groups=groups,
            times=times,
        )
    together = None if groups is None else groups[rows]
    times = None if times is None else times[rows]
    # Splits are drawn among the open rows, and numbered as the rows of the whole data set.
    usable = _usable(study, targets, rows, together, times, data, label)
    splits = tuple(
        Split(split.repeat, split.fold, rows[split.train], rows[split.test])
        for split in usable.draw(study.seed)
    )
    return PlannedData(
        label=label,
        data=data,
        task=task,
        target_name=", ".join(choice.outputs) or data.target or "",
        key=_data_key(data, inputs, weights, choice.outputs),
        inputs=inputs,
        # Splits go by the first of several outputs, since numbers are dealt without regard to it.
        targets=targets if outputs is None else outputs,
        splits=splits,
        locked=locked,
        fingerprint=fingerprint(splits),
        notices=tuple(
            filter(
                None,
                (
                    _dropped(opened),
                    rare,
                    usable.notice,
                    *left_out,
                    _infinite(inputs),
                    _as_written(opened),
                    *column_notices,
                ),
            )
        ),
        groups=groups,
        nuisance=nuisance,
        weights=weights,
        outputs=choice.outputs,
    )


def _data_key(
    data: Dataset, inputs: pd.DataFrame, weights: np.ndarray | None, outputs: Sequence[str]
) -> str:
    content = [data.content_hash, data.target, list(inputs.columns)]
    if weights is not None:
        content.append(digest_bytes(weights.tobytes()))
    if outputs:
        content.append(list(outputs))
    return digest(content)


def _planned_task(study: Study, choice: DataChoice | EnvironmentChoice) -> PlannedData:
    """Return the data of a study that predicts nothing, with its splits drawn."""
    contents = task_inputs(study, choice)
    label, task = choice.label or contents.data.name, str(study.task)
    _check_task_measures(study, task, label)
    # Nothing is predicted: all rows are of one kind.
    targets = np.zeros(len(contents.inputs))
    rows, locked = np.arange(len(targets)), np.empty(0, dtype=np.int64)
    if study.test_share:
        rows, locked = lock_test_part(
            targets,
            share=study.test_share,
            seed=study.seed,
            task="regression",
            groups=contents.groups,
        )
    together = None if contents.groups is None else contents.groups[rows]
    usable = resampling(study.resampling).usable(targets[rows], task="regression", groups=together)
    splits = tuple(
        Split(split.repeat, split.fold, rows[split.train], rows[split.test])
        for split in usable.draw(study.seed)
    )
    data, inputs = contents.data, contents.inputs
    content = [data.content_hash, data.target, list(inputs.columns), task]
    # The same columns may be numbers for one study and categories for another.
    content += [] if _all_numbers(inputs) else ["categories"]
    content += ["with gaps"] if inputs.isna().to_numpy().any() else []
    return PlannedData(
        label=label,
        data=data,
        task=task,
        target_name=data.target or "",
        key=digest(content),
        inputs=inputs,
        targets=targets,
        splits=splits,
        locked=locked,
        fingerprint=fingerprint(splits),
        notices=tuple(filter(None, (*contents.notices, usable.notice))),
        groups=contents.groups,
    )


def _measures_of(task: str) -> list[str]:
    """Return the names of the measures of a task."""
    table = measures()
    return [str(name) for name in table.index[table["task"] == task]]


def _check_task_measures(study: Study, task: str, label: str) -> None:
    """Raise where a measure of the study is for another task."""
    for measure in map(as_measure, study.measures or ()):
        if measure.task != task:
            raise DataError(
                f"measures: {measure.name!r} is for {measure.task}, but {label!r} asks for {task}, "
                f"which has the measures {', '.join(_measures_of(task))}."
            )


def _usable(
    study: Study,
    targets: np.ndarray,
    rows: np.ndarray,
    groups: np.ndarray | None,
    times: np.ndarray | None,
    data: Dataset,
    label: str,
) -> UsableResampling:
    """Return the resampling with the numbers that the rows allow, or name what leaves too few."""
    try:
        return resampling(study.resampling).usable(
            targets[rows],
            task=str(data.task),
            groups=groups,
            times=times,
            every_class=needs_every_class(map(as_measure, study.measures or ())),
        )
    except DataError as error:
        if not study.test_share:
            raise
        left = f"test_share: {study.test_share:g} leaves {len(rows)} of {len(targets)} rows of"
        raise DataError(f"{left} {label!r} to learn from. {error}") from error


def _dropped(data: Dataset) -> str:
    if not data.dropped_rows:
        return ""
    rows = counted(data.dropped_rows, "row")
    return (
        f"{rows} without a value of {data.target!r} left out, of {data.n_rows + data.dropped_rows}."
    )


def _infinite(inputs: pd.DataFrame) -> str:
    """Return a notice about inputs that are infinite in places, which few learners can use."""
    numbers = inputs.select_dtypes("number")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    names = numbers.columns[np.isinf(values).any(axis=0)]
    if not len(names):
        return ""
    return (
        f"Infinite values in {', '.join(map(str, names))}: most learners fail on them; replace "
        "them, or make them missing."
    )


def _as_written(data: Dataset) -> str:
    """Return a notice about columns of which the file says more than the values do."""
    used = [name for name in data.hints if data.roles.get(name) in {"input", "target"}]
    listing = "; ".join(f"{name} ({data.hints[name]})" for name in used[:5])
    more = f"; and {len(used) - 5} more" if len(used) > 5 else ""
    return f"Columns that deserve a look: {listing}{more}." if used else ""


def _check_measures(study: Study, data: Dataset, label: str) -> None:
    """Raise where a measure of the study is for another task than that of the data."""
    named = {response_name(part) for part in study.response}
    for measure in map(as_measure, study.measures or ()):
        if measure.task != data.task:
            key = "response" if measure.name in named else "measures"
            fitting = "error, accuracy" if data.task == "classification" else "r2, max_error"
            raise DataError(
                f"{key}: {measure.name!r} is for {measure.task}, but data set {label!r} asks for "
                f"{data.task}, which has measures such as {fitting}."
            )
        if measure.function is decision_risk:
            try:
                losses_on(list(data.target_values.unique()), study.losses, study.reject_cost)
            except DataError as error:
                raise DataError(f"measures: the risk on {label!r} has no value. {error}") from error


def _plain_targets(data: Dataset) -> np.ndarray:
    """Return numbers, or labels without their category type, which not every learner knows."""
    values = data.target_values
    if isinstance(values.dtype, pd.CategoricalDtype):
        return np.asarray(values.cat.categories)[values.cat.codes.to_numpy()]
    return values.to_numpy()
