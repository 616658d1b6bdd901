"""Saving what is intact of a damaged store."""

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.experiment.studies import FIRST_SCHEMA, small_study

from verulam.base import DataError
from verulam.experiment import (
    LearnerChoice,
    LockedPartUsedError,
    Results,
    Store,
    analyse,
    finalisations,
    finalise,
    recover,
    run,
)
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


def rows_of(path, table):
    with Store(path) as store:
        return {row[0]: row for row in store.rows(f"SELECT * FROM {table}")}


@pytest.mark.parametrize(("share", "least"), [(0.97, 350), (0.8, 200), (0.55, 20)])
def test_a_store_that_lost_its_end_gives_every_run_that_is_left(whole, tmp_path, share, least):
    """SQLite refuses the whole file; each run that lies on a page that is there is saved."""
    content = whole.read_bytes()
    short = tmp_path / "short.sqlite"
    short.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DataError, match=r"damaged .* `verulam recover"):
        Results(short)
    before = short.read_bytes()
    saved = recover(short, tmp_path / "saved.sqlite")
    assert short.read_bytes() == before
    assert "runs" in saved.damaged
    present = pages(short)
    expected = {
        run_id
        for run_id in rows_of(whole, "runs")
        if any(page[0] in (2, 10) and run_id.encode() in page for page in leaves_of_runs(present))
    }
    after = rows_of(saved.path, "runs")
    assert len(expected) > least
    # A row may go on, on a page that is gone.
    assert expected >= after.keys()
    assert len(after) > 0.95 * len(expected)
    assert all(rows_of(whole, "runs")[run_id] == row for run_id, row in after.items())
    done = run(small_study(**STUDY), saved.path, engine="serial", progress=False)
    assert done.status() == {"done": 400}


def leaves_of_runs(content):
    """Return the pages that hold runs, whose status stands in them as a word."""
    return [page for page in content if b"done" in page]


def test_rows_are_saved_to_which_no_page_leads(whole, tmp_path):
    """The root of the tree is gone: nothing but the rows on it is lost."""
    number = root_page(whole, "runs")
    on_root = [
        run_id for run_id in rows_of(whole, "runs") if run_id.encode() in pages(whole)[number - 1]
    ]
    damaged = tmp_path / "damaged.sqlite"
    copy_with_damage(whole, damaged, number)
    saved = recover(damaged, tmp_path / "saved.sqlite")
    assert saved.rows["runs"] == 400 - len(on_root)
    assert saved.rows["planned"] == 400


def test_a_lost_first_page_costs_no_run(whole, tmp_path):
    """Without it SQLite knows neither tables nor the size of a page."""
    damaged = tmp_path / "damaged.sqlite"
    copy_with_damage(whole, damaged, 1)
    saved = recover(damaged, tmp_path / "saved.sqlite")
    assert set(saved.damaged) == set(TABLES)
    for table in ("runs", "studies", "data", "splits", "environments", "checks"):
        assert rows_of(saved.path, table) == rows_of(whole, table), table


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """Return a store whose locked test part was used, all of it in one file."""
    path = tmp_path_factory.mktemp("used") / "used.sqlite"
    study = small_study(test_share=0.3)
    finalise(run(study, path, engine="serial", progress=False))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


@pytest.mark.parametrize("page", [None, "runs", "first"])
def test_a_used_test_part_stays_used(used, tmp_path, page):
    damaged = tmp_path / "damaged.sqlite"
    if page is None:
        shutil.copy(used, damaged)
    else:
        copy_with_damage(used, damaged, 1 if page == "first" else root_page(used, page))
    saved = recover(damaged, tmp_path / "saved.sqlite")
    assert ("Take locked test parts for used" in str(saved)) == (page == "first")
    assert finalisations(saved.path).equals(finalisations(used))
    results = run(small_study(test_share=0.3), saved.path, engine="serial", progress=False)
    with pytest.raises(LockedPartUsedError, match="was used on"):
        finalise(results, path=tmp_path / "again.skops")


def test_deleted_rows_do_not_come_back(tmp_path):
    """Pages that are free still hold what was deleted."""
    path = tmp_path / "store.sqlite"
    run(small_study(**STUDY), path, engine="serial", progress=False)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM runs")
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damaged = tmp_path / "damaged.sqlite"
    copy_with_damage(path, damaged, root_page(path, "runs"))
    assert recover(damaged, tmp_path / "saved.sqlite").rows["runs"] == 0


def test_a_store_of_the_first_schema_keeps_its_plan(whole, tmp_path):
    old = tmp_path / "old.sqlite"
    shutil.copy(whole, old)
    with contextlib.closing(sqlite3.connect(old)) as connection:
        connection.executescript(FIRST_SCHEMA)
    saved = recover(old, tmp_path / "saved.sqlite")
    assert (saved.rows["planned"], saved.damaged) == (400, ())
    assert Results(saved.path).status() == {"done": 400}


def test_a_full_disk_leaves_no_half_store(whole, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match=r"No space .*saved\.sqlite"):
        recover(whole, tmp_path / "saved.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_recovered(whole, tmp_path):
    nonsense = tmp_path / "nonsense.sqlite"
    nonsense.write_bytes(b"never a store" * 1000)
    with pytest.raises(DataError, match=r"Nothing in .* can be read"):
        recover(nonsense, tmp_path / "new.sqlite")
    assert not (tmp_path / "new.sqlite").exists()
    (tmp_path / "empty.sqlite").write_bytes(b"")
    with pytest.raises(DataError, match=r"Nothing in .* can be read"):
        recover(tmp_path / "empty.sqlite", tmp_path / "new.sqlite")
    with pytest.raises(DataError, match=r"target: .* cannot be written"):
        recover(whole, tmp_path / "no" / "new.sqlite")
    with pytest.raises(DataError, match="There is no store"):
        recover(tmp_path / "none.sqlite", tmp_path / "new.sqlite")
    with pytest.raises(DataError, match="already there and is left as it is"):
        recover(whole, nonsense)


def test_every_table_has_a_word():
    message = str(Recovery(Path("new.sqlite"), {"runs": 2}, TABLES))
    assert message.startswith("2 runs saved in new.sqlite; some of these could not be read: ")
    assert message.partition(". ")[0].count(", ") == len(TABLES) - 1
