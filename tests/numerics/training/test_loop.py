"""The loop over epochs, on an error whose minimum is known."""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from verulam.base import DataError
from verulam.numerics import (
    SEARCHES,
    AdaptiveRate,
    Epoch,
    GradientDescent,
    History,
    Objective,
    RuleMemory,
    Stopping,
    inverse,
    train,
    train_by_search,
)


@dataclass
class Distances(Objective):
    """Half the mean squared distance of the parameters from the rows; its minimum is their mean."""

    rows: np.ndarray
    orders: list = field(default_factory=list)

    @property
    def n_rows(self):
        return len(self.rows)

    def value_and_gradient(self, theta):
        differences = theta - self.rows
        return 0.5 * (differences**2).sum(axis=1).mean(), differences.mean(axis=0)

    def run_epoch(self, theta, memory, order, batch_size):
        self.orders.append(order.copy())
        total = 0.0
        for start in range(0, self.n_rows, batch_size):
            batch = self.rows[order[start : start + batch_size]]
            total += 0.5 * ((theta - batch) ** 2).sum()
            memory.step(theta, (theta - batch).mean(axis=0))
        return total / self.n_rows


@pytest.fixture
def objective():
    return Distances(np.random.default_rng(0).normal(size=(12, 2)))


def run(objective, *, rate=0.1, batch_size=12, shuffle=None, history=None, **options):
    theta = np.array([3.0, 3.0])
    memory = RuleMemory.of(GradientDescent(rate), theta)
    stopping = options.pop("stopping", Stopping(50, 0.0, 1000))
    epochs = train(
        objective, theta, memory, batch_size=batch_size, stopping=stopping, shuffle=shuffle,
        history=history, **options,
    )  # fmt: skip
    return theta, epochs


def test_it_reaches_the_minimum_and_tells_of_each_epoch(objective):
    history = History()
    theta, epochs = run(objective, stopping=Stopping(400, 0.0, 400), history=history)
    seen = list(epochs)
    np.testing.assert_allclose(theta, objective.rows.mean(axis=0), atol=1e-12)
    assert seen == list(history)
    assert [epoch.number for epoch in seen] == list(range(1, 401))
    assert seen[-1].weight_norm == pytest.approx(np.linalg.norm(theta))
    assert np.isnan(seen[-1].validation_loss)
    losses = history.losses
    assert all(later <= earlier + 1e-15 for earlier, later in pairwise(losses))
    frame = history.to_frame()
    assert list(frame.columns) == [
        "epoch", "loss", "validation_loss", "learning_rate", "weight_norm"
    ]  # fmt: skip
    assert frame["loss"].tolist() == losses


def test_it_ends_without_progress(objective):
    _, epochs = run(objective, stopping=Stopping(1000, 1e-3, 3))
    losses = [epoch.loss for epoch in epochs]
    assert len(losses) < 100
    # The last three did not beat the best before them by the tolerance, the one before did.
    gains = np.minimum.accumulate(losses)[:-1] - losses[1:]
    assert (gains[-3:] < 1e-3).all()
    assert gains[-4] >= 1e-3


def test_the_best_epoch_on_unseen_rows_is_restored(objective):
    errors = iter([5.0, 3.0, 2.0, 4.0, 4.0, 4.0, 4.0])
    trace = []

    def validation(theta):
        trace.append(theta.copy())
        return next(errors)

    theta, epochs = run(objective, stopping=Stopping(100, 0.0, 3), validation=validation)
    unseen = [epoch.validation_loss for epoch in epochs]
    assert unseen == [5.0, 3.0, 2.0, 4.0, 4.0, 4.0]
    np.testing.assert_array_equal(theta, trace[2])


def test_the_best_is_restored_where_the_caller_ends_it(objective):
    errors = iter([1.0, 2.0, 3.0])
    trace = []
    theta, epochs = run(
        objective, validation=lambda point: trace.append(point.copy()) or next(errors)
    )
    next(epochs), next(epochs)
    assert not np.array_equal(theta, trace[0])
    epochs.close()
    np.testing.assert_array_equal(theta, trace[0])


def test_orders(objective):
    _, epochs = run(objective, batch_size=5, stopping=Stopping(3, 0.0, 10))
    list(epochs)
    assert all((order == np.arange(12)).all() for order in objective.orders)
    objective.orders.clear()
    _, epochs = run(objective, shuffle=np.random.default_rng(0), stopping=Stopping(3, 0.0, 10))
    list(epochs)
    assert all((np.sort(order) == np.arange(12)).all() for order in objective.orders)
    assert len({tuple(order) for order in objective.orders}) == 3


def test_rates(objective):
    _, epochs = run(objective, learning_rate=inverse(0.5), stopping=Stopping(3, 0.0, 10))
    assert [epoch.learning_rate for epoch in epochs] == [0.5, 0.25, pytest.approx(0.5 / 3)]
    rule = AdaptiveRate(0.1, increase=0.02, decrease=0.5)
    _, epochs = run(objective, learning_rate=rule, stopping=Stopping(4, 0.0, 10))
    np.testing.assert_allclose(
        [epoch.learning_rate for epoch in epochs], [0.1, 0.1, 0.12, 0.14], atol=1e-15
    )


def test_a_history_goes_on(objective):
    history = History([Epoch(1, 9.0, np.nan, 0.1, 1.0)])
    _, epochs = run(objective, history=history, stopping=Stopping(2, 0.0, 10))
    assert [epoch.number for epoch in epochs] == [2, 3]
    assert len(history) == 3


@pytest.mark.parametrize("solver", SEARCHES)
def test_searches_reach_the_minimum(objective, solver):
    theta, history = np.array([3.0, 3.0]), History()
    epochs = list(train_by_search(objective, theta, solver, Stopping(50, 1e-8, 10), None, history))
    np.testing.assert_allclose(theta, objective.rows.mean(axis=0), atol=1e-6)
    assert epochs == list(history)
    assert np.isnan(epochs[-1].learning_rate)


def test_a_search_keeps_the_best_on_unseen_rows_and_ends(objective):
    theta = np.array([3.0, 3.0])
    calls = []

    def validation(point):
        calls.append(point.copy())
        return float(len(calls))

    stopping = Stopping(50, 0.0, 1)
    epochs = list(train_by_search(objective, theta, "cg", stopping, validation, History()))
    assert len(epochs) <= 2
    np.testing.assert_array_equal(theta, calls[0])


def test_divergence_is_told_with_the_rate(objective):
    _, epochs = run(objective, rate=1e200)
    with (
        np.errstate(over="ignore"),
        pytest.raises(DataError, match=r"diverged.*learning rate of 1e\+200.*StandardScaler"),
    ):
        list(epochs)
