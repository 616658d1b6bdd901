"""Omnivariate nodes: complex only where a test says so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.statistics import five_by_two_f_test
from verulam.tree import MultivariateTreeClassifier
from verulam.tree._nodes.omnivariate import choose_kind, fit_chosen, half_error, is_better

KINDS = ("univariate", "lda", "quadratic")


@pytest.fixture
def inputs():
    return np.random.default_rng(3).normal(size=(300, 2))


def test_the_simplest_kind_that_is_good_enough_is_chosen(make, inputs):
    straight, slanted = inputs[:, 0] > 0.2, inputs[:, 0] + inputs[:, 1] > 0.2
    ring = (inputs**2).sum(axis=1) > 1.5
    found = [choose_kind(make(inputs, y), KINDS, 0.05).kind for y in (straight, slanted, ring)]
    assert found == list(KINDS)


def test_the_kind_is_trained_on_all_rows_of_the_node(make, inputs):
    problem = make(inputs, inputs[:, 0] + inputs[:, 1] > 0.2)
    fitted = fit_chosen(problem, KINDS, 0.05)
    assert fitted.kind == "lda"
    assert np.count_nonzero(fitted.test.branches(inputs) != problem.codes) < 6


def test_small_nodes_are_given_the_simplest_kind(make, inputs):
    choice = choose_kind(make(inputs[:19], inputs[:19].sum(axis=1) > 0), KINDS, 0.05)
    assert choice.kind == "univariate"
    assert choice.errors.size == 0


def test_the_comparison_is_the_combined_f_test():
    first = np.array([[3, 4], [2, 4], [3, 3], [4, 5], [3, 5]]) / 100
    second = np.array([[1, 3], [1, 1], [2, 1], [2, 2], [1, 3]]) / 100
    assert_allclose(five_by_two_f_test(first, second).p_value, 0.0324, atol=1e-4)
    assert is_better(second, first, 0.05)
    assert not is_better(second, first, 0.03)
    assert not is_better(first, second, 0.05)


def test_differences_without_variance():
    errors = np.full((5, 2), 0.1)
    assert is_better(errors, errors + 0.2, 0.05)
    assert not is_better(errors, errors, 0.05)
    assert not is_better(errors + 0.2, errors, 0.05)


def test_errors_are_counted_on_the_other_rows(make):
    values = np.arange(20.0)[:, None]
    codes = (values[:, 0] >= 10).astype(int)
    codes[[1, 3]] = 1
    even, odd = np.arange(0, 20, 2), np.arange(1, 20, 2)
    assert half_error(make(values, codes), "univariate", even, odd) == 0.2
    pure = np.arange(4, 10)
    assert half_error(make(values, codes), "univariate", pure, odd) == 0.7


def test_linear_data_need_few_complex_nodes_and_none_low_down():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 2))
    y = X @ [1.0, 1.0] + 0.2 * random.normal(size=600) > 0
    tree = MultivariateTreeClassifier("omnivariate", random_state=0).fit(X, y)
    table = tree.node_kinds()
    assert table.loc[0, "lda"] == 1
    assert table.loc[1:, "univariate"].sum() > 0.7 * table.loc[1:].to_numpy().sum()
