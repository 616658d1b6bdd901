"""Tables as inputs: indicators, means for gaps, scales and names."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, TableSchema
from verulam.tree._nodes.inputs import indicators, input_names, learn_inputs

SCHEMA = TableSchema(
    ("age", "colour", "smokes", 3),
    (None, np.array(["blue", "green", "red"]), np.array([False, True]), None),
)
N_CATEGORIES = np.array([0, 3, 2, 0], dtype=np.int32)
ROWS = np.array(
    [[10.0, 0.0, 1.0, 5.0], [30.0, 2.0, 0.0, 5.0], [np.nan, np.nan, np.nan, 5.0], [20.0, 2, 1, 5]]
)


def test_categories_become_indicators():
    expected = [
        [10, 1, 0, 0, 1, 5],
        [30, 0, 0, 1, 0, 5],
        [np.nan, np.nan, np.nan, np.nan, np.nan, 5],
        [20, 0, 0, 1, 1, 5],
    ]
    assert_allclose(indicators(ROWS, N_CATEGORIES), expected)


def test_names_say_what_an_input_is():
    assert input_names(SCHEMA) == (
        "age",
        "[colour = blue]",
        "[colour = green]",
        "[colour = red]",
        "[smokes = True]",
        "x4",
    )


def test_gaps_are_filled_with_weighted_means_and_shares():
    code = learn_inputs(ROWS, SCHEMA, N_CATEGORIES, np.array([1.0, 1, 1, 2]), standardise=True)
    assert_allclose(code.means, [20.0, 0.25, 0.0, 0.75, 0.75, 5.0])
    assert_allclose(code.encode(ROWS)[2], code.means)
    assert_allclose(code.centre, code.means)
    spread = np.sqrt(((np.array([10, 30, 20, 20, 20]) - 20.0) ** 2).mean())
    assert_allclose(code.scale[0], spread)
    # Inputs that do not vary are left as they are.
    assert code.scale[2] == code.scale[5] == 1.0


def test_raw_inputs_have_scale_one():
    code = learn_inputs(ROWS, SCHEMA, N_CATEGORIES, None, standardise=False)
    assert_allclose(code.scale, 1.0)
    assert_allclose(code.centre, 0.0)


def test_a_column_without_any_value_is_zero():
    rows = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    schema = TableSchema((0, 1), (None, None))
    code = learn_inputs(rows, schema, np.zeros(2, np.int32), None, standardise=True)
    assert_allclose(code.encode(rows), [[0.0, 1.0], [0.0, 2.0]])


def test_inputs_whose_squares_overflow_are_refused():
    rows = np.array([[1.0, 1e200], [2.0, -1e200]])
    schema = TableSchema(("a", "b"), (None, None))
    with pytest.raises(DataError, match="b is too large for its squares"):
        learn_inputs(rows, schema, np.zeros(2, np.int32), None, standardise=True)
