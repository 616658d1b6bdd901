"""What support-vector machines share: reading inputs, and sums over support vectors."""

from typing import Any

import numpy as np

from verulam.base import DataError, check_is_fitted, column_or_1d, in_threads, validate_data
from verulam.kernel._general_kernels import Function, as_kernel
from verulam.kernel._gram import check_gram
from verulam.kernel._kernel import Kernel
from verulam.kernel._row_cache import RowCache

#: Kernel values that one block of queries makes: they should stay near the processor.
_BLOCK_ENTRIES = 2**18


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
    elif not supervised:
        inputs = validate_data(learner, X, dtype=np.float64, order="C")
        targets = None
    else:
        inputs, targets = validate_data(learner, X, y, dtype=np.float64, order="C", **options)
    inputs = check_gram(inputs) if chosen.takes == "gram" else chosen.inputs(inputs)
    return chosen.adapted(inputs), inputs, targets


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
    for _ in in_threads(block, starts, 0 if len(starts) > 2 else 1):
        pass
    return result
