"""Classical scaling: places whose inner products come nearest to those behind the distances."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from verulam.base import (
    DataError,
    DataWarning,
    Interval,
    Transformer,
    check_is_fitted,
    checked_fit,
    warn_caller,
)
from verulam.numerics import column_signs
from verulam.reduction._distances.inputs import (
    METRICS,
    new_distances,
    refuse_coincidence,
    training_distances,
    training_inputs,
)

#: From this many rows on a few eigenvectors are found by Lanczos' iteration.
ITERATED_ROWS = 300
#: It is for less than one eigenvector out of so many.
FEW_EIGENVECTORS = 20
#: Eigenvalues below this share of the largest, for each row, are rounding.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class ScaledPlaces:
    """What classical scaling makes of a matrix of distances.

    Attributes
    ----------
    places : ndarray of shape (n_rows, n_components)
        Coordinates of the rows, centred.
    eigenvalues : ndarray of shape (n_components,)
        Sums of squares of the coordinates.
    """

    places: np.ndarray
    eigenvalues: np.ndarray


def centred_products(squares: np.ndarray) -> np.ndarray:
    """Return the inner products about the centre of gravity that squared distances stand for."""
    means = squares.mean(axis=0)
    return -0.5 * (squares - means - means[:, None] + means.mean())


def classical_places(squares: np.ndarray, n_components: int) -> ScaledPlaces:
    """Return the places of rows with these squared distances.

    Parameters
    ----------
    squares
        Squared distances.
    n_components
        Number of coordinates; fewer come back where the distances have fewer dimensions.
    """
    size = len(squares)

    def product(vector: np.ndarray) -> np.ndarray:
        # Double centring is done to the vector and to the product, never to the matrix.
        flat = vector.ravel()
        image = squares @ (flat - flat.mean())
        return -0.5 * (image - image.mean())

    if size >= ITERATED_ROWS and n_components * FEW_EIGENVECTORS < size:
        operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
        # A fixed start: the same distances give the same places.
        start = np.random.default_rng(0).normal(size=size)
        values, vectors = eigsh(operator, n_components, which="LA", v0=start)
    else:
        gram = centred_products(squares)
        count = min(n_components, size)
        values, vectors = scipy.linalg.eigh(gram, subset_by_index=(size - count, size - 1))
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    positive = values > NEGLIGIBLE * size * max(float(values[0]), 0.0)
    places = vectors[:, positive] * np.sqrt(values[positive])
    return ScaledPlaces(places * column_signs(places), values[positive])


class ClassicalScaling(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Place rows so that inner products match their distances (principal coordinates).

    Parameters
    ----------
    n_components
        Number of coordinates.
    metric
        Distance between rows by name, or "precomputed" where `X` is the matrix of distances.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components_)
        Places of the training rows.
    eigenvalues_ : ndarray of shape (n_components_,)
        Sums of squares of the coordinates.
    explained_ratio_ : float
        Their share of the sum of all eigenvalues above zero. Distances that no points have give
        some below zero too, which count for nothing.
    n_components_ : int
        Number of coordinates: fewer than asked for where the distances have no more dimensions.
    mean_squares_ : ndarray of shape (n_samples,)
        Mean squared distance of each training row.
    training_ : ndarray
        Training rows, or their distances.

    Notes
    -----
    With the matrix :math:`J` that subtracts means,

    .. math:: -\tfrac12 J D^{(2)} J = Z Z^T

    gives inner products from squared distances; its leading eigenvectors, scaled by the roots of
    their eigenvalues, are the places. Points of a plane are recovered from their distances up to
    turning, mirroring and shifting. With Euclidean distances between rows the places are principal
    components. New rows are placed by the same inner products (Gower's formula). See SIT1305 II.

    Examples
    --------
    The corners of a rectangle of sides 3 and 4, from their distances:

    >>> import numpy as np
    >>> from verulam.reduction import ClassicalScaling
    >>> D = [[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]]
    >>> scaling = ClassicalScaling(2, metric="precomputed").fit(D)
    >>> np.abs(scaling.embedding_).round(3).tolist()
    [[2.0, 1.5], [2.0, 1.5], [2.0, 1.5], [2.0, 1.5]]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "metric": [METRICS],
    }

    def __init__(self, n_components: int = 2, *, metric: str = "euclidean") -> None:
        self.n_components = n_components
        self.metric = metric

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the training rows."""
        self.training_ = training_inputs(self, X)
        squares = training_distances(self, self.training_) ** 2
        if self.n_components >= len(squares):
            raise DataError(
                f"n_components={self.n_components}: n_samples={len(squares)} rows lie in at most "
                f"{len(squares) - 1} dimensions."
            )
        refuse_coincidence(squares)
        scaled = classical_places(squares, self.n_components)
        self.embedding_ = scaled.places
        self.eigenvalues_ = scaled.eigenvalues
        self.n_components_ = len(scaled.eigenvalues)
        self.mean_squares_ = squares.mean(axis=0)
        self._metric = self.metric
        self._explained_ratio: float | None = None
        if self.n_components_ < self.n_components:
            warn_caller(
                f"n_components={self.n_components}: the distances are those of points in "
                f"{self.n_components_} dimensions, so there are no more coordinates.",
                DataWarning,
            )
        return self

    @property
    def explained_ratio_(self) -> float:
        """Share of the kept eigenvalues in the sum of all above zero."""
        check_is_fitted(self)
        if self._explained_ratio is None:
            total = self._sum_above_zero()
            self._explained_ratio = min(1.0, float(self.eigenvalues_.sum()) / total)
        return self._explained_ratio

    def _sum_above_zero(self) -> float:
        """Return the sum of all eigenvalues above zero, by the metric of the fit."""
        if self._metric == "euclidean":
            # None is below zero, and their sum is that of squares about the centre of gravity.
            return 0.5 * float(self.mean_squares_.sum())
        # All are found only where they are asked for: that takes longer than the places.
        learner = ClassicalScaling(metric=self._metric)
        gram = centred_products(training_distances(learner, self.training_) ** 2)
        return float(np.maximum(scipy.linalg.eigvalsh(gram), 0.0).sum())

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Place the training rows and return their places."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Return places of rows from their distances to the training rows."""
        check_is_fitted(self)
        squares = new_distances(self, X, self.training_) ** 2
        # Inner products with the training rows, about their centre, projected on the coordinates.
        # Constants drop out, since the coordinates sum to zero.
        products = -0.5 * (squares - self.mean_squares_)
        return products @ (self.embedding_ / self.eigenvalues_)
