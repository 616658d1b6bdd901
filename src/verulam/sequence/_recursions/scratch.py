"""Memory that passes of Baum-Welch use again: fresh pages cost as much as the recursions."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class Scratch:
    """Arrays by name, whose memory is used again."""

    def __init__(self) -> None:
        self._buffers: dict[str, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array of any content, the same memory as the last of that name.

        Parameters
        ----------
        name
            What the array is for.
        shape
            Its shape.
        """
        size = int(np.prod(shape))
        if name not in self._buffers or self._buffers[name].size < size:
            self._buffers[name] = np.empty(size)
        return self._buffers[name][:size].reshape(shape)


class ScratchPool:
    """Scratch memory to borrow: each borrower has its own, in whatever thread."""

    def __init__(self) -> None:
        self._free: list[Scratch] = []

    @contextmanager
    def borrowed(self) -> Iterator[Scratch]:
        """Lend scratch memory for the length of a block."""
        # Taking from a list and adding to it cannot be interrupted by another thread.
        try:
            scratch = self._free.pop()
        except IndexError:
            scratch = Scratch()
        try:
            yield scratch
        finally:
            self._free.append(scratch)

    def release(self) -> None:
        """Give the memory back that nobody has borrowed."""
        self._free.clear()


#: For sums alone: what is given to the caller must not be overwritten later.
SCRATCH = ScratchPool()


def fresh_or_scratch(name: str, shape: tuple[int, ...], scratch: Scratch | None) -> np.ndarray:
    """Return an array of any content, from the scratch memory where there is one."""
    return np.empty(shape) if scratch is None else scratch.array(name, shape)
