"""Linear regression row by row."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from tests.linear.examples import overlapping

from verulam.base import DataError
from verulam.linear import OnlineRegression
from verulam.numerics import constant, exponential, inverse

ROWS = overlapping()[0]
TARGETS = ROWS @ [1.0, -2.0, 0.5] + 3.0 + 0.3 * np.random.default_rng(0).normal(size=200)


def test_the_limit_is_least_squares():
    exact = LinearRegression().fit(ROWS, TARGETS)
    line = OnlineRegression(random_state=0).fit(ROWS, TARGETS)
    assert np.allclose(line.coef_, exact.coef_, atol=0.01)
    assert line.intercept_ == pytest.approx(exact.intercept_, abs=0.01)


def test_steps_are_errors_times_inputs():
    line = OnlineRegression(learning_rate=constant(0.01)).partial_fit(ROWS[:5], TARGETS[:5])
    expected = np.zeros(4)
    for row, target in zip(ROWS[:5], TARGETS[:5], strict=True):
        augmented = np.r_[1.0, row]
        expected += 0.01 * (target - expected @ augmented) * augmented
    assert np.allclose([line.intercept_, *line.coef_], expected)


def test_steps_go_down_the_slope_of_the_squared_error():
    line = OnlineRegression(learning_rate=constant(0.01)).partial_fit(ROWS[:5], TARGETS[:5])
    before = np.r_[line.intercept_, line.coef_]
    line.partial_fit(ROWS[5:6], TARGETS[5:6])

    def half_square(weights):
        return 0.5 * (TARGETS[5] - weights[0] - ROWS[5] @ weights[1:]) ** 2

    slopes = [
        (half_square(before + step) - half_square(before - step)) / 2e-6
        for step in 1e-6 * np.eye(4)
    ]
    after = np.r_[line.intercept_, line.coef_]
    assert np.allclose(after - before, -0.01 * np.array(slopes), atol=1e-7)


def test_several_targets_are_several_units():
    both = OnlineRegression(random_state=0).fit(ROWS, np.c_[TARGETS, -TARGETS])
    one = OnlineRegression(random_state=0).fit(ROWS, TARGETS)
    assert both.predict(ROWS).shape == (200, 2)
    assert np.allclose(both.coef_[0], one.coef_)
    assert np.allclose(both.coef_[1], -one.coef_)


def test_compressed_rows_give_the_same_line():
    line, compressed = OnlineRegression(random_state=0), sp.csr_array(ROWS)
    dense = line.fit(ROWS, TARGETS).predict(ROWS)
    assert np.allclose(line.fit(compressed, TARGETS).predict(compressed), dense)


def test_one_row_is_fitted_without_a_word():
    line = OnlineRegression(tol=1e-8).fit([[1.0, 2.0]], [3.0])
    assert line.predict([[1.0, 2.0]]) == pytest.approx([3.0], abs=1e-3)


def test_a_constant_rate_follows_drift():
    random = np.random.default_rng(0)
    line = OnlineRegression(learning_rate=0.05)
    for slope in (1.0, -1.0):
        for _ in range(20):
            rows = random.normal(size=(20, 1))
            line.partial_fit(rows, slope * rows[:, 0])
        assert line.coef_[0] == pytest.approx(slope, abs=0.05)


def test_a_rate_that_diverges_is_caught():
    with pytest.raises(DataError, match="grow without bound"):
        OnlineRegression(learning_rate=5.0, random_state=0).fit(ROWS, TARGETS)


def test_passes_that_end_too_early_are_said():
    with pytest.warns(ConvergenceWarning, match="stopped after 2 passes before .* raise max_iter"):
        line = OnlineRegression(max_iter=2, random_state=0).fit(ROWS, TARGETS)
    assert not line.converged_
    assert OnlineRegression(random_state=0).fit(ROWS, TARGETS).converged_


@pytest.mark.parametrize(
    ("rate", "message"),
    [(constant(0.01), "fall too slowly"), (exponential(0.1, 0.5), "finite sum")],
)
@pytest.mark.filterwarnings("ignore:OnlineRegression explains")
def test_rates_that_do_not_converge_are_said(rate, message):
    with pytest.warns(ConvergenceWarning, match=message):
        OnlineRegression(learning_rate=rate, max_iter=20, random_state=0).fit(ROWS, TARGETS)


@pytest.mark.filterwarnings("ignore:OnlineRegression stopped")
def test_raw_columns_are_told_to_be_scaled():
    rows = ROWS * [1.0, 1e4, 1e-3] + 100.0
    with pytest.warns(ConvergenceWarning, match="explains .* where least squares .* scale the in"):
        OnlineRegression(max_iter=50, random_state=0).fit(rows, TARGETS)


@pytest.mark.parametrize("record", ["passes", "steps"])
def test_the_way_has_weights_criterion_and_errors(record):
    line = OnlineRegression(record=record, tol=0.0, max_iter=3, random_state=0)
    way = line.fit(ROWS, TARGETS).trajectory_
    assert way.weights.shape == (601 if record == "steps" else 4, 1, 4)
    assert np.allclose(way.weights[-1, 0], [line.intercept_, *line.coef_])
    residuals = TARGETS - line.predict(ROWS)
    assert way.criterion[-1] == pytest.approx(0.5 * (residuals**2).sum())
    assert way.errors[-1] == pytest.approx(np.sqrt((residuals**2).mean()))
    assert line.loss_curve_[-1] == pytest.approx(0.5 * (residuals**2).mean())


def test_a_falling_rate_ends_nearer_to_least_squares_than_a_constant_one():
    exact = np.r_[LinearRegression().fit(ROWS, TARGETS).coef_]
    away = []
    for rate in (inverse(0.1, 0.5), constant(0.1)):
        line = OnlineRegression(learning_rate=rate)
        for _ in range(20):
            line.partial_fit(ROWS, TARGETS)
        away.append(np.abs(line.coef_ - exact).max())
    assert away[0] < 0.5 * away[1]
