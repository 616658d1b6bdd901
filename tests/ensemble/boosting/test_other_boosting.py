"""Three learners, regression by draws, and residuals."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor as TheirTree

from verulam.base import DataError
from verulam.data import dataset, friedman
from verulam.ensemble import (
    AdaBoostRegressor,
    DecisionStump,
    ResidualBoostingRegressor,
    ThreeLearnerBoosting,
    three_learner_error,
    weighted_median,
)
from verulam.parametric import LeastSquares, NaiveBayes
from verulam.tree import DecisionTreeClassifier

MPG = dataset("auto_mpg")


def test_the_ideal_error_of_three():
    p = np.linspace(0, 1, 11)
    assert np.allclose(three_learner_error(p), 3 * p**2 - 2 * p**3)
    assert three_learner_error(0.5) == 0.5
    assert three_learner_error(0.3, levels=2) == pytest.approx(three_learner_error(0.216))
    with pytest.raises(DataError, match="between 0 and 1"):
        three_learner_error(1.5)


def plane_data(n_rows, seed):
    random = np.random.default_rng(seed)
    inputs = random.uniform(-1, 1, size=(n_rows, 2))
    return inputs, (inputs.sum(axis=1) > 0).astype(int)


class Recorder(DecisionStump):
    """Remembers what it was taught with."""

    taught = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        Recorder.taught.append((X.copy(), np.asarray(y).copy(), self))
        return self


def test_three_learners_are_taught_as_the_text_says():
    Recorder.taught.clear()
    inputs, labels = plane_data(900, 0)
    boost = ThreeLearnerBoosting(Recorder(), random_state=0).fit(inputs, labels)
    (first_rows, _, first), (second_rows, second_labels, second), (third_rows, _, _) = (
        Recorder.taught
    )
    assert len(first_rows) == 300
    wrong = first.predict(second_rows) != second_labels
    assert wrong.mean() == 0.5
    assert (first.predict(third_rows) != second.predict(third_rows)).all()
    assert boost.n_taught_ == (300, len(second_rows), len(third_rows))
    rows = {tuple(row) for row in first_rows}
    assert not rows & {tuple(row) for row in second_rows}
    agree = first.predict(inputs) == second.predict(inputs)
    assert (boost.predict(inputs)[agree] == first.predict(inputs)[agree]).all()
    assert (boost.predict(inputs)[~agree] == boost.estimators_[2].predict(inputs)[~agree]).all()
    assert (boost.evaluations(inputs) == np.where(agree, 2, 3)).all()
    assert boost.evaluations_ == pytest.approx(2 + (~agree).mean())


def test_three_are_better_than_one_and_nine_than_three():
    inputs, labels = plane_data(3000, 1)
    test, truth = plane_data(3000, 2)
    scores = [
        model.fit(inputs, labels).score(test, truth)
        for model in (DecisionStump(), ThreeLearnerBoosting(DecisionStump(), random_state=0),
                      ThreeLearnerBoosting(DecisionStump(), levels=2, random_state=0))
    ]  # fmt: skip
    assert scores[0] + 0.02 < scores[1] < scores[2]


def test_nothing_is_taught_where_nothing_is_wrong():
    inputs = np.arange(30.0)[:, None]
    labels = (inputs[:, 0] > 14).astype(int)
    boost = ThreeLearnerBoosting(random_state=0).fit(np.tile(inputs, (3, 1)), np.tile(labels, 3))
    assert boost.score(inputs, labels) > 0.95
    assert boost.evaluations_ <= 3
    with pytest.raises(DataError, match="three parts need n_samples=6"):
        ThreeLearnerBoosting().fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_drucker_in_plain_numpy(loss):
    """The same draws, the same trees, the same weights."""
    random_data = friedman(120, random_state=0)
    inputs, targets = random_data.inputs.to_numpy(), np.asarray(random_data.target_values)
    tree = TheirTree(max_depth=3, random_state=0)
    boost = AdaBoostRegressor(tree, n_estimators=4, loss=loss, random_state=5).fit(inputs, targets)
    random = np.random.default_rng(5)
    p = np.full(120, 1 / 120)
    for number in range(4):
        rows = random.choice(120, size=120, p=p)
        random.integers(2**31 - 1)
        member = TheirTree(max_depth=3, random_state=0).fit(inputs[rows], targets[rows])
        relative = np.abs(member.predict(inputs) - targets)
        relative /= relative.max()
        losses = {"linear": relative, "square": relative**2, "exponential": 1 - np.exp(-relative)}[
            loss
        ]
        mean = p @ losses
        assert boost.errors_[number] == pytest.approx(mean)
        beta = mean / (1 - mean)
        assert boost.votes_[number] == pytest.approx(-np.log(beta))
        p = p * beta ** (1 - losses)
        p /= p.sum()


def test_members_are_combined_by_weighted_median_or_mean():
    inputs, targets = MPG.inputs, MPG.target_values
    for rule in ("median", "mean"):
        boost = AdaBoostRegressor(n_estimators=6, rule=rule, random_state=0).fit(inputs, targets)
        values = np.array([member.predict(inputs) for member in boost.estimators_])
        expected = (weighted_median(values, boost.votes_) if rule == "median"
                    else np.average(values, axis=0, weights=boost.votes_))  # fmt: skip
        assert np.allclose(boost.predict(inputs), expected)


def test_errors_beyond_a_threshold_are_mistakes():
    inputs, targets = MPG.inputs, np.asarray(MPG.target_values)
    never = AdaBoostRegressor(loss="threshold", threshold=1e6, random_state=0).fit(inputs, targets)
    assert never.errors_.tolist() == [0.0]
    assert len(never.estimators_) == 1
    some = AdaBoostRegressor(loss="threshold", threshold=2.0, n_estimators=5, random_state=0)
    some.fit(inputs, targets)
    first = np.abs(some.estimators_[0].predict(inputs) - targets) > 2.0
    assert some.errors_[0] == pytest.approx(first.mean())
    assert some.threshold_ == 2.0
    default = AdaBoostRegressor(loss="threshold", n_estimators=3, random_state=0).fit(
        inputs, targets
    )
    sizes = np.abs(default.estimators_[0].predict(inputs) - targets)
    assert default.threshold_ == pytest.approx(sizes.mean())


def test_a_first_member_that_is_too_weak_stays_alone():
    random = np.random.default_rng(0)
    inputs, targets = random.normal(size=(30, 1)), np.tile([0.0, 1.0], 15)
    boost = AdaBoostRegressor(LinearRegression(), loss="threshold", threshold=0.1, random_state=0)
    boost.fit(inputs, targets)
    assert boost.votes_.tolist() == [1.0]
    assert boost.errors_[0] >= 0.5


def test_residuals_are_fitted_as_gradient_boosting_does():
    data = friedman(150, random_state=1)
    inputs, targets = data.inputs.to_numpy(), np.asarray(data.target_values)
    ours = ResidualBoostingRegressor(
        TheirTree(max_depth=3, random_state=0),
        n_estimators=10,
        learning_rate=0.3,
    ).fit(inputs, targets)
    theirs = GradientBoostingRegressor(
        n_estimators=10, learning_rate=0.3, max_depth=3, random_state=0
    )
    assert np.allclose(ours.predict(inputs), theirs.fit(inputs, targets).predict(inputs))
    stages = list(ours.staged_predict(inputs))
    assert len(stages) == 10
    assert np.allclose(ours.errors_[1:], [np.mean((stage - targets) ** 2) for stage in stages])
    assert (np.diff(ours.errors_) < 0).all()


def test_least_squares_finds_nothing_in_its_own_residuals():
    inputs = MPG.inputs.select_dtypes("number").dropna(axis=1)
    boost = ResidualBoostingRegressor(LeastSquares(), learning_rate=1.0, n_estimators=20)
    boost.fit(inputs, MPG.target_values)
    assert len(boost.estimators_) == 2
    assert np.allclose(
        boost.predict(inputs), LeastSquares().fit(inputs, MPG.target_values).predict(inputs)
    )


def test_boosted_members_of_any_kind_take_tables():
    titanic = dataset("titanic")
    boost = ThreeLearnerBoosting(NaiveBayes(), random_state=0)
    assert (
        boost.fit(titanic.inputs, titanic.target_values).score(
            titanic.inputs, titanic.target_values
        )
        > 0.7
    )
    tree = ThreeLearnerBoosting(DecisionTreeClassifier(), random_state=0)
    assert (
        tree.fit(titanic.inputs, titanic.target_values).score(titanic.inputs, titanic.target_values)
        > 0.7
    )
