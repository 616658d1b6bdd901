"""Learning vector quantisation: each rule by hand, where it starts, and what it needs."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.local import LearningVectorQuantisation
from verulam.local._prototypes.quantisation_loops import quantisation_pass
from verulam.numerics import constant, inverse


@pytest.fixture(scope="module")
def iris():
    data = dataset("iris")
    return data.inputs.to_numpy(), data.target_values.to_numpy()


def by_hand(X, y, order, rates, rule, window, share, units, classes):
    units = units.copy()
    for t, rate in zip(order, rates, strict=True):
        distances = np.linalg.norm(X[t] - units, axis=1)
        a, b = np.argsort(distances, kind="stable")[:2]
        right = classes == y[t]
        if rule == 1:
            units[a] += (rate if right[a] else -rate) * (X[t] - units[a])
        elif right[a] != right[b]:
            ratio = min(distances[a] / distances[b], distances[b] / distances[a])
            if ratio > (1 - window) / (1 + window):
                for i in (a, b):
                    units[i] += (rate if right[i] else -rate) * (X[t] - units[i])
        elif rule == 3 and right[a]:
            for i in (a, b):
                units[i] += share * rate * (X[t] - units[i])
    return units


@pytest.mark.parametrize("rule", [1, 2, 3])
def test_a_pass_is_the_rule_by_hand(iris, rule):
    X, labels = iris
    y = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    rng = np.random.default_rng(0)
    places = rng.permutation(150)[:9]
    units, classes = X[places], y[places]
    order, rates = rng.permutation(150), np.linspace(0.1, 0.01, 150)
    columns = np.ascontiguousarray(units.T)
    moved = quantisation_pass(X, y, order, rates, rule, 0.75 / 1.25, 0.3, columns, classes)
    expected = by_hand(X, y, order, rates, rule, 0.25, 0.3, units, classes)
    np.testing.assert_allclose(columns.T, expected, rtol=1e-10)
    assert 0 < moved <= 150


def test_the_nearest_moves_towards_its_class_and_off_others():
    """Equation 12.44."""
    X, y = np.array([[1.0], [1.0]]), np.array([0, 1])
    units = np.array([[0.0, 5.0]])
    quantisation_pass(X, y, np.array([0]), np.array([0.5]), 1, 0.6, 0.2, units, y)
    np.testing.assert_array_equal(units, [[0.5, 5.0]])
    quantisation_pass(X, y, np.array([1]), np.array([0.5]), 1, 0.6, 0.2, units, y)
    np.testing.assert_array_equal(units, [[0.25, 5.0]])


def test_rows_outside_of_the_window_move_nothing():
    units = np.array([[0.0, 10.0]])
    y = np.array([0, 1])
    arguments = np.array([0]), np.array([0.5]), 2, (1 - 0.25) / (1 + 0.25), 0.2, units, y
    assert quantisation_pass(np.array([[1.0]]), y[:1], *arguments) == 0
    assert quantisation_pass(np.array([[4.5]]), y[:1], *arguments) == 1
    np.testing.assert_array_equal(units, [[2.25, 12.75]])


@pytest.mark.parametrize("rule", ["lvq2.1", "lvq3"])
def test_the_window_is_as_wide_as_it_is_said_to_be(rule):
    """From the means 0 and 10, the ratios of the distances are 0.5 / 9.5 and 0.5 / 10.5."""
    X, y = np.array([[-0.5], [0.5], [9.5], [10.5]]), np.array([0, 0, 1, 1])
    options = {"rule": rule, "agreeing_share": 0.0, "max_iter": 1, "random_state": 0}
    moved = {}
    for width in (0.89, 0.91):  # (1 - w) / (1 + w) is 0.058 and 0.047
        learner = LearningVectorQuantisation(1, window_width=width, **options).fit(X, y)
        moved[width] = not np.allclose(learner.prototypes_[:, 0], [0.0, 10.0])
    assert moved == {0.89: False, 0.91: True}


@pytest.mark.parametrize("rule", ["lvq1", "lvq2.1", "lvq3"])
def test_each_rule_classifies_iris_by_its_prototypes(iris, rule):
    X, y = iris
    learner = LearningVectorQuantisation(3, rule=rule, random_state=0).fit(X, y)
    assert learner.score(X, y) > 0.94
    assert learner.error_curve_[-1] == pytest.approx(1.0 - learner.score(X, y))
    assert len(learner.error_curve_) == learner.n_iter_ + 1 == 21
    theirs = KNeighborsClassifier(1).fit(learner.prototypes_, learner.prototype_classes_)
    np.testing.assert_array_equal(learner.predict(X), theirs.predict(X))
    assert np.unique(learner.prototype_classes_, return_counts=True)[1].tolist() == [3, 3, 3]


def test_one_prototype_starts_at_the_mean_of_its_class(iris):
    X, y = iris
    learner = LearningVectorQuantisation(learning_rate=constant(1e-15), max_iter=1).fit(X, y)
    means = np.array([X[y == label].mean(axis=0) for label in learner.classes_])
    np.testing.assert_allclose(learner.prototypes_, means, rtol=1e-9)


def test_schedules_and_numbers_are_rates(iris):
    X, y = iris
    ends = []
    for rate in (0.02, constant(0.02), inverse(0.2, 0.6)):
        learner = LearningVectorQuantisation(2, learning_rate=rate, init="random", random_state=0)
        ends.append(learner.fit(X, y).prototypes_)
    # A number falls to zero, a schedule goes its own way.
    for one, other in combinations(ends, 2):
        assert not np.allclose(one, other)


@pytest.mark.parametrize("n_prototypes", [1, 3])
@pytest.mark.parametrize("rule", ["lvq1", "lvq2.1", "lvq3"])
def test_passes_lower_the_error_from_a_random_start(rule, n_prototypes):
    wine = dataset("wine")
    X = StandardScaler().fit_transform(wine.inputs)
    learner = LearningVectorQuantisation(n_prototypes, rule=rule, init="random", random_state=0)
    learner.fit(X, wine.target_values)
    assert learner.error_curve_[-1] < 0.5 * learner.error_curve_[0]


def test_a_class_with_few_different_rows_has_a_prototype_for_each():
    X = np.vstack([np.random.default_rng(0).normal(size=(20, 2)), [[9.0, 9.0]] * 5])
    y = np.array(["many"] * 20 + ["same"] * 5)
    with pytest.warns(DataWarning, match=r"n_prototypes=4 is more .*: same \(1\)"):
        learner = LearningVectorQuantisation(4, random_state=0).fit(X, y)
    assert learner.prototype_classes_.tolist() == ["many"] * 4 + ["same"]


def test_a_constant_column_changes_nothing(iris):
    X, y = iris
    wider = np.column_stack([X, np.full(150, 3.0)])
    plain = LearningVectorQuantisation(2, random_state=0, init="random").fit(X, y)
    more = LearningVectorQuantisation(2, random_state=0, init="random").fit(wider, y)
    np.testing.assert_array_equal(plain.predict(X), more.predict(wider))


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({}, [1, 1, 1, 1], "y needs at least two classes, and there is only one class: 1"),
        ({"rule": "lvq4"}, [0, 0, 1, 1], "rule"),
        ({"window_width": 0.0}, [0, 0, 1, 1], "window_width"),
        ({"learning_rate": constant(1e200)}, [0, 0, 1, 1], "learning_rate=.* to infinity"),
    ],
)
def test_wrong_arguments_are_named(options, y, message):
    X = [[0.0], [1.0], [5.0], [6.0]]
    with pytest.raises((DataError, ValueError), match=message):
        LearningVectorQuantisation(**options).fit(X, y)


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        LearningVectorQuantisation().fit([[np.nan], [1.0]], [0, 1])
