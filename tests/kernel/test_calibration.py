"""Probabilities from outputs: Platt's sigmoid and a softmax layer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import _sigmoid_calibration
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from verulam.base import DataError
from verulam.kernel import SupportVectorClassifier, platt_calibration, softmax_calibration
from verulam.kernel._calibration import check_held_out


def test_platt_equals_scikit_learn():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=300)
    positive = rng.uniform(size=300) < 1 / (1 + np.exp(-2 * outputs - 0.3))
    fitted = platt_calibration(outputs, positive)
    slope, offset = _sigmoid_calibration(outputs, positive)
    assert_allclose([fitted.slopes[1, 0], fitted.offsets[1]], [-slope, -offset], rtol=1e-3)


def test_softmax_equals_logistic_regression():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=400)
    outputs = rng.normal(size=(400, 3)) + 1.5 * np.eye(3)[codes]
    fitted = softmax_calibration(outputs, codes, 3)
    peer = LogisticRegression(C=1e6 / 400, tol=1e-8, max_iter=1000).fit(outputs, codes)
    ours = fitted.probabilities(outputs)
    assert_allclose(ours.sum(axis=1), 1.0)
    assert_allclose(ours, peer.predict_proba(outputs), atol=2e-3)
    assert log_loss(codes, ours) < log_loss(codes, np.full((400, 3), 1 / 3))


def test_learned_on_rows_held_out():
    X, y = load_iris(return_X_y=True)
    machine = SupportVectorClassifier(
        strategy="one_vs_all", calibration="softmax", random_state=0
    ).fit(X[::2], y[::2])
    probabilities = machine.predict_proba(X[1::2])
    assert log_loss(y[1::2], probabilities) < 0.5
    again = SupportVectorClassifier(
        strategy="one_vs_all", calibration="softmax", random_state=0
    ).fit(X[::2], y[::2])
    assert_allclose(again.predict_proba(X), machine.predict_proba(X))
    two = SupportVectorClassifier(calibration="platt", random_state=0).fit(X[50:], y[50:])
    assert (two.predict_proba(X[50:]).argmax(axis=1) + 1 == y[50:]).mean() > 0.9


def test_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="for two classes"):
        SupportVectorClassifier(calibration="platt").fit(X, y)
    with pytest.raises(DataError, match="lack a class"):
        check_held_out(np.array([0, 0]), 2)
    assert not hasattr(SupportVectorClassifier(), "predict_proba")
