"""Arrays that begin where vector instructions read and write quickest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes of a line of the cache, and of the widest vector register.
LINE = 64


def aligned_zeros(shape: int | tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
    """Return zeros that begin at a line of the cache.

    Loops over arrays that begin anywhere touch two lines with almost every vector instruction.
    Rows begin at a line as well where their length is a multiple of `full_lines`.

    Parameters
    ----------
    shape, dtype
        As NumPy takes them.

    Examples
    --------
    >>> from verulam.numerics import aligned_zeros
    >>> aligned_zeros((2, 8)).ctypes.data % 64
    0
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    buffer = np.zeros(size + LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % LINE
    return buffer[start : start + size].view(dtype).reshape(shape)


def full_lines(count: int, dtype: Any = np.float64) -> int:
    """Return the least number of entries, not below a count, that fill lines of the cache.

    Parameters
    ----------
    count
        Entries.
    dtype
        Their type.

    Examples
    --------
    >>> from verulam.numerics import full_lines
    >>> full_lines(100), full_lines(100, "float32"), full_lines(104)
    (104, 112, 104)
    """
    step = LINE // np.dtype(dtype).itemsize
    return -(-count // step) * step
