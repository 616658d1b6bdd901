"""Steps and impurities of a node's rows against plain search."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.tree import entropy, gini, misclassification, split_impurity
from verulam.tree._nodes.oblique_loops import best_cut, best_interval, side_impurity
from verulam.tree._nodes.problem import (
    CRITERIA,
    NodeOptions,
    NodeProblem,
    find_step,
    find_threshold,
    first_least,
    impurity_of,
    split_impurity_of,
)

FUNCTIONS = {"gini": gini, "entropy": entropy, "misclassification": misclassification}


def make_problem(seed=0, n_rows=40, n_inputs=2, n_classes=3, criterion="entropy", min_rows=1):
    random = np.random.default_rng(seed)
    options = NodeOptions(CRITERIA[criterion], min_rows, "exchange", n_inputs, 3, 2, 5)
    return NodeProblem(
        random.normal(size=(n_rows, n_inputs)),
        random.integers(n_classes, size=n_rows),
        random.uniform(0.5, 2.0, size=n_rows),
        n_classes,
        options,
        random,
    )


def table_of(problem, above):
    return [
        np.bincount(problem.codes[side], problem.weights[side], minlength=problem.n_classes)
        for side in (~above, above)
    ]


@pytest.mark.parametrize("criterion", FUNCTIONS)
@pytest.mark.parametrize("min_rows", [1, 12])
def test_the_best_step_is_the_best_of_all(criterion, min_rows):
    for seed in range(5):
        problem = make_problem(seed, criterion=criterion, min_rows=min_rows)
        scores, direction = problem.inputs[:, 0], problem.inputs[:, 1]
        keys = np.sort(-scores / direction)
        steps = 0.5 * (keys[1:] + keys[:-1])
        best = np.inf
        for step in steps:
            above = scores + step * direction > 0
            if min(above.sum(), (~above).sum()) >= min_rows:
                impurity = split_impurity(table_of(problem, above), FUNCTIONS[criterion])
                best = min(best, impurity)
        step = find_step(problem, scores, direction)
        assert_allclose(step.impurity, best, atol=1e-9)
        above = scores + step.length * direction > 0
        assert_allclose(split_impurity(table_of(problem, above), FUNCTIONS[criterion]), best)


def test_rows_that_no_step_can_move_stay_on_their_side():
    problem = make_problem(n_classes=2)
    scores = problem.inputs[:, 0]
    direction = np.where(np.arange(40) < 20, 0.0, 1.0)
    step = find_step(problem, scores, direction)
    above = np.where(np.arange(40) < 20, scores > 0, scores + step.length > 0)
    assert_allclose(step.impurity, split_impurity(table_of(problem, above)))


def test_equal_scores_have_no_threshold():
    problem = make_problem()
    step = find_threshold(problem, np.ones(40))
    assert np.isinf(step.impurity)
    assert np.isnan(step.length)


@pytest.mark.parametrize("criterion", FUNCTIONS)
def test_impurities_agree_with_the_functions_of_probabilities(criterion):
    problem = make_problem(criterion=criterion)
    shares = problem.class_weights / problem.class_weights.sum()
    assert_allclose(problem.impurity, FUNCTIONS[criterion](shares))
    assert_allclose(impurity_of(problem.class_weights, CRITERIA[criterion]), problem.impurity)
    above = problem.inputs[:, 0] > 0
    assert_allclose(
        split_impurity_of(problem, above.astype(int), 2),
        split_impurity(table_of(problem, above), FUNCTIONS[criterion]),
    )


def test_rounding_does_not_decide_between_equal_impurities():
    assert first_least([0.3, 0.2 + 1e-15, 0.2, 0.4]) == 1
    assert first_least([0.3, 0.21, 0.2]) == 2


def test_class_means_are_weighted_and_of_the_classes_that_are_there():
    problem = make_problem(n_classes=3)
    problem.codes[problem.codes == 1] = 2
    means = problem.class_means()
    assert means.shape == (2, 2)
    of_class = problem.codes == 2
    expected = np.average(problem.inputs[of_class], axis=0, weights=problem.weights[of_class])
    assert_allclose(means[1], expected)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("criterion", [0, 1, 2])
def test_compiled_loops_equal_their_python_source(criterion):
    random = np.random.default_rng(1)
    keys, codes = np.sort(random.normal(size=20)), random.integers(2, size=20)
    weights, rising = random.uniform(size=20), random.integers(2, size=20).astype(bool)
    sides = np.array(
        [np.bincount(codes[part], weights[part], minlength=2) for part in (rising, ~rising)]
    )
    counts = np.array([rising.sum(), (~rising).sum()])
    for first, second in (
        (
            best_cut(keys, rising, codes, weights, sides.copy(), counts.copy(), criterion, 1),
            best_cut.py_func(
                keys, rising, codes, weights, sides.copy(), counts.copy(), criterion, 1
            ),
        ),
        (
            best_interval(keys, codes, weights, 2, criterion, 1),
            best_interval.py_func(keys, codes, weights, 2, criterion, 1),
        ),
        (side_impurity(weights, criterion), side_impurity.py_func(weights, criterion)),
    ):
        assert_allclose(first, second)
