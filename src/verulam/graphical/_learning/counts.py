"""Counts of states, class by class: sums over rows that can be added in any order."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from verulam.base import DataError, SumRecord, spread_rows
from verulam.graphical._learning.count_loops import count_scopes

#: Columns, by number, whose combinations of states are counted.
Scope = tuple[int, ...]


@dataclass(frozen=True)
class ClassCounts(SumRecord):
    """How often each combination of states occurs in each class.

    Attributes
    ----------
    weight
        Weight of the rows of each class.
    counts
        One row for each class, in which the tables of all scopes lie side by side.
    """

    weight: np.ndarray
    counts: np.ndarray

    def spread(self, positions: np.ndarray, n_classes: int) -> "ClassCounts":
        """Return the same counts among more classes, the new ones empty."""
        return ClassCounts(
            spread_rows(self.weight, positions, n_classes),
            spread_rows(self.counts, positions, n_classes),
        )


@dataclass(frozen=True)
class DistinctRows:
    """Which rows there are in each class, and how often: what a search needs of the data.

    Attributes
    ----------
    weight
        Weight of the rows of each class.
    rows
        State numbers of the distinct rows, the number of the class first.
    weights
        Weight of each distinct row.
    """

    weight: np.ndarray
    rows: np.ndarray
    weights: np.ndarray

    def __add__(self, other: "DistinctRows") -> "DistinctRows":
        return distinct_rows(
            self.weight + other.weight,
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights]),
        )

    def spread(self, positions: np.ndarray, n_classes: int) -> "DistinctRows":
        """Return the same rows with the classes renumbered among more."""
        rows = self.rows.copy()
        rows[:, 0] = positions[rows[:, 0]]
        return DistinctRows(spread_rows(self.weight, positions, n_classes), rows, self.weights)


def distinct_rows(weight: np.ndarray, rows: np.ndarray, weights: np.ndarray) -> DistinctRows:
    """Return equal rows as one, with the sum of their weights."""
    rows = np.ascontiguousarray(rows, dtype=np.int32)
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, places = np.unique(keys, return_index=True, return_inverse=True)
    return DistinctRows(weight, rows[first], np.bincount(places.ravel(), weights))


@dataclass(frozen=True, eq=False)
class Scopes:
    """Tables to be counted, with the place of each in a row of counts.

    Attributes
    ----------
    scopes
        Columns of each table.
    shapes
        Numbers of states, in the same order.
    """

    scopes: tuple[Scope, ...]
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def over(cls, scopes: Sequence[Scope], sizes: Sequence[int]) -> "Scopes":
        """Return the scopes of columns with these numbers of states."""
        return cls(tuple(scopes), tuple(tuple(sizes[j] for j in scope) for scope in scopes))

    def count(
        self, codes: np.ndarray, targets: np.ndarray | None, weights: np.ndarray | None, n: int
    ) -> ClassCounts:
        """Return the counts of some rows, of `n` classes; rows with gaps in a scope are skipped."""
        n_rows = len(codes)
        if targets is None:
            targets = np.zeros(n_rows, dtype=np.int64)
        if weights is None:
            weights = np.ones(n_rows)
        sizes = [prod(shape) for shape in self.shapes]
        counts = np.zeros((n, sum(sizes)))
        layout: list[tuple[int, int, int]] = []
        members: list[tuple[int, int]] = []
        place = 0
        for scope, shape, size in zip(self.scopes, self.shapes, sizes, strict=True):
            layout.append((len(members), len(scope), place))
            stride = size
            for column, n_states in zip(scope, shape, strict=True):
                stride //= n_states
                members.append((column, stride))
            place += size
        count_scopes(
            codes,
            np.asarray(targets, dtype=np.int64),
            weights,
            np.array(layout, dtype=np.int64).reshape(-1, 3),
            np.array(members, dtype=np.int64).reshape(-1, 2),
            counts,
        )
        return ClassCounts(np.bincount(targets, weights, minlength=n).astype(np.float64), counts)

    def tables(self, counts: np.ndarray) -> dict[Scope, np.ndarray]:
        """Return the tables by scope, with the classes along the first axis."""
        result, place = {}, 0
        for scope, shape in zip(self.scopes, self.shapes, strict=True):
            size = prod(shape)
            result[scope] = counts[:, place : place + size].reshape(len(counts), *shape)
            place += size
        return result


def frequencies(counts: np.ndarray, alpha: float) -> np.ndarray:
    """Return the distribution along the last axis, uniform where nothing was counted."""
    smoothed = counts + alpha
    totals = smoothed.sum(axis=-1, keepdims=True)
    uniform = np.full_like(smoothed, 1.0 / counts.shape[-1])
    return np.divide(smoothed, totals, out=uniform, where=totals > 0)


def check_alpha(alpha: Any) -> float:
    """Return a pseudo-count, or raise where it is none."""
    if not isinstance(alpha, int | float | np.number) or not 0 <= alpha < np.inf:
        raise DataError(f"alpha: expected a pseudo-count of at least 0, not {alpha!r}.")
    return float(alpha)
