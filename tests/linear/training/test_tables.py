"""Tables: what functions refuse, and sums of products, dense and sparse."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from verulam.base import DataError
from verulam.linear._training.tables import (
    as_numbers,
    check_labels,
    check_margins,
    check_rows,
    is_sparse,
    row_squares,
    weighted_gram,
)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([["a"], ["b"]], "X must have numbers only .*OneHotEncoder"),
        (pd.DataFrame({"n": [1.0, 2.0], "t": ["x", "y"]}), "X must have numbers only"),
        ([1.0, 2.0], "one row for each instance"),
        ([[1.0], [np.nan]], "missing or infinite"),
        ([[1.0], [np.inf]], "missing or infinite"),
        (sp.csr_array([[1.0]]), r"compressed.*X.toarray"),
    ],
)
def test_tables(table, message):
    with pytest.raises(DataError, match=message):
        check_rows(table)


def test_compressed_tables_where_they_can_be_used():
    table = check_rows(sp.coo_array([[1.0, 0.0]]), sparse=True)
    assert table.format == "csr"
    with pytest.raises(DataError, match="missing or infinite"):
        check_rows(sp.csr_array([[np.nan]]), sparse=True)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 1], "2 entries, one for each row of X"),
        ([[0], [1]], "2 entries"),
        ([0.0, np.nan], "missing in 1 of 2 rows"),
        (np.array([None, "a"], dtype=object), "missing in 1 of 2 rows"),
    ],
)
def test_labels(labels, message):
    with pytest.raises(DataError, match=message):
        check_labels(labels, 2)


def test_what_is_right_comes_back():
    assert check_rows(pd.DataFrame({"a": [1, 2]})).tolist() == [[1.0], [2.0]]
    assert check_labels(["x", "y"], 2).tolist() == ["x", "y"]
    assert as_numbers([True, 2], "margins").tolist() == [1.0, 2.0]
    assert check_margins([1, 2], 2).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("margins", "message"),
    [
        ([], r"2 positive numbers, one for each row; got the shape \(0,\)"),
        (1.0, "2 positive numbers"),
        ([1.0, -1.0], "got -1 at row 1"),
        ([np.nan, 1.0], "got nan at row 0"),
        ([1.0, np.inf], "got inf at row 1"),
        (["a", "b"], "margins must have numbers only"),
    ],
)
def test_margins(margins, message):
    with pytest.raises(DataError, match=message):
        check_margins(margins, 2)


@pytest.mark.parametrize("least", [0.0, -1.0])
@pytest.mark.parametrize("table", [np.asarray, sp.csr_array])
def test_sums_over_augmented_rows(table, least):
    random = np.random.default_rng(0)
    rows, weights = random.normal(size=(30, 4)), random.uniform(least, 1.0, size=30)
    augmented = np.column_stack([np.ones(30), rows])
    expected = augmented.T @ (augmented * weights[:, None])
    assert is_sparse(table(rows)) == (table is sp.csr_array)
    assert np.allclose(weighted_gram(table(rows), weights), expected)


def test_squared_lengths_of_rows():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0]])
    for table in (rows, sp.csr_array(rows)):
        assert row_squares(table).tolist() == [25.0, 0.0, 1.0]
