"""Descent on smooth criteria."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.linear import gradient_descent, newton_descent, online_descent, optimal_rate
from verulam.numerics import inverse

BOWL = np.array([[3.0, 1.0], [1.0, 2.0]])
CENTRE = np.array([1.0, -2.0])


def gradient(point):
    return BOWL @ (point - CENTRE)


def test_a_bowl_is_descended():
    descent = gradient_descent(gradient, [5.0, 5.0], learning_rate=0.3)
    assert descent.converged
    assert descent.point == pytest.approx(CENTRE, abs=1e-6)
    assert descent.path[1] == pytest.approx([5.0, 5.0] - 0.3 * gradient(np.array([5.0, 5.0])))


def test_the_optimal_rate_is_an_exact_line_search():
    point = np.array([5.0, 5.0])
    slope = gradient(point)
    best = optimal_rate(slope, BOWL)
    heights = [
        0.5 * (point - rate * slope - CENTRE) @ BOWL @ (point - rate * slope - CENTRE)
        for rate in (0.99 * best, best, 1.01 * best)
    ]
    assert heights[1] < min(heights[0], heights[2])
    descent = gradient_descent(gradient, point, hessian=lambda _: BOWL)
    assert descent.point == pytest.approx(CENTRE, abs=1e-6)


def test_newton_needs_one_step_on_a_bowl():
    descent = newton_descent(gradient, lambda _: BOWL, [5.0, 5.0])
    assert descent.path[1] == pytest.approx(CENTRE)
    assert descent.n_iter == 2


def test_a_schedule_may_be_given():
    descent = gradient_descent(gradient, [5.0, 5.0], learning_rate=inverse(0.4, 0.5), max_iter=2)
    first = np.array([5.0, 5.0]) - 0.4 * gradient(np.array([5.0, 5.0]))
    assert descent.point == pytest.approx(first - 0.4 / np.sqrt(2) * gradient(first))
    assert not descent.converged


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


def height(point):
    return 0.5 * float((point - CENTRE) @ BOWL @ (point - CENTRE))


def test_the_criterion_is_kept_on_the_way():
    descent = gradient_descent(gradient, [5.0, 5.0], learning_rate=0.3, criterion=height)
    assert np.allclose(descent.values, [height(point) for point in descent.path])
    assert (np.diff(descent.values) <= 0).all()
    newton = newton_descent(gradient, lambda _: BOWL, [5.0, 5.0], criterion=height)
    assert newton.values == pytest.approx([height(np.array([5.0, 5.0])), 0.0, 0.0])
    assert gradient_descent(gradient, [5.0, 5.0]).values is None


def test_a_hill_is_climbed():
    up = gradient_descent(lambda a: -gradient(a), [5.0, 5.0], learning_rate=0.3, ascend=True)
    down = gradient_descent(gradient, [5.0, 5.0], learning_rate=0.3)
    assert np.allclose(up.path, down.path)
    exact = gradient_descent(
        lambda a: -gradient(a), [5.0, 5.0], hessian=lambda _: -BOWL, ascend=True
    )
    assert exact.point == pytest.approx(CENTRE, abs=1e-6)


def test_weights_may_start_at_random():
    first, second = (gradient_descent(gradient, 2, random_state=seed) for seed in (0, 1))
    assert (np.abs(first.path[0]) <= 0.01).all()
    assert not np.array_equal(first.path[0], second.path[0])
    assert np.allclose(first.point, second.point, atol=1e-5)
    again = gradient_descent(gradient, 2, random_state=0)
    assert np.array_equal(first.path, again.path)


def test_row_by_row_settles_at_the_mean():
    places = np.random.default_rng(0).normal(size=(20, 2))

    def total(point):
        return 0.5 * float(((point - places) ** 2).sum())

    descent = online_descent(
        lambda a, t: a - places[t],
        20,
        2,
        learning_rate=inverse(1.0),
        criterion=total,
        max_iter=50,
        random_state=0,
    )
    assert descent.point == pytest.approx(places.mean(axis=0), abs=1e-9)
    assert descent.values[-1] < descent.values[0]
    assert len(descent.path) == descent.n_iter + 1
    with pytest.raises(DataError, match="diverged"):
        online_descent(lambda a, t: a - places[t], 20, 2, learning_rate=100.0, max_iter=1000)


def test_no_slope_needs_no_step():
    assert optimal_rate([0.0, 0.0], BOWL) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradient_descent(lambda a: a, [1.0], learning_rate=-1.0), "above zero; got -1"),
        (lambda: gradient_descent(lambda a: np.ones(3), [1.0, 2.0]), r"shape \(3,\), but"),
        (lambda: gradient_descent(lambda a: a * np.nan, [1.0]), "gradient is no number"),
        (lambda: online_descent(lambda a, t: a, 0, [1.0]), "n_rows must be at least 1"),
    ],
)
def test_what_cannot_be_descended_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
