"""Distributions of shares, vectors and matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import gammaln

from verulam.base import DataError, Seed, generator
from verulam.bayes._families.distributions import Distribution, check_positive, is_number


@dataclass(frozen=True, eq=False)
class Categorical(Distribution):
    """One of several classes, coded 0, 1, ...

    Attributes
    ----------
    probabilities : ndarray of shape (n_classes,)
        Probability of each class.
    """

    probabilities: np.ndarray

    def __post_init__(self) -> None:
        shares = _vector(self, "probabilities")
        if (shares < 0).any() or not np.isclose(shares.sum(), 1.0):
            raise DataError("probabilities must not be negative and must sum to 1.")

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the log-probability of each class code."""
        codes = np.asarray(x)
        with np.errstate(divide="ignore"):
            return np.log(self.probabilities)[codes.astype(np.intp)]

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` class codes."""
        return generator(random_state).choice(len(self.probabilities), size=n, p=self.probabilities)

    @property
    def mean(self) -> np.ndarray:
        """Expected share of each class."""
        return self.probabilities

    @property
    def mode(self) -> int:
        """The likeliest class."""
        return int(np.argmax(self.probabilities))


@dataclass(frozen=True, eq=False)
class Dirichlet(Distribution):
    r"""The Dirichlet distribution of shares, :math:`p(q) \propto \prod_i q_i^{\alpha_i - 1}`.

    Attributes
    ----------
    alpha : ndarray of shape (n_classes,)
        Imaginary counts :math:`\alpha_i`.

    Examples
    --------
    >>> from verulam.bayes import Dirichlet
    >>> Dirichlet([2.0, 3.0, 5.0]).mean
    array([0.2, 0.3, 0.5])
    """

    alpha: np.ndarray

    def __post_init__(self) -> None:
        check_concentrations(_vector(self, "alpha"), "Dirichlet")

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the log-density of each row of shares."""
        shares = np.asarray(x, dtype=np.float64)
        normaliser = gammaln(self.alpha.sum()) - gammaln(self.alpha).sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            # A share of zero with an exponent of zero contributes nothing.
            terms = np.where(self.alpha == 1.0, 0.0, (self.alpha - 1.0) * np.log(shares))
        inside = (shares >= 0).all(axis=-1) & np.isclose(shares.sum(axis=-1), 1.0)
        return np.where(inside, normaliser + terms.sum(axis=-1), -np.inf)

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` rows of shares."""
        return generator(random_state).dirichlet(self.alpha, size=n)

    @property
    def mean(self) -> np.ndarray:
        """Expected shares."""
        return self.alpha / self.alpha.sum()

    @property
    def mode(self) -> np.ndarray:
        """The likeliest shares; NaN where a count below 1 makes the density infinite, or all 1."""
        if (self.alpha < 1.0).any() or (self.alpha == 1.0).all():
            return np.full(len(self.alpha), np.nan)
        return (self.alpha - 1.0) / (self.alpha.sum() - len(self.alpha))

    @property
    def variance(self) -> np.ndarray:
        """Variance of each share."""
        return self.mean * (1.0 - self.mean) / (self.alpha.sum() + 1.0)


@dataclass(frozen=True, eq=False)
class MultivariateNormal(Distribution):
    """The Gaussian distribution of a vector.

    Attributes
    ----------
    mean : ndarray of shape (n_columns,)
        Expected value.
    covariance : ndarray of shape (n_columns, n_columns)
        Covariance matrix.
    """

    mean: np.ndarray
    covariance: np.ndarray

    def __post_init__(self) -> None:
        _vector(self, "mean")
        _definite(self, "covariance", len(self.mean))

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the log-density of each row."""
        squares, log_determinant = _whitened(x, self.mean, self.covariance)
        return -0.5 * (len(self.mean) * np.log(2.0 * np.pi) + log_determinant + squares)

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` rows."""
        noise = generator(random_state).standard_normal((n, len(self.mean)))
        return self.mean + noise @ cholesky(self.covariance, lower=True).T

    @property
    def mode(self) -> np.ndarray:
        """The mean."""
        return self.mean

    @property
    def variance(self) -> np.ndarray:
        """Variance of each column."""
        return np.diagonal(self.covariance)


@dataclass(frozen=True, eq=False)
class MultivariateT(Distribution):
    r"""Student's t of a vector; a Gaussian whose covariance is not known.

    Attributes
    ----------
    df
        Degrees of freedom :math:`\nu`.
    location : ndarray of shape (n_columns,)
        Centre.
    squared_scale : ndarray of shape (n_columns, n_columns)
        Matrix of squared scales; the covariance is :math:`\nu / (\nu - 2)` times it.
    """

    df: float
    location: np.ndarray
    squared_scale: np.ndarray

    def __post_init__(self) -> None:
        check_positive(self, "df")
        _vector(self, "location")
        _definite(self, "squared_scale", len(self.location))

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the log-density of each row."""
        squares, log_determinant = _whitened(x, self.location, self.squared_scale)
        d, half = len(self.location), 0.5 * (self.df + len(self.location))
        constant = gammaln(half) - gammaln(0.5 * self.df) - 0.5 * d * np.log(self.df * np.pi)
        return constant - 0.5 * log_determinant - half * np.log1p(squares / self.df)

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` rows."""
        rng = generator(random_state)
        noise = rng.standard_normal((n, len(self.location)))
        scales = np.sqrt(self.df / rng.chisquare(self.df, size=n))
        return self.location + scales[:, None] * (
            noise @ cholesky(self.squared_scale, lower=True).T
        )

    @property
    def mean(self) -> np.ndarray:
        """The centre; NaN where there are too few degrees of freedom for a mean."""
        return self.location if self.df > 1 else np.full(len(self.location), np.nan)

    @property
    def mode(self) -> np.ndarray:
        """The centre."""
        return self.location

    @property
    def variance(self) -> np.ndarray:
        """Variance of each column; infinite for two degrees of freedom or fewer."""
        factor = self.df / (self.df - 2.0) if self.df > 2 else np.inf
        return factor * np.diagonal(self.squared_scale)


@dataclass(frozen=True, eq=False)
class Wishart(Distribution):
    r"""The Wishart distribution of a precision matrix, with mean :math:`\nu V`.

    Attributes
    ----------
    df
        Degrees of freedom :math:`\nu`, above the number of columns less one.
    scale : ndarray of shape (n_columns, n_columns)
        Matrix :math:`V`.
    """

    df: float
    scale: np.ndarray

    def __post_init__(self) -> None:
        _definite(self, "scale")
        check_freedom(self.df, len(self.scale), type(self).__name__)

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the log-density of a matrix, or of each of a stack of them."""
        matrices = np.asarray(x, dtype=np.float64)
        frozen = stats.wishart(self.df, self.scale)
        # SciPy has the matrices of a stack along the last axis.
        return np.asarray(
            frozen.logpdf(np.moveaxis(matrices, 0, -1) if matrices.ndim > 2 else matrices)
        )

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` matrices."""
        draws = stats.wishart(self.df, self.scale).rvs(n, random_state=generator(random_state))
        return np.asarray(draws).reshape(n, *self.scale.shape)

    @property
    def mean(self) -> np.ndarray:
        """Expected matrix."""
        return self.df * self.scale

    @property
    def mode(self) -> np.ndarray:
        """The likeliest matrix; zero where there are too few degrees of freedom for another."""
        return max(self.df - len(self.scale) - 1.0, 0.0) * self.scale


@dataclass(frozen=True, eq=False)
class InverseWishart(Distribution):
    r"""The distribution of a covariance matrix whose inverse is Wishart.

    Attributes
    ----------
    df
        Degrees of freedom :math:`\nu`.
    scatter : ndarray of shape (n_columns, n_columns)
        Matrix :math:`V^{-1}`; the mean is :math:`V^{-1} / (\nu - d - 1)`.
    """

    df: float
    scatter: np.ndarray

    def __post_init__(self) -> None:
        _definite(self, "scatter")
        check_freedom(self.df, len(self.scatter), type(self).__name__)

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the log-density of a matrix, or of each of a stack of them."""
        matrices = np.asarray(x, dtype=np.float64)
        frozen = stats.invwishart(self.df, self.scatter)
        # SciPy has the matrices of a stack along the last axis.
        return np.asarray(
            frozen.logpdf(np.moveaxis(matrices, 0, -1) if matrices.ndim > 2 else matrices)
        )

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` matrices."""
        draws = stats.invwishart(self.df, self.scatter).rvs(n, random_state=generator(random_state))
        return np.asarray(draws).reshape(n, *self.scatter.shape)

    @property
    def mean(self) -> np.ndarray:
        """Expected matrix; infinite where there are too few degrees of freedom."""
        freedom = self.df - len(self.scatter) - 1.0
        return self.scatter / freedom if freedom > 0 else np.full(self.scatter.shape, np.inf)

    @property
    def mode(self) -> np.ndarray:
        """The likeliest matrix."""
        return self.scatter / (self.df + len(self.scatter) + 1.0)


def check_concentrations(alpha: np.ndarray, owner: str) -> None:
    """Refuse imaginary counts that are not above zero, and name the first of them."""
    wrong = np.flatnonzero(~(np.isfinite(alpha) & (alpha > 0)))
    if len(wrong) or len(alpha) < 2:
        place = f"; entry {wrong[0]} is {alpha[wrong[0]]:g}" if len(wrong) else ""
        raise DataError(
            f"alpha of {owner} must have a finite number above 0 for each of two classes or more"
            f"{place}."
        )


def check_freedom(df: float, n_columns: int, owner: str) -> None:
    """Refuse degrees of freedom for which a Wishart density has no integral."""
    if not is_number(df) or not n_columns - 1 < float(df) < np.inf:
        raise DataError(
            f"df of {owner} must be above the number of columns less one, {n_columns - 1}; "
            f"got {df!r}."
        )


def _vector(record: Any, name: str) -> np.ndarray:
    """Store a field of a record as a vector of finite numbers, and return it."""
    try:
        vector = np.asarray(getattr(record, name), dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty((0, 0))
    if vector.ndim != 1 or not len(vector) or not np.isfinite(vector).all():
        raise DataError(
            f"{name} of {type(record).__name__} must be a vector of finite numbers; got "
            f"{getattr(record, name)!r}."
        )
    object.__setattr__(record, name, vector)
    return vector


def _definite(record: Any, name: str, size: int | None = None) -> None:
    """Store a field of a record as a positive definite matrix."""
    matrix = as_definite(getattr(record, name), f"{name} of {type(record).__name__}", size)
    object.__setattr__(record, name, matrix)


def as_definite(values: Any, what: str, size: int | None = None) -> np.ndarray:
    """Return a positive definite matrix, or say why it is none."""
    try:
        matrix = np.asarray(values, dtype=np.float64)
        got = f"shape {matrix.shape}"
    except (TypeError, ValueError):
        matrix, got = np.empty(0), repr(values)
    shape = (size or (len(matrix) if matrix.ndim else 0),) * 2
    if matrix.shape != shape or not matrix.size or not np.isfinite(matrix).all():
        raise DataError(
            f"{what} must be a square matrix of finite numbers"
            f"{'' if size is None else f' with {size} rows'}; got {got}."
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12 * np.abs(matrix).max()):
        raise DataError(f"{what} must be symmetric.")
    try:
        cholesky(matrix, lower=True)
    except LinAlgError:
        raise DataError(
            f"{what} must be positive definite; its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(matrix)[0]:.3g}."
        ) from None
    return 0.5 * (matrix + matrix.T)


def _whitened(x: ArrayLike, centre: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """Return Mahalanobis' squares of rows, and the logarithm of the determinant."""
    rows = np.asarray(x, dtype=np.float64)
    if rows.shape[-1:] != centre.shape:
        raise DataError(f"x must have {len(centre)} columns; got shape {rows.shape}.")
    root = cholesky(matrix, lower=True)
    deviations = (rows - centre).reshape(-1, len(centre))
    white = solve_triangular(root, deviations.T, lower=True)
    squares = np.einsum("ij,ij->j", white, white).reshape(rows.shape[:-1])
    return squares, 2.0 * float(np.log(np.diagonal(root)).sum())
