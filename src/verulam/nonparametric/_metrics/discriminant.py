"""Discriminant adaptive nearest neighbours: metrics from local scatter matrices."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from verulam.base import Interval
from verulam.nonparametric._metrics.base import COMMON_CONSTRAINTS, AdaptiveNeighbours, Locality


class DiscriminantAdaptiveNeighbours(AdaptiveNeighbours):
    r"""Nearest neighbours in neighbourhoods stretched along the local class boundary.

    Parameters
    ----------
    n_neighbors
        Neighbours that vote.
    neighbourhood
        Rows around a point from which its metric is found; None for a fifth of the rows, at
        least 50, at most all.
    softening
        The share :math:`\epsilon` of a sphere that keeps neighbourhoods bounded. Large values
        lead back towards spheres in the local within-class metric.
    n_iter
        How often the metric is found again in its own neighbourhood; 0 is plain k-nn.
    locality
        Where metrics are found: at each "query"; at each training "row", before any query comes;
        the mean of those in each "class"; or the mean of "all".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    inputs_ : ndarray of shape (n_samples, n_features)
        The training rows.
    codes_ : ndarray of shape (n_samples,)
        Class of each, as a position in `classes_`.
    spreads_ : ndarray of shape (n_features,)
        Standard deviation of each column, by which distances are measured at first.

    Notes
    -----
    With :math:`W` and :math:`B` the scatters within and between the classes around a point,
    weighted by a tricube window,

    .. math:: \Sigma = W^{-1/2} [W^{-1/2} B W^{-1/2} + \epsilon I] W^{-1/2}

    measures distances: directions in which class means differ count more. See Alpaydin 8.6,
    SIT1305 III [hastie1996]_; the localities are those of [ramanan2011]_.

    References
    ----------
    .. [hastie1996] T. Hastie, R. Tibshirani, "Discriminant adaptive nearest neighbor
       classification", IEEE Transactions on Pattern Analysis and Machine Intelligence 18, 1996.
    .. [ramanan2011] D. Ramanan, S. Baker, "Local distance functions: a taxonomy, new algorithms,
       and an evaluation", IEEE Transactions on Pattern Analysis and Machine Intelligence 33, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import DiscriminantAdaptiveNeighbours
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> classifier = DiscriminantAdaptiveNeighbours().fit(X, X[:, 0] > 0)
    >>> metric = classifier.metrics([[0.1, 0.0]])[0]
    >>> bool(metric[0, 0] > 5 * metric[1, 1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "softening": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        neighbourhood: int | None = None,
        softening: float = 1.0,
        n_iter: int = 1,
        locality: Locality = "query",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.neighbourhood = neighbourhood
        self.softening = softening
        self.n_iter = n_iter
        self.locality = locality

    @classmethod
    def _example_learners(cls) -> list["DiscriminantAdaptiveNeighbours"]:
        return [cls(), cls(locality="class")]

    def _metrics_at(self, points: np.ndarray) -> np.ndarray:
        metrics = None
        for _ in range(self.n_iter):
            rows, distances = self._around(points, metrics)
            metrics = scatter_metrics(
                self._index.stored[rows] - points[:, None],
                self.codes_[rows],
                tricube_weights(distances),
                len(self.classes_),
                self.softening,
            )
        if metrics is None:
            return np.tile(np.eye(points.shape[1]), (len(points), 1, 1))
        return metrics


def tricube_weights(distances: np.ndarray) -> np.ndarray:
    """Return weights that fall to nothing at the farthest row of each neighbourhood."""
    reach = np.maximum(distances[:, -1:], 1e-300) * (1.0 + 1e-9)
    weights = (1.0 - (distances / reach) ** 3) ** 3
    # Equal distances leave no weight at all; then every row counts.
    weights[weights.sum(axis=1) <= 0] = 1.0
    return weights


def scatter_metrics(
    offsets: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int, softening: float
) -> np.ndarray:
    """Return the metric around each point, from weighted scatters of its neighbourhood.

    Parameters
    ----------
    offsets
        Rows of each neighbourhood (points, rows, columns), from their point.
    codes
        Their classes.
    weights
        Their weights.
    n_classes
        Number of classes.
    softening
        Share of the sphere.
    """
    n_columns = offsets.shape[2]
    # Membership matrices, weighted: sums by class are products with them.
    member = weights[:, :, None] * (codes[:, :, None] == np.arange(n_classes))
    totals = member.sum(axis=1)
    sums = np.einsum("qrk,qrj->qkj", member, offsets)
    means = sums / np.maximum(totals, 1e-300)[:, :, None]
    class_means = np.take_along_axis(means, codes[:, :, None], axis=1)
    centred = (offsets - class_means) * np.sqrt(weights)[:, :, None]
    whole = weights.sum(axis=1)[:, None, None]
    within = np.einsum("qri,qrj->qij", centred, centred) / whole
    overall = sums.sum(axis=1) / whole[:, :, 0]
    apart = (means - overall[:, None]) * np.sqrt(totals)[:, :, None]
    between = np.einsum("qki,qkj->qij", apart, apart) / whole
    values, vectors = np.linalg.eigh(within)
    # A direction without spread within classes would be infinitely important.
    floor = 1e-6 * np.maximum(values.mean(axis=1, keepdims=True), 1e-12)
    roots = np.einsum("qij,qj,qkj->qik", vectors, np.maximum(values, floor) ** -0.5, vectors)
    # Between-class scatter in units of the within-class scatter, then back to the columns.
    return roots @ (roots @ between @ roots + softening * np.eye(n_columns)) @ roots
