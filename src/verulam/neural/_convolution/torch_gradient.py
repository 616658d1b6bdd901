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
        point = torch.from_numpy(theta).detach().requires_grad_(True)
        sums = self._sums(point, torch.from_numpy(pixels))
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
        (gradient,) = torch.autograd.grad(total, point)
        return float(total.item()), gradient.numpy()

    def _sums(self, point: Any, pixels: Any) -> Any:
        torch, layout = self._torch, self.network.layout
        channels, height, width = layout.image_shape
        below = pixels.reshape(len(pixels), height, width, channels).permute(0, 3, 1, 2)
        for layer in layout.layers:
            weights = layer.weights(point).reshape(
                layer.tall, layer.wide, layer.channels, layer.n_maps
            )
            sums = torch.nn.functional.conv2d(
                below, weights.permute(3, 2, 0, 1), layer.biases(point), stride=layer.stride
            )
            below = _activated(torch, sums, self.network.activation)
        flat = below.permute(0, 2, 3, 1).reshape(len(pixels), -1)
        return flat @ layout.output_weights(point) + layout.output_biases(point)


def _activated(torch: Any, sums: Any, activation: str) -> Any:
    functions = {
        "relu": torch.relu,
        "tanh": torch.tanh,
        "logistic": torch.sigmoid,
        "gaussian": lambda values: torch.exp(-0.5 * values * values),
        "identity": lambda values: values,
    }
    return functions[activation](sums)
