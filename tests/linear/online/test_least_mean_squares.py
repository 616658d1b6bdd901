"""The Widrow-Hoff rule: its limit is least squares, which need not separate."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.linear.examples import AND, CORNERS, overlapping, separable

from verulam.base import DataError
from verulam.linear import LeastMeanSquares, MinimumSquaredError, separability, sign_normalise
from verulam.numerics import inverse


@pytest.mark.parametrize(("mode", "tol", "near"), [("online", 1e-4, 0.02), ("batch", 1e-8, 1e-5)])
def test_the_limit_is_least_squares(mode, tol, near):
    rows, classes = overlapping()
    unit = LeastMeanSquares(mode=mode, tol=tol, max_iter=5000, random_state=0)
    exact = MinimumSquaredError().fit(rows, classes)
    unit.fit(rows, classes)
    assert np.allclose(unit.coef_, exact.coef_, atol=near)
    assert np.allclose(unit.intercept_, exact.intercept_, atol=near)


@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize("margins", ["fisher", "own"])
def test_other_margins_have_their_own_limit(mode, margins):
    rows, classes = overlapping()
    unbalanced = np.arange(200) % 4 > 0
    rows, classes = rows[unbalanced], classes[unbalanced]
    margins = np.linspace(0.5, 3.0, 150) if margins == "own" else margins
    unit = LeastMeanSquares(mode=mode, margins=margins, tol=1e-6, max_iter=5000)
    unit.set_params(random_state=0, record="passes").fit(rows, classes)
    exact = MinimumSquaredError(margins=margins).fit(rows, classes)
    assert np.allclose(unit.coef_, exact.coef_, atol=0.02)
    assert np.allclose(unit.intercept_, exact.intercept_, atol=0.02)
    assert unit.trajectory_.criterion[-1] == pytest.approx(exact.residual_sum_, rel=1e-3)
    ones = MinimumSquaredError().fit(rows, classes)
    assert not np.allclose(exact.coef_, ones.coef_, atol=0.05)


def test_a_stream_has_ones_and_goes_on_from_a_batch():
    rows, classes = overlapping()
    with pytest.raises(DataError, match='margins must be "ones"'):
        LeastMeanSquares(margins="fisher").partial_fit(rows, classes)
    unit = LeastMeanSquares(mode="batch", learning_rate=1e-3, tol=1e-9).fit(rows, classes)
    before = np.r_[unit.intercept_, unit.coef_[0]]
    row = np.r_[1.0, rows[0]]
    unit.partial_fit(rows[:1], classes[:1], classes=[0, 1])
    step = 1e-3 * (-1.0 - before @ row) * row
    assert np.allclose(np.r_[unit.intercept_, unit.coef_[0]], before + step)


def test_weights_may_start_anywhere():
    rows, classes = overlapping()
    exact = MinimumSquaredError().fit(rows, classes)
    start = np.r_[exact.intercept_, exact.coef_[0]]
    unit = LeastMeanSquares(mode="batch", init=start, record="steps").fit(rows, classes)
    assert unit.trajectory_.weights[0].tolist() == start.tolist()
    assert unit.n_iter_ == 1
    for mode in ("online", "batch"):
        near = LeastMeanSquares(mode=mode, init="random", record="passes", random_state=0)
        first = near.fit(rows, classes).trajectory_.weights[0]
        assert first.any()
        assert np.abs(first).max() < 0.01


def test_a_falling_rate_may_be_given():
    rows, classes = overlapping()
    unit = LeastMeanSquares(learning_rate=inverse(0.05, 0.6), tol=1e-3, random_state=0)
    exact = MinimumSquaredError().fit(rows, classes)
    assert np.allclose(unit.fit(rows, classes).coef_, exact.coef_, atol=0.05)


@pytest.mark.parametrize("compressed", [False, True])
def test_the_first_short_correction_ends_training(compressed):
    """Bartkowiak's rule: stop where |eta(k) (b - a'y) y| is below the threshold, within a pass."""
    rows, classes = overlapping()
    signed = sign_normalise(rows, classes == 1)
    weights, step, threshold = np.zeros(4), 0, 2e-4
    while True:
        row = signed[step % len(signed)]
        step += 1
        correction = 0.1 / step * (1.0 - weights @ row) * row
        weights = weights + correction
        if np.linalg.norm(correction) < threshold:
            break
    assert step > 2 * len(rows)
    assert step % len(rows) > 0
    unit = LeastMeanSquares(
        learning_rate=inverse(0.1, 1.0), stopping="correction", tol=threshold, shuffle=False
    )
    with warnings.catch_warnings():
        # A chance row ends training early, and the trainer says so.
        warnings.simplefilter("ignore", ConvergenceWarning)
        unit.fit(sp.csr_array(rows) if compressed else rows, classes)
    assert np.allclose(np.r_[unit.intercept_, unit.coef_[0]], weights)
    assert unit.converged_
    assert unit.n_iter_ == step // len(rows) + 1


def test_the_text_s_rule_in_batches_is_a_length_of_the_correction():
    rows, classes = overlapping()
    unit = LeastMeanSquares(mode="batch", learning_rate=1e-3, stopping="correction", tol=1e-3)
    unit.set_params(record="steps").fit(rows, classes)
    lengths = np.linalg.norm(np.diff(unit.trajectory_.weights, axis=0), axis=1)
    assert lengths[-1] < 1e-3 <= lengths[:-1].min()
    assert unit.converged_


def test_a_rule_of_corrections_needs_a_threshold_and_spares_streams():
    rows, classes = overlapping()
    with pytest.raises(DataError, match='tol must be above 0 with stopping="correction"'):
        LeastMeanSquares(stopping="correction", tol=0.0).fit(rows, classes)
    with pytest.raises(ValueError, match="'stopping' parameter of LeastMeanSquares must be"):
        LeastMeanSquares(stopping="theta").fit(rows, classes)
    streams = [
        LeastMeanSquares(learning_rate=1e-3, stopping=rule, tol=10.0).partial_fit(rows, classes)
        for rule in ("pass", "correction")
    ]
    assert np.array_equal(streams[0].coef_, streams[1].coef_)


def test_separable_classes_that_least_squares_does_not_separate():
    # One far row of a class pulls the line over the others of its own class.
    rows = np.array([[0.0], [1.0], [1.5], [2.0], [30.0]])
    classes = np.array([0, 0, 1, 1, 1])
    assert separability(rows, classes)
    unit = LeastMeanSquares(mode="batch", tol=1e-9, max_iter=100_000).fit(rows, classes)
    assert unit.converged_
    assert unit.score(rows, classes) < 1.0


def test_and_is_learned_and_thresholded_at_prediction_only():
    unit = LeastMeanSquares(mode="batch", tol=1e-9, max_iter=10_000).fit(CORNERS, AND)
    assert unit.predict(CORNERS).tolist() == [0, 0, 0, 1]
    assert unit.decision_function(CORNERS) == pytest.approx([-1.5, -0.5, -0.5, 0.5])


def test_the_criterion_is_the_squared_error():
    rows, classes = overlapping()
    unit = LeastMeanSquares(mode="batch", record="passes").fit(rows, classes)
    signs = np.where(classes == 1, 1.0, -1.0)
    squares = ((signs - unit.decision_function(rows)) ** 2).sum()
    assert unit.trajectory_.criterion[-1] == pytest.approx(squares)
    assert (np.diff(unit.trajectory_.criterion) <= 0).all()


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_a_rate_that_diverges_is_caught(mode):
    with pytest.raises(DataError, match="learning_rate=10 makes the weights grow"):
        LeastMeanSquares(mode=mode, learning_rate=10.0, random_state=0).fit(*overlapping())


def test_raw_columns_are_told_to_be_scaled():
    rows, classes = separable(gap=0.4)
    with pytest.warns(ConvergenceWarning, match="scale the inputs|let learning_rate fall"):
        LeastMeanSquares(random_state=0).fit(rows + 1e4, classes)
