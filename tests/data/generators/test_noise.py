"""Noise: what changes, how often, and that it is counted."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import DataError
from verulam.data import (
    Dataset,
    NoisyData,
    dataset,
    drop_values,
    flip_labels,
    gaussian_classes,
    hide_column,
    jitter_inputs,
)


@pytest.fixture(scope="module")
def classes():
    return gaussian_classes([[0, 0], [1, 1], [2, 2]], 1.0, n=9000, random_state=0)


def test_jitter_has_the_scale(classes):
    noisy = jitter_inputs(classes, 0.5, random_state=0)
    change = noisy.data.inputs - classes.inputs
    assert_allclose(change.std() / classes.inputs.std(), 0.5, rtol=0.05)
    assert (noisy.changed, noisy.rate) == (18_000, 1.0)
    assert_array_equal(noisy.data.target_values, classes.target_values)


def test_jitter_leaves_missing_values_and_categories_alone():
    penguins = dataset("penguins")
    noisy = jitter_inputs(penguins, 0.1, random_state=0)
    assert noisy.data.missing == penguins.missing
    assert_array_equal(noisy.data.table["island"], penguins.table["island"])
    assert (noisy.changed, noisy.rate) == (344 * 5 - 8, 1.0)
    with pytest.raises(DataError, match="no numeric inputs"):
        jitter_inputs(dataset("buys_computer"))
    with pytest.raises(ValueError, match="scale=-1"):
        jitter_inputs(penguins, -1)


def test_flips_have_the_rate(classes):
    noisy = flip_labels(classes, 0.3, random_state=0)
    wrong = np.asarray(noisy.data.target_values) != np.asarray(classes.target_values)
    assert noisy.changed == wrong.sum()
    assert noisy.rate == wrong.mean()
    assert_allclose(noisy.rate, 0.3, atol=0.02)
    became = pd.crosstab(classes.target_values, noisy.data.target_values, normalize="index")
    assert_allclose(became, 0.15 + 0.55 * np.eye(3), atol=0.03)
    assert_array_equal(noisy.data.inputs, classes.inputs)


def test_flips_by_a_matrix(classes):
    matrix = [[0.5, 0.5, 0], [0, 1, 0], [0.2, 0, 0.8]]
    noisy = flip_labels(classes, matrix, random_state=0)
    became = pd.crosstab(classes.target_values, noisy.data.target_values, normalize="index")
    assert_allclose(became, matrix, atol=0.03)


def test_flips_skip_classes_that_do_not_occur():
    target = pd.Categorical(["a", "c"] * 50, categories=["a", "b", "c"])
    data = Dataset.from_frame(pd.DataFrame({"x": range(100), "y": target}), target="y")
    assert flip_labels(data, 1.0, random_state=0).data.target_values.tolist() == ["c", "a"] * 50


def test_no_flips_and_all_flips(classes):
    assert flip_labels(classes, 0).data.content_hash == classes.content_hash
    assert flip_labels(classes, 1, random_state=0).rate == 1


def test_bad_flips(classes):
    with pytest.raises(DataError, match="no class labels to flip"):
        flip_labels(dataset("diabetes"))
    with pytest.raises(ValueError, match=r"rate=1\.5; expected a probability"):
        flip_labels(classes, 1.5)
    with pytest.raises(ValueError, match=r"rate has shape \(2, 2\); expected 3 by 3"):
        flip_labels(classes, np.eye(2))
    with pytest.raises(ValueError, match="add up to 1"):
        flip_labels(classes, np.ones((3, 3)))


def test_hidden_column():
    noisy = hide_column(dataset("iris"), "petal_width_cm")
    assert "petal_width_cm" not in noisy.data.table
    assert (noisy.changed, noisy.rate) == (150, 0.25)
    with pytest.raises(DataError, match="column: no column 'species'"):
        hide_column(dataset("iris"), "species")


def test_lost_values():
    adult = dataset("adult")
    noisy = drop_values(adult, 0.2, random_state=0)
    assert_allclose(noisy.rate, 0.2, atol=0.005)
    before, after = sum(adult.missing.values()), sum(noisy.data.missing.values())
    assert after - before == noisy.changed
    assert noisy.data.kinds == adult.kinds
    assert "income" not in noisy.data.missing


def test_values_are_lost_from_the_named_columns_only():
    noisy = drop_values(dataset("baskets"), 0.5, columns=["I1"], random_state=0)
    assert list(noisy.data.missing) == ["I1"]
    assert noisy.data.kinds["I1"] == "categorical"
    assert noisy.data.kinds["I2"] == "boolean"
    with pytest.raises(DataError, match="columns: no column 'I9'"):
        drop_values(dataset("baskets"), columns=["I9"])
    with pytest.raises(ValueError, match="rate=2"):
        drop_values(dataset("baskets"), 2)


def test_noise_is_counted():
    noisy = hide_column(dataset("iris"), dataset("iris").input_names[0])
    assert isinstance(noisy, NoisyData)
    assert len(noisy.data.input_names) == len(dataset("iris").input_names) - 1
    assert 0 < noisy.rate <= 1
