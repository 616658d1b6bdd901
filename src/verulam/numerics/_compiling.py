"""What goes on while loops are compiled: a word on the terminal, and no garbage collection."""

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from numba.core.event import Listener, install_listener, register

#: Silence up to this many seconds of compilation.
PATIENCE = 2.0


class CompilationWatch(Listener):
    """Adds up the seconds that compilations take and speaks once when they are many.

    Numba tells of the start and end of each compilation, one inside another where a loop calls
    the next; what it loads from its cache is no compilation.
    """

    def __init__(self, package: str) -> None:
        self.package = package
        self.seconds = 0.0
        self.spoken = False
        self._depth = 0
        self._start = 0.0
        self._timer: Timer | None = None

    def on_start(self, event: Any) -> None:
        """Set a timer for when patience ends, unless a compilation is going on already."""
        self._depth += 1
        if self._depth == 1:
            self._start = time.perf_counter()
            if not self.spoken:
                self._timer = Timer(max(PATIENCE - self.seconds, 0.0), self._speak)
                self._timer.daemon = True
                self._timer.start()

    def on_end(self, event: Any) -> None:
        """Stop the timer and count the seconds."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._start
            if self._timer is not None:
                self._timer.cancel()

    def _speak(self) -> None:
        self.spoken = True
        say(f"{self.package}: compiling, once on this machine ...")


class CollectorPause(Listener):
    """Keeps Python's garbage collector from running while loops are compiled.

    Numba makes very many objects that live as long as the compilation; looking through them again
    and again for garbage takes a fifth of the time. Numba compiles under a lock of its own, so the
    count of compilations inside one another belongs to one thread at a time.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._was_enabled = False

    def on_start(self, event: Any) -> None:
        """Pause the collector at the outermost compilation."""
        if self._depth == 0:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Let the collector run again, if it did before; Numba says so after errors, too."""
        self._depth -= 1
        if self._depth == 0 and self._was_enabled:
            gc.enable()


_pauses: list[CollectorPause] = []


def pause_collector() -> None:
    """Keep the garbage collector from running in all compilations of this process."""
    if not _pauses:
        _pauses.append(CollectorPause())
        register("numba:compile", _pauses[0])


_watches: list[CompilationWatch] = []


@contextmanager
def announced(package: str) -> Iterator[None]:
    """Say on the terminal when the compilations of a call take long, and when they are done.

    Loops are compiled at the first call on a machine and kept in Numba's cache; a call that takes
    long for its data is not announced. Inside another announced call nothing is said twice.

    Parameters
    ----------
    package
        The package that speaks, such as "verulam.tree".
    """
    if _watches:
        yield
        return
    watch = CompilationWatch(package)
    _watches.append(watch)
    try:
        with install_listener("numba:compile", watch):
            yield
    finally:
        _watches.remove(watch)
        if watch.spoken:
            say(f"{package}: compiled in {watch.seconds:.0f} s.")


def say(text: str) -> None:
    """Print a line on the terminal, apart from a program's output."""
    print(text, file=sys.stderr, flush=True)
