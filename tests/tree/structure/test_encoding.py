"""Tables become one matrix of numbers and category codes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from verulam.base import Classifier, DataError
from verulam.tree._structure.encoding import category_counts, encode_rows, read_rows


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "sky": pd.Categorical(["sun", None, "rain"], categories=["rain", "sun"]),
            "heat": [30.0, 20.0, np.nan],
            "windy": [True, False, True],
        }
    )


def test_codes_and_numbers_keep_the_order_of_the_columns(frame):
    schema, rows = read_rows(Classifier(), frame)
    assert_array_equal(rows, [[1, 30, 1], [np.nan, 20, 0], [0, np.nan, 1]])
    assert_array_equal(category_counts(schema), [2, 0, 2])


def test_numbers_are_not_copied():
    numbers = np.ones((3, 2))
    schema, rows = read_rows(Classifier(), numbers)
    assert np.shares_memory(rows, numbers)
    assert schema.names == (0, 1)


def test_a_category_unseen_in_training(frame):
    learner = Classifier()
    schema, _ = read_rows(learner, frame)
    later = frame.assign(sky=pd.Categorical(["snow", "sun", "rain"]))
    with pytest.raises(DataError, match="Column 'sky' has the category 'snow'"):
        encode_rows(learner, later, schema)
    assert_array_equal(encode_rows(learner, later, schema, unseen="missing")[:, 0], [np.nan, 1, 0])


def test_no_rows(frame):
    with pytest.raises(DataError, match="no rows"):
        read_rows(Classifier(), frame[:0])


def test_read_only_numbers_are_copied():
    numbers = np.ones((3, 2))
    numbers.flags.writeable = False
    assert read_rows(Classifier(), numbers)[1].flags.writeable
