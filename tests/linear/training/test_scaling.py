"""Columns in one scale, and the warning where a trainer needed them so."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import overlapping

from verulam.linear._training.scaling import (
    largest_sizes,
    sampled_rows,
    scale_columns,
    warn_far_from_optimum,
)

ROWS, CLASSES = overlapping(60)


def test_columns_lie_around_zero_with_the_size_one():
    columns = scale_columns(ROWS * [1e-5, 1.0, 1e5] + [0.0, 1e8, -1e3])
    assert np.allclose(columns.values.min(axis=0), -1.0)
    assert np.allclose(columns.values.max(axis=0), 1.0)


@pytest.mark.parametrize("compress", [np.asarray, sp.csr_array])
def test_weights_go_back_to_the_columns_as_they_were(compress):
    rows = compress(ROWS * [2.0, 1.0, 5.0] + [3.0, 0.0, 7.0])
    columns = scale_columns(rows)
    weights = np.array([0.5, 1.0, -2.0, 3.0])
    plane = columns.original(weights)
    expected = columns.values @ weights[1:] + weights[0]
    assert np.allclose(rows @ plane[1:] + plane[0], expected)


def test_sparse_columns_with_zeros_keep_them():
    table = sp.csr_array([[0.0, 1e8], [2.0, 1e8 + 1.0], [0.0, 1e8 + 2.0]])
    columns = scale_columns(table)
    assert columns.centres.tolist() == [0.0, 1e8 + 1.0]
    assert columns.values.toarray().tolist() == [[0.0, -1.0], [1.0, 0.0], [0.0, 1.0]]


def test_columns_of_zeros_keep_their_size():
    assert largest_sizes(np.array([[0.0, -3.0], [0.0, 2.0]])).tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("scale", "offset", "remedy"),
    [(1.0, 0.0, "raise max_iter"), (1e4, 0.0, "scale the inputs"), (1.0, 1e3, "scale the inputs")],
)
def test_what_is_far_from_the_optimum_hears_the_remedy(scale, offset, remedy):
    targets = np.column_stack([CLASSES == 0, CLASSES == 1]).astype(float)
    with pytest.warns(ConvergenceWarning, match=f"Trainer misclassifies 100%.*{remedy}"):
        warn_far_from_optimum("Trainer", ROWS * scale + offset, targets, np.ones(60, dtype=bool))


def test_classes_that_take_turns_are_both_looked_at():
    """Every tenth of 20,000 rows is of one class, which least squares gets right for nothing."""
    random = np.random.default_rng(0)
    classes = np.arange(20_000) % 2
    rows = random.normal(size=(20_000, 2)) + 0.3 * classes[:, None]
    targets = np.column_stack([classes == 0, classes == 1]).astype(float)
    wrong = (rows.sum(axis=1) > 0.3) != classes
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warn_far_from_optimum("Trainer", rows, targets, wrong)
    assert not heard
    sample = sampled_rows(20_000)
    assert len(np.unique(sample)) == 2_000
    assert 0.4 < classes[sample].mean() < 0.6
    assert sampled_rows(50).tolist() == list(range(50))


def test_what_is_near_the_optimum_hears_nothing():
    targets = np.column_stack([CLASSES == 0, CLASSES == 1]).astype(float)
    design = np.column_stack([np.ones(60), ROWS])
    fitted = design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    wrong = fitted.argmax(axis=1) != CLASSES
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warn_far_from_optimum("Trainer", ROWS * 1e4, targets, wrong)
    assert heard == []
