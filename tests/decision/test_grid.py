"""Decision grids: the classifier's own answers, other inputs held, rejection marked."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from verulam.base import DataError
from verulam.decision import DecisionGrid, MinimumRisk, decision_regions


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_grid_holds_the_answers_of_the_classifier(iris):
    X, y = iris
    classifier = GaussianNB().fit(X[:, :2], y)
    grid = decision_regions(classifier, X[:, :2], resolution=7, margin=0.1)
    for i, j in [(0, 0), (2, 5), (6, 6)]:
        point = [[grid.horizontal[j], grid.vertical[i]]]
        assert grid.labels[grid.codes[i, j]] == classifier.predict(point)[0]
        assert_allclose(grid.confidence[i, j], classifier.predict_proba(point).max())
    low, high = X[:, 0].min(), X[:, 0].max()
    assert_allclose(grid.horizontal[[0, -1]], [low - 0.1 * (high - low), high + 0.1 * (high - low)])
    assert not grid.reject.any()


def test_other_inputs_are_held_at_their_mean(iris):
    X, y = iris
    classifier = GaussianNB().fit(X, y)
    grid = decision_regions(classifier, X, features=(2, 0), resolution=4)
    point = X.mean(axis=0)
    point[2], point[0] = grid.horizontal[3], grid.vertical[1]
    assert grid.labels[grid.codes[1, 3]] == classifier.predict([point])[0]
    assert grid.names == ("x3", "x1")
    assert grid.columns == (2, 0)
    assert_allclose(list(grid.held.values()), X.mean(axis=0)[[1, 3]])


def test_categories_are_held_at_the_most_frequent():
    table = pd.DataFrame(
        {
            "a": [0.0, 1, 2, 3],
            "colour": pd.Categorical(["red", "blue", "red", "red"]),
            "b": [1, 2, 4, 3],
        }
    )
    encode = make_column_transformer(
        (OneHotEncoder(), ["colour"]), remainder="passthrough", sparse_threshold=0
    )
    classifier = make_pipeline(encode, NearestCentroid()).fit(table, [0, 0, 1, 1])
    grid = decision_regions(classifier, table, features=("b", "a"), resolution=5)
    assert grid.held == {"colour": "red"}
    assert grid.names == ("b", "a")
    assert_array_equal(grid.codes[[0, -1], [0, -1]], [0, 1])
    with pytest.raises(ValueError, match="input 'colour' is not numeric"):
        decision_regions(classifier, table, features=("a", "colour"))


def test_rejections_are_marked(iris):
    X, y = iris
    learner = MinimumRisk(GaussianNB(), reject_cost=0.2).fit(X[:, :2], y)
    grid = decision_regions(learner, X[:, :2], resolution=40)
    assert grid.labels == [0, 1, 2, "reject"]
    assert_array_equal(grid.reject, grid.confidence <= 0.8)
    assert grid.reject.any()


def test_no_confidence_without_probabilities(iris):
    X, y = iris
    classifier = NearestCentroid().fit(X[:, :2], y)
    del_proba = type("Bare", (), {"classes_": classifier.classes_, "predict": classifier.predict})()
    assert decision_regions(del_proba, X[:, :2], resolution=3).confidence is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": (0, 9)}, "9 is not one of"),
        ({"features": (0, 0)}, "two different inputs"),
        ({"features": (0,)}, "two different inputs"),
        ({"resolution": 1}, "resolution must be a whole number"),
    ],
)
def test_bad_requests_are_refused(iris, options, message):
    X, y = iris
    with pytest.raises(ValueError, match=message):
        decision_regions(GaussianNB().fit(X, y), X, **options)


def test_labels_beyond_the_classes_are_rejections():
    grid = DecisionGrid(
        horizontal=np.arange(2.0),
        vertical=np.arange(1.0),
        codes=np.array([[1, 2]]),
        labels=["a", "b", "reject"],
        n_classes=2,
        confidence=None,
        columns=(0, 1),
        names=("x1", "x2"),
        held={},
    )
    assert grid.reject.tolist() == [[False, True]]


def test_an_extent_sets_the_ends_of_the_axes(iris):
    X, y = iris
    classifier = GaussianNB().fit(X[:, :2], y)
    grid = decision_regions(classifier, X[:, :2], resolution=5, extent=(0, 10, -1, 3))
    assert_allclose(grid.horizontal, [0, 2.5, 5, 7.5, 10])
    assert_allclose(grid.vertical, [-1, 0, 1, 2, 3])
    assert grid.labels[grid.codes[4, 2]] == classifier.predict([[5, 3]])[0]


@pytest.mark.parametrize(
    ("extent", "message"),
    [
        ((0, 1, 2), "four numbers"),
        ("abcd", "four numbers"),
        (5, "four numbers"),
        ((1, 0, 0, 1), "left < right"),
        ((0, float("inf"), 0, 1), "finite"),
    ],
)
def test_bad_extents_are_refused(iris, extent, message):
    X, y = iris
    classifier = GaussianNB().fit(X[:, :2], y)
    with pytest.raises(DataError, match=message):
        decision_regions(classifier, X[:, :2], extent=extent)


def test_certainty_goes_from_chance_to_one(iris):
    X, y = iris
    grid = decision_regions(GaussianNB().fit(X[:, :2], y), X[:, :2], resolution=9)
    assert_allclose(grid.certainty, (grid.confidence - 1 / 3) / (2 / 3), atol=1e-12)
    plain = decision_regions(NearestCentroid().fit(X[:, :2], y), X[:, :2], resolution=3)
    if plain.confidence is None:
        assert (plain.certainty == 1).all()
    lonely = DecisionGrid(*[np.zeros(1)] * 2, np.zeros((1, 1), int), ["a"], 1, np.ones((1, 1)),
                          (0, 1), ("a", "b"), {})  # fmt: skip
    assert lonely.certainty.tolist() == [[1.0]]
