"""Where weights lie, how many there are, and which masks and tied are refused."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.neural import Layout, layout_of

RANDOM = np.random.default_rng(0)


def test_counts_of_the_texts():
    assert layout_of((64, 2, 10)).n_parameters == 160
    assert layout_of((3, 2, 1)).n_parameters == Layout((3, 2, 1)).n_parameters == 11


def test_weights_and_biases_share_the_vector_without_overlap():
    layout = layout_of((3, 4, 2), skip=True)
    theta = np.zeros(layout.n_parameters, dtype=int)
    for layer in range(2):
        layout.weights(theta, layer)[:] += 1
        layout.biases(theta, layer)[:] += 1
    layout.skip_weights(theta)[:] += 1
    assert (theta == 1).all()
    assert layout.weights(theta, 0).shape == (3, 4)
    assert layout.skip_weights(theta).shape == (3, 2)
    assert layout.is_weight.sum() == layout.n_parameters - 6


def test_size_report():
    mask = np.zeros((3, 4), dtype=bool)
    mask[0] = True
    table = layout_of((3, 4, 2), skip=True, masks=[mask, None]).size_report()
    assert table["weights"].tolist() == [4, 8, 6]
    assert table["biases"].tolist() == [4, 2, 0]
    assert table["parameters"].tolist() == [8, 10, 6]
    assert table.index.tolist() == ["layer 1", "layer 2", "inputs to outputs"]


def test_masks_and_ties_are_counted():
    mask = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    tied = np.array([[0, -1], [-1, 0], [-1, -1]])
    layout = layout_of((3, 2, 1), masks=[mask, None], tied=[tied, [[5], [5]]])
    # Eleven, without the two absent, one for the tied pair below and one for that above.
    assert layout.n_free == 11 - 2 - 1 - 1
    theta = layout.start(np.random.default_rng(1), "glorot", "tanh", np.float64)
    weights = layout.weights(theta, 0)
    assert (weights[~mask] == 0).all()
    assert weights[0, 0] == weights[1, 1] != 0
    assert np.ptp(layout.weights(theta, 1)) == 0
    plain = layout_of((3, 2, 1))
    assert plain.mask.shape == plain.groups.shape == (0,)
    assert plain.n_free == plain.n_parameters == 11


@pytest.mark.parametrize(
    ("init", "activation", "bound"),
    [("small", "tanh", 0.01), ("glorot", "tanh", 0.2), ("glorot", "logistic", np.sqrt(2 / 150))],
)
def test_random_starts_fill_their_bounds(init, activation, bound):
    theta = layout_of((100, 50)).start(RANDOM, init, activation, np.float32)
    assert theta.dtype == np.float32
    assert 0.95 * bound < np.abs(theta).max() <= np.float32(bound)


@pytest.mark.parametrize(
    ("name", "arrays", "words"),
    [
        ("masks", [None], "1 arrays for 2 layers"),
        ("masks", [np.ones((2, 3)), None], r"layer 1 has the shape \(2, 3\).*\(3, 2\)"),
        ("masks", [None, np.full((2, 1), 0.5)], "layer 2 must hold True and False, or 1 and 0"),
        ("masks", [np.full((3, 2), np.nan), None], "layer 1 must hold True and False, or 1 and 0"),
        ("tied", [None, np.zeros((2, 2))], r"layer 2 has the shape \(2, 2\).*\(2, 1\)"),
    ],
)
def test_refused(name, arrays, words):
    with pytest.raises(DataError, match=f"{name}: .*{words}"):
        layout_of((3, 2, 1), **{name: arrays})
