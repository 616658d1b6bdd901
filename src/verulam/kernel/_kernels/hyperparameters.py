"""Numbers of a kernel that data can choose, and how a Gram matrix changes with them."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from verulam.base import DataError
from verulam.kernel._kernels.base import Columns, Kernel, Product, Scaled, Sum
from verulam.kernel._kernels.radial import Gaussian, Mahalanobis

#: Step of differences by the logarithm of a parameter.
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class GramGradient:
    r"""A Gram matrix, and the gradient of any function of it by the kernel's parameters.

    Attributes
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        The Gram matrix :math:`K`.
    pull_back
        Function of a matrix :math:`W` of weights, which it may overwrite, that returns
        :math:`\sum_{ij} W_{ij}\, \partial K_{ij} / \partial \log \theta` for each parameter.
    """

    gram: np.ndarray
    pull_back: Callable[[np.ndarray], list[float]]


def log_hyperparameters(kernel: Kernel) -> np.ndarray:
    """Return the logarithms of a kernel's positive parameters: widths, scales, offsets, factors.

    Parts of sums and products come in their order; whole numbers, such as a degree, are no
    parameters of this kind.

    Parameters
    ----------
    kernel
        A kernel, with what it takes from data filled in.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Gaussian, Linear, log_hyperparameters
    >>> np.exp(log_hyperparameters(2.0 * Linear() + 3.0 * Gaussian(width=(0.5, 4.0))))
    array([2. , 3. , 0.5, 4. ])
    """
    return np.log(np.array(_values(kernel), dtype=np.float64))


def with_log_hyperparameters(kernel: Kernel, logarithms: Any) -> Kernel:
    """Return the kernel with other parameters, in the order of `log_hyperparameters`.

    Parameters
    ----------
    kernel
        A kernel.
    logarithms
        Logarithm of each parameter.

    Examples
    --------
    >>> from verulam.kernel import Gaussian, with_log_hyperparameters
    >>> with_log_hyperparameters(2.0 * Gaussian(width=1.0), [0.0, 0.0])
    Scaled(kernel=Gaussian(width=1.0), factor=1.0)
    """
    values = [float(value) for value in np.exp(np.asarray(logarithms, dtype=np.float64))]
    if len(values) != len(_values(kernel)):
        raise DataError(
            f"the kernel has {len(_values(kernel))} parameters, but {len(values)} logarithms came."
        )
    return _rebuilt(kernel, values)


def gram_gradient(kernel: Kernel, inputs: np.ndarray) -> GramGradient:
    """Return the Gram matrix of some inputs, ready for gradients by the kernel's parameters.

    Parameters
    ----------
    kernel
        A kernel, with what it takes from data filled in.
    inputs
        Inputs in the kernel's form.

    Notes
    -----
    Weights are carried back through sums and products, so that no array with an entry for every
    pair of inputs and every parameter is made. For a Gaussian kernel with a width for each column,
    all derivatives come from one matrix product.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import Gaussian, gram_gradient
    >>> result = gram_gradient(2.0 * Gaussian(width=1.0), np.array([[0.0], [1.0]]))
    >>> np.round(result.pull_back(np.ones((2, 2))), 3)
    array([6.426, 2.426])
    """
    if isinstance(kernel, Sum | Product):
        return _pair(kernel, inputs)
    if isinstance(kernel, Scaled):
        return _scaled(kernel, inputs)
    if isinstance(kernel, Columns):
        return gram_gradient(kernel.kernel, kernel._view(inputs))
    if isinstance(kernel, Gaussian):
        return _gaussian(kernel, inputs)
    return _by_differences(kernel, inputs)


def _pair(kernel: Sum | Product, inputs: np.ndarray) -> GramGradient:
    first, second = gram_gradient(kernel.first, inputs), gram_gradient(kernel.second, inputs)
    if isinstance(kernel, Sum):
        return GramGradient(
            first.gram + second.gram,
            lambda weights: [*first.pull_back(weights.copy()), *second.pull_back(weights)],
        )
    return GramGradient(
        first.gram * second.gram,
        lambda weights: [
            *first.pull_back(weights * second.gram),
            *second.pull_back(weights * first.gram),
        ],
    )


def _scaled(kernel: Scaled, inputs: np.ndarray) -> GramGradient:
    inner = gram_gradient(kernel.kernel, inputs)

    def pull_back(weights: np.ndarray) -> list[float]:
        weights *= kernel.factor
        return [float(np.vdot(weights, inner.gram)), *inner.pull_back(weights)]

    return GramGradient(kernel.factor * inner.gram, pull_back)


def _gaussian(kernel: Gaussian, inputs: np.ndarray) -> GramGradient:
    gram = kernel(inputs)
    # Squared distances do not change with the origin, and near it fewer digits cancel.
    rows = inputs - inputs.mean(axis=0)
    widths = np.array(kernel.width if isinstance(kernel.width, tuple) else [kernel.width])

    def pull_back(weights: np.ndarray) -> list[float]:
        weights *= gram
        # The sum over pairs of w (x - y)^2 is that of w x^2 and of w y^2 less twice that of w x y.
        squares = (weights.sum(axis=0) + weights.sum(axis=1)) @ rows**2
        by_column = squares - 2.0 * np.einsum("ij,ij->j", rows, weights @ rows)
        total = by_column if len(widths) > 1 else by_column.sum(keepdims=True)
        return list(total / widths**2)

    return GramGradient(gram, pull_back)


def _by_differences(kernel: Kernel, inputs: np.ndarray) -> GramGradient:
    """Return the gradient of any other kernel, by evaluating it twice for each parameter."""
    logarithms = log_hyperparameters(kernel)

    def pull_back(weights: np.ndarray) -> list[float]:
        gradient = []
        for move in _STEP * np.eye(len(logarithms)):
            above, below = (
                with_log_hyperparameters(kernel, logarithms + sign * move)(inputs)
                for sign in (1.0, -1.0)
            )
            gradient.append(float(np.vdot(weights, above - below)) / (2.0 * _STEP))
        return gradient

    return GramGradient(kernel(inputs), pull_back)


def _parts(kernel: Kernel) -> list[str]:
    """Return the names of the kernels inside, in the order of their parameters."""
    whole: Any = kernel
    names = [part.name for part in fields(whole)] if is_dataclass(whole) else []
    return [name for name in names if isinstance(getattr(kernel, name), Kernel)]


def _own_names(kernel: Kernel) -> list[str]:
    """Return the names of the positive parameters that are the kernel's own."""
    whole: Any = kernel
    # The covariance of the data is not looked for here, nor the ridge that makes it invertible.
    if isinstance(kernel, Mahalanobis) or not is_dataclass(whole):
        return []
    shown = [part.name for part in fields(whole) if part.init and part.repr]
    return [name for name in shown if _is_positive(name, getattr(kernel, name))]


def _is_positive(name: str, value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(isinstance(entry, float) for entry in value) and name == "width"
    if isinstance(value, str) and name == "width":
        raise DataError(
            'width "scale" comes from the training data: call adapted(X) first, or give the kernel '
            "to a learner, which does."
        )
    # Whole numbers count for parameters that are continuous by nature.
    kinds = int | float | np.number if name in ("width", "factor") else float | np.floating
    return isinstance(value, kinds) and not isinstance(value, bool) and value > 0


def _values(kernel: Kernel) -> list[float]:
    values: list[float] = []
    for name in _own_names(kernel):
        value = getattr(kernel, name)
        values += list(value) if isinstance(value, tuple) else [float(value)]
    for name in _parts(kernel):
        values += _values(getattr(kernel, name))
    return values


def _rebuilt(kernel: Kernel, values: list[float]) -> Kernel:
    changes: dict[str, Any] = {}
    rest = list(values)
    for name in _own_names(kernel):
        value = getattr(kernel, name)
        count = len(value) if isinstance(value, tuple) else 1
        changes[name] = tuple(rest[:count]) if isinstance(value, tuple) else rest[0]
        rest = rest[count:]
    for name in _parts(kernel):
        part = getattr(kernel, name)
        count = len(_values(part))
        changes[name] = _rebuilt(part, rest[:count])
        rest = rest[count:]
    return replace(kernel, **changes) if changes else kernel  # type: ignore[type-var] # dataclass
