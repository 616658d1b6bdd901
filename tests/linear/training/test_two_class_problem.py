"""Inequalities that are never built agree with those that are."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.linear.examples import separable

from verulam.base import DataError
from verulam.linear import BatchPerceptron, Trajectory, sign_normalise
from verulam.linear._training.two_class_problem import (
    Problem,
    Training,
    first_weights,
    make_trajectory,
)


@pytest.fixture(params=["dense", "sparse"])
def problem(request):
    rows, classes = separable()
    inputs = sp.csr_array(rows) if request.param == "sparse" else rows
    return Problem(inputs, np.where(classes == 1, 1.0, -1.0))


def test_products_sums_and_lengths(problem):
    rows, classes = separable()
    built = sign_normalise(rows, classes == 1)
    random = np.random.default_rng(0)
    weights, coefficients = random.normal(size=4), random.normal(size=len(rows))
    assert np.allclose(problem.rows(), built)
    assert np.allclose(problem.products(weights), built @ weights)
    assert np.allclose(
        problem.products(np.stack([weights, -weights])), built @ np.c_[weights, -weights]
    )
    assert np.allclose(problem.combine(coefficients), built.T @ coefficients)
    assert np.allclose(problem.squares, (built**2).sum(axis=1))


def test_a_trajectory_has_criterion_and_errors_of_each_step(problem):
    path = np.random.default_rng(1).normal(size=(300, 4))
    training = Training(path[-1], 300, True, np.arange(300), path)
    trajectory = make_trajectory(problem, training, lambda products, _: (products**2).sum(axis=0))
    products = problem.products(path[7])
    assert trajectory.criterion[7] == pytest.approx((products**2).sum())
    assert trajectory.errors[7] == (products <= 0).sum()
    assert len(trajectory.criterion) == len(trajectory.errors) == 300


def test_a_training_can_drop_its_path():
    training = Training(np.ones(2), 1, True, np.arange(3), np.ones((3, 2)))
    assert len(training.without_path().path) == 0


def test_another_order_takes_margins_along(problem):
    order = np.random.default_rng(0).permutation(60)
    moved = Problem(problem.inputs, problem.signs, np.arange(60.0)).in_order(order)
    weights = np.array([0.1, 0.2, -0.3, 0.4])
    assert np.allclose(moved.products(weights), problem.products(weights)[order])
    assert moved.margins.tolist() == order.tolist()
    assert problem.in_order(order).margins is None


def test_first_weights():
    assert first_weights(None, 3).tolist() == [0.0, 0.0, 0.0]
    small = first_weights("random", 1000, np.random.default_rng(0))
    assert 0.009 < np.abs(small).max() < 0.01
    weights = np.array([1.0, 2.0])
    assert first_weights(weights, 2).tolist() == [1.0, 2.0]
    assert first_weights(weights, 2) is not weights
    for wrong in ([1.0], [np.nan, 0.0], [[1.0, 2.0]]):
        with pytest.raises(DataError, match="init must be 2 finite numbers"):
            first_weights(wrong, 2)


def test_a_trajectory_counts_its_steps_from_the_first_weights():
    trained = BatchPerceptron(record="steps").fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    way = trained.trajectory_
    assert isinstance(way, Trajectory)
    assert way.steps.tolist() == list(range(trained.n_iter_ + 1))
    assert way.weights[0].tolist() == [0.0, 0.0]
    assert way.errors[0] == 4
    assert way.errors[-1] == way.criterion[-1] == 0
