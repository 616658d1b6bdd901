"""A word on the terminal while the first call compiles, so that nobody waits in doubt."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

#: Silence up to this many seconds.
PATIENCE = 2.0

_state = {"compiled": False}


@contextmanager
def announced() -> Iterator[None]:
    """Say on the terminal, once in a process, when the first growing takes long.

    The loops are compiled at the first call on a machine and kept in Numba's cache.
    """
    if _state["compiled"]:
        yield
        return
    start = time.perf_counter()
    timer = Timer(PATIENCE, _say, ["verulam.tree: compiling, once on this machine ..."])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _state["compiled"] = True
        seconds = time.perf_counter() - start
        if seconds > PATIENCE:
            _say(f"verulam.tree: ready after {seconds:.0f} s.")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
