"""Leaders: the vigilance, the objective that never rises, messages."""

import numpy as np
import pytest

from verulam.bayes import LeaderClustering
from verulam.bayes._mixtures.leader import lead_rows


@pytest.fixture(scope="module", name="X")
def rows():
    rng = np.random.default_rng(0)
    return np.r_[rng.normal(0, 1, (50, 2)), rng.normal(10, 1, (50, 2))]


def test_one_pass_in_plain_python(X):
    centres, members, labels = [], [], []
    for row in X:
        distances = [np.linalg.norm(row - centre) for centre in centres]
        if not centres or min(distances) > 2.5:
            centres.append(row.copy())
            members.append([row])
            labels.append(len(centres) - 1)
        else:
            nearest = int(np.argmin(distances))
            members[nearest].append(row)
            centres[nearest] = np.mean(members[nearest], axis=0)
            labels.append(nearest)
    learner = LeaderClustering(2.5).fit(X)
    assert learner.labels_.tolist() == labels
    np.testing.assert_allclose(learner.cluster_centers_, centres)


def test_vigilance_sets_how_many(X):
    assert LeaderClustering(100.0).fit(X).n_clusters_ == 1
    assert LeaderClustering(1e-6).fit(X).n_clusters_ == 100
    assert LeaderClustering(6.0).fit(X).n_clusters_ == 2


def test_the_objective_never_rises_and_centres_are_means(X):
    learner = LeaderClustering(1.5, method="dp_means").fit(X)
    assert np.diff(learner.objective_curve_).max() <= 1e-9
    for k, centre in enumerate(learner.cluster_centers_):
        np.testing.assert_allclose(centre, X[learner.labels_ == k].mean(axis=0))


def test_rows_beyond_the_vigilance_belong_nowhere(X):
    learner = LeaderClustering(6.0).fit(X)
    assert learner.predict([[0.0, 0.0], [1e3, 0.0]]).tolist() == [0, -1]
    assert learner.transform(X[:2]).shape == (2, 2)


def test_the_loop_is_its_own_plain_python(X):
    results = []
    for loop in (lead_rows, lead_rows.py_func):
        labels = np.full(100, -1, dtype=np.int64)
        centres, counts = np.zeros((100, 2)), np.zeros(100, dtype=np.int64)
        loop(X, 4.0, labels, centres, counts, 0, True)
        results.append((labels, centres))
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_allclose(results[0][1], results[1][1])
