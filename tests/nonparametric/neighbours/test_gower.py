"""Gower's distance: by hand, with gaps, and Hamming's as the case of categories alone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from verulam.nonparametric._neighbours.gower import encode_queries, gower_index
from verulam.nonparametric._neighbours.index_loops import mixed_distances

FRAME = pd.DataFrame(
    {
        "age": [20.0, 40.0, 60.0],
        "job": pd.Categorical(["a", "b", "a"]),
        "pay": [1.0, np.nan, 3.0],
    }
)


def measure(queries, index):
    return index.measure(encode_queries(queries, index.table.schema))


def test_by_hand():
    index = gower_index(FRAME)
    expected = [[0, (0.5 + 1) / 2, 2 / 3], [1.5 / 2, 0, 1.5 / 2], [2 / 3, 1.5 / 2, 0]]
    assert_allclose(measure(FRAME, index), expected)


def test_weights_of_columns():
    index = gower_index(FRAME, np.array([2.0, 1.0, 0.0]))
    assert_allclose(measure(FRAME, index)[0], [0.0, (1.0 + 1.0) / 3, 2.0 / 3])


def test_rows_without_a_common_column_are_as_far_as_can_be():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2.0]})
    assert_allclose(measure(frame, gower_index(frame)), [[0.0, 1.0], [1.0, 0.0]])


def test_unknown_categories_differ_from_all():
    index = gower_index(FRAME[["job"]])
    strange = pd.DataFrame({"job": pd.Categorical(["z", None])})
    assert_allclose(measure(strange, index), [[1, 1, 1], [1, 1, 1]])


def test_categories_alone_are_hammings_distance():
    codes = np.random.default_rng(0).integers(0, 3, size=(20, 4))
    frame = pd.DataFrame(codes).astype("category")
    assert_allclose(measure(frame, gower_index(frame)), cdist(codes, codes, "hamming"))


def test_numbers_far_outside_the_range_count_as_one():
    index = gower_index(FRAME[["age"]])
    assert_allclose(measure(pd.DataFrame({"age": [500.0]}), index), [[1, 1, 1]])


def test_compiled_loop_equals_its_python_source():
    table = gower_index(FRAME).table
    arguments = (table.numbers, table.codes, table.numbers, table.codes, np.ones(2), np.ones(3))
    assert_allclose(mixed_distances(*arguments), mixed_distances.py_func(*arguments))


def test_a_column_that_changes_its_kind_is_refused():
    index = gower_index(FRAME)
    with pytest.raises(ValueError, match="was numeric in training and is now categorical"):
        measure(FRAME.astype({"age": "category"}), index)
