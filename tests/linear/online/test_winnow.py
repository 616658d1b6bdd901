"""Balanced Winnow: few corrections among many irrelevant inputs."""

import numpy as np
import pytest
from tests.linear.examples import AND, CORNERS, OR

from verulam.base import DataError
from verulam.linear import BalancedWinnow, Perceptron


@pytest.mark.parametrize("classes", [AND, OR])
def test_boolean_functions(classes):
    trainer = BalancedWinnow(random_state=0).fit(CORNERS, classes)
    assert trainer.predict(CORNERS).tolist() == classes.tolist()


def test_a_correction_multiplies():
    trainer = BalancedWinnow(factor=2.0, shuffle=False, max_iter=1000, record="steps")
    trainer.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    # After the first row: positive weights (2, 2, 1), negative ones (1/2, 1/2, 1).
    assert trainer.trajectory_.weights[1] == pytest.approx([1.5, 1.5, 0.0])


def test_a_correction_may_leave_the_other_class_alone():
    trainer = BalancedWinnow(factor=2.0, update="one", shuffle=False, record="steps")
    trainer.fit([[1.0, 0.0], [0.0, 1.0]], [1, 0])
    # After the first row: positive weights (2, 2, 1); after the second negative ones (2, 1, 2).
    assert trainer.trajectory_.weights[1] == pytest.approx([1.0, 1.0, 0.0])
    assert trainer.trajectory_.weights[2] == pytest.approx([0.0, 1.0, -1.0])
    assert trainer.converged_


def test_fewer_corrections_than_a_perceptron_among_irrelevant_inputs():
    random = np.random.default_rng(0)
    rows = np.where(random.normal(size=(400, 200)) > 0, 1.0, -1.0)
    classes = (rows[:, :3].sum(axis=1) > 0).astype(int)
    winnow = BalancedWinnow(factor=1.2, random_state=0, record="steps").fit(rows, classes)
    perceptron = Perceptron(random_state=0).fit(rows, classes)
    assert winnow.converged_
    assert len(winnow.trajectory_.steps) < perceptron.n_corrections_ / 2


def test_rows_of_zeros_move_the_bias_only():
    trainer = BalancedWinnow(random_state=0).fit([[0.0], [0.0], [1.0]], [0, 0, 1])
    assert trainer.predict([[0.0], [1.0]]).tolist() == [0, 1]


def test_a_factor_that_overflows_is_named():
    rows = np.array([[1000.0], [1001.0], [1002.0]])
    with pytest.raises(DataError, match="factor=5 makes the weights grow"):
        BalancedWinnow(factor=5.0, random_state=0).fit(rows, [0, 1, 0])


def test_the_last_recorded_pass_is_the_result():
    trainer = BalancedWinnow(random_state=0, record="passes").fit(CORNERS, OR)
    last = trainer.trajectory_.weights[-1]
    assert np.allclose(last, np.r_[trainer.intercept_, trainer.coef_[0]])
    assert len(trainer.trajectory_.steps) == trainer.n_iter_ + 1


def test_a_factor_in_words_must_be_auto():
    with pytest.raises(ValueError, match="'factor' parameter"):
        BalancedWinnow(factor="large").fit([[0.0], [1.0]], [0, 1])
