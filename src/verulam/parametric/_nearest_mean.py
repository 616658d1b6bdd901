"""Nearest-mean classification, by Euclidean or Mahalanobis distance."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    ByClass,
    Chunk,
    Classifier,
    Interval,
    OnePassClassifier,
    StrOptions,
    check_is_fitted,
    validate_data,
)
from verulam.numerics import GaussianFactor, factorise, mahalanobis_squares
from verulam.parametric._class_parameters import (
    class_moments,
    class_weights,
    estimate_covariances,
    raise_to_floor,
    total_variances,
)

#: The covariance behind each metric; its scale is what distances are measured in.
_COVARIANCE_TYPES = {
    "euclidean": "tied_diag",
    "mahalanobis": "tied",
    "own_mahalanobis": "full",
}


@dataclass(frozen=True)
class ClassCentres:
    """The fitted parameters, named as the attributes of the classifier."""

    means: np.ndarray
    covariances: np.ndarray | None


class NearestMean(OnePassClassifier, Classifier):
    r"""Choose the class whose mean is nearest.

    Parameters
    ----------
    metric
        "euclidean"; "mahalanobis", measured by the covariance within classes; or
        "own_mahalanobis", where each class has its own covariance.
    variance_floor
        Least variance in a covariance, as a fraction of a column's total variance.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    means_ : ndarray of shape (n_classes, n_features)
        Class means :math:`m_k`.
    covariances_ : ndarray or None
        One matrix, or one for each class, or None for the Euclidean distance.
    statistics_ : ByClass
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: \hat k(x) = \arg\min_k D(x, m_k), \qquad
              D(x, m) = \|x - m\| \text{ or } \sqrt{(x - m)^T S^{-1} (x - m)}

    There is no prior and no determinant: with equal priors and a shared covariance this is
    the Gaussian classifier. See Alpaydin 8.5 (8.18).

    Examples
    --------
    >>> from verulam.parametric import NearestMean
    >>> classifier = NearestMean().fit([[0.0], [2.0], [10.0], [12.0]], ["low", "low", "up", "up"])
    >>> classifier.predict([[5.9], [6.1]]).tolist()
    ['low', 'up']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "metric": [StrOptions(set(_COVARIANCE_TYPES))],
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(self, *, metric: str = "euclidean", variance_floor: float = 1e-7) -> None:
        self.metric = metric
        self.variance_floor = variance_floor

    @classmethod
    def _example_learners(cls) -> list["NearestMean"]:
        return [cls(metric=metric) for metric in _COVARIANCE_TYPES]

    def _statistics(self, chunk: Chunk, parameters: None) -> ByClass[Any]:
        return class_moments(chunk, _COVARIANCE_TYPES[self.metric])

    def _update(self, statistics: ByClass[Any]) -> ClassCentres:
        moments = statistics.statistics
        if self.metric == "euclidean":
            return ClassCentres(moments.mean, None)
        covariance_type = _COVARIANCE_TYPES[self.metric]
        covariances = raise_to_floor(
            estimate_covariances(moments, covariance_type, unbiased=False),
            covariance_type,
            self.variance_floor * total_variances(moments),
            statistics.classes,
        )
        return ClassCentres(moments.mean, covariances)

    def _store(self, parameters: ClassCentres) -> None:
        super()._store(parameters)
        self._factor = self._factorise()

    def _factorise(self) -> GaussianFactor:
        if self.covariances_ is None:
            return factorise(self.means_, np.ones(len(self.means_)), "spherical")
        return factorise(self.means_, self.covariances_, _COVARIANCE_TYPES[self.metric])

    def distances(self, X: ArrayLike) -> np.ndarray:
        """Return the distance of each row to each class mean."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        distances = np.sqrt(mahalanobis_squares(inputs, self._factor))
        # A class without rows has no mean to be near to.
        distances[:, class_weights(self.statistics_.statistics) == 0] = np.inf
        return distances

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of the nearest mean."""
        nearest = self.distances(X).argmin(axis=1)
        return self.classes_[nearest]
