"""The batch map: the formula, three scales, order, and odd data."""

import dask.array
import numpy as np
import pytest

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.local import SelfOrganisingMap


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)) + 3.0


def by_hand(X, units, grid, radii, neighbourhood):
    for radius in radii:
        best = ((X[:, None] - units) ** 2).sum(axis=2).argmin(axis=1)
        pulls = grid.weights(np.arange(len(units)), radius, neighbourhood)[:, best]
        units = pulls @ X / pulls.sum(axis=1, keepdims=True)
    return units


@pytest.mark.parametrize("lattice", ["rectangular", "hexagonal"])
@pytest.mark.parametrize("periodic", [False, True])
def test_passes_are_the_formula(rows, lattice, periodic):
    start = np.random.default_rng(1).normal(size=(12, 4))
    learner = SelfOrganisingMap(
        (4, 3), lattice=lattice, periodic=periodic, init=start, n_iter=5, first_radius=2.0
    ).fit(rows)
    expected = by_hand(rows, start, learner.grid_, np.geomspace(2.0, 0.5, 5), "gaussian")
    np.testing.assert_allclose(learner.cluster_centers_, expected, rtol=1e-9)


def test_a_bubble_takes_the_mean_of_all_rows_near_enough(rows):
    learner = SelfOrganisingMap(
        6, neighbourhood="bubble", init=rows[:6], n_iter=3, first_radius=2.0, last_radius=1.0
    ).fit(rows)
    expected = by_hand(rows, rows[:6], learner.grid_, np.geomspace(2.0, 1.0, 3), "bubble")
    np.testing.assert_allclose(learner.cluster_centers_, expected, rtol=1e-9)


def test_without_a_radius_it_is_k_means(rows):
    learner = SelfOrganisingMap(5, first_radius=0.0, last_radius=0.0, init=rows[:5], n_iter=30)
    units = learner.fit(rows).cluster_centers_
    nearest = ((rows[:, None] - units) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([rows[nearest == i].mean(axis=0) for i in range(5)])
    np.testing.assert_allclose(units, means, rtol=1e-9)


def test_memory_stream_and_dask_give_the_same_map():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9_000, 40)) @ rng.normal(size=(40, 40))
    memory = SelfOrganisingMap((5, 4), n_iter=4).fit(X)
    stream = SelfOrganisingMap((5, 4), n_iter=4).fit(lambda: np.array_split(X, 7))
    lazy = SelfOrganisingMap((5, 4), n_iter=4).fit(dask.array.from_array(X, chunks=(2500, 40)))
    for other in (stream, lazy):
        scale = np.abs(memory.cluster_centers_).max()
        np.testing.assert_allclose(
            other.cluster_centers_, memory.cluster_centers_, atol=1e-8 * scale
        )
        np.testing.assert_array_equal(other.hits_, memory.hits_)
        assert other.quantisation_error_ == pytest.approx(memory.quantisation_error_, rel=1e-8)
        assert other.topographic_error_ == memory.topographic_error_
    with pytest.raises(AttributeError, match="labels_ are there after fit on data in memory"):
        _ = stream.labels_


def test_weights_are_repeated_rows(rows):
    weights = np.random.default_rng(1).integers(0, 4, size=len(rows))
    weighted = SelfOrganisingMap((3, 3)).fit(rows, sample_weight=weights.astype(float))
    repeated = SelfOrganisingMap((3, 3)).fit(np.repeat(rows, weights, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=1e-8)
    np.testing.assert_allclose(weighted.hits_, repeated.hits_)
    assert weighted.topographic_error_ == pytest.approx(repeated.topographic_error_)


@pytest.mark.parametrize("init", ["components", "random"])
def test_a_line_is_ordered_along_a_curve(init):
    """Neighbours on the line are neighbours in the space of the rows: a principal curve."""
    t = np.random.default_rng(0).uniform(0.0, 3.0, size=400)
    X = np.column_stack([np.cos(t), np.sin(t)])
    line = SelfOrganisingMap(12, init=init, n_iter=60, first_radius=6.0, random_state=0).fit(X)
    angles = np.arctan2(line.cluster_centers_[:, 1], line.cluster_centers_[:, 0])
    steps = np.diff(angles)
    assert (steps > 0).all() or (steps < 0).all()
    assert line.topographic_error_ < 0.02
    assert line.quantisation_error_ < 0.15


def test_a_map_of_a_square_is_ordered():
    X = np.random.default_rng(0).uniform(size=(2000, 2))
    learner = SelfOrganisingMap((6, 6), lattice="hexagonal", n_iter=30).fit(X)
    assert learner.topographic_error_ < 0.05
    places, units = learner.grid_.positions, learner.cluster_centers_
    correlation = np.corrcoef(places.T, units.T)[:2, 2:]
    assert (np.abs(correlation).max(axis=0) > 0.97).all()


def test_units_are_dense_where_rows_are():
    X = np.random.default_rng(0).normal(size=(3000, 1))
    units = np.sort(SelfOrganisingMap(15).fit(X).cluster_centers_[:, 0])
    gaps = np.diff(units)
    assert gaps[5:9].max() < gaps[[0, 1, -2, -1]].min()


def test_passes_lower_the_error_from_a_random_start():
    X = dataset("wine").inputs.to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    curve = SelfOrganisingMap((5, 5), init="random", random_state=0).fit(X).error_curve_
    assert len(curve) == 20
    assert curve[-1] < 0.6 * curve[1]


def test_fewer_rows_than_units_are_told():
    with pytest.warns(DataWarning, match=r"grid_shape has 100 units and X has 20 rows"):
        learner = SelfOrganisingMap().fit(np.random.default_rng(0).normal(size=(20, 3)))
    assert np.isfinite(learner.cluster_centers_).all()
    assert len(learner.dead_units_) >= 80


def test_odd_data_gives_a_map():
    constant = np.column_stack([np.arange(30.0), np.full(30, 4.0)])
    learner = SelfOrganisingMap((2, 3)).fit(constant)
    np.testing.assert_allclose(learner.cluster_centers_[:, 1], 4.0)
    same = np.repeat([[1.0, 2.0]], 12, axis=0)
    np.testing.assert_allclose(SelfOrganisingMap((2, 3)).fit(same).cluster_centers_, same[:6])
    one = SelfOrganisingMap(1).fit(constant)
    np.testing.assert_allclose(one.cluster_centers_[0], constant.mean(axis=0))
    assert one.topographic_error_ == 0.0
    assert one.place(constant).tolist() == [[0.0]] * 30


def test_a_column_at_a_large_offset_keeps_its_digits(rows):
    moved = SelfOrganisingMap((3, 3)).fit(rows + 1e7)
    plain = SelfOrganisingMap((3, 3)).fit(rows)
    np.testing.assert_allclose(moved.cluster_centers_ - 1e7, plain.cluster_centers_, atol=1e-6)


@pytest.mark.parametrize(
    ("init", "X", "message"),
    [
        ([[1.0]], [[1.0], [2.0]], r"init has shape \(1, 1\); expected 2 rows of 1"),
        ([["a"], ["b"]], [[1.0], [2.0]], "init has shape .* expected 2 rows of 1 finite numbers"),
        ("components", [[np.nan], [2.0]], "NaN"),
    ],
)
def test_wrong_arguments_are_named(init, X, message):
    with pytest.raises((DataError, ValueError), match=message):
        SelfOrganisingMap(2, init=init).fit(X)


def test_the_error_of_a_pass_is_the_mean_square_of_the_distances(rows):
    units = rows[:6]
    model = SelfOrganisingMap(6, init=units, n_iter=1).fit(rows)
    nearest = ((rows[:, None] - units) ** 2).sum(axis=2).min(axis=1)
    assert model.error_curve_[0] == pytest.approx(nearest.mean())
