"""What support-vector machines share: reading inputs, and sums over support vectors."""

import warnings
from typing import Any

import numpy as np

from verulam.base import (
    DataError,
    DataWarning,
    check_is_fitted,
    column_or_1d,
    thread_map,
    validate_data,
)
from verulam.kernel._kernels.general import Function, as_kernel
from verulam.kernel._kernels.gram import check_gram, check_inner_product
from verulam.kernel._kernels.kernel import Kernel
from verulam.kernel._kernels.polynomial import Linear
from verulam.kernel._kernels.radial import Gaussian
from verulam.kernel._kernels.space import numbers_wanted
from verulam.kernel._solvers.row_cache import RowCache

#: Kernel values that one block of queries makes: they should stay near the processor.
_BLOCK_ENTRIES = 2**18
#: More rows than these are better served by explicit features.
MANY_ROWS = 100_000


def read_training(
    learner: Any,
    kernel: str | Kernel | Function,
    X: Any,
    y: Any = None,
    *,
    supervised: bool = True,
    **options: Any,
) -> tuple[Kernel, np.ndarray, Any]:
    """Return the kernel as the data make it, the inputs in its form, and the targets."""
    chosen = as_kernel(kernel)
    if chosen.takes == "objects":
        inputs, targets = chosen.inputs(X), y
        if supervised:
            targets = column_or_1d(y)
            if len(targets) != len(inputs):
                raise DataError(f"y has {len(targets)} labels, but X has {len(inputs)} inputs.")
        if not len(inputs):
            raise DataError("X has no inputs; at least one is needed.")
    else:
        inputs, targets = _read_numbers(learner, X, y, supervised, options)
    if chosen.takes == "rows":
        _point_to_map(chosen, len(inputs))
    if chosen.takes == "gram":
        return chosen, check_gram(inputs), targets
    inputs = chosen.inputs(inputs)
    adapted = chosen.adapted(inputs)
    check_inner_product(adapted, inputs)
    return adapted, inputs, targets


def _read_numbers(
    learner: Any, X: Any, y: Any, supervised: bool, options: dict[str, Any]
) -> tuple[np.ndarray, Any]:
    with numbers_wanted():
        if not supervised:
            return validate_data(learner, X, dtype=np.float64, order="C"), None
        return validate_data(learner, X, y, dtype=np.float64, order="C", **options)


def _point_to_map(kernel: Kernel, size: int) -> None:
    """Warn where training will take long, and say which map would be chosen instead."""
    if size <= MANY_ROWS or isinstance(kernel, Linear):
        return
    fourier = isinstance(kernel, Gaussian) and not isinstance(kernel.width, tuple)
    warnings.warn(
        f"training on {size} inputs takes time that grows with their square. For a linear machine, "
        "verulam.kernel.feature_map makes explicit features: for this kernel it chooses "
        f"{'random Fourier features' if fourier else 'the Nystroem method'}.",
        DataWarning,
        stacklevel=5,
    )


def read_queries(learner: Any, X: Any) -> np.ndarray:
    """Return new inputs in the form of the fitted learner's kernel."""
    check_is_fitted(learner)
    kernel: Kernel = learner.kernel_
    if kernel.takes == "objects":
        return kernel.inputs(X)
    rows = np.asarray(validate_data(learner, X, dtype=np.float64, order="C", reset=False))
    return rows if kernel.takes == "gram" else kernel.inputs(rows)


def part_cache(cache: RowCache, rows: np.ndarray, megabytes: float) -> RowCache:
    """Return a cache for some of the inputs."""
    if cache.kernel.takes == "gram":
        return RowCache(cache.kernel, cache.inputs[np.ix_(rows, rows)], megabytes)
    return RowCache(cache.kernel, cache.inputs[rows], megabytes)


def expansion(
    kernel: Kernel,
    queries: np.ndarray,
    supports: np.ndarray,
    support: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Return the weighted sums of kernels of each query with the support vectors.

    Parameters
    ----------
    kernel
        Kernel of the fitted machine.
    queries, supports
        Inputs in the kernel's form.
    support
        Positions of the support vectors among the training inputs.
    weights
        One column of coefficients for each sum.
    """
    if kernel.takes == "gram":
        return queries[:, support] @ weights
    result = np.empty((len(queries), weights.shape[1]))
    step = max(16, _BLOCK_ENTRIES // max(1, len(supports)))

    def block(start: int) -> None:
        rows = queries[start : start + step]
        values = np.empty((len(rows), len(supports)))
        kernel._write(rows, supports, values)
        result[start : start + step] = values @ weights

    starts = range(0, len(queries), step)
    thread_map(block, starts, 0 if len(starts) > 2 else 1)
    return result
