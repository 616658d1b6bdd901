"""Layers of parallel units."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

from verulam.base import DataError, UnknownNameError
from verulam.linear import LinearLayer, LogisticDiscriminant, Perceptron

IRIS, SPECIES = load_iris(return_X_y=True)


def test_softmax_outputs_are_posteriors_without_overflow():
    layer = LinearLayer.from_learner(LogisticDiscriminant().fit(IRIS, SPECIES), "softmax")
    model = LogisticDiscriminant().fit(IRIS, SPECIES)
    assert np.allclose(layer(IRIS), model.predict_proba(IRIS))
    assert np.allclose(layer(1e4 * IRIS).sum(axis=1), 1.0)
    assert (layer.choose(IRIS) == model.predict(IRIS)).all()


@pytest.mark.parametrize(
    "learner",
    [PCA(n_components=2), LinearRegression(), LinearSVC(dual=False)],
    ids=["projection", "regression", "machine"],
)
def test_weights_come_from_any_linear_learner(learner):
    learner.fit(IRIS, SPECIES)
    outputs = LinearLayer.from_learner(learner)(IRIS)
    if hasattr(learner, "transform"):
        expected = learner.transform(IRIS)
    else:
        expected = getattr(learner, "decision_function", learner.predict)(IRIS)
    assert np.allclose(outputs, expected.reshape(len(IRIS), -1))


def test_two_linear_layers_are_one():
    random = np.random.default_rng(0)
    first = LinearLayer(random.normal(size=(3, 4)), random.normal(size=3))
    second = LinearLayer(random.normal(size=(2, 3)), random.normal(size=2), "sigmoid")
    assert np.allclose(first.then(second)(IRIS), second(first(IRIS)))


def test_a_threshold_is_strict():
    layer = LinearLayer(np.array([[1.0]]), np.array([0.0]), "threshold")
    assert layer([[-1.0], [0.0], [1.0]]).ravel().tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: LinearLayer(np.eye(2), np.zeros(2), "softmx"), UnknownNameError, "softmax"),
        (lambda: LinearLayer.from_learner(Perceptron()), DataError, "neither coef_"),
        (
            lambda: LinearLayer(np.eye(2), np.zeros(2), "sigmoid").then(
                LinearLayer(np.eye(2), np.zeros(2))
            ),
            DataError,
            "only linear ones do",
        ),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_outputs_are_linear_sigmoid_or_steps():
    weights, biases = np.array([[1.0, -2.0]]), np.array([0.5])
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-0.5, 0.0]])
    values = rows @ weights.T + biases
    assert np.array_equal(LinearLayer(weights, biases)(rows), values)
    sigmoids = LinearLayer(weights, biases, "sigmoid")(rows)
    assert np.allclose(sigmoids, 1 / (1 + np.exp(-values)))
    assert LinearLayer(weights, biases, "threshold")(rows).ravel().tolist() == [1, 0, 0]
