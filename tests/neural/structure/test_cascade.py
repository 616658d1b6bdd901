"""Cascades of frozen units."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, DataWarning, whole_trainings
from verulam.neural import CascadeCorrelationClassifier, CascadeCorrelationRegressor
from verulam.neural._structure import cascade

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def spirals(n_rows):
    turn = np.linspace(0.25, 1.0, n_rows) * 3 * np.pi
    one = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) / 9.0
    return np.vstack([one, -one]), np.repeat([0, 1], n_rows)


def test_exclusive_or_needs_one_unit():
    net = CascadeCorrelationClassifier(goal=0.01, alpha=0.0, random_state=0).fit(XOR, [0, 1, 1, 0])
    assert net.n_units_ == 1
    assert net.predict(XOR).tolist() == [0, 1, 1, 0]


def test_two_spirals():
    X, y = spirals(70)
    net = CascadeCorrelationClassifier(
        max_units=25, alpha=0.0, goal=0.05, tol=0.0, random_state=0
    ).fit(X, y)
    assert net.score(X, y) > 0.97
    assert net.path_["loss"].is_monotonic_decreasing
    assert [len(weights) for weights in net.hidden_] == list(range(3, 3 + net.n_units_))


def test_frozen_weights_stay_bit_for_bit():
    X, y = spirals(30)
    nets = [
        CascadeCorrelationClassifier(max_units=units, tol=0.0, random_state=0).fit(X, y)
        for units in (2, 5)
    ]
    for fewer, more in zip(nets[0].hidden_, nets[1].hidden_, strict=False):
        np.testing.assert_array_equal(fewer, more)
    assert nets[0].path_["loss"].tolist() == nets[1].path_["loss"].tolist()[:3]


def test_the_covariance_is_that_of_the_definition_and_at_a_maximum():
    X, y = spirals(30)
    net = CascadeCorrelationClassifier(max_units=1, max_iter=2000, random_state=0).fit(X, y)
    linear = CascadeCorrelationClassifier(max_units=0).fit(X, y)
    inputs = np.column_stack([np.ones(len(X)), X])
    residuals = (linear.predict_proba(X) - np.eye(2)[y]) / len(X)
    centred = residuals - residuals.mean(axis=0)

    def covariance(weights):
        values = np.tanh(inputs @ weights)
        return np.abs((values - values.mean()) @ centred).sum()

    best = covariance(net.hidden_[0])
    assert net.path_["covariance"].iloc[-1] == pytest.approx(best, rel=1e-6)
    random = np.random.default_rng(0)
    for _ in range(50):
        assert covariance(net.hidden_[0] + random.normal(scale=0.01, size=3)) <= best + 1e-5


def test_numbers():
    x = np.linspace(-3, 3, 100)[:, None]
    y = 1000 + 50 * np.sin(2 * x[:, 0])
    net = CascadeCorrelationRegressor(random_state=0).fit(x, y)
    assert net.score(x, y) > 0.995
    # Without units it is ridge regression, nearly without ridge.
    line = CascadeCorrelationRegressor(max_units=0, alpha=0.0).fit(x, y)
    np.testing.assert_allclose(
        line.predict(x), np.polyval(np.polyfit(x[:, 0], y, 1), x[:, 0]), rtol=1e-6
    )
    constant = CascadeCorrelationRegressor(random_state=0).fit(x, np.full(100, 7.0))
    np.testing.assert_allclose(constant.predict(x), 7.0)
    assert constant.n_units_ == 0
    assert net.path_.iloc[:, 0].tolist() == list(range(net.n_units_ + 1))


def test_refused():
    with pytest.raises(ValueError, match="one class alone, 1"):
        CascadeCorrelationClassifier().fit(XOR, [1, 1, 1, 1])
    with pytest.raises(ValueError, match="n_candidates"):
        CascadeCorrelationClassifier(n_candidates=0).fit(XOR, [0, 1, 1, 0])
    with pytest.raises((DataError, ValueError), match="3"):
        CascadeCorrelationRegressor().fit(XOR, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("learner", [CascadeCorrelationClassifier(), CascadeCorrelationRegressor()])
def test_numbers_too_large_to_train_with_are_refused(learner):
    rows = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1e150, -2e150, 1.0]})
    with pytest.raises(DataError, match=r"up to 2e\+150 in column 'b', too large to train with"):
        learner.fit(rows, [0, 1, 0, 1])


@pytest.mark.parametrize("calls", [7, 9, 15])
def test_an_interrupt_leaves_the_units_so_far(monkeypatch, calls):
    """Two candidates and the outputs are three searches for each unit, after one without any."""
    whole, searches = cascade.minimize, []

    def minimize(*arguments, **options):
        searches.append(1)
        if len(searches) == calls:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    options = {"n_candidates": 2, "tol": 0.0, "goal": 0.0, "max_units": 6, "random_state": 0}
    x = np.linspace(-3, 3, 100)[:, None]
    y = np.sin(3 * x[:, 0])
    expected = CascadeCorrelationRegressor(**{**options, "max_units": (calls - 2) // 3}).fit(x, y)
    monkeypatch.setattr(cascade, "minimize", minimize)
    with pytest.warns(DataWarning, match=rf"interrupted; .* with {(calls - 2) // 3} unit"):
        net = CascadeCorrelationRegressor(**options).fit(x, y)
    np.testing.assert_array_equal(net.predict(x), expected.predict(x))
    assert net.path_["units"].tolist() == list(range(net.n_units_ + 1))


def test_an_interrupt_ends_the_work_that_a_cascade_is_part_of(monkeypatch):
    searches = []
    whole = cascade.minimize

    def minimize(*arguments, **options):
        searches.append(1)
        if len(searches) == 3:
            raise KeyboardInterrupt
        return whole(*arguments, **options)

    monkeypatch.setattr(cascade, "minimize", minimize)
    with whole_trainings(), pytest.raises(KeyboardInterrupt):
        CascadeCorrelationClassifier(random_state=0).fit(XOR, [0, 1, 1, 0])
