"""Saving what is intact of a damaged store."""

import shutil
import sqlite3

import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import LearnerChoice, Results, Store, analyse, recover, run

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
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def damaged_page(path, target, run_id):
    """Copy a store and overwrite the page that has a run in its primary table."""
    content = bytearray(path.read_bytes())
    places = [
        place
        for place in range(0, len(content), 4096)
        if content[place] == 10 and run_id in content[place : place + 4096]
    ]
    place = places[-1]
    content[place : place + 4096] = b"\x07" * 4096
    target.write_bytes(content)


def test_all_runs_but_those_of_the_damaged_page_are_saved(whole, tmp_path):
    with Store(whole) as store:
        ids = sorted(store.settled())
    damaged = tmp_path / "damaged.sqlite"
    damaged_page(whole, damaged, ids[200].encode())
    with pytest.raises(DataError, match=r"damaged .* `verulam recover .* NEW`"):
        Results(damaged).runs()
    assert "is damaged" in Results(damaged).damage()
    saved = recover(damaged, tmp_path / "saved.sqlite")
    assert "runs" in saved.damaged
    assert "some of these could not be read: runs" in str(saved)
    assert 350 <= saved.rows["runs"] < 400
    assert str(saved).startswith(f"{saved.rows['runs']} runs saved in ")
    with Store(saved.path) as store:
        kept = store.read("SELECT * FROM runs ORDER BY run")
    with Store(whole) as store:
        before = store.read("SELECT * FROM runs ORDER BY run")
    assert kept.equals(before[before["run"].isin(kept["run"])].reset_index(drop=True))
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
    content = bytearray(whole.read_bytes())
    content[40960:49152] = b"A" * 8192
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_bytes(content)
    saved = recover(damaged, tmp_path / "saved.sqlite")
    with pytest.raises(DataError, match=r"plan of the study .* was lost.* none .* is refitted"):
        analyse(saved.path)
    with Store(saved.path) as store:
        kept = store.read("SELECT run, started FROM runs ORDER BY run")
    assert len(kept) == saved.rows["runs"] > 0
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
