"""Distances, projections, augmented rows, and regions of solutions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from verulam.base import DataError
from verulam.kernel import SupportVectorClassifier
from verulam.linear import (
    Hyperplane,
    augment,
    minimum_length_vector,
    sign_normalise,
    solution_region,
)


def test_distance_of_a_point_and_of_the_origin():
    plane = Hyperplane(np.array([3.0, 4.0]), -10.0)
    assert plane.signed_distance([[4.0, 2.0]]) == pytest.approx([2.0])
    assert plane.origin_distance == pytest.approx(-2.0)


def test_a_point_is_its_projection_plus_its_distance_along_the_normal():
    plane = Hyperplane(np.array([1.0, -2.0, 0.5]), 0.7)
    points = np.random.default_rng(0).normal(size=(20, 3))
    projected = plane.project(points)
    unit = plane.weights / np.linalg.norm(plane.weights)
    assert np.allclose(plane.value(projected), 0.0)
    assert np.allclose(projected + plane.signed_distance(points)[:, None] * unit, points)


def test_the_normal_points_to_the_positive_side():
    plane = Hyperplane(np.array([1.0, 0.0]), 0.0)
    assert plane.side([plane.weights, -plane.weights, [0.0, 3.0]]).tolist() == [1, -1, 0]


def test_augmented_weights_and_back():
    plane = Hyperplane.from_augmented([5.0, 1.0, 2.0])
    assert (plane.bias, plane.weights.tolist()) == (5.0, [1.0, 2.0])
    assert plane.augmented.tolist() == [5.0, 1.0, 2.0]


def test_augmenting_makes_distances_to_the_plane_no_larger():
    points = np.random.default_rng(1).normal(size=(10, 2))
    weights = np.array([0.5, 1.0, -1.0])
    augmented = augment(points) @ weights / np.linalg.norm(weights)
    plain = Hyperplane.from_augmented(weights).signed_distance(points)
    assert (np.abs(augmented) <= np.abs(plain)).all()


def test_normalised_rows_of_a_separating_vector_are_positive():
    rows = sign_normalise([[2.0], [-1.0]], [True, False])
    assert rows.tolist() == [[1.0, 2.0], [-1.0, 1.0]]
    assert (rows @ [0.0, 1.0] > 0).all()


def test_a_margin_shrinks_the_region_of_solutions():
    rows = np.array([[1.0, 0.2], [0.3, 1.0], [1.0, 1.0]])
    areas = [_area(solution_region(rows, margin)) for margin in (0.0, 1.0, 3.0)]
    assert areas[0] > areas[1] > areas[2] > 0
    corners = solution_region(rows, 1.0)
    assert (corners @ rows.T >= 1.0 - 1e-9).all()


def test_contradicting_rows_leave_no_solution():
    assert len(solution_region([[1.0, 0.0], [-1.0, 0.0]], 0.1)) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Hyperplane(np.zeros(2), 1.0), "weights are all zero"),
        (lambda: solution_region([[1.0, 2.0, 3.0]]), "two columns"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def _area(corners):
    x, y = corners.T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def test_the_one_may_come_last():
    rows, positive = [[2.0, 3.0], [4.0, 5.0]], [True, False]
    assert augment(rows, last=True).tolist() == [[2.0, 3.0, 1.0], [4.0, 5.0, 1.0]]
    signed = sign_normalise(rows, positive, last=True)
    assert signed.tolist() == [[2.0, 3.0, 1.0], [-4.0, -5.0, -1.0]]
    plane = Hyperplane.from_augmented([3.0, 4.0, -10.0], last=True)
    assert np.allclose(signed @ [3.0, 4.0, -10.0], plane.value(rows) * [1, -1])


def test_every_row_has_its_class():
    with pytest.raises(DataError, match="positive must have 2 entries"):
        sign_normalise([[1.0], [2.0]], [True])


@pytest.mark.parametrize("seed", range(4))
def test_the_shortest_separating_vector(seed):
    """As a quadratic program by SLSQP, and as the hard margin of augmented rows."""
    random = np.random.default_rng(seed)
    inputs = random.normal(size=(40, 3))
    positive = inputs @ [1.0, -1.0, 0.5] + 0.3 > 0
    inputs[positive] += 0.4 * np.array([1.0, -1.0, 0.5])
    rows = sign_normalise(inputs, positive)
    shortest = minimum_length_vector(rows, 2.0)
    assert (rows @ shortest).min() == pytest.approx(2.0)
    program = minimize(
        lambda a: 0.5 * a @ a,
        1.5 * shortest + 0.1,
        jac=lambda a: a,
        constraints={"type": "ineq", "fun": lambda a: rows @ a - 2.0},
        options={"ftol": 1e-12},
    )
    assert np.allclose(shortest, program.x, atol=1e-5)
    machine = SupportVectorClassifier(kernel="linear", form="hard", fit_intercept=False, tol=1e-9)
    machine.fit(augment(inputs), positive)
    plane = machine.dual_coef_[0] @ machine.support_vectors_
    assert np.allclose(shortest, 2.0 * plane, atol=1e-5)


def test_scale_does_not_matter_for_the_shortest_vector():
    rows = sign_normalise([[0.0], [1.0], [3.0], [4.0]], [False, False, True, True])
    for unit in (1e-6, 1.0, 1e6):
        assert np.allclose(unit * minimum_length_vector(unit * rows), [-2.0, 1.0])


def test_no_shortest_vector_where_none_separates():
    with pytest.raises(DataError, match="not linearly separable"):
        minimum_length_vector([[1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(DataError, match="margin must be a number above 0; got 0"):
        minimum_length_vector([[1.0, 0.0]], 0.0)
    with pytest.raises(DataError, match=r"rows must be a table; got the shape \(2,\)"):
        minimum_length_vector([1.0, 0.0])
    with pytest.raises(DataError, match="rows has missing or infinite values"):
        minimum_length_vector([[np.nan, 0.0]])
