"""Workers: stopped when they hang, replaced when they die, gone when their parent is."""

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.experiment.studies import KILLABLE, with_trouble

from verulam.experiment import run


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
    wait_for(lambda: len(processes_about(path)) == 3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    wait_for(lambda: not processes_about(path))


def wait_for(condition, seconds=15):
    """Wait until a condition holds; fail where it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def processes_about(path):
    """Return the processes that have a path on their command line, forked workers included."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(path).encode() in entry.read_bytes():
                found.append(entry.parent.name)
    return found
