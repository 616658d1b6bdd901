"""Views, shared factors, consensus of clusterings."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.cross_decomposition import CCA
from sklearn.metrics import adjusted_rand_score

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import (
    ClusterEnsemble,
    MultiViewClassifier,
    SharedFactors,
    StackingClassifier,
    VotingClassifier,
    co_association,
)
from verulam.kernel import Gaussian, MultipleKernelClassifier
from verulam.parametric import NaiveBayes
from verulam.tree import DecisionTreeClassifier

IRIS = dataset("iris")
X, Y = IRIS.inputs.to_numpy(), np.asarray(IRIS.target_values)
VIEWS = {
    "sepal": ["sepal_length_cm", "sepal_width_cm"],
    "petal": ["petal_length_cm", "petal_width_cm"],
}


def two_views(seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, size=400)
    inputs = random.normal(size=(400, 4)) + np.outer(labels, [1.0, 0.5, 1.0, 0.5])
    return inputs, labels


def test_late_integration_votes_over_views_and_beats_each_of_them():
    inputs, labels = two_views(0)
    test, truth = two_views(1)
    late = MultiViewClassifier([[0, 1], [2, 3]]).fit(inputs, labels)
    parts = [NaiveBayes().fit(inputs[:, view], labels) for view in ([0, 1], [2, 3])]
    votes = np.mean(
        [
            part.predict_proba(test[:, view])
            for part, view in zip(parts, ([0, 1], [2, 3]), strict=True)
        ],
        axis=0,
    )
    assert np.allclose(late.predict_proba(test), votes)
    singles = [
        part.score(test[:, view], truth) for part, view in zip(parts, ([0, 1], [2, 3]), strict=True)
    ]
    assert late.score(test, truth) > max(singles) + 0.02
    assert late.evaluations_ == 2
    assert isinstance(late.model_, VotingClassifier)
    stacked = MultiViewClassifier(VIEWS, combiner="stacking", random_state=0).fit(IRIS.inputs, Y)
    assert isinstance(stacked.model_, StackingClassifier)
    assert [name for name, _ in stacked.model_.estimators_] == ["sepal", "petal"]


def test_early_integration_is_one_learner_of_all_columns():
    early = MultiViewClassifier(VIEWS, DecisionTreeClassifier(), integration="early").fit(
        IRIS.inputs, Y
    )
    alone = DecisionTreeClassifier().fit(IRIS.inputs, Y)
    assert (early.predict(IRIS.inputs) == alone.predict(IRIS.inputs)).all()
    assert early.evaluations_ == 1


def test_intermediate_integration_weighs_a_kernel_for_each_view():
    machine = MultiViewClassifier([[0, 1], [2, 3]], integration="intermediate").fit(X, Y)
    kernels = [Gaussian().on_columns([0, 1]), Gaussian().on_columns([2, 3])]
    alone = MultipleKernelClassifier(kernels).fit(X, Y)
    assert np.allclose(machine.model_.weights_, alone.weights_)
    assert (machine.predict(X) == alone.predict(X)).all()
    assert alone.weights_[1] > alone.weights_[0]


def test_shared_factors_of_two_views_are_canonical_correlations():
    random = np.random.default_rng(0)
    factor = random.normal(size=(500, 1))
    views = np.hstack([factor @ [[1, -1, 0.5]], factor @ [[2, 1]]]) + random.normal(size=(500, 5))
    shared = SharedFactors([[0, 1, 2], [3, 4]]).fit(views)
    theirs = CCA(1, max_iter=5000, tol=1e-10).fit(views[:, :3], views[:, 3:])
    left, right = theirs.transform(views[:, :3], views[:, 3:])
    correlation = np.corrcoef(left[:, 0], right[:, 0])[0, 1]
    assert shared.correlations_[0] == pytest.approx((1 + correlation) / 2, abs=1e-4)
    assert abs(np.corrcoef(shared.transform(views)[:, 0], factor[:, 0])[0, 1]) > 0.85
    combined = left[:, 0] / left.std() + right[:, 0] / right.std()
    assert abs(np.corrcoef(shared.transform(views)[:, 0], combined)[0, 1]) > 0.999


def test_latent_integration_classifies_by_the_factors():
    inputs, labels = two_views(0)
    latent = MultiViewClassifier([[0, 1], [2, 3]], integration="latent").fit(inputs, labels)
    assert latent.score(inputs, labels) > 0.7
    assert len(latent.views_) == 2
    titanic = dataset("titanic")
    with pytest.raises(DataError, match="takes complete columns of numbers"):
        MultiViewClassifier(integration="latent").fit(titanic.inputs, titanic.target_values)


def test_views_default_to_halves_and_wrong_ones_are_refused():
    assert [view.tolist() for view in MultiViewClassifier().fit(X, Y).views_] == [[0, 1], [2, 3]]
    with pytest.raises(DataError, match="views is empty"):
        MultiViewClassifier([]).fit(X, Y)
    with pytest.raises(DataError, match="no column 'height'"):
        MultiViewClassifier({"a": ["height"]}).fit(IRIS.inputs, Y)


def test_co_association_counts_solutions():
    random = np.random.default_rng(0)
    solutions = random.integers(0, 3, size=(7, 20))
    table = co_association(solutions)
    for i in range(20):
        for j in range(20):
            assert table[i, j] == pytest.approx((solutions[:, i] == solutions[:, j]).mean())
    assert (np.diag(table) == 1).all()
    noise = co_association([[-1, -1, 0, 0]])
    assert noise[0, 1] == 0
    assert noise[2, 3] == noise[0, 0] == 1
    with pytest.raises(DataError, match="shape"):
        co_association([0, 1])
    with pytest.raises(DataError, match="take a sample"):
        co_association(np.zeros((1, 30_000), dtype=int))


def test_consensus_finds_what_single_runs_may_miss():
    """Two rings: k-means cuts across them, and what many cuts agree on is the rings."""
    random = np.random.default_rng(0)
    angles = random.uniform(0, 2 * np.pi, size=300)
    radius = np.repeat([1.0, 4.0], 150)
    rings = np.column_stack([np.cos(angles), np.sin(angles)]) * radius[:, None]
    ensemble = ClusterEnsemble(
        [KMeans(20, n_init=1)], n_clusters=2, n_solutions=20, linkage="single", random_state=0
    )
    labels = ensemble.fit_predict(rings)
    truth = np.repeat([0, 1], 150)
    assert adjusted_rand_score(truth, labels) > 0.9
    assert adjusted_rand_score(truth, KMeans(2, n_init=3, random_state=0).fit_predict(rings)) < 0.3
    assert ensemble.solutions_.shape == (20, 300)
    assert np.array_equal(ensemble.co_association_, co_association(ensemble.solutions_))


def test_runs_have_at_least_the_clusters_that_are_wanted():
    rows = np.random.default_rng(0).normal(size=(16, 2))
    ensemble = ClusterEnsemble(n_clusters=5, n_solutions=40, random_state=0).fit(rows)
    numbers = {len(np.unique(solution)) for solution in ensemble.solutions_}
    assert numbers == {5, 6, 7, 8, 9, 10}
    assert len(np.unique(ensemble.labels_)) == 5


class FixedLabels(AgglomerativeClustering):
    """A clusterer that knows the clusters."""

    def __init__(self, labels=()):
        self.labels = labels

    def fit_predict(self, X, y=None):
        return np.array(self.labels)


def test_the_consensus_is_linked_as_told():
    """A chain of four rows: each is with the next in 4, 3 and 2 solutions of 8."""
    solutions = [[0, 0, 1, 2], [0, 0, 1, 1]] * 2 + [[0, 1, 1, 2]] * 3 + [[0, 1, 2, 3]]
    clusterers = [FixedLabels(labels) for labels in solutions]
    for linkage, expected in (
        ("single", [0, 0, 0, 1]),
        ("complete", [0, 0, 1, 1]),
        ("average", [0, 0, 1, 1]),
    ):
        ensemble = ClusterEnsemble(clusterers, n_clusters=2, n_solutions=1, linkage=linkage)
        assert ensemble.fit_predict(np.zeros((4, 1))).tolist() == expected


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_there_are_as_many_clusters_as_asked_for_whatever_ties(linkage):
    rows = np.random.default_rng(1).normal(size=(60, 2))
    for n_clusters in (1, 4, 30, 60):
        ensemble = ClusterEnsemble(
            [KMeans(3, n_init=1)], n_clusters=n_clusters, n_solutions=4, linkage=linkage
        ).set_params(random_state=0)
        assert len(np.unique(ensemble.fit_predict(rows))) == n_clusters


def test_the_consensus_is_cut_at_half_or_into_clusters():
    blocks = [[0, 0, 0, 1, 1, 1], [2, 2, 2, 0, 0, 0], [0, 0, 1, 1, 1, 1]]

    rows = np.zeros((6, 1))
    clusterers = [FixedLabels(labels) for labels in blocks]
    free = ClusterEnsemble(clusterers, n_solutions=1).fit(rows)
    assert free.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert (
        ClusterEnsemble(clusterers, n_solutions=1, n_clusters=1).fit(rows).labels_.tolist()
        == [0] * 6
    )
    for estimators, message in (([], "is empty"), ([NaiveBayes()], "NaiveBayes cannot cluster")):
        with pytest.raises(DataError, match=message):
            ClusterEnsemble(estimators).fit(X)
    with pytest.raises(DataError, match="there are 6 rows"):
        ClusterEnsemble(clusterers, n_solutions=1, n_clusters=9).fit(rows)
