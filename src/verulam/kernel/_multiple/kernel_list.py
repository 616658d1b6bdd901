"""Several kernels of the same inputs, ready for machines that weigh them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, check_is_fitted
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import Function, Precomputed, as_kernel, check_finite
from verulam.kernel._kernels.gram import check_gram, check_inner_product
from verulam.kernel._kernels.inputs import read_inputs, warn_of_many_rows
from verulam.kernel._kernels.polynomial import Linear, Polynomial
from verulam.kernel._kernels.radial import Gaussian, scale_width
from verulam.kernel._tuning import SEVERAL_DOUBLE_PRECISION_ROWS

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
        if self.kernels[0].takes == "gram":
            return _read_matrices(X, len(self.kernels), len(self.inputs))
        return read_inputs(learner, self.kernels[0], X, reset=False)

    def against(self, queries: np.ndarray, place: int, support: np.ndarray) -> np.ndarray:
        """Return one kernel of new inputs with the support vectors, by their positions."""
        if self.kernels[0].takes == "gram":
            return queries[:, place, support] / self.scales[place]
        return self.kernels[place](queries, self.inputs[support]) / self.scales[place]


def open_kernels(
    learner: Any, kernels: str | Sequence[AnyKernel] | None, X: Any, *, centred: bool = False
) -> tuple[SeveralKernels, np.ndarray]:
    """Return the kernels on the training data of a learner, and their Gram matrices.

    They are taken about the mean of the data in each space where `centred`.
    """
    if isinstance(kernels, str):
        return _open_matrices(X)
    adapted, inputs = _read_adapted(learner, kernels, X, centred)
    precision = np.float64 if len(inputs) <= SEVERAL_DOUBLE_PRECISION_ROWS else np.float32
    grams = np.empty((len(adapted), len(inputs), len(inputs)), dtype=precision)
    scales = np.ones(len(adapted))
    for place, kernel in enumerate(adapted):
        gram, prepared = grams[place], kernel.inputs(inputs)
        kernel.fill(prepared, prepared, gram)
        check_finite(gram)
        scales[place] = _scale(gram)
        # A plain number keeps the precision of the matrix.
        gram /= float(scales[place])
    return SeveralKernels(adapted, inputs, scales), grams


def _read_adapted(
    learner: Any, kernels: Sequence[AnyKernel] | None, X: Any, centred: bool
) -> tuple[tuple[Kernel, ...], np.ndarray]:
    unadapted = None if kernels is None else [as_kernel(kernel) for kernel in kernels]
    if unadapted is not None:
        _check_kinds(unadapted)
    first = unadapted[0] if unadapted else Linear()
    # A copy: later changes to the caller's array must not change the model.
    inputs = read_inputs(learner, first, X, ensure_min_samples=2).copy()
    unadapted = unadapted or usual_kernels(inputs)
    if centred:
        unadapted = [kernel.centred() for kernel in unadapted]
    adapted = tuple(kernel.adapted(inputs) for kernel in unadapted)
    if first.takes == "rows":
        warn_of_many_rows(None, len(inputs), len(adapted))
    for kernel in adapted:
        check_inner_product(kernel, inputs)
    return adapted, inputs


def _scale(gram: np.ndarray) -> float:
    """Return the mean variance of the inputs in the space of a kernel."""
    # The mean squared length less the squared length of the mean.
    variance = float(np.trace(gram) / len(gram) - gram.mean())
    # A kernel without variance says nothing; there is nothing to divide it by either.
    return variance if variance > 1e-12 * abs(float(gram.mean())) else 1.0


def _open_matrices(X: Any) -> tuple[SeveralKernels, np.ndarray]:
    """Return kernels that are given as Gram matrices, one after another, and these on one scale."""
    if np.ndim(X) != 3:
        raise DataError(
            "precomputed kernels are one square matrix for each, in a table of three dimensions; "
            f"got shape {np.shape(X)}."
        )
    grams = np.array(X, dtype=np.float64)
    for place, gram in enumerate(grams):
        grams[place] = check_gram(gram)
    scales = np.array([_scale(gram) for gram in grams])
    several = SeveralKernels((Precomputed(),) * len(grams), grams.transpose(1, 0, 2), scales)
    return several, grams / scales[:, None, None]


def _read_matrices(X: Any, n_kernels: int, n_inputs: int) -> np.ndarray:
    """Return kernels of new inputs, by input, kernel and training input."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 3 or values.shape[::2] != (n_kernels, n_inputs):
        raise DataError(
            f"X must have kernels of new inputs with the {n_inputs} training inputs, one table for "
            f"each of {n_kernels} kernels; got shape {values.shape}."
        )
    return values.transpose(1, 0, 2)


def usual_kernels(inputs: np.ndarray) -> list[Kernel]:
    """Return a linear, a quadratic and three Gaussian kernels, of half to twice the usual width."""
    width = scale_width(inputs)
    return [Linear(), Polynomial(2), *(Gaussian(factor * width) for factor in (0.5, 1.0, 2.0))]


def _check_kinds(kernels: Sequence[Kernel]) -> None:
    if not kernels:
        raise DataError("kernels must have one kernel or more; got an empty list.")
    kinds = {kernel.takes for kernel in kernels}
    if len(kinds) > 1 or "gram" in kinds:
        raise DataError(
            "kernels must all compare rows of numbers, or all objects; these compare "
            f"{' and '.join(sorted(kinds))}."
        )
