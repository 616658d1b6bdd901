"""Newton's method in standard errors: the same answer in columns of any scale."""

import numpy as np
import pytest
from tests.linear.examples import overlapping

from verulam.linear._logistic.logistic_problem import LogisticProblem
from verulam.linear._logistic.newton import invert_information, maximise_likelihood

ROWS, CLASSES = overlapping()
THREE = np.arange(200) % 3
SCALES = np.array([1e-6, 1.0, 1e6])


def _problem(rows, codes, n_classes):
    return LogisticProblem(rows, codes, n_classes, None, 0.0)


def test_the_inverse_of_a_matrix_of_any_scales():
    random = np.random.default_rng(0)
    factor = random.normal(size=(5, 5)) * np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
    information = factor.T @ factor
    maximum = invert_information(information)
    assert not maximum.singular
    sizes = np.outer(*[np.sqrt(np.diag(information))] * 2)
    assert np.allclose(maximum.matrix * sizes, np.linalg.inv(information / sizes), rtol=1e-6)


def test_what_cannot_be_told_apart_is_singular():
    assert invert_information(np.ones((2, 2))).singular
    assert np.allclose(invert_information(np.ones((2, 2))).matrix, 0.25)
    assert invert_information(np.diag([1.0, 0.0])).singular


@pytest.mark.parametrize(("codes", "n_classes"), [(CLASSES, 2), (THREE, 3)])
def test_scales_of_the_columns_do_not_matter(codes, n_classes):
    estimates = []
    for scales in (np.ones(3), SCALES):
        problem = _problem(ROWS * scales, codes, n_classes)
        maximum = maximise_likelihood(problem, np.zeros(problem.shape), 0, 50)
        assert maximum.converged
        estimates.append(maximum.coefficients * np.r_[1.0, scales])
        errors = np.sqrt(np.diag(maximum.covariance.matrix)).reshape(n_classes - 1, 4)
        estimates.append(errors * np.r_[1.0, scales])
    assert np.allclose(estimates[0], estimates[2])
    assert np.allclose(estimates[1], estimates[3])


def test_any_class_may_stay():
    problem = _problem(ROWS, THREE, 3)
    values = []
    for reference in range(3):
        maximum = maximise_likelihood(problem, np.zeros((3, 4)), reference, 50)
        assert not maximum.coefficients[reference].any()
        values.append(problem.value(maximum.coefficients))
    assert np.allclose(values, values[0])


def test_too_few_steps_are_said():
    problem = _problem(ROWS, CLASSES, 2)
    assert not maximise_likelihood(problem, np.zeros((1, 4)), 0, 1).converged
