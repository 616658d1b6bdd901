"""Quadratic logistic discrimination, with the number of its products held down."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    Classifier,
    Interval,
    check_classification_targets,
    check_is_fitted,
    checked_fit,
    validate_data,
)
from verulam.linear._logistic.logistic import LogisticDiscriminant
from verulam.numerics import PosteriorMixin


class QuadraticLogistic(PosteriorMixin, Classifier):
    r"""Model the log-odds as quadratic functions of the inputs.

    Parameters
    ----------
    rank
        Number of directions along which each class's matrix may bend, the leading eigenvectors of
        the full fit; None keeps all products.
    alpha
        Factor of half the squared length of the weights.
    max_iter
        Most steps.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    matrices_ : ndarray of shape (n_outputs, n_features, n_features)
        Symmetric :math:`W` of each output, in units of scaled inputs.
    directions_ : ndarray or None
        The directions kept, one in each row.
    model_ : LogisticDiscriminant
        The discriminant that is linear in the products, or in the squares along the directions.
    n_iter_ : int
        Steps of the last fit.
    means_, scales_ : ndarray of shape (n_features,)
        By which the inputs were centred and divided.

    Notes
    -----
    .. math:: g_i(x) = x^T W_i x + w_i^T x + w_{i0}

    is linear in the products :math:`x_k x_l`, of which there are :math:`d(d+1)/2`. With a rank
    :math:`r` the products give way to :math:`r` squares :math:`(v^T x)^2` for each output, and the
    weights are fitted again. See Alpaydin 10.2 (10.2), 10.7 (10.34) and exercises 10.5-10.6.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.linear import QuadraticLogistic
    >>> points = np.random.default_rng(0).normal(size=(300, 2))
    >>> outside = (points**2).sum(axis=1) > 1.5
    >>> QuadraticLogistic().fit(points, outside).score(points, outside) > 0.97
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, rank: int | None = None, alpha: float = 1.0, max_iter: int = 500) -> None:
        self.rank = rank
        self.alpha = alpha
        self.max_iter = max_iter

    @classmethod
    def _example_learners(cls) -> list["QuadraticLogistic"]:
        return [cls(), cls(rank=1)]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows `X` of classes `y`."""
        inputs, targets = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(targets)
        self.means_ = inputs.mean(axis=0)
        spread = inputs.std(axis=0)
        self.scales_ = np.where(spread > 0, spread, 1.0)
        scaled = (inputs - self.means_) / self.scales_
        self.directions_: np.ndarray | None = None
        self.model_ = self._unfitted().fit(self._expand(scaled), targets)
        self.matrices_ = self._matrices(scaled.shape[1])
        if self.rank is not None and self.rank < scaled.shape[1]:
            self.directions_ = np.vstack(
                [leading_directions(matrix, self.rank) for matrix in self.matrices_]
            )
            self.model_ = self._unfitted().fit(self._expand(scaled), targets)
            self.matrices_ = self._matrices(scaled.shape[1])
        self.classes_, self.n_iter_ = self.model_.classes_, self.model_.n_iter_
        return self

    def _unfitted(self) -> LogisticDiscriminant:
        return LogisticDiscriminant(alpha=self.alpha, max_iter=self.max_iter)

    def _expand(self, scaled: np.ndarray) -> np.ndarray:
        if self.directions_ is not None:
            return np.hstack([scaled, (scaled @ self.directions_.T) ** 2])
        first, second = np.triu_indices(scaled.shape[1])
        return np.hstack([scaled, scaled[:, first] * scaled[:, second]])

    def _matrices(self, n_columns: int) -> np.ndarray:
        weights = self.model_.coef_[:, n_columns:]
        if self.directions_ is not None:
            return np.einsum("kr,ri,rj->kij", weights, self.directions_, self.directions_)
        matrices = np.zeros((len(weights), n_columns, n_columns))
        first, second = np.triu_indices(n_columns)
        matrices[:, first, second] = weights
        # A product of two inputs has one weight, which is both entries of the matrix together.
        return (matrices + matrices.transpose(0, 2, 1)) / 2

    def _joint_log_likelihood(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, reset=False)
        expanded = self._expand((inputs - self.means_) / self.scales_)
        return self.model_._joint_log_likelihood(expanded)


def leading_directions(matrix: np.ndarray, rank: int) -> np.ndarray:
    """Return the eigenvectors of a symmetric matrix that bend it most, one in each row."""
    values, vectors = np.linalg.eigh(matrix)
    leading = np.argsort(-np.abs(values), kind="stable")[:rank]
    return vectors[:, leading].T
