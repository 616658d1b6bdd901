"""Generalised vector quantisation: the cost and its gradients, relevances, and digits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score

from verulam.data import dataset
from verulam.local import GeneralisedVectorQuantisation
from verulam.local._prototypes.generalised import RivalCost


@pytest.fixture(scope="module")
def iris():
    data = dataset("iris")
    return data.inputs.to_numpy(), data.target_values.to_numpy()


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 3)), np.arange(40) % 3
    return X, codes.astype(np.int64), np.array([0, 0, 1, 1, 2], dtype=np.int64)


def random_point(cost, seed=1):
    rng = np.random.default_rng(seed)
    theta = cost.pack(rng.normal(size=cost.shape))
    return theta + 0.1 * rng.normal(size=len(theta))


@pytest.mark.parametrize("relevances", [None, "columns", "matrix"])
def test_the_gradient_is_that_of_central_differences(problem, relevances):
    cost = RivalCost(*problem, relevances, 3.0)
    theta = random_point(cost)
    gradient = cost(theta)[1]
    for place in range(len(theta)):
        step = np.zeros_like(theta)
        step[place] = 1e-6
        slope = (cost(theta + step)[0] - cost(theta - step)[0]) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("relevances", [None, "columns", "matrix"])
def test_the_cost_is_its_formula(problem, relevances):
    X, codes, classes = problem
    cost = RivalCost(X, codes, classes, relevances, 3.0)
    theta = random_point(cost)
    prototypes, factors = cost.unpack(theta)
    omega = {None: np.eye(3), "columns": np.diag(theta[-3:]), "matrix": factors}[relevances]
    total = 0.0
    for row, code in zip(X, codes, strict=True):
        squares = (((row - prototypes) @ omega.T) ** 2).sum(axis=1)
        near, far = squares[classes == code].min(), squares[classes != code].min()
        total += 1.0 / (1.0 + np.exp(-3.0 * (near - far) / (near + far)))
    assert cost(theta)[0] == pytest.approx(total / len(X))


@pytest.mark.parametrize("relevances", [None, "columns", "matrix"])
def test_descent_lowers_the_cost_and_classifies_iris(iris, relevances):
    X, y = iris
    learner = GeneralisedVectorQuantisation(relevances=relevances, random_state=0).fit(X, y)
    assert (np.diff(learner.cost_curve_) <= 1e-12).all()
    assert learner.score(X, y) >= 0.96
    assert 1.0 - learner.start_error_ < learner.score(X, y)
    assert learner.relevances_.sum() == pytest.approx(1.0)
    assert np.square(learner.transformation_).sum() == pytest.approx(1.0)


def test_without_relevances_all_columns_count_alike(iris):
    learner = GeneralisedVectorQuantisation(random_state=0).fit(*iris)
    np.testing.assert_allclose(learner.relevances_, 0.25)


@pytest.mark.parametrize("relevances", ["columns", "matrix"])
def test_a_column_of_noise_becomes_irrelevant(iris, relevances):
    X, y = iris
    noise = 3.0 * np.random.default_rng(0).normal(size=(150, 1))
    learner = GeneralisedVectorQuantisation(relevances=relevances, random_state=0)
    learner.fit(np.hstack([X, noise]), y)
    assert learner.relevances_[4] < 0.05
    assert learner.score(np.hstack([X, noise]), y) > 0.94
    plain = GeneralisedVectorQuantisation(random_state=0).fit(np.hstack([X, noise]), y)
    assert plain.score(np.hstack([X, noise]), y) < learner.score(np.hstack([X, noise]), y)


def test_scores_tell_the_predicted_class(iris):
    X, y = iris
    learner = GeneralisedVectorQuantisation(2, random_state=0).fit(X, y)
    scores = learner.decision_function(X)
    assert np.abs(scores).max() <= 1.0
    np.testing.assert_array_equal(learner.classes_[scores.argmax(axis=1)], learner.predict(X))
    two = y != y[0]
    pair = GeneralisedVectorQuantisation(random_state=0).fit(X[two], y[two])
    np.testing.assert_array_equal(
        pair.classes_[(pair.decision_function(X[two]) > 0).astype(int)], pair.predict(X[two])
    )


def test_digits_are_told_apart():
    X, y = load_digits(return_X_y=True)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    learner = GeneralisedVectorQuantisation(5, max_iter=30, random_state=0)
    assert cross_val_score(learner, X, y, cv=folds).mean() >= 0.963


def test_a_row_on_a_prototype_of_both_classes_gives_finite_numbers():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0], [2.0, 3.0]])
    learner = GeneralisedVectorQuantisation(random_state=0).fit(X, [0, 1, 0, 1])
    assert np.isfinite(learner.prototypes_).all()


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, [1, 1], "y needs at least two classes, and there is only one class: 1"),
        ({"relevances": "rows"}, [0, 1], "relevances"),
        ({"gain": 0.0}, [0, 1], "gain"),
    ],
)
def test_wrong_arguments_are_named(options, y, message):
    with pytest.raises(ValueError, match=message):
        GeneralisedVectorQuantisation(**options).fit([[0.0], [1.0]], y)
