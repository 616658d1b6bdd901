"""The mean error of a local model as a function of one flat vector, for any trainer."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from verulam.local._radial.gates import Gate
from verulam.local._radial.mixing import (
    Mixed,
    Targets,
    compete,
    cooperate,
    mixed_outputs,
    softmax_rows,
)
from verulam.local._radial.units import FloatArray
from verulam.numerics import RuleMemory


@dataclass(frozen=True, eq=False)
class Outputs:
    """What experts say of rows.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_units, n_outputs), or (1, ...) where rows do not matter
        Outputs of all experts.
    state
        What the experts remember for their gradient.
    """

    values: FloatArray
    state: Any = None


class Experts(Protocol):
    """Outputs of units as a function of a flat vector of parameters."""

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        ...

    def outputs(self, theta: FloatArray, X: FloatArray) -> Outputs:
        """Return the outputs of all experts for all rows."""
        ...

    def gradient(
        self, theta: FloatArray, X: FloatArray, outputs: Outputs, slopes: FloatArray
    ) -> FloatArray:
        """Return the gradient of an error from its slopes by the outputs."""
        ...


@dataclass(frozen=True)
class ConstantExperts:
    """A constant for each unit and output: the second-layer weights of a radial network.

    Attributes
    ----------
    n_units, n_outputs
        Their numbers.
    """

    n_units: int
    n_outputs: int

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return self.n_units * self.n_outputs

    def outputs(self, theta: FloatArray, X: FloatArray) -> Outputs:
        """Return the constants, the same for all rows."""
        return Outputs(theta.reshape(1, self.n_units, self.n_outputs))

    def gradient(
        self, theta: FloatArray, X: FloatArray, outputs: Outputs, slopes: FloatArray
    ) -> FloatArray:
        """Return the slopes, which are summed over the rows."""
        return slopes.ravel()


@dataclass(frozen=True)
class LocalModel:
    """Shares of a gate, outputs of experts, and how they make one prediction.

    The vector holds the parameters of the gate, of the experts, of a linear rule beside them
    (intercepts, then slopes) and the logarithm of the noise.

    Attributes
    ----------
    gate, experts
        The parts.
    n_inputs, n_outputs
        Numbers of columns and outputs.
    rule
        What is added to the sum of units that cooperate: "none", an "intercept", or a "linear"
        function.
    competitive
        Whether units compete.
    classes
        Whether outputs are classes.
    """

    gate: Gate
    experts: Experts
    n_inputs: int
    n_outputs: int
    rule: str = "none"
    competitive: bool = False
    classes: bool = False

    @cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        """Numbers of parameters of gate, experts, rule and noise."""
        rule = {"none": 0, "intercept": 1, "linear": 1 + self.n_inputs}[self.rule]
        noise = int(self.competitive and not self.classes)
        return self.gate.n_parameters, self.experts.n_parameters, rule * self.n_outputs, noise

    @property
    def n_parameters(self) -> int:
        """Length of the vector."""
        return sum(self.sizes)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where the parameters of gate, experts, rule and noise are."""
        ends = np.cumsum(self.sizes).tolist()
        return tuple(slice(end - size, end) for size, end in zip(self.sizes, ends, strict=True))

    def split(self, theta: FloatArray) -> list[FloatArray]:
        """Return views of the parameters of gate, experts, rule and noise."""
        return [theta[place] for place in self.places]

    def addition(self, rule: FloatArray, X: FloatArray) -> FloatArray | None:
        """Return what the rule adds to the sum of the units."""
        if self.rule == "none":
            return None
        table = rule.reshape(-1, self.n_outputs)
        return table[0] if self.rule == "intercept" else X @ table[1:] + table[0]

    def mixed(
        self, theta: FloatArray, X: FloatArray, targets: Targets, weights: FloatArray | None
    ) -> tuple[Mixed, FloatArray]:
        """Return the errors of the rows with their slopes, and the gradient of their sum."""
        of_gate, of_experts, of_rule, of_noise = self.split(theta)
        shares = self.gate.shares(of_gate, X)
        outputs = self.experts.outputs(of_experts, X)
        if self.competitive:
            noise = float(np.exp(of_noise[0])) if len(of_noise) else 1.0
            result = compete(shares.logarithms, outputs.values, targets, weights, noise)
        else:
            addition = self.addition(of_rule, X)
            result = cooperate(shares.logarithms, outputs.values, addition, targets, weights)
        # In the order of `sizes`: gate, experts, rule, noise.
        parts = [
            self.gate.gradient(of_gate, X, shares, result.by_log_share),
            self.experts.gradient(of_experts, X, outputs, result.by_output),
        ]
        if self.rule != "none":
            parts.append(result.by_sum.sum(axis=0))
        if self.rule == "linear":
            parts.append((X.T @ result.by_sum).ravel())
        if len(of_noise):
            parts.append(np.array([result.by_log_noise]))
        return result, np.concatenate(parts)

    def predictions(self, theta: FloatArray, X: FloatArray) -> FloatArray:
        """Return the mixed outputs: numbers, or probabilities of classes."""
        of_gate, of_experts, of_rule, _ = self.split(theta)
        shares = np.exp(self.gate.shares(of_gate, X).logarithms)
        outputs = self.experts.outputs(of_experts, X).values
        if self.competitive:
            return mixed_outputs(shares, softmax_rows(outputs) if self.classes else outputs)
        sums = mixed_outputs(shares, outputs)
        addition = self.addition(of_rule, X)
        if addition is not None:
            sums = sums + addition
        return softmax_rows(sums) if self.classes else sums


@dataclass(eq=False)
class LocalError:
    """The mean error of a local model on training rows.

    Attributes
    ----------
    model
        What is trained.
    inputs, targets, weights
        Training rows, what is to be predicted for them, and their weights or None.
    decay
        Factor of each parameter in the gradient of the penalty of the mean error, or None.
    free
        Which parameters are trained, or None for all.
    bounds
        Least and largest values of the parameters, or None.
    """

    model: LocalModel
    inputs: FloatArray
    targets: Targets
    weights: FloatArray | None = None
    decay: FloatArray | None = None
    free: NDArray[np.bool_] | None = None
    bounds: tuple[FloatArray, FloatArray] | None = None
    n_rows: int = field(init=False)
    mass: float = field(init=False)

    def __post_init__(self) -> None:
        self.n_rows = len(self.inputs)
        self.mass = float(self.n_rows if self.weights is None else self.weights.sum())

    # Parameters that grow beyond all bounds are told by whoever trains.
    @np.errstate(over="ignore", invalid="ignore")
    def value_and_gradient(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the mean error over all rows with its penalty, and its gradient."""
        inside = theta if self.bounds is None else np.clip(theta, *self.bounds)
        mixed, gradient = self.model.mixed(inside, self.inputs, self.targets, self.weights)
        self._finish(gradient, inside, self.mass)
        # Beyond a bound the error is what it is at the bound.
        gradient[inside != theta] = 0.0
        return float(mixed.errors.sum()) / self.mass + self._penalty(inside), gradient

    def _finish(self, gradient: FloatArray, theta: FloatArray, mass: float) -> None:
        gradient /= mass
        if self.decay is not None:
            gradient += self.decay * theta
        if self.free is not None:
            gradient *= self.free

    def _penalty(self, theta: FloatArray) -> float:
        return 0.0 if self.decay is None else 0.5 * float(self.decay @ (theta * theta))

    @np.errstate(over="ignore", invalid="ignore")
    def run_epoch(
        self, theta: FloatArray, memory: RuleMemory, order: NDArray[np.int64], batch_size: int
    ) -> float:
        """Take a step for each batch of rows in order; return the mean error on the way."""
        total = 0.0
        for start in range(0, self.n_rows, batch_size):
            rows = order[start : start + batch_size]
            weights = None if self.weights is None else self.weights[rows]
            mass = float(len(rows)) if weights is None else float(weights.sum())
            if mass == 0.0:  # rows that count nothing have no mean
                continue
            mixed, gradient = self.model.mixed(
                theta, self.inputs[rows], self.targets.at(rows), weights
            )
            self._finish(gradient, theta, mass)
            memory.step(theta, gradient)
            if self.bounds is not None:
                np.clip(theta, *self.bounds, out=theta)
            total += float(mixed.errors.sum())
        return total / self.mass + self._penalty(theta)
