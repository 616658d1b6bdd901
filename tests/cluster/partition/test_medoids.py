"""k-medoids: small cases by hand and by trying all sets, swaps that end, and refusals."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.cluster import KMedoids
from verulam.cluster._partition.medoids import build_medoids, spread_medoids, swap_medoids


def rows(n_rows=60, seed=0, n_columns=2):
    random = np.random.default_rng(seed)
    centres = 5.0 * random.normal(size=(4, n_columns))
    return centres[random.integers(4, size=n_rows)] + random.normal(size=(n_rows, n_columns))


def cost(table, medoids):
    return table[list(medoids)].min(axis=0).sum()


@pytest.mark.parametrize("method", ["pam", "clarans"])
@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_the_best_of_all_sets_is_found(method, n_clusters):
    X = rows(18)
    table = squareform(pdist(X))
    best = min(cost(table, places) for places in combinations(range(18), n_clusters))
    learner = KMedoids(n_clusters, method=method, n_init=5, random_state=0).fit(X)
    assert learner.inertia_ == pytest.approx(best)
    assert cost(table, learner.medoid_indices_) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(3))
def test_no_single_swap_is_left_that_helps(seed):
    X = rows(70, seed)
    table = squareform(pdist(X))
    learner = KMedoids(5, random_state=seed).fit(X)
    medoids = list(learner.medoid_indices_)
    for place in range(5):
        for row in range(70):
            swapped = [*medoids[:place], row, *medoids[place + 1 :]]
            assert cost(table, swapped) >= learner.inertia_ - 1e-9


def test_build_takes_the_best_next_medoid():
    table = squareform(pdist(rows(40)))
    medoids = build_medoids(table, 3)
    assert medoids[0] == table.sum(axis=0).argmin()
    for step in (1, 2):
        costs = [cost(table, [*medoids[:step], row]) for row in range(40)]
        assert cost(table, medoids[: step + 1]) == pytest.approx(min(costs))


def test_spread_medoids_take_one_of_each_group():
    X = np.repeat([[0.0], [100.0], [200.0]], 10, axis=0) + np.arange(30)[:, None] / 1000
    table = squareform(pdist(X))
    for seed in range(5):
        places = spread_medoids(table, 3, np.random.default_rng(seed))
        assert sorted(places // 10) == [0, 1, 2]


def test_swaps_lower_the_cost_and_are_counted():
    table = squareform(pdist(rows(100)))
    first = np.arange(4)
    result = swap_medoids(table, first, 100)
    assert result.settled
    assert result.n_swaps > 0
    assert result.cost == pytest.approx(cost(table, result.places))
    assert result.cost < cost(table, first)
    np.testing.assert_array_equal(first, np.arange(4))
    again = swap_medoids(table, result.places, 100)
    assert again.n_swaps == 0


@pytest.mark.parametrize("init", ["build", "k-means++", "random", [0, 1, 2]])
@pytest.mark.parametrize("method", ["pam", "clarans"])
def test_labels_predictions_and_distances(method, init):
    X = rows(50)
    learner = KMedoids(3, method=method, init=init, random_state=0).fit(X)
    table = cdist(X, X[learner.medoid_indices_])
    np.testing.assert_array_equal(learner.labels_, table.argmin(axis=1))
    np.testing.assert_array_equal(learner.predict(X), learner.labels_)
    np.testing.assert_allclose(learner.transform(X), table)
    np.testing.assert_array_equal(learner.cluster_centers_, X[learner.medoid_indices_])
    assert learner.inertia_ == pytest.approx(table.min(axis=1).sum())


@pytest.mark.parametrize("method", ["pam", "clarans"])
def test_a_matrix_of_distances_gives_the_same(method):
    X = rows(50)
    table = squareform(pdist(X, "cityblock"))
    direct = KMedoids(3, metric="manhattan", method=method, random_state=0).fit(X)
    matrix = KMedoids(3, metric="precomputed", method=method, random_state=0).fit(table)
    np.testing.assert_array_equal(matrix.medoid_indices_, direct.medoid_indices_)
    np.testing.assert_array_equal(matrix.labels_, direct.labels_)
    np.testing.assert_array_equal(matrix.predict(table[:5]), direct.predict(X[:5]))


def test_an_outlier_moves_a_mean_and_no_medoid():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [500.0]])
    assert set(KMedoids(2, init="build").fit(X[:6]).medoid_indices_) == {1, 4}
    with_outlier = KMedoids(3, init="build").fit(X)
    assert {1, 4} <= set(with_outlier.medoid_indices_)


@pytest.mark.filterwarnings("ignore:n_clusters=.*equal rows are divided")
def test_equal_rows_are_no_obstacle():
    learner = KMedoids(2, random_state=0).fit(np.ones((5, 2)))
    assert learner.inertia_ == 0
    assert len(set(learner.medoid_indices_)) == 2
    assert set(learner.labels_) == {0, 1}


def test_more_tries_do_not_end_worse():
    X = rows(200, 3)
    costs = [
        KMedoids(6, method="clarans", max_neighbors=most, random_state=1).fit(X).inertia_
        for most in (1, 20, 500)
    ]
    assert costs[0] > costs[2]
    assert costs[1] >= costs[2]


def test_too_few_passes_are_told():
    with pytest.warns(ConvergenceWarning, match="still swapping after max_iter=1"):
        KMedoids(4, init=[0, 1, 2, 3], max_iter=1).fit(rows(200))


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"n_clusters": 9}, np.eye(3), "n_clusters=9 is more than the data has"),
        ({"n_clusters": 2, "init": [0]}, np.eye(3), "expected 2 row numbers"),
        ({"n_clusters": 2, "init": [0, 0]}, np.eye(3), "different row numbers from 0 to 2"),
        ({"n_clusters": 2, "init": [0, 7]}, np.eye(3), "different row numbers from 0 to 2"),
        ({"n_clusters": 2, "metric": "precomputed"}, np.eye(3), "no matrix of distances"),
        ({"n_clusters": 2, "method": "clara"}, np.eye(3), "'method' parameter of KMedoids"),
        ({"n_clusters": 2, "metric": "cosine"}, np.zeros((3, 2)), "missing or infinite distances"),
    ],
)
def test_bad_input_is_refused_by_name(options, X, message):
    with pytest.raises((DataError, ValueError), match=message):
        KMedoids(**options).fit(X)
