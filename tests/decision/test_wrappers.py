"""Helpers of the wrapping learners: weights and labels of mixed kinds."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from verulam.decision._wrappers import class_positions, fitted_clone, hit_rate


def test_hits_are_counted_among_labels_of_mixed_kinds():
    answers = np.array([0, "reject", 1], dtype=object)
    assert hit_rate(answers, [0, 1, 1], None) == pytest.approx(2 / 3)
    assert hit_rate(answers, [0, 1, 1], [1, 2, 1]) == pytest.approx(1 / 2)


def test_positions_follow_the_classes_not_the_alphabet():
    assert class_positions(["a", "c"], np.array(["c", "a"])).tolist() == [1, 0]


def test_fitted_clone_leaves_the_original_alone_and_passes_weights():
    bare = GaussianNB()
    copy = fitted_clone(bare, [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1], [3, 1, 1, 3])
    assert not hasattr(bare, "theta_")
    assert copy.theta_[0, 0] == pytest.approx(0.25)
