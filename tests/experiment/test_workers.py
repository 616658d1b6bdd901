"""Workers: stopped when they hang, replaced when they die, gone when their parent is."""

import contextlib
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

import pytest
from sklearn.dummy import DummyClassifier
from tests.experiment.studies import ENDLESS, KILLABLE, small_study, with_trouble

from verulam.experiment import LearnerChoice, _workers, make_plan, run
from verulam.experiment._workers import run_in_processes


def test_hanging_run_is_stopped_and_the_rest_goes_on(tmp_path):
    study = with_trouble("hang", time_limit=0.5)
    start = time.monotonic()
    results = run(study, tmp_path / "r.sqlite", workers=2, progress=False)
    assert time.monotonic() - start < 20
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
    process = subprocess.Popen(
        [sys.executable, "-c", KILLABLE, str(path)], stdout=subprocess.PIPE, text=True
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
    assert wait_for(lambda: not processes_about(path), seconds=5)


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


def wait_for(condition, seconds=15):
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
