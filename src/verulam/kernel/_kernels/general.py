"""Kernels by name, from any function, and from a Gram matrix that is given."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from verulam.base import DataError, unknown_name
from verulam.kernel._kernels.base import Kernel
from verulam.kernel._kernels.polynomial import Linear, Polynomial, Sigmoid
from verulam.kernel._kernels.radial import (
    ChiSquare,
    ExponentialRadial,
    Gaussian,
    Laplace,
    Mahalanobis,
)
from verulam.kernel._kernels.series import Anova, BSpline, Fourier, Spline

Function = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A kernel from a function of two tables of rows that returns their Gram matrix.

    Attributes
    ----------
    function
        The function.

    Examples
    --------
    >>> from verulam.kernel import FunctionKernel
    >>> kernel = FunctionKernel(lambda X, Y: (X @ Y.T) ** 2)
    >>> kernel([[1.0, 2.0]], [[3.0, -1.0]])
    array([[1.]])
    """

    function: Function

    certain: ClassVar[bool] = False

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        values = np.asarray(self.function(left, right), dtype=np.float64)
        if values.shape != (len(left), len(right)):
            raise DataError(
                f"the kernel function must return a table of shape ({len(left)}, {len(right)}), "
                f"one row for each row of its first argument; got {values.shape}."
            )
        check_finite(values)
        return values


@dataclass(frozen=True)
class ObjectKernel(Kernel):
    """A kernel from a function of two objects of any kind that returns a number.

    Attributes
    ----------
    function
        The function.

    Examples
    --------
    >>> from verulam.kernel import ObjectKernel
    >>> shared_letters = ObjectKernel(lambda first, second: len(set(first) & set(second)))
    >>> shared_letters(["cat", "dog"], ["coat"])
    array([[3.],
           [1.]])
    """

    function: Callable[[Any, Any], float]

    takes: ClassVar[str] = "objects"
    certain: ClassVar[bool] = False

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        values = np.array(
            [[float(self.function(first, second)) for second in right] for first in left]
        ).reshape(len(left), len(right))
        check_finite(values)
        return values


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The inputs are rows of a Gram matrix already: kernels with every training input.

    Examples
    --------
    >>> from verulam.kernel import Precomputed
    >>> Precomputed()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    takes: ClassVar[str] = "gram"

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        if Y is not None:
            raise DataError("a precomputed kernel has one argument, the Gram matrix itself.")
        return self.inputs(X).copy()

    def diagonal(self, X: Any) -> np.ndarray:
        return np.diagonal(self.inputs(X)).copy()


#: Names that stand for kernels wherever one is asked for, those of scikit-learn where it has them.
KERNELS: dict[str, Callable[[], Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": Gaussian,
    "gaussian": Gaussian,
    "mahalanobis": Mahalanobis,
    "sigmoid": Sigmoid,
    "laplacian": Laplace,
    "exponential": ExponentialRadial,
    "chi2": ChiSquare,
    "spline": Spline,
    "b-spline": BSpline,
    "fourier": Fourier,
    "anova": Anova,
    "precomputed": Precomputed,
}


def as_kernel(kernel: str | Kernel | Function) -> Kernel:
    """Return the kernel that a name, a kernel or a function of two tables stands for.

    Examples
    --------
    >>> from verulam.kernel import as_kernel
    >>> as_kernel("polynomial")
    Polynomial(degree=2, offset=1.0, scale=1.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise unknown_name("kernel", kernel, KERNELS)
        return KERNELS[kernel]()
    if callable(kernel):
        return FunctionKernel(kernel)
    raise DataError(f"kernel must be a name, a kernel or a function; got {kernel!r}.")


class KernelParameters(BaseEstimator):
    """What learners with kernels share: the kernels' parameters are parameters of theirs.

    A name such as "rbf" has the parameters of the kernel it stands for.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with `deep`, those of the kernels as well."""
        params = super().get_params(deep)
        for name, value in list(params.items()) if deep else ():
            if name.endswith("kernel") and isinstance(value, str) and value in KERNELS:
                inside = as_kernel(value).get_params()
                params |= {f"{name}__{inner}": inside[inner] for inner in inside}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of kernels by names such as ``kernel__width``."""
        nested = {name: name.partition("__") for name in params if "__" in name}
        of_kernels: dict[str, dict[str, Any]] = {}
        for name, (outer, _, inner) in nested.items():
            if outer.endswith("kernel"):
                of_kernels.setdefault(outer, {})[inner] = params[name]
        rest = {
            name: params[name] for name in params if nested.get(name, ("",))[0] not in of_kernels
        }
        super().set_params(**rest)
        for outer, inside in of_kernels.items():
            # Another learner may share the kernel, so that a copy of it is changed.
            setattr(self, outer, copy(as_kernel(getattr(self, outer))).set_params(**inside))
        return self


def check_finite(values: np.ndarray) -> None:
    """Refuse kernel values that are no numbers, and say where the first one is."""
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise DataError(
            f"the kernel returned {values[row, column]} for row {row} and column {column}; kernels "
            "must be finite numbers."
        )
