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
from verulam.linear._descent.descent_discriminant import Curve
from verulam.linear._training.column_products import weighted_products
from verulam.linear._training.criteria import ROW_LOSSES
from verulam.linear._training.two_class_problem import Problem

CURVED = ["squared error", "quadratic", "relaxation"]


def _weights(line):
    return np.r_[line.intercept_, line.coef_[0]]


@pytest.mark.parametrize("criterion", CURVED)
@pytest.mark.parametrize("method", ["gradient", "newton"])
def test_it_ends_where_the_gradient_vanishes(criterion, method):
    sample = overlapping()
    line = DescentDiscriminant(criterion=criterion, method=method, tolerance=1e-9).fit(*sample)
    made_small = line_criterion(criterion, *sample, margin=1.0)
    assert line.converged_
    assert np.abs(made_small.gradient(_weights(line))).max() < 1e-6
    assert np.abs(made_small.gradient(np.zeros(4))).max() > 1.0


def test_one_newton_step_is_least_squares_and_optimal_rates_get_there():
    sample = overlapping()
    exact = MinimumSquaredError().fit(*sample)
    newton = DescentDiscriminant(method="newton", record="steps").fit(*sample)
    assert np.allclose(newton.trajectory_.weights[1], _weights(exact))
    slow = DescentDiscriminant(tolerance=1e-9).fit(*sample)
    assert np.allclose(_weights(slow), _weights(exact), atol=1e-6)
    assert newton.n_iter_ == 2 < slow.n_iter_


def test_steps_are_those_of_the_functions():
    """The engine never builds the Hessian for an optimal rate; the functions do."""
    sample = overlapping()
    made_small = line_criterion("relaxation", *sample, margin=1.0)
    given = made_small.gradient, np.zeros(4)
    options = {"criterion": "relaxation", "max_iter": 5, "tolerance": 0.0, "record": "steps"}
    with pytest.warns(ConvergenceWarning):
        optimal = DescentDiscriminant(**options).fit(*sample)
    found = gradient_descent(*given, hessian=made_small.hessian, max_iter=5)
    assert np.allclose(optimal.trajectory_.weights, found.path)
    with pytest.warns(ConvergenceWarning):
        plain = DescentDiscriminant(learning_rate=0.1, **options).fit(*sample)
    assert np.allclose(
        plain.trajectory_.weights, gradient_descent(*given, learning_rate=0.1, max_iter=5).path
    )
    with pytest.warns(ConvergenceWarning):
        newton = DescentDiscriminant(method="newton", **{**options, "max_iter": 2}).fit(*sample)
    found = newton_descent(given[0], made_small.hessian, given[1], max_iter=2)
    assert np.allclose(newton.trajectory_.weights, found.path)


@pytest.mark.parametrize("method", ["gradient", "newton"])
def test_what_can_be_separated_is(method):
    rows, classes = separable(gap=0.5)
    line = DescentDiscriminant(criterion="quadratic", method=method, record="steps")
    line.fit(rows, classes)
    assert line.score(rows, classes) == 1.0
    assert line.trajectory_.criterion[-1] < 1e-8
    assert (np.diff(line.trajectory_.criterion) <= 0).all()


def test_newton_takes_the_shortest_step_where_inputs_depend_on_one_another():
    rows, classes = overlapping()
    twice = np.column_stack([rows, rows[:, :1]])
    line = DescentDiscriminant(method="newton").fit(twice, classes)
    exact = MinimumSquaredError().fit(rows, classes)
    assert np.allclose(line.decision_function(twice), exact.decision_function(rows))


def test_the_perceptrons_criterion_needs_a_rate():
    sample = separable()
    line = DescentDiscriminant(criterion="perceptron", learning_rate=1.0, margin=0.5).fit(*sample)
    assert np.allclose(_weights(line), _weights(BatchPerceptron(margin=0.5).fit(*sample)))
    for options in ({}, {"method": "newton", "learning_rate": 1.0}):
        with pytest.raises(DataError, match=r"no curvature.*give a learning_rate"):
            DescentDiscriminant(criterion="perceptron", **options).fit(*sample)


@pytest.mark.parametrize("method", ["gradient", "newton"])
def test_compressed_rows_give_the_same_line(method):
    rows, classes = overlapping()
    line = DescentDiscriminant(criterion="quadratic", method=method)
    dense = _weights(line.fit(rows, classes))
    assert np.allclose(_weights(line.fit(sp.csr_array(rows), classes)), dense)


def test_a_rate_that_diverges_is_caught():
    with pytest.raises(DataError, match="learning_rate=10 makes the weights grow"):
        DescentDiscriminant(learning_rate=10.0).fit(*overlapping())


def test_newton_steps_never_go_up():
    """A full step may: rows that were far beyond the margin come to count on the way."""
    rows, signs = np.array([[1.4], [1.2], [-0.5], [-0.3], [-0.5]]), np.array([1, 1, -1, -1, 1.0])
    problem, loss = Problem(rows, signs), ROW_LOSSES["quadratic"]
    curve, rose = Curve(problem, loss, 1.0), 0
    for weights in np.random.default_rng(0).normal(0, 3, size=(50, 2)):
        products = problem.products(weights)
        slope = -problem.combine(loss.slope(products, problem.squares, 1.0))
        hessian = weighted_products(rows, curve.curvatures(products))
        full = weights + np.linalg.lstsq(hessian, slope, rcond=1e-12)[0]
        rose += curve.value(problem.products(full)) > 1.01 * curve.value(products)
        taken = weights + curve.newton_step(slope, products)
        assert curve.value(problem.products(taken)) <= curve.value(products) * (1 + 1e-9)
    assert rose > 0
