"""Metrics around a point: by their formulas in plain NumPy."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.linalg import inv, sqrtm

from verulam.nonparametric._metrics.local_metrics import (
    ADDED_SHARE,
    column_losses,
    relevance_metrics,
    scatter_metrics,
    squared_distances,
    tricube_weights,
)

RNG = np.random.default_rng(0)


def test_scatter_metric_by_the_formula():
    offsets, codes, weights = RNG.normal(size=(30, 3)), RNG.integers(2, size=30), RNG.random(30)
    means = [np.average(offsets[codes == c], axis=0, weights=weights[codes == c]) for c in (0, 1)]
    overall = np.average(offsets, axis=0, weights=weights)
    within, between = np.zeros((3, 3)), np.zeros((3, 3))
    for offset, code, weight in zip(offsets, codes, weights, strict=True):
        within += weight * np.outer(offset - means[code], offset - means[code]) / weights.sum()
        apart = means[code] - overall
        between += weight * np.outer(apart, apart) / weights.sum()
    root = np.real(inv(sqrtm(within)))
    expected = root @ (root @ between @ root + 0.7 * np.eye(3)) @ root
    found = scatter_metrics(offsets[None], codes[None], weights[None], 2, 0.7)[0]
    assert_allclose(found, expected)


def test_losses_by_the_formula():
    offsets, codes = RNG.normal(size=(40, 3)), RNG.integers(3, size=40)
    offsets = offsets[np.argsort(np.linalg.norm(offsets, axis=1))]
    found = column_losses(offsets[None], codes[None], 3, around=7, slice_size=15)[0]
    whole = np.bincount(codes[:7], minlength=3) / 7
    for column in range(3):
        nearest = np.argsort(np.abs(offsets[:, column]))[:15]
        counts = np.bincount(codes[nearest], minlength=3) + ADDED_SHARE * 15
        shares = counts / counts.sum()
        assert_allclose(found[column], ((whole - shares) ** 2 / shares).sum())


def test_relevant_columns_count_more():
    metrics = relevance_metrics(np.array([[0.1, 0.3, 0.3], [0.2, 0.2, 0.2]]), 10.0)
    weights = np.exp(10 * np.array([0.2, 0.0, 0.0]))
    assert_allclose(np.diag(metrics[0]), 3 * weights / weights.sum())
    assert_allclose(metrics[1], np.eye(3))
    assert np.isfinite(relevance_metrics(np.array([[0.0, 1e3]]), 1e3)).all()


def test_distances_with_a_metric_for_each_row():
    queries, stored = RNG.normal(size=(4, 2)), RNG.normal(size=(5, 2))
    roots = RNG.normal(size=(5, 2, 2))
    metrics = roots @ roots.transpose(0, 2, 1)
    found = squared_distances(queries, stored, metrics)
    for row in range(5):
        for query in range(4):
            gap = queries[query] - stored[row]
            assert_allclose(found[query, row], gap @ metrics[row] @ gap)


def test_equal_distances_all_count():
    assert_allclose(tricube_weights(np.zeros((1, 3))), 1.0)
    weights = tricube_weights(np.array([[0.0, 0.5, 1.0]]))[0]
    assert_allclose(weights, [1.0, (1 - 0.125) ** 3, 0.0], atol=1e-8)
