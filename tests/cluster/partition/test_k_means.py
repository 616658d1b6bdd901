"""k-means: the worked example, what never happens, and agreement with scikit-learn."""

import numpy as np
import pytest
import sklearn.cluster
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, DataWarning
from verulam.cluster import KMeans, KMeansPass
from verulam.cluster._partition.k_means import cluster_sums, nearest
from verulam.data import dataset
from verulam.numerics import distances

POINTS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [3.0, 3.0]])


def blobs(n_rows=600, n_columns=3, n_groups=4, seed=0, spread=1.0):
    random = np.random.default_rng(seed)
    centres = 6.0 * random.normal(size=(n_groups, n_columns))
    groups = random.integers(n_groups, size=n_rows)
    return centres[groups] + spread * random.normal(size=(n_rows, n_columns))


def test_worked_example():
    """SIT1305 III: the printed totals 4.5 and the distance 9.4356 are slips for 7.5 and 3.0732."""
    np.testing.assert_array_equal(dataset("kmeans_points").inputs.to_numpy(), POINTS)
    learner = KMeans(n_clusters=2, init=[0, 1, 0, 1], tol=0.0).fit(POINTS)
    first, second, last = learner.trace_
    assert isinstance(first, KMeansPass)
    np.testing.assert_allclose(first.centers, [[1.5, 0.5], [1.5, 2.0]])
    np.testing.assert_allclose(first.errors, [1.0, 6.5])
    assert first.error == 7.5
    np.testing.assert_allclose(
        distances(POINTS, first.centers),
        [[0.7071, 2.0616], [1.5811, 1.8028], [0.7071, 1.1180], [2.9155, 1.8028]],
        atol=5e-5,
    )
    np.testing.assert_allclose(second.centers, [[1.0, 2 / 3], [3.0, 3.0]])
    np.testing.assert_allclose(second.errors, [8 / 3, 0.0])
    np.testing.assert_allclose(last.errors, second.errors)
    np.testing.assert_allclose(
        learner.transform(POINTS),
        [[0.6667, 3.6056], [1.0541, 3.6056], [1.0541, 2.2361], [3.0732, 0.0]],
        atol=5e-5,
    )
    np.testing.assert_array_equal(learner.labels_, [0, 0, 0, 1])
    np.testing.assert_array_equal(last.weights, [3, 1])
    assert learner.converged_
    assert learner.n_iter_ == 3
    assert learner.inertia_ == pytest.approx(8 / 3)
    # From where it ended nothing moves: the second pass says so.
    again = KMeans(n_clusters=2, init=learner.cluster_centers_, tol=0.0).fit(POINTS)
    assert (again.n_iter_, again.inertia_) == (2, pytest.approx(8 / 3))


def test_reconstruction_error_is_half_the_squared_error():
    X = blobs()
    learner = KMeans(4, random_state=0).fit(X)
    squares = ((X - learner.cluster_centers_[learner.labels_]) ** 2).sum()
    assert learner.inertia_ == pytest.approx(squares)
    assert learner.reconstruction_error(X) == pytest.approx(squares / 2)
    assert learner.score(X) == pytest.approx(-squares)
    assert learner.score(X, sample_weight=np.full(len(X), 2.0)) == pytest.approx(-2 * squares)
    # Ended early, the centres are those of clusters that rows have left since.
    early = KMeans(4, init=X[:4], tol=0.9).fit(X)
    assert early.inertia_ == pytest.approx((distances(X, early.cluster_centers_) ** 2).min(1).sum())
    assert early.n_iter_ < KMeans(4, init=X[:4], tol=0.0).fit(X).n_iter_


@pytest.mark.parametrize("init", ["k-means++", "random", "partition"])
def test_error_never_rises_and_centres_are_means(init):
    X = blobs(seed=3, spread=3.0)
    learner = KMeans(6, init=init, tol=0.0, random_state=1).fit(X)
    errors = [step.error for step in learner.trace_]
    assert np.all(np.diff(errors) <= 1e-9 * errors[0])
    assert errors[-1] < errors[0]
    for k in range(6):
        np.testing.assert_allclose(
            learner.cluster_centers_[k], X[learner.labels_ == k].mean(axis=0)
        )
    np.testing.assert_array_equal(learner.labels_, distances(X, learner.cluster_centers_).argmin(1))
    np.testing.assert_array_equal(learner.labels_, learner.predict(X))


@pytest.mark.parametrize(("n_columns", "n_clusters"), [(1, 3), (3, 5), (20, 8)])
def test_agrees_with_scikit_learn(n_columns, n_clusters):
    X = blobs(1000, n_columns, n_clusters, seed=n_columns, spread=2.0)
    init = X[:n_clusters]
    ours = KMeans(n_clusters, init=init, tol=0.0).fit(X)
    theirs = sklearn.cluster.KMeans(n_clusters, init=init, n_init=1, tol=0.0).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12)


def test_starts_are_as_good_as_scikit_learns():
    X = dataset("wine").inputs.to_numpy()
    X = (X - X.mean(0)) / X.std(0)
    theirs = sklearn.cluster.KMeans(3, n_init=20, random_state=0).fit(X).inertia_
    for init in ("k-means++", "random", "partition"):
        ours = KMeans(3, init=init, n_init=10, random_state=0).fit(X)
        assert ours.inertia_ <= theirs * (1 + 1e-9)


def test_the_best_of_several_starts_is_taken():
    X = blobs(300, 2, 9, seed=5)
    errors = [
        KMeans(9, init="random", n_init=n, random_state=2).fit(X).inertia_ for n in (1, 5, 20)
    ]
    assert errors[0] >= errors[1] >= errors[2]
    assert errors[0] > errors[2]


def test_weights_are_repeated_rows():
    X = blobs(120, 2, 3, seed=1, spread=2.0)
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    for init in ("k-means++", "random", "partition", X[:3]):
        weighted = KMeans(3, init=init, random_state=3).fit(X, sample_weight=weights)
        repeated = KMeans(3, init=init, random_state=3).fit(np.repeat(X, weights, axis=0))
        np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
        assert weighted.inertia_ == pytest.approx(repeated.inertia_)


def test_streams_have_the_same_clusters_and_no_labels():
    X = blobs(500, 2, 5, seed=2)
    whole = KMeans(5, random_state=0).fit(X)
    streamed = KMeans(5, random_state=0).fit(lambda: iter(np.array_split(X, 3)))
    np.testing.assert_allclose(streamed.cluster_centers_, whole.cluster_centers_, rtol=1e-10)
    assert streamed.inertia_ == pytest.approx(whole.inertia_)
    with pytest.raises(AttributeError, match="labels_ are there after fit on data in memory"):
        _ = streamed.labels_
    with pytest.raises(DataError, match="init as a partition needs data in memory"):
        KMeans(2, init=[0, 1]).fit(lambda: iter([X]))


def test_an_empty_cluster_goes_on_from_the_farthest_row():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    learner = KMeans(2, init=[[1.0], [99.0]], tol=0.0).fit(X)
    # Nobody is nearest to 99: its cluster moves to the row at 10.
    np.testing.assert_array_equal(learner.trace_[0].weights, [4.0, 0.0])
    np.testing.assert_allclose(learner.trace_[0].centers, [[3.25], [10.0]])
    np.testing.assert_allclose(learner.cluster_centers_, [[1.0], [10.0]])
    errors = [step.error for step in learner.trace_]
    assert np.all(np.diff(errors) <= 0)


def test_the_farthest_row_of_a_cluster_is_the_first_of_equals_in_any_cut():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, 1.0]])
    labels, centres = np.zeros(4, dtype=np.int64), np.zeros((1, 2))
    whole = cluster_sums(X, None, labels, centres)
    halves = [cluster_sums(part, None, labels[:2], centres) for part in (X[:2], X[2:])]
    np.testing.assert_array_equal(whole.farthest_rows, [[1.0, 0.0]])
    np.testing.assert_array_equal((halves[0] + halves[1]).farthest_rows, [[1.0, 0.0]])
    # A row without weight is nobody's farthest.
    weighted = cluster_sums(X, np.array([0.0, 0.0, 1.0, 0.0]), labels, centres)
    np.testing.assert_array_equal(weighted.farthest_rows, [[0.0, 0.5]])


def test_small_clusters_far_away_are_told_apart():
    random = np.random.default_rng(0)
    X = 1e8 + np.r_[random.normal(size=(50, 2)), 8 + random.normal(size=(50, 2))]
    learner = KMeans(2, init=X[[0, 99]]).fit(X)
    np.testing.assert_array_equal(learner.labels_, np.repeat([0, 1], 50))
    np.testing.assert_array_equal(
        nearest(X, learner.cluster_centers_, exact=True), np.repeat([0, 1], 50)
    )


@pytest.mark.parametrize("init", ["k-means++", "random", "partition"])
def test_duplicates_alone_leave_clusters_empty_with_a_warning(init):
    with pytest.warns(DataWarning, match="n_clusters=3, but the number of different rows is 2"):
        learner = KMeans(3, init=init, random_state=0).fit([[1.0], [1.0], [2.0], [2.0]])
    assert learner.inertia_ == 0
    with pytest.warns(DataWarning, match="number of different rows is 1"):
        KMeans(2, init=init, random_state=0).fit(np.ones((5, 2)))


def test_too_few_passes_are_told():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes"):
        KMeans(4, max_iter=1, init="random", random_state=0).fit(blobs())


@pytest.mark.parametrize(
    ("learner", "X", "message"),
    [
        (KMeans(5), np.ones((2, 2)), "n_clusters=5 is more than the data has"),
        (KMeans(0), POINTS, "'n_clusters' parameter of KMeans must be an int in the range"),
        (KMeans(2, init="best"), POINTS, "'init' parameter of KMeans"),
        (KMeans(2, init=[[1.0, 1.0]]), POINTS, "init has shape"),
        (KMeans(2, init=np.ones((2, 3))), POINTS, "init has 3 columns and X has 2"),
        (KMeans(2, init=[0, 1]), POINTS, "the first cluster of each of the 4 rows"),
        (KMeans(2, init=[0, 1, 2, 0]), POINTS, "init has clusters from 0 to 2"),
        (KMeans(2), [[1.0, np.nan], [1.0, 2.0]], "NaN"),
        (KMeans(2), np.full((3, 1), 1e200), "beyond floating point"),
    ],
)
def test_bad_input_is_refused_by_name(learner, X, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(X)
