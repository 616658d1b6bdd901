"""Probabilities from outputs: Platt's sigmoid and a softmax layer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import _sigmoid_calibration
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from verulam.base import DataError
from verulam.kernel import (
    Gaussian,
    SupportVectorClassifier,
    platt_calibration,
    softmax_calibration,
)
from verulam.kernel._svm.calibration import check_held_out


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


@pytest.mark.parametrize("share", [0.25, 0.4])
@pytest.mark.parametrize("calibration", ["platt", "softmax"])
def test_the_map_is_that_of_machines_which_did_not_see_the_held_out_rows(calibration, share):
    """By hand: part the rows of each class, train on most, calibrate the outputs of the rest."""
    X, y = load_iris(return_X_y=True)
    X, y = (X[50:], y[50:] - 1) if calibration == "platt" else (X, y)
    n_classes = len(np.unique(y))
    # Noise makes outputs of rows that were trained on far too sure.
    X = X + 0.6 * np.random.default_rng(0).normal(size=X.shape)
    options = {"kernel": Gaussian(0.5), "C": 10.0, "strategy": "one_vs_all", "tol": 1e-6}
    fitted = SupportVectorClassifier(
        **options, calibration=calibration, validation_fraction=share, random_state=5
    ).fit(X, y)
    order = np.random.default_rng(5).permutation(len(y))
    held = np.concatenate(
        [
            members[: round(share * len(members))]
            for members in (order[y[order] == k] for k in range(n_classes))
        ]
    )
    rest = np.setdiff1d(np.arange(len(y)), held)
    part = SupportVectorClassifier(**options).fit(X[rest], y[rest])
    outputs = part.machine_outputs(X[held])
    if calibration == "platt":
        expected = platt_calibration(outputs[:, 0], y[held] == 1)
    else:
        expected = softmax_calibration(outputs, y[held], n_classes)
    whole = SupportVectorClassifier(**options).fit(X, y)
    assert_allclose(
        fitted.predict_proba(X), expected.probabilities(whole.machine_outputs(X)), atol=2e-3
    )
    assert_allclose(fitted.machine_outputs(X), whole.machine_outputs(X), atol=1e-4)
    seen = whole.machine_outputs(X[held])
    if calibration == "platt":
        wrong = platt_calibration(seen[:, 0], y[held] == 1)
    else:
        wrong = softmax_calibration(seen, y[held], n_classes)
    assert np.abs(wrong.slopes - expected.slopes).max() > 0.5


def test_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="for two classes"):
        SupportVectorClassifier(calibration="platt").fit(X, y)
    with pytest.raises(DataError, match="lack a class"):
        check_held_out(np.array([0, 0]), 2)
    assert not hasattr(SupportVectorClassifier(), "predict_proba")
