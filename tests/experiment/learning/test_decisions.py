"""Labels where one class is rare: weights, thresholds and losses as contestants of equal right."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.class_weight import compute_sample_weight

from verulam.base import DataError, UnknownNameError
from verulam.experiment import DataChoice, LearnerChoice, Study, compare, finalise, make_plan, run
from verulam.experiment._learning.decisions import BalancedWeights, TunedThreshold, read_decision
from verulam.experiment._study.choices import default_learners, learner_choices
from verulam.measures import f_score


@pytest.fixture(scope="module")
def rare():
    """Return 400 rows, of which one in twelve has the second class, told by the first column."""
    random = np.random.default_rng(0)
    y = (np.arange(400) % 12 == 0).astype(int)
    X = random.normal(size=(400, 3))
    X[:, 0] += 1.5 * y
    return X, y


def table(rare, labels=("no", "yes")):
    X, y = rare
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return frame.assign(y=np.array(labels)[y])


def test_names_with_a_decision_in_brackets():
    assert read_decision("k-nearest neighbours (least risk)").decision == "least risk"
    assert read_decision("decision tree").decision is None
    with pytest.raises(DataError, match=r"Unknown decision 'balance'.*balanced"):
        read_decision("decision tree (balance)")
    (choice,) = learner_choices("logistic regression (tuned threshold)")
    assert (choice.learner, choice.decision) == ("logistic regression", "tuned threshold")
    with pytest.raises((DataError, UnknownNameError), match="decision"):
        LearnerChoice("decision tree", decision="louder")


def test_weights_are_inverse_to_the_shares_of_the_classes(rare):
    X, y = rare
    balanced = BalancedWeights(GaussianNB()).fit(X, y)
    plain = GaussianNB().fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    np.testing.assert_allclose(balanced.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_allclose(balanced.estimator_.class_prior_, [0.5, 0.5])
    doubled = BalancedWeights(GaussianNB()).fit(X, y, sample_weight=np.where(X[:, 1] > 0, 2, 1))
    assert not np.allclose(doubled.predict_proba(X), plain.predict_proba(X))


def test_a_threshold_is_what_scikit_learn_tunes(rare):
    X, y = rare
    tuned = TunedThreshold(LogisticRegression(), "f_score").fit(X, y)
    peer = TunedThresholdClassifierCV(LogisticRegression(), scoring="f1", cv=5).fit(X, y)
    # Other parts of the rows, so that the thresholds are alike and not the same.
    assert tuned.threshold_ == pytest.approx(peer.best_threshold_, abs=0.1)
    assert 0.05 < tuned.threshold_ < 0.4
    expected = tuned.predict_proba(X)[:, 1] >= tuned.threshold_
    assert (tuned.predict(X) == expected).all()
    plain = LogisticRegression().fit(X, y)
    assert f_score(y, tuned.predict(X)) > f_score(y, plain.predict(X)) + 0.1


def test_thresholds_of_too_few_rows_and_of_scores(rare):
    X, y = rare
    single = TunedThreshold(LogisticRegression()).fit(X[:12], y[:12])
    assert single.threshold_ == 0.5
    assert TunedThreshold(DummyClassifier()).fit(X, y).threshold_ == 0.5
    from sklearn.svm import LinearSVC

    scored = TunedThreshold(LinearSVC()).fit(X, y)
    assert not hasattr(scored, "predict_proba")
    assert (scored.predict(X) == (scored.decision_function(X) >= scored.threshold_)).all()


class Memory(LogisticRegression):
    """Knows the rows it has learnt from; these are certain to be of their class."""

    def fit(self, X, y):
        super().fit(X, y)
        self.known_ = {float(x): label for x, label in zip(X[:, 0], y, strict=True)}
        return self

    def predict_proba(self, X):
        second = [self.known_.get(float(x), 0.2 + 0.002 * x) for x in X[:, 0]]
        second = np.array(second, dtype=float)
        return np.column_stack([1 - second, second])


def test_groups_are_whole_where_a_threshold_is_tuned():
    random = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 5)
    X = groups[:, None] + 0.0
    y = (random.random(40) < 0.3).astype(int)[groups]
    # Rows of a group are copies: without their groups, the threshold is that of what is known.
    alone = TunedThreshold(Memory(), "accuracy").fit(X, y)
    together = TunedThreshold(Memory(), "accuracy").fit(X, y, groups=groups)
    assert 0.2 <= together.threshold_ <= 0.28
    assert not 0.2 <= alone.threshold_ <= 0.28


def test_contestants_of_equal_right(rare, tmp_path):
    learners = [
        "logistic regression", "logistic regression (balanced)",
        "logistic regression (tuned threshold)", "logistic regression (least risk)",
        "parametric.NaiveBayes (balanced)",
    ]  # fmt: skip
    study = Study(
        "rare", [DataChoice(table(rare), target="y", label="rare")], learners,
        measures=["f_score", "tp_rate", "auc"], resampling="3-fold", losses=[[0, 8], [1, 0]],
    )  # fmt: skip
    plan = make_plan(study)
    assert [rival.label for rival in plan.contestants[0]] == learners
    results = run(plan, tmp_path / "s.sqlite", engine="serial", progress=False)
    means = results.scores().groupby("learner")[["f_score", "tp_rate", "auc"]].mean()
    plain = means.loc["logistic regression"]
    # All of them see more of the rare class; the order of the rows is nearly the same.
    assert (means.drop("logistic regression")["tp_rate"] > plain["tp_rate"] + 0.2).all()
    assert means.loc["logistic regression (least risk)", "auc"] == plain["auc"]
    words = {rival.label: rival.preparation for rival in plan.contestants[0]}
    assert words["logistic regression (tuned threshold)"].endswith("tuned within the training rows")
    made = finalise(
        results, "logistic regression (tuned threshold)", study=study, source=table(rare)
    )
    assert isinstance(made.model.estimator, TunedThreshold)
    assert made.card.parameters["threshold"] == pytest.approx(
        made.model.estimator.threshold_, rel=1e-5
    )
    assert 0.0 < made.explain({"a": 3.0, "b": 0.0, "c": 0.0}).value < 1.0


def test_what_cannot_be_decided_so_is_refused(rare):
    frame = table(rare)

    def plan(learner, frame=frame, **options):
        return make_plan(Study("x", [DataChoice(frame, target="y")], [learner], **options))

    with pytest.raises(DataError, match="needs to know what wrong decisions cost"):
        plan("decision tree (least risk)")
    with pytest.raises(DataError, match="cannot be balanced"):
        plan("k-nearest neighbours (balanced)")
    three = frame.assign(y=np.array(list("abc"))[np.arange(400) % 3])
    with pytest.raises(DataError, match=r"needs two classes \(here 3\)"):
        plan("decision tree (tuned threshold)", three)


def test_defaults_for_a_rare_class(rare):
    names, _ = default_learners("classification", 100, rare=True)
    assert "logistic regression (balanced)" in names
    assert not any("threshold" in name for name in names)
    names, _ = default_learners("classification", 100, rare=True, by_labels=True)
    assert "gradient boosting (tuned threshold)" in names
    assert default_learners("classification", 100)[0] == default_learners("classification", 99)[0]


def test_rows_weigh_in_learning_and_in_the_measures(rare):
    X, y = rare
    weight = np.where(X[:, 0] > 0, 3.0, 1.0)
    frame = table(rare).assign(importance=weight)
    learners = ["logistic regression", "k-nearest neighbours"]
    comparison = compare(
        frame, learners, target="y", weights="importance", measure="log_loss",
        resampling="2-fold", progress=False,
    )  # fmt: skip
    text = " ".join(str(comparison).split())
    assert "Rows weigh what importance says, in learning and in the measures;" in text
    assert "weights of rows not used" in comparison.preparation["k-nearest neighbours"]
    plain = compare(
        frame.drop(columns="importance"), learners, target="y", measure="log_loss",
        resampling="2-fold", progress=False,
    ).ranking()["mean"]  # fmt: skip
    means = comparison.ranking()["mean"]
    assert means["logistic regression"] != plain["logistic regression"]
    # It learns from all rows alike, but is measured by weight all the same.
    assert means["k-nearest neighbours"] != plain["k-nearest neighbours"]
    boosted = HistGradientBoostingClassifier(max_iter=5)
    assert BalancedWeights(boosted).fit(X, y).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("heavy", "has no column 'heavy'"),
        ("words", "holds no numbers"),
        ("signed", r"has -1 in row 4; expected numbers of at least 0"),
        ("gaps", "has nan in row 1"),
        ("zero", "is 0 in all rows"),
    ],
)
def test_weights_that_are_none(rare, column, message):
    frame = table(rare).assign(
        words=np.where(np.arange(400) % 2, "x", "z"), signed=np.where(np.arange(400) == 3, -1, 1),
        gaps=np.where(np.arange(400) == 0, np.nan, 1.0), zero=0.0,
    )  # fmt: skip
    with pytest.raises(DataError, match=message):
        compare(frame, ["majority class"], target="y", weights=column, progress=False)
