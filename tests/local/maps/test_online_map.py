"""The online map: the step, its limit, schedules that go on, and lattices."""

import numpy as np
import pytest

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.local import OnlineKMeans, OnlineSelfOrganisingMap
from verulam.numerics import constant, inverse


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 5)) @ rng.normal(size=(5, 5)) + 3.0


def by_hand(X, units, grid, radii, rates, neighbourhood):
    units = units.copy()
    for row, radius, rate in zip(X, radii, rates, strict=True):
        winner = ((row - units) ** 2).sum(axis=1).argmin()
        pulls = grid.weights(np.array([winner]), radius, neighbourhood)[0]
        units += rate * pulls[:, None] * (row - units)
    return units


@pytest.mark.parametrize("shape", [(4, 3), 12])
@pytest.mark.parametrize("lattice", ["rectangular", "hexagonal"])
@pytest.mark.parametrize("neighbourhood", ["gaussian", "bubble"])
@pytest.mark.parametrize("periodic", [False, True])
def test_a_pass_is_12_10_and_12_12(rows, shape, lattice, neighbourhood, periodic):
    start = np.random.default_rng(1).normal(size=(12, 5))
    learner = OnlineSelfOrganisingMap(
        shape, lattice=lattice, neighbourhood=neighbourhood, periodic=periodic, init=start,
        first_radius=2.0, last_radius=0.6, learning_rate=0.3, shuffle=False, max_iter=1,
    ).fit(rows)  # fmt: skip
    radii = np.linspace(2.0, 0.6, len(rows))
    rates = 0.3 * np.linspace(1.0, 0.01, len(rows))
    expected = by_hand(rows, start, learner.grid_, radii, rates, neighbourhood)
    np.testing.assert_allclose(learner.cluster_centers_, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("radius", [0.0, 1e-3])
@pytest.mark.parametrize("n_columns", [2, 5])
def test_without_a_radius_it_is_online_k_means_to_the_last_bit(rows, radius, n_columns):
    X = rows[:, :n_columns]
    common = {"learning_rate": inverse(0.5, 0.6), "init": X[:12], "random_state": 7}
    ours = OnlineSelfOrganisingMap(
        (4, 3), first_radius=radius, last_radius=radius, max_iter=4, **common
    ).fit(X)
    theirs = OnlineKMeans(12, max_iter=4, tol=0.0, **common).fit(X)
    np.testing.assert_array_equal(ours.cluster_centers_, theirs.cluster_centers_)
    assert not np.array_equal(ours.cluster_centers_, X[:12])


def test_radius_one_moves_the_winner_and_its_two_neighbours_alone():
    """Figure 12.5: the neighbours by index are pulled, however far away they are."""
    learner = OnlineSelfOrganisingMap(
        5,
        neighbourhood="bubble",
        init=[[0.0], [1.0], [50.0], [3.0], [4.0]],
        first_radius=1.0,
        last_radius=1.0,
        learning_rate=constant(0.5),
    )
    with pytest.warns(DataWarning, match="5 units and X has 1 rows"):
        learner.partial_fit([[0.9]])
    np.testing.assert_allclose(learner.cluster_centers_[:, 0], [0.45, 0.95, 25.45, 3.0, 4.0])


def test_the_winner_goes_no_farther_than_the_rate_says_however_small_the_radius():
    """The printed density would give the winner a weight of 0.4 / radius, and diverge."""
    learner = OnlineSelfOrganisingMap(
        3, init=[[0.0], [5.0], [9.0]], first_radius=0.1, last_radius=0.1,
        learning_rate=constant(0.5), shuffle=False, max_iter=1,
    ).fit([[1.0], [1.0], [1.0]])  # fmt: skip
    assert learner.cluster_centers_[0, 0] == pytest.approx(0.875)


def test_schedules_go_on_from_call_to_call(rows):
    options = {"init": rows[:12], "shuffle": False, "n_steps": 200}
    whole = OnlineSelfOrganisingMap((4, 3), max_iter=2, **options).fit(rows)
    parts = OnlineSelfOrganisingMap((4, 3), **options)
    for part in np.array_split(np.vstack([rows, rows]), 8):
        parts.partial_fit(part)
    np.testing.assert_array_equal(whole.cluster_centers_, parts.cluster_centers_)
    assert whole.n_steps_ == parts.n_steps_ == 240
    assert parts.n_iter_ == 8


def test_a_line_comes_to_order_from_random_rows():
    t = np.random.default_rng(0).uniform(0.0, 3.0, size=400)
    X = np.column_stack([np.cos(t), np.sin(t)])
    line = OnlineSelfOrganisingMap(12, init="random", max_iter=20, random_state=0).fit(X)
    angles = np.arctan2(line.cluster_centers_[:, 1], line.cluster_centers_[:, 0])
    steps = np.diff(angles)
    assert (steps > 0).all() or (steps < 0).all()


@pytest.mark.parametrize("lattice", ["rectangular", "hexagonal"])
def test_a_map_of_wine_is_ordered_and_near_the_rows(lattice):
    X = dataset("wine").inputs.to_numpy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    learner = OnlineSelfOrganisingMap((6, 6), lattice=lattice, max_iter=30, random_state=0).fit(X)
    assert learner.topographic_error_ < 0.1
    assert learner.quantisation_error_ < 2.1
    assert learner.hits_.sum() == len(X)


def test_more_units_than_rows_start_at_rows_drawn_twice(rows):
    with pytest.warns(DataWarning, match="100 units and X has 30 rows"):
        learner = OnlineSelfOrganisingMap(init="random", random_state=0).fit(rows[:30])
    assert np.isfinite(learner.cluster_centers_).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": [[1.0]]}, r"init has shape \(1, 1\); expected 2 rows of 5"),
        ({"last_radius": 9.0}, "last_radius=9.0 is more than first_radius, which is 1"),
        ({"learning_rate": constant(1e200)}, "learning_rate=.* made units infinite"),
    ],
)
def test_wrong_arguments_are_named(options, message, rows):
    with pytest.raises(DataError, match=message):
        OnlineSelfOrganisingMap(2, **options).fit(rows)


def test_passes_are_counted_and_shuffled_if_asked(rows):
    learner = OnlineSelfOrganisingMap(5, random_state=0).partial_fit(rows)
    assert learner.n_iter_ == 1
    assert learner.partial_fit(rows).partial_fit(rows).n_iter_ == 3
    in_order, reversed_order, shuffled = (
        OnlineSelfOrganisingMap(5, init=rows[:5], max_iter=1, shuffle=shuffle)
        .set_params(random_state=0)
        .fit(table)
        .cluster_centers_
        for shuffle, table in ((False, rows), (False, rows[::-1]), (True, rows))
    )
    again = OnlineSelfOrganisingMap(5, init=rows[:5], max_iter=1, shuffle=False, random_state=9)
    np.testing.assert_array_equal(again.fit(rows).cluster_centers_, in_order)
    assert not np.allclose(in_order, reversed_order)
    assert not np.allclose(in_order, shuffled)
