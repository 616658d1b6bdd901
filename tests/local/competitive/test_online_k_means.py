"""Online k-means: the step, its rates, its metrics, and units that never win."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans as TheirKMeans

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.local import AdaptiveResonance, OnlineKMeans, OnlineSelfOrganisingMap, Whitening
from verulam.local._competitive.online_k_means import nearest_units, whitening
from verulam.numerics import constant, inverse
from verulam.reduction import PrincipalComponents


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(80, 3)) * [1.0, 3.0, 0.5] + [5.0, -2.0, 0.0]


def by_hand(X, units, rate_of):
    """Online k-means in plain Python."""
    units, wins = units.copy(), np.zeros(len(units), dtype=int)
    for step, row in enumerate(X, start=1):
        i = int(((row - units) ** 2).sum(axis=1).argmin())
        wins[i] += 1
        units[i] = units[i] + rate_of(step, wins[i]) * (row - units[i])
    return units, wins


@pytest.mark.parametrize(
    ("learning_rate", "rate_of"),
    [
        ("count", lambda step, wins: 1.0 / wins),
        (0.1, lambda step, wins: 0.1),
        (inverse(0.5), lambda step, wins: 0.5 / step),
    ],
)
def test_a_pass_is_the_trace_by_hand(rows, learning_rate, rate_of):
    learner = OnlineKMeans(
        4, learning_rate=learning_rate, init=rows[:4], shuffle=False, max_iter=1
    ).fit(rows)
    units, wins = by_hand(rows, rows[:4], rate_of)
    np.testing.assert_allclose(learner.cluster_centers_, units, rtol=1e-12)
    np.testing.assert_array_equal(learner.wins_, wins)
    assert learner.n_steps_ == len(rows)


def test_one_step_goes_the_part_of_the_way_that_the_rate_says():
    """Figure 12.1: the winner moves along x - m by the factor of the rate; the other stays."""
    learner = OnlineKMeans(2, learning_rate=0.25, init=[[0.0, 0.0], [10.0, 10.0]], shuffle=False)
    learner.partial_fit([[4.0, 2.0]])
    np.testing.assert_array_equal(learner.cluster_centers_, [[1.0, 0.5], [10.0, 10.0]])


def test_counting_rates_give_the_running_mean(rows):
    learner = OnlineKMeans(1, init=[[0.0, 0.0, 0.0]], shuffle=False)
    for stop, row in enumerate(rows, start=1):
        learner.partial_fit(row[None])
        np.testing.assert_allclose(learner.cluster_centers_[0], rows[:stop].mean(axis=0))
    assert learner.n_iter_ == learner.n_steps_ == len(rows)


def test_rates_go_on_from_call_to_call(rows):
    schedule = inverse(0.5)
    whole = OnlineKMeans(3, learning_rate=schedule, init=rows[:3], shuffle=False, max_iter=1)
    parts = OnlineKMeans(3, learning_rate=schedule, init=rows[:3])
    for part in np.array_split(rows, 5):
        parts.partial_fit(part)
    np.testing.assert_array_equal(whole.fit(rows).cluster_centers_, parts.cluster_centers_)


def test_the_summed_step_is_the_sum_of_single_steps_from_the_same_units(rows):
    start = rows[:3]
    learner = OnlineKMeans(3, learning_rate=0.01, mode="batch", init=start, max_iter=1).fit(rows)
    nearest = cdist(rows, start).argmin(axis=1)
    steps = np.array([0.01 * (rows[nearest == i] - start[i]).sum(axis=0) for i in range(3)])
    np.testing.assert_allclose(learner.cluster_centers_, start + steps, rtol=1e-12)


def test_the_summed_step_with_counting_rates_is_a_pass_of_k_means(rows):
    learner = OnlineKMeans(3, mode="batch", init=rows[:3], max_iter=100, tol=0.0).fit(rows)
    theirs = TheirKMeans(3, init=rows[:3], n_init=1, tol=0.0).fit(rows)
    np.testing.assert_allclose(learner.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
    assert learner.inertia_ == pytest.approx(theirs.inertia_)


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_momentum_adds_a_share_of_the_last_change(mode):
    learner = OnlineKMeans(1, learning_rate=0.1, momentum=0.5, init=[[0.0]], mode=mode)
    places, change, unit = [], 0.0, 0.0
    for _ in range(3):
        learner.partial_fit([[1.0]])
        change = 0.1 * (1.0 - unit) + 0.5 * change
        unit += change
        places.append((learner.cluster_centers_[0, 0], unit))
    np.testing.assert_allclose(*zip(*places, strict=True))


def test_passes_end_near_the_clusters_of_the_batch_form():
    X = dataset("iris").inputs.to_numpy()
    errors = [OnlineKMeans(3, random_state=seed).fit(X).inertia_ for seed in range(3)]
    assert min(errors) < 1.01 * TheirKMeans(3, n_init=5, random_state=0).fit(X).inertia_


def far_start(rows):
    return np.vstack([rows[:2], rows.mean(axis=0) + 30.0])


def test_a_unit_that_starts_far_away_is_dead_and_reported(rows):
    with pytest.warns(DataWarning, match=r"1 of 3 units won no row .*dead units: 2\); start from"):
        learner = OnlineKMeans(3, init=far_start(rows), random_state=0).fit(rows)
    assert learner.dead_units_.tolist() == [2]
    assert learner.wins_[2] == 0


def test_conscience_revives_a_dead_unit(rows):
    learner = OnlineKMeans(
        3, init=far_start(rows), conscience=2000.0, max_iter=10, random_state=0
    ).fit(rows)
    assert learner.counts_[2] > 0
    assert np.abs(learner.cluster_centers_[2] - rows.mean(axis=0)).max() < 15.0


def test_a_start_from_rows_leaves_no_unit_dead(rows):
    for init in ("random", "k-means++"):
        assert not len(OnlineKMeans(5, init=init, random_state=0).fit(rows).dead_units_)


def test_units_that_are_added_where_they_are_needed_are_not_dead(rows):
    learner = AdaptiveResonance(2.0, learning_rate=0.0, shuffle=False).fit(rows)
    assert learner.wins_.min() > 0


def test_neighbours_pull_a_far_unit_back(rows):
    learner = OnlineSelfOrganisingMap(3, init=far_start(rows), random_state=0).fit(rows)
    assert not len(learner.dead_units_)


def test_mahalanobis_winners_are_those_of_whitened_rows(rows):
    rng = np.random.default_rng(1)
    correlated = rows @ rng.normal(size=(3, 3))
    options = {"shuffle": False, "max_iter": 3, "tol": 0.0}
    ours = OnlineKMeans(3, metric="mahalanobis", init=correlated[:3], **options).fit(correlated)
    white = PrincipalComponents(3, whiten=True).fit_transform(correlated)
    theirs = OnlineKMeans(3, init=white[:3], **options).fit(white)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.wins_, theirs.wins_)
    covariance = np.linalg.inv(np.cov(correlated.T, bias=True))
    squares = cdist(correlated, ours.cluster_centers_, "mahalanobis", VI=covariance)
    np.testing.assert_allclose(ours.transform(correlated), squares)
    plain = OnlineKMeans(3, init=correlated[:3], **options).fit(correlated)
    assert (plain.labels_ != ours.labels_).any()


def test_whitening_and_back_is_the_identity(rows):
    record = whitening(rows)
    assert isinstance(record, Whitening)
    white = record.whiten(rows)
    np.testing.assert_allclose(np.cov(white.T, bias=True), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(record.colour(white), rows)


def test_a_constant_column_has_no_direction(rows):
    X = np.column_stack([rows, np.full(len(rows), 7.3)])
    learner = OnlineKMeans(3, metric="mahalanobis", random_state=0).fit(X)
    assert learner.whitening_.forward.shape == (4, 3)
    np.testing.assert_allclose(learner.cluster_centers_[:, 3], 7.3)


def test_duplicated_rows_and_one_row():
    X = np.repeat([[1.0, 2.0], [3.0, 4.0]], 20, axis=0)
    learner = OnlineKMeans(2, init=X[[0, 20]], random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(learner.cluster_centers_, axis=0), [[1, 2], [3, 4]])
    assert OnlineKMeans(1).fit([[1.0, 2.0]]).inertia_ == 0.0


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"n_clusters": 5}, [[1.0], [2.0]], r"n_clusters=5 is more than the data has: n_samples=2"),
        ({"init": [[1.0]]}, [[1.0], [2.0]], r"init has shape \(1, 1\); expected 8 rows of 1"),
        ({"n_clusters": 1, "learning_rate": 2.0}, [[1.0]], "learning_rate"),
        ({"n_clusters": 1}, [[np.nan]], "NaN"),
        ({"conscience": 1.0, "mode": "batch"}, [[1.0]], "conscience=1.0 holds units back row by"),
    ],
)
def test_wrong_arguments_are_named(options, X, message):
    with pytest.raises(ValueError, match=message):
        OnlineKMeans(**options).fit(X)


def test_a_rate_that_diverges_is_named():
    learner = OnlineKMeans(
        1, learning_rate=constant(1e200), init=[[0.0]], mode="batch", max_iter=5, tol=0.0
    )
    with pytest.raises(DataError, match=r"learning_rate=.* made units infinite"):
        learner.fit([[1.0], [-3.0]])


def test_conscience_is_in_units_of_the_variance_of_the_rows(rows):
    # All units begin with the same share of the wins; a scale of the rows changes no winner.
    learners = [
        OnlineKMeans(4, init=factor * rows[:4], conscience=0.5, max_iter=3, random_state=0)
        for factor in (1.0, 8.0)
    ]
    plain, scaled = (
        learner.fit(factor * rows) for learner, factor in zip(learners, (1.0, 8.0), strict=True)
    )
    np.testing.assert_array_equal(plain.counts_, scaled.counts_)
    np.testing.assert_allclose(8.0 * plain.cluster_centers_, scaled.cluster_centers_)
    assert plain._shares.sum() == pytest.approx(1.0)


def test_the_nearest_unit_is_the_first_of_the_nearest(rows):
    units = np.vstack([rows[:5], rows[2]])
    nearest = nearest_units(rows, units)
    np.testing.assert_array_equal(
        nearest, ((rows[:, None] - units) ** 2).sum(axis=2).argmin(axis=1)
    )
    assert nearest[2] == 2
