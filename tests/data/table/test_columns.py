"""The kind of a column and the form it is kept in."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import Dataset
from verulam.data._table import columns
from verulam.data._table.columns import as_category, has_few_values, kind_of, normalised


@pytest.mark.parametrize(
    ("values", "kind", "dtype"),
    [
        ([1, 2, 3], "numeric", "int64"),
        ([1.5, np.nan, np.inf], "numeric", "float64"),
        (pd.array([1, None, 3], dtype="Int64"), "numeric", "float64"),
        (pd.array([1, 2, 3], dtype="Int64"), "numeric", "int64"),
        (pd.array([1.5, 2, None], dtype="Float64"), "numeric", "float64"),
        (pd.array([1, 2, 3], dtype="int64[pyarrow]"), "numeric", "int64"),
        (np.array([1, 2.5, None], dtype=object), "numeric", "float64"),
        ([True, False, True], "boolean", "bool"),
        (pd.array([True, None, False], dtype="boolean"), "categorical", "category"),
        (np.array([True, None, False], dtype=object), "categorical", "category"),
        (["a", "b", "a"], "categorical", "category"),
        (pd.Categorical(["a", "b", "a"], ordered=True), "ordinal", "category"),
        (["2024-01-31", "2024-02-29", None], "date", "datetime64[us]"),
        ([dt.date(2024, 1, 31)] * 3, "date", "datetime64[us]"),
        (pd.date_range("2024-01-31", periods=3, tz="Asia/Tokyo"), "date", "datetime64[us]"),
        ([None, None, None], "numeric", "float64"),
        ([10**20, 1, 2], "numeric", "float64"),
    ],
)
def test_kinds(values, kind, dtype):
    column = normalised(pd.Series(values, name="c")).values
    assert kind_of(column) == kind
    assert column.dtype == dtype
    assert column.isna().tolist() == pd.isna(pd.Series(values)).tolist()


def test_time_zones_become_utc():
    column = normalised(pd.Series(pd.to_datetime(["2024-01-31 09:00+09:00"]))).values
    assert column[0] == pd.Timestamp("2024-01-31")


def test_strings_that_only_look_like_dates_stay_strings():
    column = normalised(pd.Series(["2023-02-30", "2023-02-28"])).values
    assert kind_of(column) == "categorical"


def test_many_different_strings_stay_text():
    column = normalised(pd.Series([f"name {number}" for number in range(30)])).values
    assert kind_of(column) == "text"


def test_few_values():
    assert has_few_values(2, 2)
    assert has_few_values(3, 6)
    assert not has_few_values(3, 5)
    assert has_few_values(100, 10_000)
    assert not has_few_values(101, 10_000)


def test_mixed_values_are_refused():
    with pytest.raises(DataError, match="Column 'c' holds values of type int and str"):
        normalised(pd.Series([1, "a", 2], name="c", dtype=object))
    with pytest.raises(DataError, match="Column 'c' holds values of type dict"):
        normalised(pd.Series([{}, {}], name="c"))


def test_kinds_without_a_place_are_refused():
    with pytest.raises(DataError, match="convert it to real numbers"):
        normalised(pd.Series([1 + 2j], name="c"))


def test_spans_become_days():
    reading = normalised(pd.Series(pd.to_timedelta(["36h", None])))
    assert reading.values.tolist() == pytest.approx([1.5, np.nan], nan_ok=True)
    assert reading.note == "time spans, in days"


def test_intervals_become_strings():
    column = normalised(pd.Series(pd.cut([1, 5, 9], [0, 4, 10]))).values
    assert column.cat.categories.tolist() == ["(0, 4]", "(4, 10]"]
    assert kind_of(column) == "ordinal"


def test_categories_that_read_the_same_are_refused():
    with pytest.raises(DataError, match="read the same"):
        normalised(pd.Series(pd.Categorical([1, "1"]), name="c"))


def test_a_value_outside_of_the_levels_is_refused():
    with pytest.raises(DataError, match=r"'c' has the value 'z' in row 1 .* levels \['a', 'b'\]"):
        as_category(pd.Series(["a", "z"], name="c"), ["a", "b"])


@pytest.mark.parametrize("dtype", [object, "str", "string"])
def test_spaces_alone_are_gaps_whatever_the_type_of_strings(dtype):
    frame = pd.DataFrame({"a": pd.Series(["5 kg", " ", "6 kg", None], dtype=dtype), "y": 1.0})
    assert Dataset.from_frame(frame).inputs["a"].isna().tolist() == [False, True, False, True]
    forced = pd.DataFrame({"a": ['="005"', '=""', '="007"', '="005"']})
    assert Dataset.from_frame(forced).inputs["a"].isna().tolist() == [False, True, False, False]


@pytest.mark.parametrize("dtype", ["str", object])
@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", None, "b"],
        ["a b", "c 1", "a b", "c 1"],
        ["low", "high", "medium", "low", None, "medium"],
        ["Red", "red", "blue", "red", "blue"],
        ["y", "no", "yes", "n"],
        ["ä", "z", "ä", "z", "Z"],
        [" ", "a", "b", "a", "b"],
        ['="a"', '="b"', '="a"', '="b"'],
        ["2024-01-31", "0000-00-00", "2024-02-29", "2024-01-31"],
        ["$5", "$7", "$5", "$7"],
        ["14:05", "15:00", "14:05", "15:00"],
        ["3/4/2024", "unsure", "3/4/2024", "unsure"],
        list("abcdefgh") * 20,
    ],
)
def test_words_are_read_alike_from_the_different_ones_alone(values, dtype, monkeypatch):
    column = pd.Series(2 * values, dtype=dtype, name="c", index=range(1, 2 * len(values) + 1))
    quick = normalised(column)
    monkeypatch.setattr(columns, "_plain_words", lambda _: None)
    slow = normalised(column)
    pd.testing.assert_series_equal(quick.values, slow.values, check_exact=True)
    if slow.values.dtype == "category":
        assert quick.values.cat.categories.dtype == slow.values.cat.categories.dtype
    assert (quick.note, quick.form) == (slow.note, slow.form)
