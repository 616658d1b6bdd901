"""Many classes from lines between two."""

from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.svm import SVC

from verulam.base import DataError
from verulam.linear import (
    LogisticDiscriminant,
    MinimumSquaredError,
    OneVersusRest,
    PairwiseClassifier,
    Perceptron,
    pairwise_separability,
    separability,
)

IRIS, SPECIES = load_iris(return_X_y=True)
LINE = np.array([[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]])
NAMES = np.array(list("aabbcc"))


def test_one_against_the_rest_agrees_with_scikit_learn():
    ours = OneVersusRest(LogisticDiscriminant(tol=1e-9)).fit(IRIS, SPECIES)
    theirs = OneVsRestClassifier(LogisticRegression(tol=1e-10, solver="newton-cholesky"))
    theirs.fit(IRIS, SPECIES)
    values = np.column_stack(
        [estimator.decision_function(IRIS) for estimator in theirs.estimators_]
    )
    assert np.allclose(ours.decision_function(IRIS), values, atol=1e-5)
    assert np.array_equal(ours.predict(IRIS), values.argmax(axis=1))


def test_the_strict_rule_rejects_none_and_several():
    machine = OneVersusRest(LogisticDiscriminant(), rule="strict", reject_label="?")
    machine.fit(IRIS, SPECIES)
    values = machine.decision_function(IRIS)
    alone = (values > 0).sum(axis=1) == 1
    predicted = machine.predict(IRIS)
    assert 0 < (~alone).sum() < 100
    assert (predicted[~alone] == "?").all()
    assert (predicted[alone] == values[alone].argmax(axis=1)).all()


class FixedPlane(MinimumSquaredError):  # noqa: N818 (the name of its base misleads)
    """A plane of weights that are given, of any length."""

    PLANES: ClassVar = {0: ([-1.0, 0.0], 0.0), 1: ([10.0, 0.0], -10.0), 2: ([0.0, 1.0], -3.0)}

    def fit(self, X, y):
        super().fit(X, y)
        weights, bias = self.PLANES[int(np.flatnonzero(y)[0])]
        self.coef_, self.intercept_ = np.array([weights]), np.array([bias])
        return self


def test_distances_do_not_depend_on_the_lengths_of_weights():
    rows, names = np.array([[-5.0, 0.0], [5.0, 0.0], [0.0, 5.0]]), [0, 1, 2]
    largest = OneVersusRest(FixedPlane()).fit(rows, names)
    farthest = OneVersusRest(FixedPlane(), rule="distance").fit(rows, names)
    # One unit beyond the second plane, two beyond the third, whose weights are ten times shorter.
    query = [[2.0, 5.0]]
    assert largest.predict(query).tolist() == [1]
    assert farthest.predict(query).tolist() == [2]
    assert farthest.decision_function(query).tolist() == [[-2.0, 1.0, 2.0]]
    for place, estimator in enumerate(farthest.estimators_):
        distance = estimator.hyperplane_.signed_distance(rows)
        assert np.allclose(farthest.decision_function(rows)[:, place], distance)


def test_distances_of_two_classes_and_of_no_planes():
    two = OneVersusRest(rule="distance").fit(LINE, NAMES == "a")
    plain = OneVersusRest().fit(LINE, NAMES == "a")
    assert np.allclose(
        two.decision_function(LINE),
        plain.decision_function(LINE) / np.linalg.norm(plain.estimators_[0].coef_),
    )
    assert np.array_equal(two.predict(LINE), plain.predict(LINE))
    with pytest.raises(DataError, match=r'rule="distance" needs planes .* SVC has no coef_'):
        OneVersusRest(SVC(), rule="distance").fit(IRIS, SPECIES)


def test_regions_of_the_largest_are_convex():
    machine = OneVersusRest().fit(IRIS[:, :2], SPECIES)
    random = np.random.default_rng(0)
    ends = random.uniform([4, 2], [8, 5], size=(2, 300, 2))
    same = machine.predict(ends[0]) == machine.predict(ends[1])
    middle = machine.predict(ends.mean(axis=0))
    assert (middle[same] == machine.predict(ends[0])[same]).all()


def test_pairs_separate_what_one_against_the_rest_cannot():
    assert all(pairwise_separability(LINE, NAMES).values())
    assert not separability(LINE, NAMES == "b")
    machine = PairwiseClassifier(Perceptron(random_state=0)).fit(LINE, NAMES)
    assert machine.score(LINE, NAMES) == 1.0
    assert len(machine.estimators_) == 3


def test_pairwise_discriminants_are_antisymmetric_and_trained_on_two_classes():
    machine = PairwiseClassifier(MinimumSquaredError()).fit(IRIS, SPECIES)
    table = machine.pairwise(IRIS)
    assert np.allclose(table, -table.transpose(0, 2, 1))
    rows = SPECIES != 1
    alone = MinimumSquaredError().fit(IRIS[rows], (SPECIES[rows] == 0).astype(int))
    assert np.allclose(table[:, 0, 2], alone.decision_function(IRIS))


def test_strict_pairs_reject_where_no_class_beats_all():
    machine = PairwiseClassifier(LogisticDiscriminant(), rule="strict").fit(IRIS, SPECIES)
    table = machine.pairwise(IRIS)
    wins = ((table > 0).sum(axis=2) == 2).any(axis=1)
    predicted = machine.predict(IRIS)
    assert ((predicted == "reject") == ~wins).all()
    votes = PairwiseClassifier(LogisticDiscriminant()).fit(IRIS, SPECIES).predict(IRIS)
    assert (predicted[wins] == votes[wins]).all()


def test_strict_pairs_reject_in_the_middle_of_a_ring():
    """Each of three lines turned a little leaves a triangle where every class loses once."""
    rng = np.random.default_rng(0)
    angles = np.array([0.0, 2.0, 4.0]) * np.pi / 3
    labels = np.repeat(np.arange(3), 60)
    centres = np.column_stack([np.cos(angles), np.sin(angles)])[labels]
    along = np.column_stack([-np.sin(angles), np.cos(angles)])[labels]
    rows = centres + rng.uniform(0, 2.5, (180, 1)) * along + rng.normal(0, 0.05, (180, 2))
    machine = PairwiseClassifier(LogisticDiscriminant(), rule="strict").fit(rows, labels)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.5, 1.5, 31)] * 2), axis=-1).reshape(-1, 2)
    table = machine.pairwise(grid)
    beats_all = ((table > 0).sum(axis=2) == 2).any(axis=1)
    assert 0 < (~beats_all).sum() < len(grid)
    assert ((machine.predict(grid) == "reject") == ~beats_all).all()


def test_the_relaxed_rule_takes_the_largest_sum():
    machine = PairwiseClassifier(LogisticDiscriminant(), rule="relaxed").fit(IRIS, SPECIES)
    sums = machine.pairwise(IRIS).sum(axis=2)
    assert np.allclose(machine.decision_function(IRIS), sums)
    assert (machine.predict(IRIS) == sums.argmax(axis=1)).all()


def test_votes_agree_with_scikit_learn():
    ours = PairwiseClassifier(LogisticDiscriminant(tol=1e-9)).fit(IRIS, SPECIES)
    theirs = OneVsOneClassifier(LogisticRegression(tol=1e-10, solver="newton-cholesky"))
    theirs.fit(IRIS, SPECIES)
    assert np.array_equal(ours.predict(IRIS), theirs.predict(IRIS))
    assert np.allclose(ours.decision_function(IRIS), theirs.decision_function(IRIS), atol=1e-5)


@pytest.mark.parametrize("kind", [OneVersusRest, PairwiseClassifier])
def test_two_classes_need_one_trainer(kind):
    two = SPECIES[50:]
    machine = kind().fit(IRIS[50:], two)
    assert len(machine.estimators_) == 1
    assert machine.decision_function(IRIS[50:]).shape == (100,)
    assert machine.score(IRIS[50:], two) > 0.9


def test_sparse_rows_reach_the_trainers():
    machine = OneVersusRest(LogisticDiscriminant(tol=1e-8))
    dense = machine.fit(IRIS, SPECIES).decision_function(IRIS)
    sparse = machine.fit(sp.csr_array(IRIS), SPECIES).decision_function(sp.csr_array(IRIS))
    assert np.allclose(dense, sparse, atol=1e-5)


def test_one_class_is_refused():
    with pytest.raises(DataError, match="only one class"):
        OneVersusRest().fit(LINE, ["a"] * 6)
