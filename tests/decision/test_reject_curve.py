"""Error-reject curves: Chow's rule by definition, monotone, and against known densities."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from verulam.decision import ErrorRejectCurve, KnownDensities, RejectPoint, error_reject_curve


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return y, GaussianNB().fit(X[:, :2], y).predict_proba(X[:, :2])


def test_every_point_follows_the_definition(iris):
    y, p = iris
    curve = error_reject_curve(y, p)
    for threshold in [0.05, 0.2, 0.35, 0.5]:
        rejected = p.max(axis=1) < 1 - threshold
        wrong = ~rejected & (p.argmax(axis=1) != y)
        point = curve.at_threshold(threshold)
        assert_allclose([point.reject_rate, point.error_rate], [rejected.mean(), wrong.mean()])
        assert_allclose(point.accepted_error, wrong.sum() / (~rejected).sum())


def test_curve_is_monotone_and_begins_where_nothing_is_rejected(iris):
    y, p = iris
    curve = error_reject_curve(y, p)
    assert (np.diff(curve.reject_rate) >= 0).all()
    assert (np.diff(curve.error_rate) <= 1e-12).all()
    assert_allclose(curve.thresholds[0], 2 / 3)
    assert curve.at_threshold(2 / 3).reject_rate == curve.at_threshold(1.0).reject_rate == 0
    assert_allclose(curve.error_rate[0], (p.argmax(axis=1) != y).mean())


def test_certain_answers_are_never_rejected():
    curve = error_reject_curve([0, 1, 1, 0], [[1, 0], [1, 0], [0.4, 0.6], [0.3, 0.7]])
    assert curve.reject_rate[-1] == 0.5
    assert curve.error_rate[-1] == 0.25
    # Beyond, ties are rejected at random: half of the certain ones halves their errors.
    assert_allclose(curve.at(0.75).error_rate, 0.25 * 0.25 / 0.5)
    assert np.isnan(curve.at(1.0).accepted_error)


def test_rounding_of_the_complement_rejects_nothing():
    """A row is rejected below a probability of 0.7, not at it, though 1 - 0.7 exceeds 0.3."""
    p = np.array([0.7, 0.6, 0.8, 0.9])
    curve = error_reject_curve([0, 1, 0, 0], np.column_stack([p, 1 - p]))
    assert 1 - 0.7 > 0.3
    assert curve.at_threshold(0.3) == RejectPoint(0.25, 0.0)


def test_area_is_that_of_the_polygon():
    curve = error_reject_curve([0, 1, 0, 1], [[0.9, 0.1], [0.3, 0.7], [0.4, 0.6], [0.2, 0.8]])
    assert_allclose(curve.area, 0.25 * 0.25 / 2)
    assert_allclose(curve.at(0.125).error_rate, 0.125)


def test_weights_count_like_repeated_rows(iris):
    y, p = iris
    times = np.random.default_rng(0).integers(1, 4, size=len(y))
    weighted = error_reject_curve(y, p, sample_weight=times)
    repeated = error_reject_curve(np.repeat(y, times), np.repeat(p, times, axis=0))
    assert_allclose(weighted.reject_rate, repeated.reject_rate)
    assert_allclose(weighted.error_rate, repeated.error_rate, atol=1e-12)


def test_large_samples_approach_the_curve_of_the_densities():
    model = KnownDensities(None, [stats.norm(0, 1), stats.norm(2, 1)])
    x, y = model.sample(100_000, random_state=0)
    curve = error_reject_curve(y, model.posterior(x))
    for cost in [0.1, 0.3]:
        exact, point = model.outcome_of(model.regions(reject_cost=cost)), curve.at_threshold(cost)
        assert_allclose(point.error_rate, exact.error, atol=0.004)
        assert_allclose(point.reject_rate, exact.reject, atol=0.007)


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [[0.5, 0.5]], "y has 2 rows, but probabilities has 1"),
        ([0, 1], [[0.5, 0.3, 0.2]] * 2, r"column for each of the 2 classes \[0, 1\]"),
        ([0, 1], [[0.5, 0.6]] * 2, "each row must sum to one"),
        ([0, 1], [[1.5, -0.5]] * 2, "must not be negative"),
        ([0, 0], [[1.0], [1.0]], "two or more"),
    ],
)
def test_bad_input_is_refused(y, p, message):
    with pytest.raises(ValueError, match=message):
        error_reject_curve(y, p)


def test_rates_and_thresholds_outside_the_unit_interval_are_refused(iris):
    curve = error_reject_curve(*iris)
    with pytest.raises(ValueError, match="rate must lie between 0 and 1, but is 2"):
        curve.at(2)
    with pytest.raises(ValueError, match="threshold must lie between 0 and 1, but is -1"):
        curve.at_threshold(-1)


def test_between_two_points_ties_are_rejected_at_random():
    curve = ErrorRejectCurve(np.array([0.5, 0.2]), np.array([0.0, 0.4]), np.array([0.3, 0.1]))
    middle = curve.at(0.2)
    assert_allclose([middle.reject_rate, middle.error_rate], [0.2, 0.2])
    # Down to the rejection of everything, where no error is left.
    assert_allclose(curve.area, 0.4 * 0.2 + 0.6 * 0.05)
    assert RejectPoint(0.5, 0.1).accepted_error == 0.2
    assert np.isnan(RejectPoint(1.0, 0.0).accepted_error)
