"""Saving what is intact of a damaged store."""

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import LearnerChoice, Results, Store, analyse, recover, run
from verulam.experiment._store.recovery import Recovery
from verulam.experiment._store.schema import TABLES

STUDY = {
    "learners": [LearnerChoice("majority class"), LearnerChoice("naive bayes")],
    "resampling": "20x10-fold",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a store of 400 runs, all of them in one file."""
    path = tmp_path_factory.mktemp("whole") / "whole.sqlite"
    results = run(small_study(**STUDY), path, engine="serial", progress=False)
    assert results.status() == {"done": 400}
    with contextlib.closing(sqlite3.connect(path)) as connection:
        is_busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert not is_busy
    return path


def pages(path):
    """Return the pages of a file of SQLite; the one that it numbers 1 is the first."""
    content = path.read_bytes()
    size = int.from_bytes(content[16:18], "big")
    return [content[start : start + size] for start in range(0, len(content), size)]


def root_page(path, table):
    """Return the number of the page at which the tree of a table begins."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return connection.execute(query, (table,)).fetchone()[0]


def leaf_pages(path, table):
    """Return the numbers of the pages at the ends of the tree of a table without row ids.

    Where the rows lie depends on how well their predictions compress and in which order they
    came, so the tree is walked: https://sqlite.org/fileformat2.html, 1.6.
    """
    content = pages(path)
    leaves, waiting = [], [root_page(path, table)]
    while waiting:
        number = waiting.pop()
        page = content[number - 1]
        if page[0] == 10:
            leaves.append(number)
            continue
        assert page[0] == 2
        cells = range(12, 12 + 2 * int.from_bytes(page[3:5], "big"), 2)
        pointers = [8, *(int.from_bytes(page[cell : cell + 2], "big") for cell in cells)]
        waiting += [int.from_bytes(page[place : place + 4], "big") for place in pointers]
    return leaves


def copy_with_damage(path, target, number):
    """Copy a store and overwrite a page; no page of SQLite begins with a 7."""
    content = pages(path)
    content[number - 1] = b"\x07" * len(content[0])
    target.write_bytes(b"".join(content))


def test_all_runs_but_those_of_the_damaged_page_are_saved(whole, tmp_path):
    leaves = leaf_pages(whole, "runs")
    number = leaves[len(leaves) // 2]
    with Store(whole) as store:
        before = store.read("SELECT * FROM runs ORDER BY run")
    is_lost = before["run"].map(lambda run_id: run_id.encode() in pages(whole)[number - 1])
    assert 0 < is_lost.sum() < 50
    damaged = tmp_path / "damaged.sqlite"
    copy_with_damage(whole, damaged, number)
    with pytest.raises(DataError, match=r"damaged .* `verulam recover .* NEW`"):
        Results(damaged).runs()
    assert "is damaged" in Results(damaged).damage()
    saved = recover(damaged, tmp_path / "saved.sqlite")
    assert "runs" in saved.damaged
    assert "some of these could not be read: runs" in str(saved)
    assert saved.rows["runs"] == 400 - is_lost.sum()
    assert str(saved).startswith(f"{saved.rows['runs']} runs saved in ")
    with Store(saved.path) as store:
        after = store.read("SELECT * FROM runs ORDER BY run")
    assert after.equals(before[~is_lost].reset_index(drop=True))
    done = run(small_study(**STUDY), saved.path, engine="serial", progress=False)
    assert done.status() == {"done": 400}


def test_a_sound_store_is_saved_whole(whole, tmp_path):
    saved = recover(whole, tmp_path / "saved.sqlite")
    assert saved.damaged == ()
    assert Results(saved.path).scores().equals(Results(whole).scores())


def test_damaged_predictions_are_no_results(whole, tmp_path):
    copy = tmp_path / "copy.sqlite"
    shutil.copy(whole, copy)
    with sqlite3.connect(copy) as connection:
        connection.execute(
            "UPDATE runs SET predicted = x'00' WHERE run = (SELECT min(run) FROM runs)"
        )
    connection.close()
    saved = recover(copy, tmp_path / "saved.sqlite")
    assert (saved.rows["runs"], saved.damaged) == (399, ("runs",))


def test_a_lost_plan_is_written_anew_and_nothing_refitted(whole, tmp_path):
    damaged = tmp_path / "damaged.sqlite"
    copy_with_damage(whole, damaged, root_page(whole, "planned"))
    saved = recover(damaged, tmp_path / "saved.sqlite")
    assert saved.damaged == ("planned",)
    with pytest.raises(DataError, match=r"plan of the study .* was lost.* none .* is refitted"):
        analyse(saved.path)
    with Store(saved.path) as store:
        kept = store.read("SELECT run, started FROM runs ORDER BY run")
    assert len(kept) == saved.rows["runs"] == 400
    results = run(small_study(**STUDY), saved.path, engine="serial", progress=False)
    assert results.status() == {"done": 400}
    with Store(saved.path) as store:
        after = store.read("SELECT run, started FROM runs ORDER BY run")
    assert after[after["run"].isin(kept["run"])].reset_index(drop=True).equals(kept)


@pytest.mark.parametrize("table", ["planned", "splits", "data", "studies"])
def test_any_part_of_the_plan_may_be_lost(whole, tmp_path, table):
    copy = tmp_path / "copy.sqlite"
    shutil.copy(whole, copy)
    with sqlite3.connect(copy) as connection:
        connection.execute(f"DELETE FROM {table}")
    connection.close()
    with pytest.raises(DataError, match=f"run STUDY --store {copy}.* 400 runs in it are kept"):
        Results(copy)


def test_what_cannot_be_recovered(whole, tmp_path):
    nonsense = tmp_path / "nonsense.sqlite"
    nonsense.write_bytes(b"never a store" * 1000)
    with pytest.raises(DataError, match=r"Nothing in .* can be read"):
        recover(nonsense, tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()
    with pytest.raises(DataError, match="There is no store"):
        recover(tmp_path / "none.sqlite", tmp_path / "new.sqlite")
    with pytest.raises(DataError, match="already there and is left as it is"):
        recover(whole, nonsense)


def test_every_table_has_a_word():
    message = str(Recovery(Path("new.sqlite"), {"runs": 2}, TABLES))
    assert message.startswith("2 runs saved in new.sqlite; some of these could not be read: ")
    assert message.count(", ") == len(TABLES) - 1
