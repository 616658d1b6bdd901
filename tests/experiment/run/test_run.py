"""Engines: same results bit for bit, resumed after any interruption, no matter what fails."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from sklearn.naive_bayes import GaussianNB
from tests.experiment.studies import ENDLESS, KILLABLE, small_study, with_trouble

from verulam.base import DataError, DataWarning
from verulam.experiment import DataChoice, LearnerChoice, Results, Store, run
from verulam.experiment._plan.records import Outcome
from verulam.experiment._run.run import core_count, study_changes, worker_count

QUERY = "SELECT run, status, predicted, probabilities FROM runs ORDER BY run"


def rows(path):
    with Store(path) as store:
        return store.read(QUERY)


@pytest.fixture
def reference(tmp_path):
    run(small_study(), tmp_path / "reference.sqlite", engine="serial", progress=False)
    return rows(tmp_path / "reference.sqlite")


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_engines_agree_bit_for_bit(reference, tmp_path, engine):
    if engine == "dask":
        pytest.importorskip("distributed")
    results = run(small_study(), tmp_path / "r.sqlite", engine=engine, workers=2, progress=False)
    assert results.status() == {"done": 10}
    assert rows(results.path).equals(reference)


def test_nothing_is_done_twice(tmp_path, monkeypatch):
    path = tmp_path / "r.sqlite"
    run(small_study(), path, engine="serial", progress=False)
    with Store(path) as store:
        before = store.read("SELECT run, started FROM runs ORDER BY run")
    grown = small_study(learners=[*small_study().learners, LearnerChoice("logistic regression")])
    results = run(grown, path, engine="serial", progress=False)
    assert results.status() == {"done": 15}
    with Store(path) as store:
        after = store.read("SELECT run, started FROM runs ORDER BY run")
    assert after.merge(before, on="run")[["started_x"]].equals(
        before.rename(columns={"started": "started_x"})[["started_x"]]
    )


def test_unsuccessful_runs_are_tried_again_when_asked(tmp_path):
    path = tmp_path / "r.sqlite"
    run(with_trouble("raise"), path, engine="serial", progress=False)
    with Store(path) as store:
        first = store.read("SELECT max(started) AS t FROM runs WHERE status = 'failed'")["t"][0]
    run(with_trouble("raise"), path, engine="serial", progress=False)
    run(with_trouble("raise"), path, engine="serial", progress=False, retry=["failed"])
    with Store(path) as store:
        last = store.read("SELECT min(started) AS t FROM runs WHERE status = 'failed'")["t"][0]
    assert last > first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 0}, "workers: 0; expected a number of at least 1, or -1 for all cores"),
        ({"workers": -2}, "workers: -2; expected"),
        ({"engine": "magic"}, "engine: 'magic'; expected processes"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_written(tmp_path, arguments, message):
    with pytest.raises(DataError, match=message):
        run(small_study(), tmp_path / "r.sqlite", progress=False, **arguments)
    assert not list(tmp_path.iterdir())


def test_limits_hold_one_after_the_other_too(tmp_path):
    study = with_trouble("hang", time_limit=0.5)
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 2, "timed out": 2}


def test_killed_study_resumes_without_loss(tmp_path):
    """Kill the whole program at several moments; what was stored stays, the rest is done."""
    script = KILLABLE
    path = tmp_path / "killed.sqlite"
    stored = 0
    for moment in (0.4, 0.8, 1.2):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with Store(path) as store:
            settled = len(store.settled())
        assert settled >= stored
        stored = settled
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, capture_output=True)
    calm = tmp_path / "calm.sqlite"
    subprocess.run([sys.executable, "-c", script, str(calm)], check=True, capture_output=True)
    assert Results(path).status() == {"done": 60}
    assert rows(path).equals(rows(calm))


def test_interrupt_keeps_what_is_finished(tmp_path):
    script = KILLABLE.replace('"n_estimators": 5', '"n_estimators": 400')
    path = tmp_path / "interrupted.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        time.sleep(0.3)
        if path.exists():
            with Store(path) as store:
                if store.settled():
                    break
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in words
    counts = Results(path).status()
    assert counts["done"] >= 1


def test_a_finished_run_is_on_disk_while_the_next_one_is_under_way(tmp_path):
    path = tmp_path / "endless.sqlite"
    # A seed whose order of runs has the two quick ones first.
    script = ENDLESS.replace("SEED", "2")
    process = subprocess.Popen(
        [sys.executable, "-c", script, "serial", str(path)], stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (path.exists() and len(settled(path)) == 2):
        time.sleep(0.1)
    process.kill()
    process.wait()
    process.stdout.close()
    assert len(settled(path)) == 2


def settled(path):
    with Store(path) as store:
        return store.settled()


def test_writing_is_cheap(tmp_path):
    """Thousands of quick runs do not wait for the disk."""
    with Store(tmp_path / "r.sqlite") as store:
        store.add_outcomes([Outcome("first", "done")])
        start = time.process_time()
        for number in range(300):
            store.add_outcomes([Outcome(f"run {number}", "done")])
    assert time.process_time() - start < 0.9


def test_all_cores(tmp_path):
    results = run(small_study(), tmp_path / "r.sqlite", workers=-1, progress=False)
    assert results.status() == {"done": 10}
    assert worker_count(-1, "workers") == core_count() >= 1


def test_finished_runs_of_other_versions_are_warned_of(tmp_path):
    path = tmp_path / "r.sqlite"
    run(small_study(), path, engine="serial", progress=False)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        content = connection.execute("SELECT content FROM environments").fetchone()[0]
        before = json.loads(content)
        before["packages"]["scikit-learn"] = "0.1"
        connection.execute("UPDATE environments SET content = ?", (json.dumps(before),))
    with pytest.warns(DataWarning, match=r"made with scikit-learn 0\.1 \(now "):
        run(small_study(), path, engine="serial", progress=False)
    other = small_study(name="another", resampling="4-fold")
    assert run(other, path, engine="serial", progress=False).status() == {"done": 8}


NEIGHBOURS = LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 3]})
MORE = LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 3, 5]})


def description(**changes):
    return json.loads(small_study(**changes).to_json())


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({}, {}, []),
        ({}, {"seed": 3}, ["seed: 0 before, now 3"]),
        ({"seed": 3}, {"seed": 0}, ["seed: 3 before, now 0"]),
        ({}, {"question": "Why?"}, ["question: nothing before, now Why?"]),
        (
            {},
            {"resampling": "5x2", "test_share": 0.3},
            ["resampling: 5-fold before, now 5x2", "test_share: 0.0 before, now 0.3"],
        ),
        ({"budget": {"runs": 4}}, {"budget": {"runs": 8}}, ["budget.runs: 4 before, now 8"]),
        (
            {},
            {"data": [DataChoice("iris"), DataChoice("wine")]},
            ["data: with wine"],
        ),
        (
            {"learners": [NEIGHBOURS, LearnerChoice(GaussianNB())]},
            {"learners": [MORE]},
            ["learners: without GaussianNB, k-nearest neighbours with other factors"],
        ),
        (
            {"learners": [NEIGHBOURS, LearnerChoice("naive bayes")]},
            {"learners": [LearnerChoice("naive bayes"), NEIGHBOURS]},
            ["learners: in another order"],
        ),
    ],
)
def test_changes_are_told(before, after, lines):
    assert study_changes(description(**before), description(**after)) == lines


def test_keys_that_an_older_version_did_not_write_are_no_change():
    before = {key: value for key, value in description().items() if key != "tuning"}
    assert study_changes(before, description()) == []


def test_an_edited_study_says_what_changed(tmp_path):
    path = tmp_path / "r.sqlite"
    first = run(small_study(), path, engine="serial", progress=False)
    assert first.changes == ()
    assert run(small_study(), path, engine="serial", progress=False).changes == ()
    edited = run(small_study(resampling="4-fold"), path, engine="serial", progress=False)
    assert edited.changes == ("resampling: 5-fold before, now 4-fold",)
    other = small_study(name="another", resampling="3-fold")
    assert run(other, path, engine="serial", progress=False).changes == ()
    assert Results(path).changes == ()


def test_the_study_that_was_carried_out_last_is_the_one_that_is_read(tmp_path):
    path = tmp_path / "r.sqlite"
    for resampling in ("5-fold", "4-fold", "5-fold"):
        run(small_study(resampling=resampling), path, engine="serial", progress=False)
        assert Results(path).description["resampling"] == resampling
