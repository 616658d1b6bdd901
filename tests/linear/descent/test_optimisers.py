"""SciPy's optimisers on one criterion, with the way they took."""

import numpy as np
import pytest
from scipy.optimize import differential_evolution, dual_annealing, minimize, rosen, rosen_der
from tests.linear.examples import overlapping

from verulam.base import DataError
from verulam.linear import LogisticDiscriminant, line_criterion, minimise
from verulam.linear._logistic.gradient_logistic_loops import SIGMOIDS
from verulam.linear._logistic.output_training import gradient, loss_value

BOWL = np.array([[3.0, 1.0], [1.0, 2.0]])
CENTRE = np.array([1.0, -2.0])
LOCAL = ["conjugate gradient", "quasi-newton", "newton"]


def height(point):
    return 0.5 * float((point - CENTRE) @ BOWL @ (point - CENTRE))


def slope(point):
    return BOWL @ (point - CENTRE)


def hills(point):
    """Two valleys, the deeper at about -1.04."""
    return float((point[0] ** 2 - 1.0) ** 2 + 0.3 * point[0])


@pytest.mark.parametrize("method", LOCAL)
def test_a_bowl_is_descended(method):
    descent = minimise(height, [5.0, 5.0], method=method, gradient=slope)
    assert descent.converged
    assert descent.point == pytest.approx(CENTRE, abs=1e-4)
    assert descent.path[0].tolist() == [5.0, 5.0]
    assert np.array_equal(descent.path[-1], descent.point)
    assert np.allclose(descent.values, [height(point) for point in descent.path])
    assert len(np.unique(descent.path, axis=0)) > 1


@pytest.mark.parametrize(
    ("method", "theirs"),
    [("conjugate gradient", "CG"), ("quasi-newton", "BFGS"), ("newton", "Newton-CG")],
)
def test_every_name_goes_its_own_way(method, theirs):
    """The points of Rosenbrock's valley that SciPy's method of that name passes, and no other's."""
    points = [np.array([-1.2, 1.0])]
    minimize(
        rosen,
        points[0],
        jac=rosen_der,
        method=theirs,
        callback=lambda point: points.append(np.array(point)),
        options={"maxiter": 12},
    )
    descent = minimise(rosen, points[0], method=method, gradient=rosen_der, max_iter=12)
    assert np.allclose(descent.path[: len(points)], points)
    others = {name: minimise(rosen, points[0], method=name, gradient=rosen_der) for name in LOCAL}
    for name, other in others.items():
        assert np.allclose(other.path[5], descent.path[5]) == (name == method)


@pytest.mark.parametrize("method", LOCAL)
def test_the_hill_of_the_opposite_is_climbed(method):
    descent = minimise(
        lambda point: -height(point),
        [5.0, 5.0],
        method=method,
        gradient=lambda point: -slope(point),
        hessian=lambda _: -BOWL,
        ascend=True,
    )
    assert descent.point == pytest.approx(CENTRE, abs=1e-4)
    assert descent.values[-1] > descent.values[0]


def test_newton_asks_for_the_hessian_it_is_given():
    asked = []
    options = {"method": "newton", "gradient": slope}
    descent = minimise(
        height, [5.0, 5.0], hessian=lambda point: asked.append(point) or BOWL, **options
    )
    assert asked
    assert descent.point == pytest.approx(CENTRE)
    # What it says decides the step: with another curvature the first one ends elsewhere.
    other = minimise(height, [5.0, 5.0], hessian=lambda _: 10.0 * BOWL, **options)
    assert np.abs(other.path[1] - descent.path[1]).max() > 0.1


def test_without_a_gradient_differences_are_taken():
    descent = minimise(height, [5.0, 5.0])
    theirs = minimize(height, [5.0, 5.0], method="BFGS")
    assert np.allclose(descent.point, theirs.x, atol=1e-5)


@pytest.mark.parametrize("method", ["annealing", "genetic"])
def test_a_search_leaves_the_near_valley_for_the_deeper_one(method):
    near = minimise(hills, [0.9])
    assert near.point[0] > 0
    options = {"method": method, "bounds": [[-2.0, 2.0]], "max_iter": 30, "random_state": 0}
    deep = minimise(hills, [0.9], **options)
    assert deep.point[0] == pytest.approx(-1.0355, abs=1e-3)
    assert np.array_equal(minimise(hills, [0.9], **options).path, deep.path)


@pytest.mark.parametrize(
    ("method", "theirs"), [("annealing", dual_annealing), ("genetic", differential_evolution)]
)
def test_a_search_is_scipys_own(method, theirs):
    options = {"bounds": [[-2.0, 2.0]], "max_iter": 5, "random_state": 0}
    calls = []
    ours = minimise(lambda a: calls.append(a) or hills(a), [0.9], method=method, **options)
    descent = theirs(hills, [(-2.0, 2.0)], x0=[0.9], maxiter=5, rng=np.random.default_rng(0))
    assert np.allclose(ours.point, descent.x)
    # Values on the way are computed at the end.
    assert len(calls) - len(ours.path) == descent.nfev
    assert ours.values[-1] == pytest.approx(descent.fun)


def test_logistic_discrimination_is_one_of_its_problems():
    rows, classes = overlapping(100)
    targets = classes[:, None].astype(float)
    descent = minimise(
        lambda a: loss_value(rows, targets, a[None], SIGMOIDS),
        4,
        gradient=lambda a: gradient(rows, targets, a[None], SIGMOIDS)[0],
        random_state=0,
    )
    best = LogisticDiscriminant(penalty=None).fit(rows, classes)
    assert np.allclose(descent.point, [*best.intercept_, *best.coef_[0]], atol=1e-4)
    assert (np.abs(descent.path[0]) < 0.01).all()
    assert descent.path[0].any()


def test_criteria_of_a_line_are_others():
    rows, classes = overlapping(100)
    squares = line_criterion("squared error", rows, classes)
    descent = minimise(squares.value, np.zeros(4), gradient=squares.gradient)
    assert np.abs(squares.gradient(descent.point)).max() < 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "annealing"}, r"bounds must .* each of 2 weights .* got none"),
        ({"method": "genetic", "bounds": [[0, 1]]}, r"got the shape \(1, 2\)"),
        ({"method": "genetic", "bounds": [[1, 0], [0, 1]]}, "smaller end"),
    ],
)
def test_bad_bounds_are_named(options, message):
    with pytest.raises(DataError, match=message):
        minimise(height, [0.0, 0.0], **options)


def test_unknown_methods_are_named():
    with pytest.raises(KeyError, match=r"Unknown method 'conjugate'.*conjugate gradient"):
        minimise(height, [0.0, 0.0], method="conjugate")


@pytest.mark.parametrize("method", LOCAL)
def test_a_criterion_without_a_minimum_is_said(method):
    options = {"method": method, "gradient": lambda a: -np.exp(a)}
    with pytest.raises(DataError, match="may have no minimum"), np.errstate(all="ignore"):
        minimise(lambda a: -np.exp(a[0]), [1.0], **options)
    slope_only = minimise(
        lambda a: -a[0], [1.0], method=method, gradient=lambda a: -np.ones(1), max_iter=5
    )
    assert not slope_only.converged
