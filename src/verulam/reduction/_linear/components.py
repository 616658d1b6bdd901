"""Principal components, plain and probabilistic, from one pass over the data."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from verulam.base import (
    Chunk,
    DataError,
    DataWarning,
    Interval,
    OnePass,
    Seed,
    Transformer,
    check_is_fitted,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.numerics import PooledMoments
from verulam.reduction._linear.moments import (
    Covariance,
    PrincipalAxes,
    check_count,
    covariance,
    principal_axes,
    table_moments,
)

LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class ComponentParameters:
    """The fitted parameters, named as the attributes of the learner."""

    mean: np.ndarray
    scale: np.ndarray
    components: np.ndarray
    eigenvalues: np.ndarray
    explained_variance: np.ndarray
    explained_variance_ratio: np.ndarray
    n_components: int
    n_samples: float


class PrincipalComponents(ClassNamePrefixFeaturesOutMixin, OnePass, Transformer):
    r"""Directions of largest variance, and coordinates along them.

    Parameters
    ----------
    n_components
        Number of components; a fraction asks for as many as explain that share of the variance,
        None for all that have any.
    whiten
        Whether coordinates are divided by their standard deviations.
    standardise
        Whether columns are divided by theirs first, so that units do not matter: the components
        are then those of the correlation matrix.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit directions :math:`w_j`, each with its largest entry positive.
    eigenvalues_ : ndarray of shape (n_features,)
        All eigenvalues of the covariance matrix, the largest first: the scree.
    explained_variance_ : ndarray of shape (n_components_,)
        Variance of each component, which is its eigenvalue.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Its share of the total variance.
    mean_ : ndarray of shape (n_features,)
        Column means :math:`m`.
    scale_ : ndarray of shape (n_features,)
        What columns are divided by: ones unless they are standardised.
    n_components_ : int
        Number of components.
    n_samples_ : float
        Number of training rows, or their total weight.
    statistics_ : PooledMoments
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: \Sigma w_j = \lambda_j w_j, \qquad z = W^T (x - m), \qquad
              \mathrm{PoV}_k = \frac{\sum_{j \le k} \lambda_j}{\sum_j \lambda_j}

    with the covariance matrix :math:`\Sigma` divided by :math:`N - 1`, so that
    :math:`\mathrm{Var}(z_j) = \lambda_j`. Typically one stops at a PoV above .9, or at the elbow
    of the scree (`verulam.plots.scree`). Moments add exactly: a stream, a Dask collection and
    `partial_fit` give the numbers of a fit in memory. See SIT1305 II.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.reduction import PrincipalComponents
    >>> wine = dataset("wine").inputs
    >>> components = PrincipalComponents(0.9, standardise=True).fit(wine)
    >>> components.n_components_, components.explained_variance_ratio_[:3].round(3)
    (8, array([0.362, 0.192, 0.111]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            None,
        ],
        "whiten": ["boolean"],
        "standardise": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        whiten: bool = False,
        standardise: bool = False,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.standardise = standardise

    @classmethod
    def _example_learners(cls) -> list["PrincipalComponents"]:
        return [cls(), cls(0.8, whiten=True, standardise=True)]

    def _statistics(self, chunk: Chunk, parameters: None) -> PooledMoments:
        return table_moments(chunk)

    def _update(self, statistics: PooledMoments) -> ComponentParameters:
        table = covariance(statistics)
        scale = _scale(table) if self.standardise else np.ones_like(table.mean)
        axes = principal_axes(table.scaled(scale))
        total = float(axes.variances.sum())
        if total == 0.0:
            raise DataError("X does not vary: all rows are the same, and nothing can be explained.")
        shares = axes.variances / total
        count = _component_count(self.n_components, axes, shares)
        return ComponentParameters(
            mean=table.mean,
            scale=scale,
            components=np.ascontiguousarray(axes.directions[:, :count].T),
            eigenvalues=axes.variances,
            explained_variance=axes.variances[:count],
            explained_variance_ratio=shares[:count],
            n_components=count,
            n_samples=table.weight,
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    @property
    def loadings_(self) -> np.ndarray:
        r"""Covariances :math:`w_j\sqrt{\lambda_j}` of columns with whitened components, by column.

        Where columns are standardised these are correlations.
        """
        check_is_fitted(self)
        return self.components_.T * np.sqrt(self.explained_variance_)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the coordinates of each row along the components."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        weights = self.components_ / self.scale_
        if self.whiten:
            weights = weights / np.sqrt(self.explained_variance_)[:, None]
        # The mean is taken from the rows, not from the products: large means would cancel there.
        return map_rows(
            lambda rows: (rows - self.mean_) @ weights.T,
            inputs,
            (len(inputs), self.n_components_),
            light=True,
        )

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Return the rows with these coordinates: projections, where components were left out."""
        check_is_fitted(self)
        coordinates = coordinate_table(X, self.n_components_)
        if self.whiten:
            coordinates = coordinates * np.sqrt(self.explained_variance_)
        return coordinates @ self.components_ * self.scale_ + self.mean_


@dataclass(frozen=True)
class ProbabilisticParameters:
    """The fitted parameters, named as the attributes of the learner."""

    mean: np.ndarray
    loadings: np.ndarray
    noise_variance: float
    eigenvalues: np.ndarray
    n_components: int


class ProbabilisticComponents(ClassNamePrefixFeaturesOutMixin, OnePass, Transformer):
    r"""Principal components as a density: a Gaussian that is spherical but for a few directions.

    Parameters
    ----------
    n_components
        Number of components, fewer than columns.

    Attributes
    ----------
    loadings_ : ndarray of shape (n_features, n_components_)
        Weights :math:`V`; their columns point along principal components.
    noise_variance_ : float
        Variance :math:`\sigma^2` of all other directions.
    eigenvalues_ : ndarray of shape (n_features,)
        Eigenvalues :math:`\lambda_j` of the covariance matrix (divided by :math:`N`).
    mean_ : ndarray of shape (n_features,)
        Column means :math:`m`.
    n_components_ : int
        Number of components.
    statistics_ : PooledMoments
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: x = m + V z + \varepsilon, \qquad z \sim N(0, I), \quad
              \varepsilon \sim N(0, \sigma^2 I)

    The likelihood is largest at :math:`V = W (\Lambda - \sigma^2 I)^{1/2}` and
    :math:`\sigma^2` the mean of the eigenvalues that are left out [tipping1999]_. It is factor
    analysis with equal noise in all columns (SIT1305 II). `transform` gives
    :math:`E[z \mid x]`; as :math:`\sigma^2 \to 0` these are whitened principal components.

    .. [tipping1999] M. E. Tipping and C. M. Bishop, "Probabilistic principal component analysis",
       Journal of the Royal Statistical Society B 61, 611-622, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.reduction import ProbabilisticComponents
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(2000, 1)) * [3.0, 0.0, 0.0] + random.normal(size=(2000, 3))
    >>> model = ProbabilisticComponents(1).fit(X)
    >>> model.loadings_.ravel().round(1) + 0.0, round(model.noise_variance_, 1)
    (array([3., 0., 0.]), 1.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")]
    }

    def __init__(self, n_components: int = 1) -> None:
        self.n_components = n_components

    def _statistics(self, chunk: Chunk, parameters: None) -> PooledMoments:
        return table_moments(chunk)

    def _update(self, statistics: PooledMoments) -> ProbabilisticParameters:
        table = covariance(statistics)
        n_columns = len(table.mean)
        if self.n_components >= n_columns:
            raise DataError(
                f"n_components={self.n_components}: the noise needs a direction of its own, so "
                f"fewer components than columns are possible, and X has n_features={n_columns}."
            )
        # Maximum likelihood divides by the number of rows.
        axes = principal_axes(table.matrix * ((table.weight - 1.0) / table.weight))
        noise = float(axes.variances[self.n_components :].mean())
        if noise <= 0.0 or axes.rank <= self.n_components:
            raise DataError(
                f"n_components={self.n_components} explain all variance of X, so that no noise is "
                "left and the likelihood has no bound; ask for fewer, or give more rows."
            )
        excess = np.sqrt(axes.variances[: self.n_components] - noise)
        return ProbabilisticParameters(
            mean=table.mean,
            loadings=axes.directions[:, : self.n_components] * excess,
            noise_variance=noise,
            eigenvalues=axes.variances,
            n_components=self.n_components,
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the mean of each row's hidden coordinates."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        # The columns of V are orthogonal, so V'V + noise is diagonal.
        norms = (self.loadings_**2).sum(axis=0) + self.noise_variance_
        return (inputs - self.mean_) @ (self.loadings_ / norms)

    def inverse_transform(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable row for hidden coordinates."""
        check_is_fitted(self)
        return coordinate_table(X, self.n_components_) @ self.loadings_.T + self.mean_

    def get_covariance(self) -> np.ndarray:
        r"""Return the covariance matrix :math:`V V^T + \sigma^2 I` of the model."""
        check_is_fitted(self)
        noise = self.noise_variance_ * np.eye(len(self.mean_))
        return self.loadings_ @ self.loadings_.T + noise

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        deviations = inputs - self.mean_
        norms = (self.loadings_**2).sum(axis=0)
        along = deviations @ self.loadings_
        noise, n_columns = self.noise_variance_, len(self.mean_)
        # By Woodbury's identity: only as many numbers per row as there are components.
        explained = (along**2 / (norms + noise)).sum(axis=1)
        squares = ((deviations**2).sum(axis=1) - explained) / noise
        log_determinant = np.log(norms + noise).sum() + (n_columns - len(norms)) * np.log(noise)
        return -0.5 * (n_columns * LOG_TWO_PI + log_determinant + squares)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return the log-likelihood of the rows of `X`."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the density."""
        check_is_fitted(self)
        random = generator(random_state)
        hidden = random.normal(size=(n_samples, self.n_components_))
        noise = random.normal(size=(n_samples, len(self.mean_)))
        return self.mean_ + hidden @ self.loadings_.T + np.sqrt(self.noise_variance_) * noise


def coordinate_table(X: ArrayLike, n_components: int) -> np.ndarray:
    """Return coordinates as float64, after a check that they are as many as components."""
    coordinates = np.asarray(X, dtype=np.float64)
    if coordinates.ndim != 2 or coordinates.shape[1] != n_components:
        raise DataError(
            f"X must have {n_components} columns, one for each component; got shape "
            f"{coordinates.shape}."
        )
    return coordinates


def _scale(table: Covariance) -> np.ndarray:
    """Return what columns are divided by; a constant one stays constant whatever it is."""
    deviations = table.deviations
    return np.where(deviations > 0.0, deviations, 1.0)


def _component_count(
    n_components: int | float | None, axes: PrincipalAxes, shares: np.ndarray
) -> int:
    if n_components is None:
        return axes.rank
    if n_components < 1:
        # One more than the sums that fall short, rounding apart.
        return min(int((shares.cumsum() < n_components - 1e-12).sum()) + 1, axes.rank)
    check_count(int(n_components), len(shares))
    if n_components > axes.rank:
        warn_caller(
            f"n_components={n_components}: X varies in {axes.rank} directions only, which are all "
            "components there are.",
            DataWarning,
        )
    return min(int(n_components), axes.rank)
