"""A Gaussian fitted to rows with missing values, by expectation-maximisation (EM)."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from verulam.base import (
    Chunk,
    DataError,
    Density,
    Interval,
    ManyPasses,
    Source,
    check_is_fitted,
    columns_text,
    validate_data,
)
from verulam.numerics import factorise, gap_patterns, gaussian_log_density
from verulam.parametric._class_parameters import raise_to_floor
from verulam.parametric._densities import GaussianParameters, LogLikelihoodMixin
from verulam.parametric._sample_moments import PairSums, pair_sums


@dataclass(frozen=True)
class ExpectedSums:
    """Expected sums over the rows, gaps filled in by their conditional distribution.

    Attributes
    ----------
    origin : ndarray of shape (n_columns,)
        The mean that deviations are taken from.
    weight
        Total weight of the rows.
    deviations : ndarray of shape (n_columns,)
        Sum of the expected deviations.
    products : ndarray of shape (n_columns, n_columns)
        Sum of the expected products of deviations.
    log_likelihood
        Of the values that are present.
    """

    origin: np.ndarray
    weight: float
    deviations: np.ndarray
    products: np.ndarray
    log_likelihood: float

    def __add__(self, other: Self) -> "ExpectedSums":
        return ExpectedSums(
            self.origin,
            self.weight + other.weight,
            self.deviations + other.deviations,
            self.products + other.products,
            self.log_likelihood + other.log_likelihood,
        )


def observed_log_density(
    X: np.ndarray, mean: np.ndarray, covariance: np.ndarray, present: np.ndarray
) -> np.ndarray:
    """Return the log-density of the columns that are present; 0 where there are none."""
    if not present.any():
        return np.zeros(len(X))
    block = covariance[np.ix_(present, present)]
    return gaussian_log_density(X[:, present], factorise(mean[None, present], block, "tied"))[:, 0]


def expected_sums(
    X: np.ndarray, weights: np.ndarray | None, mean: np.ndarray, covariance: np.ndarray
) -> ExpectedSums:
    """Return the expected sufficient statistics of one chunk under a Gaussian: the E-step."""
    n_columns = len(mean)
    deviations, products = np.zeros(n_columns), np.zeros((n_columns, n_columns))
    log_likelihood = 0.0
    for present, rows in gap_patterns(X):
        weight = np.ones(len(rows)) if weights is None else weights[rows]
        absent = ~present
        filled = np.zeros((len(rows), n_columns))
        filled[:, present] = X[rows][:, present] - mean[present]
        conditional = covariance[np.ix_(absent, absent)]
        if present.any() and absent.any():
            across = covariance[np.ix_(present, absent)]
            solved = cho_solve(cho_factor(covariance[np.ix_(present, present)]), across)
            filled[:, absent] = filled[:, present] @ solved
            conditional = conditional - across.T @ solved
        deviations += weight @ filled
        products += (filled * weight[:, None]).T @ filled
        # Filled-in values alone would understate the variance by what is unknown about them.
        products[np.ix_(absent, absent)] += weight.sum() * conditional
        log_likelihood += float(weight @ observed_log_density(X[rows], mean, covariance, present))
    total = float(len(X)) if weights is None else float(weights.sum())
    return ExpectedSums(mean, total, deviations, products, log_likelihood)


def _chunk_pair_sums(chunk: Chunk) -> PairSums:
    return pair_sums(chunk.inputs, chunk.weights)


class IncompleteGaussianDensity(LogLikelihoodMixin, ManyPasses, Density):
    r"""A Gaussian, where some values of some rows are missing.

    Parameters
    ----------
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the mean log-likelihood of a row by no more than this.
    variance_floor
        Least variance, as a fraction of a column's variance.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean.
    covariance_matrix_ : ndarray of shape (n_features, n_features)
        Covariance matrix, always positive definite.
    objective_curve_ : list of float
        Mean log-likelihood of a row before each pass; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.

    Notes
    -----
    Each pass fills the gaps by their expectation given the rest of the row and adds what is
    uncertain about them: with :math:`o` the columns present and :math:`a` those absent,

    .. math:: E[x_a] = \mu_a + \Sigma_{ao}\Sigma_{oo}^{-1}(x_o - \mu_o), \qquad
              V[x_a] = \Sigma_{aa} - \Sigma_{ao}\Sigma_{oo}^{-1}\Sigma_{oa}

    This maximises the likelihood where values are missing at random [little2002]_, which
    dropping rows does not.

    References
    ----------
    .. [little2002] R. J. A. Little and D. B. Rubin, "Statistical Analysis with Missing Data",
       second edition, Wiley, 2002.

    Examples
    --------
    >>> from verulam.parametric import IncompleteGaussianDensity
    >>> gap = float("nan")
    >>> density = IncompleteGaussianDensity().fit([[1, 2.1], [2, 3.9], [3, 6], [4, gap]])
    >>> density.mean_.round(2)
    array([2.5 , 4.97])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self, *, max_iter: int = 500, tol: float = 1e-6, variance_floor: float = 1e-7
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.variance_floor = variance_floor

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_inputs(self, X: Any, reset: bool) -> np.ndarray:
        return validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )

    def _start(self, source: Source) -> GaussianParameters:
        sums = source.total(_chunk_pair_sums)
        weight = np.diag(sums.weight)
        if not weight.all():
            columns = columns_text(self, np.flatnonzero(weight == 0))
            raise DataError(f"All values are missing in {columns}.")
        mean = np.diag(sums.sums) / weight
        variances = np.diag(sums.products) / weight - mean**2
        variances = np.where(variances > 0, variances, 1.0)
        self._floors = self.variance_floor * variances
        return GaussianParameters(sums.origin + mean, np.diag(variances))

    def _statistics(self, chunk: Chunk, parameters: GaussianParameters) -> ExpectedSums:
        return expected_sums(
            chunk.inputs, chunk.weights, parameters.mean, parameters.covariance_matrix
        )

    def _update(self, statistics: ExpectedSums) -> GaussianParameters:
        shift = statistics.deviations / statistics.weight
        # Deviations are from the mean before this pass, which the shift corrects.
        covariance = statistics.products / statistics.weight - np.outer(shift, shift)
        covariance = raise_to_floor(covariance, "tied", self._floors, np.zeros(1))
        return GaussianParameters(statistics.origin + shift, covariance)

    def _objective(self, statistics: ExpectedSums) -> float:
        return statistics.log_likelihood / statistics.weight

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of the values that each row has; 0 for an empty row."""
        check_is_fitted(self)
        inputs = self._check_inputs(X, reset=False)
        log_densities = np.empty(len(inputs))
        for present, rows in gap_patterns(inputs):
            log_densities[rows] = observed_log_density(
                inputs[rows], self.mean_, self.covariance_matrix_, present
            )
        return log_densities
