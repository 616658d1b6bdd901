"""The store: one SQLite file with a row for every run, on disk as soon as the run has ended."""

import json
import os
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._identity import digest
from verulam.experiment._speed import STORE_MAPPED_BYTES
from verulam.experiment._store.environment import changed_packages, environment
from verulam.experiment._store.rows import (
    draw_rows,
    group_rows,
    nuisance_rows,
    outcome_row,
    pack,
    packed_predictions,
    planned_rows,
    same_array,
    split_rows,
    tuning_row,
    weight_rows,
)
from verulam.experiment._store.schema import (
    make_current,
    read_as_current,
    refuse_foreign,
)

if TYPE_CHECKING:
    from verulam.experiment._plan.records import Outcome, Plan

#: Seconds to wait for other processes that use the same store.
PATIENCE = 60.0
#: A disk with less room than this is full: the log of SQLite alone takes some of it.
LEAST_FREE_BYTES = 2**20

#: The quickest finished run of each contestant of which none has been tried twice.
_UNCHECKED = """
SELECT position, min(r.fit_seconds + r.predict_seconds) FROM planned p JOIN runs r USING (run)
WHERE p.study = ?1 AND r.status = 'done' AND NOT EXISTS (
    SELECT 1 FROM planned q JOIN checks USING (run)
    WHERE q.study = ?1 AND q.learner = p.learner AND q.setting = p.setting)
GROUP BY p.learner, p.setting ORDER BY position
"""
#: A planned run whose split or data are not there.
_BEREFT = """
SELECT 1 FROM (SELECT DISTINCT split, data FROM planned WHERE study = ?) p
WHERE p.split NOT IN (SELECT split FROM splits) OR p.data NOT IN (SELECT data FROM data) LIMIT 1
"""


class Store:
    """Results of studies in one file that several processes may use at once.

    Parameters
    ----------
    path
        The file; made where it does not exist, unless it is only read.
    read_only
        Whether to change nothing, so that files and folders that cannot be written will do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(pathlib.Path(folder.name) / "runs.sqlite") as store:
    ...     store.status_counts()
    {}
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder; a store is a file.")
        if read_only and not self.path.is_file():
            raise DataError(f"There is no store {self.path}.")
        address = self.path.absolute().as_uri() + (_reading(self.path) if read_only else "")
        with self._clear_errors():
            self._connection = sqlite3.connect(
                address, timeout=PATIENCE, isolation_level=None, uri=True
            )
            try:
                if read_only:
                    self._prepare_reading()
                else:
                    self._prepare()
            except BaseException:
                self._connection.close()
                raise

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Say in a sentence what SQLite, or pandas on its behalf, complains of."""
        try:
            yield
        except (sqlite3.DatabaseError, pd.errors.DatabaseError) as error:
            cause = error if isinstance(error, sqlite3.Error) else error.__cause__
            lacks = any(words in str(cause) for words in ("no such table", "no such column"))
            if isinstance(cause, sqlite3.OperationalError) and not lacks:
                full = " Free some space and run again: what was stored is kept."
                hint = full if "full" in str(cause) or self._has_no_room(cause) else ""
                raise DataError(f"The store {self.path} cannot be used: {cause}.{hint}") from error
            raise DataError(
                f"{self.path} is not a store of results, or it is damaged ({cause}). "
                f"`verulam recover {self.path} NEW` saves its intact rows in a new store."
            ) from error

    def _has_no_room(self, cause: sqlite3.OperationalError) -> bool:
        """Return whether an error that SQLite has no other words for comes from a full disk."""
        folder = self.path.absolute().parent
        return "disk I/O" in str(cause) and shutil.disk_usage(folder).free < LEAST_FREE_BYTES

    def _prepare_reading(self) -> None:
        read_as_current(self._connection, self.path)
        self._connection.execute("PRAGMA query_only = ON")
        self._connection.execute(f"PRAGMA mmap_size = {STORE_MAPPED_BYTES}")

    def _prepare(self) -> None:
        refuse_foreign(self._connection)
        self._write_ahead()
        self._connection.execute("PRAGMA synchronous = NORMAL")
        make_current(self._connection, self.path, self.transaction)

    def _write_ahead(self) -> None:
        """Switch the log on, waiting for other processes, which SQLite does not do here."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for changes that are all made, or none of them."""
        with self._clear_errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has given up by itself where the disk is full.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def add_plan(self, plan: "Plan") -> str:
        """Write down a plan, with its data and splits, and return the key of its study."""
        content = plan.study.to_json()
        # Data that changed under the same name make another study.
        study = digest([content, [planned.key for planned in plan.data]])
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO studies VALUES (?, ?, ?) "
                "ON CONFLICT (study) DO UPDATE SET added = excluded.added",
                (study, content, time.time()),
            )
            for planned in plan.data:
                classes: list[Any] = []
                if planned.task == "classification":
                    classes = np.unique(planned.targets).tolist()
                    codes = np.searchsorted(np.unique(planned.targets), planned.targets)
                targets = codes if classes else planned.targets.astype(np.float64)
                connection.execute(
                    "INSERT INTO data VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (data) DO UPDATE "
                    # A study with more seeds has more of what stands for rows.
                    "SET n_rows = excluded.n_rows, targets = excluded.targets "
                    "WHERE excluded.n_rows > data.n_rows",
                    (
                        planned.key,
                        planned.label,
                        planned.task,
                        planned.target_name,
                        len(planned.targets),
                        planned.inputs.shape[1],
                        json.dumps(classes, ensure_ascii=False),
                        pack(targets),
                    ),
                )
            connection.executemany(
                "INSERT OR IGNORE INTO splits VALUES (?, ?, ?, ?, ?, ?)", split_rows(plan)
            )
            connection.executemany("INSERT OR IGNORE INTO draws VALUES (?, ?)", draw_rows(plan))
            connection.executemany(
                "INSERT OR REPLACE INTO nuisance VALUES (?, ?, ?, ?)", nuisance_rows(plan)
            )
            connection.executemany(
                "INSERT OR IGNORE INTO row_weights VALUES (?, ?)", weight_rows(plan)
            )
            connection.executemany(
                "INSERT OR REPLACE INTO row_groups VALUES (?, ?, ?)", group_rows(plan, study)
            )
            # The same study may give other runs under another version of its learners.
            connection.execute("DELETE FROM planned WHERE study = ?", (study,))
            connection.executemany(
                "INSERT INTO planned VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                planned_rows(plan, study),
            )
            connection.execute("DELETE FROM notices WHERE study = ?", (study,))
            connection.executemany(
                "INSERT INTO notices VALUES (?, ?, ?)",
                [(study, place, text) for place, text in enumerate(plan.lasting_notices)],
            )
        return study

    def spare(self, study: str, positions: Sequence[int]) -> None:
        """Take runs from a plan that turned out not to be needed."""
        with self.transaction() as connection:
            connection.executemany(
                "DELETE FROM planned WHERE study = ? AND position = ?",
                [(study, position) for position in positions],
            )

    def settled(self, retry: Sequence[str] = ()) -> set[str]:
        """Return the runs that need not be carried out again.

        Parameters
        ----------
        retry
            Statuses that do not count as settled.
        """
        # All statuses in one pass: a query for each planned run would take far longer.
        rows = self.rows("SELECT run, status FROM runs")
        return {run for run, status in rows if status not in retry}

    def changed_packages(self, study: str) -> list[str]:
        """Return the packages that had another version when runs of a study were done."""
        query = (
            "SELECT DISTINCT e.content FROM planned p JOIN runs r ON r.run = p.run "
            "JOIN environments e ON e.environment = r.environment "
            "WHERE p.study = ? AND r.status = 'done'"
        )
        return changed_packages(content for (content,) in self.rows(query, (study,)))

    def add_outcomes(self, outcomes: Sequence["Outcome"]) -> None:
        """Write down what runs left behind; a run that is done is never overwritten."""
        if not outcomes:
            return
        here = environment()
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO environments VALUES (?, ?)", (here.key, here.content)
            )
            connection.executemany(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (run) DO UPDATE SET status = excluded.status, "
                "stage = excluded.stage, error = excluded.error, warning = excluded.warning, "
                "started = excluded.started, fit_seconds = excluded.fit_seconds, "
                "predict_seconds = excluded.predict_seconds, peak_memory = excluded.peak_memory, "
                "model_size = excluded.model_size, environment = excluded.environment, "
                "predicted = excluded.predicted, probabilities = excluded.probabilities, "
                "scores = excluded.scores WHERE runs.status != 'done'",
                [outcome_row(outcome, here.key) for outcome in outcomes],
            )
            connection.executemany(
                "INSERT OR IGNORE INTO tunings VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    tuning_row(outcome.run_id, outcome.tuning)
                    for outcome in outcomes
                    if outcome.tuning
                ],
            )

    def seconds(self, study: str) -> float:
        """Return the time that fitting and predicting took in the runs of a study."""
        query = (
            "SELECT total(coalesce(fit_seconds, 0) + coalesce(predict_seconds, 0)) FROM runs "
            "WHERE run IN (SELECT run FROM planned WHERE study = ?)"
        )
        return next(self.rows(query, (study,)))[0]

    def unchecked(self, study: str) -> list[int]:
        """Return positions of runs to try twice: one of each contestant that has none yet."""
        return [position for position, _ in self.rows(_UNCHECKED, (study,))]

    def add_check(self, outcome: "Outcome") -> None:
        """Write down whether a run that was tried twice gave the same predictions again."""
        query = "SELECT predicted, probabilities, scores FROM runs WHERE run = ?"
        before = next(self.rows(query, (outcome.run_id,)))
        difference = ""
        if outcome.status != "done":
            difference = f"{outcome.status} the second time"
        elif not all(map(same_array, before, packed_predictions(outcome))):
            difference = "other predictions the second time"
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO checks VALUES (?, ?)", (outcome.run_id, difference)
            )

    def add_rows(self, table: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Write rows of another store into a table, where they are new; return how many were."""
        before = self._connection.total_changes
        width = len(list(self.rows(f"PRAGMA table_info({table})")))
        marks = ", ".join("?" * width)
        fitting = (row for row in rows if len(row) == width)
        with self.transaction() as connection:
            connection.executemany(
                f"INSERT OR IGNORE INTO {table} VALUES ({marks})",  # noqa: S608 (names of our own)
                fitting,
            )
        return self._connection.total_changes - before

    def status_counts(self, study: str | None = None) -> dict[str, int]:
        """Return how many planned runs there are of each status; "left" for those not yet run."""
        planned = "SELECT run FROM planned WHERE study = coalesce(?, study)"
        # Read as they lie and put together here: looking each run up takes far longer.
        known = dict(self.rows("SELECT run, status FROM runs"))
        counts = Counter(known.get(run, "left") for (run,) in self.rows(planned, (study,)))
        return dict(sorted(counts.items()))

    def has_whole_plan(self, study: str) -> bool:
        """Return whether a study has planned runs, each with its split and its data."""
        planned = any(self.rows("SELECT 1 FROM planned WHERE study = ? LIMIT 1", (study,)))
        return planned and not any(self.rows(_BEREFT, (study,)))

    def has_table(self, name: str) -> bool:
        """Return whether the store has a table, which older ones may not."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
        return any(self.rows(query, (name,)))

    def last_description(self, name: str) -> dict[str, Any] | None:
        """Return what the study of that name was when it was last carried out; None for never."""
        descriptions = [json.loads(content) for content in self.studies()["content"]]
        return next((study for study in reversed(descriptions) if study["name"] == name), None)

    def studies(self) -> pd.DataFrame:
        """Return the studies in the store, the one that was carried out last at the end."""
        return self.read("SELECT study, content, added FROM studies ORDER BY added")

    def rows(self, query: str, parameters: Iterable[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows that a SQL query gives."""
        with self._clear_errors():
            # A reader that stops early must not close the cursor, maybe after the store.
            for row in self._connection.execute(query, tuple(parameters)):  # noqa: UP028 (said above)
                yield row

    def read(self, query: str, parameters: Iterable[Any] = ()) -> pd.DataFrame:
        """Return the answer to a SQL query as a table."""
        with self._clear_errors():
            return pd.read_sql_query(query, self._connection, params=tuple(parameters))


def _reading(path: Path) -> str:
    """Return how SQLite is asked to open a file that it must not change."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        # With mode=ro it would leave the files of its log behind.
        return "?mode=rw"
    log = path.with_name(f"{path.name}-wal")
    if os.access(path.parent, os.W_OK) or (log.is_file() and log.stat().st_size):
        return "?mode=ro"
    # Without a log beside it, whose index SQLite could not write here, the file is complete.
    return "?mode=ro&immutable=1"
