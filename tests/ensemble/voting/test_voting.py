"""Voting: agreement with scikit-learn, rules, weights, ties, refusals."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier as TheirVotingClassifier
from sklearn.ensemble import VotingRegressor as TheirVotingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier as TheirTree
from sklearn.tree import DecisionTreeRegressor as TheirRegressionTree

from verulam.base import DataError
from verulam.data import dataset
from verulam.ensemble import (
    MemberOutputs,
    VotingClassifier,
    VotingRegressor,
    combine,
    estimated_weights,
    out_of_fold_outputs,
)
from verulam.parametric import LeastSquares, NaiveBayes
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

WINE, IRIS, MPG = dataset("wine"), dataset("iris"), dataset("auto_mpg")
X, Y = WINE.inputs.to_numpy(), np.asarray(WINE.target_values)
PARTS = [
    ("nb", GaussianNB()),
    ("tree", TheirTree(random_state=0)),
    ("stump", TheirTree(max_depth=1)),
]


def test_soft_and_hard_votes_are_those_of_scikit_learn():
    train, test = np.arange(178) % 2 == 0, np.arange(178) % 2 == 1
    for weights in (None, [1.0, 2.0, 3.0]):
        ours = VotingClassifier(PARTS, weights=weights).fit(X[train], Y[train])
        theirs = TheirVotingClassifier(PARTS, voting="soft", weights=weights).fit(
            X[train], Y[train]
        )
        assert np.allclose(ours.predict_proba(X[test]), theirs.predict_proba(X[test]))
        hard = VotingClassifier(PARTS, rule="plurality", weights=weights).fit(X[train], Y[train])
        theirs = TheirVotingClassifier(PARTS, weights=weights).fit(X[train], Y[train])
        assert (hard.predict(X[test]) == theirs.predict(X[test])).all()
    assert ours.evaluations_ == 3


def test_weighted_means_are_those_of_scikit_learn():
    inputs = MPG.inputs.select_dtypes("number").fillna(0.0).to_numpy()
    parts = [("line", LinearRegression()), ("tree", TheirRegressionTree(max_depth=3))]
    ours = VotingRegressor(parts, weights=[1, 3]).fit(inputs, MPG.target_values)
    theirs = TheirVotingRegressor(parts, weights=[1, 3]).fit(inputs, MPG.target_values)
    assert np.allclose(ours.predict(inputs), theirs.predict(inputs))
    assert np.allclose(ours.weights_, [0.25, 0.75])


@pytest.mark.parametrize("rule", ["sum", "median", "min", "max", "product"])
def test_a_rule_is_that_of_the_outputs(rule):
    vote = VotingClassifier(PARTS, rule=rule).fit(X, Y)
    said = vote.member_outputs(X)
    assert np.allclose(vote.votes(X), combine(said, rule))
    assert (vote.predict(X) == vote.classes_[combine(said, rule).argmax(axis=1)]).all()
    assert np.allclose(vote.predict_proba(X).sum(axis=1), 1)


def test_the_median_of_regressors_resists_a_wild_member():
    class Wild(LinearRegression):
        def predict(self, X):
            return super().predict(X) * 1000

    inputs, targets = np.arange(20.0)[:, None], 2 * np.arange(20.0)
    members = [LinearRegression(), LeastSquares(), Wild()]
    assert np.allclose(
        VotingRegressor(members, rule="median").fit(inputs, targets).predict(inputs), targets
    )
    assert not np.allclose(VotingRegressor(members).fit(inputs, targets).predict(inputs), targets)


def test_weights_from_accuracy_are_shares_of_rows_that_are_right():
    said = out_of_fold_outputs(PARTS, X, Y, random_state=0)
    accuracy = (said.labels == Y).mean(axis=1)
    weights = estimated_weights(said, Y, "accuracy")
    assert np.allclose(weights, accuracy / accuracy.sum())
    assert weights.argmin() == 2
    odds = np.log(accuracy / (1 - accuracy) * 2)
    assert np.allclose(estimated_weights(said, Y, "log_odds"), odds / odds.sum())


def test_weights_from_posteriors_are_products_of_probabilities():
    values = np.array([[[0.6, 0.4], [0.5, 0.5]], [[0.2, 0.8], [0.9, 0.1]]])
    said = MemberOutputs(values, ("a", "b"), np.array([0, 1]))
    likelihood = np.array([0.6 * 0.5, 0.2 * 0.1])
    assert np.allclose(
        estimated_weights(said, np.array([0, 1]), "posterior"), likelihood / likelihood.sum()
    )


def test_weights_of_regressors():
    targets = np.array([0.0, 1.0, 2.0, 3.0])
    said = MemberOutputs(np.stack([targets + 0.1, targets - 0.2])[:, :, None], ("a", "b"))
    assert np.allclose(estimated_weights(said, targets, "accuracy"), [0.8, 0.2])
    ratio = (0.04 / 0.01) ** 2
    assert np.allclose(
        estimated_weights(said, targets, "posterior"), [ratio / (1 + ratio), 1 / (1 + ratio)]
    )
    assert np.allclose(estimated_weights(said, targets, "covariance"), [2 / 3, 1 / 3])


@pytest.mark.parametrize("weights", ["accuracy", "log_odds", "covariance", "posterior"])
def test_estimated_weights_sum_to_one_and_are_used(weights):
    vote = VotingClassifier(PARTS, weights=weights, random_state=0).fit(X, Y)
    assert vote.weights_.sum() == pytest.approx(1)
    assert vote.weights_.argmax() == 0
    assert np.allclose(vote.votes(X), combine(vote.member_outputs(X), weights=vote.weights_))


def test_covariance_weights_beat_the_average_where_they_were_found():
    members = [("line", LeastSquares()), ("tree", DecisionTreeRegressor(max_depth=3))]
    vote = VotingRegressor(members, weights="covariance", random_state=0).fit(
        MPG.inputs, MPG.target_values
    )
    assert vote.weights_.sum() == pytest.approx(1)
    again = VotingRegressor(members, weights="covariance", random_state=0).fit(
        MPG.inputs, MPG.target_values
    )
    assert np.array_equal(vote.predict(MPG.inputs), again.predict(MPG.inputs))


def test_scores_without_probabilities_are_brought_to_one_scale():
    members = [("svm", LinearSVC(C=0.01)), ("linear", LinearDiscriminantAnalysis())]
    for scale in ("min_max", "z", "median", "tanh"):
        vote = VotingClassifier(members, scaling=scale, random_state=0)
        vote.fit(IRIS.inputs.to_numpy(), IRIS.target_values)
        said = vote.member_outputs(IRIS.inputs.to_numpy()).values
        if scale in ("min_max", "tanh"):
            assert said.min() >= 0
            assert said.max() <= 1
        assert vote.score(IRIS.inputs.to_numpy(), IRIS.target_values) > 0.88


class Fixed(ClassifierMixin, BaseEstimator):
    def __init__(self, answer=0):
        self.answer = answer

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        return np.tile([0.9, 0.1] if self.answer == 0 else [0.45, 0.55], (len(X), 1))


def test_ties_and_majorities():
    rows, labels = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    members = [Fixed(0), Fixed(1)]
    assert (
        VotingClassifier(members, rule="plurality").fit(rows, labels).predict(rows).tolist()
        == [0] * 4
    )
    members = [Fixed(1), Fixed(0)]
    vote = VotingClassifier(members, rule="plurality", ties="probabilities").fit(rows, labels)
    assert vote.predict(rows).tolist() == [0] * 4
    flipped = [Fixed(1), Fixed(1), Fixed(0), Fixed(0)]
    weights = [1, 1, 1.5, 0.5]
    tie = VotingClassifier(flipped, rule="plurality", weights=weights, ties="probabilities")
    assert tie.fit(rows, labels).predict(rows).tolist() == [0] * 4
    none = VotingClassifier(members, rule="majority", reject_label=-1).fit(rows, labels)
    assert none.predict(rows).tolist() == [-1] * 4
    most = VotingClassifier([*members, Fixed(1)], rule="majority").fit(rows, labels)
    assert most.predict(rows).tolist() == [1] * 4


@pytest.mark.parametrize("weights", [[1, 2], [-1, 1, 1], [0, 0, 0]])
def test_wrong_weights_are_refused(weights):
    with pytest.raises(DataError, match="weights must be 3 numbers of 0 or more"):
        VotingClassifier(PARTS, weights=weights).fit(X, Y)


def test_a_median_with_weights_below_zero_is_refused():
    with pytest.raises(DataError, match="rule='mean'"):
        VotingRegressor(rule="median", weights="covariance").fit(X, np.arange(178.0))


def test_more_members_than_rows():
    rows, labels = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "b"]
    vote = VotingClassifier([NaiveBayes(), *[DecisionTreeClassifier()] * 6]).fit(rows, labels)
    assert len(vote.estimators_) == 7
    assert vote.predict(rows).tolist() == labels
