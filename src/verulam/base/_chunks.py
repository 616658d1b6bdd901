"""Where the data of an additive learner comes from: memory, a stream of chunks, or a cluster.

Each source has one method, `total`, which applies a function to every chunk and adds up the
records. The order of additions is fixed by the data, never by timing, so that the number of
threads does not change the result.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, TypeVar

import numpy as np

from verulam.base._errors import DataError
from verulam.base._threads import iterate_in_threads, thread_map

#: Numbers per chunk: two megabytes of float64, so that a chunk stays in the cache while several
#: passes are made over it, and the call around them costs little.
CHUNK_NUMBERS = 2**18
#: Chunks that one thread sums before it hands over a record.
CHUNKS_PER_TASK = 4
#: A chunk has no fewer rows: with very many columns calls would outweigh the work.
LEAST_CHUNK_ROWS = 64
#: Below this many numbers, starting threads costs more than it saves.
THREADED_NUMBERS = 2**20
#: So many times as many where a function hardly does more than read its inputs.
LIGHT_FACTOR = 8

StatisticsT = TypeVar("StatisticsT")


@dataclass(frozen=True)
class Chunk:
    """Rows of a data set, checked and encoded.

    Attributes
    ----------
    inputs
        A float64 array, or any table with a length that can be sliced by rows.
    targets
        Class codes or numbers, or None where there are no targets.
    weights
        Weight of each row, or None where all rows count alike.
    classes
        Label behind each class code, or None where targets are numbers.
    """

    inputs: Any
    targets: np.ndarray | None = None
    weights: np.ndarray | None = None
    classes: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    def rows(self, start: int, stop: int) -> "Chunk":
        """Return the rows from `start` up to `stop` as views."""
        return Chunk(
            self.inputs[start:stop],
            None if self.targets is None else self.targets[start:stop],
            None if self.weights is None else self.weights[start:stop],
            self.classes,
        )


class Source(Protocol):
    """Data that can be summed over."""

    def total(self, function: Callable[[Chunk], StatisticsT]) -> StatisticsT:
        """Return the sum of `function` over the chunks."""


#: Checks one piece of data and encodes it: (inputs, targets, weights, is it the first?).
Prepare = Callable[[Any, Any, Any, bool], Chunk]


@dataclass(frozen=True)
class MemorySource:
    """Data in memory, cut into chunks that fit the cache."""

    data: Chunk
    threads: int = 0

    def total(self, function: Callable[[Chunk], StatisticsT]) -> StatisticsT:
        """Return the sum of `function` over the chunks, by threads where that pays."""
        n_rows = len(self.data)
        n_columns = max(1, self.data.inputs.shape[1])
        chunk_rows = _chunk_rows(n_columns)
        task_rows = chunk_rows * CHUNKS_PER_TASK

        def sum_task(start: int) -> StatisticsT:
            stop = min(start + task_rows, n_rows)
            pieces = range(start, stop, chunk_rows)
            return reduce(
                add,
                (function(self.data.rows(row, min(row + chunk_rows, stop))) for row in pieces),
            )

        starts = range(0, n_rows, task_rows)
        small = n_rows * n_columns < THREADED_NUMBERS
        return reduce(add, iterate_in_threads(sum_task, starts, 1 if small else self.threads))


@dataclass(frozen=True)
class StreamSource:
    """Chunks that arrive one after the other; only one is in memory at a time."""

    open: Callable[[], Iterable[Any]]
    prepare: Prepare

    def total(self, function: Callable[[Chunk], StatisticsT]) -> StatisticsT:
        """Return the sum of `function` over one run through the stream."""
        total: StatisticsT | None = None
        for number, item in enumerate(self.open()):
            inputs, targets, weights = _unpack(item, number)
            if len(inputs) == 0:
                continue
            try:
                chunk = self.prepare(inputs, targets, weights, total is None)
            except ValueError as error:
                raise DataError(f"Chunk {number} (counted from 0): {error}") from error
            part = MemorySource(chunk).total(function)
            total = part if total is None else add(total, part)
        if total is None:
            raise DataError("The stream gave no rows. A one-shot iterator can be read only once.")
        return total


@dataclass(frozen=True)
class DaskSource:
    """A Dask array or DataFrame: blocks are summed where they lie, the records as a tree."""

    inputs: Any
    targets: Any
    weights: Any
    prepare: Prepare

    def total(self, function: Callable[[Chunk], StatisticsT]) -> StatisticsT:
        """Return the sum of `function` over the blocks, computed by the active client."""
        import dask

        block_total = dask.delayed(_block_total)
        join = dask.delayed(_sum_records)
        blocks = _row_blocks(self.inputs)
        targets = _aligned(self.targets, self.inputs, len(blocks))
        weights = _aligned(self.weights, self.inputs, len(blocks))
        level = [
            block_total(function, self.prepare, *block)
            for block in zip(blocks, targets, weights, strict=True)
        ]
        # A tree of eight-fold sums: no worker has to hold all records, and the order does not
        # depend on which block is done first.
        while len(level) > 1:
            level = [join(level[start : start + 8]) for start in range(0, len(level), 8)]
        total = level[0].compute()
        if total is None:
            raise DataError("The Dask collection has no rows.")
        return total


def open_source(inputs: Any, targets: Any, weights: Any, prepare: Prepare) -> Source:
    """Return the source behind whatever was passed to `fit`.

    Parameters
    ----------
    inputs
        An array or table in memory; a Dask array or DataFrame; an iterator of chunks, or a
        callable that returns one. A chunk is a table, or a tuple of inputs, targets and,
        optionally, weights.
    targets, weights
        As for `fit`; None for streams, whose chunks carry their own.
    prepare
        Checks and encodes one piece.
    """
    if hasattr(inputs, "__dask_graph__"):
        return DaskSource(inputs, targets, weights, prepare)
    if isinstance(inputs, Iterator) or callable(inputs):
        if targets is not None or weights is not None:
            raise ValueError(
                "With a stream as X, pass y and sample_weight inside the chunks, "
                "as tuples (X, y) or (X, y, sample_weight)."
            )
        return StreamSource(_opener(inputs), prepare)
    return MemorySource(prepare(inputs, targets, weights, True))


def map_rows(
    function: Callable[[Any], np.ndarray],
    inputs: Any,
    shape: tuple[int, ...],
    dtype: Any = float,
    *,
    light: bool = False,
) -> np.ndarray:
    """Return ``function(inputs)``, computed in chunks that fit the cache, by threads where it pays.

    Parameters
    ----------
    function
        Maps rows of inputs to as many rows of results.
    inputs
        An array or table that can be sliced by rows.
    shape
        Shape of the whole result, whose first entry is the number of rows.
    dtype
        Type of the result.
    light
        Whether the function does hardly more than read its inputs, so that threads pay later.
    """
    n_rows, n_columns = len(inputs), max(1, inputs.shape[1])
    result = np.empty(shape, dtype=dtype)
    chunk_rows = _chunk_rows(n_columns)

    def fill(start: int) -> None:
        result[start : start + chunk_rows] = function(inputs[start : start + chunk_rows])

    starts = range(0, n_rows, chunk_rows)
    small = n_rows * n_columns < THREADED_NUMBERS * (LIGHT_FACTOR if light else 1)
    thread_map(fill, starts, 1 if small else 0)
    return result


def _chunk_rows(n_columns: int) -> int:
    return max(LEAST_CHUNK_ROWS, CHUNK_NUMBERS // n_columns)


def _opener(stream: Any) -> Callable[[], Iterable[Any]]:
    if isinstance(stream, Iterator):
        return lambda: stream
    return stream


def _unpack(item: Any, number: int) -> tuple[Any, Any, Any]:
    """Return inputs, targets and weights of one item of a stream."""
    if not isinstance(item, tuple):
        return item, None, None
    if not 1 <= len(item) <= 3:
        raise DataError(
            f"Chunk {number} (counted from 0) is a tuple of {len(item)}; "
            "expected (X,), (X, y) or (X, y, sample_weight)."
        )
    inputs, targets, weights = (*item, None, None)[:3]
    return inputs, targets, weights


def _row_blocks(collection: Any) -> list[Any]:
    """Return one delayed block per group of rows."""
    if hasattr(collection, "rechunk") and collection.ndim == 2:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def _aligned(part: Any, inputs: Any, n_blocks: int) -> list[Any]:
    """Return the blocks of targets or weights that belong to the blocks of the inputs."""
    if part is None:
        return [None] * n_blocks
    if not hasattr(part, "__dask_graph__"):
        raise ValueError("With a Dask collection as X, y and sample_weight must be Dask too.")
    if hasattr(part, "rechunk") and hasattr(inputs, "rechunk"):
        part = part.rechunk({0: inputs.chunks[0]})
    blocks = _row_blocks(part)
    if len(blocks) != n_blocks:
        raise ValueError(
            f"X has {n_blocks} partitions of rows and y or sample_weight has {len(blocks)}; "
            "partition them alike."
        )
    return blocks


def _block_total(
    function: Callable[[Chunk], Any], prepare: Prepare, inputs: Any, targets: Any, weights: Any
) -> Any:
    if len(inputs) == 0:
        return None
    return MemorySource(prepare(inputs, targets, weights, True), threads=1).total(function)


def _sum_records(records: list[Any]) -> Any:
    present = [record for record in records if record is not None]
    return reduce(add, present) if present else None
