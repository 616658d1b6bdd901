"""What is done to a table before it becomes a data set."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import Dataset
from verulam.data._table.normalise_frame import arrays_to_frame, missing_target, task_of


def test_duplicate_names():
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(DataError, match="Duplicate column names: a"):
        Dataset.from_frame(frame)
    with pytest.raises(DataError, match="Duplicate column names: 1"):
        Dataset.from_frame(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_names_become_strings():
    assert list(Dataset.from_frame(pd.DataFrame([[1.5, 2.5]])).table.columns) == ["0", "1"]


def test_several_levels_of_names():
    columns = pd.MultiIndex.from_tuples([("a", "b")])
    with pytest.raises(DataError, match="several levels of names"):
        Dataset.from_frame(pd.DataFrame([[1]], columns=columns))


def test_no_rows_and_no_columns():
    with pytest.raises(DataError, match="no rows, only the columns a, b"):
        Dataset.from_frame(pd.DataFrame({"a": [], "b": []}))
    with pytest.raises(DataError, match="no columns"):
        Dataset.from_frame(pd.DataFrame(index=range(3)))


def test_no_frame():
    with pytest.raises(
        TypeError, match="Expected a DataFrame of pandas, polars or Arrow, got list"
    ):
        Dataset.from_frame([[1, 2]])


def test_the_index_is_dropped():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]}, index=[7, 9])
    assert Dataset.from_frame(frame).table.index.tolist() == [0, 1]


def test_columns_can_be_said_to_be_of_a_kind():
    frame = pd.DataFrame({"code": [1, 2, 1], "grade": ["b", "a", None], "note": ["x", "x", "y"]})
    data = Dataset.from_frame(
        frame, categorical=["code"], ordinal={"grade": ["b", "a"]}, text=["note"]
    )
    assert data.kinds == {"code": "categorical", "grade": "ordinal", "note": "text"}
    assert data.table["grade"].max() == "a"


@pytest.mark.parametrize("argument", ["categorical", "text", "identifiers", "ignored"])
def test_arguments_name_existing_columns(argument):
    with pytest.raises(DataError, match=f"{argument}: no column 'wieght'. Nearest: weight"):
        Dataset.from_frame(pd.DataFrame({"weight": [1]}), **{argument: ["wieght"]})


def test_dates_are_no_target():
    column = pd.Series(pd.date_range("2024-01-01", periods=3), name="day")
    with pytest.raises(DataError, match="'day' holds dates"):
        task_of(column)


def test_integers_are_classes_up_to_twenty():
    assert task_of(pd.Series(np.arange(200) % 20)) == "classification"
    assert task_of(pd.Series(np.arange(200) % 21)) == "regression"


def test_rows_of_missing_targets_are_listed_up_to_five():
    assert "in 7 rows: 0, 1, 2, 3, 4, ... (" in str(missing_target("y", range(7)))


def test_arrays_of_the_wrong_shape():
    with pytest.raises(DataError, match="X has 3 dimensions"):
        arrays_to_frame(np.ones((2, 2, 2)), None, None, "y")
    with pytest.raises(DataError, match=r"y has shape \(3,\); expected \(2,\)"):
        arrays_to_frame(np.ones((2, 2)), np.ones(3), None, "y")
    with pytest.raises(DataError, match="feature_names has 1 names for 2 columns"):
        arrays_to_frame(np.ones((2, 2)), None, ["a"], "y")
    with pytest.raises(DataError, match="target_name='x1' is the name of an input"):
        arrays_to_frame(np.ones((2, 2)), np.ones(2), None, "x1")
