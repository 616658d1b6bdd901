"""The dense solver: worked numbers, fixed coefficients and infinite bounds."""

import numpy as np
from numpy.testing import assert_allclose

from verulam.kernel import DualProblem, Polynomial, solve_densely

CORNERS = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


def test_exclusive_or():
    gram = Polynomial(2)(CORNERS)
    problem = DualProblem(
        -SIGNS, np.where(SIGNS > 0, 0, -np.inf), np.where(SIGNS > 0, np.inf, 0), np.zeros(4)
    )
    values = solve_densely(problem, gram)
    assert_allclose(values, SIGNS / 8, atol=1e-6)
    assert_allclose(np.abs(values).sum() - 0.5 * values @ gram @ values, 0.25, atol=1e-6)


def test_fixed_coefficients_stay():
    problem = DualProblem(
        np.array([-2.0, -1.0]), np.array([0.0, 0.3]), np.array([1.0, 0.3]), np.array([0.0, 0.3])
    )
    free = DualProblem(problem.linear, problem.lower, problem.upper, problem.init, "none")
    assert_allclose(solve_densely(free, np.eye(2)), [1.0, 0.3], atol=1e-6)
