"""Memory that is taken page by page as it is written to, and can be given back in parts."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes from which on room is taken page by page.
LARGE_ROOM = 2**17


def room(count: int, kind: Any = np.float64) -> NDArray[Any]:
    """Return an array of which only the pages that are written to take memory.

    NumPy asks for huge pages, of which the first byte takes all.
    """
    n_bytes = count * np.dtype(kind).itemsize
    if n_bytes < LARGE_ROOM or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(count, dtype=kind)
    pages = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype=kind)


def give_back(array: NDArray[Any], first: int, last: int) -> None:
    """Give back the pages of the entries from `first` to `last` of a row, whose values are lost.

    Nothing happens where the array was not made by `room`, or has no whole page there.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    owner = getattr(owner, "obj", owner)
    if not isinstance(owner, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    # Rooms start where a page does.
    address, size = array.ctypes.data, array.itemsize
    offset = address - np.frombuffer(owner, dtype=np.uint8).ctypes.data
    start = -(-(offset + first * size) // mmap.PAGESIZE) * mmap.PAGESIZE
    stop = (offset + last * size) // mmap.PAGESIZE * mmap.PAGESIZE
    if stop > start:
        owner.madvise(mmap.MADV_DONTNEED, start, stop - start)
