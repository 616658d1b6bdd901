"""Threads: how many, one map over tasks, and BLAS held to one thread meanwhile."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock, Thread
from typing import Any, TypeVar

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

#: The threads that `kept_threads` holds ready for its block; None outside of one.
_POOL: ContextVar[ThreadPoolExecutor | None] = ContextVar("kept threads", default=None)


def thread_count() -> int:
    """Return the threads that a computation may use: ``VERULAM_THREADS``, or the cores."""
    setting = os.environ.get("VERULAM_THREADS", "")
    if setting:
        return max(1, int(setting))
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this operating system
        return os.cpu_count() or 1


def thread_map(
    function: Callable[[TaskT], ResultT],
    tasks: Iterable[TaskT],
    threads: int = 0,
    *,
    limit_blas: bool = True,
) -> list[ResultT]:
    """Return `function` of each task, in order; the calling thread is one of those that work.

    Parameters
    ----------
    function
        Takes a task; compiled code in it should release the interpreter's lock.
    tasks
        What to do.
    threads
        How many work at most; 0 stands for `thread_count`.
    limit_blas
        Whether BLAS is held to one thread meanwhile, because its own would fight with ours. To
        set and restore that takes longer than a task that lasts less than a millisecond.
    """
    return list(iterate_in_threads(function, tasks, threads, limit_blas=limit_blas))


def iterate_in_threads(
    function: Callable[[TaskT], ResultT],
    tasks: Iterable[TaskT],
    threads: int = 0,
    *,
    limit_blas: bool = True,
) -> Iterator[ResultT]:
    """Yield what `thread_map` returns, each result as soon as those before it are there.

    Few results wait in memory at a time, so that large records can be added up.
    """
    tasks = list(tasks)
    helpers = min(threads or thread_count(), len(tasks)) - 1
    if helpers < 1:
        yield from map(function, tasks)
        return
    with one_blas_thread() if limit_blas else nullcontext():
        yield from _ordered_results(function, tasks, helpers)


def _ordered_results(
    function: Callable[[TaskT], ResultT], tasks: list[TaskT], helpers: int
) -> Iterator[ResultT]:
    results: dict[int, ResultT] = {}
    faults: list[BaseException] = []
    # Taking the next of an iterator is one step, which threads cannot divide.
    pending = iter(enumerate(tasks))

    def work() -> None:
        try:
            for place, task in pending:
                results[place] = function(task)
        except BaseException as fault:  # raised again by the caller
            faults.append(fault)
            deque(pending, maxlen=0)

    join = _start(work, helpers)
    following = 0
    try:
        for place, task in pending:
            results[place] = function(task)
            while following in results:
                yield results.pop(following)
                following += 1
    finally:
        # After a fault here, or where nobody wants more, the others finish what they have begun.
        deque(pending, maxlen=0)
        join()
    if faults:
        raise faults[0]
    for place in range(following, len(tasks)):
        yield results.pop(place)


def _start(work: Callable[[], None], count: int) -> Callable[[], None]:
    """Start workers, in the threads that are kept if there are any; return what waits for them."""
    pool = _POOL.get()
    started = [Thread(target=work) for _ in range(count)] if pool is None else []
    futures = [] if pool is None else [pool.submit(work) for _ in range(count)]
    for thread in started:
        thread.start()

    def join() -> None:
        wait(futures)
        for thread in started:
            thread.join()

    return join


@contextmanager
def kept_threads() -> Iterator[None]:
    """Keep threads and the setting of BLAS for a block, in which maps are many and short."""
    with one_blas_thread(), ThreadPoolExecutor(thread_count()) as pool:
        token = _POOL.set(pool)
        try:
            yield
        finally:
            _POOL.reset(token)


class _BlasThreads:
    """BLAS's own threads, held to one while anybody asks for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limit: Any = None
        self._controller: Any = None

    def hold(self) -> None:
        """Hold BLAS to one thread; the first user changes the setting."""
        with self._lock:
            if self._users == 0:
                if self._controller is None:
                    from threadpoolctl import ThreadpoolController

                    # Finding the libraries takes milliseconds, so they are kept.
                    self._controller = ThreadpoolController().select(user_api="blas")
                self._limit = self._controller.limit(limits=1)
            self._users += 1

    def release(self) -> None:
        """Let go; the last user sets it back."""
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


_BLAS = _BlasThreads()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, also where several threads of the caller do so at once."""
    _BLAS.hold()
    try:
        yield
    finally:
        _BLAS.release()
