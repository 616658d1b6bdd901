"""What a store keeps, as rows: arrays become bytes that only numbers can come from."""

import json
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verulam.base import DataError
from verulam.experiment._identity import digest
from verulam.experiment._text import setting_text

if TYPE_CHECKING:
    from verulam.experiment._plan.records import Outcome, Plan
    from verulam.experiment._tuning.options import TuningRecord

#: What the line of an array that is followed by its checksum begins with.
_CHECKED = "+"
#: Bytes of a CRC-32.
_CHECKSUM_BYTES = 4
_NUMBER = re.compile(r"[<>|][biuf]\d{1,2}")
#: The CRC-32 of any content that is followed by its own, least byte first.
_CHECKSUM_OF_CHECKED = 0x2144DF1C


def pack(array: np.ndarray | None) -> bytes | None:
    """Return an array of numbers as bytes: type and shape in one line, content, checksum."""
    if array is None:
        return None
    header = " ".join([_CHECKED + array.dtype.newbyteorder("<").str, *map(str, array.shape)])
    # One byte order, so that a store can be read on any machine.
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    content = header.encode() + b"\n" + np.ascontiguousarray(little).tobytes()
    return content + zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "little")


def unpack(content: bytes) -> np.ndarray:
    """Return the array that was stored; only numbers can be, and nothing is ever executed.

    Arrays of stores that are older than checksums have none, and are read all the same.
    """
    try:
        end = content.index(b"\n")
        form = _form(content[:end])
        # Of the whole, the line before the content too, which says how to read it.
        if form.checked and zlib.crc32(content) != _CHECKSUM_OF_CHECKED:
            raise ValueError("its checksum does not fit")
        last = len(content) - _CHECKSUM_BYTES if form.checked else len(content)
        if last - end - 1 != form.n_bytes:
            raise ValueError(f"{last - end - 1} bytes instead of {form.n_bytes}")
        # A copy of the content, which then begins where numbers of its type may.
        return np.frombuffer(content[end + 1 : last], form.dtype).reshape(form.shape)
    except (ValueError, TypeError, AttributeError) as error:
        raise DataError(f"A stored array is damaged: {error}.") from error


def same_array(first: bytes | None, second: bytes | None) -> bool:
    """Return whether two stored arrays are the same, bit for bit, with checksums or without."""
    if first is None or second is None:
        return first is second
    one, other = unpack(first), unpack(second)
    return (one.dtype, one.shape) == (other.dtype, other.shape) and (
        one.tobytes() == other.tobytes()
    )


class _Form(NamedTuple):
    """What the first line of a stored array says."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    n_bytes: int
    checked: bool


@lru_cache(maxsize=4096)
def _form(header: bytes) -> _Form:
    """Return type and shape of a stored array; most arrays of a store have one of a few."""
    kind, *sizes = header.decode("ascii").split(" ")
    checked = kind.startswith(_CHECKED)
    # NumPy would take much else for a type, and even evaluate some of it.
    if not _NUMBER.fullmatch(kind.removeprefix(_CHECKED)):
        raise ValueError("not a type of number")
    dtype = np.dtype(kind.removeprefix(_CHECKED))
    shape = tuple(int(size) for size in sizes)
    if min(shape, default=0) < 0:
        raise ValueError("a negative size")
    return _Form(dtype, shape, prod(shape) * dtype.itemsize, checked)


def split_key(data: str, repeat: int, fold: int, fingerprint: str) -> str:
    """Return what identifies one split in a store."""
    return digest([data, repeat, fold, fingerprint])


def split_rows(plan: "Plan") -> Iterator[tuple[Any, ...]]:
    """Yield a row for each split of a plan."""
    for planned in plan.data:
        for split in planned.splits:
            yield (
                split_key(planned.key, split.repeat, split.fold, planned.fingerprint),
                planned.key,
                split.repeat,
                split.fold,
                len(split.train),
                pack(split.test),
            )


def draw_rows(plan: "Plan") -> Iterator[tuple[Any, ...]]:
    """Yield the training rows of each split that was drawn with replacement."""
    for planned in plan.data:
        for split in planned.splits:
            # How often a row was drawn matters to the estimates of the bootstrap alone.
            if len(np.unique(split.train)) < len(split.train):
                key = split_key(planned.key, split.repeat, split.fold, planned.fingerprint)
                yield key, pack(split.train)


def nuisance_rows(plan: "Plan") -> Iterator[tuple[Any, ...]]:
    """Yield a row for each nuisance factor that is a column of a data set."""
    for planned in plan.data:
        for column in planned.nuisance:
            yield planned.key, column.name, _plain_json(list(column.levels)), pack(column.codes)


def weight_rows(plan: "Plan") -> Iterator[tuple[Any, ...]]:
    """Yield a row for each data set whose rows weigh more or less than one another."""
    for planned in plan.data:
        if planned.weights is not None:
            yield planned.key, pack(planned.weights)


def group_rows(plan: "Plan", study: str) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each data set of which some rows are kept together."""
    for planned in plan.data:
        if planned.groups is not None:
            yield study, planned.key, pack(planned.groups.astype(np.int64))


def planned_rows(plan: "Plan", study: str) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each run of a plan."""
    for position, run in enumerate(plan.runs):
        planned, contestant = plan.data[run.data], plan.contestants[run.data][run.contestant]
        yield (
            study,
            position,
            run.run_id,
            planned.key,
            planned.label,
            run.data,
            contestant.label,
            setting_text(contestant.setting),
            _plain_json(contestant.setting),
            contestant.preparation,
            split_key(planned.key, run.split.repeat, run.split.fold, planned.fingerprint),
            run.share,
            run.seed,
        )


def outcome_row(outcome: "Outcome", environment: str) -> tuple[Any, ...]:
    """Return the row of a run that has ended."""
    numbers = (
        outcome.started,
        outcome.fit_seconds,
        outcome.predict_seconds,
        outcome.peak_memory,
        outcome.model_size,
    )
    return (
        outcome.run_id,
        outcome.status,
        outcome.stage,
        outcome.error,
        outcome.warning,
        *(None if np.isnan(number) else number for number in numbers),
        environment,
        *packed_predictions(outcome),
    )


def packed_predictions(outcome: "Outcome") -> tuple[bytes | None, ...]:
    """Return what a run predicted, as a store keeps it."""
    names = ("values", "probabilities", "scores")
    return tuple(pack(outcome.predictions.get(name)) for name in names)


def tuning_row(run_id: str, record: "TuningRecord") -> tuple[Any, ...]:
    """Return the row of what a tuned learner chose."""
    return (
        run_id,
        _plain_json(record.setting),
        record.score,
        record.measure,
        record.settings,
        record.fits,
        record.seconds,
        _plain_json(record.trials),
    )


def _plain_json(value: Any) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)
