"""Data sets of a study: inputs, nuisance factors, and the splits that all learners share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from verulam.base import DataError, UnknownNameError, unknown_name
from verulam.data import Dataset
from verulam.experiment._identity import digest
from verulam.experiment._resampling.kinds import ORDERED
from verulam.experiment._resampling.resampling import (
    UsableResampling,
    needs_every_class,
    resampling,
)
from verulam.experiment._resampling.rows import Split, fingerprint, lock_test_part
from verulam.experiment._study.choices import DataChoice
from verulam.experiment._study.cost_matrix import decision_risk, losses_on
from verulam.experiment._study.data_source import open_choice
from verulam.experiment._study.preparation import usable_inputs
from verulam.experiment._study.study import Study, response_name
from verulam.experiment._study.target_checks import settled_target
from verulam.experiment._text import counted
from verulam.measures import as_measure

#: Numbers with more distinct values than this are cut into quarters.
MOST_NUMBERS = 6
#: Of more categories than this, the rarer ones become one level.
MOST_CATEGORIES = 10


@dataclass(frozen=True, eq=False)
class NuisanceColumn:
    """A nuisance factor of a data set.

    Attributes
    ----------
    name
        The column.
    levels
        Names of its levels.
    codes
        For each row the position of its level.
    """

    name: str
    levels: tuple[str, ...]
    codes: np.ndarray


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
    if groups is not None and asked.kind in ORDERED:
        raise DataError(
            f"groups: {column[0]!r} of {label!r} cannot be kept together, since {asked.kind} "
            "resampling goes by time; leave out the groups, or take k-fold."
        )
    times = _times(data, asked.order, label) if asked.kind in ORDERED else None
    nuisance = nuisance_columns(data, study.nuisance, label)
    no_inputs = [*column, *(factor.name for factor in nuisance)]
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
    drawn = usable.draw(targets[rows], together, study.seed, task=task, times=times)
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
                    _infinite(inputs),
                    _as_written(opened),
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


def _times(data: Dataset, column: str | None, label: str) -> np.ndarray:
    """Return when each row was; without a column, their order tells."""
    if column is None:
        return np.arange(data.n_rows)
    if column not in data.table or column == data.target:
        raise DataError(
            f"resampling.order: data set {label!r} has no column {column!r} beside its target; it "
            f"has {', '.join(name for name in data.table.columns if name != data.target)}."
        )
    values = data.table[column]
    if values.isna().any():
        raise DataError(f"resampling.order: column {column!r} of {label!r} has missing values.")
    if not (pd.api.types.is_numeric_dtype(values) or values.dtype.kind == "M"):
        raise DataError(
            f"resampling.order: column {column!r} of {label!r} holds neither dates nor numbers."
        )
    return values.to_numpy()


def _plain_targets(data: Dataset) -> np.ndarray:
    """Return numbers, or labels without their category type, which not every learner knows."""
    values = data.target_values
    if isinstance(values.dtype, pd.CategoricalDtype):
        return np.asarray(values.cat.categories)[values.cat.codes.to_numpy()]
    return values.to_numpy()


def nuisance_columns(data: Dataset, names: Sequence[str], label: str) -> tuple[NuisanceColumn, ...]:
    """Return those nuisance factors that are columns of a data set.

    Parameters
    ----------
    data
        The data set.
    names
        Nuisance factors of the study; those that are no columns are words for the record.
    label
        What the data set is called, for messages.
    """
    if data.target in names:
        raise DataError(f"nuisance: {data.target!r} is the target of data set {label!r}.")
    return tuple(as_levels(data.table[name]) for name in names if name in data.table)


def as_levels(column: pd.Series) -> NuisanceColumn:
    """Return a column as a factor: categories as they are, many numbers in quarters.

    Parameters
    ----------
    column
        Any column.

    Examples
    --------
    >>> import pandas as pd
    >>> age = as_levels(pd.Series([1.5, 2.5, None, 9.0, 3.0, 4.0, 7.0, 8.0], name="age"))
    >>> age.levels
    ('up to 2.75', '2.75 to 4', '4 to 7.5', 'above 7.5', 'missing')
    >>> age.codes.tolist()
    [0, 0, 4, 3, 1, 1, 2, 3]
    """
    name = str(column.name)
    missing = column.isna().to_numpy()
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if numeric and column.nunique() > MOST_NUMBERS:
        levels, codes = _quarters(column.to_numpy(dtype=np.float64, na_value=np.nan))
    else:
        words = column.astype(object).map(str)
        counts = words[~missing].value_counts(sort=True)
        frequent = list(counts.index[:MOST_CATEGORIES])
        levels = sorted(frequent) if not numeric else sorted(frequent, key=float)
        others = len(counts) > MOST_CATEGORIES
        places = {level: place for place, level in enumerate(levels)}
        codes = words.map(lambda word: places.get(word, len(levels))).to_numpy(dtype=np.int64)
        levels = [*levels, "others"] if others else levels
    if missing.any():
        codes = np.where(missing, len(levels), codes)
        levels = [*levels, "missing"]
    return NuisanceColumn(name, tuple(levels), codes.astype(np.int32))


def _quarters(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    # Ties may make quartiles equal: then there are fewer levels than four.
    edges = np.unique(np.nanquantile(values, [0.25, 0.5, 0.75]))
    codes = np.searchsorted(edges, values, side="left")
    words = [f"{edge:.4g}" for edge in edges]
    between = [f"{low} to {high}" for low, high in pairwise(words)]
    return [f"up to {words[0]}", *between, f"above {words[-1]}"], codes
