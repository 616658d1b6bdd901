"""Sequences as data: one convention for the package, checked once, and windows over their steps."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, DataWarning


@dataclass(frozen=True)
class Sequences:
    """Sequences, one after the other.

    Attributes
    ----------
    values
        What was observed, one row per step; an array, or whatever an emission encodes it as.
    starts : ndarray of shape (n_sequences + 1,)
        Where each sequence begins, and at the end the number of steps.
    inputs : ndarray of shape (n_steps, n_inputs) or None
        What is known at each step beside the observations.
    form
        How the data was given, which is how answers are given back: "list" for a list of
        arrays, "rows" for one array.
    """

    values: Any
    starts: np.ndarray
    inputs: np.ndarray | None = None
    form: str = "rows"

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_steps(self) -> int:
        """Steps of all sequences together."""
        return int(self.starts[-1] - self.starts[0])

    @property
    def lengths(self) -> np.ndarray:
        """Steps of each sequence."""
        return np.diff(self.starts)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sequences, and 1: passes over them share out the work by themselves."""
        return len(self), 1

    def __getitem__(self, places: slice) -> "Sequences":
        """Return the sequences of a slice as views."""
        first, last, _ = places.indices(len(self))
        begin, end = int(self.starts[first]), int(self.starts[max(first, last)])
        return Sequences(
            self.values[begin:end],
            self.starts[first : max(first, last) + 1] - begin,
            None if self.inputs is None else self.inputs[begin:end],
            self.form,
        )

    def groups(self, n_steps: int) -> "list[Sequences]":
        """Return the sequences in groups of about `n_steps` steps; a longer one is its own."""
        groups, first = [], 0
        while first < len(self):
            last = int(np.searchsorted(self.starts, self.starts[first] + n_steps, side="right")) - 1
            last = max(last, first + 1)
            groups.append(self[first:last])
            first = last
        return groups

    def with_values(self, values: Any) -> "Sequences":
        """Return the same sequences with their values encoded otherwise."""
        return replace(self, values=values)

    def give_back(self, rows: np.ndarray) -> Any:
        """Return one answer per step in the form that the data was given in."""
        if self.form == "rows":
            return rows
        return [rows[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]


def read_sequences(X: Any, lengths: Any = None, inputs: Any = None) -> Sequences:
    """Return sequences from a list of arrays, or from one array with the lengths.

    Parameters
    ----------
    X
        A list of arrays (each of one row per step, or of one value per step), or one array that
        holds the sequences one after the other. Without lengths, one array is one sequence, and
        so is a list of words, each a label: ``[list(word) for word in words]`` makes sequences
        of letters. Masked entries count as missing.
    lengths
        Steps of each sequence in one array.
    inputs
        In the same form, what is known at each step beside the observations.

    Examples
    --------
    >>> from verulam.sequence import read_sequences
    >>> read_sequences([[1.0, 2.0], [3.0]]).starts
    array([0, 2, 3])
    >>> read_sequences([1.0, 2.0, 3.0], lengths=[1, 2]).starts
    array([0, 1, 3])
    """
    pieces = _pieces(X)
    if pieces is None:
        values = _rows(X, "X")
        starts = _starts(lengths, len(values))
        form = "rows"
    else:
        if lengths is not None:
            raise DataError(
                "lengths belongs to one array of all steps; X is a list of sequences already."
            )
        if len(pieces) == 0:
            raise DataError("X has no sequences: the list is empty.")
        parts = [_rows(piece, f"Sequence {place}") for place, piece in enumerate(pieces)]
        _check_widths(parts)
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
        values = np.concatenate(parts)
        form = "list"
    empty = np.flatnonzero(np.diff(starts) == 0)
    if len(empty):
        raise DataError(
            f"Sequence {empty[0]} (counted from 0) has no steps; 0 sample(s) while a minimum of 1 "
            "is required. Leave empty sequences out."
        )
    known = None if inputs is None else _read_inputs(inputs, starts)
    return Sequences(values, starts.astype(np.int64), known, form)


def warn_of_words(sequences: Sequences, stacklevel: int) -> None:
    """Warn where words that may have been meant as sequences of letters are read as labels.

    Labels such as "rainy" and "sunny" come again in a sequence that says how they follow one
    another. Where each of them occurs once there is nothing to learn, whatever was meant.

    Parameters
    ----------
    sequences
        What to learn from, before it is encoded.
    stacklevel
        How far above this function the caller's line is.
    """
    column = sequences.values[:, 0]
    is_single = sequences.form == "rows" and len(sequences) == 1 and sequences.values.shape[1] == 1
    if not is_single or len(column) < 2 or column.dtype.kind not in "UO":
        return
    if pd.Series(column).is_unique and all(isinstance(s, str) and len(s) > 1 for s in column):
        warnings.warn(
            f"X is read as one sequence of {len(column)} labels, each of which occurs once. For "
            "sequences of letters, split the words: [list(word) for word in X].",
            DataWarning,
            stacklevel=stacklevel,
        )


def input_windows(X: Any, before: int = 1, after: int = 0, *, lengths: Any = None) -> Any:
    r"""Return at each step the values around it, side by side, as inputs of a model.

    Parameters
    ----------
    X
        A list of sequences, or one array: what is known at each step.
    before
        Steps that come before.
    after
        Steps that come after.
    lengths
        Steps of each sequence, where X is one array.

    Notes
    -----
    The input :math:`x_t` of an input-output model may be any vector that is known at :math:`t`,
    such as a window of a signal, :math:`(s_{t-\tau}, \ldots, s_t)` (Alpaydin 15.9). Windows stay
    within their sequence: beyond its ends, the first and last steps are repeated.

    Examples
    --------
    An echo that comes one step later is a line over windows:

    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, RegressionEmission, input_windows
    >>> signal = np.random.default_rng(0).normal(size=50)
    >>> echo = 3.0 * np.concatenate([signal[:1], signal[:-1]]) + signal
    >>> model = HiddenMarkovModel(1, RegressionEmission(variance_floor=1e-3))
    >>> model.fit(echo, inputs=input_windows(signal)).emission_.weights[0, 1:, 0].round(6)
    array([3., 1.])
    """
    check_count(before, "before", 0)
    check_count(after, "after", 0)
    sequences = read_sequences(X, lengths)
    known = sequences.with_values(input_rows(sequences.values, "X"))
    return sequences.give_back(windows(known, before, after))


def windows(sequences: Sequences, before: int, after: int) -> np.ndarray:
    """Return at each step the observations from `before` steps ago to `after` steps ahead.

    Parameters
    ----------
    sequences
        The sequences; beyond their ends, the first and last steps are repeated.
    before, after
        Steps to each side.
    """
    steps = np.arange(sequences.n_steps)
    first = np.repeat(sequences.starts[:-1], sequences.lengths)
    last = np.repeat(sequences.starts[1:] - 1, sequences.lengths)
    return np.hstack(
        [
            sequences.values[np.clip(steps + offset, first, last)]
            for offset in range(-before, after + 1)
        ]
    )


def joined(parts: list[Any]) -> Any:
    """Return the values of several sequences, one after the other."""
    if not parts:
        raise DataError("There are no sequences to learn from.")
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else parts[0].joined(parts)


def named_table(X: Any, values: np.ndarray) -> Any:
    """Return the rows with the names of their columns, where X has names; else without.

    Parameters
    ----------
    X
        Sequences as they were given: a table, a list of tables, or anything without names.
    values
        The rows of all of them.
    """
    if isinstance(X, pd.DataFrame):
        return X
    pieces = _pieces(X) or []
    tables = [piece for piece in pieces if isinstance(piece, pd.DataFrame)]
    if not tables or len(tables) < len(pieces):
        return values
    first = tables[0].columns
    for place, table in enumerate(tables):
        if not first.equals(table.columns):
            raise DataError(
                f"Sequence {place} (counted from 0) has the columns {list(table.columns)} and "
                f"sequence 0 has {list(first)}; all need the same, in the same order."
            )
    return pd.DataFrame(values, columns=first)


def _pieces(X: Any) -> Sequence[Any] | None:
    """Return the parts of a list of sequences; None where X is one array."""
    if isinstance(X, np.ndarray):
        nested = X.dtype == object and X.ndim == 1 and all(_is_sequence(part) for part in X)
        return list(X) if nested and len(X) else None
    if isinstance(X, list | tuple) and (len(X) == 0 or all(_is_sequence(part) for part in X)):
        return X
    return None


def is_list_of_arrays(X: Any) -> bool:
    """Return whether X is a list, or an array of objects, of arrays, tables or columns."""
    is_list = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object)
    kinds = np.ndarray | pd.DataFrame | pd.Series
    return is_list and len(X) > 0 and all(isinstance(part, kinds) for part in X)


def _is_sequence(part: Any) -> bool:
    if isinstance(part, pd.DataFrame | pd.Series | list | tuple):
        return True
    return isinstance(part, np.ndarray) and part.ndim >= 1


def _rows(values: Any, name: str) -> np.ndarray:
    """Return one row per step."""
    if isinstance(values, np.ma.MaskedArray):
        is_number = values.dtype.kind in "biuf"
        values = np.ma.filled(values.astype(np.float64 if is_number else object), np.nan)
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{name} is a sparse matrix, but dense data is required: use X.toarray() to convert."
        )
    array = np.asarray(values)
    if array.ndim == 0:
        split = " Split a word into letters by list(word)." if isinstance(values, str) else ""
        raise DataError(
            f"{name} is {type(values).__name__}, not a sequence; expected one row or one value per "
            f"step, or a list of sequences.{split}"
        )
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(
            f"{name} has {array.ndim} dimensions; expected one row per step, or one value per "
            "step. Reshape your data, or pass a list of sequences."
        )
    return array


def _check_widths(parts: list[np.ndarray]) -> None:
    widths = [part.shape[1] for part in parts]
    for place, width in enumerate(widths):
        if width != widths[0] and len(parts[place]):
            raise DataError(
                f"Sequence {place} (counted from 0) has {width} columns and sequence 0 has "
                f"{widths[0]}; all need the same."
            )


def _starts(lengths: Any, n_steps: int) -> np.ndarray:
    if lengths is None:
        return np.array([0, n_steps])
    counts = np.asarray(lengths)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise DataError("lengths needs one whole number per sequence, none of them negative.")
    if counts.sum() != n_steps:
        raise DataError(f"lengths add up to {counts.sum()}, but X has {n_steps} steps.")
    return np.concatenate([[0], np.cumsum(counts)])


def _read_inputs(inputs: Any, starts: np.ndarray) -> np.ndarray:
    pieces = _pieces(inputs)
    if pieces is None:
        known = input_rows(inputs, "inputs")
    else:
        parts = [input_rows(piece, "inputs") for piece in pieces]
        _check_widths(parts)
        lengths, input_lengths = np.diff(starts), np.array([len(part) for part in parts])
        if len(input_lengths) == len(lengths) and (input_lengths != lengths).any():
            place = int(np.argmax(input_lengths != lengths))
            raise DataError(
                f"Sequence {place} (counted from 0) has {lengths[place]} steps, but its inputs "
                f"have {input_lengths[place]}."
            )
        known = np.concatenate(parts)
    if len(known) != starts[-1]:
        raise DataError(f"inputs has {len(known)} steps and X has {starts[-1]}.")
    return known


def input_rows(inputs: Any, name: str) -> np.ndarray:
    """Return what is known at each step as numbers, one row per step, none of them missing.

    Parameters
    ----------
    inputs
        One row per step, or one value per step.
    name
        What to call it in errors.
    """
    try:
        known = _rows(inputs, name).astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{name} needs numbers, one row or one value per step.") from None
    if not np.isfinite(known).all():
        raise DataError(f"{name} has values that are missing or infinite; they must be known.")
    return known


def check_count(value: Any, name: str, least: int = 1) -> int:
    """Return a whole number that is large enough, or raise."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise DataError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def check_input_width(known: np.ndarray, n_inputs: int) -> None:
    """Raise where there are other inputs than the model has learned from."""
    if known.shape[1] != n_inputs:
        raise DataError(
            f"inputs has {known.shape[1]} columns, but the model has learned from {n_inputs}."
        )
