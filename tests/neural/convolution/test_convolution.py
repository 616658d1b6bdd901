"""Convolutional networks: gradients, maps that move with images, digits, both backends."""

import sys

import numpy as np
import pytest
from scipy.signal import correlate2d
from sklearn.datasets import load_digits

from verulam.base import DataError
from verulam.neural import (
    ConvolutionalClassifier,
    ImageError,
    MapLayer,
    MapLayout,
    MapNetwork,
    Network,
    TrainingError,
    layout_of,
    window_layer,
)
from verulam.neural._network.network import ACTIVATIONS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(0)
PIXELS, LABELS = load_digits(return_X_y=True)
PIXELS = PIXELS / 16


def problem(shape=(2, 5, 6), n_maps=(3, 2), stride=1, n_outputs=3, activation="tanh", **options):
    output = "binary" if n_outputs == 1 else "softmax"
    network = MapNetwork(MapLayout(shape, n_maps, 3, stride, n_outputs), activation, output)
    images = np.random.default_rng(1).normal(size=(6, int(np.prod(shape))))
    return ImageError(network, images, np.arange(6) % max(n_outputs, 2), **options)


def start_of(error):
    layout = error.network.layout
    return layout.start(np.random.default_rng(5), "glorot", "tanh", np.float64)


class TestGradient:
    @pytest.mark.parametrize("stride", [1, 2])
    @pytest.mark.parametrize("n_outputs", [1, 3])
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_differences(self, activation, n_outputs, stride):
        weights = np.array([1.0, 2.0, 1.0, 0.5, 0.0, 1.0])
        error = problem(
            stride=stride, n_outputs=n_outputs, activation=activation, weights=weights, alpha=0.3
        )
        theta = start_of(error)
        slopes = np.empty_like(theta)
        for place in range(len(theta)):
            ends = []
            for sign in (1, -1):
                moved = theta.copy()
                moved[place] += sign * 1e-6
                ends.append(error.value_and_gradient(moved)[0])
            slopes[place] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(error.value_and_gradient(theta)[1], slopes, atol=1e-6)

    def test_differences_where_the_upper_patches_are_apart_too(self):
        error = problem((1, 11, 12), (2, 2), stride=2)
        assert [(layer.down, layer.across) for layer in error.network.layout.layers][1] == (2, 2)
        theta = start_of(error)
        gradient = error.value_and_gradient(theta)[1]
        # Of many weights some directions will do.
        for direction in np.random.default_rng(2).normal(size=(5, len(theta))):
            ends = [error.value_and_gradient(theta + step * direction)[0] for step in (1e-6, -1e-6)]
            assert gradient @ direction == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)

    def test_it_is_a_perceptron_with_tied_windows(self):
        """The same network with full matrices, whose biases happen to be equal."""
        layer = window_layer((1, 5, 5), 3, n_maps=2)
        error = problem((1, 5, 5), (2,))
        layout = error.network.layout
        theta = start_of(error)
        full = layout_of(
            (25, layer.n_units, 3), masks=[layer.mask, None], tied=[layer.tied, None], combine="sum"
        )
        plain = TrainingError(Network(full, "tanh", "softmax"), error.inputs, error.targets)
        point = np.zeros(full.n_parameters)
        weights = layout.layers[0].weights(theta)
        seen = layer.mask
        chart, place = np.divmod(layer.tied[seen], 9)
        full.weights(point, 0)[seen] = weights[place, chart]
        full.biases(point, 0)[:] = np.repeat(layout.layers[0].biases(theta), 9)
        # Maps first there, places first here.
        by_map = layout.output_weights(theta).reshape(9, 2, 3).swapaxes(0, 1).reshape(18, 3)
        full.weights(point, 1)[:] = by_map
        value, gradient = error.value_and_gradient(theta)
        plain_value, plain_gradient = plain.value_and_gradient(point)
        assert value == pytest.approx(plain_value, abs=1e-13)
        shared = full.weights(plain_gradient, 0)[seen]
        np.testing.assert_allclose(
            shared, layout.layers[0].weights(gradient)[place, chart], atol=1e-13
        )

    def test_mean_error_is_the_value_without_decay(self):
        error = problem(alpha=0.5)
        theta = start_of(error)
        decay = 0.25 * (theta[error.network.layout.is_weight] ** 2).sum() / 6
        assert error.value_and_gradient(theta)[0] == pytest.approx(error.mean_error(theta) + decay)


class TestMaps:
    def test_a_map_is_a_correlation(self):
        net = ConvolutionalClassifier(3, max_iter=2, random_state=0).fit(PIXELS[:300], LABELS[:300])
        image = PIXELS[7].reshape(8, 8)
        maps = net.feature_maps(PIXELS[7:8])[0]
        for number in range(3):
            patch = net.coefs_[0][:, number].reshape(3, 3)
            sums = correlate2d(image, patch, mode="valid") + net.intercepts_[0][number]
            np.testing.assert_allclose(maps[number], np.maximum(sums, 0), atol=1e-12)

    @pytest.mark.parametrize("stride", [1, 2])
    def test_maps_move_with_the_image(self, stride):
        net = ConvolutionalClassifier((3, 4), stride=stride, image_shape=(16, 16), max_iter=1)
        net.fit(RANDOM.normal(size=(10, 256)), np.arange(10) % 2)
        image = np.zeros((16, 16))
        image[4:9, 5:10] = RANDOM.normal(size=(5, 5))
        by = stride**2
        moved = np.roll(image, (by, by), axis=(0, 1))
        one, other = net.feature_maps(np.stack([image, moved]).reshape(2, -1))
        np.testing.assert_allclose(one[:, :-1, :-1], other[:, 1:, 1:], atol=1e-12)

    def test_channels(self):
        """Channel after channel, as `window_layer` has its maps."""
        error = problem((2, 4, 4), (1,))
        theta = start_of(error)
        image = error.inputs[0].reshape(2, 4, 4)
        patch = error.network.layout.layers[0].weights(theta)[:, 0].reshape(3, 3, 2)
        sums = sum(correlate2d(image[c], patch[:, :, c], mode="valid") for c in range(2))
        maps = error.network.maps(theta, error.inputs[:1], 0)
        np.testing.assert_allclose(maps[0, 0], np.tanh(sums), atol=1e-13)

    def test_sizes(self):
        layout = MapLayout((1, 8, 8), (8, 16), 3, 1, 10)
        assert isinstance(layout.layers[1], MapLayer)
        assert layout.sizes == (64, 288, 256, 10)
        assert layout.n_parameters == 9 * 8 + 8 + 72 * 16 + 16 + 256 * 10 + 10
        assert layout.size_report()["parameters"].sum() == layout.n_parameters
        strip = MapLayout((1, 1, 7), (2,), 3, 2, 2).layers[0]
        assert (strip.tall, strip.wide, strip.down, strip.across) == (1, 3, 1, 3)


class TestLearner:
    def test_digits(self):
        settings = {"learning_rate": 0.01, "tol": 0.01, "random_state": 0}
        net = ConvolutionalClassifier((8, 16), **settings).fit(PIXELS[::2], LABELS[::2])
        assert net.score(PIXELS[1::2], LABELS[1::2]) > 0.94
        assert net.hidden_outputs(PIXELS[:4]).shape == (4, 256)
        assert net.predict_proba(PIXELS[:4]).sum(axis=1) == pytest.approx(1.0)

    def test_single_precision(self):
        net = ConvolutionalClassifier(4, max_iter=5, random_state=0)
        one = net.fit(PIXELS[:200], LABELS[:200]).predict_proba(PIXELS[:9])
        other = net.fit(PIXELS[:200].astype(np.float32), LABELS[:200])
        assert other.parameters_.dtype == np.float32
        np.testing.assert_allclose(
            other.predict_proba(PIXELS[:9].astype(np.float32)), one, atol=0.01
        )

    def test_epochs_and_early_stopping(self):
        net = ConvolutionalClassifier(
            2, early_stopping=True, validation_fraction=0.3, max_iter=6, random_state=0
        )
        losses = [epoch.validation_loss for epoch in net.epochs(PIXELS[:200], LABELS[:200])]
        assert np.isfinite(losses).all()
        fitted = ConvolutionalClassifier(**net.get_params()).fit(PIXELS[:200], LABELS[:200])
        np.testing.assert_array_equal(fitted.parameters_, net.parameters_)

    def test_every_solver(self):
        for solver in ("sgd", "lbfgs"):
            net = ConvolutionalClassifier(2, solver=solver, max_iter=30, random_state=0)
            losses = net.fit(PIXELS[:150], LABELS[:150]).history_["loss"]
            assert losses.iloc[-1] < losses.iloc[0]

    def test_refusals(self):
        rows, labels = PIXELS[:50], LABELS[:50]
        with pytest.raises(DataError, match="images of 3 x 3 have 9 numbers; X has 64 columns"):
            ConvolutionalClassifier(image_shape=(3, 3)).fit(rows, labels)
        with pytest.raises(DataError, match="height and width"):
            ConvolutionalClassifier(image_shape=(64,)).fit(rows, labels)
        with pytest.raises(DataError, match="n_maps must be whole numbers"):
            ConvolutionalClassifier((2, 0)).fit(rows, labels)
        with pytest.raises(ValueError, match="one class alone"):
            ConvolutionalClassifier().fit(rows, np.zeros(50))
        net = ConvolutionalClassifier(2, max_iter=1).fit(rows, labels)
        with pytest.raises(DataError, match="1 layers of maps"):
            net.feature_maps(rows, 1)


class TestBackend:
    def test_without_torch_it_says_how_to_get_it(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match=r"pip install 'verulam\[neural\]', or take backend="):
            ConvolutionalClassifier(2, backend="torch").fit(PIXELS[:50], LABELS[:50])

    @pytest.mark.parametrize("n_outputs", [1, 3])
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_torch_has_the_same_gradient(self, activation, n_outputs):
        pytest.importorskip("torch")
        options = {"weights": np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0]), "alpha": 0.3}
        ours = problem(n_outputs=n_outputs, activation=activation, **options)
        theirs = problem(n_outputs=n_outputs, activation=activation, backend="torch", **options)
        theta = start_of(ours)
        value, gradient = ours.value_and_gradient(theta)
        peer_value, peer_gradient = theirs.value_and_gradient(theta)
        assert peer_value == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(peer_gradient, gradient, atol=1e-12)

    def test_torch_trains_the_same_network(self):
        pytest.importorskip("torch")
        settings = {"max_iter": 3, "random_state": 0}
        ours = ConvolutionalClassifier(3, backend="numpy", **settings)
        theirs = ConvolutionalClassifier(3, backend="torch", **settings)
        rows, labels = PIXELS[:60], LABELS[:60]
        np.testing.assert_allclose(
            ours.fit(rows, labels).parameters_, theirs.fit(rows, labels).parameters_, atol=1e-6
        )


def test_stacks_of_images_are_to_become_rows():
    images = np.zeros((4, 3, 5))
    with pytest.raises(DataError, match=r"X.reshape\(len\(X\), -1\) and image_shape=\(3, 5\)"):
        ConvolutionalClassifier(2).fit(images, [0, 1, 0, 1])
