"""Gradient and Newton descent on the criteria of a line."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import overlapping, separable

from verulam.base import DataError
from verulam.linear import (
    BatchPerceptron,
    DescentDiscriminant,
    MinimumSquaredError,
    gradient_descent,
    line_criterion,
    newton_descent,
)
from verulam.linear._descent.descent_discriminant import CriterionCurvature
from verulam.linear._training.criteria import ROW_LOSSES
from verulam.linear._training.tables import weighted_gram
from verulam.linear._training.two_class_problem import Problem

CURVED = ["squared error", "quadratic", "relaxation"]


def _weights(line):
    return np.r_[line.intercept_, line.coef_[0]]


@pytest.mark.parametrize("criterion", CURVED)
@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_it_ends_where_the_gradient_vanishes(criterion, solver):
    sample = overlapping()
    line = DescentDiscriminant(criterion=criterion, solver=solver, tol=1e-9).fit(*sample)
    criterion = line_criterion(criterion, *sample, margin=1.0)
    assert line.converged_
    assert np.abs(criterion.gradient(_weights(line))).max() < 1e-6
    assert np.abs(criterion.gradient(np.zeros(4))).max() > 1.0


def test_one_newton_step_is_least_squares_and_optimal_rates_get_there():
    sample = overlapping()
    exact = MinimumSquaredError().fit(*sample)
    newton = DescentDiscriminant(solver="newton", record="steps").fit(*sample)
    assert np.allclose(newton.trajectory_.weights[1], _weights(exact))
    slow = DescentDiscriminant(tol=1e-9).fit(*sample)
    assert np.allclose(_weights(slow), _weights(exact), atol=1e-6)
    assert newton.n_iter_ == 2 < slow.n_iter_


def test_steps_are_those_of_the_functions():
    """The engine never builds the Hessian for an optimal rate; the functions do."""
    sample = overlapping()
    criterion = line_criterion("relaxation", *sample, margin=1.0)
    start = np.zeros(4)
    options = {"criterion": "relaxation", "max_iter": 5, "tol": 0.0, "record": "steps"}
    with pytest.warns(ConvergenceWarning):
        optimal = DescentDiscriminant(**options).fit(*sample)
    descent = gradient_descent(criterion.gradient, start, hessian=criterion.hessian, max_iter=5)
    assert np.allclose(optimal.trajectory_.weights, descent.path)
    with pytest.warns(ConvergenceWarning):
        plain = DescentDiscriminant(learning_rate=0.1, **options).fit(*sample)
    descent = gradient_descent(criterion.gradient, start, learning_rate=0.1, max_iter=5)
    assert np.allclose(plain.trajectory_.weights, descent.path)
    with pytest.warns(ConvergenceWarning):
        newton = DescentDiscriminant(solver="newton", **{**options, "max_iter": 2}).fit(*sample)
    descent = newton_descent(criterion.gradient, criterion.hessian, start, max_iter=2)
    assert np.allclose(newton.trajectory_.weights, descent.path)


@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_what_can_be_separated_is(solver):
    rows, classes = separable(gap=0.5)
    line = DescentDiscriminant(criterion="quadratic", solver=solver, record="steps")
    line.fit(rows, classes)
    assert line.score(rows, classes) == 1.0
    assert line.trajectory_.criterion[-1] < 1e-8
    assert (np.diff(line.trajectory_.criterion) <= 0).all()


def test_newton_takes_the_shortest_step_where_inputs_depend_on_one_another():
    rows, classes = overlapping()
    twice = np.column_stack([rows, rows[:, :1]])
    line = DescentDiscriminant(solver="newton").fit(twice, classes)
    exact = MinimumSquaredError().fit(rows, classes)
    assert np.allclose(line.decision_function(twice), exact.decision_function(rows))


def test_the_perceptrons_criterion_needs_a_rate():
    sample = separable()
    line = DescentDiscriminant(criterion="perceptron", learning_rate=1.0, margin=0.5).fit(*sample)
    assert np.allclose(_weights(line), _weights(BatchPerceptron(margin=0.5).fit(*sample)))
    for options in ({}, {"solver": "newton", "learning_rate": 1.0}):
        with pytest.raises(DataError, match=r"no curvature.*give a learning_rate"):
            DescentDiscriminant(criterion="perceptron", **options).fit(*sample)


@pytest.mark.parametrize("solver", ["gradient", "newton"])
def test_compressed_rows_give_the_same_line(solver):
    rows, classes = overlapping()
    line = DescentDiscriminant(criterion="quadratic", solver=solver)
    dense = _weights(line.fit(rows, classes))
    assert np.allclose(_weights(line.fit(sp.csr_array(rows), classes)), dense)


def test_a_rate_that_diverges_is_caught():
    with pytest.raises(DataError, match="learning_rate=10 makes the weights grow"):
        DescentDiscriminant(learning_rate=10.0).fit(*overlapping())


def test_newton_steps_never_go_up():
    """A full step may: rows that were far beyond the margin come to count on the way."""
    rows, signs = np.array([[1.4], [1.2], [-0.5], [-0.3], [-0.5]]), np.array([1, 1, -1, -1, 1.0])
    problem, loss = Problem(rows, signs), ROW_LOSSES["quadratic"]
    curvature, rose = CriterionCurvature(problem, loss, 1.0), 0
    for weights in np.random.default_rng(0).normal(0, 3, size=(50, 2)):
        products = problem.products(weights)
        step = -problem.combine(loss.derivative(products, problem.squares, 1.0))
        hessian = weighted_gram(rows, curvature.curvatures(products))
        full = weights + np.linalg.lstsq(hessian, step, rcond=1e-12)[0]
        rose += curvature.value(problem.products(full)) > 1.01 * curvature.value(products)
        taken = weights + curvature.newton_step(step, products)
        assert curvature.value(problem.products(taken)) <= curvature.value(products) * (1 + 1e-9)
    assert rose > 0
