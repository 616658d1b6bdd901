"""Simulators: the promise of the bounds is kept, and errors add up."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier

from verulam.base import DataError
from verulam.rule import BoxClassifier
from verulam.theory import (
    BiasVariance,
    LearningSimulation,
    bias_variance,
    box_bound,
    simulate_learning,
)


def square(count, random):
    return random.random((count, 2))


def bell(count, random):
    return random.normal(0.5, 0.3, (count, 2))


def inside(X):
    return ((X > 0.2) & (X < 0.7)).all(axis=1)


@pytest.mark.parametrize("sampler", [square, bell])
def test_tightest_boxes_keep_the_promise_of_their_bound(sampler):
    bound = box_bound(error=0.15, delta=0.2)
    result = simulate_learning(
        BoxClassifier(hypothesis="specific"),
        inside,
        sampler,
        n_samples=bound.n_samples,
        error=bound.error,
        n_repeats=100,
    )
    assert isinstance(result, LearningSimulation)
    assert result.failures <= bound.delta
    assert result.interval[0] <= result.failures <= result.interval[1]


def test_few_examples_fail_and_errors_are_measured_on_fresh_rows():
    options = {"error": 0.05, "n_repeats": 40, "n_test": 4000}
    few = simulate_learning(BoxClassifier(), inside, square, n_samples=8, **options)
    many = simulate_learning(BoxClassifier(), inside, square, n_samples=400, **options)
    assert few.failures > 0.7 > 0.1 > many.failures
    assert few.failures == (few.errors > 0.05).mean()
    assert "hypotheses from 8 examples" in str(few)


def test_improper_learners_and_single_classes():
    def rare(X):
        return X[:, 0] > 0.999

    result = simulate_learning(
        DecisionTreeClassifier(), rare, square, n_samples=5, error=0.1, n_repeats=10
    )
    assert result.errors.max() < 0.1
    assert result.failures == 0.0


def test_the_same_seed_gives_the_same():
    options = {"n_samples": 20, "error": 0.1, "n_repeats": 5, "random_state": 3}
    first = simulate_learning(BoxClassifier(), inside, square, **options)
    second = simulate_learning(BoxClassifier(), inside, square, **options)
    assert (first.errors == second.errors).all()


def sine(X):
    return np.sin(6 * X[:, 0])


def line(count, random):
    return random.random((count, 1))


POINTS = np.linspace(0, 1, 40)[:, None]


def test_bias_and_variance_add_up_to_the_distance_from_the_target():
    parts = bias_variance(LinearRegression(), sine, line, POINTS, noise=0.3, n_samples=25)
    assert isinstance(parts, BiasVariance)
    distance = np.mean((parts.fits - sine(POINTS)) ** 2)
    assert parts.squared_bias + parts.mean_variance == pytest.approx(distance, rel=1e-12)
    assert parts.noise == pytest.approx(0.09)
    frame = parts.to_frame()
    assert frame["error"][0] == pytest.approx(distance + 0.09)


def test_flexible_fits_have_less_bias_and_more_variance():
    rigid = bias_variance(KNeighborsRegressor(15), sine, line, POINTS, noise=0.3, n_samples=25)
    loose = bias_variance(KNeighborsRegressor(1), sine, line, POINTS, noise=0.3, n_samples=25)
    assert loose.squared_bias < 0.2 * rigid.squared_bias
    assert loose.mean_variance > 2 * rigid.mean_variance


def test_a_true_line_has_no_bias_and_the_variance_of_least_squares():
    def straight(X):
        return 2 * X[:, 0] - 1

    points = np.array([[0.0], [0.5], [1.0]])
    fixed = np.linspace(0, 1, 20)[:, None]
    parts = bias_variance(
        LinearRegression(),
        straight,
        lambda count, random: fixed,
        points,
        noise=0.5,
        n_samples=20,
        n_repeats=4000,
    )
    design = np.column_stack([np.ones(20), fixed])
    queries = np.column_stack([np.ones(3), points])
    exact = 0.25 * np.einsum("ij,jk,ik->i", queries, np.linalg.inv(design.T @ design), queries)
    np.testing.assert_allclose(parts.variance, exact, rtol=0.12)
    np.testing.assert_allclose(parts.bias, 0.0, atol=0.02)


def test_bad_input_is_named():
    with pytest.raises(DataError, match="n_samples must be at least 1"):
        simulate_learning(BoxClassifier(), inside, square, n_samples=0, error=0.1)
    with pytest.raises(DataError, match="error must lie between"):
        simulate_learning(BoxClassifier(), inside, square, n_samples=9, error=2)
    with pytest.raises(DataError, match="noise must not be negative"):
        bias_variance(LinearRegression(), sine, line, POINTS, noise=-1, n_samples=9)
    with pytest.raises(DataError, match="n_repeats must be at least 1"):
        bias_variance(LinearRegression(), sine, line, POINTS, noise=1, n_samples=9, n_repeats=0)
