"""A Gaussian kernel whose shape changes from place to place."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from verulam.base import DataError
from verulam.kernel._kernels.base import Kernel, as_rows, positive


@dataclass(frozen=True, eq=False)
class LocalMahalanobis(Kernel):
    r"""A Gaussian kernel with a covariance for each input, from the rows around it.

    Attributes
    ----------
    n_neighbors
        Training rows that make the covariance of a place.
    width
        Factor :math:`s` of all lengths.
    shrinkage
        Share of the covariance of all rows in each: one is `Mahalanobis`, and any share above zero
        keeps a covariance of few rows from being singular.
    training : ndarray or None
        Training rows; `adapted` fills them in.

    Notes
    -----
    .. math:: K(x, y) = \frac{|S_x|^{1/4} |S_y|^{1/4}}{|\bar{S}|^{1/2}}
              \exp\left(-\frac{1}{2 s^2} (x - y)^T \bar{S}^{-1} (x - y)\right), \qquad
              \bar{S} = \frac{S_x + S_y}{2}

    With the covariance :math:`S^t` of the support vector alone, as in Alpaydin 13 exercise 2, the
    value would not be the same both ways; the mean of both, with the factor in front, is an inner
    product whatever the covariances are [paciorek2004]_. Every pair takes a small linear system, so
    it is for some thousand rows and few columns.

    References
    ----------
    .. [paciorek2004] C. J. Paciorek and M. J. Schervish, "Nonstationary covariance functions for
       Gaussian process regression", Advances in Neural Information Processing Systems 16, 2004.

    Examples
    --------
    Rows along two crossing lines: each place is long in the direction of its own line.

    >>> import numpy as np
    >>> from verulam.kernel import LocalMahalanobis
    >>> along = np.column_stack([np.linspace(1, 3, 20), np.zeros(20)])
    >>> cross = np.vstack([along, along[:, ::-1]])
    >>> kernel = LocalMahalanobis(n_neighbors=8, shrinkage=0.05).adapted(cross)
    >>> on_the_line, off_it = kernel([[2.0, 0.0]], [[2.5, 0.0], [2.0, 0.5]])[0]
    >>> bool(on_the_line > 5 * off_it)
    True
    """

    n_neighbors: int = 10
    width: float = 1.0
    shrinkage: float = 0.1
    training: np.ndarray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        positive("width", self.width)
        positive("shrinkage", self.shrinkage)
        if self.shrinkage > 1.0:
            raise DataError(f"shrinkage must be above 0 and at most 1; got {self.shrinkage}.")
        if self.n_neighbors < 2:
            raise DataError(f"n_neighbors must be 2 or more; got {self.n_neighbors}.")

    def adapted(self, X: Any) -> Kernel:
        if self.training is not None:
            return self
        return LocalMahalanobis(self.n_neighbors, self.width, self.shrinkage, as_rows(X).copy())

    def covariances(self, X: Any) -> np.ndarray:
        """Return the covariance of each input's place."""
        rows = as_rows(X)
        if self.training is None:
            raise DataError(
                "covariances come from the training data: call adapted(X) first, or give the "
                "kernel to a learner, which does."
            )
        count = min(self.n_neighbors, len(self.training))
        finder = NearestNeighbors(n_neighbors=count).fit(self.training)
        around = self.training[finder.kneighbors(rows, return_distance=False)]
        # About the mean of the neighbours, and not about the input: it may lie at their edge.
        around = around - around.mean(axis=1, keepdims=True)
        local = np.einsum("tki,tkj->tij", around, around) / count
        overall = np.cov(self.training.T, bias=True).reshape(2 * (rows.shape[1],))
        variance = float(np.trace(overall)) / len(overall) or 1.0
        # Columns that repeat each other would make the covariance singular.
        overall += 1e-6 * variance * np.eye(len(overall))
        return (1.0 - self.shrinkage) * local + self.shrinkage * overall

    def _values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        first, second = self.covariances(left), self.covariances(right)
        log_volumes, other_volumes = np.linalg.slogdet(first)[1], np.linalg.slogdet(second)[1]
        result = np.empty((len(left), len(right)))
        for place, row in enumerate(left):
            mean = 0.5 * (first[place] + second)
            differences = right - row
            squares = np.einsum(
                "tj,tj->t", differences, np.linalg.solve(mean, differences[..., None])[..., 0]
            )
            # Logarithms of the determinants, which would under- or overflow in many columns.
            volumes = 0.25 * (log_volumes[place] + other_volumes) - 0.5 * np.linalg.slogdet(mean)[1]
            result[place] = np.exp(volumes - 0.5 * squares / self.width**2)
        return result

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(len(as_rows(X)))
