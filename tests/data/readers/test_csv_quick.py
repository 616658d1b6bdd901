"""Plain files in one pass of compiled loops: what pandas reads, bit for bit, or nothing at all."""

import random

import numpy as np
import pandas as pd
import pytest

from verulam.data import read_csv
from verulam.data._readers import csv as csv_reader
from verulam.data._readers import csv_quick
from verulam.data._readers.csv_layout import csv_layout
from verulam.numerics import njit

assert njit  # with the compiler here, loops are used for small files too
NUMBERS = (
    *("0", "-0", "7", "+7", "007", "123456789012345", "000000000000012"),
    *("1.5", "-2.25", ".5", "5.", "-.125", "+3.0", "00.10", "0.00000000000001"),
    *("0.12345678901234", "12345.6789012345", "123456789012.345", "-0.0"),
    *("1e5", "1E-5", "-2.5e+10", "1e15", "7e-22", "123456789.5e-2", "0e3"),
)


def quick(path):
    return csv_quick.quick_frame(path.read_bytes(), csv_layout(path))


def both_ways(path, monkeypatch):
    """Return what is read with the loops, and without."""
    quickly = read_csv(path)
    with monkeypatch.context() as patch:
        patch.setattr(csv_reader, "plain_content", lambda *_: None)
        return quickly, read_csv(path)


def assert_same(first, second):
    pd.testing.assert_frame_equal(first.table, second.table, check_exact=True)
    floats = [table.select_dtypes("float").to_numpy() for table in (first.table, second.table)]
    np.testing.assert_array_equal(*(np.signbit(values) for values in floats))
    assert first.hints == second.hints
    assert first.content_hash == second.content_hash


@pytest.mark.parametrize("decimal", [".", ","])
def test_numbers_of_all_forms_are_those_of_pandas(tmp_path, monkeypatch, decimal):
    path = tmp_path / "table.csv"
    lines = [f"{number};-{number.lstrip('+-')};x" for number in NUMBERS]
    path.write_text("\n".join(["a;b;c", "1.5;2.5;y", *lines, ""]).replace(".", decimal))
    assert quick(path) is not None
    assert_same(*both_ways(path, monkeypatch))


@pytest.mark.parametrize("digits", [3, 7, 12])
def test_drawn_numbers_are_those_of_pandas(tmp_path, monkeypatch, digits):
    rng = np.random.default_rng(digits)
    values = rng.normal(size=2000) * 10.0 ** rng.integers(-12, 2, 2000)
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "".join(f"{v:.{digits}f},{i}\n" for i, v in enumerate(values)))
    assert quick(path) is not None
    assert_same(*both_ways(path, monkeypatch))


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2.5,red\n2,,blue\n3,1e-9,red\n",
        "a,b\n1,NA\n?,x\n3,none\n",
        "a,b\nNA,1\nnone,2\n-,3\n",
        "code,b\n007,1\n012,2\n?,3\n",
        "a,b\n\n1,2\n\n3,4",
        "\r\na,b\r\n1,2\r\n\r\n3,x y\r\n",
        "\ufeffnaïve,b\né,2\nü,4\n",
        "a\tb\n1\tx y\n2\t\n",
        "when,b\n2024-01-02,1\n2024-01-03,2\n",
        "a,b\n1,$5\n2,$7\n",
        "a,b,c\n,,\n1,,x\n",
        "1,x\n2,y\n",
    ],
)
def test_plain_files_are_read_alike(tmp_path, monkeypatch, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    assert quick(path) is not None
    assert_same(*both_ways(path, monkeypatch))


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,3\n4\n",  # as many delimiters as there should be
        "a,b\n1\n2,3,4\n",
        "a,b\n1,2\n3\n",
        "a,b\rx,1\r\n2,3\n",
        "a,b\r1,2\r3,4\r",
        "a,b\n1,True\n2,False\n",
        "a,b\n1,inf\n2,3\n",
        "a,b\n 1, x\n2, y\n",
        "a,b\n1,12345678901234567890\n2,3\n",
        "a,b\n1,1234567890123456\n2,3\n",
        "a,b\n1,0.1234567890123456\n2,3\n",
        "a,b\n1,1e23\n2,3\n",
        "a,b\n1,1e-23\n2,3\n",
        "a,b\n1,1e16\n2,3\n",
        "a,b\n1,1e400\n2,3\n",
        "a,b\n1,1e\n2,3\n",
        "a,b\n1,2e3e4\n2,3\n",
        "a,b\n1,1.2.3\n2,3\n",
        "a,b\n1,-\n2,--\n-,-+3\n",
        "a,b\n1,x\0y\n2,z\n",
        "  \na,b\n1,2\n",
    ],
)
def test_what_pandas_may_read_otherwise_is_left_to_it(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n", newline="")
    layout = csv_layout(path)
    content = text.encode()
    by_head = csv_quick.quick_frame(content, layout)
    assert by_head is None


def test_a_word_far_below_numbers_is_left_to_pandas(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "1,2\n" * 30_000 + "word,3\n")
    assert quick(path) is None
    assert_same(*both_ways(path, monkeypatch))


def test_bytes_that_are_no_text_are_left_to_pandas(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b\nx,1\n\xe9,2\n")
    assert csv_quick.quick_frame(path.read_bytes(), csv_layout(path)) is None


@pytest.mark.parametrize("n_columns", [5, 150])
def test_drawn_tables_are_read_alike(tmp_path, monkeypatch, n_columns):
    draw = random.Random(n_columns)
    kinds = [
        lambda: str(draw.randrange(1000)),
        lambda: draw.choice(["", "NA", f"{draw.random():.4f}"]),
        lambda: draw.choice(["red", "blue", "none", "n/a", "green"]),
        lambda: f"{draw.uniform(-1, 1):.9f}",
        lambda: f"{draw.choice('abc')}{draw.randrange(10**6)}",
    ]
    rows = [[kinds[k % 5]() for k in range(n_columns)] for _ in range(200)]
    rows[0] = ["3", "0.5", "red", "0.25", "a7"] * (n_columns // 5)
    names = [f"c{k}" for k in range(n_columns)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(map(",".join, [names, *rows])) + "\n")
    assert quick(path) is not None
    assert_same(*both_ways(path, monkeypatch))


def test_loops_are_not_loaded_for_a_small_file(monkeypatch):
    layout = csv_reader.CsvLayout("utf-8", ",", ".", header=True, names=("a", "b"))
    content = b"a,b\n1,2\n"
    assert csv_quick.quick_frame(content, layout) is not None
    monkeypatch.delitem(csv_quick.sys.modules, "numba")
    assert csv_quick.quick_frame(content, layout) is None
    monkeypatch.setattr(csv_quick, "_LARGE_BYTES", 5)
    assert csv_quick.quick_frame(content, layout) is not None
