"""Voted and kernel perceptrons: the history of corrections, and the vote of all vectors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from verulam.linear._training.two_class_problem import Problem
from verulam.linear._tuning import VOTE_ROWS
from verulam.numerics import njit


@dataclass(frozen=True)
class CorrectionHistory:
    """Corrections of a perceptron, in the space of the inputs or of a kernel.

    Attributes
    ----------
    rows
        Positions of the rows that corrected, in order.
    survivals
        One and the rows that were right before the next correction.
    n_iter
        Passes over the rows.
    converged
        Whether a whole pass needed no correction.
    criterion, errors
        Perceptron criterion and wrong rows at the start and after each correction, where asked
        for.
    """

    rows: np.ndarray
    survivals: np.ndarray
    n_iter: int
    converged: bool
    criterion: np.ndarray
    errors: np.ndarray


def kernel_perceptron(
    problem: Problem,
    kernel: Callable[[np.ndarray, np.ndarray], np.ndarray],
    max_iter: int,
    random: np.random.Generator,
    *,
    most_recorded: int = 0,
) -> CorrectionHistory:
    """Run a kernel perceptron: its vectors are sums over the rows that corrected.

    Parameters
    ----------
    problem
        Rows and their signs.
    kernel
        Function of two tables.
    max_iter
        Most passes.
    random
        Draws the order of each pass.
    most_recorded
        Corrections after which criterion and errors are kept.
    """
    inputs, signs = problem.inputs, problem.signs
    values = np.zeros(len(signs))
    rows: list[int] = []
    survivals: list[int] = []
    criterion, errors = [0.0], [len(signs)]
    converged, n_iter = False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        order = random.permutation(len(signs))
        place, before = 0, len(rows)
        while place < len(order):
            # The next wrong row is looked up at once: values change with corrections only.
            ahead = order[place:]
            wrong = signs[ahead] * values[ahead] <= 0
            distance = int(wrong.argmax()) if wrong.any() else len(ahead)
            if survivals:
                survivals[-1] += distance
            place += distance + 1
            if distance == len(ahead):
                break
            row = int(ahead[distance])
            rows.append(row)
            survivals.append(1)
            # The discriminant at all rows is updated by one column of the kernel matrix.
            values += signs[row] * kernel(inputs, inputs[row : row + 1])[:, 0]
            if len(rows) <= most_recorded:
                products = signs * values
                criterion.append(float(np.maximum(-products, 0.0).sum()))
                errors.append(int((products <= 0).sum()))
        converged = len(rows) == before
    return CorrectionHistory(
        np.array(rows, dtype=np.int64),
        np.array(survivals, dtype=np.int64),
        n_iter,
        converged,
        np.array(criterion),
        np.array(errors),
    )


def linear_perceptron(
    problem: Problem, max_iter: int, random: np.random.Generator
) -> CorrectionHistory:
    """Run a perceptron on the inputs themselves, which needs no kernel values."""
    n_rows, n_weights = problem.size
    weights = np.zeros(n_weights)
    rows, survivals = [np.empty(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    converged, n_iter = False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        corrected = np.empty(n_rows, dtype=np.int64)
        counts = np.zeros(n_rows + 1, dtype=np.int64)
        order = random.permutation(n_rows)
        n_corrections = voting_pass(
            problem.inputs, problem.signs, order, weights, corrected, counts
        )
        # The vector from before the pass survives until the first correction.
        if len(survivals[-1]):
            survivals[-1][-1] += counts[0]
        if n_corrections:
            rows.append(corrected[:n_corrections].copy())
            survivals.append(counts[1 : n_corrections + 1].copy())
        converged = n_corrections == 0
    nothing = np.empty(0)
    return CorrectionHistory(
        np.concatenate(rows), np.concatenate(survivals), n_iter, converged, nothing, nothing
    )


def linear_votes(
    rows: np.ndarray, corrections: np.ndarray, survivals: np.ndarray, *, signs_only: bool
) -> np.ndarray:
    """Return the sum over all vectors of their signs, or values, times their survivals.

    Parameters
    ----------
    rows
        Augmented rows.
    corrections
        Augmented rows that corrected, times their signs; the vectors are their running sums.
    survivals
        What each vector's voice counts.
    signs_only
        Whether the sign of a voice counts instead of its value.
    """
    if not signs_only:
        # A correction is part of every vector after it.
        left = survivals[::-1].cumsum()[::-1].astype(np.float64)
        return rows @ (left @ corrections)
    votes = np.zeros(len(rows))
    so_far = np.zeros(corrections.shape[1])
    for first in range(0, len(corrections), VOTE_ROWS):
        vectors = so_far + np.cumsum(corrections[first : first + VOTE_ROWS], axis=0)
        counts = survivals[first : first + VOTE_ROWS].astype(np.float64)
        for start in range(0, len(rows), VOTE_ROWS):
            part = slice(start, start + VOTE_ROWS)
            votes[part] += np.sign(rows[part] @ vectors.T) @ counts
        so_far = vectors[-1]
    return votes


@njit(cache=True, nogil=True)
def voting_pass(inputs, signs, order, weights, rows, survivals):  # pragma: no cover
    """Go once through the rows, in place.

    Parameters
    ----------
    inputs, signs
        Rows and their signs.
    order
        Positions in the order of presentation.
    weights
        Bias and weights.
    rows
        Filled with the rows that corrected.
    survivals
        Rows that the vector from before the pass got right, then one and the same for each
        vector made by a correction; zeros at first.

    Returns
    -------
    Number of corrections in this pass.
    """
    n_columns = inputs.shape[1]
    n_corrections = 0
    for place in range(len(order)):
        row = order[place]
        value = weights[0]
        for column in range(n_columns):
            value += weights[column + 1] * inputs[row, column]
        if signs[row] * value <= 0:
            weights[0] += signs[row]
            for column in range(n_columns):
                weights[column + 1] += signs[row] * inputs[row, column]
            rows[n_corrections] = row
            n_corrections += 1
        survivals[n_corrections] += 1
    return n_corrections
