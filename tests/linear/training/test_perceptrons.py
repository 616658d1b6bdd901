"""Perceptrons: they end on separable classes, within the bound, and record their way."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Peer
from tests.linear.examples import AND, CORNERS, OR, overlapping, separable

from verulam.base import DataError, clone
from verulam.linear import (
    BatchPerceptron,
    FarthestMarginPerceptron,
    Perceptron,
    separability,
    sign_normalise,
)
from verulam.numerics import check_schedule, inverse

TRAINERS = {
    "batch": BatchPerceptron(),
    "batch, variable": BatchPerceptron(margin=0.5, learning_rate=inverse(1.0, 0.5)),
    "fixed increment": Perceptron(random_state=0),
    "cyclic": Perceptron(shuffle=False),
    "variable increment": Perceptron(margin=0.5, learning_rate=inverse(1.0, 0.5), random_state=0),
    "farthest margin": FarthestMarginPerceptron(),
}


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize("classes", [AND, OR])
def test_separable_functions_are_learned(name, classes):
    trainer = TRAINERS[name].fit(CORNERS, classes)
    assert trainer.predict(CORNERS).tolist() == classes.tolist()
    assert trainer.converged_


@pytest.mark.parametrize("encoding", [0.0, -1.0])
def test_binary_and_bipolar_inputs_learn_and(encoding):
    rows = np.where(CORNERS == 1, 1.0, encoding)
    assert Perceptron(random_state=0).fit(rows, AND).score(rows, AND) == 1.0


@pytest.mark.parametrize("name", TRAINERS)
def test_random_separable_classes(name):
    rows, classes = separable(gap=0.5, seed=3)
    trainer = TRAINERS[name].fit(rows, classes)
    products = sign_normalise(rows, classes == 1) @ np.r_[trainer.intercept_, trainer.coef_[0]]
    assert (products > getattr(trainer, "margin", 0.0)).all()


@pytest.mark.parametrize("seed", range(10))
def test_corrections_stay_within_the_bound(seed):
    rows, classes = separable(gap=0.6, seed=seed)
    signed = sign_normalise(rows, classes == 1)
    plane = separability(rows, classes)
    solution = np.r_[plane.bias, plane.weights]
    margin = (signed @ solution).min() / np.linalg.norm(solution)
    radius = np.linalg.norm(signed, axis=1).max()
    trainer = Perceptron(random_state=seed).fit(rows, classes)
    assert trainer.n_corrections_ <= (radius / margin) ** 2


def test_the_same_corrections_as_scikit_learn_in_the_same_order():
    rows, classes = overlapping()
    with pytest.warns(ConvergenceWarning):
        ours = Perceptron(max_iter=5, shuffle=False).fit(rows, classes)
    theirs = Peer(max_iter=5, shuffle=False, tol=None, early_stopping=False).fit(rows, classes)
    assert np.allclose(ours.coef_, theirs.coef_)
    assert np.allclose(ours.intercept_, theirs.intercept_)


def test_the_mean_errs_less_than_the_last_where_classes_overlap():
    errors = {False: [], True: []}
    for seed in range(10):
        rows, classes = overlapping(400, seed=seed)
        fresh, labels = overlapping(2000, seed=100 + seed)
        for average, rates in errors.items():
            trainer = Perceptron(average=average, max_iter=10, random_state=seed)
            with nullcontext() if average else pytest.warns(ConvergenceWarning):
                trainer.fit(rows, classes)
            rates.append(1 - trainer.score(fresh, labels))
    assert np.mean(errors[True]) < np.mean(errors[False]) - 0.02


def test_the_farthest_margin_corrects_by_the_worst_row():
    rows, classes = separable()
    trainer = FarthestMarginPerceptron(record="steps").fit(rows, classes)
    signed = sign_normalise(rows, classes == 1)
    path = trainer.trajectory_.weights
    for before, after in pairwise(path):
        assert np.allclose(after - before, signed[(signed @ before).argmin()])


def test_slack_lets_rows_go_that_cannot_be_put_right():
    rows, classes = overlapping()
    trainer = FarthestMarginPerceptron(slack=3.0).fit(rows, classes)
    products = sign_normalise(rows, classes == 1) @ np.r_[trainer.intercept_, trainer.coef_[0]]
    assert trainer.converged_
    assert (products <= 0).any()
    assert (products + trainer.slacks_ > 0).all()
    assert trainer.slacks_.sum() == 3.0 * trainer.n_iter_
    assert trainer.score(rows, classes) > 0.6
    with pytest.warns(ConvergenceWarning, match="raise max_iter, or slack"):
        FarthestMarginPerceptron(slack=0.01, max_iter=50).fit(rows, classes)


def test_slack_is_an_input_of_its_own_for_every_row():
    rows, classes = overlapping(40)
    wide = np.column_stack([rows, np.sqrt(2.0) * np.eye(40) * np.where(classes == 1, 1, -1)])
    slack = FarthestMarginPerceptron(slack=2.0).fit(rows, classes)
    plain = FarthestMarginPerceptron().fit(wide, classes)
    assert slack.n_iter_ == plain.n_iter_
    assert np.allclose(slack.coef_[0], plain.coef_[0, :3])
    assert np.allclose(slack.slacks_, np.sqrt(2.0) * plain.coef_[0, 3:])


@pytest.mark.parametrize("trainer", [BatchPerceptron(), Perceptron(random_state=0)])
def test_weights_may_start_anywhere(trainer):
    rows, classes = separable()
    solution = clone(trainer).fit(rows, classes)
    start = np.r_[solution.intercept_, solution.coef_[0]]
    again = clone(trainer).set_params(init=start, record="steps").fit(rows, classes)
    assert again.trajectory_.weights.tolist() == [start.tolist()]
    with pytest.raises(DataError, match="init must be 4 finite numbers"):
        clone(trainer).set_params(init=[1.0]).fit(rows, classes)


def test_small_random_weights_let_the_rate_matter():
    """From zero a constant rate changes the length of the weights only."""
    sample = separable(gap=0.2)
    ways = {}
    for start in (None, "random"):
        for rate in (1.0, 0.01):
            trainer = Perceptron(learning_rate=rate, init=start, random_state=0).fit(*sample)
            assert trainer.score(*sample) == 1.0
            ways[start, rate] = trainer.n_corrections_
    assert ways[None, 1.0] == ways[None, 0.01]
    assert ways["random", 1.0] != ways["random", 0.01]


def test_the_criterion_on_the_way_is_the_perceptrons():
    rows, classes = separable()
    trainer = BatchPerceptron(record="passes").fit(rows, classes)
    way = trainer.trajectory_
    products = sign_normalise(rows, classes == 1) @ way.weights.T
    assert np.allclose(way.criterion, np.where(products < 0, -products, 0.0).sum(axis=0))
    assert way.criterion[-1] == way.errors[-1] == 0
    assert (way.criterion >= 0).all()


@pytest.mark.parametrize("record", ["passes", "steps"])
def test_the_way_of_an_averaged_perceptron_ends_at_the_mean(record):
    rows, classes = overlapping(100)
    trainer = Perceptron(average=True, max_iter=5, record=record, random_state=0)
    trainer.fit(rows, classes)
    assert np.allclose(trainer.trajectory_.weights[-1], [*trainer.intercept_, *trainer.coef_[0]])


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", [Perceptron, BatchPerceptron])
def test_variable_increments_reach_the_margin_under_every_schedule_that_converges(kind, power):
    rows, classes = separable(gap=0.6, seed=3)
    # The first step of all rows together must not be enough.
    schedule = inverse(1.0 if kind is Perceptron else 0.005 * 4**power, power)
    assert check_schedule(schedule).separates
    trainer = kind(margin=0.5, learning_rate=schedule, max_iter=20_000).fit(rows, classes)
    assert trainer.n_iter_ > 1
    products = sign_normalise(rows, classes == 1) @ np.r_[trainer.intercept_, trainer.coef_[0]]
    assert trainer.converged_
    assert (products > 0.5).all()


def test_corrections_by_all_rows_go_a_smoother_way():
    """Steps of all rows point the same way where single rows pull to and fro."""
    sample = overlapping(100)
    options = {"margin": 1.0, "learning_rate": inverse(0.001, 0.5), "record": "steps"}
    turns = []
    for trainer in (BatchPerceptron(**options), Perceptron(random_state=0, **options)):
        with pytest.warns(ConvergenceWarning):
            trainer.set_params(max_iter=20).fit(*sample)
        steps = np.diff(trainer.trajectory_.weights[:21], axis=0)
        steps /= np.linalg.norm(steps, axis=1, keepdims=True)
        turns.append((steps[1:] * steps[:-1]).sum(axis=1).mean())
    assert turns[0] > 0.9
    assert turns[1] < 0.6
