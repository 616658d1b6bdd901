"""Searches for boxes and thresholds, against brute force."""

from itertools import product

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.rule._boxes import box_search as _box_search
from verulam.rule._boxes.box_search import (
    Box,
    best_quadrant,
    least_error_box,
    least_error_thresholds,
    loosest_boxes,
    midway_box,
    tightest_box,
)


def brute_force(X, signed):
    """Return the largest sum above any thresholds."""
    cuts = [[-np.inf, *np.unique(column)] for column in X.T]
    return max(signed[(np.array(cut) < X).all(axis=1)].sum() for cut in product(*cuts))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_columns", [1, 2])
def test_thresholds_are_the_best_there_are(seed, n_columns):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(25, n_columns)).astype(float)
    signed = rng.normal(size=25)
    thresholds, score = least_error_thresholds(X, signed)
    assert score == pytest.approx(brute_force(X, signed))
    assert signed[(thresholds < X).all(axis=1)].sum() == pytest.approx(score)


def test_thresholds_of_many_columns_find_the_corner():
    rng = np.random.default_rng(0)
    X = rng.random((300, 5))
    belongs = (X[:, :3] > 0.3).all(axis=1)
    thresholds, score = least_error_thresholds(X, np.where(belongs, 1.0, -1.0))
    assert score == belongs.sum()
    assert np.isinf(thresholds[3:]).all() or ((thresholds[3:] < X[belongs][:, 3:]).all())


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_quadrant_equals_its_python_source():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 6, size=(2, 40))
    order, signed = np.argsort(-first, kind="stable"), rng.normal(size=40)
    arguments = (first, second, order, signed, 6)
    assert best_quadrant(*arguments) == pytest.approx(best_quadrant.py_func(*arguments))


def test_loosest_boxes_are_maximal_and_hold_no_negative():
    rng = np.random.default_rng(3)
    negatives = rng.random((12, 2))
    negatives = negatives[(np.abs(negatives - 0.5) > 0.1).any(axis=1)]
    specific = Box(np.array([0.4, 0.4]), np.array([0.6, 0.6]))
    boxes = loosest_boxes(specific, negatives)
    assert len(boxes) > 1
    for box in boxes:
        assert not ((negatives > box.lower) & (negatives < box.upper)).all(axis=1).any()
        assert (box.lower <= specific.lower).all()
        assert (box.upper >= specific.upper).all()
        for side in range(4):
            # Moving any finite side further out takes a negative in.
            lower, upper = box.lower.copy(), box.upper.copy()
            bound = (lower, upper)[side // 2]
            if np.isfinite(bound[side % 2]):
                bound[side % 2] = np.inf if side // 2 else -np.inf
                assert ((negatives > lower) & (negatives < upper)).all(axis=1).any()


def test_loosest_boxes_of_the_plane():
    """One negative to the right and one above: one box for each way to avoid both."""
    boxes = loosest_boxes(tightest_box(np.zeros((1, 2))), np.array([[2.0, 0.0], [0.0, 3.0]]))
    assert len(boxes) == 1
    assert_array_equal(boxes[0].upper, [2.0, 3.0])
    corner = loosest_boxes(tightest_box(np.zeros((1, 2))), np.array([[2.0, 3.0]]))
    assert sorted(tuple(box.upper) for box in corner) == [(2.0, np.inf), (np.inf, 3.0)]


def test_too_many_loosest_boxes(monkeypatch):
    monkeypatch.setattr(_box_search, "MOST_BOXES", 3)
    angles = np.linspace(0.1, 1.4, 12)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    with pytest.raises(DataError, match="More than 3 most general boxes fit these data"):
        loosest_boxes(tightest_box(np.zeros((1, 2))), ring)


def test_midway_keeps_open_sides_open():
    box = midway_box(
        Box(np.array([1.0, 1.0]), np.array([2.0, 2.0])),
        Box(np.array([0.0, -np.inf]), np.array([4.0, np.inf])),
    )
    assert_array_equal(box.lower, [0.5, -np.inf])
    assert_array_equal(box.upper, [3.0, np.inf])


def test_least_error_box_sees_through_noise():
    rng = np.random.default_rng(0)
    X = rng.random((800, 2))
    inside = ((X > 0.3) & (X < 0.7)).all(axis=1)
    noisy = inside ^ (rng.random(800) < 0.1)
    box = least_error_box(X, np.where(noisy, 1.0, -1.0))
    assert np.mean(box.contains(X) == inside) > 0.97
    tightest = tightest_box(X[noisy])
    assert np.mean(box.contains(X) == noisy) > np.mean(tightest.contains(X) == noisy)
