"""Splitting: the textbook's example of DIANA, the rule in plain Python, and refusals."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from verulam.base import DataError
from verulam.cluster import DivisiveClustering

#: Dissimilarities of five objects (Kaufman and Rousseeuw, 1990, chapter 6).
FIVE = np.array(
    [[0, 2, 6, 10, 9], [2, 0, 5, 9, 8], [6, 5, 0, 4, 5], [10, 9, 4, 0, 3], [9, 8, 5, 3, 0]],
    dtype=float,
)


def test_five_objects():
    learner = DivisiveClustering(metric="precomputed").fit(FIVE)
    np.testing.assert_array_equal(learner.labels_, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(learner.cut(n_clusters=3), [0, 0, 1, 2, 2])
    np.testing.assert_array_equal(learner.merges_[:, 2], [2, 3, 5, 10])
    # 1 less (2 + 2 + 5 + 3 + 3) / 5 / 10.
    assert learner.divisive_coefficient_ == pytest.approx(0.7)


def plain_split(D, rows):
    """Return both parts of a cluster by the rule as it is written."""
    rest, gone = list(rows), []
    mean = lambda i, others: np.mean([D[i, j] for j in others])  # noqa: E731
    first = max(rest, key=lambda i: mean(i, [j for j in rest if j != i]))
    rest.remove(first)
    gone.append(first)
    while len(rest) > 1:
        gains = {i: mean(i, [j for j in rest if j != i]) - mean(i, gone) for i in rest}
        best = max(gains, key=gains.get)
        if gains[best] <= 0:
            break
        rest.remove(best)
        gone.append(best)
    return rest, gone


def test_splits_are_those_of_the_rule():
    D = squareform(pdist(np.random.default_rng(0).normal(size=(25, 2))))
    learner = DivisiveClustering(metric="precomputed").fit(D)
    clusters = [list(range(25))]
    for n_clusters in range(2, 26):
        widest = max((c for c in clusters if len(c) > 1), key=lambda c: D[np.ix_(c, c)].max())
        clusters.remove(widest)
        clusters += plain_split(D, widest)
        labels = learner.cut(n_clusters=n_clusters)
        ours = {frozenset(np.flatnonzero(labels == k)) for k in range(n_clusters)}
        assert ours == {frozenset(c) for c in clusters}


def test_heights_are_diameters_and_rise():
    X = np.random.default_rng(1).normal(size=(40, 3))
    learner = DivisiveClustering().fit(X)
    heights = learner.merges_[:, 2]
    assert np.all(np.diff(heights) >= 0)
    assert heights[-1] == pytest.approx(pdist(X).max())
    for n_clusters in (2, 5, 9):
        labels = learner.cut(n_clusters=n_clusters)
        widest = max(pdist(X[labels == k]).max(initial=0) for k in range(n_clusters))
        assert widest == pytest.approx(heights[39 - n_clusters])


def test_distinct_groups_are_split_first():
    random = np.random.default_rng(0)
    X = np.r_[random.normal(size=(20, 2)), 30 + random.normal(size=(10, 2))]
    learner = DivisiveClustering().fit(X)
    np.testing.assert_array_equal(learner.labels_, np.repeat([0, 1], [20, 10]))
    assert learner.divisive_coefficient_ > 0.95
    threshold = DivisiveClustering(n_clusters=None, distance_threshold=10.0).fit(X)
    assert threshold.n_clusters_ == 2


@pytest.mark.filterwarnings("ignore:n_clusters=.*equal rows are divided")
def test_equal_rows_and_a_single_one():
    learner = DivisiveClustering(n_clusters=3).fit(np.ones((4, 2)))
    assert learner.n_clusters_ == 3
    assert learner.divisive_coefficient_ == 0.0
    np.testing.assert_array_equal(DivisiveClustering(n_clusters=1).fit([[1.0]]).labels_, [0])


def test_bad_input_is_refused_by_name():
    with pytest.raises(DataError, match="n_clusters=9 is more than the data has"):
        DivisiveClustering(n_clusters=9).fit(np.eye(3))
    with pytest.raises(DataError, match="no matrix of distances"):
        DivisiveClustering(metric="precomputed").fit(np.ones((3, 3)))
