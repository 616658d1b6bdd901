"""The Dask engine: clusters that are there, workers that die, runs that kill."""

import contextlib
import os
import signal
import socket
import sys
import time
from collections import deque

import pytest
from sklearn.dummy import DummyClassifier
from tests.experiment.studies import small_study

from verulam.experiment import DataChoice, LearnerChoice, Store, make_plan, run
from verulam.experiment._run.dask import _Dispatcher, execute_batch
from verulam.experiment._run.queue import RunQueue

distributed = pytest.importorskip("distributed")

FOREST = LearnerChoice("random forest", parameters={"n_estimators": 30})
QUERY = "SELECT run, status, predicted, probabilities FROM runs ORDER BY run"


@pytest.fixture(scope="module")
def cluster():
    """Return a cluster of two workers on this machine, which is there before any study."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(**options) as opened:
        yield opened


def rows(path):
    with Store(path) as store:
        return store.read(QUERY)


def on_cluster(cluster, study, path):
    engine = "dask://" + cluster.scheduler_address.removeprefix("tcp://")
    return run(study, path, engine=engine, progress=False)


@pytest.fixture
def worker_killed(cluster, monkeypatch):
    """Kill a worker once three runs have come back; return the process that was killed."""
    counted, processes, count = [], [], RunQueue._count

    def counting(queue, outcome):
        counted.append(outcome.run_id)
        if len(counted) == 3:
            processes.append(cluster.workers[0].process.pid)
            os.kill(processes[0], signal.SIGKILL)
        count(queue, outcome)

    # By count and not by the clock: on a busy machine nothing is known of when runs come back.
    monkeypatch.setattr(RunQueue, "_count", counting)
    return processes


def test_a_study_completes_though_a_worker_is_killed(cluster, worker_killed, monkeypatch, tmp_path):
    study = small_study(learners=[LearnerChoice("majority class"), FOREST], resampling="10-fold")
    path = tmp_path / "cluster.sqlite"
    results = on_cluster(cluster, study, path)
    assert results.status() == {"done": 20}
    assert len(worker_killed) == 1
    monkeypatch.undo()
    quiet = run(study, tmp_path / "serial.sqlite", engine="serial", progress=False)
    assert rows(path).equals(rows(quiet.path))


def test_a_cluster_that_is_there_serves_several_studies(cluster, tmp_path):
    for seed in (0, 1):
        path = tmp_path / f"{seed}.sqlite"
        assert on_cluster(cluster, small_study(seed=seed), path).status() == {"done": 10}
    run(small_study(seed=1), tmp_path / "serial.sqlite", engine="serial", progress=False)
    assert rows(path).equals(rows(tmp_path / "serial.sqlite"))


def test_a_local_cluster_starts_quietly_where_another_holds_the_usual_port(tmp_path):
    with socket.socket() as holder:
        with contextlib.suppress(OSError):  # somebody else may hold it already: just as well
            holder.bind(("127.0.0.1", 8787))
            holder.listen()
        results = run(
            small_study(), tmp_path / "x.sqlite", engine="dask", workers=1, progress=False
        )
    assert results.status() == {"done": 10}


def troubled(how, **limits):
    """Return a study of a class that is sent whole, since no worker can import these tests."""

    class Trouble(DummyClassifier):
        def fit(self, X, y):
            if self.constant == "hang" and len(X) > 60:
                time.sleep(60)
            if self.constant == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.constant == "eat":
                self.food = bytearray(2 * 10**9)
            return super().fit(X, y)

    learners = [LearnerChoice(Trouble(constant=how)), LearnerChoice("majority class")]
    return small_study(learners=learners, resampling="2-fold", **limits)


def test_limits_hold_on_a_cluster(cluster, tmp_path):
    """Runs that hang, eat memory or die are rows; the workers of the cluster live on."""
    hanging = on_cluster(cluster, troubled("hang", time_limit=0.5), tmp_path / "h.sqlite")
    assert hanging.status() == {"done": 2, "timed out": 2}
    dying = on_cluster(cluster, troubled("die", time_limit=30), tmp_path / "d.sqlite")
    assert dying.status() == {"done": 2, "killed": 2}
    assert "killed by SIGKILL" in dying.failures()["error"][0]
    if sys.platform == "linux":  # where memory can be limited
        hungry = on_cluster(cluster, troubled("eat", memory_limit=500), tmp_path / "e.sqlite")
        assert hungry.status() == {"done": 2, "failed": 2}
        assert "MemoryError" in hungry.failures()["error"][0]


def test_batches_are_done_in_order():
    plan = make_plan(small_study())
    outcomes = execute_batch(plan, [3, 1])
    assert [each.run_id for each in outcomes] == [plan.runs[3].run_id, plan.runs[1].run_id]


class Future:
    """What a cluster gives back for a batch."""

    key = "batch"

    def __init__(self, status, error=None):
        self.status, self._error = status, error

    def exception(self):
        return self._error


class Client:
    """Counts how often the plan is sent."""

    scattered = 0

    def scatter(self, plan, **options):
        self.scattered += 1


def dispatcher(batch):
    made = _Dispatcher(Client(), make_plan(small_study()), deque([7]))
    made._sent["batch"] = batch
    return made


def killed():
    return distributed.KilledWorker("task", None, 3)


def test_runs_that_kill_workers_are_told_from_their_neighbours():
    made = dispatcher([4, 5])
    assert list(made._received(Future("error", killed()))) == []
    assert list(made._queue) == [4, 5, 7]
    assert made._prefetch.batch() == 1
    made = dispatcher([4])
    (outcome,) = made._received(Future("error", killed()))
    assert (outcome.run_id, outcome.status) == (made._plan.runs[4].run_id, "killed")
    assert "workers died" in outcome.error


def test_a_plan_that_was_lost_with_its_worker_is_sent_again():
    made = dispatcher([4, 5])
    assert list(made._received(Future("lost"))) == []
    assert list(made._queue) == [4, 5, 7]
    assert made._client.scattered == 1


def test_other_errors_are_raised():
    with pytest.raises(ModuleNotFoundError, match="no verulam there"):
        list(dispatcher([4])._received(Future("error", ModuleNotFoundError("no verulam there"))))


def test_data_sets_of_several_kinds(cluster, tmp_path):
    data = [DataChoice("penguins"), DataChoice("wine")]
    study = small_study(data=data, resampling="2-fold")
    assert on_cluster(cluster, study, tmp_path / "r.sqlite").status() == {"done": 8}
