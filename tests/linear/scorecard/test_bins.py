"""Attributes of columns: ranges between quantiles, categories, gaps."""

import numpy as np
import pandas as pd

from verulam.base import encode_table, read_schema
from verulam.linear._scorecard.bins import attribute_codes, find_characteristics

FRAME = pd.DataFrame(
    {
        "age": [20.0, 30.0, 40.0, 50.0, np.nan],
        "home": pd.Categorical(["owns", None, "rents", "owns", "owns"]),
        "same": 7.0,
        "gap": np.nan,
    }
)
TABLE = encode_table(FRAME, read_schema(FRAME))


def test_every_column_has_its_attributes_and_one_for_gaps():
    found = {each.name: each.attributes for each in find_characteristics(TABLE, 2)}
    assert found == {
        "age": ("up to 30", "above 30", "missing"),
        "home": ("owns", "rents", "missing"),
        "same": ("any", "missing"),
        "gap": ("any", "missing"),
    }


def test_rows_are_sorted_into_them():
    codes = attribute_codes(TABLE, find_characteristics(TABLE, 2))
    assert codes[:, 0].tolist() == [0, 0, 1, 1, 2]
    assert codes[:, 1].tolist() == [0, 2, 1, 0, 0]
    assert codes[:, 2].tolist() == [0] * 5
    assert codes[:, 3].tolist() == [1] * 5


def test_a_cut_belongs_to_the_range_below():
    (age, *_) = find_characteristics(TABLE, 4)
    assert age.attributes[:2] == ("up to 20", "20 to 30")
    frame = FRAME.assign(age=[20.0, 20.5, 30.0, 100.0, -5.0])
    codes = attribute_codes(encode_table(frame, TABLE.schema), find_characteristics(TABLE, 4))
    assert codes[:, 0].tolist() == [0, 1, 1, 3, 0]


def test_equal_quantiles_are_one_cut():
    frame = pd.DataFrame({"a": [1.0, 1.0, 1.0, 1.0, 2.0]})
    (only,) = find_characteristics(encode_table(frame, read_schema(frame)), 5)
    assert only.attributes == ("up to 1", "above 1", "missing")
