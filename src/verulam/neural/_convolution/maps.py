"""Layers of maps with shared weights: their places in one vector, their outputs, their gradient."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from verulam.base import map_rows
from verulam.neural._convolution.patch_loops import gather_patches, scatter_patches
from verulam.neural._convolution.torch_gradient import TorchGradient
from verulam.neural._network.batches import BatchError, Floats
from verulam.neural._network.gradient_loops import differentiate
from verulam.neural._network.layout import SMALL
from verulam.neural._network.network import ACTIVATIONS, OUTPUTS
from verulam.neural._network.units import activate_batch, batch_errors
from verulam.numerics import softmax

_NO_NUMBERS = np.empty((0, 0))


@dataclass(frozen=True)
class MapLayer:
    """One layer of maps.

    Attributes
    ----------
    height, width, channels
        Shape of what it sees.
    n_maps
        Maps that it makes.
    tall, wide
        Shape of a patch.
    down, across
        Places of patches, which is the shape of its maps.
    stride
        Pixels between one patch and the next.
    place
        Where its weights begin in the vector, patches by maps; its biases follow.
    """

    height: int
    width: int
    channels: int
    n_maps: int
    tall: int
    wide: int
    down: int
    across: int
    stride: int
    place: int

    @property
    def n_inputs(self) -> int:
        """Numbers of a patch."""
        return self.tall * self.wide * self.channels

    @property
    def bias(self) -> int:
        """Where its biases begin."""
        return self.place + self.n_inputs * self.n_maps

    def weights(self, theta: NDArray[Any]) -> NDArray[Any]:
        """Return a view of its weights: rows, columns and channels of a patch by maps."""
        return theta[self.place : self.bias].reshape(self.n_inputs, self.n_maps)

    def biases(self, theta: NDArray[Any]) -> NDArray[Any]:
        """Return a view of its biases."""
        return theta[self.bias : self.bias + self.n_maps]

    def geometry(self, n_images: int) -> tuple[int, ...]:
        """Return its numbers as compiled loops take them."""
        return (
            n_images, self.height, self.width, self.channels, self.tall, self.wide, self.down,
            self.across, self.stride,
        )  # fmt: skip


@dataclass(frozen=True)
class MapLayout:
    """Layers of maps below a full layer of outputs, and the places of their parameters.

    Attributes
    ----------
    image_shape : tuple of int
        Channels, height, width.
    n_maps : tuple of int
        Maps of each layer.
    patch_size
        Pixels of a patch along each axis; a layer with fewer pixels is seen whole.
    stride
        Pixels between one patch and the next.
    n_outputs
        Outputs.
    """

    image_shape: tuple[int, int, int]
    n_maps: tuple[int, ...]
    patch_size: int
    stride: int
    n_outputs: int

    @cached_property
    def layers(self) -> tuple[MapLayer, ...]:
        """The layers of maps, from below."""
        layers: list[MapLayer] = []
        channels, height, width = self.image_shape
        place = 0
        for count in self.n_maps:
            tall, wide = min(self.patch_size, height), min(self.patch_size, width)
            down, across = (height - tall) // self.stride + 1, (width - wide) // self.stride + 1
            layers.append(
                MapLayer(
                    height, width, channels, count, tall, wide, down, across, self.stride, place
                )
            )
            place = layers[-1].bias + count
            channels, height, width = count, down, across
        return tuple(layers)

    @property
    def n_top(self) -> int:
        """Units of the last layer of maps."""
        last = self.layers[-1]
        return last.down * last.across * last.n_maps

    @property
    def top(self) -> int:
        """Where the weights of the outputs begin."""
        return self.layers[-1].bias + self.layers[-1].n_maps

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return self.top + (self.n_top + 1) * self.n_outputs

    @property
    def sizes(self) -> tuple[int, ...]:
        """Inputs, units of each layer, outputs."""
        units = [layer.down * layer.across * layer.n_maps for layer in self.layers]
        return (int(np.prod(self.image_shape)), *units, self.n_outputs)

    @property
    def n_layers(self) -> int:
        """Layers of weights."""
        return len(self.layers) + 1

    def output_weights(self, theta: NDArray[Any]) -> NDArray[Any]:
        """Return a view of the weights of the outputs."""
        stop = self.top + self.n_top * self.n_outputs
        return theta[self.top : stop].reshape(self.n_top, self.n_outputs)

    def output_biases(self, theta: NDArray[Any]) -> NDArray[Any]:
        """Return a view of the biases of the outputs."""
        return theta[self.top + self.n_top * self.n_outputs :]

    @cached_property
    def is_weight(self) -> NDArray[np.bool_]:
        """Whether a parameter is a weight and not a bias."""
        weights = np.ones(self.n_parameters, dtype=bool)
        for layer in self.layers:
            layer.biases(weights)[:] = False
        self.output_biases(weights)[:] = False
        return weights

    def start(self, random: np.random.Generator, init: str, activation: str, dtype: Any) -> Floats:
        """Return random parameters to start from, as `verulam.neural.Layout.start` does."""
        theta = np.zeros(self.n_parameters)
        factor = 2.0 if activation == "logistic" else 6.0
        for layer in self.layers:
            area = layer.tall * layer.wide
            spread = factor / (layer.n_inputs + area * layer.n_maps)
            bound = SMALL if init == "small" else np.sqrt(spread)
            slot = layer.weights(theta)
            slot[:] = random.uniform(-bound, bound, slot.shape)
        bound = SMALL if init == "small" else np.sqrt(factor / (self.n_top + self.n_outputs))
        slot = self.output_weights(theta)
        slot[:] = random.uniform(-bound, bound, slot.shape)
        return theta.astype(dtype)

    def size_report(self) -> pd.DataFrame:
        """Return for each layer its inputs, units, connections and free parameters."""
        rows = [
            (
                f"layer {number + 1}", layer.height * layer.width * layer.channels,
                layer.down * layer.across * layer.n_maps, layer.n_inputs * layer.n_maps,
                layer.n_maps,
            )
            for number, layer in enumerate(self.layers)
        ]  # fmt: skip
        rows.append(
            ("outputs", self.n_top, self.n_outputs, self.n_top * self.n_outputs, self.n_outputs)
        )
        table = pd.DataFrame(rows, columns=["layer", "inputs", "units", "weights", "biases"])
        table["parameters"] = table["weights"] + table["biases"]
        return table.set_index("layer")


@dataclass(frozen=True)
class MapNetwork:
    """What a convolutional network computes, whatever its weights are.

    Attributes
    ----------
    layout : MapLayout
        Layers and the places of their weights.
    activation
        Function of the units of maps.
    output
        "softmax" or "binary".
    """

    layout: MapLayout
    activation: str = "relu"
    output: str = "softmax"

    def pixels(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows of pixels with the channels of a pixel together."""
        channels, height, width = self.layout.image_shape
        if channels == 1:
            return rows
        stack = rows.reshape(len(rows), channels, height * width)
        return np.ascontiguousarray(stack.transpose(0, 2, 1)).reshape(len(rows), -1)

    def maps(self, theta: Floats, rows: Floats, layer: int) -> Floats:
        """Return the outputs of a layer of maps: images by maps by height by width."""
        run = _MapRun(self, len(rows), theta.dtype)
        run.forward(theta, np.ascontiguousarray(self.pixels(rows), dtype=theta.dtype))
        at = self.layout.layers[layer]
        shape = (len(rows), at.down, at.across, at.n_maps)
        return run.values[layer].reshape(shape).transpose(0, 3, 1, 2).copy()

    def outputs(self, theta: Floats, rows: NDArray[Any]) -> Floats:
        """Return the probabilities of classes for rows of pixels."""

        def of_part(part: NDArray[Any]) -> NDArray[Any]:
            run = _MapRun(self, len(part), theta.dtype)
            sums = run.forward(theta, np.ascontiguousarray(self.pixels(part), dtype=theta.dtype))
            return expit(sums) if self.output == "binary" else softmax(sums, axis=1)

        return map_rows(of_part, rows, (len(rows), self.layout.n_outputs), theta.dtype)


class _MapRun:
    """Buffers of one batch of images: patches, outputs of units, and errors."""

    def __init__(self, network: MapNetwork, n_images: int, dtype: Any) -> None:
        self.network, self.n_images = network, n_images
        layout = network.layout
        self.kind = ACTIVATIONS[network.activation]
        places = [n_images * layer.down * layer.across for layer in layout.layers]
        self.patches = [
            np.empty((count, layer.n_inputs), dtype)
            for count, layer in zip(places, layout.layers, strict=True)
        ]
        self.values = [
            np.empty((count, layer.n_maps), dtype)
            for count, layer in zip(places, layout.layers, strict=True)
        ]
        self.errors = [np.empty_like(values) for values in self.values]
        self.slopes = [np.empty_like(values) for values in self.values]
        self.sums = np.empty((n_images, layout.n_outputs), dtype)
        # Sums of the columns of a tall matrix are much quicker as a product.
        self.ones = np.ones(max(places), dtype)

    def forward(self, theta: Floats, pixels: Floats) -> Floats:
        """Return the weighted sums of the outputs for images."""
        layout, below = self.network.layout, pixels
        for number, layer in enumerate(layout.layers):
            geometry = layer.geometry(self.n_images)
            gather_patches(below.ravel(), self.patches[number].ravel(), geometry)
            values = self.values[number]
            np.dot(self.patches[number], layer.weights(theta), out=values)
            activate_batch(
                values.ravel(), self.slopes[number].ravel(), layer.biases(theta), self.kind, 1.0
            )
            below = values
        np.dot(below.reshape(self.n_images, -1), layout.output_weights(theta), out=self.sums)
        self.sums += layout.output_biases(theta)
        return self.sums

    def backward(self, theta: Floats, errors: Floats, gradient: Floats) -> None:
        """Leave the gradient of the summed error, from its derivatives by the outputs' sums."""
        layout = self.network.layout
        top, back = self.values[-1].reshape(self.n_images, -1), self.errors[-1]
        np.dot(top.T, errors, out=layout.output_weights(gradient))
        np.dot(self.ones[: self.n_images], errors, out=layout.output_biases(gradient))
        np.dot(errors, layout.output_weights(theta).T, out=back.reshape(self.n_images, -1))
        for number in range(len(layout.layers) - 1, -1, -1):
            layer, back = layout.layers[number], self.errors[number]
            differentiate(
                back.ravel(), self.values[number].ravel(), self.slopes[number].ravel(), self.kind,
                1.0,
            )  # fmt: skip
            patches = self.patches[number]
            np.dot(patches.T, back, out=layer.weights(gradient))
            np.dot(self.ones[: len(back)], back, out=layer.biases(gradient))
            if number:
                np.dot(back, layer.weights(theta).T, out=patches)
                geometry = layer.geometry(self.n_images)
                scatter_patches(patches.ravel(), self.errors[number - 1].ravel(), geometry)


@dataclass
class ImageError(BatchError):
    """The mean error of a convolutional network on images, with weight decay.

    Attributes
    ----------
    network : MapNetwork
        What is trained.
    inputs
        Images as rows of pixels.
    targets
        Codes of classes.
    weights
        Weights of the images, or None.
    alpha, decay_biases
        Weight decay, as in `verulam.neural.TrainingError`.
    backend
        "numpy", or "torch" for large images.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import ImageError, MapLayout, MapNetwork
    >>> network = MapNetwork(MapLayout((1, 4, 4), (2,), 3, 1, 3))
    >>> network.layout.n_parameters
    47
    >>> images = np.random.default_rng(0).normal(size=(5, 16))
    >>> error = ImageError(network, images, np.array([0, 1, 2, 0, 1]))
    >>> value, gradient = error.value_and_gradient(np.zeros(47))
    >>> round(value, 4), gradient.shape  # all classes are equally probable
    (1.0986, (47,))
    """

    network: MapNetwork
    inputs: Floats
    targets: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    alpha: float = 0.0
    decay_biases: bool = False
    backend: str = "numpy"

    def __post_init__(self) -> None:
        self._weigh(len(self.inputs), self.weights)
        self._runs: dict[int, _MapRun] = {}
        self.codes = np.asarray(self.targets, dtype=np.int64)
        self._rows = np.ascontiguousarray(self.network.pixels(self.inputs))
        self._torch = TorchGradient(self.network) if self.backend == "torch" else None
        self._weights = np.empty(0) if self.weights is None else self.shares

    def mean_error(self, theta: Floats) -> float:
        """Return the mean error over all images without its penalty."""
        outputs = self.network.outputs(theta, self.inputs).astype(np.float64)
        if self.network.output == "binary":
            outputs = np.hstack([1.0 - outputs, outputs])
        shares = outputs[np.arange(len(outputs)), self.codes]
        least = np.finfo(np.float64).tiny
        return float(np.average(-np.log(np.maximum(shares, least)), weights=self.shares))

    def _batch(self, theta: Floats, batch: NDArray[np.int64]) -> tuple[float, Floats]:
        if self._torch is not None:
            return self._torch.error(theta, self._rows[batch], self.codes[batch],
                                     self.shares[batch])  # fmt: skip
        run = self._runs.get(len(batch))
        if run is None:
            run = self._runs[len(batch)] = _MapRun(self.network, len(batch), theta.dtype)
        sums = run.forward(theta, self._rows[batch])
        errors, zeros = np.empty_like(sums), np.zeros(sums.shape[1], dtype=sums.dtype)
        total = batch_errors(
            sums.ravel(), zeros, _NO_NUMBERS.astype(sums.dtype), self.codes, self._weights, batch,
            OUTPUTS[self.network.output], errors.ravel(),
        )  # fmt: skip
        gradient = np.empty_like(theta)
        run.backward(theta, errors, gradient)
        return total, gradient


def map_layout(
    image_shape: Sequence[int], n_maps: Sequence[int], patch_size: int, stride: int, n_outputs: int
) -> MapLayout:
    """Return a layout with whole numbers for whatever was passed."""
    channels, height, width = (int(size) for size in image_shape)
    counts = tuple(int(count) for count in n_maps)
    return MapLayout((channels, height, width), counts, int(patch_size), int(stride), n_outputs)
