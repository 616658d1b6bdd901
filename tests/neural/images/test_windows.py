"""Layers that see windows, against sums over windows in plain NumPy."""

import numpy as np
import pytest
from scipy.signal import correlate

from verulam.base import DataError
from verulam.neural import (
    MLPClassifier,
    Network,
    TrainingError,
    WindowLayer,
    layout_of,
    window_layer,
)

RANDOM = np.random.default_rng(0)


def test_shapes_and_counts():
    layer = window_layer((1, 8, 8), 3, n_maps=2)
    assert isinstance(layer, WindowLayer)
    assert layer.shape == (2, 6, 6)
    assert layer.n_units == 72
    assert (layer.mask.sum(axis=0) == 9).all()
    above = window_layer(layer.shape, 4, stride=2, n_maps=3)
    assert above.shape == (3, 2, 2)
    assert (above.mask.sum(axis=0) == 2 * 16).all()
    layout = layout_of((64, 72, 12, 10), masks=[layer.mask, above.mask, None])
    assert layout.n_free == (9 * 72 + 72) + (32 * 12 + 12) + (12 * 10 + 10)
    shared = layout_of(
        (64, 72, 12, 10),
        masks=[layer.mask, above.mask, None],
        tied=[layer.tied, above.tied, None],
    )
    assert shared.n_free == (2 * 9 + 72) + (3 * 32 + 12) + (12 * 10 + 10)


@pytest.mark.parametrize(("shape", "window", "stride"), [((2, 7, 6), (3, 2), 2), ((3, 11), 4, 3)])
def test_shared_windows_are_a_correlation(shape, window, stride):
    layer = window_layer(shape, window, stride=stride, n_maps=2)
    sizes = (window,) * (len(shape) - 1) if isinstance(window, int) else window
    kernels = RANDOM.normal(size=(2, shape[0], *sizes))
    weights = np.where(layer.tied >= 0, kernels.ravel()[layer.tied], 0.0)
    image = RANDOM.normal(size=shape)
    sums = (image.ravel() @ weights).reshape(layer.shape)
    for chart, kernel in enumerate(kernels):
        whole = correlate(image, kernel, mode="valid")[0]
        steps = tuple(slice(None, None, stride) for _ in sizes)
        np.testing.assert_allclose(sums[chart], whole[steps], atol=1e-12)


def test_shared_weights_get_the_mean_of_their_gradients():
    """The gradient of a convolution is the sum over its copies; ours is its share for each."""
    layer = window_layer((1, 4, 4), 2)
    rows, targets = RANDOM.normal(size=(6, 16)), RANDOM.normal(size=(6, 1))
    tied = layout_of((16, 9, 1), masks=[layer.mask, None], tied=[layer.tied, None])
    free = layout_of((16, 9, 1), masks=[layer.mask, None])
    theta = tied.start(np.random.default_rng(1), "glorot", "tanh", np.float64)
    shared = TrainingError(Network(tied, "tanh"), rows, targets).value_and_gradient(theta)[1]
    apart = TrainingError(Network(free, "tanh"), rows, targets).value_and_gradient(theta)[1]
    for number in range(4):
        places = layer.tied == number
        assert places.sum() == 9
        np.testing.assert_allclose(
            tied.weights(shared, 0)[places], free.weights(apart, 0)[places].mean(), atol=1e-14
        )


def test_features_move_with_the_image():
    layer = window_layer((1, 6, 6), 3)
    kernel = RANDOM.normal(size=9)
    weights = np.where(layer.tied >= 0, kernel[layer.tied], 0.0)
    image = np.zeros((6, 6))
    image[1:3, 1:4] = RANDOM.normal(size=(2, 3))
    moved = np.roll(image, (1, 1), axis=(0, 1))
    before, after = ((one.ravel() @ weights).reshape(4, 4) for one in (image, moved))
    np.testing.assert_allclose(after[1:, 1:], before[:-1, :-1], atol=1e-14)


def test_a_small_convolutional_network_learns_digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    layer = window_layer((1, 8, 8), 3, n_maps=4)
    net = MLPClassifier(
        layer.n_units, masks=[layer.mask, None], tied=[layer.tied, None], learning_rate=0.02,
        max_iter=25, random_state=0, tol=0.0,
    )  # fmt: skip
    with pytest.warns(match="ended at max_iter"):
        net.fit(X[:1200] / 16, y[:1200])
    assert net.score(X[1200:] / 16, y[1200:]) > 0.9
    for number in range(36):
        assert np.ptp(net.coefs_[0][layer.tied == number]) < 1e-12
    assert (net.coefs_[0][~layer.mask] == 0).all()


@pytest.mark.parametrize(
    ("shape", "options", "words"),
    [
        ((8,), {"patch_size": 2}, "shape: maps and then"),
        ((1, 8, 8), {"patch_size": 9}, "does not fit"),
        ((1, 8, 8), {"patch_size": (3,)}, "does not fit"),
        ((1, 8, 8), {"patch_size": 3, "stride": 0}, "stride and n_maps"),
    ],
)
def test_refused(shape, options, words):
    with pytest.raises(DataError, match=words):
        window_layer(shape, **options)
