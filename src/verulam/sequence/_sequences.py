"""Sequences as data: one convention for the package, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError


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

    def __getitem__(self, chosen: slice) -> "Sequences":
        """Return the sequences of a slice as views."""
        first, last, _ = chosen.indices(len(self))
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
        so is a list of words. Masked entries count as missing.
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


def _pieces(X: Any) -> Sequence[Any] | None:
    """Return the parts of a list of sequences; None where X is one array."""
    if isinstance(X, np.ndarray):
        nested = X.dtype == object and X.ndim == 1 and all(_is_sequence(part) for part in X)
        return list(X) if nested and len(X) else None
    if isinstance(X, list | tuple) and (len(X) == 0 or all(_is_sequence(part) for part in X)):
        return X
    return None


def _is_sequence(part: Any) -> bool:
    if isinstance(part, pd.DataFrame | pd.Series | list | tuple):
        return True
    return isinstance(part, np.ndarray) and part.ndim >= 1


def _rows(values: Any, name: str) -> np.ndarray:
    """Return one row per step."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{name} is a sparse matrix, but dense data is required: use X.toarray() to convert."
        )
    array = np.asarray(values)
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
    rows = (
        _rows(inputs, "inputs")
        if pieces is None
        else np.concatenate([_rows(piece, "inputs") for piece in pieces])
    )
    if len(rows) != starts[-1]:
        raise DataError(f"inputs has {len(rows)} steps and X has {starts[-1]}.")
    known = rows.astype(np.float64)
    if not np.isfinite(known).all():
        raise DataError("inputs has values that are missing or infinite; they must be known.")
    return known
