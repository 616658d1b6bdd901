"""Networks of units in layers: the forward pass, and the error as a function of all weights."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from verulam.base import (
    NONE,
    NUMBER,
    NUMBERS,
    TABLE,
    TEXT,
    VECTOR,
    DataError,
    Kind,
    array_of_numbers,
    checked_arguments,
    map_rows,
    unknown_name,
)
from verulam.neural._network.gradient_loops import (
    CROSS_ENTROPY,
    GAUSSIAN,
    IDENTITY,
    LOGISTIC,
    RELU,
    SOFTMAX,
    SQUARED,
    SQUARED_LOGISTIC,
    SQUARED_TANH,
    TANH,
    finish_gradient,
)
from verulam.neural._network.layout import Layout, Parts
from verulam.neural._network.online_loops import run_rows
from verulam.neural._network.workspace import Workspace
from verulam.numerics import RuleMemory, softmax

#: Hidden units that a gradient can pass, by their names.
ACTIVATIONS = {
    "identity": IDENTITY,
    "logistic": LOGISTIC,
    "tanh": TANH,
    "relu": RELU,
    "gaussian": GAUSSIAN,
}
#: Outputs with the error that fits them, by their names.
OUTPUTS = {
    "identity": SQUARED,
    "binary": CROSS_ENTROPY,
    "softmax": SOFTMAX,
    "logistic": SQUARED_LOGISTIC,
    "tanh": SQUARED_TANH,
}
#: A step meets at least so many rows of a hint, if there are: fewer would save no time.
HINT_ROWS = 200
_NO_NUMBERS = np.empty((0, 0))
_NO_CODES = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Network:
    """What a network computes, whatever its weights are.

    Attributes
    ----------
    layout
        Layers and the places of their weights.
    activation
        Function of the hidden units: one of `ACTIVATIONS`, or "threshold".
    output
        Function of the outputs: one of `OUTPUTS`.
    gain
        Steepness of logistic hidden units.
    """

    layout: Layout
    activation: str = "logistic"
    output: str = "identity"
    gain: float = 1.0

    def hidden(self, theta: NDArray[Any], rows: NDArray[Any], layer: int) -> NDArray[Any]:
        """Return the outputs of the units of a hidden layer, counted from 0."""
        values = rows
        for below in range(layer + 1):
            sums = values @ self.layout.weights(theta, below) + self.layout.biases(theta, below)
            values = unit_outputs(sums, self.activation, self.gain)
        return values

    def outputs(self, theta: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        """Return the outputs for rows: numbers, or probabilities of classes."""

        def of_part(part: NDArray[Any]) -> NDArray[Any]:
            last = self.layout.n_layers - 1
            values = self.hidden(theta, part, last - 1)
            sums = values @ self.layout.weights(theta, last) + self.layout.biases(theta, last)
            if self.layout.skip:
                sums += part @ self.layout.skip_weights(theta)
            if self.output == "softmax":
                return softmax(sums, axis=1)
            if self.output == "binary":
                return expit(sums)
            return unit_outputs(sums, self.output)

        shape = (len(rows), self.layout.sizes[-1])
        return map_rows(of_part, rows, shape, theta.dtype)


@checked_arguments(
    sums=array_of_numbers(words="numbers", finite=False, empty=True), activation=TEXT, gain=NUMBER
)
def activate(sums: ArrayLike, activation: str, gain: float = 1.0) -> NDArray[Any]:
    r"""Return the outputs of units.

    Parameters
    ----------
    sums
        Weighted sums of their inputs.
    activation
        "identity", "logistic" :math:`1 / (1 + e^{-k a})`, "tanh", "relu" :math:`\max(0, a)`,
        "gaussian" :math:`e^{-a^2/2}`, or "threshold": 1 where :math:`a > 0`, else 0.
    gain
        The :math:`k` of logistic units.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import activate
    >>> activate(np.array([-1.0, 0.0, 2.0]), "logistic").round(3).tolist()
    [0.269, 0.5, 0.881]
    """
    if activation not in (*ACTIVATIONS, "threshold"):
        raise unknown_name("activation", activation, (*ACTIVATIONS, "threshold"))
    values = np.asarray(sums)
    return unit_outputs(
        values if values.dtype.kind == "f" else values.astype(np.float64), activation, gain
    )


def unit_outputs(sums: NDArray[Any], activation: str, gain: float = 1.0) -> NDArray[Any]:
    """Return the outputs of units as `activate` does, for arguments that are known to be right."""
    if activation == "identity":
        return sums
    if activation == "logistic":
        return expit(gain * sums)
    if activation == "tanh":
        return np.tanh(sums)
    if activation == "relu":
        return np.maximum(sums, 0.0)
    if activation == "gaussian":
        return np.exp(-0.5 * sums * sums)
    return (sums > 0.0).astype(sums.dtype)


class Penalty(Protocol):
    """A term beside the summed error, with a strength and perhaps parameters of its own."""

    @property
    def n_parameters(self) -> int:
        """Parameters that are learned beside the weights."""
        ...

    def check(self, network: Network) -> None:
        """Raise where the penalty does not fit a network."""
        ...

    def start(self, theta: NDArray[np.floating], layout: Layout) -> NDArray[np.float64]:
        """Return its own parameters to start from."""
        ...

    def parts(self, n_rows: int) -> "Sequence[Penalty]":
        """Return terms over at most so many rows that add up to this one."""
        ...

    def value_and_gradient(
        self, network: Network, theta: NDArray[np.float64], extra: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the term, and its gradients by the weights and by its own parameters."""
        ...


@dataclass
class TrainingError:
    """The mean error of a network on training rows, with weight decay.

    Attributes
    ----------
    network
        What is trained.
    inputs
        Training rows.
    targets
        Numbers to predict, rows by outputs, or codes of classes.
    weights
        Weights of the rows, or None.
    alpha
        Strength of the penalty alpha/2 times the sum of squared weights, beside the error summed
        over all rows.
    decay_biases
        Whether biases are penalised too.
    penalties
        Further terms beside the error summed over all rows, such as `InvarianceHint` and
        `SoftSharing`. Their own parameters come behind those of the network. In a step, rows of a
        hint that are more than those of the batch, and more than 200, take turns.
    """

    network: Network
    inputs: NDArray[np.floating]
    targets: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    alpha: float = 0.0
    decay_biases: bool = False
    penalties: tuple[Penalty, ...] = ()

    def __post_init__(self) -> None:
        layout = self.network.layout
        for penalty in self.penalties:
            penalty.check(self.network)
        by_class = self.network.output in ("softmax", "binary")
        dtype = self.inputs.dtype
        self.n_rows = len(self.inputs)
        self._codes = self.targets.astype(np.int64) if by_class else _NO_CODES
        numbers = _NO_NUMBERS if by_class else self.targets
        self._targets = np.ascontiguousarray(numbers, dtype=dtype)
        self._weights = np.empty(0) if self.weights is None else self.weights
        self.mass = float(self.n_rows if self.weights is None else self.weights.sum())
        self._kinds = ACTIVATIONS[self.network.activation], OUTPUTS[self.network.output]
        penalised = np.ones(layout.n_parameters) if self.decay_biases else layout.is_weight
        # The mean error has its share of the penalty.
        decay = penalised * (self.alpha / self.mass) if self.alpha else np.empty(0)
        self._decay = decay.astype(dtype)
        self._counts = layout.group_divisors.astype(dtype)
        self._sums = np.empty_like(self._counts)
        self.n_parameters = layout.n_parameters + sum(
            penalty.n_parameters for penalty in self.penalties
        )
        self._gradient = np.empty(self.n_parameters, dtype=dtype)
        self._terms: tuple[int, list[Sequence[Penalty]]] = (0, [])
        self._n_steps = 0
        self._buffer = np.empty(0, dtype=dtype)
        self._workspaces: dict[int, Workspace] = {}
        self._views: dict[str, tuple[Any, Parts]] = {}

    @property
    def decay(self) -> NDArray[np.floating]:
        """Factor of each parameter in the gradient of the penalty of the mean error."""
        if len(self._decay):
            return self._decay
        return np.zeros(self.network.layout.n_parameters, dtype=self.inputs.dtype)

    def copy(self) -> "TrainingError":
        """Return the same error with a workspace of its own, for another thread."""
        return replace(self)

    def _buffer_for(self, n_rows: int) -> NDArray[np.floating]:
        size = Workspace.buffer_size(self.network.layout, n_rows)
        if len(self._buffer) < size:
            self._buffer = np.empty(size, dtype=self.inputs.dtype)
            self._workspaces.clear()
        return self._buffer

    def _workspace_for(self, n_rows: int) -> Workspace:
        """Return the workspace of a batch; that of another size takes its place."""
        buffer = self._buffer_for(n_rows)
        if n_rows not in self._workspaces:
            # All are views of one buffer: those of a batch and of the last one of an epoch stay.
            if len(self._workspaces) > 1:
                self._workspaces.clear()
            self._workspaces[n_rows] = Workspace(self.network.layout, buffer, n_rows)
        return self._workspaces[n_rows]

    def _parts_of(self, name: str, vector: NDArray[np.floating]) -> Parts:
        """Return views of a vector, those of the last step where it is the same again."""
        if name not in self._views or self._views[name][0] is not vector:
            self._views[name] = vector, self.network.layout.parts(vector)
        return self._views[name][1]

    def extended(self, theta: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the weights of a network with the start of the penalties' own parameters."""
        layout = self.network.layout
        starts = [penalty.start(theta, layout) for penalty in self.penalties]
        return np.concatenate([theta, *starts]).astype(theta.dtype) if starts else theta

    def mean_error(self, theta: NDArray[np.floating]) -> float:
        """Return the mean error over all rows without penalties."""
        parameters = theta[: self.network.layout.n_parameters]
        return error_of_rows(self.network, parameters, self.inputs, self.targets, self.weights)

    def value_and_gradient(self, theta: NDArray[np.floating]) -> tuple[float, NDArray[np.floating]]:
        """Return the mean error over all rows with its penalties, and its gradient."""
        theta = np.ascontiguousarray(theta, dtype=self.inputs.dtype)
        gradient = np.empty_like(theta)
        whole = [(penalty, 1) for penalty in self.penalties]
        total = self._gradient_of(theta, np.arange(self.n_rows), self.mass, gradient, whole)
        return total / self.mass + self._penalty(theta), gradient

    def _gradient_of(
        self,
        theta: NDArray[np.floating],
        rows: NDArray[np.int64],
        mass: float,
        gradient: NDArray[np.floating],
        terms: Sequence[tuple[Penalty, int]],
    ) -> float:
        """Return the summed error of rows with their share of penalties; leave its mean gradient.

        Penalties are terms with how often to count them. Weight decay is in the gradient alone.
        """
        layout, gain, space = self.network.layout, self.network.gain, self._workspace_for(len(rows))
        parameters = self._parts_of("parameters", theta)
        slots = self._parts_of("gradient", gradient)
        targets = self._targets, self._codes, self._weights
        activation, output = self._kinds
        total = space.forward(parameters, self.inputs, targets, rows, (activation, output), gain)
        space.backward(parameters, slots, activation, gain)
        if terms:
            total += self._penalise(theta, gradient, mass, terms)
        finish_gradient(
            slots.flat,
            parameters.flat,
            mass,
            self._decay,
            layout.mask,
            layout.groups,
            self._sums,
            self._counts,
        )
        return float(total)

    def _penalise(
        self,
        theta: NDArray[np.floating],
        gradient: NDArray[np.floating],
        mass: float,
        terms: Sequence[tuple[Penalty, int]],
    ) -> float:
        """Return a batch's share of the penalties, and add it to the gradient."""
        count = self.network.layout.n_parameters
        parameters, place, total = theta[:count].astype(np.float64), count, 0.0
        for penalty, times in terms:
            extra = slice(place, place + penalty.n_parameters)
            value, slopes, extra_slopes = penalty.value_and_gradient(
                self.network, parameters, theta[extra].astype(np.float64)
            )
            # The gradient of a batch is divided by its rows afterwards, that of a penalty stands
            # beside the error of all of them.
            gradient[:count] += slopes * (times * mass / self.mass)
            gradient[extra] = times * extra_slopes / self.mass
            place, total = extra.stop, total + times * value
        return total * (mass / self.mass)

    def _next_terms(self, n_rows: int) -> list[tuple[Penalty, int]]:
        """Return the parts of all penalties whose turn it is in a batch."""
        n_rows = max(n_rows, HINT_ROWS)
        if self._terms[0] != n_rows:
            self._terms = n_rows, [penalty.parts(n_rows) for penalty in self.penalties]
        self._n_steps += 1
        return [(parts[self._n_steps % len(parts)], len(parts)) for parts in self._terms[1]]

    def _penalty(self, theta: NDArray[np.floating]) -> float:
        if not len(self._decay):
            return 0.0
        parameters = theta[: len(self._decay)]
        # Weights that grow beyond all bounds are told by whoever trains.
        with np.errstate(over="ignore", invalid="ignore"):
            return 0.5 * float(self._decay @ (parameters * parameters))

    def run_epoch(
        self,
        theta: NDArray[np.floating],
        memory: RuleMemory,
        order: NDArray[np.int64],
        batch_size: int,
    ) -> float:
        """Take a step for each batch of rows in order; return the mean error on the way."""
        if batch_size == 1 and self._takes_single_rows(memory):
            total = self._run_rows(theta, memory, order)
        else:
            batches = range(0, self.n_rows, batch_size)
            total = 0.0
            for start in batches:
                terms = self._next_terms(batch_size) if self.penalties else []
                total += self._step(theta, memory, order[start : start + batch_size], terms)
        return total / self.mass + self._penalty(theta)

    def _step(
        self,
        theta: NDArray[np.floating],
        memory: RuleMemory,
        rows: NDArray[np.int64],
        terms: Sequence[tuple[Penalty, int]],
    ) -> float:
        mass = float(len(rows)) if self.weights is None else float(self.weights[rows].sum())
        if mass == 0.0:
            return 0.0
        total = self._gradient_of(theta, rows, mass, self._gradient, terms)
        memory.step(theta, self._gradient)
        return total

    def _takes_single_rows(self, memory: RuleMemory) -> bool:
        """Whether steps of single rows need no gradient in one piece."""
        layout = self.network.layout
        plain = not (layout.skip or len(layout.mask) or len(layout.groups) or self.penalties)
        return plain and self.weights is None and memory.is_descent

    def _run_rows(
        self, theta: NDArray[np.floating], memory: RuleMemory, order: NDArray[np.int64]
    ) -> float:
        layout, decay = self.network.layout, self.alpha / self.mass
        turned = [np.empty_like(vector) for vector in (theta, memory.first)]
        for place, vector in zip(turned, (theta, memory.first), strict=True):
            layout.turn(place, vector)
        total = run_rows(
            turned[0], self.inputs, self._targets, self._codes, self._weights, order, layout.table,
            layout.turned, np.array(self._kinds), self.network.gain, self._buffer_for(1),
            np.empty(max(layout.sizes) + 1, dtype=np.uint64), decay,
            decay if self.decay_biases else 0.0, turned[1], memory.rate, memory.momentum,
        )  # fmt: skip
        for place, vector in zip(turned, (theta, memory.first), strict=True):
            layout.turn(vector, place, back=True)
        return float(total)


NETWORK = Kind("a `Network`", lambda value: isinstance(value, Network))
TRAINING_ERROR = Kind("a `TrainingError`", lambda value: isinstance(value, TrainingError))


@checked_arguments(
    network=NETWORK, theta=VECTOR, rows=TABLE, targets=NUMBERS, weights=VECTOR | NONE
)
def mean_error(
    network: Network,
    theta: ArrayLike,
    rows: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
) -> float:
    """Return the mean error of a network on rows, without penalties.

    Parameters
    ----------
    network, theta
        The network and its weights.
    rows, targets, weights
        As in `TrainingError`.
    """
    theta, rows, targets = np.asarray(theta), np.asarray(rows), np.asarray(targets)
    layout, by_class = network.layout, network.output in ("softmax", "binary")
    if theta.shape != (layout.n_parameters,) or rows.shape[1] != layout.sizes[0]:
        raise DataError(
            f"theta and rows: expected {layout.n_parameters} numbers and {layout.sizes[0]} columns;"
            f" got the shapes {theta.shape} and {rows.shape}."
        )
    shape = (len(rows),) if by_class else (len(rows), layout.sizes[-1])
    if targets.shape != shape:
        raise DataError(f"targets: expected the shape {shape}; got {targets.shape}.")
    n_classes = max(2, layout.sizes[-1])
    if by_class and not np.isin(targets, np.arange(n_classes)).all():
        raise DataError(f"targets: classes are whole numbers from 0 to {n_classes - 1}.")
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (len(rows),) or not weights.sum() > 0 or weights.min() < 0:
            raise DataError(f"weights: expected {len(rows)} numbers of at least 0, not all 0.")
    codes = targets.astype(np.int64) if by_class else targets
    return error_of_rows(network, theta, rows, codes, weights)


def error_of_rows(
    network: Network,
    theta: NDArray[Any],
    rows: NDArray[Any],
    targets: NDArray[Any],
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the mean error as `mean_error` does, for arguments that are known to be right."""
    outputs = network.outputs(theta, rows).astype(np.float64)
    least = np.finfo(np.float64).tiny
    if network.output == "softmax":
        errors = -np.log(np.maximum(outputs[np.arange(len(rows)), targets], least))
    elif network.output == "binary":
        likelihood = np.where(targets == 1, outputs[:, 0], 1.0 - outputs[:, 0])
        errors = -np.log(np.maximum(likelihood, least))
    else:
        errors = 0.5 * ((outputs - targets) ** 2).sum(axis=1)
    return float(np.average(errors, weights=weights))
