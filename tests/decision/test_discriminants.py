"""Discriminant functions: every form chooses alike under the 0/1 loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.decision import dichotomizer, loss_table
from verulam.decision._discriminants import KINDS, discriminants, log_odds


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_have_the_same_largest_function(kind):
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    values = discriminants(probabilities, kind, loss_table(range(3)))
    assert_array_equal(values.argmax(axis=1), probabilities.argmax(axis=1))


def test_dichotomizer_is_positive_for_the_second_class():
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]])
    values = dichotomizer(discriminants(probabilities, "posterior", loss_table([0, 1])))
    assert_allclose(values, [-0.8, 0.6])
    assert_allclose(log_odds(probabilities), np.log([1 / 9, 4]))
    assert log_odds(np.array([0.0, 1.0])) == np.inf


def test_bad_requests_are_refused():
    with pytest.raises(KeyError, match=r"Unknown kind of discriminant 'risks'. Nearest: risk"):
        discriminants(np.array([0.5, 0.5]), "risks", loss_table([0, 1]))
    with pytest.raises(ValueError, match="needs two discriminants, but there are 3"):
        dichotomizer(np.ones((4, 3)))
