"""ProbabilisticNeuralNetwork: Parzen on the sphere, grown and pruned online."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.nonparametric import ParzenClassifier, ProbabilisticNeuralNetwork
from verulam.nonparametric._window_classifiers.probabilistic_network import unit_rows

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=90)
X = RNG.normal(size=(90, 4)) + 3.0 * np.eye(3, 4)[Y]
QUERIES = RNG.normal(size=(20, 4))


def test_sums_of_activations_by_the_formula():
    network = ProbabilisticNeuralNetwork(bandwidth=0.4).fit(X, Y)
    products = unit_rows(QUERIES) @ unit_rows(X).T
    activations = np.exp((products - 1.0) / 0.4**2)
    assert_allclose(network.activations(QUERIES), activations)
    sums = activations @ np.eye(3)[Y]
    assert_allclose(network.predict_proba(QUERIES), sums / sums.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(("priors", "same"), [("sample", None), ("equal", "equal")])
def test_is_a_parzen_classifier_on_the_sphere(priors, same):
    network = ProbabilisticNeuralNetwork(bandwidth=0.3, priors=priors).fit(X, Y)
    parzen = ParzenClassifier(bandwidth=0.3, priors=same).fit(unit_rows(X), Y)
    assert_allclose(network.predict_proba(QUERIES), parzen.predict_proba(unit_rows(QUERIES)))


def test_growing_is_the_same_as_learning_at_once():
    at_once = ProbabilisticNeuralNetwork().fit(X, Y)
    grown = ProbabilisticNeuralNetwork().partial_fit(X[:1], Y[:1], classes=[0, 1, 2])
    for row in range(1, 90):
        grown.partial_fit(X[[row]], Y[[row]])
    assert_allclose(grown.predict_proba(QUERIES), at_once.predict_proba(QUERIES))


def test_removing_is_the_same_as_never_having_learned():
    network = ProbabilisticNeuralNetwork().fit(X, Y).remove([0, 7, 50])
    without = ProbabilisticNeuralNetwork().fit(
        *(np.delete(part, [0, 7, 50], axis=0) for part in (X, Y))
    )
    assert_allclose(network.predict_proba(QUERIES), without.predict_proba(QUERIES))
    with pytest.raises(ValueError, match="at least one pattern must stay"):
        network.remove(np.arange(87))


def test_lengths_do_not_matter_and_zeros_stay():
    network = ProbabilisticNeuralNetwork().fit(X, Y)
    assert_array_equal(network.predict(QUERIES), network.predict(QUERIES * 1e200))
    assert_allclose(unit_rows(np.array([[0.0, 0.0], [3e-200, 4e-200]])), [[0, 0], [0.6, 0.8]])


def test_new_classes_must_be_announced():
    network = ProbabilisticNeuralNetwork().fit(X[Y < 2], Y[Y < 2])
    with pytest.raises(ValueError, match=r"y has the class .*2.*, which is not among classes 0, 1"):
        network.partial_fit(X[Y == 2], Y[Y == 2])
