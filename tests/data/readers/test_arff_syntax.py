"""The pieces of ARFF's syntax."""

import pytest

from verulam.data._readers.arff_syntax import (
    ArffSyntaxError,
    parse_attribute,
    parse_name,
    parse_row,
)


def test_names_may_be_quoted_and_escaped():
    assert parse_name(r"'it\'s here' real") == ("it's here", "real")
    assert parse_name("plain {a}") == ("plain", "{a}")


def test_a_quoted_question_mark_is_a_value():
    assert parse_row("?,'?'", [None, None]).values == [None, "?"]


def test_java_date_formats_become_python_ones():
    assert parse_attribute("t date").date_format == "%Y-%m-%dT%H:%M:%S"
    assert parse_attribute("t DATE 'dd/MM/yy'").date_format == "%d/%m/%y"
    assert parse_attribute('t date "HH:mm 100%"').date_format == "%H:%M 100%%"


def test_relational_attributes_are_refused():
    with pytest.raises(ArffSyntaxError, match="'relational'; accepted are numeric"):
        parse_attribute("bag relational")
