"""Workers: stopped when they hang, replaced when they die, gone when their parent is."""

import contextlib
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from tests.experiment.studies import ENDLESS, KILLABLE, small_study, with_trouble

from verulam.base import DataError
from verulam.experiment import LearnerChoice, Store, make_plan, run
from verulam.experiment._run import worker_pool as _workers
from verulam.experiment._run.worker_pool import run_in_processes
from verulam.experiment._store.rows import unpack


def test_hanging_run_is_stopped_and_the_rest_goes_on(tmp_path):
    study = with_trouble("hang", time_limit=0.5)
    start = time.monotonic()
    results = run(study, tmp_path / "r.sqlite", workers=2, progress=False)
    assert time.monotonic() - start < 50  # it would have hung for 60
    assert results.status() == {"done": 2, "timed out": 2}
    assert "stopped after 0.5 seconds" in results.failures()["error"][0]


def test_dying_worker_is_replaced(tmp_path):
    results = run(with_trouble("die"), tmp_path / "r.sqlite", workers=2, progress=False)
    assert results.status() == {"done": 2, "killed": 2}
    assert "killed by SIGKILL" in results.failures()["error"][0]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_hungry_run_is_refused_memory(tmp_path):
    study = with_trouble("eat", memory_limit=500)
    results = run(study, tmp_path / "r.sqlite", workers=1, progress=False)
    assert results.status() == {"done": 2, "failed": 2}
    assert "MemoryError" in results.failures()["error"][0]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_workers_end_with_their_parent(tmp_path):
    """No orphan goes on computing after the program has been killed."""
    path = tmp_path / "orphans.sqlite"
    # So long that it is still at work when somebody looks, however slow this process is.
    script = KILLABLE.replace('"n_estimators": 5', '"n_estimators": 400')
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    assert wait_for(lambda: len(processes_about(path)) == 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert wait_for(lambda: not processes_about(path))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_workers_end_with_their_parent_in_the_midst_of_a_run(tmp_path):
    path = tmp_path / "endless.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS.replace("SEED", "1"), "processes", str(path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    assert wait_for(lambda: len(processes_about(path)) == 2)
    time.sleep(0.5)
    process.kill()
    process.wait()
    process.stdout.close()
    assert wait_for(lambda: not processes_about(path))


class SlowAtFirst(DummyClassifier):
    """Takes its time at the first use, which has few rows."""

    def fit(self, X, y):
        if len(X) <= 60:
            time.sleep(1.0)
        return super().fit(X, y)


def test_first_use_does_not_count_for_the_limit(tmp_path):
    learners = [LearnerChoice(SlowAtFirst())]
    study = small_study(learners=learners, resampling="2-fold", time_limit=0.5)
    results = run(study, tmp_path / "r.sqlite", workers=1, progress=False)
    assert results.status() == {"done": 2}


def test_first_use_may_not_hang_either(tmp_path, monkeypatch):
    monkeypatch.setattr(_workers, "FIRST_USE", 0.5)
    study = with_trouble("hang at first use", time_limit=0.5)
    results = run(study, tmp_path / "r.sqlite", workers=2, progress=False)
    assert results.status() == {"done": 2, "timed out": 2}


def test_runs_that_finish_while_the_parent_is_busy_are_done():
    """A store that another program locks must not make runs late."""
    plan = make_plan(small_study(time_limit=0.5))
    statuses = []
    with contextlib.closing(run_in_processes(plan, deque(range(len(plan))), workers=2)) as outcomes:
        for outcome in outcomes:
            if outcome is not None:
                statuses.append(outcome.status)
                time.sleep(0.8 if len(statuses) < 3 else 0)
    assert statuses == ["done"] * 10


def wait_for(condition, seconds=60):
    """Wait until a condition holds, and return whether it did in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def processes_about(path):
    """Return the processes that have a path on their command line, forked workers included."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(path).encode() in entry.read_bytes():
                found.append(entry.parent.name)
    return found


class Counting(DummyClassifier):
    """Predicts how many fits its process has done, as the class at that place."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.age_ = self.fits
        return super().fit(X, y)

    def predict(self, X):
        return np.full(len(X), self.classes_[min(self.age_, len(self.classes_)) - 1])


def ages(tmp_path, recycle):
    """Return the place of the class that each run predicted: the age of its worker."""
    learners = [LearnerChoice(Counting(), label="counting")]
    study = small_study(learners=learners, resampling="10-fold")
    path = tmp_path / f"{recycle}.sqlite"
    results = run(study, path, workers=2, recycle=recycle, progress=False, check=False)
    assert results.status() == {"done": 10}
    with Store(path, read_only=True) as store:
        return [int(unpack(row[0])[0]) for row in store.rows("SELECT predicted FROM runs")]


def test_workers_are_replaced_after_their_number_of_runs(tmp_path):
    # A worker warms a learner up with one fit of its own before the first run.
    assert set(ages(tmp_path, 1)) == {1}
    assert max(ages(tmp_path, None)) == 2


def test_recycling_changes_no_result(tmp_path):
    paths = [tmp_path / "all.sqlite", tmp_path / "two.sqlite"]
    for path, recycle in zip(paths, (None, 2), strict=True):
        run(small_study(), path, workers=2, recycle=recycle, progress=False)
    predictions = []
    for path in paths:
        with Store(path, read_only=True) as store:
            query = "SELECT run, predicted, probabilities FROM runs ORDER BY run"
            predictions.append(list(store.rows(query)))
    assert predictions[0] == predictions[1]
    assert len(predictions[0]) == 10


@pytest.mark.parametrize(("engine", "recycle"), [("processes", 0), ("serial", 5), ("dask", 5)])
def test_what_cannot_be_recycled(tmp_path, engine, recycle):
    with pytest.raises(DataError, match=f"recycle: {recycle}; expected a whole number"):
        run(small_study(), tmp_path / "r.sqlite", engine=engine, recycle=recycle)
