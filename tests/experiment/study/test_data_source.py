"""Data by name, file, table or data set."""

from pathlib import Path

import pandas as pd
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.data import Dataset, dataset
from verulam.experiment._study.data_source import open_data


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "fruit.csv"
    path.write_text("size,ripe\n1,yes\n2,no\n3,yes\n", encoding="utf-8")
    return path


def test_every_way_in(file):
    assert open_data("iris").name == "iris"
    assert open_data(str(file), target="ripe").target == "ripe"
    assert open_data(file).target is None
    assert open_data(pd.read_csv(file), target="size").n_rows == 3
    iris = dataset("iris")
    assert open_data(iris) is iris
    assert open_data("iris", target="sepal_length_cm").task == "regression"
    assert open_data(iris, target="sepal_length_cm").target == "sepal_length_cm"


def test_numbers_that_are_codes(file):
    coded = open_data(file, target="ripe", categorical=["size"])
    assert coded.kinds["size"] == "categorical"
    assert open_data(file, target="size", categorical=["size"]).task == "classification"
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "y": [1.0, -1.0, -1.0, 1.0]})
    assert open_data(frame, target="y").task == "regression"
    assert open_data(frame, target="y", categorical=["y"]).classes == [-1.0, 1.0]
    assert open_data(Dataset.from_frame(frame, target="y"), categorical=["y"]).task == (
        "classification"
    )
    gaps = frame.assign(y=[1.0, None, -1.0, 1.0])
    opened = open_data(gaps, target="y", categorical=["y"], drop_missing_target=True)
    assert (opened.n_rows, opened.dropped_rows) == (3, 1)
    with pytest.raises(UnknownNameError, match="categorical: Unknown column 'sise'"):
        open_data(file, categorical=["sise"])


def test_a_file_in_the_working_folder_needs_no_dot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fruit").write_text("size,ripe\n1,yes\n2,no\n", encoding="utf-8")
    assert open_data("fruit", target="ripe").n_rows == 2


def test_neither_name_nor_file():
    with pytest.raises(UnknownNameError, match=r"Nearest: iris.* No file has that name either\."):
        open_data("iriss")
    with pytest.raises(DataError, match=r"nowhere\.csv"):
        open_data("nowhere.csv")


def test_rows_without_a_target_are_dropped_where_asked_for(tmp_path):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", None, "b", "a"]})
    table.to_csv(tmp_path / "gaps.csv", index=False)
    for source in (table, tmp_path / "gaps.csv", Dataset.from_frame(table)):
        with pytest.raises(DataError, match=r"drop_missing_target=True .* --drop-missing-target"):
            open_data(source, target="y")
        found = open_data(source, target="y", drop_missing_target=True)
        assert found.target_values.tolist() == ["a", "b", "a"]
        assert found.dropped_rows == 1
