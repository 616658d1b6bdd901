"""MinimumRisk: equivalences with the formulas, rejection, priors, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from verulam.decision import MinimumRisk
from verulam.decision._minimum_risk import change_priors


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return data.data[:, :2], data.target_names[data.target]


@pytest.fixture
def two_classes():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(1, 1, (40, 2))])
    return X, np.repeat([0, 1], [60, 40])


def test_zero_one_loss_is_the_most_probable_class(iris):
    X, y = iris
    bare = GaussianNB().fit(X, y)
    wrapped = MinimumRisk(GaussianNB()).fit(X, y)
    assert_array_equal(wrapped.predict(X), bare.predict(X))
    assert_array_equal(wrapped.predict_proba(X), bare.predict_proba(X))
    assert_allclose(wrapped.expected_risk(X), 1 - bare.predict_proba(X))


@pytest.mark.parametrize("cost", [0.05, 0.2, 0.45])
def test_accepts_only_above_one_minus_the_reject_cost(iris, cost):
    X, y = iris
    learner = MinimumRisk(GaussianNB(), reject_cost=cost).fit(X, y)
    largest = learner.predict_proba(X).max(axis=1)
    rejected = learner.predict(X) == "reject"
    assert 0 < rejected.sum() < len(X)
    assert_array_equal(rejected, largest <= 1 - cost)


def test_limits_of_the_reject_cost(iris):
    X, y = iris
    certain = MinimumRisk(GaussianNB(), reject_cost=1e-12).fit(X, y)
    answers = certain.predict(X)
    assert (certain.predict_proba(X).max(axis=1)[answers != "reject"] > 1 - 1e-12).all()
    never = MinimumRisk(GaussianNB(), reject_cost=2 / 3 + 1e-9).fit(X, y)
    assert "reject" not in never.predict(X)


def test_reject_cost_by_class(two_classes):
    X, y = two_classes
    learner = MinimumRisk(GaussianNB(), reject_cost={0: 0.1, 1: 0.6}, reject_label=-1).fit(X, y)
    p = learner.predict_proba(X)
    risks = np.column_stack([p[:, 1], p[:, 0], p @ [0.1, 0.6]])
    assert_allclose(learner.expected_risk(X), risks)
    answers = learner.predict(X)
    assert answers.dtype.kind == "i"
    assert_array_equal(answers, np.array([0, 1, -1])[risks.argmin(axis=1)])
    assert (answers == -1).any()


def test_cost_matrix_moves_the_threshold(two_classes):
    X, y = two_classes
    learner = MinimumRisk(LogisticRegression(), [[0, 9], [1, 0]]).fit(X, y)
    assert_array_equal(learner.predict(X) == 1, learner.predict_proba(X)[:, 1] > 0.1)
    assert_allclose(learner.thresholds()[0].high, 0.1)
    assert_array_equal(learner.predict(X) == 1, learner.log_odds(X) < np.log(9))


def test_more_actions_than_classes_and_mean_loss(two_classes):
    X, y = two_classes
    loss = pd.DataFrame([[0, 10], [1, 0], [0.4, 2]], index=["go", "stop", "wait"], columns=[0, 1])
    learner = MinimumRisk(GaussianNB(), loss).fit(X, y)
    answers = learner.predict(X)
    assert set(answers) == {"go", "stop", "wait"}
    incurred = [loss.loc[action, label] for action, label in zip(answers, y, strict=True)]
    assert_allclose(learner.mean_loss(X, y), np.mean(incurred))
    named = MinimumRisk(GaussianNB(), loss.to_numpy(), actions=list(loss.index)).fit(X, y)
    assert_array_equal(named.predict(X), answers)


def test_discriminants_choose_what_predict_answers(iris):
    X, y = iris
    learner = MinimumRisk(GaussianNB(), reject_cost=0.3).fit(X, y)
    values = learner.discriminants(X)
    assert_array_equal(learner.actions_[values.argmax(axis=1)], learner.predict(X))
    assert_allclose(np.exp(learner.discriminants(X, "log posterior")), learner.predict_proba(X))


def test_log_odds_and_thresholds_are_for_two_classes(iris):
    learner = MinimumRisk(GaussianNB()).fit(*iris)
    assert not hasattr(learner, "log_odds")
    assert not hasattr(learner, "thresholds")


def test_prior_correction_equals_a_classifier_fitted_with_that_prior(iris):
    X, y = iris
    priors = [0.7, 0.2, 0.1]
    corrected = MinimumRisk(LinearDiscriminantAnalysis(), priors=priors).fit(X, y)
    assert_array_equal(
        MinimumRisk(LinearDiscriminantAnalysis()).fit(X[20:], y[20:]).training_priors_,
        LinearDiscriminantAnalysis().fit(X[20:], y[20:]).priors_,
    )
    # The shared covariance depends on the prior, so the comparison keeps it and shifts intercepts.
    reference = GaussianNB(priors=priors).fit(X, y)
    assert_allclose(
        MinimumRisk(GaussianNB(), priors=priors).fit(X, y).predict_proba(X),
        reference.predict_proba(X),
    )
    assert_allclose(corrected.predict_proba(X).sum(axis=1), 1)


def test_training_prior_is_the_weighted_share_unless_stated(two_classes):
    X, y = two_classes
    weights = np.where(y == 1, 3.0, 1.0)
    learner = MinimumRisk(LogisticRegression()).fit(X, y, sample_weight=weights)
    assert_allclose(learner.training_priors_, [60 / 180, 120 / 180])
    stated = MinimumRisk(LogisticRegression(), training_priors={1: 0.9, 0: 0.1}).fit(X, y)
    assert_allclose(stated.training_priors_, [0.1, 0.9])


def test_change_of_prior_is_undone_by_the_opposite_change():
    rng = np.random.default_rng(0)
    p, old, new = (
        rng.dirichlet(np.ones(3), 10),
        np.array([0.2, 0.3, 0.5]),
        np.array([0.6, 0.3, 0.1]),
    )
    assert_allclose(change_priors(change_priors(p, old, new), new, old), p)


def test_fitted_classifier_is_used_as_it_is(two_classes):
    X, y = two_classes
    fitted = LogisticRegression().fit(X, y)
    learner = MinimumRisk(FrozenEstimator(fitted), [[0, 4], [1, 0]])
    learner.fit(X[:70], y[:70], sample_weight=np.ones(70))
    assert_array_equal(learner.predict_proba(X), fitted.predict_proba(X))


def test_score_counts_rejections_as_misses_whatever_the_labels(two_classes):
    X, y = two_classes
    learner = MinimumRisk(GaussianNB(), reject_cost=0.2).fit(X, y)
    answers = learner.predict(X)
    hits = [answer == label for answer, label in zip(answers, y, strict=True)]
    assert (answers == "reject").sum() > 0
    assert_allclose(learner.score(X, y), np.mean(hits))


def test_works_in_a_grid_search(two_classes):
    X, y = two_classes
    search = GridSearchCV(MinimumRisk(GaussianNB()), {"reject_cost": [None, 0.1]}, cv=3)
    assert search.fit(X, y).best_params_ == {"reject_cost": None}


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (MinimumRisk(LinearSVC()), "'estimator' parameter of MinimumRisk must be.*predict_proba"),
        (MinimumRisk(GaussianNB(), [[0, 1, 1], [1, 0, 1]]), r"its shape is \(2, 3\)"),
        (MinimumRisk(GaussianNB(), reject_cost=1.5), "reject_cost must lie between 0 and 1"),
        (MinimumRisk(GaussianNB(), priors=[0.5, 0.6]), "priors must sum to one"),
        (MinimumRisk(GaussianNB(), priors=[-0.5, 1.5]), "priors must not be negative"),
        (MinimumRisk(GaussianNB(), training_priors=[0.5, 0.6]), "training_priors must sum to one"),
    ],
)
def test_bad_arguments_are_refused(two_classes, learner, message):
    with pytest.raises(ValueError, match=message):
        learner.fit(*two_classes)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"y has 1 class \['a'\]: a decision needs two or more"):
        MinimumRisk(GaussianNB()).fit([[0.0], [1.0]], ["a", "a"])


def test_weights_are_refused_where_the_classifier_cannot_use_them(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit does not take it"):
        MinimumRisk(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))


def test_mean_loss_refuses_unknown_classes(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match=r"y contains np.int64\(7\) in row 0"):
        MinimumRisk(GaussianNB()).fit(X, y).mean_loss(X[:1], [7])
