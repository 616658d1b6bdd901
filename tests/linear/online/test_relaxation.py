"""Relaxation: each correction goes its part of the way to the margin."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import overlapping, separable

from verulam.linear import Relaxation, sign_normalise


@pytest.mark.parametrize("part", [0.5, 1.0, 1.8])
def test_a_row_goes_its_part_of_the_way(part):
    trainer = Relaxation(relaxation=part, shuffle=False, record="steps")
    trainer.fit([[2.0], [-3.0]], [1, 0])
    first = trainer.trajectory_.weights[1]
    assert first @ [1.0, 2.0] == pytest.approx(part)


@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize("part", [0.7, 1.5])
def test_the_margin_is_reached(mode, part):
    rows, classes = separable()
    trainer = Relaxation(mode=mode, relaxation=part, max_iter=20_000, random_state=0)
    trainer.fit(rows, classes)
    products = sign_normalise(rows, classes == 1) @ np.r_[trainer.intercept_, trainer.coef_[0]]
    assert products.min() >= 0.9 - 1e-9


def test_a_batch_step_weighs_each_row_by_its_own_length():
    rows, classes = overlapping()
    signed = sign_normalise(rows, classes == 1)
    trainer = Relaxation(mode="batch", relaxation=0.7, margin=0.5, max_iter=2, record="passes")
    with pytest.warns(ConvergenceWarning):
        trainer.fit(rows, classes)
    before, after = trainer.trajectory_.weights[:2]
    short = signed[signed @ before <= 0.5]
    steps = (0.5 - short @ before)[:, None] * short / (short**2).sum(axis=1, keepdims=True)
    assert np.allclose(after - before, 0.7 * steps.mean(axis=0))


def test_the_batch_criterion_falls():
    rows, classes = separable()
    trainer = Relaxation(mode="batch", relaxation=1.0, max_iter=20_000, record="passes")
    trainer.fit(rows, classes)
    way = trainer.trajectory_.criterion
    assert (np.diff(way) <= 1e-12).all()
    signed = sign_normalise(rows, classes == 1)
    squares = (signed**2).sum(axis=1)
    assert way[0] == pytest.approx(0.5 * (1 / squares).sum())


def test_errors_stay_bounded_where_classes_overlap():
    with pytest.warns(ConvergenceWarning, match="never will"):
        trainer = Relaxation(relaxation=0.1, max_iter=50, random_state=0).fit(*overlapping())
    assert trainer.score(*overlapping()) > 0.6


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_weights_may_start_anywhere(mode):
    rows, classes = separable()
    trainer = Relaxation(mode=mode, init=[3.0, 0.0, -1.0, 2.0], record="steps", random_state=0)
    way = trainer.set_params(max_iter=5000).fit(rows, classes).trajectory_
    assert way.weights[0].tolist() == [3.0, 0.0, -1.0, 2.0]
    assert way.criterion[-1] < way.criterion[0]


def test_rows_of_zeros_move_the_bias_only():
    trainer = Relaxation(random_state=0).fit([[0.0, 0.0], [0.0, 0.0], [3.0, 1.0]], [0, 0, 1])
    assert trainer.converged_
    assert np.isfinite(trainer.coef_).all()


@pytest.mark.parametrize("part", [0.0, 2.0])
def test_only_parts_between_zero_and_two_converge(part):
    with pytest.raises(ValueError, match="relaxation"):
        Relaxation(relaxation=part).fit([[0.0], [1.0]], [0, 1])
