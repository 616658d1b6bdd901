"""The classroom's solvers: what they reach, and what they say when they do not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.kernel import (
    DualProblem,
    Gaussian,
    Linear,
    Polynomial,
    SupportVectorClassifier,
    kernel_perceptron,
    lagrangian_machine,
    solve_densely,
)

CORNERS = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
SIGNS = np.array([1.0, 1.0, -1.0, -1.0])


def test_perceptron_separates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    signs = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    gram = Gaussian(0.5)(X)
    machine = kernel_perceptron(gram, signs)
    assert machine.converged
    assert (signs * (gram @ machine.coefficients + machine.intercept) > 0).all()
    with pytest.warns(ConvergenceWarning, match="did not separate"):
        assert not kernel_perceptron(Linear()(CORNERS), SIGNS, max_iter=50).converged


def test_the_perceptron_corrects_the_worst_first():
    """Both negative inputs are wrong after the first correction, the third by more."""
    X, signs = np.array([[1.0], [0.5], [2.0]]), np.array([1.0, -1.0, -1.0])
    with pytest.warns(ConvergenceWarning):
        machine = kernel_perceptron(X @ X.T, signs, max_iter=2)
    np.testing.assert_allclose(machine.coefficients, [1.0, 0.0, -1.0])


def test_the_perceptron_has_more_support_vectors_and_a_narrower_margin():
    """It separates like the machine, but stops at the first plane that does."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    signs = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    X += 0.02 * signs[:, None]
    taught = kernel_perceptron(X @ X.T, signs)
    machine = SupportVectorClassifier(kernel="linear", form="hard").fit(X, signs)
    plane = taught.coefficients @ X
    margin = (signs * (X @ plane + taught.intercept)).min() / np.linalg.norm(plane)
    assert 0.0 < margin < 0.9 * machine.machines_[0].margin
    assert np.count_nonzero(taught.coefficients) > len(machine.support_)


def test_slack_goes_to_what_the_perceptron_cannot_separate():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 2))
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    X[:, 0] += 0.3 * signs
    signs[:2] *= -1.0  # two labels are wrong, and no line is right about them
    gram = X @ X.T
    with pytest.warns(ConvergenceWarning, match="did not separate"):
        kernel_perceptron(gram, signs, max_iter=2000)
    machine = kernel_perceptron(gram, signs, slack=20.0, max_iter=2000)
    assert machine.converged
    outputs = signs * (gram @ machine.coefficients + machine.intercept)
    assert (outputs + machine.slacks > 0).all()
    assert (outputs[:2] < 0).all()
    assert (outputs[2:] > 0).mean() > 0.9
    assert machine.slacks[:2].mean() > 3.0 * machine.slacks[2:].mean()
    assert_allclose(machine.slacks.sum(), 20.0 * 2.0 * np.diagonal(gram).mean())
    with pytest.raises(DataError, match="slack must be"):
        kernel_perceptron(gram, signs, slack=-1.0)


def test_lagrangian_machine_solves_its_own_dual():
    """U >= 0, Qu - 1 >= 0 and their product zero; the same as a dense program."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    signs = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1.0, -1.0)
    gram = Gaussian(1.0)(X)
    machine = lagrangian_machine(gram, signs, cost=2.0, tol=1e-12)
    multipliers = machine.coefficients * signs
    matrix = np.outer(signs, signs) * (gram + 1) + np.eye(40) / 2.0
    slopes = matrix @ multipliers - 1
    assert machine.converged
    assert multipliers.min() > -1e-8
    assert slopes.min() > -1e-8
    assert_allclose(multipliers * slopes, 0.0, atol=1e-8)
    problem = DualProblem(-np.ones(40), np.zeros(40), np.full(40, np.inf), np.zeros(40), "none")
    assert_allclose(multipliers, solve_densely(problem, matrix), atol=1e-4)
    assert machine.intercept == pytest.approx(machine.coefficients.sum())


def test_lagrangian_machine_of_exclusive_or():
    gram = Polynomial(2)(CORNERS)
    machine = lagrangian_machine(gram, SIGNS, cost=1e4)
    assert_allclose(np.abs(machine.coefficients), 1 / 8, atol=1e-4)
    with pytest.raises(DataError, match="cost must be above 0"):
        lagrangian_machine(gram, SIGNS, cost=0.0)
    with pytest.warns(ConvergenceWarning, match="still moving"):
        lagrangian_machine(Linear()([[0.0], [1.0], [3.0], [9.0]]), SIGNS, cost=9.0, max_iter=1)


@pytest.mark.parametrize("solver", [kernel_perceptron, lagrangian_machine])
def test_refused_matrices_and_signs(solver):
    gram = Linear()(CORNERS)
    with pytest.raises(DataError, match="-1 or 1; got shape"):
        solver(gram, np.array([0, 1, 1, 0]))
    with pytest.raises(DataError, match="4 numbers"):
        solver(gram, SIGNS[:3])
    with pytest.raises(DataError, match="must be square"):
        solver(gram[:, :2], SIGNS)
