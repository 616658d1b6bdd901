"""Factor analysis: likelihood or principal factors, from the covariance matrix alone."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.stats import chi2
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    Chunk,
    DataError,
    DataWarning,
    Interval,
    OnePass,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    columns_text,
    generator,
    validate_data,
    warn_caller,
)
from verulam.numerics import PooledMoments, factorise, gaussian_log_density
from verulam.reduction._linear.components import coordinate_table
from verulam.reduction._linear.moments import check_count, covariance, table_moments
from verulam.reduction._linear.rotation import Rotation, promax, varimax
from verulam.reduction._linear.uniqueness import (
    Uniquenesses,
    likelihood_uniquenesses,
    principal_uniquenesses,
)


@dataclass(frozen=True)
class FactorFit:
    r"""Test that so many factors are enough, by the ratio of likelihoods.

    Attributes
    ----------
    statistic
        Bartlett's corrected :math:`(N - 1 - \frac{2d + 5}{6} - \frac{2k}{3})\, F`, where
        :math:`F` is the discrepancy of the fitted correlations from those of the sample.
    degrees_of_freedom
        :math:`\frac12 [(d - k)^2 - d - k]`; below zero the model has no unique solution.
    p_value
        Probability of a larger statistic if the model is right; NaN without degrees of freedom.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


@dataclass(frozen=True)
class FactorParameters:
    """The fitted parameters, named as the attributes of the learner."""

    mean: np.ndarray
    scale: np.ndarray
    loadings: np.ndarray
    uniquenesses: np.ndarray
    communalities: np.ndarray
    factor_covariance: np.ndarray
    rotation_matrix: np.ndarray
    correlation: np.ndarray
    fit_test: FactorFit
    n_iter: int


class FactorAnalysis(ClassNamePrefixFeaturesOutMixin, OnePass, Transformer):
    r"""Few hidden factors that explain the correlations of many columns.

    Parameters
    ----------
    n_components
        Number :math:`k` of factors.
    method
        "likelihood" for the largest likelihood, "principal" for iterated principal factors, which
        fit the correlations by least squares.
    rotation
        "varimax", "promax" (factors may correlate), or None.
    scores
        How `transform` estimates factors: "regression" (their mean given the row) or
        "bartlett" (weighted least squares, unbiased).
    uniqueness_floor
        Least share of a column's variance that is its own. A column that would have less is a
        Heywood case and is warned of.
    max_iter
        Most iterations.
    tol
        Largest change of a uniqueness at which they end.

    Attributes
    ----------
    loadings_ : ndarray of shape (n_features, n_components)
        Loadings :math:`V` of the standardised columns; without promax these are correlations
        of columns and factors.
    uniquenesses_ : ndarray of shape (n_features,)
        Share :math:`\psi_i` of each column's variance that no other column shares.
    communalities_ : ndarray of shape (n_features,)
        The share that the factors explain.
    factor_covariance_ : ndarray of shape (n_components, n_components)
        Correlations of the factors: the identity but for promax.
    rotation_matrix_ : ndarray of shape (n_components, n_components)
        What the unrotated loadings were multiplied by.
    correlation_ : ndarray of shape (n_features, n_features)
        Correlations of the columns in the sample.
    fit_test_ : FactorFit
        Test that so many factors are enough.
    mean_, scale_ : ndarray of shape (n_features,)
        Means and standard deviations (by :math:`N`) of the columns.
    n_iter_ : int
        Iterations made.
    statistics_ : PooledMoments
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: x_i - \mu_i = \sum_j v_{ij} z_j + \varepsilon_i, \qquad
              \Sigma = V V^T + \mathrm{diag}(\psi)

    with :math:`\mathrm{Var}(z_j) = 1`, :math:`\mathrm{Var}(\varepsilon_i) = \psi_i` and all
    covariances between them zero (SIT1305 II, where :math:`E[\varepsilon_i] = \psi_i` is a slip).
    For given :math:`\psi` the best loadings come from an eigenvalue problem; the uniquenesses
    themselves are found by Newton's method on the likelihood with the loadings taken out
    [lawley1971]_. Only the covariance matrix is needed, so the data are read once.

    .. [lawley1971] D. N. Lawley and A. E. Maxwell, *Factor Analysis as a Statistical Method*,
       2nd edition, Butterworths, 1971.

    Examples
    --------
    Two factors behind six measurements of wine, phenols and strength:

    >>> from verulam.data import dataset
    >>> from verulam.reduction import FactorAnalysis
    >>> columns = ["alcohol", "total_phenols", "flavanoids", "color_intensity", "hue", "proline"]
    >>> factors = FactorAnalysis(2, rotation="varimax").fit(dataset("wine").inputs[columns])
    >>> factors.loadings_.round(2).tolist()
    [[0.14, 0.8], [0.86, 0.23], [0.96, 0.13], [-0.29, 0.77], [0.62, -0.28], [0.44, 0.62]]
    >>> factors.uniquenesses_.round(2)
    array([0.34, 0.2 , 0.07, 0.33, 0.54, 0.42])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"likelihood", "principal"})],
        "rotation": [StrOptions({"varimax", "promax"}), None],
        "scores": [StrOptions({"regression", "bartlett"})],
        "uniqueness_floor": [Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        method: str = "likelihood",
        rotation: str | None = None,
        scores: str = "regression",
        uniqueness_floor: float = 0.005,
        max_iter: int = 1000,
        tol: float = 1e-10,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.rotation = rotation
        self.scores = scores
        self.uniqueness_floor = uniqueness_floor
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def _example_learners(cls) -> list["FactorAnalysis"]:
        return [cls(), cls(method="principal", rotation="promax", scores="bartlett")]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        random = np.random.default_rng(0)
        loadings = np.kron(np.eye(2), np.ones((1, 3)))
        return random.normal(size=(160, 2)) @ loadings + random.normal(size=(160, 6)), None

    def _statistics(self, chunk: Chunk, parameters: None) -> PooledMoments:
        return table_moments(chunk)

    def _update(self, statistics: PooledMoments) -> FactorParameters:
        table = covariance(statistics)
        check_count(self.n_components, len(table.mean))
        # Maximum likelihood divides by the number of rows.
        scale = table.deviations * np.sqrt((table.weight - 1.0) / table.weight)
        if not (scale > 0.0).all():
            columns = columns_text(self, np.flatnonzero(scale == 0.0))
            raise DataError(
                f"X is constant in {columns}; factors explain correlations, which a constant has "
                "none of: leave it out."
            )
        correlation = table.scaled(table.deviations)
        np.fill_diagonal(correlation, 1.0)
        solve = likelihood_uniquenesses if self.method == "likelihood" else principal_uniquenesses
        solution = solve(
            correlation, self.n_components, self.uniqueness_floor, self.max_iter, self.tol
        )
        self._warn(solution, len(scale))
        rotated = _rotated(solution.loadings, self.rotation)
        return FactorParameters(
            mean=table.mean,
            scale=scale,
            loadings=rotated.loadings,
            uniquenesses=solution.values,
            communalities=(solution.loadings**2).sum(axis=1),
            factor_covariance=rotated.factor_covariance,
            rotation_matrix=rotated.matrix,
            correlation=correlation,
            fit_test=_fit_test(correlation, solution, table.weight),
            n_iter=solution.n_iter,
        )

    def _warn(self, solution: Uniquenesses, n_columns: int) -> None:
        heywood = np.flatnonzero(solution.values <= self.uniqueness_floor * (1.0 + 1e-9))
        if len(heywood):
            warn_caller(
                f"Heywood case: the factors explain all of {columns_text(self, heywood)}, whose "
                f"uniqueness is held at uniqueness_floor={self.uniqueness_floor:g}; try "
                "fewer factors.",
                DataWarning,
            )
        if _degrees_of_freedom(n_columns, self.n_components) < 0:
            warn_caller(
                f"n_components={self.n_components} factors are too many for {n_columns} columns: "
                "the model has more parameters than the columns have correlations, and its "
                "loadings are not unique.",
                DataWarning,
            )
        if not solution.converged:
            warn_caller(
                f"FactorAnalysis had not converged after max_iter={self.max_iter} iterations; "
                "raise max_iter or tol.",
                ConvergenceWarning,
            )

    @property
    def _n_features_out(self) -> int:
        return self.loadings_.shape[1]

    def get_covariance(self) -> np.ndarray:
        r"""Return the covariance matrix :math:`V \Phi V^T + \mathrm{diag}(\psi)` of the columns."""
        check_is_fitted(self)
        return self._model_correlation() * np.outer(self.scale_, self.scale_)

    def _model_correlation(self) -> np.ndarray:
        return self.loadings_ @ self.factor_covariance_ @ self.loadings_.T + np.diag(
            self.uniquenesses_
        )

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the factor scores of each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return ((inputs - self.mean_) / self.scale_) @ self._score_weights()

    def _score_weights(self) -> np.ndarray:
        loadings, precision = self.loadings_, 1.0 / self.uniquenesses_[:, None]
        weighted = loadings * precision
        information = loadings.T @ weighted
        if self.scores == "regression":
            # Woodbury: only a matrix of as many rows as factors is inverted.
            information = information + np.linalg.inv(self.factor_covariance_)
        return weighted @ np.linalg.pinv(information, hermitian=True)

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Return the rows that factors with these values would give without noise."""
        check_is_fitted(self)
        scores = coordinate_table(X, self.loadings_.shape[1])
        return scores @ self.loadings_.T * self.scale_ + self.mean_

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of the model at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        factor = factorise(self.mean_[None], self.get_covariance(), "tied")
        return gaussian_log_density(inputs, factor)[:, 0]

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return the log-likelihood of the rows of `X`."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the model."""
        check_is_fitted(self)
        return generator(random_state).multivariate_normal(
            self.mean_, self.get_covariance(), size=n_samples, method="cholesky"
        )


def _rotated(loadings: np.ndarray, rotation: str | None) -> Rotation:
    if rotation is None or loadings.shape[1] == 1:
        identity = np.eye(loadings.shape[1])
        return Rotation(loadings, identity, identity)
    return varimax(loadings) if rotation == "varimax" else promax(loadings)


def _degrees_of_freedom(n_columns: int, n_factors: int) -> int:
    return ((n_columns - n_factors) ** 2 - n_columns - n_factors) // 2


def _fit_test(correlation: np.ndarray, solution: Uniquenesses, weight: float) -> FactorFit:
    """Return the test that the model's correlations are those of the population."""
    n_columns, n_factors = solution.loadings.shape
    model = solution.loadings @ solution.loadings.T + np.diag(solution.values)
    ratio = scipy.linalg.solve(model, correlation, assume_a="pos")
    sign, log_determinant = np.linalg.slogdet(ratio)
    # Zero where both agree; infinite where the columns of the sample are dependent.
    discrepancy = float(np.trace(ratio) - n_columns - (log_determinant if sign > 0 else -np.inf))
    factor = weight - 1.0 - (2.0 * n_columns + 5.0) / 6.0 - 2.0 * n_factors / 3.0
    freedom = _degrees_of_freedom(n_columns, n_factors)
    statistic = factor * discrepancy
    if weight - 1.0 < n_columns or factor <= 0.0 or not np.isfinite(statistic):
        # With fewer rows than columns, or dependent ones, any model fits or none does.
        return FactorFit(float("nan"), freedom, float("nan"))
    p_value = float(chi2.sf(statistic, freedom)) if freedom > 0 else float("nan")
    return FactorFit(statistic, freedom, p_value)
