"""Units that see a window of their inputs, with weights of their own or shared ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from verulam.base import WHOLE, DataError, checked_arguments
from verulam.neural._arguments import WHOLES


@dataclass(frozen=True, eq=False)
class WindowLayer:
    """A layer of units that look at windows: masks and ties for `verulam.neural` learners.

    Attributes
    ----------
    shape : tuple of int
        Maps, and places of the windows along each axis: the shape of the layer's units.
    mask : ndarray of bool, inputs by units
        Which inputs a unit sees.
    tied : ndarray of int, inputs by units
        Numbers of the weights, equal for the same place in the windows of a map; -1 elsewhere.
    """

    shape: tuple[int, ...]
    mask: NDArray[np.bool_]
    tied: NDArray[np.int64]

    @property
    def n_units(self) -> int:
        """Units of the layer."""
        return int(np.prod(self.shape))


@checked_arguments(shape=WHOLES, patch_size=WHOLE | WHOLES, stride=WHOLE, n_maps=WHOLE)
def window_layer(
    shape: Sequence[int], patch_size: int | Sequence[int], *, stride: int = 1, n_maps: int = 1
) -> WindowLayer:
    """Return a layer whose units each see one window of an image, a signal or maps of them.

    Parameters
    ----------
    shape
        Shape of the inputs: maps first, then one axis for a signal or two for an image; a grey
        image of 8 by 8 pixels is (1, 8, 8).
    patch_size
        Inputs of a window along each axis, one number for all or one for each.
    stride
        Inputs between one window and the next.
    n_maps
        Units that look at each window.

    Notes
    -----
    The mask alone gives a locally connected layer (Alpaydin 11.8.3, fig. 11.14): a cone of layers
    that see more and more. With the ties, all windows of a map have the same weights (fig. 11.15),
    and the layer is a convolution; a unit sees all maps of its inputs. Biases are not tied. Units
    are numbered map by map, row by row, as the next layer's `shape` expects.

    Examples
    --------
    >>> from verulam.neural import window_layer
    >>> layer = window_layer((1, 8, 8), 3, stride=1, n_maps=2)
    >>> layer.shape, int(layer.mask.sum()), int(layer.tied.max()) + 1
    ((2, 6, 6), 648, 18)
    """
    shape = tuple(int(size) for size in shape)
    axes = shape[1:]
    if isinstance(patch_size, np.integer):
        patch_size = int(patch_size)
    sizes = (patch_size,) * len(axes) if isinstance(patch_size, int) else tuple(patch_size)
    if not axes or min(shape) < 1:
        raise DataError(f"shape: maps and then the axes of an image or signal; got {shape}.")
    if len(sizes) != len(axes) or not all(0 < w <= s for w, s in zip(sizes, axes, strict=True)):
        raise DataError(f"patch_size: {sizes} does not fit into inputs of {axes}.")
    if stride < 1 or n_maps < 1:
        raise DataError(f"stride and n_maps must be at least 1; got {stride} and {n_maps}.")
    places = tuple((s - w) // stride + 1 for s, w in zip(axes, sizes, strict=True))
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    n_weights = shape[0] * int(np.prod(sizes))
    units = (n_maps, *places)
    mask = np.zeros((numbers.size, int(np.prod(units))), dtype=bool)
    tied = np.full(mask.shape, -1, dtype=np.int64)
    for unit, (chart, *corner) in enumerate(product(*map(range, units))):
        seen = tuple(
            slice(stride * place, stride * place + size)
            for place, size in zip(corner, sizes, strict=True)
        )
        inputs = numbers[(slice(None), *seen)].ravel()
        mask[inputs, unit] = True
        # All units of a map share the weights of its window, in the order of what they see.
        tied[inputs, unit] = chart * n_weights + np.arange(n_weights)
    return WindowLayer(units, mask, tied)
