"""Windows by class: classes without points, and pickling without blocks."""

import pickle

import numpy as np
from numpy.testing import assert_allclose

from verulam.nonparametric._window_classifiers.class_windows import ClassWindows
from verulam.nonparametric._windows.functions import WINDOWS


def test_a_class_without_points_is_impossible():
    windows = ClassWindows(np.zeros((2, 1)), np.array([0, 2]), np.array([1.0, 3.0]), 4)
    sums = windows.log_sums(np.zeros((1, 1)), WINDOWS["gaussian"])
    assert_allclose(sums, [[0.0, -np.inf, np.log(3.0), -np.inf]])
    assert_allclose(windows.counts, [1, 0, 3, 0])


def test_blocks_are_built_again_after_pickling():
    windows = ClassWindows(np.eye(3), np.arange(3), np.ones(3), 3)
    before = windows.log_sums(np.eye(3), WINDOWS["gaussian"])
    restored = pickle.loads(pickle.dumps(windows))
    assert restored._blocks is None
    assert_allclose(restored.log_sums(np.eye(3), WINDOWS["gaussian"]), before)
