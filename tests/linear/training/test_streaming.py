"""Going on with every new row."""

import pickle

import numpy as np
import pytest
from tests.linear.examples import overlapping, separable

from verulam.base import DataError
from verulam.linear import GradientLogistic, LeastMeanSquares, OnlineRegression, Perceptron


def test_chunks_in_order_are_one_pass():
    rows, classes = overlapping()
    whole = Perceptron().partial_fit(rows, classes)
    parts = Perceptron()
    for start in range(0, 200, 7):
        parts.partial_fit(rows[start : start + 7], classes[start : start + 7], classes=[0, 1])
    assert np.allclose(whole.coef_, parts.coef_)
    assert whole.n_corrections_ == parts.n_corrections_


def test_the_mean_goes_on_over_chunks():
    rows, classes = overlapping()
    whole = Perceptron(average=True).partial_fit(rows, classes)
    parts = Perceptron(average=True).partial_fit(rows[:90], classes[:90])
    parts.partial_fit(rows[90:], classes[90:])
    assert np.allclose(whole.coef_, parts.coef_)


def test_training_goes_on_from_a_fit():
    rows, classes = separable()
    trainer = Perceptron(random_state=0).fit(rows, classes)
    before = trainer.coef_.copy()
    trainer.partial_fit(rows, classes)
    assert np.array_equal(trainer.coef_, before)
    assert trainer.converged_


def test_a_constant_rate_follows_a_change():
    random = np.random.default_rng(0)
    unit = LeastMeanSquares(learning_rate=0.01)
    for direction in (1.0, -1.0):
        for _ in range(20):
            rows = random.normal(size=(50, 2))
            unit.partial_fit(rows, (direction * rows[:, 0] > 0).astype(int), classes=[0, 1])
        assert np.sign(unit.coef_[0, 0]) == direction


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([0, 2], None, "label '2', which is not among"),
        ([0, 1], [0, 5], "not those of the first call"),
    ],
)
def test_labels_must_stay_the_same(labels, classes, message):
    trainer = Perceptron().partial_fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(DataError, match=message):
        trainer.partial_fit([[0.0], [1.0]], labels, classes=classes)


def test_the_first_chunk_needs_both_labels():
    with pytest.raises(DataError, match="only one class"):
        Perceptron().partial_fit([[0.0]], [1])


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(),
        Perceptron(average=True),
        LeastMeanSquares(),
        GradientLogistic(random_state=0),
        OnlineRegression(),
    ],
)
def test_what_is_kept_does_not_grow_with_the_stream(learner):
    """Memory is that of the weights, whatever the number of rows seen."""
    random, sizes = np.random.default_rng(0), []
    for number in range(60):
        rows = random.normal(size=(200, 3))
        learner.partial_fit(rows, (rows[:, 0] > 0).astype(int))
        if number in (9, 59):
            sizes.append(len(pickle.dumps(learner)))
    assert abs(sizes[1] - sizes[0]) < 16
    assert sizes[1] < 200 * 3 * 8
