"""The machines' duals as programs: starts are feasible, sums right, infeasible values refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel._solvers.dual_problems import (
    fill_up,
    hull_problem,
    nu_classification_problem,
    nu_regression_problem,
    one_class_problem,
)

SIGNS = np.array([1.0, 1.0, -1.0, -1.0, -1.0])


def test_fill_up():
    assert_allclose(fill_up(np.array([0.5, 0.5, 0.5]), 0.7), [0.5, 0.2, 0])


def test_starts_are_feasible():
    weights = np.array([1.0, 2.0, 1.0, 1.0, 1.0])
    targets = np.arange(5.0)
    for problem, total in (
        (nu_classification_problem(SIGNS, 0.4, weights), 0.4),
        (hull_problem(SIGNS, weights > 0), 2.0),
        (nu_regression_problem(targets, weights, 0.5), 3.0),
        (one_class_problem(weights, 0.4), 1.0),
    ):
        assert (problem.init >= problem.lower - 1e-15).all()
        assert (problem.init <= problem.upper + 1e-15).all()
        assert np.abs(problem.init).sum() == pytest.approx(total)


def test_the_largest_feasible_nu_is_named():
    with pytest.raises(DataError, match=r"largest feasible value is 0.8"):
        nu_classification_problem(SIGNS, 0.9, np.ones(5))
    assert nu_classification_problem(SIGNS, 0.8, np.ones(5)).init[:2] == pytest.approx([0.2, 0.2])
