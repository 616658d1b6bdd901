"""Inputs that no formula can use are refused by name, whichever learner is given them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from verulam.base import (
    DataError,
    Transformer,
    as_frame,
    columns_text,
    read_schema,
    refuse_duplicate_names,
    refuse_huge_numbers,
    validate_data,
)
from verulam.experiment import compare
from verulam.linear import LogisticDiscriminant
from verulam.tree import DecisionTreeClassifier


class Plain(Transformer):
    def fit(self, X, **options):
        self.seen_ = validate_data(self, X, **options)
        return self


TABLE = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.date_range("2024-02-28", periods=3), "'b' holds dates"),
        (pd.date_range("2024-02-28", periods=3, tz="UTC"), "'b' holds dates"),
        (pd.to_timedelta([1, 2, 3], unit="D"), "'b' holds dates"),
        (["red", "blue", None], "'b' holds words, such as 'red'.*OneHotEncoder"),
        (pd.Categorical(["red", "blue", "red"]), "'b' holds words"),
    ],
)
def test_columns_that_hold_no_numbers(column, message):
    with pytest.raises(DataError, match=message):
        Plain().fit(TABLE.assign(b=column))


def test_numbers_in_disguise_are_taken():
    for column in (["1", "2", "3"], pd.Categorical([1, 2, 1]), [True, False, True]):
        assert Plain().fit(TABLE.assign(b=column), dtype=np.float64).seen_.shape == (3, 2)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_numbers_whose_squares_overflow(make):
    huge = np.array([[1.0, 2.0], [3.0, -1e155]])
    with pytest.raises(DataError, match=r"as large as 1e\+155"):
        Plain().fit(make(huge), accept_sparse=True)
    with pytest.raises(DataError, match="in column 1"):
        Plain().fit(np.vstack([huge, [np.nan, 0.0]]), ensure_all_finite="allow-nan")
    assert Plain().fit(make(huge / 1e6), accept_sparse=True)
    assert Plain().fit(make(huge), accept_sparse=True, any_size=True)


def test_many_large_numbers_pass():
    assert Plain().fit(np.full((1000, 3), 9e149)).seen_.shape == (1000, 3)


def test_trees_ask_only_for_the_order():
    X = np.array([[-1e300], [-1e200], [1e200], [1e300]])
    assert DecisionTreeClassifier().fit(X, [0, 0, 1, 1]).score(X, [0, 0, 1, 1]) == 1.0


def test_gaps_in_labels_are_counted():
    y = np.array(["a", None, "b", np.nan], dtype=object)
    with pytest.raises(DataError, match=r"missing in 2 of 4 rows \(1, 3, counted from 0\)"):
        LogisticDiscriminant().fit([[1.0], [2.0], [3.0], [4.0]], y)


def test_huge_numbers_are_named_by_column():
    refuse_huge_numbers(np.array([[1e149, np.nan]]))
    with pytest.raises(DataError, match="in column 1"):
        refuse_huge_numbers(np.array([[1.0, 1e200]]))


SENTENCE = r"Duplicate column names: a\. Each must be unique\.$"


@pytest.mark.parametrize(
    "taken", [as_frame, read_schema, Plain().fit, lambda table: compare(table, target="b")]
)
def test_columns_of_one_name_are_refused_in_one_sentence(taken):
    table = pd.concat([TABLE, TABLE[["a"]]], axis=1)
    with pytest.raises(DataError, match=SENTENCE):
        taken(table)


def test_many_columns_of_one_name():
    refuse_duplicate_names(["a", "b"])
    with pytest.raises(DataError, match=r"names: 0, 1, 2, 3, 4 and 2 more\. Each"):
        refuse_duplicate_names([*range(7), *range(7)])


GENERAL = {"copy": True}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "labels", [[0, 1, 1], [0.5, 1.5, 2.0], ["a", "b", "a"], [True, False, True]]
)
def test_plain_arrays_pass_as_they_do_through_all_checks(order, labels):
    X, y = np.array(TABLE.to_numpy(), order=order), np.array(labels)
    quick, full = Plain(), Plain()
    inputs, targets = validate_data(quick, X, y, dtype=np.float64)
    # A copy is one of the options that no quick way is taken with.
    checked, checked_targets = validate_data(full, X, y, dtype=np.float64, **GENERAL)
    assert inputs is X
    assert targets is y
    np.testing.assert_array_equal(inputs, checked)
    np.testing.assert_array_equal(targets, checked_targets)
    assert vars(quick) == vars(full) == {"n_features_in_": 2}


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.array([[1.0, np.nan]]), None, {}, "Input X contains NaN, first in row 0 of column 1"),
        (np.array([[1.0, np.inf]]), None, {}, "Input X contains infinity"),
        (np.array([[1.0, 1e200]]), None, {}, "as large as 1e.200 in column 1"),
        (np.empty((0, 2)), None, {}, r"Found array with 0 sample\(s\)"),
        (np.empty((3, 0)), None, {}, r"Found array with 0 feature\(s\)"),
        (np.ones(3), None, {}, "Expected 2D array"),
        (np.ones((1, 2)), None, {"ensure_min_samples": 2}, "minimum of 2 is required"),
        (np.ones((3, 1)), None, {"ensure_min_features": 2}, "minimum of 2 is required"),
        (np.ones((3, 1)), np.ones(2), {}, "inconsistent numbers of samples"),
        (np.ones((2, 1)), np.array([1.0, np.nan]), {}, "Input y contains NaN"),
        (np.ones((2, 1)), np.ones((2, 2)), {}, "y should be a 1d array"),
    ],
)
def test_plain_arrays_are_refused_as_before(X, y, options, message):
    targets = {} if y is None else {"y": y}
    with pytest.raises(ValueError, match=message):
        validate_data(Plain(), X, **targets, **options)


def test_plain_arrays_after_tables_and_of_another_width():
    learner = Plain().fit(TABLE)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        validate_data(learner, TABLE.to_numpy(), reset=False)
    learner.fit(TABLE.to_numpy())
    assert not hasattr(learner, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 1 features, but Plain is expecting 2"):
        validate_data(learner, np.ones((3, 1)), reset=False)


def test_single_precision_and_the_order_of_memory_are_changed_where_asked_for():
    assert validate_data(Plain(), np.ones((2, 2), np.float32), dtype=np.float64).dtype == np.float64
    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert validate_data(Plain(), columns, order="C").flags.c_contiguous


def test_missing_values_are_named_by_row_and_column():
    table = TABLE.astype(float)
    table.iloc[2, 1] = np.nan
    with pytest.raises(DataError) as caught:
        validate_data(Plain(), table)
    assert str(caught.value) == (
        f"Input X contains NaN, first in row 2 of column {table.columns[1]!r} (counted from 0); "
        "Plain takes no missing values: fill them, for example with "
        "sklearn.impute.SimpleImputer in front, or leave those rows out."
    )
    with pytest.raises(DataError, match="first in row 1 of column 0"):
        validate_data(Plain(), [[1.0, 2.0], [None, 1.0]], dtype=np.float64)
    with pytest.raises(DataError, match="Input X contains NaN; Plain takes no missing values"):
        validate_data(Plain(), [["nan"]], dtype=np.float64)
    sparse = scipy.sparse.csr_array([[0.0, 1.0], [0.0, np.nan]])
    with pytest.raises(DataError, match="first in row 1 of column 1"):
        validate_data(Plain(), sparse, accept_sparse=True)


def test_huge_numbers_are_refused_by_the_column_name():
    table = pd.DataFrame({"small": [1.0, 2.0, 3.0], "huge": [1.0, 1e200, 3.0]})
    with pytest.raises(DataError, match=r"as large as 1e[+]200 in column 'huge', whose squares"):
        LogisticDiscriminant().fit(table, [0, 1, 0])
    with pytest.raises(DataError, match=r"in column 1 \(counted from 0\), whose squares"):
        LogisticDiscriminant().fit(table.to_numpy(), [0, 1, 0])


def test_messages_name_columns_or_count_them_and_not_too_many():
    known = LogisticDiscriminant().fit(pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 3.0]}), [0, 1])
    assert columns_text(known, [1]) == "column 'b'"
    assert columns_text(known, np.array([0, 1])) == "columns 'a', 'b'"
    assert columns_text(None, range(7)) == "columns 0, 1, 2, 3, 4 and 2 more (counted from 0)"
