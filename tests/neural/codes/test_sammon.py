"""Sammon's mapping by a network: its stress, its slopes, and rows that it has not seen."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances

from verulam.base import DataError
from verulam.neural import Network, SammonNetwork, StressError, layout_of
from verulam.reduction import StressScaling, stress

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(12, 4))
IRIS = load_iris().data[::3]


@pytest.mark.parametrize("weighting", ["none", "sammon", "squared"])
@pytest.mark.parametrize("hidden", [(5,), (3, 4)])
def test_slopes_by_differences(hidden, weighting):
    error = StressError(
        Network(layout_of((4, *hidden, 2), skip=True), "tanh"), ROWS, weighting, alpha=0.3
    )
    theta = error.network.layout.start(RANDOM, "glorot", "tanh", np.float64)
    slopes = np.empty_like(theta)
    for place in range(len(theta)):
        ends = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[place] += sign * 1e-6
            ends.append(error.value_and_gradient(moved)[0])
        slopes[place] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(error.value_and_gradient(theta)[1], slopes, atol=1e-7)


def test_the_stress_is_that_of_the_text():
    """Alpaydin 11.40, as a mean over pairs."""
    network = Network(layout_of((4, 5, 2)), "tanh")
    theta = network.layout.start(RANDOM, "glorot", "tanh", np.float64)
    before, after = pairwise_distances(ROWS), pairwise_distances(network.outputs(theta, ROWS))
    pairs = np.triu_indices(12, 1)
    expected = np.mean(((after - before)[pairs] / before[pairs]) ** 2)
    value = StressError(network, ROWS).value_and_gradient(theta)[0]
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighting", ["sammon", "squared"])
def test_distances_are_kept_better_than_by_components(weighting):
    net = SammonNetwork(10, weighting=weighting, tol=1e-3, n_init=2, random_state=0).fit(IRIS)
    distances = pairwise_distances(IRIS)
    plane = PCA(2).fit_transform(IRIS)
    assert net.stress_ < stress(distances, plane, weighting=weighting).stress
    places = net.transform(IRIS)
    assert net.stress_ == pytest.approx(stress(distances, places, weighting=weighting).stress)
    free = StressScaling(2, weighting=weighting, random_state=0).fit(IRIS)
    # Places that may move as they like are a bound, and the network is not far from it.
    assert net.stress_ < 2 * free.stress_


def test_a_line_is_mapped_to_a_line():
    line = np.linspace(0, 1, 20)[:, None] * [1.0, 2.0, -1.0]
    net = SammonNetwork(3, n_components=1, tol=1e-6, random_state=0).fit(line)
    assert net.stress_ < 1e-4


def test_new_rows_fall_near_their_neighbours():
    net = SammonNetwork(8, tol=1e-3, random_state=0).fit(IRIS)
    moved = net.transform(IRIS + 0.001) - net.transform(IRIS)
    assert np.linalg.norm(moved, axis=1).max() < 0.05


def test_batches_and_epochs():
    net = SammonNetwork(6, solver="adam", learning_rate=0.02, batch_size=10, max_iter=20,
                        tol=0.0, n_iter_no_change=20, random_state=0)  # fmt: skip
    losses = [epoch.loss for epoch in net.epochs(IRIS)]
    assert losses[-1] < 0.5 * losses[0]


def test_refusals():
    with pytest.raises(DataError, match="at least 2 different rows"):
        SammonNetwork().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="weighting"):
        SammonNetwork(weighting="cubed").fit(ROWS)
