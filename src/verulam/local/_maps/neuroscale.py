"""Neuroscale: a network of radial units that places rows so that their distances are kept."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    map_rows,
    one_blas_thread,
    validate_data,
)
from verulam.cluster import KMeans
from verulam.reduction import StressGradient, stress


def radial_basis(X: np.ndarray, centres: np.ndarray, width: float) -> np.ndarray:
    """Return Gaussian bells about the centres, the inputs themselves and a constant."""
    bells = np.exp(-cdist(X, centres, "sqeuclidean") / (2.0 * width**2))
    return np.column_stack([bells, X, np.ones(len(X))])


def network_stress(
    weights: np.ndarray, basis: np.ndarray, distances: np.ndarray, weighting: str
) -> tuple[float, np.ndarray]:
    """Return the stress of a network's outputs and its gradient by the weights."""
    places = basis @ weights
    value: StressGradient = stress(distances, places, weighting=weighting)
    return value.stress, basis.T @ value.gradient


class NeuroScale(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""Place rows in a few dimensions by a network that keeps their distances, new rows too.

    Parameters
    ----------
    n_components
        Number of coordinates.
    n_units
        Radial units, at the means of as many clusters.
    weighting
        Weight of a pair: "none", "sammon" for :math:`1/d`, "squared" for :math:`1/d^2`.
    alpha
        Factor of the squared weights of the radial units in the objective.
    max_iter
        Most iterations of the descent.
    tol
        Largest entry of the gradient at which it ends.
    random_state
        Seed of the clusters.

    Attributes
    ----------
    centers_ : ndarray of shape (n_units, n_features)
        Centres of the radial units.
    width_ : float
        Their width, the mean distance of a centre from its nearest neighbour, twice.
    weights_ : ndarray of shape (n_units + n_features + 1, n_components)
        Weights of the units, of the inputs and of a constant.
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the training rows.
    stress_ : float
        Their stress, see `verulam.reduction.stress`.
    stress_curve_ : list of float
        Objective before each iteration.
    n_iter_ : int
        Iterations made.

    Notes
    -----
    .. math:: E = \frac{\sum_{r<s} w_{rs} (\|z^r - z^s\| - d_{rs})^2}{\sum_{r<s} w_{rs} d_{rs}^2}
              + \alpha \sum_h \|w_h\|^2, \qquad z = W^T \phi(x)

    The stress is that of `verulam.reduction.stress`; a network of radial units and a linear part
    stands in the place of free coordinates [lowe1997]_, so that new rows are placed at once. It
    starts from the principal components. See Bartkowiak 6 (``demns1``).

    .. [lowe1997] D. Lowe and M. E. Tipping, "NeuroScale: novel topographic feature extraction using
       RBF networks", Advances in Neural Information Processing Systems 9, 543-549, 1997.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import NeuroScale
    >>> X = dataset("iris").inputs
    >>> learner = NeuroScale(n_units=10, random_state=0).fit(X)
    >>> learner.transform(X).shape, learner.stress_ < 0.01
    ((150, 2), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "n_units": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions({"none", "sammon", "squared"})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    weights_: np.ndarray

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_units: int = 20,
        weighting: str = "sammon",
        alpha: float = 1e-6,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.n_units = n_units
        self.weighting = weighting
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["NeuroScale"]:
        return [cls(n_units=5), cls(1, n_units=5, weighting="none")]

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Train the network on all pairs of rows.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        if self.n_units > len(rows):
            raise DataError(
                f"n_units={self.n_units} is more than the data has: n_samples={len(rows)}; choose "
                f"n_units from 1 to {len(rows)}."
            )
        self._middle = rows.mean(axis=0)
        self._spread = float(np.sqrt(rows.var(axis=0).mean())) or 1.0
        inputs = self._measured(rows)
        distances = cdist(inputs, inputs)
        if not distances.any():
            raise DataError(
                "X does not vary: all distances are zero, and there is nothing to place."
            )
        self._place_units(inputs)
        basis = self._basis(inputs)
        self._descend(basis, self._start(inputs), distances)
        self.embedding_ = self._spread * (basis @ self.weights_)
        return self

    def _measured(self, rows: np.ndarray) -> np.ndarray:
        return (rows - self._middle) / self._spread

    def _basis(self, inputs: np.ndarray) -> np.ndarray:
        centres = self._measured(self.centers_)
        return radial_basis(inputs, centres, self.width_ / self._spread)

    def _place_units(self, inputs: np.ndarray) -> None:
        distinct = np.unique(inputs, axis=0)
        count = min(self.n_units, len(distinct))
        seed = int(generator(self.random_state).integers(2**31))
        clusters = KMeans(count, tol=1e-3, random_state=seed)
        centres = distinct if count == len(distinct) else clusters.fit(inputs).cluster_centers_
        gaps = cdist(centres, centres) + np.where(np.eye(count) > 0, np.inf, 0.0)
        nearest = gaps.min(axis=1)
        width = 2.0 * float(nearest.mean()) if count > 1 else 1.0
        self.centers_ = self._middle + self._spread * centres
        self.width_ = self._spread * (width or 1.0)

    def _start(self, inputs: np.ndarray) -> np.ndarray:
        """Return weights with which the outputs are principal components."""
        vectors = np.linalg.svd(inputs, full_matrices=False)[2][: self.n_components]
        # A component and its opposite are the same: the largest loading is positive.
        signs = np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])
        vectors = vectors * np.where(signs < 0, -1.0, 1.0)[:, None]
        weights = np.zeros((len(self.centers_) + inputs.shape[1] + 1, self.n_components))
        weights[len(self.centers_) : -1, : len(vectors)] = vectors.T
        return weights

    def _descend(self, basis: np.ndarray, weights: np.ndarray, distances: np.ndarray) -> None:
        shape, n_bells = weights.shape, len(self.centers_)

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            current = theta.reshape(shape)
            value, gradient = network_stress(current, basis, distances, self.weighting)
            bells = current[:n_bells]
            gradient[:n_bells] += 2.0 * self.alpha * bells
            return value + self.alpha * float(np.square(bells).sum()), gradient.ravel()

        self.stress_curve_ = [objective(weights.ravel())[0]]

        def record(intermediate_result: Any) -> None:
            self.stress_curve_.append(float(intermediate_result.fun))

        with one_blas_thread():
            result = minimize(
                objective, weights.ravel(), jac=True, method="L-BFGS-B", callback=record,
                options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-9},
            )  # fmt: skip
        self.n_iter_ = max(1, int(result.nit))
        self.weights_ = result.x.reshape(shape)
        self.stress_ = network_stress(self.weights_, basis, distances, self.weighting)[0]

    @property
    def _n_features_out(self) -> int:
        return self.weights_.shape[1]

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the places of rows: the outputs of the network."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)

        def places(part: np.ndarray) -> np.ndarray:
            return self._spread * (self._basis(self._measured(part)) @ self.weights_)

        return map_rows(places, rows, (len(rows), self._n_features_out))
