"""Kinds of nodes by name, and omnivariate nodes: complex only where a test says so."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import UnknownNameError
from verulam.statistics import five_by_two_f_test
from verulam.tree import MultivariateTreeClassifier
from verulam.tree._nodes.kinds import (
    FITS,
    KIND_NAMES,
    KIND_NUMBERS,
    check_kind,
    fit_node,
    fit_omnivariate,
    half_error,
    is_better,
    select_kind,
)
from verulam.tree._structure.tree import OTHER

KINDS = ("univariate", "lda", "quadratic")


@pytest.fixture
def classes(make):
    random = np.random.default_rng(0)
    inputs = random.normal(size=(80, 4))
    return make(inputs, np.digitize(inputs[:, 0] + inputs[:, 2], [-0.7, 0.7]))


@pytest.mark.parametrize("kind", FITS)
def test_every_kind_reduces_the_impurity_of_three_classes(kind, classes):
    fitted = fit_node(kind, classes)
    assert fitted.kind == kind
    assert fitted.impurity < classes.impurity - 0.2


@pytest.mark.parametrize("kind", [name for name in FITS if name not in ("univariate", "ternary")])
def test_few_inputs_are_the_useful_ones(kind, classes):
    narrow = replace(classes, options=replace(classes.options, max_inputs=2))
    test = fit_node(kind, narrow).test
    changed = classes.inputs.copy()
    changed[:, [1, 3]] = 99.0
    assert (test.branches(changed) == test.branches(classes.inputs)).all()


def test_numbers_and_names_belong_together():
    assert min(KIND_NUMBERS.values()) >= OTHER
    assert [KIND_NAMES[KIND_NUMBERS[name]] for name in FITS] == list(FITS)


def test_a_pure_node_and_equal_rows_teach_nothing(make):
    assert fit_node("lda", make(np.eye(3), [1, 1, 1])) is None
    assert fit_node("lda", make(np.ones((4, 2)), [0, 1, 0, 1])) is None


def test_a_threshold_takes_the_place_of_a_direction_that_is_none(make):
    """Both classes have the same mean, so Fisher's direction does not exist."""
    values = np.array([[-2.0], [2.0], [-1.0], [1.0]])
    fitted = fit_node("lda", make(values, [0, 0, 1, 1]))
    assert fitted.kind == "univariate"


def test_unknown_kinds_are_named_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Unknown node 'quadric'. Nearest: quadratic"):
        check_kind("quadric")


@pytest.fixture
def inputs():
    return np.random.default_rng(3).normal(size=(300, 2))


def test_the_simplest_kind_that_is_good_enough_is_chosen(make, inputs):
    straight, slanted = inputs[:, 0] > 0.2, inputs[:, 0] + inputs[:, 1] > 0.2
    ring = (inputs**2).sum(axis=1) > 1.5
    kinds = [select_kind(make(inputs, y), KINDS, 0.05).kind for y in (straight, slanted, ring)]
    assert kinds == list(KINDS)


def test_the_kind_is_trained_on_all_rows_of_the_node(make, inputs):
    problem = make(inputs, inputs[:, 0] + inputs[:, 1] > 0.2)
    fitted = fit_omnivariate(problem, KINDS, 0.05)
    assert fitted.kind == "lda"
    assert np.count_nonzero(fitted.test.branches(inputs) != problem.codes) < 6


def test_small_nodes_are_given_the_simplest_kind(make, inputs):
    choice = select_kind(make(inputs[:19], inputs[:19].sum(axis=1) > 0), KINDS, 0.05)
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
