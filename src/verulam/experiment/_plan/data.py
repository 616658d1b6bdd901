"""Data sets of a study: what learners see of them, and the splits that all learners share."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.data import Dataset, column_hint
from verulam.experiment._identity import digest
from verulam.experiment._plan.nuisance_columns import NuisanceColumn, nuisance_columns
from verulam.experiment._resampling.resampling import (
    UsableResampling,
    fingerprint,
    lock_test_part,
    needs_every_class,
    resampling,
)
from verulam.experiment._resampling.rows import Split
from verulam.experiment._study.choices import DataChoice
from verulam.experiment._study.cost_matrix import decision_risk, losses_on
from verulam.experiment._study.data_source import open_choice
from verulam.experiment._study.preparation import usable_inputs
from verulam.experiment._study.study import Study, response_name
from verulam.experiment._study.target_checks import settled_target
from verulam.experiment._text import counted
from verulam.measures import as_measure


@dataclass(frozen=True, eq=False)
class PlannedData:
    """A data set of a study with its splits drawn.

    Attributes
    ----------
    label
        What it is called in the results.
    data
        The data set itself.
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
    """

    label: str
    data: Dataset
    inputs: pd.DataFrame
    targets: np.ndarray
    splits: tuple[Split, ...]
    locked: np.ndarray
    fingerprint: str
    notices: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    nuisance: tuple[NuisanceColumn, ...] = ()

    @cached_property
    def key(self) -> str:
        """What identifies the data in a store."""
        return digest([self.data.content_hash, self.data.target, list(self.inputs.columns)])

    @cached_property
    def open_inputs(self) -> pd.DataFrame:
        """The inputs of the rows that are not locked."""
        return self.inputs.drop(index=self.inputs.index[self.locked])

    @cached_property
    def numbers(self) -> np.ndarray | None:
        """The inputs as one array, which is quicker to cut; None where some are categories."""
        if any(dtype.kind not in "iuf" for dtype in self.inputs.dtypes):
            return None
        return np.ascontiguousarray(self.inputs.to_numpy(dtype=np.float64))


def planned_data(study: Study, choice: DataChoice) -> PlannedData:
    """Return a data set of a study with its splits drawn.

    Parameters
    ----------
    study
        What says how.
    choice
        The data set as the study has it.
    """
    opened = open_choice(choice)
    data, rare = settled_target(opened, choice.rare)
    label = choice.label or data.name
    _check_measures(study, data, label)
    asked = resampling(study.resampling)
    groups, column = _groups(data, choice.groups or asked.groups, label)
    nuisance = nuisance_columns(data, study.nuisance, label)
    kept_back = [*column, *(each.name for each in nuisance)]
    inputs, left_out = usable_inputs(data.inputs.drop(columns=kept_back, errors="ignore"))
    targets = _plain_targets(data)
    task = str(data.task)
    rows, locked = np.arange(len(targets)), np.empty(0, dtype=np.int64)
    if study.test_share:
        rows, locked = lock_test_part(
            targets, share=study.test_share, seed=study.seed, task=task, groups=groups
        )
    together = None if groups is None else groups[rows]
    usable = _usable(study, targets, rows, together, data, label)
    drawn = usable.draw(targets[rows], together, study.seed, task=task)
    splits = tuple(Split(s.repeat, s.fold, rows[s.train], rows[s.test]) for s in drawn)
    return PlannedData(
        label,
        data,
        inputs,
        targets,
        splits,
        locked,
        fingerprint(splits),
        notices=tuple(
            filter(
                None,
                (
                    _dropped(opened),
                    rare,
                    usable.notice,
                    *left_out,
                    _numbered(inputs),
                    _infinite(inputs),
                ),
            )
        ),
        groups=groups,
        nuisance=nuisance,
    )


def _usable(
    study: Study,
    targets: np.ndarray,
    rows: np.ndarray,
    groups: np.ndarray | None,
    data: Dataset,
    label: str,
) -> UsableResampling:
    """Return the resampling with the numbers that the rows allow, or name what leaves too few."""
    try:
        return resampling(study.resampling).usable(
            targets[rows],
            task=str(data.task),
            groups=groups,
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


def _numbered(inputs: pd.DataFrame) -> str:
    """Return a notice about inputs that only number the rows."""
    numbers = inputs.select_dtypes("number")
    names = [str(name) for name in numbers.columns if column_hint(numbers[name])]
    if not names:
        return ""
    verb, them = ("numbers", "it") if len(names) == 1 else ("number", "them")
    return (
        f"{', '.join(names)} only {verb} the rows, and learners use {them} all the same; keep "
        f"{them} from them by leave_out (--leave-out of a command)."
    )


def _check_measures(study: Study, data: Dataset, label: str) -> None:
    """Raise where a measure of the study is for another task than that of the data."""
    named = {response_name(each) for each in study.response}
    for found in map(as_measure, study.measures or ()):
        if found.task != data.task:
            key = "response" if found.name in named else "measures"
            fitting = "error, accuracy" if data.task == "classification" else "r2, max_error"
            raise DataError(
                f"{key}: {found.name!r} is for {found.task}, but data set {label!r} asks for "
                f"{data.task}, which has measures such as {fitting}."
            )
        if found.function is decision_risk:
            try:
                losses_on(list(data.target_values.unique()), study.losses, study.reject_cost)
            except DataError as error:
                raise DataError(f"measures: the risk on {label!r} has no value. {error}") from error


def _groups(data: Dataset, column: str | None, label: str) -> tuple[np.ndarray | None, list[str]]:
    """Return the code of each row's group, and the column that is no input for it."""
    if column is None:
        return None, []
    if column not in data.table or column == data.target:
        raise DataError(
            f"groups: data set {label!r} has no column {column!r} beside its target; it has "
            f"{', '.join(name for name in data.table.columns if name != data.target)}."
        )
    if data.table[column].isna().any():
        raise DataError(f"groups: column {column!r} of data set {label!r} has missing values.")
    return pd.factorize(data.table[column])[0], [column]


def _plain_targets(data: Dataset) -> np.ndarray:
    """Return numbers, or labels without their category type, which not every learner knows."""
    values = data.target_values
    if isinstance(values.dtype, pd.CategoricalDtype):
        return np.asarray(values.cat.categories)[values.cat.codes.to_numpy()]
    return values.to_numpy()
