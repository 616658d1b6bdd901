"""Units that vote, corrected by least disturbance."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import XOR, overlapping, separable

from verulam.linear import Madaline
from verulam.linear._multiclass.madaline import least_disturbance_pass

CORNERS = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])


def test_exclusive_or_is_within_reach_of_three_units():
    nets = [Madaline(random_state=seed).fit(CORNERS, XOR) for seed in range(10)]
    solved = [net for net in nets if net.converged_]
    assert len(solved) >= 5
    for net in solved:
        assert net.predict(CORNERS).tolist() == XOR.tolist()
        assert net.errors_ == 0


def test_only_as_many_units_as_needed_change_nearest_to_zero_first():
    rows, signs = np.array([[1.0, 2.0]]), np.array([1.0])
    weights = np.array([[-0.1, 0.0], [-5.0, 0.0], [-0.2, 0.0]])
    (after,) = least_disturbance_pass(rows, signs, weights, 1.0, np.random.default_rng(0))
    assert np.array_equal(after[1], weights[1])
    # With the full rate the corrected units give the wished output.
    assert np.allclose(after[[0, 2]] @ rows[0], 1.0)


def test_the_best_pass_is_kept():
    rows, classes = overlapping()
    with pytest.warns(ConvergenceWarning, match="best of them, which is kept"):
        net = Madaline(max_iter=20, random_state=0).fit(rows, classes)
    assert net.errors_ == net.error_curve_.min()
    assert len(net.error_curve_) == net.n_iter_ + 1
    assert net.errors_ == (net.predict(rows) != classes).sum()
    assert net.errors_ / 200 < 0.35


@pytest.mark.filterwarnings("ignore:Madaline stopped")
def test_raw_columns_are_told_to_be_scaled():
    rows, classes = separable(gap=0.4)
    with pytest.warns(ConvergenceWarning, match="Madaline misclassifies .* scale the inputs"):
        Madaline(max_iter=20, random_state=0).fit(rows + 1e4, classes)


@pytest.mark.parametrize("record", ["passes", "steps"])
def test_the_way_has_weights_criterion_and_errors(record):
    rows, classes = overlapping(60)
    with pytest.warns(ConvergenceWarning):
        net = Madaline(max_iter=5, record=record, random_state=0).fit(rows, classes)
    way, signs = net.trajectory_, np.where(classes == 1, 1, -1)
    assert way.weights.shape == (len(way.steps), 3, 4)
    outputs = np.c_[np.ones(60), rows] @ way.weights.transpose(0, 2, 1)
    majorities = signs * np.where(outputs > 0, 1, -1).sum(axis=2)
    assert np.array_equal(way.errors, (majorities < 0).sum(axis=1))
    assert np.array_equal(way.criterion, np.where(majorities < 0, -majorities, 0).sum(axis=1))
    if record == "passes":
        assert np.array_equal(way.errors, net.error_curve_)
        return
    changed = (np.diff(way.weights, axis=0) != 0).any(axis=2).sum(axis=1)
    assert ((changed == 1) | (changed == 2)).all()
    assert way.errors[0] == net.error_curve_[0]
