"""The naive density: a count in a cube centred on each query."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from verulam.base import (
    DataError,
    Density,
    Interval,
    Seed,
    check_is_fitted,
    check_weights,
    checked_fit,
    generator,
    thread_count,
    validate_data,
)
from verulam.nonparametric._density.line import (
    check_line,
    check_shares,
    cumulative_shares,
    line_quantiles,
)
from verulam.nonparametric._tuning import LISTED_QUERIES
from verulam.nonparametric._windows.functions import WINDOWS


class NaiveDensity(Density):
    r"""Estimate a density by the count in a cube around each query.

    Parameters
    ----------
    bandwidth
        Full side :math:`h` of the cube: it reaches half of it to either side of the query.

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        The stored points: rows whose weight is above 0.
    weights_ : ndarray of shape (n_samples,)
        Share of each point; they sum to 1.

    Notes
    -----
    .. math:: \hat p(x) = \frac{1}{N h^d} \#\{x^t : |x_j - x_j^t| \le h / 2 \text{ for all } j\}

    the window of Parzen's that is 1 on the unit cube, its boundary included. See Alpaydin 8.2,
    Bartkowiak 4.2 (4.5)-(4.6); in Alpaydin's running mean (8.25), by contrast, :math:`h` is the
    half-width.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import NaiveDensity
    >>> density = NaiveDensity(bandwidth=2.0).fit([[0.0], [1.0], [3.0], [6.0]])
    >>> density.counts([[2.0], [4.5]])
    array([2, 0])
    >>> np.exp(density.score_samples([[2.0]]))
    array([0.25])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, *, bandwidth: float = 1.0) -> None:
        self.bandwidth = bandwidth

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Store the points; `sample_weight` says how often each counts."""
        inputs = validate_data(self, X, dtype=np.float64, order="C")
        weights = check_weights(sample_weight, inputs)
        counts = np.ones(len(inputs)) if weights is None else weights
        if counts.sum() <= 0:
            raise DataError("sample_weight: all weights are zero; at least one must be above.")
        self.inputs_, counts = inputs[counts > 0], counts[counts > 0]
        self.weights_ = counts / counts.sum()
        return self

    def counts(self, X: ArrayLike) -> np.ndarray:
        """Return how many stored points lie in the cube around each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        half = 0.5 * float(self.bandwidth)
        if inputs.shape[1] == 1:
            line = np.sort(self.inputs_[:, 0])
            upper = np.searchsorted(line, inputs[:, 0] + half, side="right")
            return upper - np.searchsorted(line, inputs[:, 0] - half, side="left")
        counts = self._tree().query_ball_point(
            inputs, half, p=np.inf, return_length=True, workers=thread_count()
        )
        return np.asarray(counts)

    def _tree(self) -> cKDTree:
        return cKDTree(self.inputs_, balanced_tree=False)

    def _shares(self, X: ArrayLike) -> np.ndarray:
        """Return the weight of the stored points in the cube around each row."""
        if np.ptp(self.weights_) == 0.0:
            return self.counts(X) * self.weights_[0]
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        half, tree = 0.5 * float(self.bandwidth), self._tree()
        shares = np.empty(len(inputs))
        for start in range(0, len(inputs), LISTED_QUERIES):
            queries = inputs[start : start + LISTED_QUERIES]
            lists = tree.query_ball_point(queries, half, p=np.inf, workers=thread_count())
            shares[start : start + len(queries)] = [self.weights_[rows].sum() for rows in lists]
        return shares

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row: minus infinity where the cube is empty."""
        check_is_fitted(self)
        shares = self._shares(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) - self.inputs_.shape[1] * np.log(self.bandwidth)

    def cumulative(self, values: ArrayLike) -> np.ndarray:
        """Return the share of the density below each value; one column only."""
        points = check_line(self, "cumulative", values)
        box = WINDOWS["tophat"]
        halves = np.full(len(self.inputs_), 0.5 * float(self.bandwidth))
        return cumulative_shares(points, self.inputs_[:, 0], halves, self.weights_, box)

    def quantile(self, shares: ArrayLike) -> np.ndarray:
        """Return the values below which the given shares of the density lie; one column only."""
        levels = check_shares(self, shares)
        half = 0.5 * float(self.bandwidth)
        low, high = self.inputs_.min() - half, self.inputs_.max() + half
        return line_quantiles(self.cumulative, levels, low, high)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the density."""
        check_is_fitted(self)
        chance = generator(random_state)
        rows = chance.choice(len(self.inputs_), size=n_samples, p=self.weights_)
        centres = self.inputs_[rows]
        return centres + (chance.random(centres.shape) - 0.5) * self.bandwidth
