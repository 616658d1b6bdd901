"""The engine of corrections by all rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.linear.examples import overlapping, separable

from verulam.base import DataError
from verulam.linear._training import batch as _batch
from verulam.linear._training.batch import largest_stable_rate, train_batch
from verulam.linear._training.two_class_problem import Problem
from verulam.numerics import constant, inverse


def _problem(sample):
    rows, classes = sample
    return Problem(rows, np.where(classes == 1, 1.0, -1.0))


def _squares(products, _):
    return 1.0 - products


def test_one_step_is_the_rate_times_the_sum_of_rows():
    problem = _problem(overlapping())
    start = np.array([0.1, 0.2, 0.3, 0.4])
    training = train_batch(
        problem,
        _squares,
        rate=constant(0.01),
        satisfied=lambda _: False,
        max_iter=1,
        init=start,
        record="passes",
    )
    rows = problem.rows()
    assert np.allclose(training.weights, start + 0.01 * rows.T @ (1 - rows @ start))
    assert np.allclose(training.path, [start, training.weights])


def test_rates_below_the_bound_settle_and_above_it_do_not():
    problem = _problem(overlapping())
    bound = largest_stable_rate(problem)
    assert bound == pytest.approx(2 / np.linalg.eigvalsh(problem.rows().T @ problem.rows()).max())
    options = {"satisfied": lambda _: False, "max_iter": 20_000}
    settled = train_batch(problem, _squares, rate=constant(0.95 * bound), tol=1e-9, **options)
    assert settled.converged
    best = np.linalg.lstsq(problem.rows(), np.ones(200), rcond=None)[0]
    assert np.allclose(settled.weights, best, atol=1e-6)
    with pytest.raises(DataError, match=r"grow without bound.*stay below"):
        train_batch(problem, _squares, rate=constant(1.2 * bound), **options)


def test_a_falling_rate_is_used():
    problem = _problem(separable())
    training = train_batch(
        problem,
        lambda products, _: np.ones_like(products),
        rate=inverse(1.0),
        satisfied=lambda _: False,
        max_iter=3,
    )
    total = problem.combine(np.ones(len(problem.signs)))
    assert np.allclose(training.weights, (1 + 1 / 2 + 1 / 3) * total)


@pytest.mark.parametrize("most", [1_000, 1])
@pytest.mark.parametrize("table", [np.asarray, sp.csr_array])
def test_the_bound_is_two_over_the_largest_eigenvalue(table, most, monkeypatch):
    monkeypatch.setattr(_batch, "GRAM_WEIGHTS", most)
    rows = 1e3 * np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 2.0, 3.0]
    problem = Problem(table(rows), np.ones(50))
    expected = 2.0 / np.linalg.norm(problem.rows(), 2) ** 2
    assert _batch.largest_stable_rate(problem) == pytest.approx(expected, rel=1e-3)
