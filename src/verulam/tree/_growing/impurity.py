"""How mixed the classes of a node are, and how much a split helps."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError


def entropy(probabilities: ArrayLike) -> NDArray[np.float64]:
    r"""Return the entropy of class probabilities, in bits.

    Parameters
    ----------
    probabilities
        Probabilities of the classes along the last axis.

    Notes
    -----
    :math:`-\sum_i p_i \log_2 p_i` with :math:`0 \log 0 = 0`; see Alpaydin 9.2.1 (9.3).

    Examples
    --------
    >>> entropy([[0.5, 0.5], [1.0, 0.0]])
    array([1., 0.])
    """
    shares = np.asarray(probabilities, dtype=np.float64)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    # Adding zero turns -0 into 0.
    return -(shares * logs).sum(axis=-1) + 0.0


def gini(probabilities: ArrayLike) -> NDArray[np.float64]:
    r"""Return the Gini index of class probabilities.

    Parameters
    ----------
    probabilities
        Probabilities of the classes along the last axis.

    Notes
    -----
    :math:`1 - \sum_i p_i^2`, which is :math:`2 p (1 - p)` for two classes; see Alpaydin 9.2.1
    (9.5). A sum of :math:`p_i p_j` over pairs counted once would be half of it.

    Examples
    --------
    >>> gini([0.25, 0.75])
    np.float64(0.375)
    """
    shares = np.asarray(probabilities, dtype=np.float64)
    return 1.0 - (shares**2).sum(axis=-1)


def misclassification(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Return the error of predicting the most probable class (Alpaydin 9.2.1, 9.6).

    Parameters
    ----------
    probabilities
        Probabilities of the classes along the last axis.

    Examples
    --------
    >>> misclassification([0.25, 0.75])
    np.float64(0.25)
    """
    return 1.0 - np.asarray(probabilities, dtype=np.float64).max(axis=-1)


def risk(probabilities: ArrayLike, loss: ArrayLike) -> NDArray[np.float64]:
    r"""Return the least expected loss of any action (Alpaydin 9, exercise 1).

    Parameters
    ----------
    probabilities
        Probabilities of the classes along the last axis.
    loss
        Loss :math:`\lambda_{ik}` of action i (row) where the truth is class k (column).

    Examples
    --------
    >>> risk([0.25, 0.75], [[0, 1], [10, 0]])
    np.float64(0.75)
    """
    matrix = np.asarray(loss, dtype=np.float64)
    return (np.asarray(probabilities, dtype=np.float64) @ matrix.T).min(axis=-1)


def split_impurity(
    counts: ArrayLike, impurity: Callable[[NDArray[np.float64]], NDArray[np.float64]] = entropy
) -> float:
    r"""Return the impurity after a split, averaged over its branches.

    Parameters
    ----------
    counts
        Instances of each class (column) in each branch (row).
    impurity
        Function of class probabilities.

    Notes
    -----
    :math:`\sum_j (N_j / N)\, I(p_j)`; see Alpaydin 9.2.1 (9.8).

    Examples
    --------
    >>> round(split_impurity([[2, 3], [4, 0], [3, 2]]), 6)
    0.693536
    """
    table = np.asarray(counts, dtype=np.float64)
    totals = table.sum(axis=1)
    table, totals = table[totals > 0], totals[totals > 0]
    return float(totals @ impurity(table / totals[:, None]) / totals.sum())


def information_gain(
    values: ArrayLike | pd.Series,
    target: ArrayLike | pd.Series,
    *,
    impurity: Callable[[NDArray[np.float64]], NDArray[np.float64]] = entropy,
    ratio: bool = False,
) -> float:
    """Return how much an n-way split on a discrete column reduces the impurity of the classes.

    Parameters
    ----------
    values
        One value per instance; each gets a branch.
    target
        Classes.
    impurity
        Function of class probabilities.
    ratio
        Divide by the information of the split itself, the gain ratio of C4.5, which penalises
        columns of many values.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> buys = dataset("buys_computer")
    >>> round(information_gain(buys.inputs["age"], buys.target_values), 6)
    0.24675
    """
    columns: Sequence[Any] = [np.asarray(values, dtype=object), np.asarray(target, dtype=object)]
    if len(columns[0]) != len(columns[1]):
        raise DataError(
            f"values has {len(columns[0])} entries and target {len(columns[1])}; "
            "there must be one of each per instance."
        )
    counts = pd.crosstab(*columns).to_numpy(dtype=np.float64)
    total = counts.sum()
    before = float(impurity(counts.sum(axis=0) / total))
    gain = before - split_impurity(counts, impurity)
    if not ratio:
        return gain
    information = float(entropy(counts.sum(axis=1) / total))
    return gain / information if information > 0 else 0.0
