"""Neuroscale: gradients, distances that are kept, and rows it has not seen."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from verulam.base import DataError
from verulam.data import dataset
from verulam.local import NeuroScale
from verulam.local._maps.neuroscale import network_stress, radial_basis
from verulam.reduction import StressScaling, stress


@pytest.fixture(scope="module")
def iris():
    return dataset("iris").inputs.drop_duplicates().to_numpy()


@pytest.mark.parametrize("weighting", ["none", "sammon", "squared"])
def test_the_gradient_is_that_of_central_differences(weighting):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    basis, distances = radial_basis(X, X[:4], 1.5), squareform(pdist(X))
    weights = rng.normal(size=(8, 2))
    gradient = network_stress(weights, basis, distances, weighting)[1]
    for place in np.ndindex(weights.shape):
        step = np.zeros_like(weights)
        step[place] = 1e-6
        above = network_stress(weights + step, basis, distances, weighting)[0]
        below = network_stress(weights - step, basis, distances, weighting)[0]
        assert gradient[place] == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-8)


def test_the_basis_is_bells_inputs_and_a_constant():
    basis = radial_basis(np.array([[2.0]]), np.array([[0.0], [2.0]]), 1.0)
    np.testing.assert_allclose(basis, [[np.exp(-2.0), 1.0, 2.0, 1.0]])


def test_distances_are_kept_better_than_by_components_and_hardly_worse_than_freely(iris):
    learner = NeuroScale(n_units=25, random_state=0, max_iter=500).fit(iris)
    curve = np.array(learner.stress_curve_)
    assert (np.diff(curve) <= 1e-12).all()
    distances = squareform(pdist(iris))
    assert stress(distances, learner.embedding_, weighting="sammon").stress == pytest.approx(
        learner.stress_
    )
    assert learner.stress_ < curve[0]
    free = StressScaling(weighting="sammon").fit(iris).stress_
    assert free * 0.999 < learner.stress_ < 1.6 * free


def test_more_units_keep_distances_better(iris):
    errors = [NeuroScale(n_units=k, alpha=0.0, random_state=0).fit(iris).stress_ for k in (1, 60)]
    assert errors[1] < errors[0]


def test_new_rows_are_placed_by_the_same_network(iris):
    learner = NeuroScale(n_units=10, random_state=0).fit(iris[::2])
    np.testing.assert_allclose(learner.transform(iris[::2]), learner.embedding_, atol=1e-9)
    distances = squareform(pdist(iris[1::2]))
    assert stress(distances, learner.transform(iris[1::2]), weighting="sammon").stress < 0.01


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((5, 2)), "X does not vary"),
        (np.zeros((2, 2)), "n_units=3 is more than the data has: n_samples=2"),
    ],
)
def test_wrong_data_is_named(X, message):
    with pytest.raises(DataError, match=message):
        NeuroScale(n_units=3).fit(X)


def test_duplicated_rows_and_a_constant_column():
    X = np.repeat([[0.0, 5.0], [1.0, 5.0], [3.0, 5.0]], 4, axis=0)
    learner = NeuroScale(1, n_units=5, random_state=0).fit(X)
    assert np.ptp(learner.embedding_[:4]) < 1e-9
    assert learner.stress_ < 1e-3


def test_a_penalty_holds_the_weights_of_the_bells_near_zero(iris):
    free, held = (NeuroScale(alpha=alpha, random_state=0).fit(iris[:40]) for alpha in (0.0, 1e4))
    length = [np.abs(model.weights_[: len(model.centers_)]).max() for model in (free, held)]
    assert length[1] < 0.01 * length[0]
