"""Several classes from two-class machines: a code for each class, and how outputs are decoded."""

from itertools import combinations
from typing import Any

import numpy as np

from verulam.base import DataError

STRATEGIES = ("pairwise", "one_vs_all")


def code_matrix(n_classes: int, strategy: Any) -> np.ndarray:
    """Return one row per class and one column per machine: 1, -1, or 0 where it has no part.

    Parameters
    ----------
    n_classes
        Number of classes.
    strategy
        "one_vs_all", "pairwise", or a matrix of codes.

    Examples
    --------
    >>> from verulam.kernel import code_matrix
    >>> code_matrix(3, "pairwise")
    array([[-1., -1.,  0.],
           [ 1.,  0., -1.],
           [ 0.,  1.,  1.]])
    """
    if isinstance(strategy, str):
        if n_classes == 2:
            return np.array([[-1.0], [1.0]])
        if strategy == "one_vs_all":
            return 2.0 * np.eye(n_classes) - 1.0
        pairs = list(combinations(range(n_classes), 2))
        codes = np.zeros((n_classes, len(pairs)))
        for machine, (first, second) in enumerate(pairs):
            codes[first, machine], codes[second, machine] = -1.0, 1.0
        return codes
    codes = np.asarray(strategy, dtype=np.float64)
    if codes.ndim != 2 or len(codes) != n_classes or not np.isin(codes, (-1, 0, 1)).all():
        raise DataError(
            f"strategy: a matrix of codes needs a row for each of the {n_classes} classes and "
            f"entries -1, 0 and 1; got shape {codes.shape}."
        )
    if not ((codes > 0).any(axis=0) & (codes < 0).any(axis=0)).all():
        raise DataError("strategy: every column of the codes needs classes on both sides.")
    if len(np.unique(codes, axis=0)) < n_classes:
        raise DataError("strategy: two classes have the same code and cannot be told apart.")
    return codes


def add_confused_pair(codes: np.ndarray, confusion: np.ndarray) -> np.ndarray:
    """Return the codes with one more machine, for the two classes that are confused most.

    Parameters
    ----------
    codes
        Matrix of codes.
    confusion
        Counts of true (rows) and predicted (columns) classes, on held-out data.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import add_confused_pair, code_matrix
    >>> confusion = np.array([[9, 0, 1], [0, 7, 3], [0, 2, 8]])
    >>> add_confused_pair(code_matrix(3, "one_vs_all"), confusion)[:, -1]
    array([ 0., -1.,  1.])
    """
    # Mistakes both ways count, and the diagonal does not.
    both = np.triu(confusion + confusion.T, k=1)
    first, second = np.unravel_index(int(np.argmax(both)), both.shape)
    column = np.zeros((len(codes), 1))
    column[first], column[second] = -1.0, 1.0
    return np.hstack([codes, column])


def decode(outputs: np.ndarray, codes: np.ndarray, strategy: Any) -> np.ndarray:
    """Return a score of each class, given the outputs of all machines.

    Pairs vote, and the sums of their outputs, squeezed below half a vote, break ties; one class
    against all has its own output; other codes are charged the hinge loss of every machine.
    """
    if isinstance(strategy, str):
        if strategy == "one_vs_all":
            return outputs
        winners = np.where(outputs >= 0, 1.0, -1.0)
        votes = 0.5 * (winners @ codes.T + np.abs(codes).sum(axis=1))
        # Less than a third of a vote, however large: it can only break ties.
        confidence = outputs @ codes.T
        return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))
    losses = np.zeros((len(outputs), len(codes)))
    for label, code in enumerate(codes):
        taking_part = code != 0
        margins = outputs[:, taking_part] * code[taking_part]
        # The mean over machines that the class takes part in, as their number differs.
        losses[:, label] = np.maximum(0.0, 1.0 - margins).mean(axis=1)
    return -losses
