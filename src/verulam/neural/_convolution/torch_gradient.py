"""The gradient of a convolutional network by PyTorch, which is quicker for large images."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]


def torch_is_installed() -> bool:
    """Whether PyTorch can be imported."""
    return find_spec("torch") is not None


def load_torch() -> Any:
    """Return PyTorch, or say how to get it."""
    try:
        import torch
    except ImportError:
        raise ImportError(
            "backend='torch' needs PyTorch, which is not installed: "
            "pip install 'verulam[neural]', or take backend='numpy'."
        ) from None
    return torch


class TorchGradient:
    """Errors and gradients of batches, with the weights in the same flat vector.

    Parameters
    ----------
    network
        A `verulam.neural.MapNetwork`.
    """

    def __init__(self, network: Any) -> None:
        self.network = network
        self._torch = load_torch()

    def error(
        self, theta: Floats, pixels: Floats, codes: NDArray[np.int64], shares: NDArray[np.float64]
    ) -> tuple[float, Floats]:
        """Return the summed error of images and its gradient.

        Parameters
        ----------
        theta
            Weights and biases, flat.
        pixels
            Images, the channels of a pixel together.
        codes, shares
            Their classes and weights.
        """
        torch = self._torch
        leaves = self._leaves(theta)
        sums = self._sums(leaves, torch.from_numpy(pixels))
        weights = torch.from_numpy(shares.astype(pixels.dtype))
        if self.network.output == "binary":
            targets = torch.from_numpy(codes.astype(pixels.dtype))
            errors = torch.nn.functional.binary_cross_entropy_with_logits(
                sums[:, 0], targets, reduction="none"
            )
        else:
            errors = torch.nn.functional.cross_entropy(
                sums, torch.from_numpy(codes), reduction="none"
            )
        total = (errors * weights).sum()
        gradient = np.empty_like(theta)
        slots = self._leaves(gradient, learn=False)
        for slot, slope in zip(slots, torch.autograd.grad(total, leaves), strict=True):
            slot.copy_(slope)
        return float(total.item()), gradient

    def _leaves(self, vector: Floats, *, learn: bool = True) -> list[Any]:
        """Return the weights and biases of each layer, as PyTorch has them, as views of a vector.

        Derivatives by each cost less than by the vector, of whose length there would be one for
        each of its pieces.
        """
        layout, leaves = self.network.layout, []
        for layer in layout.layers:
            weights = layer.weights(vector).reshape(
                layer.tall, layer.wide, layer.channels, layer.n_maps
            )
            leaves += [weights.transpose(3, 2, 0, 1), layer.biases(vector)]
        leaves += [layout.output_weights(vector).T, layout.output_biases(vector)]
        return [self._torch.from_numpy(leaf).requires_grad_(learn) for leaf in leaves]

    def _sums(self, leaves: list[Any], pixels: Any) -> Any:
        torch, layout = self._torch, self.network.layout
        channels, height, width = layout.image_shape
        below = pixels.reshape(len(pixels), height, width, channels).permute(0, 3, 1, 2)
        for number, layer in enumerate(layout.layers):
            # The channels of a pixel stay together in memory from the pixels to the outputs.
            weights = leaves[2 * number].contiguous(memory_format=torch.channels_last)
            biases = leaves[2 * number + 1]
            sums = torch.nn.functional.conv2d(below, weights, biases, stride=layer.stride)
            below = _activated(torch, sums, self.network.activation)
        flat = below.permute(0, 2, 3, 1).reshape(len(pixels), -1)
        # With units by outputs in memory, the gradient by the weights takes many times as long.
        return torch.nn.functional.linear(flat, leaves[-2].contiguous(), leaves[-1])


def _activated(torch: Any, sums: Any, activation: str) -> Any:
    """Return the units' outputs, in place of their sums where these are not needed again."""
    functions = {
        "relu": torch.relu_,
        "tanh": torch.tanh_,
        "logistic": torch.sigmoid_,
        "gaussian": lambda values: torch.exp(-0.5 * values * values),
        "identity": lambda values: values,
    }
    return functions[activation](sums)
