"""Several kernels of the same inputs, ready for machines that weigh them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, check_is_fitted
from verulam.kernel._distance_kernels import Gaussian, scale_width
from verulam.kernel._general_kernels import Function, as_kernel, check_finite
from verulam.kernel._gram import check_inner_product
from verulam.kernel._kernel import Kernel
from verulam.kernel._product_kernels import Linear, Polynomial
from verulam.kernel._space import point_to_maps, read_inputs

AnyKernel = str | Kernel | Function


@dataclass(frozen=True, eq=False)
class SeveralKernels:
    """Kernels that know their training data, brought to one scale.

    Attributes
    ----------
    kernels
        The kernels, with what they take from the data filled in.
    inputs : ndarray
        Training inputs.
    scales : ndarray of shape (n_kernels,)
        Mean variance of the training data in each kernel's space, which it is divided by.
    """

    kernels: tuple[Kernel, ...]
    inputs: np.ndarray
    scales: np.ndarray

    def read(self, learner: Any, X: Any) -> np.ndarray:
        """Return new inputs as the kernels take them."""
        check_is_fitted(learner)
        return read_inputs(learner, self.kernels[0], X, reset=False)

    def against(self, rows: np.ndarray, place: int, chosen: np.ndarray) -> np.ndarray:
        """Return one kernel of new inputs with the chosen training inputs."""
        return self.kernels[place](rows, self.inputs[chosen]) / self.scales[place]


def open_kernels(
    learner: Any, kernels: Sequence[AnyKernel] | None, X: Any, *, centred: bool = False
) -> tuple[SeveralKernels, np.ndarray]:
    """Return the kernels on the training data of a learner, and their Gram matrices.

    They are taken about the mean of the data in each space where `centred`.
    """
    given = None if kernels is None else [as_kernel(each) for each in kernels]
    if given is not None:
        _check_kinds(given)
    inputs = read_inputs(learner, given[0] if given else Linear(), X, reset=True).copy()
    chosen = given or usual_kernels(inputs)
    if centred:
        chosen = [each.centred() for each in chosen]
    adapted = tuple(each.adapted(inputs) for each in chosen)
    if adapted[0].takes == "rows":
        point_to_maps(len(inputs), len(adapted))
    grams = np.empty((len(adapted), len(inputs), len(inputs)))
    scales = np.ones(len(adapted))
    for place, kernel in enumerate(adapted):
        check_inner_product(kernel, inputs)
        gram = kernel(inputs)
        check_finite(gram)
        variance = float(np.trace(gram) - gram.mean() * len(inputs)) / len(inputs)
        # A kernel without variance says nothing; there is nothing to divide it by either.
        scales[place] = variance if variance > 1e-12 * abs(float(gram.mean())) else 1.0
        grams[place] = gram / scales[place]
    return SeveralKernels(adapted, inputs, scales), grams


def usual_kernels(inputs: np.ndarray) -> list[Kernel]:
    """Return a linear, a quadratic and three Gaussian kernels, of half to twice the usual width."""
    width = scale_width(inputs)
    return [Linear(), Polynomial(2), *(Gaussian(factor * width) for factor in (0.5, 1.0, 2.0))]


def _check_kinds(kernels: Sequence[Kernel]) -> None:
    if not kernels:
        raise DataError("kernels must have one kernel or more; got an empty list.")
    kinds = {each.takes for each in kernels}
    if len(kinds) > 1 or "gram" in kinds:
        raise DataError(
            "kernels must all compare rows of numbers, or all objects; these compare "
            f"{' and '.join(sorted(kinds))}."
        )
