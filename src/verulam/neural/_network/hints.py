r"""Hints as penalties: what is known of a function besides its examples."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.neural._network.curvature import unit_derivatives
from verulam.neural._network.layout import Layout
from verulam.neural._network.network import Network
from verulam.neural._network.passes import answers, dual_backward, dual_forward, pulled_back
from verulam.numerics import softmax

Array = NDArray[np.float64]
_NONE = np.empty(0)


class _Hint:
    """What hints have in common: no parameters of their own, and rows of inputs."""

    rows: Any
    alpha: float
    n_parameters = 0

    def start(self, theta: NDArray[np.floating], layout: Layout) -> Array:
        """Return its own parameters to start from: there are none."""
        return _NONE

    def parts(self, n_rows: int) -> list[Any]:
        """Return hints over at most so many rows that add up to this one."""
        step = -(-len(self.rows) // n_rows)
        if step == 1:
            return [self]
        arrays = {
            name: array
            for name, array in vars(self).items()
            if np.ndim(array) and len(array) == len(self.rows)
        }
        return [
            replace(self, **{name: array[first::step] for name, array in arrays.items()})  # type: ignore[type-var]
            for first in range(step)
        ]

    def _check_alpha(self) -> None:
        if not isinstance(self.alpha, int | float | np.number) or not 0.0 <= self.alpha < np.inf:
            raise DataError(
                f"{type(self).__name__}: alpha must be a number of at least 0; got {self.alpha!r}."
            )

    def _table(self, name: str, array: ArrayLike) -> Array:
        try:
            rows = np.array(array, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"{type(self).__name__}: {name} needs rows of numbers.") from None
        if rows.ndim != 2 or not len(rows) or not np.isfinite(rows).all():
            raise DataError(
                f"{type(self).__name__}: {name} needs rows of finite numbers; got the shape "
                f"{rows.shape}."
            )
        return rows

    def _check_width(self, rows: Array, network: Network) -> None:
        if rows.shape[1] != network.layout.sizes[0]:
            raise DataError(
                f"{type(self).__name__}: its rows have {rows.shape[1]} columns, those of the "
                f"network {network.layout.sizes[0]}."
            )


@dataclass(frozen=True, eq=False)
class InvarianceHint(_Hint):
    r"""Penalty on outputs that differ for inputs that mean the same.

    .. math:: \lambda_h \sum_t \|g(x^t) - g(x'^t)\|^2

    Attributes
    ----------
    rows, others : array of shape (n_pairs, n_inputs)
        Pairs of inputs, such as images and shifted copies of them; labels are not needed.
    alpha
        The :math:`\lambda_h`, beside the error summed over all training rows.

    Notes
    -----
    See Alpaydin 11.8.4. Outputs of a classifier are its probabilities.

    Examples
    --------
    A function that is known to be even:

    >>> import numpy as np
    >>> from verulam.neural import InvarianceHint, MLPRegressor
    >>> x = np.linspace(0.1, 2.0, 20)[:, None]
    >>> hint = InvarianceHint(x, -x, alpha=1.0)
    >>> net = MLPRegressor(8, activation="tanh", solver="lbfgs", tol=1e-3, random_state=0)
    >>> answer = net.set_params(penalties=[hint]).fit(x, x[:, 0] ** 2).predict([[-1.5]])
    >>> bool(abs(answer[0] - 2.25) < 0.1)
    True
    """

    rows: Any
    others: Any
    alpha: float = 1.0

    def __post_init__(self) -> None:
        self._check_alpha()
        object.__setattr__(self, "rows", self._table("rows", self.rows))
        object.__setattr__(self, "others", self._table("others", self.others))
        if self.rows.shape != self.others.shape:
            raise DataError(
                f"InvarianceHint: rows and others are pairs; got {self.rows.shape} and "
                f"{self.others.shape}."
            )

    def check(self, network: Network) -> None:
        """Raise where the pairs do not fit a network."""
        self._check_width(self.rows, network)

    def value_and_gradient(
        self, network: Network, theta: Array, extra: Array
    ) -> tuple[float, Array, Array]:
        """Return the penalty, and its gradient by the weights."""
        run = dual_forward(network, theta, np.vstack([self.rows, self.others]), None)
        outputs, half = answers(network, run.sums), len(self.rows)
        difference = outputs[:half] - outputs[half:]
        slopes = 2.0 * self.alpha * np.vstack([difference, -difference])
        error = pulled_back(network, run.sums, slopes)
        gradient = dual_backward(network, theta, run, error, np.zeros_like(error))
        return self.alpha * float((difference**2).sum()), gradient, _NONE


@dataclass(frozen=True, eq=False)
class IntervalHint(_Hint):
    r"""Penalty on outputs outside of an interval that is known to hold them.

    .. math::
        \lambda_h \sum_t \max(a_t - g(x^t),\ 0,\ g(x^t) - b_t)^2

    Attributes
    ----------
    rows : array of shape (n_rows, n_inputs)
        Inputs whose exact outputs need not be known.
    low, high : float or array
        Ends of the interval: one for all, one for each row, or rows by outputs; minus and plus
        infinity leave a side open.
    alpha
        The :math:`\lambda_h`, beside the error summed over all training rows.

    Notes
    -----
    See Alpaydin 11.8.4, the approximation hint. Outputs of a classifier of two classes are the
    probability of the second.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import IntervalHint, MLPRegressor
    >>> x = np.array([[0.0], [1.0]])
    >>> hint = IntervalHint([[2.0]], low=3.0, high=4.0, alpha=10.0)
    >>> net = MLPRegressor(4, activation="tanh", solver="lbfgs", tol=1e-4, random_state=0)
    >>> answer = net.set_params(penalties=[hint], alpha=0).fit(x, [0.0, 1.0]).predict([[2.0]])
    >>> bool(2.9 < answer[0] < 4.1)
    True
    """

    rows: Any
    low: Any
    high: Any
    alpha: float = 1.0

    def __post_init__(self) -> None:
        self._check_alpha()
        object.__setattr__(self, "rows", self._table("rows", self.rows))
        ends = []
        for name in ("low", "high"):
            try:
                values = np.asarray(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError(f"IntervalHint: {name} needs numbers.") from None
            ends.append(values[:, None] if values.ndim == 1 else values)
            object.__setattr__(self, name, ends[-1])
        if any(np.isnan(values).any() for values in ends):
            raise DataError(
                "IntervalHint: low and high must be known; infinity leaves a side open."
            )

    def check(self, network: Network) -> None:
        """Raise where rows or intervals do not fit a network."""
        self._check_width(self.rows, network)
        shape = (len(self.rows), network.layout.sizes[-1])
        try:
            low, high = (np.broadcast_to(end, shape) for end in (self.low, self.high))
        except ValueError:
            raise DataError(
                f"IntervalHint: low and high have the shapes {self.low.shape} and "
                f"{self.high.shape}; rows by outputs are {shape}."
            ) from None
        if not (low <= high).all():
            raise DataError("IntervalHint: low must not exceed high.")

    def value_and_gradient(
        self, network: Network, theta: Array, extra: Array
    ) -> tuple[float, Array, Array]:
        """Return the penalty, and its gradient by the weights."""
        run = dual_forward(network, theta, self.rows, None)
        outputs = answers(network, run.sums)
        excess = np.maximum(outputs - self.high, 0.0) - np.maximum(self.low - outputs, 0.0)
        error = pulled_back(network, run.sums, 2.0 * self.alpha * excess)
        gradient = dual_backward(network, theta, run, error, np.zeros_like(error))
        return self.alpha * float((excess**2).sum()), gradient, _NONE


@dataclass(frozen=True, eq=False)
class TangentHint(_Hint):
    r"""Penalty on the slope of the outputs along directions that should change nothing.

    .. math::
        \lambda_h \sum_t \left\| \frac{\partial g(x^t)}{\partial x} \, d^t \right\|^2,
        \qquad d^t = \left. \frac{\partial T_\alpha(x^t)}{\partial\alpha} \right|_{\alpha=0}

    Attributes
    ----------
    rows : array of shape (n_rows, n_inputs)
        Inputs.
    tangents : array of shape (n_rows, n_inputs)
        At each of them the derivative of a transformation, such as `tangent_vectors` returns.
    alpha
        The :math:`\lambda_h`, beside the error summed over all training rows.

    Notes
    -----
    Tangent propagation (Simard et al., 1992; Alpaydin 11.8.4): the limit of an `InvarianceHint`
    between a row and its copy transformed by a small :math:`\alpha`, divided by
    :math:`\alpha^2`.

    Examples
    --------
    A function that does not change along the diagonal:

    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor, TangentHint
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> hint = TangentHint(X, np.ones((40, 2)), alpha=10.0)
    >>> net = MLPRegressor(4, activation="tanh", solver="lbfgs", tol=1e-3, random_state=0)
    >>> net = net.set_params(penalties=[hint]).fit(X, X[:, 0] - X[:, 1])
    >>> bool(abs(np.diff(net.predict([[0.3, 0.1], [0.7, 0.5]]))[0]) < 0.05)
    True
    """

    rows: Any
    tangents: Any
    alpha: float = 1.0

    def __post_init__(self) -> None:
        self._check_alpha()
        object.__setattr__(self, "rows", self._table("rows", self.rows))
        object.__setattr__(self, "tangents", self._table("tangents", self.tangents))
        if self.rows.shape != self.tangents.shape:
            raise DataError(
                "TangentHint: a row has one tangent of as many numbers; got "
                f"{self.rows.shape} and {self.tangents.shape}."
            )

    def check(self, network: Network) -> None:
        """Raise where the rows do not fit a network."""
        self._check_width(self.rows, network)

    def value_and_gradient(
        self, network: Network, theta: Array, extra: Array
    ) -> tuple[float, Array, Array]:
        """Return the penalty, and its gradient by the weights."""
        run = dual_forward(network, theta, self.rows, self.tangents)
        sums, change = run.sums, run.sum_changes
        if network.output == "softmax":
            shares = softmax(sums, axis=1)
            centred = change - (shares * change).sum(axis=1, keepdims=True)
            moved = shares * centred
            seeds = 2.0 * self.alpha * moved
            middle = seeds - (shares * seeds).sum(axis=1, keepdims=True)
            # The product of seeds and changes is their covariance under the shares, whose
            # derivative by a sum is its share times what it adds beyond the mean.
            product = middle * centred
            error = shares * (product - (shares * product).sum(axis=1, keepdims=True))
            by_change = shares * middle
        else:
            kind = "logistic" if network.output == "binary" else network.output
            _, slope, bend = unit_derivatives(sums, kind, 1.0)
            moved = slope * change
            seeds = 2.0 * self.alpha * moved
            error, by_change = seeds * bend * change, seeds * slope
        gradient = dual_backward(network, theta, run, error, by_change)
        return self.alpha * float((moved**2).sum()), gradient, _NONE
