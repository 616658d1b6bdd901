"""Projection pursuit regression: smooth functions of a few directions, added up."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    RANDOM_STATE,
    Interval,
    Regressor,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
    numeric_targets,
    validate_data,
    warn_caller,
)

Array = NDArray[np.float64]
#: Degree of the pieces of a ridge function.
DEGREE = 3
#: Halvings of a step of the direction before it counts as found.
HALVINGS = 6
#: Least curvature of the directions' equations, as a share of their trace.
LEAST_CURVATURE = 1e-6
#: Spread of a column, as a share of its largest number, that counts as none.
CONSTANT = 1e-12


@dataclass(frozen=True, eq=False)
class RidgeFunction:
    """A smooth function of one direction.

    Attributes
    ----------
    direction : ndarray
        Unit vector.
    knots, coefficients : ndarray
        The function of the projection, a cubic spline; beyond its ends it goes on straight.
    """

    direction: Array
    knots: Array
    coefficients: Array

    def values(self, projections: Array, order: int = 0) -> Array:
        """Return the function of projections, or its slope where order is 1.

        Parameters
        ----------
        projections
            Places along the direction.
        order
            0 or 1.
        """
        spline = BSpline(self.knots, self.coefficients, DEGREE)
        low, high = self.knots[DEGREE], self.knots[-DEGREE - 1]
        inside = np.clip(projections, low, high)
        if order:
            return spline(inside, 1)
        return spline(inside) + (projections - inside) * spline(inside, 1)


class ProjectionPursuitRegressor(Regressor):
    r"""Sum of smooth functions of directions, found one after the other.

    .. math:: y = \bar y + \sum_{h=1}^H \phi_h(w_h^T x)

    Parameters
    ----------
    n_terms
        Functions :math:`H` of directions.
    n_knots
        Pieces of each function.
    smoothing
        Penalty on the bends of a function, as a share of its other equations.
    backfit
        Whether earlier terms are fitted again after each new one.
    n_init
        Directions that a term is started from, besides that of the residuals' slope.
    max_iter
        Most steps of a direction, and most rounds of fitting again.
    tol
        Relative fall of the error that counts as progress.
    random_state
        Seed of the starts.

    Attributes
    ----------
    terms_ : list of RidgeFunction
        The functions with their directions.
    intercept_ : float
        Mean of the targets.
    errors_ : ndarray
        Mean squared error after each term.
    n_iter_ : int
        Most rounds of fitting terms again.

    Notes
    -----
    See Friedman and Stuetzle (1981), named in Alpaydin 11.14: like a perceptron with one hidden
    layer, but each unit has a function of its own, and terms are added as they are needed. A
    direction moves by Gauss-Newton steps for its function as it is, the function is a cubic spline
    with a penalty on its second differences, and both take turns. R's ``ppr`` does the same with
    another smoother.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import ProjectionPursuitRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> y = np.sin(X @ [1.0, 1.0, 0.0, 0.0]) + (X @ [0.0, 0.0, 0.5, 0.5]) ** 2
    >>> net = ProjectionPursuitRegressor(2, random_state=0).fit(X, y)
    >>> bool(net.score(X, y) > 0.98)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_terms": [Interval(Integral, 1, None, closed="left")],
        "n_knots": [Interval(Integral, 2, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="neither")],
        "backfit": ["boolean"],
        "n_init": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_terms: int = 2,
        *,
        n_knots: int = 10,
        smoothing: float = 0.01,
        backfit: bool = True,
        n_init: int = 3,
        max_iter: int = 30,
        tol: float = 1e-4,
        random_state: Seed = None,
    ) -> None:
        self.n_terms = n_terms
        self.n_knots = n_knots
        self.smoothing = smoothing
        self.backfit = backfit
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @checked_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Find the terms.

        Parameters
        ----------
        X
            Rows of numbers.
        y
            Numbers to predict.
        """
        rows, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        targets = numeric_targets(self, y)
        # Steps of a direction are as good as its equations, which columns of one scale keep round.
        origin, scale = rows.mean(axis=0), rows.std(axis=0)
        scale[scale <= CONSTANT * np.abs(rows).max(axis=0)] = 1.0
        X = (rows - origin) / scale
        random = generator(self.random_state)
        self.intercept_ = float(targets.mean())
        residual = targets - self.intercept_
        self.terms_: list[RidgeFunction] = []
        self.n_iter_ = 1
        errors = []
        for _ in range(self.n_terms):
            term = self._best_term(X, residual, random)
            self.terms_.append(term)
            residual = residual - term.values(X @ term.direction)
            if self.backfit and len(self.terms_) > 1:
                residual = self._fit_again(X, residual)
            errors.append(float(np.mean(residual**2)))
        self.errors_ = np.array(errors)
        self.terms_ = [_unscaled(term, origin, scale) for term in self.terms_]
        return self

    def _best_term(self, X: Array, residual: Array, random: np.random.Generator) -> RidgeFunction:
        """Return the best of the terms found from several directions."""
        starts = [_slope(X, residual)]
        starts += list(random.normal(size=(self.n_init, X.shape[1])))
        terms = [self._term(X, residual, _unit(start)) for start in starts]
        return min(terms, key=lambda term: _error(term, X, residual))

    def _term(self, X: Array, residual: Array, direction: Array) -> RidgeFunction:
        """Return the function and the direction that a start leads to, in turns."""
        term = self._function(X, residual, direction)
        error = _error(term, X, residual)
        for _ in range(self.max_iter):
            step = _gauss_newton(term, X, residual)
            for halving in range(HALVINGS):
                trial = self._function(X, residual, _unit(term.direction + step / 2**halving))
                trial_error = _error(trial, X, residual)
                if trial_error < error:
                    break
            else:
                return term
            settled = error - trial_error <= self.tol * error
            term, error = trial, trial_error
            if settled:
                return term
        return term

    def _function(self, X: Array, residual: Array, direction: Array) -> RidgeFunction:
        """Return the smooth function of a direction that follows the residuals best."""
        projections = X @ direction
        knots = _knots(projections, int(self.n_knots))
        design = BSpline.design_matrix(
            np.clip(projections, knots[DEGREE], knots[-DEGREE - 1]), knots, DEGREE
        ).toarray()
        bends = np.diff(np.eye(design.shape[1]), n=2, axis=0)
        normal = design.T @ design / len(design)
        ridge = float(self.smoothing) * np.trace(normal) / len(normal)
        # Coefficients without any row near them are held by the tiny share of the identity.
        system = normal + ridge * (bends.T @ bends) + 1e-10 * np.eye(len(normal))
        return RidgeFunction(
            direction, knots, np.linalg.solve(system, design.T @ residual / len(design))
        )

    def _fit_again(self, X: Array, residual: Array) -> Array:
        """Fit all terms in turn to what the others leave, until nothing is gained."""
        error = float(np.mean(residual**2))
        for count in range(1, self.max_iter + 1):
            self.n_iter_ = max(self.n_iter_, count)
            for place, term in enumerate(self.terms_):
                partial = residual + term.values(X @ term.direction)
                better = self._term(X, partial, term.direction)
                if _error(better, X, partial) < _error(term, X, partial):
                    self.terms_[place] = term = better
                residual = partial - term.values(X @ term.direction)
            fallen = error - float(np.mean(residual**2))
            error -= fallen
            if fallen <= self.tol * max(error, np.finfo(float).tiny):
                return residual
        warn_caller(
            f"Terms were fitted again {self.max_iter} times without settling; raise max_iter, or "
            "tol.",
            ConvergenceWarning,
        )
        return residual

    def predict(self, X: Any) -> Array:
        """Return the numbers for each row."""
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return self.intercept_ + sum(
            (term.values(rows @ term.direction) for term in self.terms_), np.zeros(len(rows))
        )


def _unscaled(term: RidgeFunction, origin: Array, scale: Array) -> RidgeFunction:
    """Return a function of scaled columns as one of the columns themselves."""
    slopes = term.direction / scale
    direction, length = _unit(slopes), float(np.linalg.norm(slopes))
    return RidgeFunction(direction, term.knots / length + direction @ origin, term.coefficients)


def _error(term: RidgeFunction, X: Array, residual: Array) -> float:
    return float(np.mean((residual - term.values(X @ term.direction)) ** 2))


def _unit(vector: Array) -> Array:
    length = float(np.linalg.norm(vector))
    if not length > 0:
        return np.eye(len(vector))[0]
    return vector / length


def _slope(X: Array, residual: Array) -> Array:
    """Return the direction of the least-squares plane through residuals."""
    slope: Any = np.linalg.lstsq(X - X.mean(axis=0), residual)[0]
    return slope


def _knots(projections: Array, count: int) -> Array:
    """Return knots at quantiles of projections, with those beyond the ends repeated."""
    inner = np.quantile(projections, np.linspace(0.0, 1.0, count + 1))
    low, high = inner[0], inner[-1]
    if not high > low:
        low, high = low - 0.5, low + 0.5
    inner = np.unique(inner[(inner > low) & (inner < high)])
    return np.concatenate([np.full(DEGREE + 1, low), inner, np.full(DEGREE + 1, high)])


def _gauss_newton(term: RidgeFunction, X: Array, residual: Array) -> Array:
    """Return the step of the direction that a function's slopes ask for."""
    projections = X @ term.direction
    slopes = term.values(projections, 1)
    left = residual - term.values(projections)
    rows = slopes[:, None] * X
    normal = rows.T @ rows
    ridge = LEAST_CURVATURE * np.trace(normal) + np.finfo(float).tiny
    return np.linalg.solve(normal + ridge * np.eye(len(normal)), rows.T @ left)
