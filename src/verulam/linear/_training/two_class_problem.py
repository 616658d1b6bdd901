"""Two classes as one system of linear inequalities, its solutions and their trajectories."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.linear._training.tables import as_numbers, row_squares
from verulam.linear._tuning import TRAJECTORY_STEPS

#: Weights beyond this size have lost every digit of a difference, and soon overflow.
_LARGEST_WEIGHT = 1e100
#: Size of random weights at the start.
_SMALL_START = 0.01


@dataclass(frozen=True)
class Problem:
    r"""Find :math:`a` with :math:`a^T y_i > 0` for all rows.

    The rows :math:`y_i = z_i (1, x_i)` are augmented and sign-normalised, but never built.

    Attributes
    ----------
    inputs
        Rows :math:`x_i`, dense and C-contiguous or CSR.
    signs
        :math:`z_i`, 1 for the second of the two sorted classes and -1 for the first.
    margins
        Margin that the product of each row should reach, where they differ.
    """

    inputs: Any
    signs: np.ndarray
    margins: np.ndarray | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Number of rows, and of weights with the bias."""
        return self.inputs.shape[0], self.inputs.shape[1] + 1

    @property
    def sparse(self) -> bool:
        """Whether the rows are in sparse (CSR) form."""
        return sp.issparse(self.inputs)

    @cached_property
    def squares(self) -> np.ndarray:
        r"""Squared lengths :math:`\|y_i\|^2`."""
        return 1.0 + row_squares(self.inputs)

    def products(self, weights: np.ndarray) -> np.ndarray:
        """Return :math:`a^T y_i` for one vector, or one column for each row of several."""
        # The sign is put on the product, which is cheaper than on all rows and keeps them sparse.
        values = self.inputs @ weights[..., 1:].T + weights[..., 0]
        return values * (self.signs if weights.ndim == 1 else self.signs[:, None])

    def combine(self, coefficients: np.ndarray) -> np.ndarray:
        r"""Return :math:`\sum_i c_i y_i`."""
        # The bias is the weight of an input that is one in every row.
        signed = coefficients * self.signs
        return np.concatenate([[signed.sum()], self.inputs.T @ signed])

    def in_order(self, order: np.ndarray) -> "Problem":
        """Return the same with its rows in another order."""
        margins = None if self.margins is None else self.margins[order]
        return Problem(self.inputs[order], self.signs[order], margins)

    def targets(self) -> np.ndarray:
        """Return an indicator of each class, the first in front."""
        return np.column_stack([self.signs < 0, self.signs > 0]).astype(np.float64)

    def rows(self) -> np.ndarray:
        """Build the rows, for the methods that need them all at once."""
        dense = self.inputs.toarray() if self.sparse else self.inputs
        return np.column_stack([self.signs, dense * self.signs[:, None]])


@dataclass(frozen=True)
class Trajectory:
    """The way that a trainer took.

    Attributes
    ----------
    steps : ndarray of shape (n_recorded,)
        Number of passes or corrections before each entry.
    weights : ndarray of shape (n_recorded, n_features + 1)
        Bias and weights.
    criterion : ndarray of shape (n_recorded,)
        What the trainer makes small.
    errors : ndarray of shape (n_recorded,)
        Rows on the wrong side or on the plane.
    """

    steps: np.ndarray
    weights: np.ndarray
    criterion: np.ndarray
    errors: np.ndarray


@dataclass(frozen=True)
class Training:
    """What a trainer returns.

    Attributes
    ----------
    weights
        Bias and weights.
    n_iter
        Passes over the data.
    converged
        Whether the trainer's own condition was met.
    steps, path
        Numbers and weights of the recorded steps.
    """

    weights: np.ndarray
    n_iter: int
    converged: bool
    steps: np.ndarray
    path: np.ndarray

    def without_path(self) -> "Training":
        """Return the same without its recorded steps."""
        return replace(self, steps=self.steps[:0], path=self.path[:0])


def one_step(weights: np.ndarray, record: str | None) -> Training:
    """Return the training of a solution that is found at once, from zero where recorded."""
    # A closed solution has no way; zero and itself make one that can be drawn like others.
    path = np.stack([np.zeros_like(weights), weights])[: 2 if record else 0]
    return Training(weights, 1, True, np.arange(len(path)), path)


def first_weights(
    init: ArrayLike | str | None, n_weights: int, random: np.random.Generator | None = None
) -> np.ndarray:
    """Return where a trainer begins.

    Parameters
    ----------
    init
        The weights, the bias in front; None for zeros, "random" for small ones.
    n_weights
        How many there must be.
    random
        Draws small ones.
    """
    if init is None:
        return np.zeros(n_weights)
    if isinstance(init, str):
        assert random is not None
        return random.uniform(-_SMALL_START, _SMALL_START, size=n_weights)
    weights = as_numbers(init, "init").copy()
    if weights.shape != (n_weights,) or not is_bounded(weights):
        raise DataError(
            f"init must be {n_weights} finite numbers, the bias in front; got the shape "
            f"{weights.shape}."
        )
    return weights


def is_bounded(weights: np.ndarray) -> bool:
    """Whether weights are numbers whose products with others can still be formed."""
    return bool((np.abs(weights) < _LARGEST_WEIGHT).all())


#: One number for each column of products, with the problem they belong to.
Criterion = Callable[[np.ndarray, Problem], np.ndarray]


def make_trajectory(problem: Problem, training: Training, criterion: Criterion) -> Trajectory:
    """Return the recorded steps with their criterion and errors.

    Parameters
    ----------
    problem
        The inequalities.
    training
        A training with its path.
    criterion
        Function of the products, one column per step, and of the problem, that returns one
        number per column.
    """
    values, errors = [], []
    # By blocks: the products of all rows with all steps may not fit into memory.
    for first in range(0, len(training.path), TRAJECTORY_STEPS):
        products = problem.products(training.path[first : first + TRAJECTORY_STEPS])
        values.append(criterion(products, problem))
        errors.append((products <= 0).sum(axis=0))
    return Trajectory(
        steps=training.steps,
        weights=training.path,
        criterion=np.concatenate(values) if values else np.empty(0),
        errors=np.concatenate(errors) if errors else np.empty(0, dtype=np.int64),
    )
