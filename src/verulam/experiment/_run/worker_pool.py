"""A pool of worker processes that survives what learners do: each can be stopped and replaced."""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from threadpoolctl import threadpool_limits

from verulam.experiment._plan.records import Outcome, Plan
from verulam.experiment._run.execute import execute
from verulam.experiment._speed import HEARTBEAT_SECONDS, MOST_RUNS_AHEAD, WORK_AHEAD_SECONDS

#: Yields the outcome of each run as it ends, and None whenever no more are at hand. Positions are
#: taken from the left of the queue, which may be added to or cleared between two outcomes.
Engine = Callable[[Plan, deque[int]], Generator[Outcome | None]]
#: Seconds beyond the time limit in which a run has to begin: a worker may have to import and
#: compile before, which is no fault of the run.
FIRST_USE = 30.0
#: Linux's number for the request of `_end_with_parent`.
_SET_DEATH_SIGNAL = 1


@dataclass(eq=False)
class _Worker:
    """A process, the connection to it, the runs it has been sent, and when its clock starts.

    `n_sent` counts all runs that it was ever sent.
    """

    process: Any
    connection: Connection
    sent: deque[int] = field(default_factory=deque)
    since: float = 0.0
    n_sent: int = 0


def run_in_processes(
    plan: Plan, queue: deque[int], *, workers: int, recycle: int | None = None
) -> Generator[Outcome | None]:
    """Yield the outcome of each run as it ends, and None whenever no more are at hand.

    Parameters
    ----------
    plan
        The plan, which every worker inherits.
    queue
        Which of its runs to carry out; taken from the left, and may be added to meanwhile.
    workers
        Number of processes.
    recycle
        Runs after which a process is replaced by a new one; None for never.
    """
    pool = _Pool(plan, workers, recycle)
    prefetch = Prefetch()
    try:
        while queue or any(worker.sent for worker in pool.workers):
            pool.renew()
            for worker in pool.workers:
                pool.send(worker, queue, prefetch.batch())
            for outcome in pool.collect(queue):
                prefetch.note(outcome)
                yield outcome
            yield None
    finally:
        pool.shut_down()


class Prefetch:
    """How many runs are sent to a worker ahead, from the time that runs have taken so far."""

    def __init__(self) -> None:
        self._seconds = self._runs = 0.0
        self._most = MOST_RUNS_AHEAD

    def one_by_one(self) -> None:
        """Send runs singly from now on, so that it is seen which of them does harm."""
        self._most = 1

    def note(self, outcome: Outcome) -> None:
        """Learn from a finished run."""
        seconds = outcome.fit_seconds + outcome.predict_seconds
        if seconds == seconds:  # not NaN
            self._seconds += seconds
            self._runs += 1

    def batch(self, least: int = 2) -> int:
        """Return how many runs a worker should have at hand, at least so many."""
        if not self._runs:
            return min(least, self._most)
        enough = WORK_AHEAD_SECONDS * self._runs / max(self._seconds, 1e-6)
        return int(min(self._most, max(least, enough)))


class _Pool:
    """The workers of one study."""

    def __init__(self, plan: Plan, size: int, recycle: int | None = None) -> None:
        # A forked worker has the plan and the libraries from the start. Elsewhere each worker
        # imports anew and is sent the plan once.
        method = "fork" if sys.platform == "linux" else "spawn"
        self._context: Any = multiprocessing.get_context(method)
        self._plan, self._recycle = plan, recycle
        self.workers: list[_Worker] = []
        for _ in range(size):
            self.workers.append(self._start())

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        others = [worker.connection for worker in self.workers] if self._forks else []
        process = self._context.Process(
            target=_work,
            args=(theirs, self._plan, [*others, ours] if self._forks else [], os.getpid()),
        )
        with _allowed_children():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    @property
    def _forks(self) -> bool:
        return self._context.get_start_method() == "fork"

    def renew(self) -> None:
        """Replace the workers that have done their number of runs, before they grow old.

        What libraries leave behind in a process, in memory that is never given back or in
        handles that are never closed, ends with it (Alpaydin 19.5: software aging).
        """
        for worker in list(self.workers):
            if self._recycle is not None and worker.n_sent >= self._recycle and not worker.sent:
                _end(worker)
                self.workers.remove(worker)
                self.workers.append(self._start())

    def send(self, worker: _Worker, queue: deque[int], batch: int) -> None:
        """Send more runs to a worker that is about to have none."""
        # Refilled when half of its work is done: fewer messages, and never idle.
        if len(worker.sent) * 2 >= batch or not queue:
            return
        count = min(batch - len(worker.sent), len(queue))
        if self._recycle is not None:
            count = min(count, self._recycle - worker.n_sent)
        if count < 1:
            return
        runs = [queue.popleft() for _ in range(count)]
        worker.n_sent += count
        if not worker.sent:
            worker.since = time.monotonic() + FIRST_USE
        worker.sent.extend(runs)
        try:
            worker.connection.send(runs)
        except (BrokenPipeError, OSError):
            # The worker has died; `collect` sees that and hands its runs to another.
            return

    def collect(self, queue: deque[int]) -> Iterator[Outcome]:
        """Yield what has come in, and replace workers that died or took too long."""
        by_connection = {worker.connection: worker for worker in self.workers}
        ready = wait(list(by_connection), timeout=HEARTBEAT_SECONDS)
        for connection in ready:
            worker = by_connection[connection]  # type: ignore[index] # only ours are waited for
            try:
                while worker.connection.poll():
                    message = worker.connection.recv()
                    if not isinstance(message, Outcome):
                        worker.since = message
                        continue
                    worker.sent.popleft()
                    worker.since = time.monotonic() + FIRST_USE
                    yield message
            except (EOFError, OSError):
                # The connection ends with the process, in its first run; the others go back.
                yield from self._replace(worker, queue, "killed", _exit_message(worker.process))
        limit = self._plan.study.time_limit
        for worker in list(self.workers):
            if limit and worker.sent and time.monotonic() - worker.since > limit:
                if worker.connection.poll():
                    continue  # It has reported while others were seen to.
                words = f"TimeoutError: stopped after {limit:g} seconds"
                yield from self._replace(worker, queue, "timed out", words)

    def _replace(
        self, worker: _Worker, queue: deque[int], status: str, words: str
    ) -> Iterator[Outcome]:
        _end(worker)
        self.workers.remove(worker)
        if worker.sent:
            run = self._plan.runs[worker.sent.popleft()]
            # Those that it had not begun go back to the front, in their order.
            queue.extendleft(reversed(worker.sent))
            yield Outcome(run.run_id, status, stage="fit", error=words)
        self.workers.append(self._start())

    def shut_down(self) -> None:
        """End all workers."""
        for worker in self.workers:
            _end(worker)


@contextlib.contextmanager
def _allowed_children() -> Iterator[None]:
    """Let a daemon, as the workers of a cluster are, have children: ours end with their parent."""
    settings = getattr(multiprocessing.current_process(), "_config", {})
    daemon = settings.pop("daemon", None)
    try:
        yield
    finally:
        if daemon is not None:
            settings["daemon"] = daemon


def _end(worker: _Worker) -> None:
    worker.connection.close()
    worker.process.kill()
    worker.process.join()


def _exit_message(process: Any) -> str:
    process.join(timeout=1.0)
    code = process.exitcode
    if code is not None and code < 0:
        return f"ProcessError: the worker was killed by {signal.Signals(-code).name}"
    return f"ProcessError: the worker ended with exit code {code}"


def _work(connection: Connection, plan: Plan, inherited: Sequence[Connection], parent: int) -> None:
    """Carry out runs until the connection closes; the main loop of a worker process."""
    _end_with_parent()
    # Ctrl-C goes to the whole group; the parent alone decides what happens then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:
        other.close()
    os.environ["VERULAM_THREADS"] = "1"
    limit_memory(plan.study.memory_limit)

    def report_begin() -> None:
        # This clock is the same in all processes.
        connection.send(time.monotonic())

    with threadpool_limits(1):
        while os.getppid() == parent:
            try:
                positions = connection.recv()
                for position in positions:
                    connection.send(execute(plan, plan.runs[position], begin=report_begin))
            except (EOFError, OSError):
                return


def _end_with_parent() -> None:
    """Ask the system to kill this process when its parent dies, even in the midst of a run."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def limit_memory(megabytes: float | None) -> None:
    """Let this process grow by so many megabytes and no further, where the system can."""
    if megabytes is None or sys.platform != "linux":
        return
    import resource

    with open("/proc/self/statm") as sizes:
        in_use = int(sizes.read().split()[0]) * resource.getpagesize()
    limit = int(in_use + megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
