"""Descent on smooth criteria."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.linear import gradient_descent, newton_descent, optimal_rate
from verulam.numerics import inverse

BOWL = np.array([[3.0, 1.0], [1.0, 2.0]])
CENTRE = np.array([1.0, -2.0])


def gradient(point):
    return BOWL @ (point - CENTRE)


def test_a_bowl_is_descended():
    found = gradient_descent(gradient, [5.0, 5.0], learning_rate=0.3)
    assert found.converged
    assert found.point == pytest.approx(CENTRE, abs=1e-6)
    assert found.path[1] == pytest.approx([5.0, 5.0] - 0.3 * gradient(np.array([5.0, 5.0])))


def test_the_optimal_rate_is_an_exact_line_search():
    point = np.array([5.0, 5.0])
    slope = gradient(point)
    best = optimal_rate(slope, BOWL)
    heights = [
        0.5 * (point - rate * slope - CENTRE) @ BOWL @ (point - rate * slope - CENTRE)
        for rate in (0.99 * best, best, 1.01 * best)
    ]
    assert heights[1] < min(heights[0], heights[2])
    found = gradient_descent(gradient, point, hessian=lambda _: BOWL)
    assert found.point == pytest.approx(CENTRE, abs=1e-6)


def test_newton_needs_one_step_on_a_bowl():
    found = newton_descent(gradient, lambda _: BOWL, [5.0, 5.0])
    assert found.path[1] == pytest.approx(CENTRE)
    assert found.n_iter == 2


def test_a_schedule_may_be_given():
    found = gradient_descent(gradient, [5.0, 5.0], learning_rate=inverse(0.4, 0.5), max_iter=2)
    first = np.array([5.0, 5.0]) - 0.4 * gradient(np.array([5.0, 5.0]))
    assert found.point == pytest.approx(first - 0.4 / np.sqrt(2) * gradient(first))
    assert not found.converged


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradient_descent(gradient, [5.0, 5.0], learning_rate=10.0), "diverged"),
        (lambda: newton_descent(gradient, lambda _: np.zeros((2, 2)), [5.0, 5.0]), "singular"),
        (lambda: optimal_rate([1.0, 0.0], -BOWL), "does not curve upwards"),
    ],
)
def test_failures_are_explained(call, message):
    with pytest.raises(DataError, match=message), np.errstate(all="ignore"):
        call()


def test_no_slope_needs_no_step():
    assert optimal_rate([0.0, 0.0], BOWL) == 0.0
