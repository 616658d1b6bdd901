"""Patterns that are recalled."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.neural import HopfieldNetwork, Recall

RANDOM = np.random.default_rng(0)
PATTERNS = RANDOM.choice([-1, 1], size=(5, 100))


def test_patterns_are_fixed_points():
    network = HopfieldNetwork.of(PATTERNS)
    for pattern in PATTERNS:
        recall = network.recall(pattern, random_state=0)
        assert isinstance(recall, Recall)
        assert recall.settled
        np.testing.assert_array_equal(recall.state, pattern)


def test_a_pattern_is_recalled_from_most_of_it():
    network = HopfieldNetwork.of(PATTERNS)
    damaged = PATTERNS[2].copy()
    damaged[:15] *= -1
    np.testing.assert_array_equal(network.recall(damaged, random_state=0).state, PATTERNS[2])


@pytest.mark.parametrize("seed", range(5))
def test_the_energy_never_rises(seed):
    network = HopfieldNetwork.of(RANDOM.choice([-1, 1], size=(40, 100)))
    recall = network.recall(RANDOM.choice([-1, 1], size=100), random_state=seed)
    assert (np.diff(recall.energies) <= 1e-12).all()
    assert recall.energies[-1] == pytest.approx(network.energy(recall.state))


def test_weights_and_energy_by_hand():
    network = HopfieldNetwork.of([[1, -1, 1]])
    expected = np.array([[0, -1, 1], [-1, 0, -1], [1, -1, 0]]) / 3
    np.testing.assert_allclose(network.weights, expected)
    assert network.energy([1, -1, 1]) == pytest.approx(-1.0)
    assert network.energy([1, 1, 1]) == pytest.approx(1 / 3)
    assert not network.recall([1, 1, 1], max_iter=1, random_state=0).settled


def test_refused():
    with pytest.raises(DataError, match=r"patterns: only -1 and 1.*2 \* x - 1"):
        HopfieldNetwork.of([[0, 1]])
    with pytest.raises(DataError, match="state: the network has 3 units"):
        HopfieldNetwork.of([[1, -1, 1]]).recall([1, -1])
    with pytest.raises(DataError, match="shape"):
        HopfieldNetwork.of(np.empty((0, 3)))


@pytest.mark.parametrize(
    "weights", [np.ones((2, 3)), np.eye(2), [[0, 1], [2, 0]], [[0, np.nan], [np.nan, 0]], [0.0]]
)
def test_weights_with_which_the_energy_might_rise(weights):
    with pytest.raises(DataError, match="symmetric table of finite numbers with zeros"):
        HopfieldNetwork(np.asarray(weights, dtype=float))
