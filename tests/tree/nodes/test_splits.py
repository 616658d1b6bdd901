"""Tests of nodes: their formulas, other units, other columns, and words."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.tree._nodes.splits import (
    ClasswiseTest,
    IntervalTest,
    LinearTest,
    NetworkTest,
    QuadraticTest,
    SphereTest,
)

RANDOM = np.random.default_rng(0)
W = RANDOM.normal(size=(2, 2))
TESTS = [
    LinearTest(np.array([1.0, -2.0]), 0.3),
    QuadraticTest(W + W.T, np.array([0.4, -0.2]), -0.5, np.array([0.1, 0.2])),
    SphereTest(np.array([0.2, -0.1]), np.array([[1.0, 0.0], [0.3, 0.8]]), 0.9),
    NetworkTest(W, np.array([0.1, -0.2]), np.array([1.0, -2.0]), 0.1),
    ClasswiseTest(RANDOM.normal(size=(3, 2)), np.array([0.1, 0.0, -0.1]), np.arange(3)),
    IntervalTest(1, -0.5, 0.4),
]
NAMES = ("a", "b")


@pytest.fixture
def rows():
    return np.random.default_rng(1).normal(size=(60, 2))


def test_scores_follow_the_formulas(rows):
    linear, quadratic, sphere, network, classwise, _ = TESTS
    assert_allclose(linear.scores(rows), rows[:, 0] - 2 * rows[:, 1] + 0.3)
    moved = rows - [0.1, 0.2]
    expected = [x @ quadratic.matrix @ x + quadratic.weights @ x - 0.5 for x in moved]
    assert_allclose(quadratic.scores(rows), expected)
    inside = np.linalg.norm((rows - sphere.centre) @ sphere.root.T, axis=1) <= 0.9
    assert_array_equal(sphere.branches(rows), inside)
    hidden = np.tanh(rows @ W + [0.1, -0.2])
    assert_allclose(network.scores(rows), hidden[:, 0] - 2 * hidden[:, 1] + 0.1)
    assert_array_equal(
        classwise.branches(rows), np.argmax(rows @ classwise.weights.T + [0.1, 0, -0.1], axis=1)
    )


def test_an_interval_has_three_branches_and_includes_its_upper_end():
    test = IntervalTest(0, 1.0, 2.0)
    values = np.array([[0.5], [1.0], [1.5], [2.0], [2.5]])
    assert_array_equal(test.branches(values), [0, 0, 1, 1, 2])


def test_a_row_on_the_sphere_is_inside():
    test = SphereTest(np.zeros(2), np.eye(2), 5.0)
    assert_array_equal(test.branches(np.array([[3.0, 4.0], [3.0, 4.001]])), [1, 0])


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_other_units_do_not_change_the_branches(test, rows):
    centre, scale = np.array([3.0, -1.0]), np.array([2.0, 0.5])
    assert_array_equal(
        test.unscaled(centre, scale).branches(rows * scale + centre), test.branches(rows)
    )


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_other_columns_are_not_looked_at(test, rows):
    wide = np.column_stack([RANDOM.normal(size=60), rows[:, 0], RANDOM.normal(size=60), rows[:, 1]])
    spread = test.on_columns(np.array([1, 3]), 4)
    assert_array_equal(spread.branches(wide), test.branches(rows))
    assert spread.n_parameters == test.n_parameters


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_shares_add_up_and_harden(test, rows):
    soft = test.shares(rows, 0.5)
    assert soft.shape == (60, test.n_branches)
    assert_allclose(soft.sum(axis=1), 1.0)
    assert_array_equal(np.argmax(test.shares(rows, 1e-3), axis=1), test.branches(rows))


@pytest.mark.parametrize("softness", [0.5, 2.0])
def test_soft_shares_are_sigmoids_of_the_scores_in_units_of_the_softness(softness):
    rows = np.random.default_rng(0).normal(size=(20, 2))
    for test in TESTS:
        scores = test.scores(rows) / softness
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(20), scores])
        expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        assert_allclose(test.shares(rows, softness), expected)


def test_parameters_are_counted():
    assert [test.n_parameters for test in TESTS] == [3, 6, 5, 9, 9, 3]
    assert LinearTest(np.array([0.0, 2.0]), 1.0).n_parameters == 2


def test_words():
    linear, quadratic, sphere, network, classwise, interval = TESTS
    assert linear.describe(NAMES, 1) == "1 a - 2 b + 0.3 > 0"
    assert LinearTest(np.array([0.0, -2.0]), 1.0).describe(NAMES, 1) == "b <= 0.5"
    assert LinearTest(np.array([0.0, 2.0]), 1.0).describe(NAMES, 0) == "b <= -0.5"
    assert sphere.describe(NAMES, 1) == "distance from (a = 0.2, b = -0.1) <= 0.9"
    assert network.describe(NAMES, 0) == "network of 2 units (a, b) <= 0"
    assert classwise.describe(NAMES, 0).endswith("+ 0.1 is the largest")
    assert [interval.describe(NAMES, branch) for branch in range(3)] == [
        "b <= -0.5",
        "-0.5 < b <= 0.4",
        "b > 0.4",
    ]
    centred = QuadraticTest(np.eye(2), np.zeros(2), -1.0, np.array([1.0, 0.0]))
    # (a - 1)^2 + b^2 - 1 = a^2 + b^2 - 2a
    assert centred.describe(NAMES, 0) == "1 a^2 + 1 b^2 - 2 a + 0 <= 0"
    assert quadratic.describe(NAMES, 1).endswith("> 0")


def test_long_sums_show_the_largest_terms():
    test = LinearTest(np.arange(1.0, 11.0), 0.0)
    text = test.describe([f"x{j}" for j in range(10)], 1)
    assert text.startswith("5 x4 + 6 x5")
    assert text.endswith("+ 4 more + 0 > 0")
