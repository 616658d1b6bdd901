"""Linear nodes: thresholds as in univariate trees, zero error where that is possible."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from verulam.tree import DecisionTreeClassifier
from verulam.tree._nodes.linear import (
    fewest_errors,
    fit_cart,
    fit_lda,
    fit_logistic,
    fit_oc1,
    fit_ternary,
    fit_univariate,
    logistic_weights,
    useful_inputs,
)
from verulam.tree._nodes.problem import split_impurity_of


@pytest.mark.parametrize("seed", range(6))
def test_one_weight_is_the_split_of_a_univariate_tree(make, seed):
    random = np.random.default_rng(seed)
    inputs, codes = random.normal(size=(50, 4)), random.integers(3, size=50)
    test = fit_univariate(make(inputs, codes, criterion="gini"))
    root = DecisionTreeClassifier(criterion="gini", max_depth=1).fit(inputs, codes).tree_
    assert np.flatnonzero(test.weights) == [root.column[0]]
    assert_allclose(-test.intercept / test.weights[root.column[0]], root.threshold[0])


def test_all_linear_kinds_separate_what_is_separable(make):
    random = np.random.default_rng(0)
    inputs = random.uniform(-1, 1, size=(120, 2))
    gap = inputs @ [1.0, -0.7]
    inputs, codes = inputs[np.abs(gap) > 0.05], (gap > 0)[np.abs(gap) > 0.05]
    problem = make(inputs, codes)
    for fit in (fit_logistic, fit_cart, fit_oc1):
        test = fit(problem)
        assert split_impurity_of(problem, test.branches(inputs), 2) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_fewest_errors_are_none_for_any_separable_groups(make, seed):
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(60, 5))
    scores = inputs @ random.normal(size=5)
    codes = scores > np.median(scores)
    test = fit_logistic(make(inputs, codes))
    assert (test.branches(inputs) == codes).all()


def errors_of_the_best_line(inputs, codes):
    """Return the fewest errors of any line: it can be turned until it touches two of the rows."""
    fewest = len(codes)
    for first, second in combinations(range(len(codes)), 2):
        along_line = inputs[second] - inputs[first]
        scores = (inputs - inputs[first]) @ [-along_line[1], along_line[0]]
        scores[[first, second]] = 0.0
        votes = np.sign(scores) * np.where(codes == 1, 1, -1)
        fewest = min(fewest, (votes < 0).sum(), (votes > 0).sum())
    return fewest


def overlapping_rows(seed, n_outliers):
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(100, 2))
    inputs[50:] += [1.1, 0.6]
    inputs[:n_outliers] += 6.0
    return inputs, np.repeat([0, 1], 50)


@pytest.mark.parametrize("n_outliers", [0, 5])
@pytest.mark.parametrize("seed", range(5))
def test_fewest_errors_where_the_groups_overlap(make, seed, n_outliers):
    """Rows far out draw the logistic line; the fewest errors are all but those of any line."""
    inputs, codes = overlapping_rows(seed, n_outliers)
    wrong = (fit_logistic(make(inputs, codes, n_jumps=20)).branches(inputs) != codes).sum()
    assert min(wrong, 100 - wrong) <= errors_of_the_best_line(inputs, codes) + 1


def test_fewest_errors_by_weight(make):
    """A row of twenty times the weight is worth more than ten others."""
    inputs, codes = overlapping_rows(0, 0)
    problem = make(inputs, codes, n_jumps=20)
    strange = int(np.argmax(np.where(codes == 0, inputs.sum(axis=1), -np.inf)))
    wrong = []
    for weight in (1.0, 20.0):
        weights = np.where(np.arange(100) == strange, weight, 1.0)
        branches = fit_logistic(replace(problem, weights=weights)).branches(inputs)
        table = np.bincount(2 * branches + codes, weights, minlength=4).reshape(2, 2)
        wrong.append(table.min(axis=1).sum())
    assert wrong[1] < wrong[0] + 19.0 - 5.0


def test_the_purest_of_the_thresholds_of_fewest_errors(make):
    """Every cut leaves two errors; the criterion tells which of them the node takes."""
    values = np.arange(12.0)[:, None]
    codes = np.array([0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
    problem = make(values, codes)
    plane = fewest_errors(problem, np.ones(1))
    assert plane.intercept == fit_univariate(problem).intercept == -3.5


def test_errors_of_groups_are_fewer_than_fishers_with_an_outlier(make):
    """Fisher's direction follows far rows of the right side; the fewest errors do not."""
    random = np.random.default_rng(2)
    first = random.normal(size=(40, 2)) * [1.0, 0.1]
    second = random.normal(size=(40, 2)) * [1.0, 0.1] + [0.0, 1.0]
    inputs = np.vstack([first, second, [[-60.0, 30.0]] * 5])
    codes = np.repeat([0, 1, 1], [40, 40, 5])
    problem = make(inputs, codes)
    wrong = [
        split_impurity_of(problem.of_groups(codes), fit(problem).branches(inputs), 2)
        for fit in (fit_lda, fit_logistic)
    ]
    assert wrong[1] == 0.0 < wrong[0]


def test_logistic_weights_agree_with_scikit_learn():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = (X @ [1.0, -1.0, 0.5] + random.logistic(size=200) > 0).astype(int)
    theirs = LogisticRegression(C=np.inf, tol=1e-8).fit(X, y).coef_[0]
    assert_allclose(logistic_weights(X, y, np.ones(200)), theirs, rtol=1e-4)


def test_three_branches_isolate_an_interval(make):
    values = np.linspace(0, 1, 30)[:, None]
    codes = ((values[:, 0] > 0.3) & (values[:, 0] < 0.6)).astype(int)
    problem = make(np.hstack([np.random.default_rng(0).normal(size=(30, 1)), values]), codes)
    test = fit_ternary(problem)
    assert test.column == 1
    assert split_impurity_of(problem, test.branches(problem.inputs), 3) == 0.0
    assert_allclose([test.low, test.high], [8.5 / 29, 17.5 / 29])


def test_nothing_to_split_on(make):
    problem = make(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    for fit in (fit_univariate, fit_ternary, fit_lda, fit_logistic, fit_cart, fit_oc1):
        assert fit(problem) is None


def test_useful_inputs_are_those_that_split_best(make):
    random = np.random.default_rng(0)
    inputs = random.normal(size=(100, 6))
    codes = (inputs[:, 1] + inputs[:, 4] > 0).astype(int)
    assert useful_inputs(make(inputs, codes), 2).tolist() == [1, 4]


def test_branches_have_the_fewest_rows_asked_for(make):
    random = np.random.default_rng(0)
    inputs = random.normal(size=(60, 2))
    problem = make(inputs, inputs[:, 0] > 1.5)
    strict = replace(problem, options=replace(problem.options, min_rows=20))
    for fit in (fit_univariate, fit_lda, fit_cart, fit_oc1, fit_ternary):
        test = fit(strict)
        assert np.bincount(test.branches(inputs), minlength=test.n_branches).min() >= 20
