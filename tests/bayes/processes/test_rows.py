"""Rows that a process needs, and rows that it should ask for."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.bayes import (
    GaussianProcessRegressor,
    PrunedProcess,
    Query,
    next_query,
    prune_process,
    spread_rows,
)
from verulam.kernel import Gaussian

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(0, 6, size=(60, 1)), axis=0)
Y = np.sin(X[:, 0]) + RNG.normal(scale=0.1, size=60)
PROCESS = GaussianProcessRegressor().fit(X, Y)


def test_every_row_that_was_dropped_is_foretold_by_the_others():
    """In the order in which rows were dropped, each lay in the interval of those then left."""
    pruned = prune_process(PROCESS, level=0.9)
    assert isinstance(pruned, PrunedProcess)
    assert 1 <= len(pruned.rows) < 40
    # The first to go is the best foretold of all, and lies in the interval of a refit.
    loo = PROCESS.leave_one_out()
    scores = np.abs(Y - loo.mean) / np.sqrt(loo.variance)
    first = int(np.argmin(scores))
    assert first not in pruned.rows
    rest = np.delete(np.arange(60), first)
    assert PROCESS.refit_rows(rest).predict_interval(X[[first]], 0.9).covers(Y[[first]])[0]
    # What the rows that stayed say is near to what all say.
    grid = np.linspace(0, 6, 50)[:, None]
    assert np.abs(pruned.process.predict(grid) - PROCESS.predict(grid)).max() < 0.35


def test_rows_that_stay_by_plain_refits():
    """The downdated inverse gives the same rows as fitting again after every drop."""
    small = GaussianProcessRegressor(1.0 * Gaussian(1.0), noise_variance=0.02, optimise=False)
    small.fit(X[:15], Y[:15])
    loo = small.leave_one_out()
    order = np.argsort(np.abs(Y[:15] - loo.mean) / np.sqrt(loo.variance), kind="stable")
    left = list(range(15))
    for row in order:
        others = [other for other in left if other != row]
        if not others:
            continue
        inside = small.refit_rows(others).predict_interval(X[[row]], 0.8).covers(Y[[row]])[0]
        if inside:
            left = others
    np.testing.assert_array_equal(prune_process(small, level=0.8).rows, left)


def test_a_higher_level_drops_more():
    assert len(prune_process(PROCESS, 0.99).rows) <= len(prune_process(PROCESS, 0.5).rows)
    with pytest.raises(DataError, match="level must be"):
        prune_process(PROCESS, 1.5)


def test_spread_rows_are_those_of_greatest_remaining_variance():
    kernel = Gaussian(0.7)
    picked = spread_rows(kernel, X, 6, noise_variance=0.01)
    assert len(set(picked.tolist())) == 6
    for count in range(1, 6):
        before = X[picked[:count]]
        gram = kernel(before) + 0.01 * np.eye(count)
        k = kernel(X, before)
        variances = 1.0 - np.einsum("ij,jk,ik->i", k, np.linalg.inv(gram), k)
        variances[picked[:count]] = -1.0
        assert variances[picked[count]] == pytest.approx(variances.max(), abs=1e-9)
    with pytest.raises(DataError, match="n_rows must be from 1 to the 60 rows"):
        spread_rows(kernel, X, 61)
    with pytest.raises(DataError, match="noise_variance must be above 0"):
        spread_rows(kernel, X, 3, noise_variance=0.0)
    with pytest.raises(DataError, match="table of finite numbers"):
        spread_rows(kernel, [1.0], 1)


def test_a_subset_of_many_rows_predicts_nearly_as_well():
    subset = spread_rows(PROCESS.kernel_, X, 20)
    smaller = PROCESS.refit_rows(subset)
    grid = np.linspace(0, 6, 50)[:, None]
    assert np.abs(smaller.predict(grid) - PROCESS.predict(grid)).max() < 0.3


def test_queries_from_a_pool_lower_the_variance():
    rows, targets = X[:5], Y[:5]
    pool = np.linspace(0, 6, 40)[:, None]
    deviations = []
    for _ in range(5):
        process = GaussianProcessRegressor(
            1.0 * Gaussian(1.0), noise_variance=0.01, optimise=False
        ).fit(rows, targets)
        query = next_query(process, pool=pool)
        assert isinstance(query, Query)
        assert query.std == pytest.approx(process.predict(pool, return_std=True)[1].max())
        np.testing.assert_array_equal(query.point, pool[query.position])
        deviations.append(query.std / process.scale_)
        rows = np.vstack([rows, query.point])
        targets = np.append(targets, np.sin(query.point[0]))
    assert deviations[-1] < 0.5 * deviations[0]


def test_queries_stay_within_bounds():
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    process = GaussianProcessRegressor(Gaussian(0.4), noise_variance=0.01, optimise=False)
    process.fit(rows, [0.0, 1.0, 2.0, 3.0])
    query = next_query(process, bounds=[(0.0, 1.0), (0.0, 1.0)])
    np.testing.assert_allclose(query.point, [0.5, 0.5], atol=0.01)
    assert query.position is None
    narrow = next_query(process, bounds=[(0.0, 0.3), (0.0, 0.2)])
    assert (narrow.point <= [0.3, 0.2]).all()
    with pytest.raises(DataError, match="either a pool of rows or bounds"):
        next_query(process)
    with pytest.raises(DataError, match="each of the 2 columns"):
        next_query(process, bounds=[(0.0, 1.0)])


def test_only_processes_are_pruned():
    with pytest.raises(DataError, match="process must be a GaussianProcessRegressor; got 3"):
        prune_process(3)
