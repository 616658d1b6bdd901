"""The bundled data sets: complete, as catalogued, and true to their sources."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn import datasets

from verulam.base import UnknownNameError
from verulam.data import dataset, dataset_names, list_datasets
from verulam.data._bundled import _catalogue

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "data.md"


@pytest.mark.parametrize("name", dataset_names())
def test_set_is_as_catalogued(name):
    data, entry = dataset(name), _catalogue()[name]
    assert data.name == name
    assert data.content_hash == entry["content_hash"]
    assert (data.n_rows, data.task, data.target) == (entry["rows"], entry["task"], entry["target"])
    assert len(data.input_names) == entry["columns"]
    assert len(data.classes or []) == entry["classes"]
    assert sum(data.missing.values()) == entry["missing"]
    assert data.source
    assert data.licence
    assert data.description


def test_every_file_is_catalogued_and_small():
    folder = files("verulam.data") / "bundled"
    names = {file.name for file in folder.iterdir()} - {"catalogue.json"}
    assert names == {entry["file"] for entry in _catalogue().values()}
    assert sum(len((folder / name).read_bytes()) for name in names) < 1.5e6


def test_list():
    table = list_datasets()
    assert table.index.tolist() == dataset_names() == sorted(dataset_names())
    assert set(table["task"]) == {"classification", "regression", "none"}
    mixed = table[(table["categorical"] > 0) & (table["missing"] > 0)]
    assert {"penguins", "titanic", "adult"} <= set(mixed.index)
    assert table["licence"].str.len().min() > 0


@pytest.mark.skipif(not GUIDE.exists(), reason="the documentation is not in the source archive")
def test_the_guide_lists_every_set():
    lines = GUIDE.read_text().splitlines()
    for name, entry in _catalogue().items():
        row = next(line for line in lines if line.startswith(f"| `{name}` |"))
        shown = [cell.strip() for cell in row.split("|")]
        sizes = [str(entry[key]) for key in ("rows", "columns", "categorical", "missing")]
        assert shown[3:9] == [*sizes, entry["title"], entry["licence"]]


def test_unknown_name():
    with pytest.raises(UnknownNameError, match=r"Unknown data set 'irsi'\. Nearest: iris, .*list_"):
        dataset("irsi")


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
def test_agrees_with_scikit_learn(name):
    bunch = getattr(datasets, f"load_{name}")()
    data = dataset(name)
    assert_array_equal(data.inputs.to_numpy(float), bunch.data)
    labels = np.asarray(bunch.target_names)[bunch.target]
    assert_array_equal(np.asarray(data.target_values), labels)


def test_diabetes_agrees_with_scikit_learn():
    bunch = datasets.load_diabetes(scaled=False)
    assert_array_equal(dataset("diabetes").inputs.to_numpy(float), bunch.data)
    assert_array_equal(dataset("diabetes").target_values, bunch.target)


def test_penguins():
    data = dataset("penguins")
    assert data.target_values.value_counts().to_dict() == {
        "Adelie": 152,
        "Gentoo": 124,
        "Chinstrap": 68,
    }
    assert data.missing["sex"] == 11


def test_titanic():
    table = dataset("titanic").table
    survived = pd.crosstab(table["passenger_class"], table["survived"])["yes"]
    assert survived.to_dict() == {"third": 119, "second": 87, "first": 136}
    assert dataset("titanic").missing["age"] == 177


def test_buys_computer_has_the_printed_counts():
    table = dataset("buys_computer").table
    counts = table.groupby(["buys_computer", "age"], observed=True).size()
    assert table["buys_computer"].value_counts().to_dict() == {"yes": 9, "no": 5}
    assert (counts["yes", "youth"], counts["no", "youth"]) == (2, 3)
    assert (counts["yes", "middle_aged"], counts["yes", "senior"], counts["no", "senior"]) == (
        4,
        3,
        2,
    )
    fair = table[table["credit_rating"] == "fair"]["buys_computer"].value_counts()
    assert (fair["yes"], fair["no"]) == (6, 2)


def test_baskets_have_the_printed_supports():
    items = dataset("baskets").inputs
    assert items.dtypes.eq(bool).all()
    assert items.sum().to_dict() == {"I1": 6, "I2": 7, "I3": 6, "I4": 2, "I5": 2}
    pairs = items.astype(int).T @ items.astype(int)
    assert pairs.loc["I1", "I2"] == pairs.loc["I1", "I3"] == pairs.loc["I2", "I3"] == 4
    assert pairs.loc["I3", "I4"] == pairs.loc["I4", "I5"] == 0


def test_kmeans_points_have_the_printed_error():
    points = dataset("kmeans_points").inputs.to_numpy(float)
    first, second = points[[0, 2]], points[[1, 3]]
    errors = [((part - part.mean(axis=0)) ** 2).sum() for part in (first, second)]
    assert_allclose(errors, [1.0, 6.5])


def test_single_link_distances_give_the_printed_merges():
    matrix = dataset("single_link_distances").inputs.to_numpy()
    assert_array_equal(matrix, matrix.T)
    merges = linkage(squareform(matrix), "single")[:, 2]
    assert_allclose(merges, [0.11, 0.14, 0.15, 0.15, 0.22])
    assert_allclose(linkage(squareform(matrix), "complete")[:, 2], [0.11, 0.14, 0.22, 0.34, 0.39])


def test_single_link_points_give_the_readable_distances():
    points = dataset("single_link_points").inputs.to_numpy()
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert_allclose(distance[0, 1], np.sqrt(0.0549))
    assert_allclose(distance[0, 3], 0.3676, atol=1e-4)
    assert_allclose(distance[2, 3], 0.1581, atol=1e-4)


def test_learner_outputs_combine_as_corrected():
    outputs = dataset("learner_outputs").inputs.to_numpy()
    assert_allclose(np.median(outputs, axis=0), [0.2, 0.5, 0.3])
    assert_allclose(outputs.prod(axis=0), [0, 0.12, 0.024], atol=1e-12)
