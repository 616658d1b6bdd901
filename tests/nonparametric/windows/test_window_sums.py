"""Sums of windows: the plain formula, bounds that hold, blocks of near points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.nonparametric._windows import window_sums_loops as loops
from verulam.nonparametric._windows.functions import WINDOWS, find_window
from verulam.nonparametric._windows.window_sums import (
    _plain_log_sums,
    log_window_sums,
    neighbouring_order,
    store_points,
)
from verulam.nonparametric._windows.window_sums_loops import BLOCK, exponentials, window_sums

RNG = np.random.default_rng(0)
POINTS, QUERIES = RNG.normal(size=(700, 3)), RNG.normal(size=(50, 3))
WEIGHTS, PRECISIONS = RNG.random(700), RNG.uniform(0.5, 3.0, size=700)


def formula(queries, window, scales):
    radii = np.linalg.norm(queries[:, None] - POINTS, axis=2)
    return window(radii * np.sqrt(scales[:, None] * PRECISIONS)) @ WEIGHTS


@pytest.mark.parametrize("window", [*WINDOWS.values(), find_window(lambda u: 1 / (1 + u**6))])
def test_matches_the_formula(window):
    scales = RNG.uniform(0.5, 2.0, size=50)
    stored = store_points(POINTS, WEIGHTS, PRECISIONS)
    with np.errstate(divide="ignore"):
        expected = np.log(formula(QUERIES, window, scales))
    assert_allclose(log_window_sums(QUERIES, stored, window, scales), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "exponential", "triweight"])
@pytest.mark.parametrize("rtol", [1e-2, 1e-5])
def test_errors_stay_within_the_bound(name, rtol):
    points = RNG.normal(size=(5000, 2)) * 4.0
    stored = store_points(points)
    queries = points[:200] + 0.1
    exact = log_window_sums(queries, stored, WINDOWS[name])
    rough = log_window_sums(queries, stored, WINDOWS[name], rtol=rtol)
    assert np.abs(np.expm1(rough - exact)).max() <= rtol


def test_far_queries_keep_their_logarithm():
    stored = store_points(np.zeros((3, 2)))
    far = np.array([[1e3, 0.0]])
    assert_allclose(log_window_sums(far, stored, WINDOWS["gaussian"]), -0.5e6)
    assert_allclose(log_window_sums(far, stored, WINDOWS["exponential"]), -1e3)
    assert log_window_sums(far, stored, WINDOWS["tophat"])[0] == -np.inf
    assert_allclose(_plain_log_sums(far, stored, WINDOWS["gaussian"], np.ones(1)), -0.5e6)


def test_exponentials_are_exact_to_rounding():
    values = -np.concatenate([np.linspace(0.0, 3.0, 400), np.linspace(3.0, 700.0, 400)])
    mantissas, powers = values.copy(), np.empty(800)
    exponentials(mantissas, powers)
    assert_allclose(mantissas * powers, np.exp(values), rtol=3e-13)
    assert_allclose((mantissas * powers)[:400], np.exp(values)[:400], rtol=2e-15)


def test_blocks_hold_near_points_once_each():
    order = neighbouring_order(POINTS)
    assert_array_equal(np.sort(order), np.arange(700))
    plain = [np.ptp(POINTS[start : start + BLOCK], axis=0).prod() for start in range(0, 640, BLOCK)]
    near = [np.ptp(POINTS[order[s : s + BLOCK]], axis=0).prod() for s in range(0, 640, BLOCK)]
    assert np.mean(near) < 0.5 * np.mean(plain)
    assert_array_equal(np.sort(neighbouring_order(np.zeros((200, 2)))), np.arange(200))


def test_compiled_sums_equal_their_python_source(monkeypatch):
    stored = store_points(POINTS[:100], WEIGHTS[:100], PRECISIONS[:100])
    precisions = stored.block_precisions
    ranges = np.stack([precisions.min(axis=1), precisions.max(axis=1)])
    totals = stored.block_weights.sum(axis=1)
    results = []
    for function in (window_sums, window_sums.py_func):
        if function is window_sums.py_func:
            # Parts of the loop have no entry for Python.
            for name in ("exponentials", "heights", "_block_total", "_box_bounds"):
                monkeypatch.setattr(loops, name, getattr(loops, name).py_func)
        sums = np.empty(3)
        function(
            QUERIES[:3],
            np.ones(3),
            stored.tiles,
            precisions,
            stored.block_weights,
            stored.boxes,
            ranges,
            totals,
            np.array([0.0, 1.0, 0.0]),
            1e-16,
            (*np.empty((2, BLOCK)), *np.empty((3, len(totals)))),
            sums,
        )
        results.append(sums)
    assert_allclose(results[0], results[1], rtol=1e-13)
