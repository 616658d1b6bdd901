"""What support vector machines share: options, tags, the solver's call and the kernel expansion."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import Tags

from verulam.base import DataError, Interval, StrOptions, check_is_fitted, check_weights, thread_map
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.general import KernelParameters
from verulam.kernel._kernels.inputs import KERNEL_OPTIONS, kernel_tags, read_inputs
from verulam.kernel._solvers.dual import DualSolution, solve_dual
from verulam.kernel._solvers.dual_problems import DualProblem
from verulam.kernel._solvers.row_cache import RowCache
from verulam.kernel._tuning import EXPANSION_BLOCK_ENTRIES

#: Constraints of the parameters that all machines have.
SHARED_CONSTRAINTS: dict[str, Any] = {
    "kernel": KERNEL_OPTIONS,
    "tol": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "cache_size": [Interval(Real, 0, None, closed="neither")],
}
#: Constraints of parameters that some of the machines have.
COST = [Interval(Real, 0, None, closed="neither")]
SHARE = [Interval(Real, 0, 1, closed="right")]
CLASS_WEIGHT: list[Any] = [StrOptions({"balanced"}), dict, None]


class SupportVectorMachine(KernelParameters):
    """A learner whose output is a kernel expansion on support vectors.

    A subclass lists the parameters below in its constructor, its own constraints beside
    `SHARED_CONSTRAINTS`, and calls `_store_support` at the end of training.

    Parameters
    ----------
    kernel
        Name of a kernel, a kernel, or a function of two tables.
    tol
        Largest violation of the KKT conditions.
    max_iter
        Most working sets of the solver, see `solve_dual`.
    cache_size
        Megabytes for kernel values and for what the solver works with.
    """

    kernel: Any
    tol: float
    max_iter: int
    cache_size: float
    kernel_: Kernel
    support_: np.ndarray
    support_vectors_: np.ndarray
    dual_coef_: np.ndarray

    def __sklearn_tags__(self) -> Tags:
        return kernel_tags(super().__sklearn_tags__(), self.kernel)

    def _cache(self, kernel: Kernel, inputs: np.ndarray) -> RowCache:
        return RowCache(kernel, inputs, self.cache_size)

    def _solve(self, problem: DualProblem, cache: RowCache, scale: float = 1.0) -> DualSolution:
        """Solve the machine's dual; `scale` is the size of its gradients."""
        return solve_dual(problem, cache, tol=float(self.tol) * scale, max_iter=int(self.max_iter))

    def _store_support(self, kernel: Kernel, inputs: np.ndarray, coefficients: np.ndarray) -> None:
        """Store the support vectors of one machine, or of several that are rows of coefficients."""
        self.kernel_ = kernel
        self.support_ = np.flatnonzero(np.atleast_2d(coefficients).any(axis=0))
        self.support_vectors_ = inputs[self.support_]
        self.dual_coef_ = coefficients[..., self.support_]

    def _read_queries(self, X: Any) -> np.ndarray:
        """Return new inputs as the kernel takes them."""
        check_is_fitted(self)
        return read_inputs(self, self.kernel_, X, reset=False)

    def _expansion(self, queries: np.ndarray) -> np.ndarray:
        """Return the kernel expansion at each query, with a column for each machine."""
        weights = np.atleast_2d(self.dual_coef_).T
        return expansion(self.kernel_, queries, self.support_vectors_, self.support_, weights)


def expansion(
    kernel: Kernel,
    queries: np.ndarray,
    support_vectors: np.ndarray,
    support: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    r"""Return kernel expansions :math:`\sum_t \beta^t K(x^t, x)` on support vectors.

    Parameters
    ----------
    kernel
        Kernel of the fitted machine.
    queries, support_vectors
        Inputs in the kernel's form.
    support
        Positions of the support vectors among the training inputs.
    weights
        One column of coefficients for each sum.
    """
    if kernel.takes == "gram":
        return queries[:, support] @ weights
    sums = np.empty((len(queries), weights.shape[1]))
    # Kernel values of a block of queries are summed while they are in the processor's cache.
    step = max(16, EXPANSION_BLOCK_ENTRIES // max(1, len(support_vectors)))

    def block(start: int) -> None:
        rows = queries[start : start + step]
        gram = np.empty((len(rows), len(support_vectors)))
        kernel._write(rows, support_vectors, gram)
        sums[start : start + step] = gram @ weights

    starts = range(0, len(queries), step)
    thread_map(block, starts, 0 if len(starts) > 2 else 1)
    return sums


def row_weights(sample_weight: Any, inputs: np.ndarray) -> np.ndarray:
    """Return a weight for each row; one where there are none."""
    if sample_weight is None:
        return np.ones(len(inputs))
    weights = check_weights(sample_weight, np.empty((len(inputs), 1)))
    if weights is None or weights.sum() <= 0:
        raise DataError("sample_weight: all weights are zero; at least one must be above.")
    return weights
