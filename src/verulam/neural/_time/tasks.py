"""Sequences with targets: one for a whole sequence, or one for each of its steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import (
    NONE,
    DataError,
    array_of_numbers,
    checked_arguments,
    column_or_1d,
    validate_data,
)
from verulam.sequence import Sequences, read_sequences

_PIECES = (list, tuple, np.ndarray, pd.Series, pd.DataFrame)


def read_series(learner: Any, X: Any, lengths: Any, *, reset: bool) -> Sequences:
    """Return sequences of numbers; a row of a table is a sequence of single numbers.

    Parameters
    ----------
    learner
        The learner that reads them, which remembers the columns at its first reading.
    X, lengths
        As `verulam.sequence.read_sequences` takes them.
    reset
        Whether this is the first reading.
    """
    if lengths is None and isinstance(X, np.ndarray) and X.ndim == 3:
        X = list(X)
    if isinstance(X, pd.Series) and X.dtype == object:
        X = X.tolist()
    nested = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object)
    is_table = lengths is None and (not nested or getattr(X, "ndim", 1) == 2)
    if is_table and (reset or learner._from_table):
        table = validate_data(learner, X, reset=reset, dtype=[np.float64, np.float32])
        learner._from_table = True
        n_rows, n_columns = table.shape
        return Sequences(table.reshape(-1, 1), np.arange(n_rows + 1) * n_columns, form="table")
    if is_table:
        X = _rows_as_sequences(learner, X)
    sequences = read_sequences(X, lengths)
    values = _numbers(sequences)
    _check_names(learner, X, reset=reset)
    if reset:
        learner._from_table = False
        learner.n_features_in_ = values.shape[1]
    elif values.shape[1] != (1 if learner._from_table else learner.n_features_in_):
        expected = 1 if learner._from_table else learner.n_features_in_
        raise DataError(
            f"X has {values.shape[1]} columns, but {type(learner).__name__} has learned from "
            f"{expected}."
        )
    return sequences.with_values(values)


def _rows_as_sequences(learner: Any, X: Any) -> Any:
    """Return the rows of a table as sequences, and one sequence of single numbers in a list.

    After a fit to lists, sequences may have any length, and so may rows.
    """
    n_dimensions = np.ndim(X)
    if n_dimensions == 2 and learner.n_features_in_ > 1:
        raise DataError(
            "X: the rows of one array are read as sequences of single numbers, and "
            f"{type(learner).__name__} has learned from sequences of {learner.n_features_in_} "
            "columns; put one sequence into a list, [X], or give lengths."
        )
    return [np.asarray(row) for row in np.asarray(X)] if n_dimensions == 2 else [X]


def _check_names(learner: Any, X: Any, *, reset: bool) -> None:
    """Raise where tables have other columns than the first one, or than those at `fit`."""
    is_one = isinstance(X, pd.DataFrame) or (isinstance(X, np.ndarray) and X.ndim > 1)
    parts = [X] if is_one else X
    tables = {
        place: part.columns.tolist()
        for place, part in enumerate(parts)
        if isinstance(part, pd.DataFrame) and all(isinstance(name, str) for name in part)
    }
    if reset:
        vars(learner).pop("feature_names_in_", None)
        if tables:
            learner.feature_names_in_ = np.array(next(iter(tables.values())), dtype=object)
    elif learner._from_table:
        # The columns of a table are steps, and their names say nothing of sequences.
        return
    expected = list(getattr(learner, "feature_names_in_", ()))
    for place, names in tables.items():
        if expected and names != expected:
            raise DataError(
                f"X: sequence {place} (counted from 0) has the columns {', '.join(names)}; "
                f"{', '.join(expected)} are expected, in this order."
            )


def _numbers(sequences: Sequences) -> NDArray[np.floating]:
    values = np.asarray(sequences.values)
    if values.dtype not in (np.float64, np.float32):
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "X: sequences of numbers are needed, one row or one value per step; encode symbols "
                "first (OneHotEncoder)."
            ) from None
    finite = np.isfinite(values)
    if not finite.all():
        step, column = (int(place) for place in np.argwhere(~finite)[0])
        place = int(np.searchsorted(sequences.starts, step, side="right")) - 1
        raise DataError(
            f"X: sequence {place} (counted from 0) has a missing or infinite value at its step "
            f"{step - int(sequences.starts[place])}, column {column}."
        )
    return np.ascontiguousarray(values)


@dataclass(frozen=True, eq=False)
class StepTargets:
    """Targets of sequences, one row for each step of all of them.

    Attributes
    ----------
    values
        Targets by step; that of a whole sequence stands at all its steps.
    by_step
        Whether each step has a target of its own.
    mask : ndarray of bool
        Steps whose target counts: the last ones where a sequence has one target.
    """

    values: NDArray[Any]
    by_step: bool
    mask: NDArray[np.bool_]

    def taken(self, values: NDArray[Any]) -> "StepTargets":
        """Return the same targets coded otherwise."""
        return replace(self, values=values)


def read_targets(y: Any, sequences: Sequences, mask: Any = None) -> StepTargets:
    """Return targets by step: y has one for each sequence, or one for each step.

    Parameters
    ----------
    y
        A list with the targets of each sequence's steps; or one target for each sequence; or,
        where sequences came as one array with lengths, one for each step.
    sequences
        What they belong to.
    mask
        In the form of targets by step, which of them count; None for all.
    """
    lengths, n_steps = sequences.lengths, sequences.n_steps
    pieces = _pieces(y)
    if pieces is not None:
        _check_lengths("y", pieces, lengths)
        values, by_step = np.concatenate([np.asarray(piece) for piece in pieces]), True
    else:
        values = np.asarray(y)
        if values.ndim == 0 or len(values) not in (len(lengths), n_steps):
            raise DataError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{len(lengths)} sequences of {n_steps} steps in all, y has "
                f"{values.size if values.ndim == 0 else len(values)} targets. Give one target for "
                "each sequence, or a list with those of each sequence's steps."
            )
        by_step = len(values) != len(lengths)
        if not by_step:
            values = np.repeat(values, lengths, axis=0)
    counts = np.ones(n_steps, dtype=bool)
    if not by_step:
        counts[:] = False
        counts[sequences.starts[1:] - 1] = True
    if mask is not None:
        counts &= _read_mask(mask, sequences, by_step)
    return StepTargets(values, by_step, counts)


def _pieces(y: Any) -> list[Any] | None:
    """Return the parts of a list of targets by step; None where y is one array."""
    is_list = isinstance(y, list | tuple) or (isinstance(y, np.ndarray) and y.dtype == object)
    if not is_list or len(y) == 0 or not all(isinstance(part, _PIECES) for part in y):
        return None
    return [np.asarray(part) for part in y]


def _check_lengths(name: str, pieces: Sequence[Any], lengths: NDArray[np.integer]) -> None:
    if len(pieces) != len(lengths):
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {len(lengths)} "
            f"sequences and {name} has {len(pieces)}."
        )
    for place, (piece, length) in enumerate(zip(pieces, lengths, strict=True)):
        if len(piece) != length:
            raise DataError(
                f"Sequence {place} (counted from 0) has {length} steps, but its {name} has "
                f"{len(piece)}."
            )


def _read_mask(mask: Any, sequences: Sequences, by_step: bool) -> NDArray[np.bool_]:
    if not by_step:
        raise DataError("mask belongs to targets by step; y has one target for each sequence.")
    pieces = _pieces(mask)
    if pieces is not None:
        _check_lengths("mask", pieces, sequences.lengths)
    flat = np.asarray(mask) if pieces is None else np.concatenate(pieces)
    if flat.shape != (sequences.n_steps,) or flat.dtype.kind not in "biu":
        raise DataError(
            f"mask: expected {sequences.n_steps} times True or False, one for each step; got the "
            f"shape {flat.shape} of type {flat.dtype}."
        )
    if not flat.any():
        raise DataError("mask: no step is left; at least one must count.")
    return flat.astype(bool)


def step_numbers(targets: StepTargets) -> StepTargets:
    """Return targets as numbers, known wherever they count, and zero elsewhere.

    One column of whole sequences' targets becomes one number each, with scikit-learn's warning.
    """
    try:
        numbers = targets.values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError("y: numbers are needed, of whole sequences or of their steps.") from None
    if numbers.ndim > 2:
        raise DataError(f"y: expected numbers or rows of numbers, got {numbers.ndim} dimensions.")
    if not targets.by_step and numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = column_or_1d(numbers, warn=True)
    if not np.isfinite(numbers[targets.mask]).all():
        raise DataError("Input y contains NaN or infinity at steps that count; mask says which do.")
    if targets.by_step:
        # What does not count may be missing, but no number times zero is.
        numbers[~targets.mask] = 0.0
    return targets.taken(numbers)


@checked_arguments(lengths=array_of_numbers(words="whole numbers", finite=False, empty=True) | NONE)
def next_steps(X: Any, horizon: int = 1, *, lengths: Any = None) -> tuple[list[Any], list[Any]]:
    """Return inputs and targets for reproduction: each step, and what comes after it.

    Parameters
    ----------
    X
        A list of sequences, or one array.
    horizon
        Steps between an input and its target.
    lengths
        Steps of each sequence, where X is one array.

    Returns
    -------
    inputs, targets : list of ndarray
        For each sequence all steps but the last ones, and all but the first ones.

    Notes
    -----
    Alpaydin 11.12: having seen part of a sequence, the system should predict the rest. A network
    that is fitted to these pairs goes on by itself: see `RecurrentRegressor.forecast`.

    Examples
    --------
    >>> from verulam.neural import next_steps
    >>> inputs, targets = next_steps([[1.0, 2.0, 3.0]])
    >>> inputs[0].ravel().tolist(), targets[0].ravel().tolist()
    ([1.0, 2.0], [2.0, 3.0])
    """
    if not isinstance(horizon, int | np.integer) or isinstance(horizon, bool) or horizon < 1:
        raise DataError(f"horizon must be a whole number of at least 1; got {horizon!r}.")
    sequences = read_sequences(X, lengths)
    short = np.flatnonzero(sequences.lengths <= horizon)
    if len(short):
        raise DataError(
            f"Sequence {short[0]} (counted from 0) has {sequences.lengths[short[0]]} steps; more "
            f"than {horizon} are needed."
        )
    pieces = [sequences.values[begin:end] for begin, end in pairwise(sequences.starts)]
    return [piece[:-horizon] for piece in pieces], [piece[horizon:] for piece in pieces]
