"""The naive density: a count in a cube centred on each query."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from verulam.base import (
    Density,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
    thread_count,
    validate_data,
)


class NaiveDensity(Density):
    r"""Estimate a density by the count in a cube around each query.

    Parameters
    ----------
    width
        Full side :math:`h` of the cube: it reaches half of it to either side of the query.

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        The stored points.

    Notes
    -----
    .. math:: \hat p(x) = \frac{1}{N h^d} \#\{x^t : |x_j - x_j^t| \le h / 2 \text{ for all } j\}

    the window of Parzen's that is 1 on the unit cube, its boundary included. See Alpaydin 8.2,
    Bartkowiak 4.2 (4.5)-(4.6); in Alpaydin's running mean (8.25), by contrast, :math:`h` is the
    half-width.

    Examples
    --------
    >>> from verulam.nonparametric import NaiveDensity
    >>> density = NaiveDensity(width=2.0).fit([[0.0], [1.0], [3.0], [6.0]])
    >>> density.counts([[2.0], [4.5]])
    array([2, 0])
    >>> np.exp(density.score_samples([[2.0]]))
    array([0.25])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "width": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(self, *, width: float = 1.0) -> None:
        self.width = width

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Store the points."""
        self.inputs_ = validate_data(self, X, dtype=np.float64, order="C").copy()
        return self

    def counts(self, X: ArrayLike) -> np.ndarray:
        """Return how many stored points lie in the cube around each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        half = 0.5 * float(self.width)
        if inputs.shape[1] == 1:
            line = np.sort(self.inputs_[:, 0])
            upper = np.searchsorted(line, inputs[:, 0] + half, side="right")
            return upper - np.searchsorted(line, inputs[:, 0] - half, side="left")
        tree = cKDTree(self.inputs_, balanced_tree=False)
        found = tree.query_ball_point(
            inputs, half, p=np.inf, return_length=True, workers=thread_count()
        )
        return np.asarray(found)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row: minus infinity where the cube is empty."""
        counts = self.counts(X)
        volume = self.inputs_.shape[1] * np.log(self.width)
        with np.errstate(divide="ignore"):
            return np.log(counts / len(self.inputs_)) - volume

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the density."""
        check_is_fitted(self)
        chance = generator(random_state)
        centres = self.inputs_[chance.integers(len(self.inputs_), size=n_samples)]
        return centres + (chance.random(centres.shape) - 0.5) * self.width
