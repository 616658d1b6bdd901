"""Least squares by QR factorisation, linear and polynomial, from factors that add."""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dgeqrf
from sklearn.preprocessing import PolynomialFeatures

from verulam.base import (
    Chunk,
    DataWarning,
    Interval,
    OnePass,
    Regressor,
    check_is_fitted,
    validate_data,
)

#: So many rows, or so many for each column, are factorised at a time: all of them would not stay
#: in the cache.
_BLOCK_ROWS, _BLOCK_ROWS_PER_COLUMN = 2000, 20


@dataclass(frozen=True)
class TriangularFactor:
    r"""The factor :math:`R` of :math:`[1\; Z\; r] = QR`, all that least squares needs of the data.

    Attributes
    ----------
    factor : ndarray of shape (n_terms + 2, n_terms + 2)
        Upper triangular :math:`R`, padded with zeros while there are fewer rows.
    weight
        Total weight of the rows.
    n_rows
        Number of rows with weight above zero.
    """

    factor: np.ndarray
    weight: float
    n_rows: int

    def __add__(self, other: Self) -> "TriangularFactor":
        # The factor of stacked factors is that of all rows: QR updating, with no Q to remember.
        factor: Any = np.linalg.qr(np.vstack([self.factor, other.factor]), mode="r")
        return TriangularFactor(
            factor,
            self.weight + other.weight,
            self.n_rows + other.n_rows,
        )


@dataclass(frozen=True)
class LinearFit:
    """The fitted parameters, named as the attributes of the regressors."""

    coef: np.ndarray
    intercept: float
    rank: int
    residual_sum: float
    residual_variance: float
    standard_errors: np.ndarray


def triangular_factor(
    terms: np.ndarray, targets: np.ndarray, weights: np.ndarray | None
) -> TriangularFactor:
    """Return the factor of one chunk.

    Parameters
    ----------
    terms
        One column per term of the model, without the constant.
    targets
        Target of each row.
    weights
        Weight of each row; None where all count alike.
    """
    weight, n_rows = float(len(terms)), len(terms)
    if weights is not None:
        weight, n_rows = float(weights.sum()), int(np.count_nonzero(weights))
    size = max(_BLOCK_ROWS, _BLOCK_ROWS_PER_COLUMN * terms.shape[1])
    blocks = [slice(start, start + size) for start in range(0, len(terms), size)]
    parts = [
        _factor(terms[rows], targets[rows], None if weights is None else weights[rows])
        for rows in blocks
    ]
    padded = np.zeros((terms.shape[1] + 2, terms.shape[1] + 2))
    if parts:
        factor = parts[0] if len(parts) == 1 else _triangle(np.vstack(parts))
        padded[: len(factor)] = factor
    return TriangularFactor(padded, weight, n_rows)


def _factor(terms: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the factor of a block of rows, as many of its rows as there are."""
    # By columns, as the factorisation takes it: to turn it round takes longer than to factorise.
    design = np.empty((len(terms), terms.shape[1] + 2), order="F")
    design[:, 0], design[:, 1:-1], design[:, -1] = 1.0, terms, targets
    if weights is not None:
        # A row of weight w is the same as w rows: squares are weighted by w.
        design *= np.sqrt(weights)[:, None]
    return _triangle(design)


def _triangle(design: np.ndarray) -> np.ndarray:
    """Return the triangular factor of a matrix, whose memory may be used for it."""
    return np.triu(dgeqrf(design, overwrite_a=True)[0][: design.shape[1]])


def solve_factor(statistics: TriangularFactor) -> LinearFit:
    """Return the least-squares solution; of several, the one with the smallest weights.

    Weights are compared in units of their columns' spread. A constant column gets none.

    Below the row and right of the column of the constant, the factor is that of the centred
    data, so the intercept takes no part in the choice among several solutions.
    """
    factor = statistics.factor
    centred, projections = factor[1:-1, 1:-1].copy(), factor[1:-1, -1]
    scales = np.linalg.norm(centred, axis=0)
    # What rounding leaves of a constant column when its mean is taken away is not a column.
    rounding = 50.0 * np.finfo(float).eps * np.sqrt(statistics.n_rows)
    constant = scales <= rounding * np.abs(factor[0, 1:-1])
    centred[:, constant] = 0.0
    scales[constant] = 0.0
    scales = np.where(scales > 0, scales, 1.0)
    # The pseudo-inverse: directions that the data do not span get no weight.
    left, singular, right = np.linalg.svd(centred / scales)
    tolerance = np.finfo(float).eps * max(statistics.n_rows, *centred.shape, 1)
    significant = singular > tolerance * (singular[0] if len(singular) else 1.0)
    inverse = np.divide(1.0, singular, out=np.zeros_like(singular), where=significant)
    coef = (right.T @ (inverse * (left.T @ projections))) / scales
    intercept = (factor[0, -1] - factor[0, 1:-1] @ coef) / factor[0, 0]
    # What the terms could not reach, and what the dropped directions left.
    residual_sum = factor[-1, -1] ** 2 + float(((projections - centred @ coef) ** 2).sum())
    freedom = statistics.weight - significant.sum() - 1
    variance = residual_sum / freedom if freedom > 0 else np.nan
    # The diagonal of the inverse of the normal equations, without forming them.
    spread = ((right.T * inverse) ** 2).sum(axis=1) / scales**2
    return LinearFit(
        coef=coef,
        intercept=float(intercept),
        rank=int(significant.sum()),
        residual_sum=residual_sum,
        residual_variance=float(variance),
        standard_errors=np.sqrt(variance * spread),
    )


class LeastSquares(OnePass, Regressor):
    r"""Fit a linear function by least squares.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights :math:`w`.
    intercept_ : float
        Constant :math:`w_0`.
    rank_ : int
        Number of directions that the inputs span; below `n_features_in_` some inputs depend on
        one another and the smallest weights, in units of the inputs' spread, are taken.
    residual_sum_ : float
        Weighted sum of squared residuals on the training data.
    residual_variance_ : float
        The same divided by the degrees of freedom.
    standard_errors_ : ndarray of shape (n_features,)
        Standard error of each weight.
    statistics_ : TriangularFactor
        Triangular factor of the training data, which `partial_fit` updates.

    Notes
    -----
    .. math:: \min_w \tfrac12 \sum_t (r^t - w^T x^t - w_0)^2

    Chunks of rows are reduced to triangular factors, which are stacked and reduced again. The
    normal equations, which square the condition number, are never formed. See SIT1305 II.

    Examples
    --------
    >>> from verulam.parametric import LeastSquares
    >>> line = LeastSquares().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(line.intercept_, 6), line.coef_.round(6)
    (1.0, array([2.]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def _statistics(self, chunk: Chunk, parameters: None) -> TriangularFactor:
        assert chunk.targets is not None
        return triangular_factor(chunk.inputs, chunk.targets, chunk.weights)

    def _update(self, statistics: TriangularFactor) -> LinearFit:
        return solve_factor(statistics)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the value of the linear function at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        predicted = inputs @ self.coef_
        predicted += self.intercept_
        return predicted


class PolynomialRegression(OnePass, Regressor):
    r"""Fit a polynomial of one or many inputs by least squares.

    Parameters
    ----------
    degree
        Highest total degree of a term.
    interactions
        Whether terms may multiply different inputs; otherwise powers of single inputs only.

    Attributes
    ----------
    coef_ : ndarray of shape (n_terms,)
        Weight of each term.
    intercept_ : float
        Weight of the constant.
    exponents_ : ndarray of shape (n_terms, n_features)
        Exponent of each input in each term.
    rank_, residual_sum_, residual_variance_, standard_errors_
        As in `LeastSquares`.
    statistics_ : TriangularFactor
        Triangular factor of the training data, which `partial_fit` updates.

    Notes
    -----
    .. math:: g(x) = w_0 + \sum_{1 \le |e| \le k} w_e \prod_j x_j^{e_j}

    High powers of inputs far from zero look alike; standardise such inputs first. See
    SIT1305 II.

    Examples
    --------
    >>> from verulam.parametric import PolynomialRegression
    >>> parabola = PolynomialRegression(degree=2).fit([[-1], [0], [1], [2]], [2, 1, 2, 5])
    >>> parabola.predict([[3.0]]).round(6)
    array([10.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "degree": [Interval(Integral, 1, None, closed="left")],
        "interactions": ["boolean"],
    }

    def __init__(self, *, degree: int = 2, interactions: bool = True) -> None:
        self.degree = degree
        self.interactions = interactions

    def _statistics(self, chunk: Chunk, parameters: None) -> TriangularFactor:
        assert chunk.targets is not None
        exponents = term_exponents(chunk.inputs.shape[1], self.degree, self.interactions)
        terms = polynomial_terms(chunk.inputs, exponents)
        return triangular_factor(terms, chunk.targets, chunk.weights)

    def _update(self, statistics: TriangularFactor) -> LinearFit:
        fitted = solve_factor(statistics)
        if fitted.rank < min(len(fitted.coef), statistics.n_rows - 1):
            warnings.warn(
                f"Only {fitted.rank} of the {len(fitted.coef)} terms are independent on this data; "
                "lower the degree, or standardise the inputs first.",
                DataWarning,
                stacklevel=2,
            )
        return fitted

    def _store(self, parameters: LinearFit) -> None:
        super()._store(parameters)
        self.exponents_ = term_exponents(self.n_features_in_, self.degree, self.interactions)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the value of the polynomial at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return polynomial_terms(inputs, self.exponents_) @ self.coef_ + self.intercept_


def term_exponents(n_columns: int, degree: int, interactions: bool) -> np.ndarray:
    """Return the exponents of each term but the constant, ordered by degree.

    Examples
    --------
    >>> term_exponents(2, 2, interactions=True).tolist()
    [[1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    """
    features = PolynomialFeatures(degree, include_bias=False).fit(np.zeros((1, n_columns)))
    exponents = features.powers_
    return exponents if interactions else exponents[(exponents > 0).sum(axis=1) == 1]


def polynomial_terms(X: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return the products of powers of the columns, one column per term."""
    terms = np.ones((len(X), len(exponents)))
    for position, powers in enumerate(exponents):
        for column in np.flatnonzero(powers):
            terms[:, position] *= X[:, column] ** powers[column]
    return terms
