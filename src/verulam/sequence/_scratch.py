"""Memory that passes of Baum-Welch use again: fresh pages cost as much as the recursions."""

from threading import local

import numpy as np


class Scratch(local):
    """Arrays by name, one set per thread, that live until they are released."""

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

    def release(self) -> None:
        """Give this thread's memory back."""
        self._buffers.clear()


#: For sums alone: what is given to the caller must not be overwritten later.
SCRATCH = Scratch()


def fresh_or_scratch(name: str, shape: tuple[int, ...], scratch: Scratch | None) -> np.ndarray:
    """Return an array of any content, from the scratch memory where there is one."""
    return np.empty(shape) if scratch is None else scratch.array(name, shape)
