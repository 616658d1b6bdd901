"""Clusters as inputs of a learner, and learners of their own in each cluster."""

import numpy as np
import pytest
from sklearn.cluster import Birch
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from verulam.base import DataError
from verulam.cluster import (
    ClusterFeatures,
    ClusterwiseClassifier,
    ClusterwiseRegressor,
    GaussianMixture,
    KMeans,
    OnlineGaussianMixture,
)


def islands(seed=0):
    """Return four islands, classes by turns: no line tells them apart."""
    random = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [12.0, 0.0], [18.0, 0.0]])
    groups = np.arange(200) % 4
    return centres[groups] + 0.6 * random.normal(size=(200, 2)), np.array(["a", "b"])[groups % 2]


def test_memberships_make_a_linear_learner_enough():
    X, y = islands()
    alone = cross_val_score(LogisticRegression(), X, y, cv=3).mean()
    for clusters in (KMeans(4, random_state=0), GaussianMixture(4, random_state=0)):
        after = make_pipeline(ClusterFeatures(clusters), LogisticRegression(C=100.0))
        assert cross_val_score(after, X, y, cv=3).mean() > 0.98
    assert alone < 0.8


def test_columns_are_what_they_say():
    X, _ = islands()
    clusters = KMeans(4, random_state=0)
    features = ClusterFeatures(clusters, coding="both", passthrough=True).fit(X)
    table = features.transform(X)
    np.testing.assert_array_equal(table[:, :2], X)
    np.testing.assert_array_equal(table[:, 2:6].argmax(axis=1), features.clusterer_.labels_)
    np.testing.assert_array_equal(table[:, 2:6].sum(axis=1), 1.0)
    np.testing.assert_array_equal(table[:, 6:], features.clusterer_.transform(X))
    assert list(features.get_feature_names_out()) == [
        "x0", "x1", *(f"membership{k}" for k in range(4)), *(f"distance{k}" for k in range(4)),
    ]  # fmt: skip
    only = ClusterFeatures(clusters, coding="distances").fit(X)
    np.testing.assert_array_equal(only.transform(X), table[:, 6:])
    assert list(only.get_feature_names_out()) == [f"distance{k}" for k in range(4)]
    soft = ClusterFeatures(GaussianMixture(4, random_state=0)).fit(X)
    np.testing.assert_array_equal(soft.transform(X), soft.clusterer_.predict_proba(X))


def test_borrowed_clusters_serve_too():
    X, y = islands()
    birch = ClusterFeatures(Birch(n_clusters=4, threshold=1.0))
    assert birch.fit(X).transform(X).shape[0] == 200
    after = make_pipeline(ClusterFeatures(None), LogisticRegression(C=100.0))
    assert after.fit(X, y).score(X, y) > 0.95


def test_distances_need_a_transform():
    X, _ = islands()
    with pytest.raises(DataError, match="needs a clusterer with transform"):
        ClusterFeatures(OnlineGaussianMixture(2), coding="distances").fit(X)


def test_a_regression_of_its_own_in_each_cluster():
    random = np.random.default_rng(0)
    X = np.r_[random.uniform(0, 2, 60), random.uniform(8, 10, 60)][:, None]
    y = np.where(X[:, 0] < 5, 3 * X[:, 0], 50 - 2 * X[:, 0])
    learner = ClusterwiseRegressor(KMeans(2, random_state=0)).fit(X, y)
    np.testing.assert_allclose(learner.predict(X), y)
    assert LinearRegression().fit(X, y).score(X, y) < 0.99
    slopes = sorted(float(part.coef_[0]) for part in learner.estimators_)
    np.testing.assert_allclose(slopes, [-2.0, 3.0])


def test_soft_memberships_mix_the_predictions():
    X = np.r_[np.linspace(0, 2, 40), np.linspace(5, 7, 40)][:, None]
    y = np.where(X[:, 0] < 4, 0.0, 10.0) + X[:, 0]
    learner = ClusterwiseRegressor(
        GaussianMixture(2, covariance_type="tied_spherical", random_state=0)
    ).fit(X, y)
    shares = learner.clusterer_.predict_proba([[3.5]])[0]
    parts = [part.predict([[3.5]])[0] for part in learner.estimators_]
    assert learner.predict([[3.5]])[0] == pytest.approx(shares @ parts)
    assert shares.min() > 0.01


def test_a_classifier_of_its_own_in_each_cluster():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 2)) + np.repeat([[0.0, 0.0], [20.0, 0.0]], 150, axis=0)
    # Left of each island's middle in one, right of it in the other.
    y = np.where(X[:, 0] < 10, X[:, 0] > 0, X[:, 0] < 20)
    learner = ClusterwiseClassifier(KMeans(2, random_state=0)).fit(X, y)
    assert learner.score(X, y) > 0.97
    assert LogisticRegression().fit(X, y).score(X, y) < 0.7
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1.0)


def test_a_cluster_of_one_class_is_certain_and_a_small_one_asks_all_rows():
    X, y = islands()
    learner = ClusterwiseClassifier(KMeans(4, random_state=0)).fit(X, y)
    assert learner.score(X, y) > 0.99
    assert set(learner.predict_proba(X).ravel()) == {0.0, 1.0}
    small = ClusterwiseClassifier(KMeans(4, random_state=0), min_samples=1000).fit(X, y)
    assert all(part is small.global_estimator_ for part in small.estimators_)
    np.testing.assert_allclose(
        small.predict_proba(X), small.global_estimator_.predict_proba(X), atol=1e-12
    )


def test_one_class_alone_is_refused():
    with pytest.raises(DataError, match="at least two classes"):
        ClusterwiseClassifier().fit(np.eye(3), ["a", "a", "a"])
    with pytest.raises(ValueError, match="X has 3 rows and y has 2"):
        ClusterwiseRegressor().fit(np.eye(3), [1.0, 2.0])
