"""The layout of a CSV file, found in its first bytes."""

import csv
import io

import pytest

from verulam.data._readers.csv_layout import CsvLayout, _lines_cut, csv_layout


@pytest.fixture
def layout(tmp_path):
    def found(text, **options):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return csv_layout(path, **options)

    return found


def test_all_parts_are_found(layout):
    expected = CsvLayout("utf-8", ";", ",", True, ("a", "b"), (), ("b",), frozenset({"b"}))
    assert layout("a;b\n1,5;x\n") == expected


def test_what_is_given_is_kept(layout):
    csv = layout("a;b\n1,5;x\n", delimiter=",", decimal=".", header=False, encoding="latin-1")
    assert (csv.delimiter, csv.decimal) == (",", ".")
    assert (csv.header, csv.encoding) == (False, "latin-1")


def test_a_semicolon_beats_the_decimal_comma(layout):
    assert layout("1,5;2,5\n3,5;4,5\n").delimiter == ";"


def test_a_point_stays_the_decimal_mark_where_commas_are_rare(layout):
    assert layout("a\tb\n1.5\t1,2\n2.5\t3\n3.5\t4\n").decimal == "."


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("age,job\nyouth,no\nsenior,yes\n", True),
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("5.1,setosa\n4.9,setosa\n", False),
        ("p,x,p\ne,x,s\n", False),
        ("yes,no\nyes,yes\nno,no\n", False),
        ("2010,2011\n5,6\n", False),
        ("a,b,c\n1,x,x\n2,x,y\n", True),
        ("?,a\n1,b\n2,a\n", False),
    ],
)
def test_header(layout, text, header):
    assert layout(text).header is header


def test_codes_are_digits_of_one_length_with_zeros_in_front(layout):
    csv = layout("place,amount,flag,share,year\n01067,010,0,0.5,2001\n80331,9,1,0.7,?\n")
    assert csv.codes == ("place",)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n\n2,\n,3\n",
        "a,b\r\n1,x\r\n\r\n2,y",
        "a,b\r1,x\r2,y\r",
        "a, b\n1,  x\n",
        "a,b\n 1,x\n",
        " a,b\n1,x\n",
        "a\t,b \n\t1,x\x0b\x1cy\u2028z\n",
        "\n\n",
    ],
)
def test_lines_are_cut_by_hand_as_the_csv_module_cuts_them(text):
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    assert _lines_cut(text, ",") == [record for record in reader if record not in ([], [""])]


def test_lines_with_a_field_too_long_for_the_csv_module_are_left_to_it():
    usual = csv.field_size_limit(10)
    try:
        assert _lines_cut(f"a,b\n1,{'x' * 11}\n", ",") == []
        assert _lines_cut(f"a,b\n1,{'x' * 10}\n", ",") == [["a", "b"], ["1", "x" * 10]]
    finally:
        csv.field_size_limit(usual)
