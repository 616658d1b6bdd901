"""Plain text tables."""

import pytest

from verulam.experiment._text import number_text, seconds_text, text_table


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
