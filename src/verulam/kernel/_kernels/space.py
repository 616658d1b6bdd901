"""The training data as a kernel sees them: what every method of Gram matrices starts from."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Tags

from verulam.base import DataError, DataWarning, check_is_fitted, validate_data
from verulam.kernel._kernels.general import Function, Precomputed, as_kernel, check_finite
from verulam.kernel._kernels.gram import LEFT_OUT, check_gram, check_inner_product
from verulam.kernel._kernels.kernel import Kernel

#: More training inputs than these, and learners of Gram matrices point to feature maps.
LARGE = 10_000

#: What learners accept as a kernel; a test of the value itself is left to `as_kernel`.
KERNEL_OPTIONS: list[object] = [str, Kernel, callable]


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """A kernel that knows its training data.

    Attributes
    ----------
    kernel
        The kernel, with what it takes from the data filled in.
    inputs : ndarray
        Training inputs as the kernel takes them.
    gram : ndarray of shape (n_samples, n_samples)
        Kernel of each training input with each.
    """

    kernel: Kernel
    inputs: np.ndarray
    gram: np.ndarray

    def against(self, learner: Any, X: Any) -> np.ndarray:
        """Return the kernel of each new input with each training input."""
        check_is_fitted(learner)
        rows = read_inputs(learner, self.kernel, X, reset=False)
        return rows if self.kernel.takes == "gram" else self.kernel(rows, self.inputs)


def open_space(learner: Any, kernel: str | Kernel | Function, X: Any) -> KernelSpace:
    """Return the space of a kernel on the training data `X` of a learner."""
    chosen = as_kernel(kernel)
    inputs = read_inputs(learner, chosen, X, reset=True)
    if chosen.takes == "rows":
        point_to_maps(len(inputs))
    chosen = chosen.adapted(inputs)
    if isinstance(chosen, Precomputed):
        return KernelSpace(chosen, inputs, check_gram(inputs, LEFT_OUT))
    check_inner_product(chosen, inputs)
    gram = chosen(inputs)
    check_finite(gram)
    # A copy: later changes to the caller's array must not change the model.
    return KernelSpace(chosen, inputs.copy(), gram)


def point_to_maps(size: int, n_matrices: int = 1) -> None:
    """Warn where Gram matrices of so many inputs are large, and say what to use instead."""
    if size > LARGE:
        warnings.warn(
            f"the Gram matrices of {size} inputs take {n_matrices * size**2 * 8 / 2**30:.1f} GiB. "
            "For many rows, verulam.kernel.feature_map makes explicit features (random Fourier "
            "or Nystroem) for a linear machine.",
            DataWarning,
            stacklevel=5,
        )


def kernel_tags(tags: Tags, kernel: Any) -> Tags:
    """Return a learner's tags with the kind of input that its kernel takes."""
    known = isinstance(kernel, Kernel | str)
    tags.input_tags.pairwise = kernel == "precomputed" or isinstance(kernel, Precomputed)
    if known and not isinstance(kernel, str) and kernel.takes == "objects":
        tags.input_tags.two_d_array = False
        tags.no_validation = True
    return tags


@contextmanager
def numbers_wanted() -> Iterator[None]:
    """Say which kernels take words, where words are given to one of numbers."""
    try:
        yield
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        raise DataError(
            f"X must be a table of numbers for this kernel ({error}). Encode categories, or use a "
            "kernel of objects such as SpectrumKernel for strings."
        ) from None


def read_inputs(learner: Any, kernel: Kernel, X: Any, *, reset: bool) -> np.ndarray:
    """Return training inputs, or new ones where not `reset`, as the kernel takes them."""
    if kernel.takes == "objects":
        return kernel.inputs(X)
    least = 2 if reset else 1
    with numbers_wanted():
        rows = validate_data(
            learner, X, dtype=np.float64, order="C", reset=reset, ensure_min_samples=least
        )
    return np.asarray(rows)
