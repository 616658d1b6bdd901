"""The log-likelihood of logistic discrimination: value, gradient and Hessian, by row blocks."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from verulam.base import kept_threads, thread_map
from verulam.linear._training.tables import is_sparse, weighted_gram
from verulam.linear._tuning import LOGISTIC_BLOCK_NUMBERS, LOGISTIC_THREADED_NUMBERS


@dataclass(frozen=True)
class LogisticProblem:
    r"""Penalised negative log-likelihood of class posteriors linear in the inputs.

    Coefficients have the bias in front: one row for two classes, whose second has the posterior
    :math:`\sigma(w^T x + w_0)`, or one row for each of more classes.

    Attributes
    ----------
    inputs
        Rows, dense or CSR.
    codes
        Number of each row's class.
    n_classes
        Number of classes.
    weights
        Weight of each row, or None where all count alike.
    alpha
        Factor of half the squared length of the weights; biases are free.
    """

    inputs: Any
    codes: np.ndarray
    n_classes: int
    weights: np.ndarray | None
    alpha: float

    def threads(self) -> AbstractContextManager[None]:
        """Return the threads that the passes of a fit share, where the problem is large enough.

        The result does not depend on them: blocks and the order of their sums stay the same.
        """
        return kept_threads() if self._large else nullcontext()

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the coefficients."""
        return (1 if self.n_classes == 2 else self.n_classes), self.inputs.shape[1] + 1

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the rows."""
        return float(len(self.codes) if self.weights is None else self.weights.sum())

    def sample(self, size: int) -> "LogisticProblem":
        """Return the same problem for some of its rows, the penalty in proportion."""
        rows = np.sort(np.random.default_rng(0).choice(len(self.codes), size, replace=False))
        weights = None if self.weights is None else self.weights[rows]
        share = size / len(self.codes)
        return replace(
            self,
            inputs=self.inputs[rows],
            codes=self.codes[rows],
            weights=weights,
            alpha=self.alpha * share,
        )

    @cached_property
    def targets(self) -> np.ndarray:
        """One for rows of the second of two classes, zero for others."""
        return (self.codes == 1).astype(np.float64)

    def value(self, coefficients: np.ndarray) -> float:
        """Return the objective."""
        return self.value_and_gradient(coefficients)[0]

    def value_and_gradient(self, coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient."""
        block = self._two_classes if self.n_classes == 2 else self._more_classes
        parts = self._over_blocks(lambda rows: block(rows, coefficients))
        gradient = sum(part[1] for part in parts)
        gradient[:, 1:] += self.alpha * coefficients[:, 1:]
        return sum(part[0] for part in parts) + self._penalty(coefficients), gradient

    def newton_terms(self, coefficients: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return objective, gradient and Hessian for two classes."""
        parts = self._over_blocks(lambda rows: self._newton_block(rows, coefficients[0]))
        value = sum(part[0] for part in parts) + self._penalty(coefficients)
        gradient = sum(part[1] for part in parts)
        hessian = sum(part[2] for part in parts)
        gradient[1:] += self.alpha * coefficients[0, 1:]
        hessian[np.diag_indices(len(hessian))] += self.alpha
        # The bias is not penalised.
        hessian[0, 0] -= self.alpha
        return value, gradient, hessian

    def information(self, coefficients: np.ndarray, reference: int) -> np.ndarray:
        """Return the Fisher information over the classes other than `reference`, in blocks."""
        others = [code for code in range(self.n_classes) if code != reference]
        posterior = self.posterior(self.inputs, coefficients)
        row_weights = np.ones(len(self.codes)) if self.weights is None else self.weights
        size = self.shape[1]
        table = np.empty((len(others) * size, len(others) * size))
        for i, first in enumerate(others):
            # Symmetric in the classes: half of the blocks are computed, and copied.
            for j, second in enumerate(others[: i + 1]):
                factors = posterior[:, first] * ((first == second) - posterior[:, second])
                block = weighted_gram(self.inputs, row_weights * factors)
                table[i * size : (i + 1) * size, j * size : (j + 1) * size] = block
                table[j * size : (j + 1) * size, i * size : (i + 1) * size] = block
        return table

    def posterior(self, inputs: Any, coefficients: np.ndarray) -> np.ndarray:
        """Return the probability of each class for some rows."""
        outputs = inputs @ coefficients[:, 1:].T + coefficients[:, 0]
        if self.n_classes == 2:
            outputs = np.column_stack([np.zeros(len(outputs)), outputs[:, 0]])
        # Softmax does not change, and no exponential overflows.
        outputs -= outputs.max(axis=1, keepdims=True)
        np.exp(outputs, out=outputs)
        outputs /= outputs.sum(axis=1, keepdims=True)
        return outputs

    def separates(self, coefficients: np.ndarray) -> bool:
        """Whether every row that counts has the largest output at its own class.

        Then no likelihood is the largest: twice the coefficients always have a larger one.
        """
        outputs = outputs_by_class(self.inputs, coefficients)
        if self.n_classes == 2:
            outputs = np.concatenate([np.zeros_like(outputs), outputs])
        places = np.arange(len(self.codes))
        of_class = outputs[self.codes, places]
        outputs[self.codes, places] = -np.inf
        right = of_class > outputs.max(axis=0)
        return bool(right.all() if self.weights is None else right[self.weights > 0].all())

    def _penalty(self, coefficients: np.ndarray) -> float:
        return 0.5 * self.alpha * float((coefficients[:, 1:] ** 2).sum())

    def _over_blocks(self, function: Any) -> list[Any]:
        n_rows = len(self.codes)
        size = max(64, LOGISTIC_BLOCK_NUMBERS * n_rows // max(self._numbers, 1))
        # The same blocks, summed in the same order, whatever the number of threads.
        blocks = [slice(start, start + size) for start in range(0, n_rows, size)]
        return thread_map(function, blocks, 0 if self._large else 1)

    @property
    def _large(self) -> bool:
        return self._numbers >= LOGISTIC_THREADED_NUMBERS

    @property
    def _numbers(self) -> int:
        inputs = self.inputs.nnz if self._sparse else self.inputs.size
        return int(inputs) + self.shape[0] * len(self.codes)

    @property
    def _sparse(self) -> bool:
        return is_sparse(self.inputs)

    def _two_classes(self, rows: slice, coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        inputs = self.inputs[rows]
        loss, errors, _ = self._logistic_terms(
            rows, inputs @ coefficients[0, 1:] + coefficients[0, 0]
        )
        return loss, np.concatenate([[errors.sum()], errors @ inputs])[None, :]

    def _logistic_terms(
        self, rows: slice, outputs: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Return cross-entropy of a block, and its first and second derivatives at the outputs."""
        targets = self.targets[rows]
        # Exponentials of minus the size cannot overflow, whatever the sign of the outputs.
        small = np.exp(-np.abs(outputs))
        posterior = np.where(outputs >= 0, 1.0, small) / (1.0 + small)
        losses = np.log1p(small) + np.maximum(outputs, 0.0) - targets * outputs
        if self.weights is None:
            return float(losses.sum()), posterior - targets, posterior * (1.0 - posterior)
        weights = self.weights[rows]
        curvatures = weights * posterior * (1.0 - posterior)
        return float(weights @ losses), weights * (posterior - targets), curvatures

    def _more_classes(self, rows: slice, coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        """Return loss and gradient of a block, one row of outputs for each class.

        Sums over few classes are fast where they run over whole rows of numbers.
        """
        inputs, codes = self.inputs[rows], self.codes[rows]
        outputs = outputs_by_class(inputs, coefficients)
        outputs -= outputs.max(axis=0)
        places = np.arange(len(codes))
        of_class = outputs[codes, places]
        np.exp(outputs, out=outputs)
        sums = outputs.sum(axis=0)
        losses = np.log(sums) - of_class
        outputs /= sums
        # The derivative of the cross-entropy of softmax: posterior minus indicator.
        outputs[codes, places] -= 1.0
        if self.weights is None:
            loss = float(losses.sum())
        else:
            loss = float(self.weights[rows] @ losses)
            outputs *= self.weights[rows]
        gradient = (inputs.T @ outputs.T).T if self._sparse else outputs @ inputs
        return loss, np.column_stack([outputs.sum(axis=1), gradient])

    def _newton_block(
        self, rows: slice, coefficients: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        inputs = self.inputs[rows]
        loss, errors, curvatures = self._logistic_terms(
            rows, inputs @ coefficients[1:] + coefficients[0]
        )
        gradient = np.concatenate([[errors.sum()], errors @ inputs])
        return loss, gradient, weighted_gram(inputs, curvatures)


def outputs_by_class(inputs: Any, coefficients: np.ndarray) -> np.ndarray:
    """Return the outputs, one row for each class."""
    # A sparse product comes with a row for each input row, and is turned over.
    if is_sparse(inputs):
        outputs = np.ascontiguousarray((inputs @ coefficients[:, 1:].T).T)
    else:
        outputs = coefficients[:, 1:] @ inputs.T
    outputs += coefficients[:, :1]
    return outputs
