"""Moments per class: NumPy's numbers, exact addition, and precision far from zero."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import ByClass
from verulam.numerics import (
    DiagonalMoments,
    FullMoments,
    PooledMoments,
    diagonal_moments,
    full_moments,
    gap_patterns,
    overall_moments,
    pooled_moments,
)
from verulam.numerics import _moments_loops as loops


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)),
        rng.integers(4, size=300),
        rng.uniform(0.1, 3.0, size=300),
    )


def reference(X, codes, weights, k):
    rows = codes == k
    covariance = np.cov(X[rows].T, aweights=weights[rows], ddof=0) * weights[rows].sum()
    return weights[rows].sum(), np.average(X[rows], axis=0, weights=weights[rows]), covariance


def test_against_numpy(data):
    X, codes, weights = data
    diagonal = diagonal_moments(X, codes, weights, 4)
    full = full_moments(X, codes, weights, 4)
    pooled = pooled_moments(X, codes, weights, 4)
    parts = [reference(X, codes, weights, k) for k in range(4)]
    for k, (weight, mean, scatter) in enumerate(parts):
        assert_allclose(full.weight[k], weight)
        assert_allclose(full.mean[k], mean)
        assert_allclose(full.scatter[k], scatter)
        assert_allclose(diagonal.mean[k], mean)
        assert_allclose(diagonal.scatter[k], np.diag(scatter))
    assert_allclose(pooled.scatter, sum(scatter for _, _, scatter in parts))


@pytest.mark.parametrize("function", [diagonal_moments, full_moments, pooled_moments])
@pytest.mark.parametrize("cut", [1, 37, 299])
def test_parts_add_up_to_the_whole(data, function, cut):
    X, codes, weights = data
    whole = function(X, codes, weights, 4)
    parts = function(X[:cut], codes[:cut], weights[:cut], 4) + function(
        X[cut:], codes[cut:], weights[cut:], 4
    )
    for name in ("weight", "mean", "scatter"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", [diagonal_moments, full_moments, pooled_moments])
def test_missing_classes_are_filled_in(data, function):
    X, codes, weights = data
    low, high = codes < 2, codes >= 2
    first = ByClass(np.array([0, 1]), function(X[low], codes[low], weights[low], 2))
    second = ByClass(np.array([2, 3]), function(X[high], codes[high] - 2, weights[high], 2))
    total = (first + second).statistics
    whole = function(X, codes, weights, 4)
    assert_allclose(total.mean, whole.mean)
    assert_allclose(total.scatter, whole.scatter)


def test_large_offset_keeps_the_variance(data):
    X, codes, _ = data
    near = diagonal_moments(X, codes, None, 4)
    far = diagonal_moments(X + 1e8, codes, None, 4)
    assert_allclose(far.scatter, near.scatter, rtol=1e-6)


def test_missing_entries_are_skipped(data):
    X, codes, weights = data
    X = X.copy()
    X[::3, 1] = np.nan
    X[codes == 2, 2] = np.nan
    moments = diagonal_moments(X, codes, weights, 4)
    rows = (codes == 0) & ~np.isnan(X[:, 1])
    assert_allclose(moments.weight[0, 1], weights[rows].sum())
    assert_allclose(moments.mean[0, 1], np.average(X[rows, 1], weights=weights[rows]))
    assert moments.weight[2, 2] == 0.0
    assert moments.mean[2, 2] == 0.0


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(
    "name", ["class_means", "column_scatters", "column_moments_present", "group_deviations"]
)
def test_compiled_loops_equal_their_python_source(data, name):
    X, codes, weights = (part[:60] for part in data)
    compiled = getattr(loops, name)
    table, counts = np.zeros((4, X.shape[1])), np.bincount(codes, minlength=4)
    results = {
        "class_means": (np.full(4, -1), np.zeros(4), table),
        "column_scatters": (table + 0.5, table),
        "column_moments_present": (np.full_like(table, np.nan), table, table, table),
        "group_deviations": (table + 0.5, np.cumsum(counts) - counts, np.empty(X.shape)),
    }[name]
    fast, slow = ([part.copy() for part in results] for _ in range(2))
    compiled(X, codes, weights, *fast)
    compiled.py_func(X, codes, weights, *slow)
    for one, other in zip(fast, slow, strict=True):
        assert_allclose(one, other)
    assert not np.array_equal(fast[-1], results[-1])


def test_overall_moments_are_those_of_all_rows_together():
    random = np.random.default_rng(0)
    X, codes = random.normal(5, 2, size=(50, 3)), random.integers(3, size=50)
    moments = diagonal_moments(X, codes, None, 3)
    mean, between = overall_moments(moments.weight, moments.mean)
    assert_allclose(mean, X.mean(axis=0))
    total = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    assert_allclose(between + moments.scatter.sum(axis=0), total)


def test_records_of_three_shapes():
    X, codes = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
    for function, record, shape in (
        (diagonal_moments, DiagonalMoments, (2, 2)),
        (full_moments, FullMoments, (2, 2, 2)),
        (pooled_moments, PooledMoments, (2, 2)),
    ):
        moments = function(X, codes, None, 2)
        assert isinstance(moments, record)
        assert moments.scatter.shape == shape


def test_rows_are_grouped_by_their_gaps():
    rows = np.array([[np.nan, 1.0], [2.0, 3.0], [np.nan, 4.0], [np.nan, np.nan]])
    groups = {tuple(present): places.tolist() for present, places in gap_patterns(rows)}
    assert groups == {(False, True): [0, 2], (True, True): [1], (False, False): [3]}
