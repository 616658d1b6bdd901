"""Values as functions with parameters: linear, joint and by a network, with their gradients."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed, generator
from verulam.reinforcement._agents.codings import Parameterised
from verulam.reinforcement._checks import check_array, check_count


class Approximator(Protocol):
    """Values of all outputs for a state, and the gradient of one of them."""

    parameters: NDArray[np.float64]

    def start(self, n_outputs: int) -> None:
        """Begin with fresh parameters for so many outputs."""

    def values(self, state: Any) -> NDArray[np.float64]:
        """Return the value of each output."""

    def gradient(self, state: Any, output: int) -> NDArray[np.float64]:
        """Return the gradient of one output with respect to the parameters."""


class LinearValues(Parameterised):
    r"""One linear function of coded states for each action, :math:`Q(s, a) = w_a^T \phi(s)`.

    Parameters
    ----------
    coding
        Function of a state that returns its features, such as `RadialBasis` or `OneHot`; it says
        how many as ``n_features``.

    Attributes
    ----------
    parameters : ndarray
        All weights in a row.

    Examples
    --------
    >>> from verulam.reinforcement import LinearValues, OneHot
    >>> values = LinearValues(OneHot(2))
    >>> values.start(3)
    >>> values.gradient(1, 2).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, coding: Any) -> None:
        if not callable(coding) or not hasattr(coding, "n_features"):
            raise DataError(
                "coding must be a function of the state with n_features, such as OneHot."
            )
        self.coding = coding
        self.parameters: NDArray[np.float64] = np.empty(0)

    def start(self, n_outputs: int) -> None:
        """Begin with weights of 0."""
        self.parameters = np.zeros(n_outputs * self.coding.n_features)

    def values(self, state: Any) -> NDArray[np.float64]:
        """Return the value of each output."""
        return self.parameters.reshape(-1, self.coding.n_features) @ self.coding(state)

    def gradient(self, state: Any, output: int) -> NDArray[np.float64]:
        """Return the gradient of one output: its features."""
        slope = np.zeros_like(self.parameters)
        width = self.coding.n_features
        slope[output * width : (output + 1) * width] = self.coding(state)
        return slope


class JointLinear(Parameterised):
    r"""A linear function of features of state and action, :math:`Q(s, a) = w^T \phi(s, a)`.

    Parameters
    ----------
    features
        Function of state and action that returns a vector.
    n_features
        Its length.

    Attributes
    ----------
    parameters : ndarray of shape (n_features,)
        The weights.

    Examples
    --------
    The three weights of Alpaydin 18.9, exercise 7:

    >>> from verulam.reinforcement import JointLinear
    >>> values = JointLinear(lambda s, a: [s, a, 1.0], 3)
    >>> values.start(2)
    >>> values.gradient(4.0, 1).tolist()
    [4.0, 1.0, 1.0]
    """

    def __init__(self, features: Callable[[Any, int], ArrayLike], n_features: int) -> None:
        if not callable(features):
            raise DataError("features must be a function of state and action.")
        self.features = features
        self.n_features = check_count("n_features", n_features)
        self.parameters: NDArray[np.float64] = np.empty(0)

    def start(self, n_outputs: int) -> None:
        """Begin with weights of 0."""
        self.parameters = np.zeros(self.n_features)
        self._n_outputs = n_outputs

    def values(self, state: Any) -> NDArray[np.float64]:
        """Return the value of each output."""
        rows = np.array([self.gradient(state, output) for output in range(self._n_outputs)])
        return rows @ self.parameters

    def gradient(self, state: Any, output: int) -> NDArray[np.float64]:
        """Return the gradient of one output: the features of state and action."""
        return check_array("features", self.features(state, output), (self.n_features,))


class NetworkValues(Parameterised):
    r"""A multilayer perceptron with one hidden layer and an output for each action.

    Parameters
    ----------
    coding
        Function of a state that returns its inputs, with ``n_features``.
    n_units
        Hidden units, :math:`\tanh(W \phi(s) + b)`.
    random_state
        Seed of the first weights.

    Attributes
    ----------
    parameters : ndarray
        All weights in a row.

    Notes
    -----
    The gradient is that of backpropagation for a single output. Learning from one instance at a
    time needs a small rate. See Alpaydin 18.6 and 11.7.

    Examples
    --------
    >>> from verulam.reinforcement import Identity, NetworkValues
    >>> network = NetworkValues(Identity(1), n_units=4, random_state=0)
    >>> network.start(2)
    >>> network.values([0.3]).shape, len(network.parameters)
    ((2,), 22)
    """

    def __init__(self, coding: Any, *, n_units: int = 20, random_state: Seed = None) -> None:
        if not callable(coding) or not hasattr(coding, "n_features"):
            raise DataError(
                "coding must be a function of the state with n_features, such as OneHot."
            )
        self.coding = coding
        self.n_units = check_count("n_units", n_units)
        self.random_state = random_state
        self.parameters: NDArray[np.float64] = np.empty(0)

    def start(self, n_outputs: int) -> None:
        """Begin with small weights at random."""
        random = generator(self.random_state)
        inputs, units = self.coding.n_features, self.n_units
        hidden = random.normal(scale=1.0 / np.sqrt(inputs), size=(units, inputs + 1))
        outer = random.normal(scale=0.1 / np.sqrt(units), size=(n_outputs, units + 1))
        self._split = hidden.size
        self.parameters = np.concatenate([hidden.ravel(), outer.ravel()])

    def _layers(self, state: Any) -> tuple[NDArray[np.float64], ...]:
        inputs = np.append(self.coding(state), 1.0)
        hidden = self.parameters[: self._split].reshape(self.n_units, -1)
        outer = self.parameters[self._split :].reshape(-1, self.n_units + 1)
        return inputs, np.append(np.tanh(hidden @ inputs), 1.0), outer

    def values(self, state: Any) -> NDArray[np.float64]:
        """Return the value of each output."""
        _, units, outer = self._layers(state)
        return outer @ units

    def gradient(self, state: Any, output: int) -> NDArray[np.float64]:
        """Return the gradient of one output by backpropagation."""
        inputs, units, outer = self._layers(state)
        back = outer[output, :-1] * (1.0 - units[:-1] ** 2)
        slope = np.zeros_like(outer)
        slope[output] = units
        return np.concatenate([np.outer(back, inputs).ravel(), slope.ravel()])
