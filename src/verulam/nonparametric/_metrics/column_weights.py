"""Relief: weights of columns learned from the classes of neighbours."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, encode_table, is_categorical, read_schema
from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_cases, checked_rows


def learn_column_weights(X: ArrayLike, y: ArrayLike, *, n_neighbors: int = 10) -> np.ndarray:
    r"""Return how much each column tells near neighbours of different classes apart.

    Parameters
    ----------
    X
        One row per case: numbers, or a table with columns of categories among them.
    y
        Their labels.
    n_neighbors
        Neighbours of each class that a row is compared with.

    Returns
    -------
    weights : ndarray of shape (n_features,)
        At least 0, with a sum of 1, in the order of the columns. Meant for columns of equal
        spread; where some are categories, for `metric="gower"`, or "hamming" where all are.

    Notes
    -----
    Relief's weights:

    .. math:: w_j \propto \max\left(0, \frac1N \sum_t \left[
              \sum_{i \ne y^t} \frac{P_i}{1 - P_{y^t}} \bar d_j(x^t, \mathcal N_i)
              - \bar d_j(x^t, \mathcal N_{y^t}) \right]\right)

    where :math:`\bar d_j` is the mean difference in column j to the nearest rows
    :math:`\mathcal N_i` of class i: of numbers over their range, of categories 0 or 1. See
    Alpaydin 8.6, [kira1992]_ for two classes and [kononenko1994]_ for several; such weights are
    reviewed in [wettschereck1997]_.

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
    >>> import numpy as np
    >>> from verulam.nonparametric import learn_column_weights
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> learn_column_weights(X, X[:, 1] > 0).round(1)
    array([0., 1., 0.])

    Categories are compared as they are:

    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> kinds = pd.Categorical(rng.choice(["a", "b", "c"], 400))
    >>> table = pd.DataFrame({"size": rng.normal(size=400), "kind": kinds})
    >>> learn_column_weights(table, kinds == "b").round(1)
    array([0., 1.])
    """
    spread, owners, n_numeric = _spread_out(X)
    inputs, codes, classes = checked_cases(spread, y)
    check_at_least(n_neighbors, 1, "n_neighbors")
    counts = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2 or counts.min() < 2:
        raise DataError("y needs at least two classes with two rows each, to compare neighbours.")
    spans = np.ptp(inputs, axis=0)
    # Indicators of categories keep their unit: half a step in two columns makes a difference of 1.
    spans[n_numeric:] = 1.0
    scaled = inputs / np.where(spans > 0, spans, 1.0)
    shares = counts / len(codes)
    gains = np.zeros(inputs.shape[1])
    for code in range(len(classes)):
        members = scaled[codes == code]
        index = NeighbourIndex(members, "manhattan")
        same = index.query_others(min(n_neighbors, len(members) - 1)).rows
        gains -= np.abs(members[:, None] - members[same]).mean(axis=1).sum(axis=0)
        others = codes != code
        nearest = index.query(scaled[others], min(n_neighbors, len(members))).rows
        differences = np.abs(scaled[others][:, None] - members[nearest]).mean(axis=1)
        gains += (shares[code] / (1.0 - shares[codes[others]])) @ differences
    useful = np.maximum(np.bincount(owners, gains), 0.0)
    total = float(useful.sum())
    # Where no column tells anything, all count alike.
    return useful / total if total > 0 else np.full(len(useful), 1.0 / len(useful))


def _spread_out(X: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the numbers and then a column for each category, where each is from, how many numbers.

    Different categories differ in two of those columns, by a half in each.
    """
    if not isinstance(X, pd.DataFrame) or not any(is_categorical(X[name]) for name in X.columns):
        table = _numbers(X)
        return table, np.arange(table.shape[1]), table.shape[1]
    schema = read_schema(X)
    encoded = encode_table(X, schema)
    if (encoded.codes < 0).any():
        raise DataError("X contains NaN: fill the gaps of its categories first.")
    pieces, owners = [encoded.numbers], [schema.names.index(name) for name in schema.numeric]
    for place, name in enumerate(schema.categorical):
        categories = np.arange(len(schema.categories_of(name)))
        pieces.append(0.5 * (encoded.codes[:, [place]] == categories))
        owners += [schema.names.index(name)] * len(categories)
    return np.column_stack(pieces), np.array(owners), len(schema.numeric)


def _numbers(X: Any) -> np.ndarray:
    try:
        return checked_rows(X)
    except (TypeError, ValueError):
        # The schema says which column holds text or dates, and what to do about it.
        if isinstance(X, pd.DataFrame):
            read_schema(X.infer_objects())
        raise
