"""What a store says of itself where it is not as it was written, and what to do about it."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verulam.base import DataError
from verulam.experiment._store.rows import unpack
from verulam.experiment._text import counted

if TYPE_CHECKING:
    from verulam.experiment._store.store import Store

#: Tables with arrays: what they are of, for messages, and the column of their key.
_ARRAYS = {
    "data": ("the targets of the data set", "label", "targets"),
    "splits": ("the rows of split", "split", "test"),
    "draws": ("the drawn rows of split", "split", "train"),
    "nuisance": ("the nuisance factor", "name", "codes"),
    "row_weights": ("the weights of the rows of", "data", "weights"),
    "row_groups": ("the groups of the rows of", "data", "codes"),
}
_RUNS = "SELECT run, predicted, probabilities, scores FROM runs"
_RUN_WORDS = """
SELECT p.learner, p.setting, p.label, s.repeat, s.fold FROM planned p
JOIN splits s ON s.split = p.split WHERE p.run = ? LIMIT 1
"""
#: As many damaged runs are named in a message.
_MOST_NAMED = 3


def damaged_store(path: Path, words: str) -> DataError:
    """Return the error for a store that is damaged, with the remedy.

    Parameters
    ----------
    path
        The store.
    words
        What is wrong with it.
    """
    return DataError(f"{damage_words(path, words)}.")


def damage_words(path: Path, words: str) -> str:
    """Return what is wrong with a store, and what to do."""
    return (
        f"The store {path} is damaged ({words}). `verulam recover {path} NEW` saves its intact "
        "rows in a new store; running the study with it repeats only what was lost"
    )


def stored_arrays(store: "Store", run: str, contents: Sequence[bytes | None]) -> list[Any]:
    """Return the predictions of a run; None where there are none.

    Parameters
    ----------
    store
        Where they are kept, for the message.
    run
        The run.
    contents
        The arrays as stored.

    Raises
    ------
    DataError
        If an array is damaged; it names the run.
    """
    try:
        return [None if content is None else unpack(content) for content in contents]
    except DataError as error:
        raise damaged_store(store.path, _run_words(store, run)) from error


def stored_array(store: "Store", content: bytes, what: str) -> np.ndarray:
    """Return an array of a store.

    Parameters
    ----------
    store
        Where it is kept, for the message.
    content
        The array as stored.
    what
        What it is, for the message.
    """
    try:
        return unpack(content)
    except DataError as error:
        raise damaged_store(store.path, what) from error


def stored_json(path: Path, text: str, what: str) -> Any:
    """Return what a text of a store describes.

    Parameters
    ----------
    path
        The store, for the message.
    text
        The description, as JSON.
    what
        What it is, for the message.
    """
    try:
        return json.loads(text)
    except (ValueError, TypeError) as error:
        raise damaged_store(path, what) from error


def is_sound(row: Sequence[Any]) -> bool:
    """Return whether every array in a row of a store is as it was written.

    Parameters
    ----------
    row
        The row.
    """
    try:
        return all(unpack(value) is not None for value in row if isinstance(value, bytes))
    except DataError:
        return False


def damaged_arrays(store: "Store") -> str:
    """Return which arrays of a store are not as they were written, in words; empty for none.

    Parameters
    ----------
    store
        The store, all arrays of which are read.
    """
    runs = [run for run, *arrays in store.rows(_RUNS) if not is_sound(arrays)]
    words = [_run_words(store, run) for run in runs[:_MOST_NAMED]]
    if len(runs) > _MOST_NAMED:
        words.append(f"those of {counted(len(runs) - _MOST_NAMED, 'more run')}")
    return "; ".join([*words, *_other_arrays(store)])


def _other_arrays(store: "Store") -> Iterator[str]:
    for table, (words, key, column) in _ARRAYS.items():
        if store.has_table(table):
            query = f"SELECT {key}, {column} FROM {table}"  # noqa: S608 (names of our own)
            yield from (
                f"{words} {name}" for name, *array in store.rows(query) if not is_sound(array)
            )


def _run_words(store: "Store", run: str) -> str:
    """Return which predictions are meant: the run, its learner, data set and split."""
    words = f"the predictions of run {run}"
    for learner, setting, label, repeat, fold in store.rows(_RUN_WORDS, (run,)):
        contestant = f"{learner} ({setting})" if setting else learner
        words += f", {contestant} on {label}, repeat {repeat}, fold {fold}"
    return f"{words}, are not as they were written"
