"""Mixed tables: kinds are recognised, missing entries kept, unusable columns refused by name."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from verulam.base import (
    DataError,
    EncodedTable,
    TableSchema,
    as_frame,
    check_same_kinds,
    encode_table,
    is_categorical,
    named_kinds,
    read_schema,
)


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "colour": pd.Categorical(["red", None, "blue"], categories=["red", "green", "blue"]),
            "size": [1.5, np.nan, 3.0],
            "ripe": [True, False, True],
            "count": pd.array([1, None, 3], dtype="Int64"),
        }
    )


def test_kinds_follow_the_dtypes(table):
    schema = read_schema(table)
    assert schema.categorical == ("colour", "ripe")
    assert schema.numeric == ("size", "count")
    assert list(schema.categories_of("colour")) == ["red", "green", "blue"]


def test_encoding_keeps_gaps(table):
    encoded = encode_table(table, read_schema(table))
    assert_array_equal(encoded.codes, [[0, 1], [-1, 0], [2, 1]])
    assert_array_equal(encoded.numbers, [[1.5, 1.0], [np.nan, np.nan], [3.0, 3.0]])
    assert encoded.shape == (3, 4)
    assert len(encoded[1:]) == 2


def test_codes_follow_the_schema_not_the_new_table(table):
    schema = read_schema(table)
    turned = table.assign(colour=pd.Categorical(["blue", "red", "red"]))
    assert_array_equal(encode_table(turned, schema).codes[:, 0], [2, 0, 0])


def test_unseen_category(table):
    schema = read_schema(table)
    strange = table.assign(colour=pd.Categorical(["red", "violet", None]))
    with pytest.raises(DataError, match=r"'colour' has the category 'violet'.*red, green, blue"):
        encode_table(strange, schema)
    assert_array_equal(encode_table(strange, schema, unseen="missing").codes[:, 0], [0, -1, -1])


def test_truth_values_beside_gaps_are_categories():
    frame = pd.DataFrame({"flag": [True, None, False]})
    schema = read_schema(frame)
    assert schema.categorical == ("flag",)
    assert encode_table(frame, schema).codes.ravel().tolist() == [1, -1, 0]


def test_text_column_names_the_way_out():
    frame = pd.DataFrame({"remark": ["good", "bad"]})
    with pytest.raises(DataError, match=r"'remark' holds text, such as 'good'.*astype\('category'"):
        read_schema(frame)


def test_dates_are_refused():
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])})
    with pytest.raises(DataError, match="'day' holds dates"):
        read_schema(frame)


def test_infinity_is_found(table):
    schema = read_schema(table)
    with pytest.raises(DataError, match="'size' contains infinity, first at row 1"):
        encode_table(table.assign(size=[1.0, np.inf, 2.0]), schema)


def test_column_that_turned_categorical(table):
    with pytest.raises(DataError, match="'size' was numeric in training and is now categorical"):
        check_same_kinds(read_schema(table), table.assign(size=table["size"].astype("category")))


def test_declared_categories_and_unknown_column():
    frame = as_frame([[0, 1.0], [2, 3.0], [0, 5.0]])
    assert list(read_schema(frame, [0]).categories_of(0)) == [0.0, 2.0]
    with pytest.raises(DataError, match="no column 7"):
        read_schema(frame, [7])


def test_one_dimension_is_refused():
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        as_frame([1, 2, 3])


def test_records_and_kinds_of_columns(table):
    schema = read_schema(table)
    assert isinstance(schema, TableSchema)
    encoded = encode_table(table, schema)
    assert isinstance(encoded[:2], EncodedTable)
    assert encoded[:2].shape == (2, 4)
    assert [is_categorical(table[name]) for name in table] == [True, False, True, False]
    assert named_kinds({"a": "date", 1: "text", "b": "date"}, "date") == ["a", "b"]
