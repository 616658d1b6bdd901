"""Quality of clusters: sums of squares that add up, and silhouettes."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.metrics import calinski_harabasz_score, silhouette_samples

from verulam.base import DataError
from verulam.cluster import ClusterQuality, KMeans, cluster_quality, silhouettes
from verulam.data import dataset


def labelled(n_rows=150, n_clusters=4, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n_rows, 3)), random.integers(n_clusters, size=n_rows)


def test_by_hand():
    """Means 1 and 12 of {0, 2} and {10, 14}, 6.5 of all."""
    quality = cluster_quality([[0.0], [2.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    assert isinstance(quality, ClusterQuality)
    np.testing.assert_allclose(quality.cohesion, [2.0, 8.0])
    np.testing.assert_allclose(quality.separation, [60.5, 60.5])
    np.testing.assert_allclose(quality.silhouettes, [10 / 12, 8 / 10, 5 / 9, 9 / 13])
    assert (quality.sse, quality.between) == (10.0, 121.0)
    table = quality.to_frame()
    assert list(table.index) == ["a", "b"]
    assert table.loc["a", "silhouette"] == pytest.approx((10 / 12 + 8 / 10) / 2)


def test_cohesion_and_separation_are_the_total():
    X, labels = labelled()
    quality = cluster_quality(X, labels)
    total = ((X - X.mean(axis=0)) ** 2).sum()
    assert quality.sse + quality.between == pytest.approx(total)
    assert quality.calinski_harabasz == pytest.approx(calinski_harabasz_score(X, labels))


def test_squared_error_is_that_of_k_means():
    X = dataset("iris").inputs.to_numpy()
    learner = KMeans(3, random_state=0, tol=0.0).fit(X)
    assert cluster_quality(X, learner.labels_).sse == pytest.approx(learner.inertia_)
    assert learner.inertia_ == pytest.approx(78.851, abs=1e-3)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "precomputed"])
def test_silhouettes_agree_with_scikit_learn(metric):
    X, labels = labelled()
    labels[0] = 99
    inputs = squareform(pdist(X)) if metric == "precomputed" else X
    theirs = silhouette_samples(inputs, labels, metric=metric)
    np.testing.assert_allclose(silhouettes(inputs, labels, metric=metric), theirs, atol=1e-10)
    assert silhouettes(inputs, labels, metric=metric)[0] == 0.0


def test_a_function_of_two_rows_is_a_metric():
    X, labels = labelled(40)
    np.testing.assert_allclose(
        silhouettes(X, labels, metric=lambda a, b: np.abs(a - b).sum()),
        silhouettes(X, labels, metric="manhattan"),
    )


def test_large_offsets_and_equal_rows():
    X = 1e6 + np.repeat([[0.0, 0.0], [1.0, 0.0]], 5, axis=0)
    np.testing.assert_allclose(silhouettes(X, np.repeat([0, 1], 5)), 1.0)
    np.testing.assert_array_equal(silhouettes(np.ones((6, 2)), [0, 0, 0, 1, 1, 1]), 0.0)


def test_blocks_do_not_matter(monkeypatch):
    X, labels = labelled()
    whole = silhouettes(X, labels), silhouettes(X, labels, metric="manhattan")
    monkeypatch.setattr("verulam.cluster._quality.DISTANCES_AT_ONCE", 1000)
    np.testing.assert_allclose(silhouettes(X, labels), whole[0])
    np.testing.assert_allclose(silhouettes(X, labels, metric="manhattan"), whole[1])


@pytest.mark.parametrize(
    ("X", "labels", "message"),
    [
        (np.eye(3), [0, 0], "there are 2 labels"),
        (np.eye(3), [0, 0, 0], "name 1 clusters of 3 rows"),
        (np.eye(3), [0, 1, 2], "silhouettes need from 2 to 2"),
        ([[np.nan], [1.0], [2.0]], [0, 0, 1], "X must be a table of finite numbers"),
    ],
)
def test_bad_input_is_refused(X, labels, message):
    with pytest.raises(DataError, match=message):
        silhouettes(X, labels)


def test_unknown_metrics_are_refused():
    with pytest.raises(DataError, match="metric='euclid' is unknown"):
        silhouettes(np.eye(3), [0, 0, 1], metric="euclid")


def test_from_distances_alone():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    labels = np.arange(20) % 3
    by_rows = cluster_quality(rows, labels)
    by_distances = cluster_quality(cdist(rows, rows), labels, metric="precomputed")
    np.testing.assert_allclose(by_distances.cohesion, by_rows.cohesion)
    np.testing.assert_allclose(by_distances.separation, by_rows.separation)
    np.testing.assert_allclose(by_distances.silhouettes, by_rows.silhouettes, atol=1e-12)


def test_a_row_without_direction_is_told():
    rows = np.vstack([np.random.default_rng(0).normal(size=(9, 2)), np.zeros(2)])
    with pytest.raises(DataError, match="a row of zeros has no direction"):
        silhouettes(rows, np.arange(10) % 2, metric="cosine")
