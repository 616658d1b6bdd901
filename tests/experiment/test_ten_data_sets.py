"""The study of eight learners, ten data sets and ten folds: killed, resumed, on every engine."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verulam.experiment import Results, Store, read_study, run

STUDY = Path(__file__).parents[2] / "examples" / "ten-data-sets.toml"
COMMAND = "from verulam.cli import main; main()"
QUERY = "SELECT run, status, predicted, probabilities, scores FROM runs ORDER BY run"


def rows(path):
    with Store(path, read_only=True) as store:
        return store.read(QUERY)


def finished(path):
    """Return when each finished run was started."""
    if not path.exists():
        return {}
    with Store(path) as store:
        return dict(store.rows("SELECT run, started FROM runs WHERE status = 'done'"))


def start(path):
    words = ["run", str(STUDY), "--store", str(path), "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_at_random(path, least, random):
    """Carry the study on, kill it after so many runs; return what was finished by then."""
    least = max(least, len(finished(path)) + 1)
    process = start(path)
    deadline = time.monotonic() + 300
    while len(finished(path)) < least and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(random.uniform(0.0, 0.3))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return finished(path)


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """Return the results of the study that nobody disturbs, one run after the other."""
    path = tmp_path_factory.mktemp("calm") / "runs.sqlite"
    study = replace(read_study(STUDY), time_limit=None)
    results = run(study, path, engine="serial", progress=False)
    assert results.status() == {"done": 800}
    return rows(path)


@pytest.mark.slow
def test_killed_five_times_and_resumed(calm, tmp_path):
    path = tmp_path / "killed.sqlite"
    random = np.random.default_rng()
    kept: dict = {}
    # However quick the machine is, some runs are left after the last of these moments.
    for least in sorted(random.integers(1, 600, size=5)):
        now = kill_at_random(path, least, random)
        assert len(now) > len(kept)
        # What had been finished is there, and was not made again.
        assert kept.items() <= now.items()
        kept = now
    assert len(kept) < 800
    last = start(path)
    _, errors = last.communicate()
    assert last.returncode == 0, errors
    assert kept.items() <= finished(path).items()
    assert Results(path).status() == {"done": 800}
    assert rows(path).equals(calm)


@pytest.mark.slow
def test_the_engines_agree_bit_for_bit(calm, tmp_path):
    pytest.importorskip("distributed")
    study = replace(read_study(STUDY), time_limit=None)
    path = tmp_path / "dask.sqlite"
    run(study, path, engine="dask", workers=2, progress=False)
    assert rows(path).equals(calm)
    # With a limit, as in the file, each worker carries its runs out in a process of its own.
    limited = tmp_path / "limited.sqlite"
    run(read_study(STUDY), limited, engine="dask", workers=2, progress=False)
    assert rows(limited).equals(calm)
