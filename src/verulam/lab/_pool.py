"""Processes that do the work of pages: newest wins, each job can be stopped, pages never wait."""

import asyncio
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from inspect import isgenerator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from types import ModuleType
from typing import Any, Literal

from verulam.base import one_blas_thread

#: Seconds that work whose outcome nobody wants any more may go on: where it holds up urgent work,
#: and where it does not. A new process has to load what the old one has in memory.
PATIENCE, FORBEARANCE = 0.25, 2.0
#: By how much the system prefers the work that somebody waits for.
NICENESS = 5
#: Seconds that a job may take, unless its page asks for more.
LIMIT = 45.0
#: A job that may take more seconds than this leaves at least one process to the others.
LONG = 60.0
PRELOADED = ["verulam.lab._warm"]


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    Attributes
    ----------
    state
        "part" if more will follow, "done", "failed" with a message for people, or "stopped".
    value
        What the job returned or, in a part, yielded.
    message
        What went wrong; empty if nothing did.
    warnings
        What the libraries warned of meanwhile, each once.
    """

    state: Literal["part", "done", "failed", "stopped"]
    value: Any = None
    message: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(eq=False)
class _Job:
    number: int
    session: str
    kind: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    deliver: Callable[[Outcome], None]
    urgent: bool
    limit: float
    is_current: bool = True


@dataclass(eq=False)
class _Worker:
    process: Any
    connection: Connection
    is_urgent: bool = True
    job: _Job | None = None
    started: float = 0.0
    timers: list[asyncio.TimerHandle] = field(default_factory=list)


class Pool:
    """A few processes for the jobs of many sessions, and as many for those that can wait.

    A job has a session and a kind. A newer one of the same session and kind takes the place of an
    older one: it is dropped if it waits, and ended with its process if it runs for long.

    Parameters
    ----------
    n_workers
        Number of processes for urgent jobs; None for two, or as many as there are cores, up to
        four. As many again, to which the system gives less time, do the others.
    limit
        Seconds that a job may take.
    """

    def __init__(self, n_workers: int | None = None, *, limit: float = LIMIT) -> None:
        self.n_workers = n_workers or min(4, max(2, os.cpu_count() or 1))
        self.limit = limit
        self._context = _context()
        self._workers: list[_Worker] = []
        self._waiting: list[_Job] = []
        self._numbers = itertools.count()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def n_busy(self) -> int:
        """How many processes work now."""
        return sum(worker.job is not None for worker in self._workers)

    @property
    def process_ids(self) -> list[int]:
        """The processes, for whoever wants to look at them."""
        return [worker.process.pid for worker in self._workers]

    def busy_process_ids(self) -> list[int]:
        """Return the processes that work now."""
        return [worker.process.pid for worker in self._workers if worker.job is not None]

    def start(self) -> None:
        """Start the processes; a running event loop hears their answers."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self.close()
            self._loop = loop
        while len(self._workers) < 2 * self.n_workers:
            self._workers.append(self._new_worker(is_urgent=len(self._workers) < self.n_workers))

    def submit(
        self,
        session: str,
        kind: str,
        function: Callable[..., Any],
        *arguments: Any,
        deliver: Callable[[Outcome], None],
        urgent: bool = True,
        limit: float | None = None,
    ) -> None:
        """Have a function of a module called in a process, and its outcome delivered.

        Parameters
        ----------
        session, kind
            Whose job it is, and which: a newer job of the same two replaces this one.
        function, arguments
            What to call; where it is a generator, each value is delivered as a part.
        deliver
            Called with each outcome on the event loop, never after the job was replaced.
        urgent
            Whether somebody waits for it; if not, it runs beside such jobs, never before them.
        limit
            Seconds that it may take; None for the limit of the pool.
        """
        self.start()
        self._drop(session, kind, gently=True)
        seconds = self.limit if limit is None else limit
        job = _Job(
            next(self._numbers), session, kind, function, arguments, deliver, urgent, seconds
        )
        self._waiting.append(job)
        self._assign()
        for worker in list(self._workers):
            self._relieve(worker, worker.job)

    def forget(self, session: str, kind: str) -> None:
        """Have no outcome delivered of the jobs of one kind; what runs may end by itself."""
        self._drop(session, kind, gently=True)

    def cancel(self, session: str, kind: str | None = None) -> None:
        """End the jobs of a session, or those of one kind, without an outcome."""
        for job in [*self._waiting, *(w.job for w in self._workers if w.job)]:
            if job.session == session and kind in (None, job.kind):
                self._drop(session, job.kind, gently=False)

    def close(self) -> None:
        """End all processes."""
        self._waiting.clear()
        ended, self._workers = self._workers, []
        for worker in ended:
            self._end(worker)
        for worker in ended:
            worker.process.join(5)

    def _drop(self, session: str, kind: str, *, gently: bool) -> None:
        self._waiting = [job for job in self._waiting if (job.session, job.kind) != (session, kind)]
        for worker in list(self._workers):
            job = worker.job
            if job is None or (job.session, job.kind) != (session, kind):
                continue
            job.is_current = False
            if not gently:
                self._replace(worker)
                continue
            ran = self._now() - worker.started
            for seconds in (PATIENCE, FORBEARANCE):
                self._later(worker, max(seconds - ran, 0.0), self._relieve, worker, job)

    def _relieve(self, worker: _Worker, job: _Job | None) -> None:
        """End a job that nobody waits for, if it holds up others or has gone on for long."""
        if job is None or job.is_current or worker.job is not job:
            return
        holds_up = worker.is_urgent and any(item.urgent for item in self._waiting)
        if self._now() - worker.started >= (PATIENCE if holds_up else FORBEARANCE):
            self._replace(worker)

    def _assign(self) -> None:
        for worker in self._workers:
            job = self._next_job(worker.is_urgent) if worker.job is None else None
            if job is None:
                continue
            worker.job, worker.started = job, self._now()
            try:
                worker.connection.send((job.number, job.function, job.arguments))
            except OSError:  # it died while it had nothing to do
                worker.job = None
                self._waiting.append(job)
                self._replace(worker)
                return
            self._later(worker, job.limit, self._expire, worker, job)

    def _next_job(self, is_urgent: bool) -> _Job | None:
        """Take the first job that may begin: long ones never hold all processes of a kind."""
        running = [worker.job for worker in self._workers if worker.is_urgent == is_urgent]
        n_long = sum(job is not None and job.limit > LONG for job in running)
        for job in self._waiting:
            if job.urgent == is_urgent and (job.limit <= LONG or n_long < self.n_workers - 1):
                self._waiting.remove(job)
                return job
        return None

    def _hear(self, worker: _Worker) -> None:
        job = worker.job
        try:
            number, outcome = worker.connection.recv()
        except (EOFError, OSError):
            self._replace(worker)
            if job is not None and job.is_current:
                job.deliver(
                    Outcome(
                        "failed",
                        message="The process that did this work ended; a new one was started.",
                    )
                )
            return
        if job is None or number != job.number:
            return
        if outcome.state != "part":
            self._rest(worker)
        if job.is_current:
            job.deliver(outcome)
        self._assign()

    def _expire(self, worker: _Worker, job: _Job) -> None:
        if worker.job is not job:
            return
        self._replace(worker)
        if job.is_current:
            job.deliver(
                Outcome("failed", message=f"Stopped: it took more than {job.limit:g} seconds.")
            )

    def _replace(self, worker: _Worker) -> None:
        if worker not in self._workers:
            return
        self._end(worker)
        self._workers[self._workers.index(worker)] = self._new_worker(worker.is_urgent)
        self._assign()

    def _rest(self, worker: _Worker) -> None:
        worker.job = None
        for timer in worker.timers:
            timer.cancel()
        worker.timers.clear()

    def _end(self, worker: _Worker) -> None:
        self._rest(worker)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(worker.connection.fileno())
        worker.process.kill()
        worker.connection.close()

    def _new_worker(self, is_urgent: bool) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, is_urgent), daemon=True)  # type: ignore[attr-defined]
        with _no_main_module():
            process.start()
        theirs.close()
        worker = _Worker(process, ours, is_urgent)
        assert self._loop is not None
        self._loop.add_reader(ours.fileno(), self._hear, worker)
        return worker

    def _later(self, worker: _Worker, seconds: float, call: Callable[..., None], *who: Any) -> None:
        assert self._loop is not None
        worker.timers.append(self._loop.call_later(seconds, call, *who))

    def _now(self) -> float:
        assert self._loop is not None
        return self._loop.time()


def _context() -> BaseContext:
    """Return how processes are started: copies of one that has imported everything already."""
    try:
        context = get_context("forkserver")
    except ValueError:  # Windows
        return get_context("spawn")
    context.set_forkserver_preload(PRELOADED)
    return context


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Hide the program from a process that starts: it would run it again, and needs none of it."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def _work(connection: Connection, is_urgent: bool) -> None:
    """Do one job after the other, until the other end is closed."""
    if not is_urgent and hasattr(os, "nice"):
        os.nice(NICENESS)
    # A copy has them already; a process that began from nothing loads them before its first job.
    for module in PRELOADED:
        import_module(module)
    while True:
        try:
            number, function, arguments = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            for outcome in _outcomes(function, arguments):
                connection.send((number, outcome))
        except (BrokenPipeError, KeyboardInterrupt):
            return


def _outcomes(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Iterator[Outcome]:
    """Yield what a job gives, whatever happens in it."""
    with warnings.catch_warnings(record=True) as caught, one_blas_thread():
        warnings.simplefilter("always")
        try:
            value = function(*arguments)
            if isgenerator(value):
                for part in value:
                    yield Outcome("part", part)
                value = None
        # A learner can fail in any way; the page says how and goes on.
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            yield Outcome("failed", message=text[:500])
            return
    spoken = dict.fromkeys(" ".join(str(item.message).split()) for item in caught)
    yield Outcome("done", value, warnings=tuple(spoken)[:3])
