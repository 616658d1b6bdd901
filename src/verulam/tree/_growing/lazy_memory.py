"""Lazily committed memory: arrays whose pages are taken when first written to and can be released.

The orders of a large table are used up node by node. Taken as whole arrays they would stay until
the last node is done; page by page, each part of the tree releases what it no longer needs.
"""

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.tree._tuning import PAGED_BYTES


def empty_pages(count: int, kind: Any = np.float64) -> NDArray[Any]:
    """Return an array of which only the pages that are written to take memory.

    Parameters
    ----------
    count
        Number of entries.
    kind
        Their dtype.
    """
    n_bytes = count * np.dtype(kind).itemsize
    if n_bytes < PAGED_BYTES or not hasattr(mmap, "MAP_PRIVATE"):
        return np.empty(count, dtype=kind)
    # NumPy asks for huge pages, of which the first byte that is written takes all.
    pages = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, dtype=kind)


def release_pages(array: NDArray[Any], first: int, last: int) -> None:
    """Return the pages of some entries to the system; their values are lost.

    Nothing happens where the array was not made by `empty_pages`, or has no whole page there.

    Parameters
    ----------
    array
        One-dimensional, or a row of an array that was reshaped.
    first, last
        The entries from `first` up to, but without, `last`.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    # NumPy keeps a view of the buffer, which knows the map that it is of.
    owner = getattr(owner, "obj", owner)
    if not isinstance(owner, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    address, size = array.ctypes.data, array.itemsize
    offset = address - np.frombuffer(owner, dtype=np.uint8).ctypes.data
    # Inwards to whole pages, because the entries next to these are still in use; a map starts where
    # a page does.
    start = -(-(offset + first * size) // mmap.PAGESIZE) * mmap.PAGESIZE
    stop = (offset + last * size) // mmap.PAGESIZE * mmap.PAGESIZE
    if stop > start:
        owner.madvise(mmap.MADV_DONTNEED, start, stop - start)
