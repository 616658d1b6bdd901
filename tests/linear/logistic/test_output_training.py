"""Passes of gradient descent: where they stop, what they keep."""

import numpy as np
import pytest
from tests.linear.examples import overlapping

from verulam.base import DataError
from verulam.linear._logistic import output_training as _output_training
from verulam.linear._logistic.gradient_logistic_loops import LINEAR, SOFTMAX
from verulam.linear._logistic.output_training import (
    DescentPlan,
    gradient,
    progress,
    stream_outputs,
    train_outputs,
)
from verulam.numerics import constant, inverse

ROWS, CLASSES = overlapping(60)
TARGETS = np.eye(2)[CLASSES]
START = np.full((2, 4), 0.1)


def _train(**options):
    plan = DescentPlan(**{"kind": SOFTMAX, "rate": constant(0.01), **options})
    return train_outputs(ROWS, TARGETS, START, plan, np.random.default_rng(0))


def test_a_batch_pass_is_one_step_down_the_gradient():
    trained = _train(online=False, max_iter=1)
    step = 0.01 * gradient(ROWS, TARGETS, START, SOFTMAX)
    assert np.allclose(trained.coefficients, START - step)
    assert np.array_equal(START, np.full((2, 4), 0.1))
    assert trained.curves[0] == pytest.approx(
        progress(ROWS, TARGETS, trained.coefficients, SOFTMAX)
    )


def test_an_online_pass_is_a_stream_in_its_order():
    trained = _train(rate=inverse(0.1), max_iter=1)
    order = np.random.default_rng(0).permutation(60)
    streamed, plan = START.copy(), DescentPlan(SOFTMAX, inverse(0.1))
    stream_outputs(ROWS[order[:25]], TARGETS[order[:25]], streamed, plan, 0)
    stream_outputs(ROWS[order[25:]], TARGETS[order[25:]], streamed, plan, 25)
    assert np.allclose(trained.coefficients, streamed)
    assert trained.n_rows == 60


def test_training_ends_where_weights_settle_or_errors_stay():
    settled = _train(online=False, tol=1e-4, max_iter=5000)
    assert settled.settled
    assert len(settled.curves) < 5000
    patient = _train(online=False, tol=0.0, n_iter_no_change=3, max_iter=500)
    errors = patient.curves[:, 1]
    assert patient.settled
    assert errors[-3:].min() >= errors[:-3].min()
    assert not _train(online=False, tol=1e-12, max_iter=3).settled


def test_no_more_steps_are_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(_output_training, "MOST_STEPS", 100)
    trained = _train(record="steps", max_iter=4, tol=0.0)
    assert trained.trajectory.weights.shape == (100, 2, 4)


def test_the_error_of_linear_outputs_is_the_root_mean_square():
    residuals = TARGETS - ROWS @ START[:, 1:].T - START[:, 0]
    mean, error, length = progress(ROWS, TARGETS, START, LINEAR)
    assert mean == pytest.approx(0.5 * (residuals**2).sum(axis=1).mean())
    assert error == pytest.approx(np.sqrt((residuals**2).mean()))
    assert length == pytest.approx(np.sqrt(8 * 0.01))


@pytest.mark.parametrize("online", [True, False])
def test_a_rate_that_diverges_is_caught(online):
    with pytest.raises(DataError, match=r"learning_rate=5 makes .* stay below"):
        _train(kind=LINEAR, rate=constant(5.0), online=online, max_iter=200)
