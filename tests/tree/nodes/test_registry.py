"""Kinds of nodes by name: what takes the place of a kind that finds nothing."""

from dataclasses import replace

import numpy as np
import pytest

from verulam.base import UnknownNameError
from verulam.tree._nodes.registry import FITS, KIND_NAMES, KIND_NUMBERS, check_kind, fit_node
from verulam.tree._structure.tree import OTHER


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
