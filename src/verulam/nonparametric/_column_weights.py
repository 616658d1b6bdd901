"""Weights of columns learned from the classes of neighbours."""

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.nonparametric._inputs import check_at_least, checked_cases
from verulam.nonparametric._neighbours import NeighbourIndex


def learn_column_weights(X: ArrayLike, y: ArrayLike, *, n_neighbors: int = 10) -> np.ndarray:
    r"""Return how much each column tells near neighbours of different classes apart.

    Parameters
    ----------
    X
        One row per case.
    y
        Their labels.
    n_neighbors
        Neighbours of each class that a row is compared with.

    Returns
    -------
    weights : ndarray of shape (n_features,)
        At least 0, with a sum of 1. Meant for columns of equal spread.

    Notes
    -----
    Relief's weights:

    .. math:: w_j \propto \max\left(0, \frac1N \sum_t \left[
              \sum_{i \ne y^t} \frac{P_i}{1 - P_{y^t}} \bar d_j(x^t, \mathcal N_i)
              - \bar d_j(x^t, \mathcal N_{y^t}) \right]\right)

    where :math:`\bar d_j` is the mean difference in column j, over its range, to the nearest rows
    :math:`\mathcal N_i` of class i. See Alpaydin 8.6, [kira1992]_ for two classes and
    [kononenko1994]_ for several; such weights are reviewed in [wettschereck1997]_.

    References
    ----------
    .. [kira1992] K. Kira, L. A. Rendell, "A practical approach to feature selection", ICML 1992.
    .. [kononenko1994] I. Kononenko, "Estimating attributes: analysis and extensions of RELIEF",
       ECML 1994.
    .. [wettschereck1997] D. Wettschereck, D. W. Aha, T. Mohri, "A review and empirical evaluation
       of feature weighting methods for a class of lazy learning algorithms", Artificial
       Intelligence Review 11, 1997.

    Examples
    --------
    >>> from verulam.nonparametric import learn_column_weights
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> learn_column_weights(X, X[:, 1] > 0).round(1)
    array([0., 1., 0.])
    """
    inputs, codes, classes = checked_cases(X, y)
    check_at_least(n_neighbors, 1, "n_neighbors")
    counts = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2 or counts.min() < 2:
        raise DataError("y needs at least two classes with two rows each, to compare neighbours.")
    spans = np.ptp(inputs, axis=0)
    scaled = inputs / np.where(spans > 0, spans, 1.0)
    shares = counts / len(codes)
    gains = np.zeros(inputs.shape[1])
    for code in range(len(classes)):
        members = scaled[codes == code]
        index = NeighbourIndex(members, "city-block")
        same = index.query_others(min(n_neighbors, len(members) - 1)).rows
        gains -= np.abs(members[:, None] - members[same]).mean(axis=1).sum(axis=0)
        others = codes != code
        found = index.query(scaled[others], min(n_neighbors, len(members))).rows
        differences = np.abs(scaled[others][:, None] - members[found]).mean(axis=1)
        gains += (shares[code] / (1.0 - shares[codes[others]])) @ differences
    useful = np.maximum(gains, 0.0)
    total = float(useful.sum())
    # Where no column tells anything, all count alike.
    return useful / total if total > 0 else np.full(len(useful), 1.0 / len(useful))
