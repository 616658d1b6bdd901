"""Splits, rules and windows as lines: where they are, and how far they reach."""

import numpy as np
import pytest

from verulam.kernel import SupportVectorClassifier
from verulam.lab import Generated, LearnerSetting, Line, PlaneState, picture
from verulam.lab._lines import (
    MOST_WINDOWS,
    leaf_lines,
    margin_lines,
    marks_of,
    net_lines,
    rule_lines,
    split_lines,
    window_lines,
)
from verulam.nonparametric import KernelDensity, KernelSmoother, ParzenClassifier
from verulam.rule import BoxClassifier, Ripper
from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultivariateTreeClassifier,
)

EXTENT = (-4.0, 4.0, -3.0, 3.0)


@pytest.fixture
def cross():
    """Points of four squares, of which two that face each other have a class."""
    random = np.random.default_rng(3)
    X = random.uniform(-2.0, 2.0, (120, 2))
    return X, np.where((X[:, 0] > 0.3) & (X[:, 1] > -0.5), "A", "B")


def ends(line):
    return line.horizontal.tolist(), line.vertical.tolist()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_split_reaches_as_far_as_the_part_that_it_divides(cross, sign):
    X, y = cross
    tree = DecisionTreeClassifier().fit(X * [sign, 1.0], y)
    first, second = split_lines(tree, EXTENT)
    root, child = tree.tree_.column[0], 1 - tree.tree_.column[0]
    assert (root, first.role) == (0, "split")
    cut = float(tree.tree_.threshold[0])
    assert ends(first) == ([cut, cut], [-3.0, 3.0])
    other = float(tree.tree_.threshold[tree.tree_.column == child][0])
    assert ends(second) == ([cut, 4.0] if sign > 0 else [-4.0, cut], [other, other])


def test_splits_of_a_curve_are_upright(cross):
    X, _ = cross
    tree = DecisionTreeRegressor(max_depth=2).fit(X[:, :1], X[:, 0] ** 2)
    lines = split_lines(tree, EXTENT)
    cuts = sorted(tree.tree_.threshold[np.isfinite(tree.tree_.threshold)])
    assert sorted(line.horizontal[0] for line in lines) == cuts
    assert all(line.vertical.tolist() == [-3.0, 3.0] for line in lines)
    assert split_lines(object(), EXTENT) == []


def test_leaves_of_slanting_tests_are_parted(cross):
    X, _ = cross
    y = X[:, 0] + X[:, 1] > 0.2
    tree = MultivariateTreeClassifier().fit(X, y)
    axes = np.linspace(-2.0, 2.0, 60)
    mesh = np.meshgrid(axes, axes)
    rows = np.column_stack([mesh[0].ravel(), mesh[1].ravel()])
    lines = leaf_lines(tree, axes, axes, rows)
    assert lines
    places = np.concatenate([np.column_stack([one.horizontal, one.vertical]) for one in lines])
    # To each border belong two leaves: those of the grid points on either side.
    steps = 0.05 * np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    around = [tree.apply(places + step) for step in steps]
    assert all(len(set(leaves)) > 1 for leaves in zip(*around, strict=True))
    assert leaf_lines(DecisionTreeClassifier().fit(X, y), axes, axes, rows) == []


def test_a_rule_is_the_box_of_the_rows_that_it_covers(cross):
    X, y = cross
    learner = Ripper(random_state=0).fit(X, y)
    boxes = rule_lines(learner, EXTENT)
    assert len(boxes) == len(learner.rules_.rules) > 0
    for rule, box in zip(learner.rules_.rules, boxes, strict=True):
        low = np.array([box.horizontal.min(), box.vertical.min()])
        high = np.array([box.horizontal.max(), box.vertical.max()])
        inside = ((low <= X) & (high >= X)).all(axis=1)
        np.testing.assert_array_equal(inside, rule.covers(X, learner.rules_.schema))
    (box,) = rule_lines(BoxClassifier(positive="A").fit(X, y), EXTENT)
    assert isinstance(box, Line)
    assert len(set(map(tuple, np.column_stack(ends(box))))) == 4


@pytest.mark.parametrize("learner", [KernelDensity(bandwidth=0.4), ParzenClassifier()])
def test_windows_are_one_bandwidth_wide(cross, learner):
    X, y = cross
    learner.fit(X) if isinstance(learner, KernelDensity) else learner.fit(X, y)
    lines, words = window_lines(learner, X, EXTENT)
    assert len(lines) == MOST_WINDOWS < len(X)
    assert words == f"windows of bandwidth {learner.bandwidth_:.3g}"
    for line in lines:
        edge = np.column_stack([line.horizontal, line.vertical])
        away = (edge[None] - X[:, None]) @ learner.whitening_
        assert np.abs(np.hypot(*away.T) - 1.0).max(axis=0).min() < 1e-9


def test_the_window_of_a_smoother_is_drawn_once(cross):
    X, _ = cross
    smoother = KernelSmoother(bandwidth=0.7).fit(X[:, :1], X[:, 1])
    (line,), words = window_lines(smoother, X[:, :1], EXTENT)
    assert words == "window of bandwidth 0.7"
    assert (line.horizontal.min(), line.horizontal.max()) == (-0.7, 0.7)
    assert window_lines(smoother, X, EXTENT) == ([], "")


def test_what_a_learner_does_not_keep_is_not_drawn(cross):
    X, y = cross
    machine = SupportVectorClassifier().fit(X, y)
    axes = np.linspace(-2.0, 2.0, 20)
    rows = np.column_stack([axes, axes])
    assert margin_lines(DecisionTreeClassifier().fit(X, y), axes, axes, rows) == []
    assert rule_lines(machine, EXTENT) == split_lines(machine, EXTENT) == []
    assert net_lines(machine) == ()
    assert marks_of(machine, 2)[1] == "support vectors"
    assert marks_of(machine, 1)[1] == ""


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("tree.DecisionTreeClassifier", "split"),
        ("tree.MultivariateTreeClassifier", "split"),
        ("rule.Ripper", "rule"),
        ("nonparametric.ParzenClassifier", "window"),
    ],
)
def test_the_plane_draws_them(name, role):
    state = PlaneState(data=Generated("XOR", 60, 0.3, 1), learners=(LearnerSetting(name),))
    assert any(line.role == role for line in picture(state, 0).lines)
