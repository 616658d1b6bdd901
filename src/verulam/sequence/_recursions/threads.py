"""Threads to share work out to, kept over the passes of a fit."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TypeVar

from verulam.base import thread_count, thread_pool

ResultT = TypeVar("ResultT")


class _Kept:
    """Threads that begin when they are first needed, and end with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._pool: ThreadPoolExecutor | None = None

    @property
    def pool(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = self._stack.enter_context(thread_pool(thread_count()))
        return self._pool


_KEPT: ContextVar[_Kept | None] = ContextVar("kept threads", default=None)


@contextmanager
def kept_threads() -> Iterator[None]:
    """Keep threads for the length of a block: to start them may take longer than a pass."""
    with ExitStack() as stack:
        token = _KEPT.set(_Kept(stack))
        try:
            yield
        finally:
            _KEPT.reset(token)


def shared_out(function: Callable[[int], ResultT], count: int, threads: int = 0) -> list[ResultT]:
    """Return the function of each place; the caller's thread is one of those that work.

    Parameters
    ----------
    function
        Takes a place, counted from 0; compiled code in it should not hold the interpreter.
    count
        Number of places.
    threads
        How many work at most; 0 stands for `thread_count`.
    """
    threads = min(threads or thread_count(), count)
    if threads <= 1:
        return [function(place) for place in range(count)]
    results: dict[int, ResultT] = {}
    # Taking from an iterator cannot be interrupted by another thread.
    places = iter(range(count))

    def work() -> None:
        for place in places:
            results[place] = function(place)

    with ExitStack() as stack:
        kept = _KEPT.get() or _Kept(stack)
        others = [kept.pool.submit(work) for _ in range(threads - 1)]
        try:
            work()
        finally:
            wait(others)
        for other in others:
            other.result()
    return [results[place] for place in range(count)]
