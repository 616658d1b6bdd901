"""The likelihood of logistic discrimination: value, gradient and curvature, in blocks of rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from verulam.base import in_threads

#: Numbers of a block of rows: many enough that the work outweighs the calls.
_BLOCK_NUMBERS = 400_000
#: Below so many numbers one thread is faster than two.
_THREADED_NUMBERS = 400_000


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
    strength
        Factor of half the squared length of the weights; biases are free.
    """

    inputs: Any
    codes: np.ndarray
    n_classes: int
    weights: np.ndarray | None
    strength: float

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
            strength=self.strength * share,
        )

    def value(self, coefficients: np.ndarray) -> float:
        """Return the objective."""
        losses = self._over_blocks(lambda rows: self._loss(rows, coefficients))
        return sum(losses) + self._penalty(coefficients)

    def value_and_gradient(self, coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient."""
        parts = self._over_blocks(lambda rows: self._loss_and_gradient(rows, coefficients))
        gradient = sum(part[1] for part in parts)
        gradient[:, 1:] += self.strength * coefficients[:, 1:]
        return sum(part[0] for part in parts) + self._penalty(coefficients), gradient

    def newton_terms(self, coefficients: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return objective, gradient and Hessian for two classes."""
        parts = self._over_blocks(lambda rows: self._newton_block(rows, coefficients[0]))
        value = sum(part[0] for part in parts) + self._penalty(coefficients)
        gradient = sum(part[1] for part in parts)
        upper = sum(part[2] for part in parts)
        hessian = upper + np.triu(upper, 1).T
        gradient[1:] += self.strength * coefficients[0, 1:]
        hessian[np.diag_indices(len(hessian))] += self.strength
        hessian[0, 0] -= self.strength
        return value, gradient, hessian

    def information(self, coefficients: np.ndarray, reference: int) -> np.ndarray:
        """Return the Hessian over the classes other than `reference`, one block for each."""
        others = [code for code in range(self.n_classes) if code != reference]
        augmented = np.column_stack([np.ones(len(self.codes)), self._dense()])
        posterior = self.posterior(self.inputs, coefficients)
        row_weights = np.ones(len(self.codes)) if self.weights is None else self.weights
        size = augmented.shape[1]
        table = np.empty((len(others) * size, len(others) * size))
        for i, first in enumerate(others):
            for j, second in enumerate(others):
                factors = posterior[:, first] * ((first == second) - posterior[:, second])
                block = augmented.T @ (augmented * (row_weights * factors)[:, None])
                table[i * size : (i + 1) * size, j * size : (j + 1) * size] = block
        return table

    def posterior(self, inputs: Any, coefficients: np.ndarray) -> np.ndarray:
        """Return the probability of each class for some rows."""
        outputs = inputs @ coefficients[:, 1:].T + coefficients[:, 0]
        if self.n_classes == 2:
            outputs = np.column_stack([np.zeros(len(outputs)), outputs[:, 0]])
        outputs -= outputs.max(axis=1, keepdims=True)
        np.exp(outputs, out=outputs)
        outputs /= outputs.sum(axis=1, keepdims=True)
        return outputs

    def _dense(self) -> np.ndarray:
        return as_dense(self.inputs)

    def _penalty(self, coefficients: np.ndarray) -> float:
        return 0.5 * self.strength * float((coefficients[:, 1:] ** 2).sum())

    def _over_blocks(self, function: Any) -> list[Any]:
        n_rows, n_columns = self.inputs.shape
        size = max(64, _BLOCK_NUMBERS // max(n_columns, 1))
        threads = 1 if n_rows * n_columns < _THREADED_NUMBERS else 0
        starts = range(0, n_rows, size)
        return list(in_threads(lambda start: function(slice(start, start + size)), starts, threads))

    def _row_weights(self, rows: slice) -> Any:
        return 1.0 if self.weights is None else self.weights[rows]

    def _loss(self, rows: slice, coefficients: np.ndarray) -> float:
        outputs = self.inputs[rows] @ coefficients[:, 1:].T + coefficients[:, 0]
        return float((self._row_weights(rows) * _losses(outputs, self.codes[rows])).sum())

    def _loss_and_gradient(self, rows: slice, coefficients: np.ndarray) -> tuple[float, np.ndarray]:
        inputs, codes, row_weights = self.inputs[rows], self.codes[rows], self._row_weights(rows)
        outputs = inputs @ coefficients[:, 1:].T + coefficients[:, 0]
        if self.n_classes == 2:
            loss = float((row_weights * _losses(outputs, codes)).sum())
            errors = ((_sigmoid(outputs[:, 0]) - codes) * row_weights)[:, None]
        else:
            outputs -= outputs.max(axis=1, keepdims=True)
            chosen = outputs[np.arange(len(codes)), codes]
            np.exp(outputs, out=outputs)
            sums = outputs.sum(axis=1)
            loss = float((row_weights * (np.log(sums) - chosen)).sum())
            outputs /= sums[:, None]
            outputs[np.arange(len(codes)), codes] -= 1.0
            errors = outputs if self.weights is None else outputs * row_weights[:, None]
        gradient = np.column_stack([errors.sum(axis=0), np.asarray(inputs.T @ errors).T])
        return loss, gradient

    def _newton_block(
        self, rows: slice, coefficients: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        inputs = as_dense(self.inputs[rows])
        codes, row_weights = self.codes[rows], self._row_weights(rows)
        outputs = inputs @ coefficients[1:] + coefficients[0]
        posterior = _sigmoid(outputs)
        loss = float((row_weights * _losses(outputs[:, None], codes)).sum())
        errors = row_weights * (posterior - codes)
        roots = np.sqrt(row_weights * posterior * (1.0 - posterior))
        scaled = np.empty((len(inputs), inputs.shape[1] + 1))
        scaled[:, 0] = roots
        np.multiply(inputs, roots[:, None], out=scaled[:, 1:])
        # The transpose of a C-contiguous block is what BLAS calls a matrix in its own order.
        curvature = dsyrk(1.0, scaled.T, lower=0)
        return loss, np.concatenate([[errors.sum()], errors @ inputs]), curvature


def as_dense(table: Any) -> np.ndarray:
    """Return a table with its zeros written out."""
    compressed = bool(sp.issparse(table))
    return table.toarray() if compressed else table


def _sigmoid(outputs: np.ndarray) -> np.ndarray:
    from scipy.special import expit

    return expit(outputs)


def _losses(outputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return minus the log-posterior of each row's class, without overflow."""
    if outputs.shape[1] == 1:
        signed = np.where(codes == 1, -outputs[:, 0], outputs[:, 0])
        return np.maximum(signed, 0.0) + np.log1p(np.exp(-np.abs(signed)))
    largest = outputs.max(axis=1)
    sums = np.log(np.exp(outputs - largest[:, None]).sum(axis=1))
    return sums + largest - outputs[np.arange(len(codes)), codes]
