"""Oddly written CSV files: read to the right table, or refused with the line where it is wrong."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import read

ROWS = [
    ("Zoë", "2.5", "red, or so", "2024-02-29"),
    ("Ann", "-1", 'the "blue" one', "2024-03-01"),
    ("Bob", "10", "green", "2024-03-02"),
    ("Eve", "0.25", "", "2024-03-05"),
] * 3
HEADER = ("name", "size", "remark", "day")
ENDS = {"unix": "\n", "windows": "\r\n", "old mac": "\r"}


def written(delimiter=",", end="\n", quote='"', always=False, decimal="."):
    """Return the table as text, quoted where it must be, or always."""

    def cell(value, place):
        value = value.replace(".", decimal) if place == 1 else value
        needed = always or delimiter in value or quote in value
        return f"{quote}{value.replace(quote, quote * 2)}{quote}" if needed else value

    lines = [HEADER, *ROWS]
    return "".join(
        delimiter.join(cell(value, place) for place, value in enumerate(line)) + end
        for line in lines
    )


def check_table(table):
    assert list(table.columns) == list(HEADER)
    assert table["name"].astype(str).tolist() == [row[0] for row in ROWS]
    np.testing.assert_allclose(table["size"], [float(row[1]) for row in ROWS])
    assert table["remark"].isna().sum() == 3
    remarks = table["remark"].astype(object)
    assert remarks[:2].tolist() == [row[2] for row in ROWS[:2]]
    assert remarks[2].endswith("green")
    assert table["day"].dtype.kind == "M"
    assert table["day"].iloc[0] == pd.Timestamp("2024-02-29")


@pytest.mark.parametrize(
    ("delimiter", "end", "encoding"),
    [
        *product([",", ";", "\t", "|"], ENDS, ["utf-8"]),
        *product([",", ";"], ["unix", "windows"], ["utf-8-sig", "utf-16", "cp1252"]),
        *product(["\t"], ["unix"], ["utf-16-le", "latin-1"]),
    ],
)
def test_delimiters_line_ends_and_encodings(tmp_path, delimiter, end, encoding):
    content = written(delimiter, ENDS[end]).encode(encoding)
    if encoding == "utf-16-le":
        content = b"\xff\xfe" + content
    (tmp_path / "t.csv").write_bytes(content)
    check_table(read(tmp_path / "t.csv").table)


VARIANTS = {
    "all cells in quotes": written(always=True),
    "apostrophes within words": written(";").replace("green", "Ann's green"),
    "no line end at the end": written().rstrip("\n"),
    "empty lines at the end": written() + "\n\n\n",
    "empty lines between": written().replace("\nBob", "\n\nBob"),
    "a title": "Sales of 2024\n" + written(),
    "a title, filled up": "Sales,,,\n,,,\n" + written(),
    "remarks, an empty line": "# Sales\r\n# made by hand\r\n\r\n" + written(end="\r\n"),
    "a title in quotes": '"Sales, all of 2024"\n' + written(),
    "a title of two lines": '"Sales\nof 2024"\n' + written(),
    "mixed line ends": written().replace("\nBob", "\r\nBob"),
    "Excel's first line": "sep=;\n" + written(";"),
    "Excel's first line, Windows": "sep=;\r\n" + written(";", "\r\n"),
    "decimal commas": written(";", decimal=","),
    "decimal commas in quotes": written(",", decimal=",").replace("-1", "-1,0"),
    "spaces in front of the cells": written().replace(",2", ", 2"),
    "spaces around the names": written().replace("name,size", " name , size "),
    "a delimiter at the end of every line": "".join(
        line + ",\n" for line in written().splitlines()
    ),
    "two marks at the start": "\ufeff\ufeff" + written(),
    "a space without a width": "\u200b" + written(),
    "a remark with commas": "# made by Ann, Bob and others\n# in spring\n" + written(),
    "between tildes": written("~"),
    "between carets": written("^"),
    "between bytes of a data base": written("\x01"),
    "a delimiter at the end of every row": "".join(
        line + "," * (number > 0) + "\n" for number, line in enumerate(written().splitlines())
    ),
    "an empty column of a space": "".join(line + ", \n" for line in written().splitlines()),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_of_one_table(tmp_path, name):
    text = VARIANTS[name]
    if name == "decimal commas in quotes":
        text = text.replace("-1,0", '"-1,0"')
    (tmp_path / "t.csv").write_bytes(text.encode())
    table = read(tmp_path / "t.csv").table
    if table.shape[1] == 5:  # a column without a name and without a value
        assert table.iloc[:, 4].isna().all()
        table = table.iloc[:, :4]
    check_table(table)


NUMBERS = {
    "thousands": (["1,200", "15,000", "7", "1,000,000"], [1200, 15000, 7, 1e6]),
    "thousands elsewhere": (["1.200,5", "15.000,0", "7,25", "2,5"], [1200.5, 15000, 7.25, 2.5]),
    "spaces for thousands": (["1 200", "15 000", "7", "900"], [1200, 15000, 7, 900]),
    "money": (["$1,200.50", "$3.00", "$7.10", "$2.00"], [1200.5, 3, 7.1, 2]),
    "brackets for less than nothing": (["(1.50)", "2.00", "(3.25)", "4.00"], [-1.5, 2, -3.25, 4]),
    "per cent": (["5%", "7.5%", "10%", "0%"], [5, 7.5, 10, 0]),
    "a true minus": (["−1", "2", "−3", "4"], [-1, 2, -3, 4]),
    "times of day": (["14:30", "07:15", "23:00", "00:00"], [14.5, 7.25, 23, 0]),
    "parts of seconds": (
        ["00:00:59.90", "00:00:00", "01:00:00.018", "00:00:36.5"],
        [59.9 / 3600, 0, 1.000005, 36.5 / 3600],
    ),
    "exponents": (["1e3", "2.5E-2", "1E+2", "7"], [1000, 0.025, 100, 7]),
    "plus signs": (["+1", "-2", "+3", "4"], [1, -2, 3, 4]),
    "a unit": (["80 kg", "75.5 kg", "90 kg", "60 kg"], [80, 75.5, 90, 60]),
    "gaps in many words": (["1", "NA", "?", "4"], [1, np.nan, np.nan, 4]),
    "failed formulas": (["1", "#DIV/0!", "3", "#VALUE!"], [1, np.nan, 3, np.nan]),
    "nobody knows": (["1", "unknown", "3", "n.a."], [1, np.nan, 3, np.nan]),
    "spaces that are no gaps in lines": (["1\u00a0", "\u00a0", "\u20093", "4"], [1, np.nan, 3, 4]),
    "a minus behind": (["5-", "7", "10-", "2.50"], [-5, 7, -10, 2.5]),
    "apostrophes for thousands": (["1'200.50", "3'000", "7", "2"], [1200.5, 3000, 7, 2]),
    "curled apostrophes": (["1’200.50", "3’000", "7", "2"], [1200.5, 3000, 7, 2]),
    "lakhs": (["₹1,20,000.50", "₹3,00,000", "₹12", "₹1,000"], [120000.5, 3e5, 12, 1000]),
    "narrow spaces for thousands": (
        ["1\u202f200,5", "2\u00a0000,0", "3,5", "4,0"],
        [1200.5, 2e3, 3.5, 4],
    ),
    "gaps of data bases": (["1", "\\N", "(null)", "NaT"], [1, np.nan, np.nan, np.nan]),
    "gaps of C": (["1", "1.#QNAN", "-1.#IND", "4"], [1, np.nan, np.nan, 4]),
    "gaps in German": (["1", "k.A.", "3", "4"], [1, np.nan, 3, 4]),
    "a power with a decimal comma": (["1,5E+03", "2,5E-02", "1,0E+00", "2,0"], [1500, 0.025, 1, 2]),
    "losses in brackets with a mark": (["($5.00)", "$7.00", "$8.50", "$1.00"], [-5, 7, 8.5, 1]),
    "gaps as spaces": (["1", " ", "3", "4"], [1, np.nan, 3, 4]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_as_people_write_them(tmp_path, name):
    cells, values = NUMBERS[name]
    text = "key\tamount\n" + "".join(
        f"k{place % 3}\t{cell}\n" for place, cell in enumerate(cells * 3)
    )
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    np.testing.assert_allclose(read(tmp_path / "t.tsv").table["amount"], values * 3)


DATES = {
    "with a zone behind a space": ["2024-03-31 01:30:00 +0100", "2024-03-31 03:30:00 +0200"],
    "of Greenwich": ["2024-03-31 00:30:00 UTC", "2024-03-31 01:30:00 UTC"],
}


@pytest.mark.parametrize("name", DATES)
def test_dates_with_time_zones(tmp_path, name):
    (tmp_path / "t.csv").write_text("day,size\n" + "".join(f"{day},1\n" for day in DATES[name]))
    expected = [pd.Timestamp("2024-03-31 00:30"), pd.Timestamp("2024-03-31 01:30")]
    assert read(tmp_path / "t.csv").table["day"].tolist() == expected


def test_months_are_dates_and_no_date_is_a_gap(tmp_path):
    text = "month,day\n2024-01,2024-01-31\n2023-12,0000-00-00\n2024-03,2024-02-29\n"
    (tmp_path / "t.csv").write_text(text)
    table = read(tmp_path / "t.csv").table
    assert table["month"].tolist() == [
        pd.Timestamp(f"{m}-01") for m in ("2024-01", "2023-12", "2024-03")
    ]
    assert table["day"].isna().tolist() == [False, True, False]


def test_rows_that_r_has_named(tmp_path):
    by_number = '"size" "name"\n' + "".join(
        f'"{row}" {row / 2} "Ann {row}"\n' for row in range(1, 25)
    )
    (tmp_path / "t.txt").write_text(by_number)
    table = read(tmp_path / "t.txt").table
    assert list(table.columns) == ["column_1", "size", "name"]
    assert table["size"].tolist() == [row / 2 for row in range(1, 25)]
    (tmp_path / "t.csv").write_text("mpg,cyl\nMazda,21,6\nDatsun,22.8,4\nHornet,18.1,6\n")
    table = read(tmp_path / "t.csv").table
    assert table["column_1"].tolist() == ["Mazda", "Datsun", "Hornet"]
    assert table["cyl"].tolist() == [6, 4, 6]


def test_text_that_a_spreadsheet_was_told_to_keep(tmp_path):
    (tmp_path / "t.csv").write_text('place,size\n="01067",1\n="80331",2\n="01067",3\n="80331",4\n')
    assert read(tmp_path / "t.csv").table["place"].tolist() == ["01067", "80331"] * 2


def test_letters_with_accents_are_written_in_two_ways(tmp_path):
    (tmp_path / "t.csv").write_text("name,size\nZoe\u0308,1\nZo\u00eb,2\n" * 3, encoding="utf-8")
    # The names stand there thrice.
    with pytest.raises(DataError, match="line 4: has the names of the columns again"):
        read(tmp_path / "t.csv")
    text = "name,size\n" + "Zoe\u0308,1\nZo\u00eb,2\nAnn,3\n" * 3
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert read(tmp_path / "t.csv").table["name"].nunique() == 2


REMARKS = {
    "several currencies": (["$5", "€7", "£10"], "several units"),
    "shares and numbers": (["5%", "7", "10%"], "several units"),
    "kilograms and grams": (["5 kg", "700 g", "8 kg"], "several units"),
    "factors": (["5k", "1.2M", "300"], "several units"),
    "points and commas": (["1,5", "2.5", "3,25"], "points and commas"),
    "no order of day and month": (["03/04/2024", "05/06/2024", "01/02/2024"], "looks like dates"),
    "two orders of day and month": (["13/01/2024", "01/14/2024", "02/02/2024"], "looks like dates"),
    "dates and a local one": (["2024-01-05", "01/31/2024", "2024-02-07"], "but for '01/31/2024'"),
    "a day that never was": (["2024-01-31", "2024-02-30", "2024-02-01"], ""),
}


@pytest.mark.parametrize("name", REMARKS)
def test_what_is_read_as_words_is_said_to_look_like_numbers_or_dates(tmp_path, name):
    cells, remark = REMARKS[name]
    text = "key\tamount\n" + "".join(f"k\t{cell}\n" for cell in cells * 4)
    (tmp_path / "t.tsv").write_text(text, encoding="utf-8")
    data = read(tmp_path / "t.tsv")
    assert data.kinds["amount"] == "categorical"
    assert remark in data.summary()["note"]["amount"]


def test_a_word_far_below_numbers_is_named(tmp_path):
    (tmp_path / "t.csv").write_text(
        "a,b\n" + "".join(f"{i},1\n" for i in range(12_000)) + "oops,1\n"
    )
    assert read(tmp_path / "t.csv").summary()["note"]["a"] == "looks like numbers, but for 'oops'"


ODD_NAMES = {
    "no name": ("a,,b\n1,2,3\n4,5,6\n", ["a", "column_2", "b"]),
    "spaces and quotes": ('"my ""a""",b c,ü\n1,2,3\n4,5,6\n', ['my "a"', "b c", "ü"]),
    "the mark of Parquet": ("PAR1,PAR2\n1,2\n3,4\n", ["PAR1", "PAR2"]),
    "a mark of bzip2": ("BZh9,b\n1,2\n3,4\n", ["BZh9", "b"]),
    "two lines": ('"first\nname",b,c\n1,2,3\n4,5,6\n', ["first\nname", "b", "c"]),
    "years above words": ("2019,2020,2021\nx,y,z\nx,y,w\n", ["2019", "2020", "2021"]),
}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names(tmp_path, name):
    text, names = ODD_NAMES[name]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    table = read(tmp_path / "t.csv").table
    assert list(table.columns) == names
    assert len(table) == 2


REFUSED = {
    "a name twice": (b"a,a,b\n1,2,3\n4,5,6\n", "line 1: Duplicate column names: a"),
    "a line too long": (b"a,b\n1,2\n3,4\n5,6,7\n8,9\n", "line 4"),
    "a line too short": (b"a,b,c\n1,2,3\n4,5\n6,7,8\n", "line 3"),
    "ragged below Excel's line": (b"sep=;\na;b\n1;2\n3;4;5\n", "line 4"),
    "ragged after an empty line": (b"a,b\n1,2\n\n3,4,5\n", "line 4"),
    "ragged after a quoted line end": (b'a,b\n"x\ny",2\n3,4,5\n', "line 4"),
    "a zero byte far down": (
        b"a,b\n" + b"1,2\n" * 40_000 + b"3,\x004\n",
        "line 40002: .*zero byte",
    ),
    "a letter of another encoding": (
        b"name,size\n" + "Zoë,1\n".encode() * 9 + b"Zo\xeb,2\n",
        "line 11: a letter is no UTF-8",
    ),
    "another encoding than the mark says": (
        b"\xef\xbb\xbfa,b\n1,x\n3,\xe9\n",
        "line 3: cannot be decoded",
    ),
    "files put together": (b"a,b\n" + b"1,2\n3,4\n" * 4 + b"a,b\n5,6\n", "line 10: has the names"),
    "files put together, far down": (
        b"a,b\n" + b"1,2\n" * 30_000 + b"a,b\n5,6\n",
        "line 30002: has the names",
    ),
    "a page of the web": (b"<!doctype html>\n<html><body>a,b</body>\n</html>\n", "HTML or XML"),
    "XML": (b'<?xml version="1.0"?>\n<rows><row a="1" b="2"/></rows>\n', "HTML or XML"),
    "JSON": (b'[{"a": 1, "b": 2},\n {"a": 3, "b": 4}]\n', r"JSON; let its name end in \.json"),
    "marks of a merge": (b"a,b\n<<<<<<< HEAD\n1,2\n=======\n1,3\n", "line 2: expected 2 fields"),
    "two names fewer than fields": (
        b"a,b\n1,2,3,4\n5,6,7,8\n",
        "line 2: expected 2 fields, found 4",
    ),
    "one name fewer, and numbers in front": (b"a,b\n5,1,2\n7,3,4\n9,5,6\n", "line 2: expected 2"),
    "a quote that never ends": (b'a,b\n1,2\n"3,4\n5,6\n', "line 3"),
    "ragged below a title": (b"Sales\na,b\n1,2\n3,4,5\n6,7\n", "line 4: expected 2 fields"),
    "a name for two columns": (b"a\n1,2\n3,4\n5,6\n", "line 2: expected 1 field, found 2"),
    "packed, but not called so": (
        b"\x1f\x8b\x08\x00\x00",
        r"packed by gzip; let its name end in \.gz",
    ),
    "a spreadsheet": (b"PK\x03\x04\x14\x00", r"a spreadsheet; let its name end in"),
    "NUL bytes": (b"a,b\n1,2\n3,\x00\x004\n", r"t\.csv"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", r"t\.csv"),
    "nothing": (b"", r"t\.csv"),
    "spaces alone": (b"   \n  \n", r"t\.csv"),
    "a header alone": (b"a,b,c\n", r"t\.csv"),
    "a byte order mark alone": (b"\xef\xbb\xbf", r"t\.csv"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_with_its_place(tmp_path, name):
    content, place = REFUSED[name]
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError) as caught:
        read(tmp_path / "t.csv")
    assert re.search(place, str(caught.value))
    assert "\n" not in str(caught.value)
