"""Presets, and parameters as the loops take them."""

import numpy as np
import pytest

from verulam.tree import DecisionTreeClassifier
from verulam.tree._options import PLAIN_CLASSIFIER, feature_count, log_table, resolve, row_count


def test_presets_fill_in_what_is_open():
    options = resolve(DecisionTreeClassifier(preset="c4.5"), PLAIN_CLASSIFIER)
    assert (options.criterion, options.categories) == ("gain_ratio", "n_way")
    assert (options.missing, options.pruning, options.min_samples_leaf) == (
        "fractional",
        "pessimistic",
        2,
    )
    unpruned = resolve(DecisionTreeClassifier(preset="c4.5", pruning="none"), PLAIN_CLASSIFIER)
    assert (unpruned.pruning, unpruned.criterion) == ("none", "gain_ratio")
    assert resolve(DecisionTreeClassifier(), PLAIN_CLASSIFIER) == PLAIN_CLASSIFIER


@pytest.mark.parametrize(
    ("max_features", "expected"), [(None, 9), ("sqrt", 3), ("log2", 3), (4, 4), (40, 9), (0.5, 4)]
)
def test_feature_count(max_features, expected):
    assert feature_count(max_features, 9) == expected


def test_shares_of_rows_are_rounded_up():
    assert row_count(0.05, 101) == 6
    assert row_count(7, 101) == 7
    assert np.allclose(log_table(4), [0, 0, 2, 3 * np.log2(3), 8])


@pytest.mark.parametrize(
    "wrong",
    [
        {"impurity_threshold": -0.1},
        {"purity_threshold": 1.2},
        {"min_samples_split": 1},
        {"min_samples_leaf": 0},
        {"max_depth": 0},
        {"pruning_fraction": 0.0},
        {"pruning_confidence": 0.7},
        {"preset": "c5"},
    ],
)
def test_thresholds_out_of_range(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        DecisionTreeClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])
