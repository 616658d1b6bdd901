"""Plain text tables."""

import pytest

from verulam.experiment._text import number_text, numbers_text, seconds_text, text_table


def test_columns_line_up():
    lines = text_table(["name", "n"], [["a", "100"], ["longer", "2"]]).splitlines()
    assert lines == ["name      n", "------  ---", "a       100", "longer    2"]


@pytest.mark.parametrize(
    ("value", "text"), [(0.25, "0.2500"), (1234.5678, "1235"), (float("nan"), "-")]
)
def test_numbers(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0123, "12.3 ms"), (2.5, "2.50 s"), (float("nan"), "-")]
)
def test_seconds(value, text):
    assert seconds_text(value) == text


def test_one_column_has_one_number_of_decimals():
    assert numbers_text([1234.56, 2.0]) == ["1235", "2"]
    assert numbers_text([0.12345, 99.0]) == ["0.1235", "99.0000"]
    assert numbers_text([1e9, 2.0]) == ["1e+09", "2.0000"]
    assert numbers_text([]) == []
