"""Plain CSV files in one pass of compiled loops, where all fields of a column are of one kind."""

import sys
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.data._readers.csv_layout import (
    MISSING_MARKERS,
    WORD_MARKERS,
    CsvLayout,
)

#: So many columns are put together by kind: one by one takes long.
_MANY_COLUMNS = 100
#: Loading a compiler and its loops takes as long as reading so much without them.
_LARGE_BYTES = 2**26
_DELIMITERS, _DECIMALS = frozenset(",;|\t"), frozenset(".,")
_MARK = b"\xef\xbb\xbf"


def quick_frame(content: bytes, layout: CsvLayout) -> pd.DataFrame | None:
    """Return the table of a plain file, with the numbers and strings that pandas would read.

    Parameters
    ----------
    content
        All of the file, which has no quotes.
    layout
        How it is laid out.

    Returns
    -------
        None where that would be slower, or pandas might read it otherwise: a column of numbers
        with a field that is none, truth values, numbers of more than 15 digits, spaces in front
        of strings, and lines of unequal length.
    """
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return None
    is_usual = layout.delimiter in _DELIMITERS and layout.decimal in _DECIMALS
    if not (is_usual and _loops_pay(len(content)) and _is_utf_8(content, layout)):
        return None
    if not content.endswith(b"\n"):
        content += b"\n"
    data, begin = np.frombuffer(content, np.uint8), len(_MARK) * content.startswith(_MARK)
    if layout.header:
        while content[begin : begin + 1] in (b"\r", b"\n"):
            begin += 1
        end = content.index(b"\n", begin)
        if not content[begin:end].strip():
            return None
        begin = end + 1
    is_string = np.array([name in layout.strings for name in layout.names])
    columns = np.where(is_string, -np.cumsum(is_string), np.cumsum(~is_string) - 1)
    is_end, markers, ends, heads, n_shared = _markers(layout.delimiter)
    n_markers = np.array([n_shared if name in layout.words else len(ends) for name in layout.names])
    most = int(np.count_nonzero(data[begin:] == ord("\n"))) + 1
    numbers = np.empty((int((~is_string).sum()), most))
    starts, stops = np.empty((2, int(is_string.sum()), most), np.int64)
    marks = np.array([ord(layout.delimiter), ord(layout.decimal)])
    state = np.zeros(len(columns), np.int64)
    form = (marks, is_end, _powers(), markers, ends, heads, columns, n_markers)
    n_rows = _loops().read_fields(data, begin, *form, numbers, starts, stops, state)
    if n_rows < 1:
        return None
    numbers, starts, stops = numbers[:, :n_rows], starts[:, :n_rows], stops[:, :n_rows]
    places = list(zip(starts, stops, strict=True))
    if any(_may_be_others(content, *ends) for ends in places):
        return None
    strings = [_strings(data, *ends) for ends in places]
    return _table(layout.names, columns, numbers, state == _loops().WHOLE, strings)


@cache
def _loops() -> Any:
    """Return the module of the loops, with which the compiler comes."""
    return import_module(f"{__package__}.csv_loops")


def _loops_pay(n_bytes: int) -> bool:
    """Tell whether reading is quicker by compiled loops, or would be once they are loaded."""
    return "numba" in sys.modules or n_bytes > _LARGE_BYTES


def _is_utf_8(content: bytes, layout: CsvLayout) -> bool:
    if content.isascii():
        return b"\0" not in content
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return layout.encoding.startswith("utf-8") and b"\0" not in content


def _strings(
    data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
) -> pd.Series:
    import pyarrow as pa

    missing = starts < 0
    offsets = np.empty(len(starts) + 1, np.int64)
    letters = np.empty(int((stops - starts)[~missing].sum()), np.uint8)
    _loops().gather(data, starts, stops, offsets, letters)
    buffers = [
        pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None,
        pa.py_buffer(offsets),
        pa.py_buffer(letters),
    ]
    return pa.Array.from_buffers(pa.large_string(), len(starts), buffers).to_pandas()


def _may_be_others(content: bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> bool:
    """Tell whether strings may be truth values, or missing altogether."""
    row = np.argmax(starts >= 0)
    return starts[row] < 0 or content[starts[row] : stops[row]].lower() in {b"true", b"false"}


def _table(
    names: tuple[str, ...],
    columns: NDArray[np.int64],
    numbers: NDArray[np.float64],
    is_whole: NDArray[np.bool_],
    strings: list[pd.Series],
) -> pd.DataFrame:
    """Return numbers, whole numbers and strings as the columns that their places say."""
    if len(names) <= _MANY_COLUMNS:
        rows = [
            strings[-1 - row] if row < 0 else numbers[row].astype(dtype, copy=False)
            for row, dtype in zip(columns, np.where(is_whole, "int64", "float64"), strict=True)
        ]
        return pd.DataFrame(dict(zip(names, rows, strict=True)), copy=False)
    labels, is_number = np.array(names, object), columns >= 0
    is_whole = is_whole & is_number
    parts = [
        pd.DataFrame(numbers[columns[which]].astype(dtype).T, columns=labels[which])
        for which, dtype in ((is_number & ~is_whole, "float64"), (is_whole, "int64"))
        if which.any()
    ]
    others = dict(zip(labels[~is_number], strings, strict=True))
    return pd.concat([*parts, pd.DataFrame(others)], axis=1)[list(names)]


@cache
def _powers() -> NDArray[np.float64]:
    return np.array([float(f"1e{exponent}") for exponent in range(_loops().EXACT_POWER + 1)])


@cache
def _markers(
    delimiter: str,
) -> tuple[NDArray[np.bool_], NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_], int]:
    """Return what ends fields; the markers, their ends and heads, how many hold among words."""
    shared = [marker for marker in MISSING_MARKERS if marker not in WORD_MARKERS]
    markers = [marker.encode() for marker in (*shared, *sorted(WORD_MARKERS))]
    is_end = np.zeros(256, bool)
    is_end[[ord(letter) for letter in delimiter + "\r\n"]] = True
    # What follows an empty field stands for it.
    heads = is_end.copy()
    heads[[marker[0] for marker in markers if marker]] = True
    ends = np.cumsum([len(marker) for marker in markers])
    return is_end, np.frombuffer(b"".join(markers), np.uint8), ends, heads, len(shared)
