"""The likelihood: its derivatives, its blocks, its sparse form."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import log_loss
from tests.linear.examples import overlapping

from verulam.base import thread_map
from verulam.linear._logistic import logistic_problem as _logistic_problem
from verulam.linear._logistic.logistic_problem import LogisticProblem


def _problem(n_classes, weights=None, alpha=0.3, sparse=False):
    rows, _ = overlapping(90)
    codes = np.random.default_rng(1).integers(0, n_classes, size=90)
    inputs = sp.csr_array(rows) if sparse else rows
    return LogisticProblem(inputs, codes, n_classes, weights, alpha)


def _point(problem):
    return np.random.default_rng(2).normal(size=problem.shape)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_value_is_the_cross_entropy_and_the_penalty(n_classes):
    problem = _problem(n_classes)
    point = _point(problem)
    posterior = problem.posterior(problem.inputs, point)
    expected = 90 * log_loss(problem.codes, posterior) + 0.15 * (point[:, 1:] ** 2).sum()
    assert problem.value(point) == pytest.approx(expected)
    assert problem.value_and_gradient(point)[0] == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradients_agree_with_differences(n_classes, weighted):
    weights = np.random.default_rng(3).uniform(size=90) if weighted else None
    problem = _problem(n_classes, weights)
    point, small = _point(problem), 1e-6
    gradient = problem.value_and_gradient(point)[1]
    for place in np.ndindex(*problem.shape):
        step = np.zeros(problem.shape)
        step[place] = small
        slope = (problem.value(point + step) - problem.value(point - step)) / (2 * small)
        assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_the_hessian_agrees_with_differences_of_the_gradient():
    problem = _problem(2, np.random.default_rng(3).uniform(size=90))
    point, small = _point(problem), 1e-5
    value, gradient, hessian = problem.newton_terms(point)
    assert value == pytest.approx(problem.value(point))
    assert np.allclose(gradient, problem.value_and_gradient(point)[1][0])
    for column in range(4):
        step = np.zeros((1, 4))
        step[0, column] = small
        slopes = [problem.newton_terms(point + sign * step)[1] for sign in (1, -1)]
        assert np.allclose(hessian[:, column], (slopes[0] - slopes[1]) / (2 * small), atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_information_is_the_hessian_over_the_free_classes(n_classes):
    problem = _problem(n_classes, alpha=0.0)
    point, small = _point(problem), 1e-5
    information = problem.information(point, reference=0)
    first = 0 if n_classes == 2 else 1
    step = np.zeros(problem.shape)
    step[first, 2] = small
    slopes = [problem.value_and_gradient(point + sign * step)[1][first:] for sign in (1, -1)]
    expected = (slopes[0] - slopes[1]).ravel() / (2 * small)
    assert np.allclose(information[:, 2], expected, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_blocks_and_compressed_rows_change_nothing(n_classes, monkeypatch):
    problem = _problem(n_classes)
    point = _point(problem)
    value, gradient = problem.value_and_gradient(point)
    monkeypatch.setattr(_logistic_problem, "LOGISTIC_BLOCK_NUMBERS", 1)
    for other in (problem, _problem(n_classes, sparse=True)):
        assert other.value_and_gradient(point)[0] == pytest.approx(value)
        assert np.allclose(other.value_and_gradient(point)[1], gradient)


def test_compressed_rows_have_the_same_curvature_and_are_never_written_out(monkeypatch):
    weights = np.random.default_rng(3).uniform(size=90)
    dense, compressed = _problem(2, weights), _problem(2, weights, sparse=True)
    point = _point(dense)
    expected, information = dense.newton_terms(point), dense.information(point, 0)
    seen = []
    for kind in (sp.csr_array, sp.csc_array):
        monkeypatch.setattr(kind, "toarray", _noting(kind.toarray, seen))
    for ours, theirs in zip(compressed.newton_terms(point), expected, strict=True):
        assert np.allclose(ours, theirs)
    assert np.allclose(compressed.information(point, 0), information)
    # Only products of columns are ever dense.
    assert set(seen) == {(3, 3)}


def _noting(method, shapes):
    return lambda table, *options: shapes.append(table.shape) or method(table, *options)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_no_digit(n_classes, monkeypatch):
    monkeypatch.setenv("VERULAM_THREADS", "2")
    monkeypatch.setattr(_logistic_problem, "LOGISTIC_BLOCK_NUMBERS", 100)
    problem = _problem(n_classes)
    point = _point(problem)
    value, gradient = problem.value_and_gradient(point)
    monkeypatch.setattr(_logistic_problem, "LOGISTIC_THREADED_NUMBERS", 1)
    numbers = []
    monkeypatch.setattr(
        _logistic_problem,
        "thread_map",
        lambda function, tasks, threads: numbers.append(threads) or thread_map(function, tasks, 2),
    )
    with problem.threads():
        ours = problem.value_and_gradient(point)
    assert numbers == [0]
    assert ours[0] == value
    assert (ours[1] == gradient).all()


def test_huge_outputs_do_not_overflow():
    problem = _problem(3, alpha=0.0)
    value, gradient = problem.value_and_gradient(1e4 * _point(problem))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
