"""Logistic outputs by gradient descent: steps, limits, labels that overlap."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from tests.linear.examples import overlapping, separable

from verulam.base import DataError
from verulam.linear import GradientLogistic
from verulam.linear._logistic.gradient_logistic_loops import (
    LINEAR,
    SIGMOIDS,
    SOFTMAX,
    SQUARED_SIGMOIDS,
    online_pass,
)
from verulam.linear._logistic.output_training import gradient, loss_value, run_epoch
from verulam.numerics import constant, exponential, inverse, sigmoid, softmax

KINDS = [SOFTMAX, SIGMOIDS, SQUARED_SIGMOIDS, LINEAR]
IRIS = StandardScaler().fit_transform(load_iris().data)
SPECIES = load_iris().target


def _problem(n_outputs=3):
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 2))
    targets = np.eye(n_outputs)[random.integers(0, n_outputs, size=40)]
    return rows, targets, random.normal(size=(n_outputs, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_agree_with_differences(kind):
    rows, targets, point = _problem()
    analytic, small = gradient(rows, targets, point, kind), 1e-6
    for place in np.ndindex(*point.shape):
        step = np.zeros_like(point)
        step[place] = small
        values = [loss_value(rows, targets, point + sign * step, kind) for sign in (1, -1)]
        assert analytic[place] == pytest.approx((values[0] - values[1]) / (2 * small), abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_online_steps_are_gradients_of_single_rows(kind):
    rows, targets, point = _problem()
    order, rates = np.random.default_rng(1).permutation(40), 0.1 / np.arange(1, 41)
    expected = point.copy()
    for place, row in enumerate(order):
        one = slice(row, row + 1)
        expected -= rates[place] * gradient(rows[one], targets[one], expected, kind)
    online_pass(rows, targets, order, point, rates, kind, np.empty(len(point)))
    assert np.allclose(point, expected)


def test_softmax_corrections_sum_to_zero_over_the_classes():
    rows, targets, point = _problem()
    assert np.allclose(gradient(rows, targets, point, SOFTMAX).sum(axis=0), 0.0)


def test_two_softmax_outputs_are_a_sigmoid_of_their_difference():
    outputs = np.random.default_rng(0).normal(size=(20, 2))
    assert np.allclose(softmax(outputs, axis=1)[:, 0], sigmoid(outputs[:, 0] - outputs[:, 1]))


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_the_limit_is_maximum_likelihood(mode):
    rows, classes = overlapping(300)
    model = GradientLogistic(mode=mode, max_iter=3000, tol=0.0, random_state=0)
    model.fit(rows, classes)
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(rows, classes)
    difference = model.coef_[1] - model.coef_[0]
    assert np.allclose(difference, theirs.coef_[0], atol=0.05)


def test_sigmoids_are_independent_of_one_another():
    options = {
        "output": "sigmoids",
        "loss": "squared",
        "mode": "batch",
        "learning_rate": 0.02,
        "max_iter": 50,
        "tol": 0.0,
    }
    labels = np.column_stack([SPECIES == 0, SPECIES > 0, SPECIES == 2]).astype(int)
    whole = GradientLogistic(**options, random_state=0).fit(IRIS, labels)
    start = np.random.default_rng(0).uniform(-0.01, 0.01, size=(3, 5))
    for column in range(3):
        alone, target = start[column : column + 1].copy(), labels[:, column : column + 1]
        for _ in range(50):
            alone -= 0.02 * gradient(IRIS, target, alone, SQUARED_SIGMOIDS)
        assert np.allclose(whole.coef_[column], alone[0, 1:])


def test_rows_may_have_several_labels_or_none():
    labels = np.column_stack([IRIS[:, 2] > 0, IRIS[:, 3] > 0.8]).astype(int)
    model = GradientLogistic(output="sigmoids", random_state=0).fit(IRIS, labels)
    predicted = model.predict(IRIS)
    assert predicted.shape == labels.shape
    assert (predicted == labels).mean() > 0.95
    assert (predicted.sum(axis=1) == 0).any()
    assert (predicted.sum(axis=1) == 2).any()


def test_discrimination_by_regression_learns_two_classes():
    rows, classes = overlapping(300)
    options = {"output": "sigmoids", "loss": "squared", "random_state": 0}
    for mode in ("online", "batch"):
        model = GradientLogistic(mode=mode, **options).fit(rows, classes)
        assert model.converged_
        best = LogisticRegression(C=np.inf).fit(rows, classes)
        assert model.score(rows, classes) > best.score(rows, classes) - 0.02
        assert model.loss_curve_[-1] < model.loss_curve_[0]


@pytest.mark.parametrize("record", ["passes", "steps"])
@pytest.mark.parametrize("mode", ["online", "batch"])
def test_the_way_has_weights_criterion_and_errors(mode, record):
    model = GradientLogistic(mode=mode, record=record, tol=0.0, max_iter=3, random_state=0)
    way = model.fit(IRIS, SPECIES).trajectory_
    n_steps = 3 * 150 if (mode, record) == ("online", "steps") else 3
    assert way.weights.shape == (n_steps + 1, 3, 5)
    assert np.array_equal(way.weights[-1], np.c_[model.intercept_, model.coef_])
    assert way.criterion[-1] == pytest.approx(150 * model.loss_curve_[-1])
    assert way.errors[-1] == round(150 * model.error_curve_[-1])
    targets = np.eye(3)[SPECIES]
    for number in (0, n_steps // 2):
        value = loss_value(IRIS, targets, way.weights[number], SOFTMAX)
        assert way.criterion[number] == pytest.approx(value)
    assert GradientLogistic(random_state=0).fit(IRIS, SPECIES).trajectory_ is None


def test_passes_that_end_too_early_are_said():
    with pytest.warns(ConvergenceWarning, match="stopped after 3 passes before .* raise max_iter"):
        model = GradientLogistic(max_iter=3, random_state=0).fit(IRIS, SPECIES)
    assert not model.converged_
    assert GradientLogistic(random_state=0).fit(IRIS, SPECIES).converged_


@pytest.mark.parametrize(
    ("mode", "rate", "message"),
    [
        ("online", exponential(0.1, 0.9), "finite sum"),
        ("online", constant(0.01), "fall too slowly"),
        ("batch", exponential(0.01, 0.5), "finite sum"),
    ],
)
def test_rates_that_do_not_converge_are_said(mode, rate, message):
    model = GradientLogistic(mode=mode, learning_rate=rate, max_iter=5, random_state=0)
    with pytest.warns(ConvergenceWarning, match=message):
        model.fit(IRIS, SPECIES)


def test_a_constant_rate_of_all_rows_is_no_fault():
    model = GradientLogistic(mode="batch", learning_rate=constant(0.005), random_state=0)
    assert model.fit(IRIS, SPECIES).converged_


@pytest.mark.parametrize("kind", KINDS)
def test_compressed_rows_pass_alike(kind):
    rows, targets, point = _problem()
    order, rates = np.random.default_rng(2).permutation(len(rows)), 0.1 / np.arange(1, 41)
    table, results = sp.csr_array(np.where(np.abs(rows) > 0.5, rows, 0.0)), []
    for inputs in (table, table.toarray()):
        coefficients = point.copy()
        run_epoch(inputs, targets, order, coefficients, rates, kind)
        results.append((coefficients, gradient(inputs, targets, point, kind)))
    assert np.allclose(results[0][0], results[1][0])
    assert np.allclose(results[0][1], results[1][1])
    assert not np.allclose(results[0][0], point)


@pytest.mark.parametrize("mode", ["online", "batch"])
def test_compressed_rows_give_the_same_model(mode):
    rows, classes = overlapping()
    model = GradientLogistic(mode=mode, random_state=0)
    dense = model.fit(rows, classes).predict_proba(rows)
    compressed = sp.csr_array(rows)
    assert np.allclose(model.fit(compressed, classes).predict_proba(compressed), dense)


def test_three_classes():
    model = GradientLogistic(random_state=0).fit(IRIS, SPECIES)
    assert model.score(IRIS, SPECIES) > 0.95
    assert np.allclose(model.predict_proba(IRIS).sum(axis=1), 1.0)


def test_weights_grow_on_separable_classes_unless_stopped():
    rows, classes = separable()
    options = {"mode": "batch", "learning_rate": 0.01, "tol": 0.0, "random_state": 0}
    curves = GradientLogistic(max_iter=1000, **options).fit(rows, classes)
    lengths = curves.norm_curve_[[9, 99, 999]]
    assert (np.diff(lengths) > 0.5).all()
    assert curves.error_curve_[-1] == 0
    early = GradientLogistic(max_iter=1000, n_iter_no_change=5, **options).fit(rows, classes)
    assert early.n_iter_ < 100
    assert early.norm_curve_[-1] < lengths[1]
    assert early.error_curve_[-1] == 0


def test_no_correction_where_outputs_are_right():
    rows, targets, point = (
        np.ones((1, 2)),
        np.array([[1.0, 0.0]]),
        np.array([[400.0, 0, 0], [-400, 0, 0]]),
    )
    before = point.copy()
    online_pass(rows, targets, np.array([0]), point, np.ones(1), SOFTMAX, np.empty(2))
    assert np.array_equal(point, before)


def test_a_stream_in_chunks_is_one_pass():
    options = {"learning_rate": inverse(0.1, 0.6), "random_state": 0}
    whole = GradientLogistic(**options).partial_fit(IRIS, SPECIES)
    parts = GradientLogistic(**options)
    for start in range(0, 150, 40):
        parts.partial_fit(IRIS[start : start + 40], SPECIES[start : start + 40], classes=[0, 1, 2])
    assert np.allclose(whole.coef_, parts.coef_)


def test_a_constant_rate_recovers_from_a_change_of_concept():
    random = np.random.default_rng(0)
    model = GradientLogistic(learning_rate=0.05, random_state=0)
    for direction in (1, -1):
        for _ in range(30):
            rows = random.normal(size=(50, 2))
            model.partial_fit(rows, (direction * rows[:, 0] > 0).astype(int), classes=[0, 1])
        fresh = random.normal(size=(500, 2))
        assert (model.predict(fresh) == (direction * fresh[:, 0] > 0)).mean() > 0.95


@pytest.mark.parametrize(
    ("options", "labels", "message"),
    [
        ({"loss": "squared"}, SPECIES, "softmax has cross-entropy"),
        ({}, np.zeros(150), "only one class"),
        ({"output": "sigmoids"}, np.c_[SPECIES, SPECIES], "zeros and ones"),
    ],
)
def test_what_cannot_be_trained_is_refused(options, labels, message):
    with pytest.raises(DataError, match=message):
        GradientLogistic(**options).fit(IRIS, labels)


def test_a_label_that_was_not_announced_is_refused():
    model = GradientLogistic().partial_fit(IRIS, SPECIES)
    with pytest.raises(DataError, match="not among the classes"):
        model.partial_fit(IRIS[:1], [7])


@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1e4), (1e6, 0.0), (1.0, 100.0)])
def test_raw_columns_are_told_to_be_scaled(mode, scale, offset):
    rows, classes = separable(gap=0.4)
    model = GradientLogistic(mode=mode, max_iter=20, random_state=0)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        model.fit(rows * scale + offset, classes)
    # Either it learned, or it says what to do.
    warned = any("scale the inputs" in str(warning.message) for warning in raised)
    assert warned or model.score(rows * scale + offset, classes) > 0.9
    assert warned or offset == 0.0


def test_columns_in_one_scale_hear_nothing():
    rows, classes = separable(gap=0.4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GradientLogistic(random_state=0).fit(rows, classes)
    assert model.score(rows, classes) > 0.95
