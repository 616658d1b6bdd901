"""Errors whose gradient is computed batch by batch, for networks other than plain perceptrons."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.numerics import RuleMemory

Floats = NDArray[np.floating]


class BatchError:
    """The mean error of a network over rows with weight decay; a subclass has its gradient.

    A subclass is a dataclass with `network`, `inputs`, `weights`, `alpha` and `decay_biases`; it
    calls `_weigh` once, and says in `_batch` what the summed error of some rows and its gradient
    are.
    """

    network: Any
    inputs: Floats
    alpha: float
    decay_biases: bool

    def _weigh(self, n_rows: int, weights: NDArray[np.float64] | None) -> None:
        """Remember the number of rows, their weights and the factors of the decay."""
        self.n_rows = n_rows
        self.shares = np.ones(n_rows) if weights is None else np.asarray(weights, dtype=np.float64)
        self.mass = float(self.shares.sum())
        layout = self.network.layout
        penalised = np.ones(layout.n_parameters) if self.decay_biases else layout.is_weight
        self.decay = (penalised * (self.alpha / self.mass)).astype(self.inputs.dtype)

    def copy(self) -> Any:
        """Return the same error, for another thread."""
        return replace(self)  # type: ignore[type-var]

    def extended(self, theta: Floats) -> Floats:
        """Return the weights to start from: no penalty has parameters of its own."""
        return theta

    def _batch(self, theta: Floats, batch: NDArray[np.int64]) -> tuple[float, Floats]:
        """Return the summed error of some rows and its gradient."""
        raise NotImplementedError

    def value_and_gradient(self, theta: Floats) -> tuple[float, Floats]:
        """Return the mean error over all rows with its penalty, and its gradient."""
        theta = np.ascontiguousarray(theta, dtype=self.inputs.dtype)
        total, gradient = self._batch(theta, np.arange(self.n_rows))
        gradient = gradient / self.mass + self.decay * theta
        return total / self.mass + self._penalty(theta), gradient

    def run_epoch(
        self, theta: Floats, memory: RuleMemory, order: NDArray[np.int64], batch_size: int
    ) -> float:
        """Take a step for each batch of rows in order; return the mean error on the way."""
        total = 0.0
        for start in range(0, self.n_rows, batch_size):
            batch = order[start : start + batch_size]
            if self.shares[batch].any():
                total += self._step(theta, memory, batch)
        return total / self.mass + self._penalty(theta)

    def _step(self, theta: Floats, memory: RuleMemory, batch: NDArray[np.int64]) -> float:
        error, gradient = self._batch(theta, batch)
        gradient /= float(self.shares[batch].sum())
        if self.alpha:
            gradient += self.decay * theta
        memory.step(theta, gradient)
        return error

    def _penalty(self, theta: Floats) -> float:
        # Weights that grow beyond all bounds are told by whoever trains.
        with np.errstate(over="ignore", invalid="ignore"):
            return 0.5 * float(self.decay @ (theta * theta)) if self.alpha else 0.0
