"""The store: nothing lost, nothing overwritten, nothing executed, clear words when unusable."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.experiment.studies import FIRST_SCHEMA, small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, Results, Store, make_plan
from verulam.experiment._plan.records import Outcome
from verulam.experiment._store.rows import unpack


@pytest.fixture
def plan():
    return make_plan(small_study())


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as opened:
        yield opened


def done(run_id, value=1):
    predictions = {"values": np.array([value, 2], dtype=np.uint8)}
    return Outcome(run_id, "done", fit_seconds=0.1, predictions=predictions)


def test_plan_is_written_once(store, plan):
    assert store.add_plan(plan) == store.add_plan(make_plan(small_study()))
    assert store.status_counts() == {"left": 10}
    assert len(store.read("SELECT * FROM splits")) == 5
    assert len(store.studies()) == 1


def test_outcomes_come_back(store, plan):
    store.add_plan(plan)
    store.add_outcomes([done(plan.runs[0].run_id), Outcome(plan.runs[1].run_id, "failed")])
    assert store.status_counts() == {"done": 1, "failed": 1, "left": 8}
    row = store.read("SELECT * FROM runs WHERE status = 'done'").iloc[0]
    assert_array_equal(unpack(row["predicted"]), [1, 2])
    assert row["probabilities"] is None
    assert row["fit_seconds"] == 0.1
    assert row["predict_seconds"] is None


def test_done_is_never_overwritten_but_failure_is(store, plan):
    first, second = (run.run_id for run in plan.runs[:2])
    store.add_outcomes([done(first), Outcome(second, "killed")])
    store.add_outcomes([done(first, value=9), done(second)])
    stored = store.read("SELECT run, status, predicted FROM runs").set_index("run")
    assert_array_equal(unpack(stored.loc[first, "predicted"]), [1, 2])
    assert stored.loc[second, "status"] == "done"


def test_settled_runs(store, plan):
    store.add_outcomes([done("a"), Outcome("b", "failed"), Outcome("c", "killed")])
    assert store.settled() == {"a", "b", "c"}
    assert store.settled(["killed"]) == {"a", "b"}


def test_two_programs_may_write_at_once(store, tmp_path):
    with Store(tmp_path / "runs.sqlite") as other:
        for number in range(20):
            store.add_outcomes([done(f"a{number}")])
            other.add_outcomes([done(f"b{number}")])
    assert len(store.settled()) == 40


def test_newer_store_is_refused(tmp_path):
    path = tmp_path / "new.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE facts SET value = '99' WHERE name = 'schema'")
    connection.close()
    with pytest.raises(DataError, match=r"newer Verulam \(schema 99"):
        Store(path)


def test_unusable_files(tmp_path):
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(DataError, match="not a store of results, or it is damaged"):
        Store(damaged)
    with pytest.raises(DataError, match="is a folder"):
        Store(tmp_path)
    with pytest.raises(DataError, match="cannot be used"):
        Store(tmp_path / "nowhere" / "runs.sqlite")


@pytest.fixture
def first_store(plan, tmp_path):
    """Return the path of a store as the first schema had it."""
    path = tmp_path / "first.sqlite"
    with Store(path) as store:
        store.add_plan(plan)
        store.add_outcomes([done(plan.runs[0].run_id)])
    connection = sqlite3.connect(path)
    connection.executescript(FIRST_SCHEMA)
    connection.close()
    return path


def test_stores_of_the_first_schema_are_upgraded(first_store, plan):
    with Store(first_store) as store:
        assert store.status_counts() == {"done": 1, "left": 9}
        assert store.read("SELECT DISTINCT label FROM planned")["label"].tolist() == ["iris"]
        assert store.read("SELECT value FROM facts")["value"].tolist() == ["2"]
        store.add_plan(plan)
        assert store.status_counts() == {"done": 1, "left": 9}


def test_reading_changes_nothing(store, plan, tmp_path):
    store.add_plan(plan)
    with Store(tmp_path / "runs.sqlite", read_only=True) as reader:
        assert reader.status_counts() == {"left": 10}
        store.add_outcomes([done(plan.runs[0].run_id)])
        assert reader.status_counts() == {"done": 1, "left": 9}
        with pytest.raises(DataError, match="cannot be used: attempt to write a readonly"):
            reader.add_outcomes([done("a")])
    with pytest.raises(DataError, match="There is no store"):
        Store(tmp_path / "none.sqlite", read_only=True)
    assert not (tmp_path / "none.sqlite").exists()


def test_reading_leaves_nothing_behind(first_store):
    with Store(first_store, read_only=True) as reader:
        assert reader.status_counts() == {"done": 1, "left": 9}
    assert [path.name for path in first_store.parent.iterdir()] == [first_store.name]


def test_stores_in_folders_that_cannot_be_written(first_store, monkeypatch):
    """SQLite must not need files of its own beside the store; older schemas are read as well."""
    monkeypatch.setattr("os.access", lambda *given: False)
    before = first_store.read_bytes()
    with Store(first_store, read_only=True) as store:
        assert store.status_counts() == {"done": 1, "left": 9}
        assert store.read("SELECT DISTINCT label FROM planned")["label"].tolist() == ["iris"]
        assert [path.name for path in first_store.parent.iterdir()] == [first_store.name]
    assert first_store.read_bytes() == before


def test_log_beside_a_store_that_cannot_be_written_is_read(store, plan, tmp_path, monkeypatch):
    store.add_plan(plan)
    monkeypatch.setattr("os.access", lambda *given: False)
    with Store(tmp_path / "runs.sqlite", read_only=True) as reader:
        assert reader.status_counts() == {"left": 10}


def test_damaged_pages_are_told(plan, tmp_path):
    path = tmp_path / "damaged.sqlite"
    with Store(path) as store:
        store.add_plan(plan)
        store.add_outcomes([done(f"run {number}") for number in range(2000)])
    content = bytearray(path.read_bytes())
    table = content.find(b"run 1500")
    page = table - table % 4096
    content[page : page + 4096] = b"\x07" * 4096
    path.write_bytes(content)
    with Store(path) as store:
        for read in (store.settled, lambda: store.read("SELECT * FROM runs")):
            with pytest.raises(DataError, match=r"damaged \(database disk image is malformed"):
                read()
        with pytest.raises(DataError, match=r"damaged \(database disk image is malformed"):
            store.add_outcomes([done(f"run {number}") for number in range(3000)])


def test_full_disk_is_told_and_loses_nothing(store):
    store.add_outcomes([done("a")])
    store._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(DataError, match=r"is full\. Free some space and run again"):
        store.add_outcomes([done(f"run {number}") for number in range(3000)])
    assert store.settled() == {"a"}


def test_a_store_that_cannot_be_written_is_told(store, plan, tmp_path):
    """As on a disk that is mounted for reading: nothing is run that could not be kept."""
    store.close()
    path = tmp_path / "runs.sqlite"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    read_only = Store.__new__(Store)
    read_only.path, read_only._connection = path, connection
    with pytest.raises(DataError, match="cannot be used: attempt to write a readonly database"):
        read_only.add_plan(plan)
    connection.close()


WRITER = """
import sys
from verulam.experiment import DataChoice, LearnerChoice, Study, run

learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
study = Study(sys.argv[2], [DataChoice("iris")], learners, resampling="10-fold")
print(run(study, sys.argv[1], engine="serial", progress=False).status())
"""


def test_two_processes_may_use_one_store_at_once(tmp_path):
    """Two studies that have some runs in common: nothing is lost, nothing is there twice."""
    path = tmp_path / "shared.sqlite"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    told = [process.communicate(timeout=300) for process in processes]
    assert [output.strip() for output, _ in told] == ["{'done': 20}"] * 2, told
    with Store(path) as store:
        assert len(store.settled()) == 20
        assert len(store.studies()) == 2


def test_notices_of_a_plan_are_kept_and_old_stores_have_none(tmp_path):
    path = tmp_path / "runs.sqlite"
    table = pd.DataFrame({"x": range(20), "words": [f"a text {n}" for n in range(20)]})
    table["kind"] = ["a", "b"] * 10
    plan = make_plan(small_study(data=[DataChoice(table, target="kind")]))
    with Store(path) as store:
        key = store.add_plan(plan)
        store.add_plan(plan)
    assert any("x only names the rows" in notice for notice in plan.lasting_notices)
    assert Results(path, key).notices == plan.lasting_notices
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE notices")
    assert Results(path, key).notices == ()
    with Store(path) as store:
        store.add_plan(plan)
    assert Results(path, key).notices == plan.lasting_notices


def test_a_reader_that_stops_early_may_outlive_the_store(store, plan, tmp_path):
    store.add_plan(plan)
    with Store(store.path, read_only=True) as other:
        rows = other.rows("SELECT run FROM planned")
        next(rows)
    rows.close()  # complained that the database is closed
    assert list(rows) == []
