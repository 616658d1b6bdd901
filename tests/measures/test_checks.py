"""Bad input is refused with a message that names the argument and the fault."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError, DataWarning
from verulam.measures import accuracy, auc, brier, confusion, log_loss, mean_squared_error, risk
from verulam.measures._checks import coded_labels, ratio


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: accuracy([0, 1, 1], [0, 1]), "y_true has 3 rows and the prediction has 2"),
        (lambda: accuracy([], []), "y_true is empty"),
        (lambda: accuracy([[0, 1]], [0, 1]), r"y_true must have one dimension.*\(1, 2\)"),
        (lambda: accuracy([0, 1, 1], [0, np.nan, 1]), r"prediction has a missing .* row 1"),
        (lambda: accuracy(["a", None], ["a", "b"]), "y_true has a missing value .* row 1"),
        (lambda: accuracy([0, 1], ["0", "1"]), "labels of different kinds"),
        (lambda: confusion([0, 1], [0, 2], labels=[0, 1]), "prediction contains .*2.* in row 1"),
        (lambda: confusion([0, 1], [0, 1], labels=[0, 1, 1]), "labels must differ"),
        (lambda: accuracy([0, 1], [0, 1], sample_weight=[1, -2]), "negative, but row 1 has -2"),
        (lambda: accuracy([0, 1], [0, 1], sample_weight=[0, 0]), "positive sum"),
        (lambda: accuracy([0, 1], [0, 1], sample_weight=[1]), "sample_weight has 1 rows"),
        (lambda: log_loss([0, 1], [[0.5, 0.5], [0.5, 0.6]]), "row 1 sums to 1.1"),
        (lambda: brier([0, 1], [[1.5, -0.5], [0.5, 0.5]]), "between 0 and 1"),
        (lambda: log_loss([0, 1], [[0.2, 0.3, 0.5]] * 2), "3 columns, but there are 2 labels"),
        (lambda: log_loss([0, 1], [[np.nan, 0.5], [0.5, 0.5]]), "missing value .* row 0"),
        (lambda: log_loss([0, 3], [[0.5, 0.5]] * 2, labels=[0, 1]), "y_true contains .*3"),
        (lambda: auc([1, 1], [0.2, 0.3]), "needs positives and negatives"),
        (lambda: auc([2, 2], np.eye(3)[:2], labels=[0, 1, 2]), "has only '2'"),
        (lambda: auc([0, 1], [0.2, np.nan]), "scores has a missing value .* row 1"),
        (lambda: auc([0, 1], [0.2, 0.3], positive=7), "positive=7 is not one of the labels"),
        (lambda: auc([0, 1, 2], [0.2, 0.3, 0.1]), "say which is `positive`"),
        (lambda: mean_squared_error([1, 2], [1, np.nan]), "prediction has a missing .* row 1"),
        (lambda: mean_squared_error([1, 2], [1, np.inf]), "prediction has an infinite .* row 1"),
        (lambda: mean_squared_error(["x"], [1]), "y_true must hold numbers"),
        (lambda: mean_squared_error([1, 2], [[1, 1], [2, 2]]), r"shape \(2, 1\)"),
        (lambda: risk([0, 1], [0, 1], loss=[[0, 1]]), "loss has 1 rows for 2 classes"),
        (lambda: risk([0, 1], [0, 1], loss=[[0, 1, 2]] * 2), r"loss has shape \(2, 3\)"),
        (lambda: risk([0, 1], [0, 1], loss=[[0, np.nan], [1, 0]]), "loss has a missing value"),
        (lambda: risk([0, 1], [0, 5], loss=[[0, 1], [1, 0]]), "prediction contains .*5"),
        (
            lambda: risk([0, 1], [0, 1], loss=[[0, 1], [1, 0]], actions=["x"]),
            "actions has 1 names, but loss has 2 rows",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_labels_keep_their_given_order():
    coded = coded_labels(["b", "a"], ["a", "a"], labels=["b", "a"])
    assert_array_equal(coded.true, [0, 1])
    assert_array_equal(coded.predicted, [1, 1])


def test_categorical_columns_are_accepted():
    true = pd.Series(["x", "y", "y"], dtype="category")
    assert accuracy(true, ["x", "y", "x"]) == pytest.approx(2 / 3)


def test_zero_denominator_policy():
    with pytest.warns(DataWarning, match="precision is undefined"):
        assert np.isnan(ratio(0, 0, "precision"))
    assert ratio(0, 0, "precision", 0.25) == 0.25
    assert_array_equal(ratio([1, 2], [2, 0], "x", 0.0), [0.5, 0.0])
    with pytest.raises(ValueError, match="zero_division must be 'warn' or a number"):
        ratio(1, 1, "x", "ignore")
