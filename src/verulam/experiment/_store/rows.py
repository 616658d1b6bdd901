"""What a store keeps, as rows: arrays become bytes that only numbers can come from."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from verulam.base import DataError
from verulam.experiment._identity import digest
from verulam.experiment._text import setting_text

if TYPE_CHECKING:
    from verulam.experiment._plan.records import Outcome, Plan
    from verulam.experiment._tuning.options import TuningRecord


def pack(array: np.ndarray | None) -> bytes | None:
    """Return an array of numbers as bytes: its type and shape in one line, then its content."""
    if array is None:
        return None
    header = " ".join([array.dtype.newbyteorder("<").str, *map(str, array.shape)])
    # One byte order, so that a store can be read on any machine.
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return header.encode() + b"\n" + np.ascontiguousarray(little).tobytes()


def unpack(content: bytes) -> np.ndarray:
    """Return the array that was stored; only numbers can be, and nothing is ever executed."""
    header, _, body = content.partition(b"\n")
    try:
        dtype, shape = _form(header)
        return np.frombuffer(body, dtype=dtype).reshape(shape)
    except (ValueError, TypeError) as error:
        raise DataError(f"A stored array is damaged: {error}.") from error


@lru_cache(maxsize=4096)
def _form(header: bytes) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return type and shape of a stored array; most arrays of a store have one of a few."""
    kind, *shape = header.decode("ascii").split(" ")
    dtype = np.dtype(kind)
    if dtype.kind not in "biuf":
        raise ValueError("not a type of number")
    return dtype, tuple(int(size) for size in shape)


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
