"""Who has used the locked test part of a data set, written down before it is used."""

import getpass
import platform
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from verulam.base import DataError
from verulam.experiment._store.store import Store

_COLUMNS = (
    "number", "study", "data", "label", "locked", "contestant", "opened", "who", "forced",
    "response", "model",
)  # fmt: skip


class LockedPartUsedError(DataError):
    """The locked test part has been used before, and a second use was not forced.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, finalise, run
    >>> study = Study("flowers", [DataChoice("iris")], [LearnerChoice("nearest mean")],
    ...               resampling="3-fold", test_share=0.25)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(study, f"{folder}/runs.sqlite", engine="serial", progress=False)
    ...     print(finalise(results).card.response)
    ...     try:
    ...         finalise(results, path=f"{folder}/again.skops")
    ...     except LockedPartUsedError as error:
    ...         print(str(error)[:37])
    Error 0.07895 (95% interval 0.02721 to 0.208), locked test part
    The locked test part of iris was used
    """


@dataclass(frozen=True)
class Opening:
    """One use of a locked test part.

    Attributes
    ----------
    study
        Key of the study.
    data, label
        Hash of the data set, and its label.
    locked
        Hash of the locked rows, for the record: another seed locks other rows of the same data,
        but those were learnt from, and chosen by, before.
    contestant
        The learner that is judged.
    """

    study: str
    data: str
    label: str
    locked: str
    contestant: str


def open_locked_part(path: str | Path, opening: Opening, *, force: bool = False) -> int:
    """Write down that a locked part is used, and return the number of the entry.

    Parameters
    ----------
    path
        The store.
    opening
        What is used, for what.
    force
        Use it although it was used before.

    Raises
    ------
    LockedPartUsedError
        If a locked part of the same data was used before, whatever for and whichever rows it
        had, and `force` is not set.
    """
    with Store(path) as store, store.transaction() as connection:
        query = "SELECT * FROM finalisations WHERE data = ? ORDER BY number"
        used = store.read(query, (opening.data,))
        if len(used) and not force:
            raise LockedPartUsedError(
                f"The locked test part of {opening.label} was used on {use_words(used.iloc[0])}. A "
                "second look, also at rows that another seed locks, would make its figure too "
                "good; force it if you must."
            )
        values = (
            opening.study,
            opening.data,
            opening.label,
            opening.locked,
            opening.contestant,
            time.time(),
            _who(),
            int(len(used) > 0),
        )
        cursor = connection.execute(
            "INSERT INTO finalisations (study, data, label, locked, contestant, opened, who, "
            "forced) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )
        return int(cursor.lastrowid or 0)


def close_locked_part(path: str | Path, number: int, *, response: str, model: str) -> None:
    """Write down what came out.

    Parameters
    ----------
    path
        The store.
    number
        What `open_locked_part` gave.
    response
        The figure, in words.
    model
        Seal of the model file.
    """
    with Store(path) as store, store.transaction() as connection:
        connection.execute(
            "UPDATE finalisations SET response = ?, model = ? WHERE number = ?",
            (response, model, number),
        )


def finalisations(path: str | Path, study: str | None = None) -> pd.DataFrame:
    """Return every use of a locked test part that a store knows of, the oldest first.

    Parameters
    ----------
    path
        The store.
    study
        Key of a study; None takes all.
    """
    with Store(path, read_only=True) as store:
        if not store.has_table("finalisations"):  # older than the log, or never written to since
            return pd.DataFrame(columns=list(_COLUMNS))
        query = "SELECT * FROM finalisations WHERE study = coalesce(?, study) ORDER BY number"
        return store.read(query, (study,))


def earlier_uses(path: str | Path, opening: Opening, number: int) -> list[str]:
    """Return the uses of locked parts of the same data before one of them, in words.

    Parameters
    ----------
    path
        The store.
    opening
        The use.
    number
        What `open_locked_part` gave for it.
    """
    used = finalisations(path)
    same = used[(used["data"] == opening.data) & (used["number"] < number)]
    return [use_words(row) for _, row in same.iterrows()]


def use_words(row: "pd.Series") -> str:
    """Return when a locked part was used, by whom and for what.

    Parameters
    ----------
    row
        A row of `finalisations`.
    """
    when = datetime.fromtimestamp(row["opened"], UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{when} by {row['who']} for {row['contestant']}"


def _who() -> str:
    try:
        user = getpass.getuser()
    # Where a container has no name for its user.
    except (KeyError, OSError, ImportError):
        user = "unknown"
    return f"{user}@{platform.node()}"
