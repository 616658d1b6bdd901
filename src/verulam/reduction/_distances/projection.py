"""Maps that are functions of the columns, fitted by the stress of what they give."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    HasMethods,
    Interval,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    validate_data,
    warn_caller,
)
from verulam.numerics import distances
from verulam.reduction._distances.inputs import refuse_coincidence
from verulam.reduction._distances.stress import EXPONENTS, StressPairs, starting_places

#: Basis functions with a spread below this share of the largest, for each row, are rounding.
NEGLIGIBLE = 1e-14


class StressProjection(ClassNamePrefixFeaturesOutMixin, Transformer):
    r"""A map of rows, linear in its parameters, that keeps their distances as well as it can.

    Parameters
    ----------
    n_components
        Number of coordinates.
    basis
        Transformer that makes basis functions :math:`\phi(x)` of the columns, such as polynomials;
        None for the columns themselves.
    weighting
        Weight of a pair: "none", "sammon" or "squared", see `stress`.
    max_iter
        Most steps of the search.
    tol
        Size of the gradient, of the stress as a share, at which it ends.

    Attributes
    ----------
    coef_ : ndarray of shape (n_functions, n_components)
        Parameters :math:`\theta`.
    basis_ : object
        The fitted basis, or None.
    function_means_ : ndarray of shape (n_functions,)
        Means of the basis functions, which are subtracted.
    stress_ : float
        Stress of the training rows.
    n_iter_ : int
        Steps made.

    Notes
    -----
    .. math:: z = g(x \mid \theta) = \theta^T [\phi(x) - \bar\phi], \qquad
              \min_\theta \sum_{r<s} w_{rs} (\|g(x^r) - g(x^s)\| - \|x^r - x^s\|)^2

    from the least-squares fit to classical places, by the gradient (L-BFGS). Unlike places found
    one by one the map applies to any row. See SIT1305 II.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.reduction import StressProjection
    >>> iris = dataset("iris").inputs
    >>> round(StressProjection(weighting="sammon").fit(iris).stress_, 4)
    0.0053
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "basis": [HasMethods(["fit", "transform"]), None],
        "weighting": [StrOptions(set(EXPONENTS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        basis: Any = None,
        weighting: str = "none",
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.basis = basis
        self.weighting = weighting
        self.max_iter = max_iter
        self.tol = tol

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the parameters of the map."""
        inputs = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        targets = distances(inputs, inputs)
        refuse_coincidence(targets)
        # The search ends by the size of the gradient, which depends on units; now there are none.
        unit = float(np.sqrt(np.mean(targets**2)))
        targets /= unit
        pairs = StressPairs(targets, self.weighting)
        self.basis_ = None if self.basis is None else clone(self.basis).fit(inputs)
        functions = self._functions(inputs)
        self.function_means_ = functions.mean(axis=0)
        # Orthogonal functions of the same span: the search then knows no long valleys.
        left, values, right = np.linalg.svd(functions - self.function_means_, full_matrices=False)
        present = values > NEGLIGIBLE * len(inputs) * values[0]
        scale = np.sqrt(len(inputs))
        orthogonal = left[:, present] * scale
        count = min(self.n_components, orthogonal.shape[1])

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            outcome = pairs.evaluate(orthogonal @ theta.reshape(-1, count))
            return outcome.stress, (orthogonal.T @ outcome.gradient).ravel()

        # From the least-squares fit to classical places.
        start = orthogonal.T @ starting_places(targets, count) / len(inputs)
        search = minimize(
            objective,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-12},
        )
        if search.status == 1:
            warn_caller(
                f"StressProjection had not converged after max_iter={self.max_iter} steps; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        weights = right[present].T / values[present] * scale
        self.coef_ = weights @ search.x.reshape(-1, count) * unit
        self.stress_ = float(search.fun)
        self.n_iter_ = int(search.nit)
        return self

    def _functions(self, inputs: np.ndarray) -> np.ndarray:
        if self.basis_ is None:
            return inputs
        return np.asarray(self.basis_.transform(inputs), dtype=np.float64)

    @property
    def _n_features_out(self) -> int:
        return self.coef_.shape[1]

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the map of each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return (self._functions(inputs) - self.function_means_) @ self.coef_
