"""Where the weights of a network lie in one flat vector, which are zero and which are tied."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import BOOLEAN, NONE, TEXT, DataError, checked_arguments, unknown_name
from verulam.neural._arguments import BY_LAYER, WHOLES

#: Start of small random weights, as the text has it (Alpaydin fig. 11.11).
SMALL = 0.01
#: Rows of weights shorter than this leave vector registers empty.
FULL_ROW = 16


@dataclass(frozen=True, eq=False)
class Parts:
    """Views of a flat vector of parameters.

    Attributes
    ----------
    flat
        All of them.
    weights, biases
        By layer; weights are inputs by units.
    skip
        Weights from inputs to outputs, or None.
    """

    flat: NDArray[Any]
    weights: list[NDArray[Any]]
    biases: list[NDArray[Any]]
    skip: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Layout:
    """Layers of a network and the places of their parameters.

    The weights of layer l, inputs by units, are followed by its biases; the weights of connections
    that skip the hidden layers, inputs by outputs, come last.

    Attributes
    ----------
    sizes : tuple of int
        Inputs, units of each hidden layer, outputs.
    skip
        Whether inputs also reach the outputs directly.
    masks : tuple of ndarray, or None
        For each layer, which weights there are (True).
    tied : tuple of ndarray, or None
        For each layer, a number for each weight; equal numbers share their value, -1 is free.
    combine
        Whether tied weights follow the "mean" or the "sum" of their gradients.
    """

    sizes: tuple[int, ...]
    skip: bool = False
    masks: tuple[NDArray[np.bool_], ...] | None = None
    tied: tuple[NDArray[np.int64], ...] | None = None
    combine: str = "mean"

    @property
    def n_layers(self) -> int:
        """Layers of weights."""
        return len(self.sizes) - 1

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """For each layer: inputs, units, place of weights, of biases, units before it."""
        rows, place, units = [], 0, 0
        for n_inputs, n_units in pairwise(self.sizes):
            bias = place + n_inputs * n_units
            rows.append((n_inputs, n_units, place, bias, units))
            place, units = bias + n_units, units + n_units
        return np.array(rows, dtype=np.int64)

    @cached_property
    def turned(self) -> NDArray[np.bool_]:
        """Which layers have so few units that weights are better units by inputs, for one row."""
        sizes = np.array(self.sizes)
        return np.asarray(sizes[1:] < np.minimum(sizes[:-1], FULL_ROW))

    @property
    def skip_place(self) -> int:
        """Place of the weights from inputs to outputs; -1 where there are none."""
        last = self.table[-1]
        return int(last[3] + last[1]) if self.skip else -1

    @cached_property
    def n_parameters(self) -> int:
        """Length of the vector, absent and tied weights included."""
        last = self.table[-1]
        direct = self.sizes[0] * self.sizes[-1] if self.skip else 0
        return int(last[3] + last[1] + direct)

    @cached_property
    def _slices(self) -> list[tuple[slice, tuple[int, int], slice]]:
        """For each layer: its weights, their shape, its biases."""
        return [
            (slice(place, bias), (n_inputs, n_units), slice(bias, bias + n_units))
            for n_inputs, n_units, place, bias, _ in self.table.tolist()
        ]

    def weights(self, theta: NDArray[Any], layer: int) -> NDArray[Any]:
        """Return a view of the weights of a layer, inputs by units."""
        part, shape, _ = self._slices[layer]
        return theta[part].reshape(shape)

    def biases(self, theta: NDArray[Any], layer: int) -> NDArray[Any]:
        """Return a view of the biases of a layer."""
        return theta[self._slices[layer][2]]

    def parts(self, theta: NDArray[Any]) -> Parts:
        """Return views of all parameters, for use in many steps."""
        layers = range(self.n_layers)
        return Parts(
            theta[: self.n_parameters],
            [self.weights(theta, layer) for layer in layers],
            [self.biases(theta, layer) for layer in layers],
            self.skip_weights(theta) if self.skip else None,
        )

    def turn(self, theta: NDArray[Any], source: NDArray[Any], *, back: bool = False) -> None:
        """Write parameters, with the weights of `turned` layers units by inputs, or turn back."""
        theta[:] = source
        for layer in np.flatnonzero(self.turned):
            part, shape, _ = self._slices[layer]
            rows = source[part].reshape(shape[::-1] if back else shape)
            theta[part] = rows.T.ravel()

    def skip_weights(self, theta: NDArray[Any]) -> NDArray[Any]:
        """Return a view of the weights from inputs to outputs."""
        return theta[self.skip_place : self.n_parameters].reshape(self.sizes[0], self.sizes[-1])

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Which parameters there are; empty where all are."""
        if self.masks is None:
            return np.empty(0, dtype=bool)
        present = np.ones(self.n_parameters, dtype=bool)
        for layer, mask in enumerate(self.masks):
            self.weights(present, layer)[:] = mask
        return present

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """Group of tied weights of each parameter, -1 for a free one; empty where none is tied."""
        if self.tied is None:
            return np.empty(0, dtype=np.int64)
        groups = np.full(self.n_parameters, -1, dtype=np.int64)
        following = 0
        for layer, labels in enumerate(self.tied):
            shared = labels >= 0
            distinct, numbers = np.unique(labels[shared], return_inverse=True)
            self.weights(groups, layer)[shared] = following + numbers
            following += len(distinct)
        return groups

    @cached_property
    def group_divisors(self) -> NDArray[np.float64]:
        """What the summed gradient of each group is divided by: its size, or one."""
        counts = np.bincount(self.groups[self.groups >= 0]).astype(np.float64)
        return counts if self.combine == "mean" else np.ones_like(counts)

    @cached_property
    def is_weight(self) -> NDArray[np.bool_]:
        """Whether a parameter is a weight and not a bias."""
        weights = np.ones(self.n_parameters, dtype=bool)
        for layer in range(self.n_layers):
            self.biases(weights, layer)[:] = False
        return weights

    @property
    def n_free(self) -> int:
        """Parameters that can be chosen: without those that are absent, tied ones counted once."""
        present = self.mask if len(self.mask) else np.ones(self.n_parameters, dtype=bool)
        if not len(self.groups):
            return int(present.sum())
        groups = self.groups[present]
        return int((groups < 0).sum()) + len(np.unique(groups[groups >= 0]))

    def size_report(self) -> pd.DataFrame:
        """Return for each layer its inputs, units, weights and biases, and the total at the end."""
        rows = []
        for layer, (n_inputs, n_units, *_) in enumerate(self.table):
            present = self.weights(self.mask, layer).sum() if len(self.mask) else n_inputs * n_units
            rows.append((f"layer {layer + 1}", n_inputs, n_units, int(present), n_units))
        if self.skip:
            n_inputs, n_outputs = self.sizes[0], self.sizes[-1]
            rows.append(("inputs to outputs", n_inputs, n_outputs, n_inputs * n_outputs, 0))
        table = pd.DataFrame(rows, columns=["layer", "inputs", "units", "weights", "biases"])
        table["parameters"] = table["weights"] + table["biases"]
        return table.set_index("layer")

    def start(
        self, random: np.random.Generator, init: str, activation: str, dtype: Any
    ) -> NDArray[np.floating]:
        """Return random parameters to start from, absent weights zero and tied ones equal.

        Parameters
        ----------
        random
            Draws them.
        init
            "glorot" draws within the square root of 6 (2 for logistic units) over the units on
            both sides, "small" within 0.01.
        activation
            Kind of the hidden units.
        dtype
            Type of the parameters.
        """
        theta = np.empty(self.n_parameters)
        for layer, (n_inputs, n_units, *_) in enumerate(self.table):
            spread = (2.0 if activation == "logistic" else 6.0) / (n_inputs + n_units)
            bound = SMALL if init == "small" else np.sqrt(spread)
            self.weights(theta, layer)[:] = random.uniform(-bound, bound, (n_inputs, n_units))
            self.biases(theta, layer)[:] = random.uniform(-bound, bound, n_units)
        if self.skip:
            self.skip_weights(theta)[:] = random.uniform(
                -SMALL, SMALL, (self.sizes[0], self.sizes[-1])
            )
        if len(self.mask):
            theta[~self.mask] = 0.0
        if len(self.groups):
            tied = self.groups >= 0
            # All of a group start as its first.
            _, firsts = np.unique(self.groups[tied], return_index=True)
            theta[tied] = theta[tied][firsts][self.groups[tied]]
        return theta.astype(dtype)


@checked_arguments(
    sizes=WHOLES, skip=BOOLEAN, masks=BY_LAYER | NONE, tied=BY_LAYER | NONE, combine=TEXT
)
def layout_of(
    sizes: Sequence[int],
    *,
    skip: bool = False,
    masks: Sequence[Any] | None = None,
    tied: Sequence[Any] | None = None,
    combine: str = "mean",
) -> Layout:
    """Return the layout of a network, with its masks and ties checked.

    Parameters
    ----------
    sizes
        Inputs, units of each hidden layer, outputs.
    skip
        Whether inputs also reach the outputs directly.
    masks, tied
        For each layer an array, inputs by units, or None for a layer without.
    combine
        Whether tied weights follow the "mean" or the "sum" of their gradients.
    """
    if combine not in ("mean", "sum"):
        raise unknown_name("combine", combine, ("mean", "sum"))
    sizes = tuple(int(size) for size in sizes)
    if len(sizes) < 2 or min(sizes) < 1:
        raise DataError(f"sizes: inputs, hidden units and outputs, at least 1 each; got {sizes}.")
    shapes = list(pairwise(sizes))
    checked_masks = checked_ties = None
    if masks is not None:
        arrays = _by_layer("masks", masks, shapes, True)
        for place, array in enumerate(arrays):
            if not np.isin(array, (0, 1)).all():
                raise DataError(
                    f"masks: that of layer {place + 1} must hold True and False, or 1 and 0, alone."
                )
        checked_masks = tuple(array.astype(bool) for array in arrays)
    if tied is not None:
        checked_ties = tuple(
            np.asarray(array, dtype=np.int64) for array in _by_layer("tied", tied, shapes, -1)
        )
    return Layout(sizes, skip, checked_masks, checked_ties, combine)


def _by_layer(
    name: str, arrays: Sequence[Any], shapes: Sequence[tuple[int, int]], absent: Any
) -> list[NDArray[Any]]:
    if len(arrays) != len(shapes):
        raise DataError(
            f"{name}: {len(arrays)} arrays for {len(shapes)} layers of weights; give one for each, "
            "or None for a layer without."
        )
    full = []
    for place, (array, shape) in enumerate(zip(arrays, shapes, strict=True)):
        try:
            values = np.full(shape, absent) if array is None else np.asarray(array, dtype=float)
        except (TypeError, ValueError):
            raise DataError(
                f"{name}: that of layer {place + 1} must be an array of numbers; got {array!r}."
            ) from None
        if values.shape != shape:
            raise DataError(
                f"{name}: that of layer {place + 1} has the shape {values.shape}; its weights have "
                f"{shape}, inputs by units."
            )
        full.append(values)
    return full
