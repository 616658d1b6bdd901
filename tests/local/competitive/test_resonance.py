"""Adaptive resonance: vigilance from zero to infinity, three similarities, and the order."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.local import AdaptiveResonance


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(60, 2))


def by_hand(X, vigilance, rate):
    units = [X[0].copy()]
    for row in X[1:]:
        distances = [np.linalg.norm(row - unit) for unit in units]
        i = int(np.argmin(distances))
        if distances[i] > vigilance:
            units.append(row.copy())
        else:
            units[i] += rate * (row - units[i])
    return np.array(units)


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_the_distance_form_is_12_9(rows, rate):
    learner = AdaptiveResonance(0.7, learning_rate=rate, shuffle=False).fit(rows)
    np.testing.assert_allclose(learner.cluster_centers_, by_hand(rows, 0.7, rate), rtol=1e-12)
    assert learner.n_clusters_ == len(learner.wins_) > 3
    assert learner.wins_.sum() == len(rows)


def test_without_learning_it_is_the_leader_algorithm(rows):
    """Leaders are rows, farther than the vigilance from one another, and cover all rows."""
    learner = AdaptiveResonance(0.8, learning_rate=0.0, shuffle=False).fit(rows)
    leaders = learner.cluster_centers_
    gaps = np.linalg.norm(leaders[:, None] - leaders[None], axis=2) + 9.0 * np.eye(len(leaders))
    assert gaps.min() > 0.8
    assert all((leaders[i] == rows).all(axis=1).any() for i in range(len(leaders)))
    errors = np.linalg.norm(rows - leaders[learner.labels_], axis=1)
    assert errors.max() <= 0.8
    # The reconstruction error has the factor 1/2, and so is at most half of the square.
    assert (0.5 * errors**2).max() <= 0.8**2 / 2


def test_infinite_vigilance_makes_one_unit_and_zero_one_for_each_different_row(rows):
    assert AdaptiveResonance(np.inf).fit(rows).n_clusters_ == 1
    doubled = np.vstack([rows, rows])
    assert AdaptiveResonance(0.0, shuffle=False).fit(doubled).n_clusters_ == len(rows)
    # One more than there is room for at first.
    many = np.arange(200.0)[:, None]
    assert AdaptiveResonance(0.0).fit(many).n_clusters_ == 200


def test_the_figure_of_vigilance():
    """Figure 12.4: a row inside the circle moves its unit, one outside makes a new unit."""
    learner = AdaptiveResonance(1.0, learning_rate=0.5, shuffle=False)
    learner.partial_fit([[0.0, 0.0]]).partial_fit([[0.6, 0.0]])
    np.testing.assert_allclose(learner.cluster_centers_, [[0.3, 0.0]])
    learner.partial_fit([[3.0, 0.0]])
    np.testing.assert_allclose(learner.cluster_centers_, [[0.3, 0.0], [3.0, 0.0]])
    assert learner.n_iter_ == 3


def test_units_depend_on_the_order(rows):
    first = AdaptiveResonance(1.0, shuffle=False).fit(rows)
    second = AdaptiveResonance(1.0, shuffle=False).fit(rows[::-1])
    assert not np.array_equal(
        np.sort(first.cluster_centers_, axis=0), np.sort(second.cluster_centers_, axis=0)
    )


def test_products_compare_directions(rows):
    angles = np.array([0.0, 0.1, 2.0, 2.1, 4.0])
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * [[1.0], [5.0], [2.0], [1.0], [3.0]]
    learner = AdaptiveResonance(0.9, similarity="product", shuffle=False).fit(X)
    assert learner.labels_.tolist() == [0, 0, 1, 1, 2]
    np.testing.assert_allclose(np.linalg.norm(learner.cluster_centers_, axis=1), 1.0)
    scaled = AdaptiveResonance(0.9, similarity="product", shuffle=False).fit(100.0 * X)
    np.testing.assert_allclose(learner.cluster_centers_, scaled.cluster_centers_)
    assert AdaptiveResonance(-1.0, similarity="product").fit(rows).n_clusters_ == 1
    doubled = np.vstack([rows, 2.0 * rows])
    same = AdaptiveResonance(1.0, similarity="product", learning_rate=0.0, shuffle=False)
    assert same.fit(doubled).n_clusters_ == len(rows)


def test_overlap_of_binary_rows_is_the_first_adaptive_resonance():
    """ART1: with full learning a unit is the intersection of its rows."""
    X = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]], dtype=float)
    learner = AdaptiveResonance(0.6, learning_rate=1.0, similarity="overlap", shuffle=False)
    learner.fit(X)
    np.testing.assert_array_equal(learner.cluster_centers_, [[1, 1, 0, 0, 0], [0, 0, 0, 1, 1]])
    assert learner.labels_.tolist() == [0, 0, 1, 1]
    strict = AdaptiveResonance(1.0, learning_rate=1.0, similarity="overlap", shuffle=False)
    assert strict.fit(X).n_clusters_ == 3


def test_transform_is_one_for_the_unit_of_a_row(rows):
    learner = AdaptiveResonance(1.0, random_state=0).fit(rows)
    code = learner.transform(rows)
    np.testing.assert_array_equal(code.argmax(axis=1), learner.predict(rows))
    np.testing.assert_array_equal(code.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"vigilance": -0.5}, [[1.0]], "vigilance=-0.5 with similarity='distance'; .* 0 to inf"),
        ({"vigilance": 2.0, "similarity": "product"}, [[1.0]], "vigilance=2.0 .* -1 to 1"),
        ({"vigilance": 0.5, "similarity": "product"}, [[0.0]], r"row 0 .* no direction"),
        ({"vigilance": 0.5, "similarity": "overlap"}, [[2.0]], r"takes inputs from 0 to 1"),
        ({"vigilance": np.nan}, [[1.0]], "vigilance"),
        ({"vigilance": 1.0}, [[np.nan]], "NaN"),
    ],
)
def test_wrong_arguments_are_named(options, X, message):
    with pytest.raises((DataError, ValueError), match=message):
        AdaptiveResonance(**options).fit(X)
