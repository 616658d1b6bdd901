"""Terms: what holds, for numbers, categories and missing entries; errors that help."""

import numpy as np
import pytest

from verulam.base import DataError, TableSchema
from verulam.rule import Term

SCHEMA = TableSchema(("age", "job"), (None, np.array(["A", "B", "C"])))
ROWS = np.array([[38.5, 0.0], [20.0, 1.0], [50.0, 2.0], [np.nan, np.nan]])


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (Term("age", "<=", 38.5), [1, 1, 0, 0]),
        (Term("age", "<", 38.5), [0, 1, 0, 0]),
        (Term("age", ">=", 38.5), [1, 0, 1, 0]),
        (Term("age", ">", 38.5), [0, 0, 1, 0]),
        (Term("age", "=", 20), [0, 1, 0, 0]),
        (Term("job", "=", "B"), [0, 1, 0, 0]),
        (Term("job", "!=", "B"), [1, 0, 1, 0]),
        (Term("job", "in", ("A", "C")), [1, 0, 1, 0]),
        (Term("job", "=", "B", accepts_missing=True), [0, 1, 0, 1]),
        (Term("age", ">", 40, accepts_missing=True), [0, 0, 1, 1]),
    ],
    ids=str,
)
def test_holds(term, expected):
    assert term.holds(ROWS, SCHEMA).tolist() == [bool(met) for met in expected]


def test_text():
    assert str(Term(3, "<=", 1.23456789)) == "column 3 <= 1.23457"
    assert str(Term("job", "in", ["A", "B"])) == "job in {A, B}"


def test_infinite_thresholds_tell_known_from_missing():
    known, missing = Term("age", "<=", np.inf), Term("age", ">", np.inf, accepts_missing=True)
    assert (str(known), str(missing)) == ("age is known", "age is missing")
    assert known.holds(ROWS, SCHEMA).tolist() == [True, True, True, False]
    assert missing.holds(ROWS, SCHEMA).tolist() == [False, False, False, True]


def test_unknown_relation():
    with pytest.raises(DataError, match=r"relation is '=='; accepted are '<=', '<'"):
        Term("age", "==", 3)


def test_in_needs_several_categories():
    with pytest.raises(DataError, match="value is 'A'; the relation 'in' takes a tuple"):
        Term("job", "in", "A")


def test_unknown_category_names_the_nearest():
    with pytest.raises(DataError, match="names the category 'b', which column 'job' does not have"):
        Term("job", "=", "b").holds(ROWS, SCHEMA)


def test_unknown_column_names_the_nearest():
    with pytest.raises(DataError, match=r"There is no column 'aeg'. Nearest: age"):
        Term("aeg", "<=", 3).holds(ROWS, SCHEMA)


def test_order_of_categories_is_not_assumed():
    with pytest.raises(DataError, match="column is categorical; use '=', '!=' or 'in'"):
        Term("job", "<=", 1).holds(ROWS, SCHEMA)


def test_a_bound_is_a_number():
    with pytest.raises(DataError, match="value is 'old'; the relation '<' takes a number"):
        Term("age", "<", "old")
