"""Bayesian linear regression whose noise is unknown too: a normal-gamma prior."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from scipy.special import gammaln

from verulam.base import DataError, Interval, Seed, StrOptions, check_is_fitted, generator
from verulam.bayes._families.multivariate import as_definite
from verulam.bayes._regression.factor import RegressionFactor
from verulam.bayes._regression.linear import LinearModel
from verulam.bayes._regression.predictions import Predictions


@dataclass(frozen=True)
class NormalGammaPosterior:
    """The fitted parameters, named as the attributes of the regressor."""

    coef: np.ndarray
    intercept: float
    covariance: np.ndarray
    noise_shape: float
    noise_rate: float
    log_evidence: float


class NormalGammaRegression(LinearModel):
    r"""Linear regression with a normal-gamma prior of weights and noise precision.

    Parameters
    ----------
    estimate
        "full" averages over weights and noise, so that targets have Student's t; "map" takes the
        likeliest of both; "ml" is least squares.
    prior_mean
        Prior mean :math:`\mu_0` of the weights: a number for all, or one each.
    prior_precision
        Prior precision :math:`\Sigma_0` of the weights in units of the noise precision: a number
        :math:`\alpha` for :math:`\alpha I`, which makes ridge regression, or a matrix.
    noise_shape, noise_rate
        Those of the gamma prior of the noise precision, :math:`a_0` and :math:`b_0`.
    fit_intercept
        Whether there is a constant, with a flat prior.
    degree
        Highest degree of products of inputs among the basis functions.
    basis
        Function of a table of inputs that returns a table of basis functions, in place of `degree`;
        None for none.

    Attributes
    ----------
    coef_ : ndarray of shape (n_weights,)
        Posterior mean :math:`\mu_N` of the weights.
    intercept_ : float
        The constant.
    covariance_ : ndarray of shape (n_weights, n_weights)
        Matrix :math:`\Sigma_N`; the covariance of the weights is :math:`\Sigma_N / \beta`.
    noise_shape_, noise_rate_ : float
        Those of the posterior of the noise precision, :math:`a_N` and :math:`b_N`.
    log_evidence_ : float
        Logarithm of the probability of the targets, weights and noise averaged out.
    centre_ : ndarray of shape (n_weights,)
        Mean of the basis functions, about which weights apply; zero without an intercept.
    mean_ : float
        Prediction there.
    statistics_ : RegressionFactor
        Triangular factor of the training data, which `partial_fit` updates.

    Notes
    -----
    .. math:: \Sigma_N = (\Phi^T \Phi + \Sigma_0)^{-1}, \quad \mu_N = \Sigma_N (\Phi^T r + \Sigma_0
        \mu_0), \quad a_N = a_0 + \tfrac N2, \quad b_N = b_0 + \tfrac12 (r^T r + \mu_0^T \Sigma_0
        \mu_0 - \mu_N^T \Sigma_N^{-1} \mu_N)

    :math:`\Sigma_0` is a precision; the printed :math:`b_N` has :math:`\Sigma_N` for its inverse.
    Predictions are Student's t with :math:`2 a_N` degrees of freedom and squared scale :math:`b_N /
    a_N\, (1 + \phi^T \Sigma_N \phi)`. See Alpaydin 16.4.2 (16.26).

    Examples
    --------
    >>> from verulam.bayes import NormalGammaRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.1, 0.9, 2.1, 2.9]
    >>> line = NormalGammaRegression(prior_precision=0.1).fit(X, y)
    >>> intervals = line.predict_interval([[1.5], [10.0]], level=0.9)
    >>> intervals.lower.round(1), intervals.upper.round(1)
    (array([0. , 4.3]), array([ 3. , 14.7]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimate": [StrOptions({"ml", "map", "full"})],
        "prior_mean": [Real, "array-like"],
        "prior_precision": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "noise_shape": [Interval(Real, 0, None, closed="neither")],
        "noise_rate": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "basis": [callable, None],
    }

    def __init__(
        self,
        *,
        estimate: str = "full",
        prior_mean: float | ArrayLike = 0.0,
        prior_precision: float | ArrayLike = 1.0,
        noise_shape: float = 1.0,
        noise_rate: float = 1.0,
        fit_intercept: bool = True,
        degree: int = 1,
        basis: Callable[[np.ndarray], Any] | None = None,
    ) -> None:
        self.estimate = estimate
        self.prior_mean = prior_mean
        self.prior_precision = prior_precision
        self.noise_shape = noise_shape
        self.noise_rate = noise_rate
        self.fit_intercept = fit_intercept
        self.degree = degree
        self.basis = basis

    def _update(self, statistics: RegressionFactor) -> NormalGammaPosterior:
        factor, weight, first = statistics.factor, statistics.weight, int(self.fit_intercept)
        design, targets = factor[first:, first:-1], factor[first:, -1]
        n = weight - first
        prior_mean, precision = self._prior(design.shape[1])
        self._remember_means(factor)
        self._estimate = self.estimate
        self._mean_variance = 1.0 / weight
        if self.estimate == "ml":
            precision = np.zeros_like(precision)
            coef, inverse = _least_squares(design, targets)
        else:
            root = cho_factor(design.T @ design + precision)
            # About the prior mean, so that large offsets do not cancel.
            coef = prior_mean + cho_solve(root, design.T @ (targets - design @ prior_mean))
            inverse = cho_solve(root, np.eye(len(coef)))
        residual, shift = targets - design @ coef, coef - prior_mean
        # The same as r'r + mu_0' S_0 mu_0 - mu_N' S_N^-1 mu_N, as a sum of squares.
        squares = float(residual @ residual + shift @ precision @ shift)
        shape, rate = self.noise_shape + 0.5 * n, self.noise_rate + 0.5 * squares
        if self.estimate == "ml":
            shape, rate = 0.5 * weight, max(0.5 * squares, 1e-200)
        return NormalGammaPosterior(
            coef=coef,
            intercept=float(self.mean_ - self.centre_ @ coef),
            covariance=inverse,
            noise_shape=float(shape),
            noise_rate=rate,
            log_evidence=self._log_evidence(inverse, precision, n, weight, rate),
        )

    def _log_evidence(
        self, inverse: np.ndarray, precision: np.ndarray, n: float, weight: float, rate: float
    ) -> float:
        if self.estimate == "ml":
            return np.nan
        determinants = np.linalg.slogdet(precision)[1] + np.linalg.slogdet(inverse)[1]
        after = self.noise_shape + 0.5 * n
        constant = 0.0 if n == weight else np.log(weight)
        return float(
            0.5 * (determinants - n * np.log(2.0 * np.pi) - constant)
            + self.noise_shape * np.log(self.noise_rate)
            - after * np.log(rate)
            + gammaln(after)
            - gammaln(self.noise_shape)
        )

    def _prior(self, n_weights: int) -> tuple[np.ndarray, np.ndarray]:
        """Return prior mean and precision matrix of the weights."""
        mean = np.asarray(self.prior_mean, dtype=np.float64)
        if mean.shape not in ((), (n_weights,)) or not np.isfinite(mean).all():
            raise DataError(
                f"prior_mean must be a finite number or one for each of the {n_weights} weights; "
                f"got shape {mean.shape}."
            )
        if np.ndim(self.prior_precision) == 0:
            precision = float(self.prior_precision) * np.eye(n_weights)  # type: ignore[arg-type]
        else:
            precision = as_definite(self.prior_precision, "prior_precision", n_weights)
        return np.broadcast_to(mean, n_weights).copy(), precision

    def _remember_means(self, factor: np.ndarray) -> None:
        self._fitted_intercept = bool(self.fit_intercept)
        if self.fit_intercept:
            self.centre_, self.mean_ = factor[0, 1:-1] / factor[0, 0], factor[0, -1] / factor[0, 0]
        else:
            self.centre_, self.mean_ = np.zeros(len(factor) - 1), 0.0

    def predict_distribution(self, X: ArrayLike) -> Predictions:
        """Return the distribution of the target of each row: Student's t for "full"."""
        design = self._design(X)
        mean = design @ self.coef_ + self.mean_
        if self._estimate == "map":
            # The likeliest precision together with the weights, whose normal factor has it too.
            precision = (self.noise_shape_ + 0.5 * len(self.coef_) - 1.0) / self.noise_rate_
            return Predictions.of(mean, np.full(len(mean), 1.0 / max(precision, 1e-300)))
        variances = self.noise_rate_ / self.noise_shape_ * (1.0 + self._model_variances(design))
        return Predictions.of(
            mean, variances, np.inf if self._estimate == "ml" else 2.0 * self.noise_shape_
        )

    def sample_models(
        self, n: int = 10, random_state: Seed = None
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Return `n` draws of the weights, one row each, and of the noise precision.

        Parameters
        ----------
        n
            Number of draws.
        random_state
            Seed.

        Notes
        -----
        :math:`\beta \sim \mathrm{Gamma}(a_N, b_N)`, then :math:`w \sim \mathcal N(\mu_N, \Sigma_N /
        \beta)`. See Alpaydin 16.4.2.
        """
        check_is_fitted(self)
        rng = generator(random_state)
        precisions = rng.gamma(self.noise_shape_, 1.0 / self.noise_rate_, size=n)
        noise = rng.standard_normal((n, len(self.coef_)))
        root = np.linalg.cholesky(self.covariance_)
        return self.coef_ + noise @ root.T / np.sqrt(precisions)[:, None], precisions

    def sample_functions(self, X: ArrayLike, n: int = 10, random_state: Seed = None) -> np.ndarray:
        """Return the values at rows of `n` functions that are drawn from the posterior.

        Parameters
        ----------
        X
            Rows.
        n
            Number of functions.
        random_state
            Seed.
        """
        rng = generator(random_state)
        weights, precisions = self.sample_models(n, rng)
        levels = np.full(n, self.mean_)
        if self._fitted_intercept:
            levels = rng.normal(self.mean_, np.sqrt(self._mean_variance / precisions))
        return np.asarray(levels[:, None] + weights @ self._design(X).T)

    def _noise_free_covariance(self) -> np.ndarray:
        return np.asarray(self.covariance_)


def _least_squares(design: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shortest least-squares weights, and the inverse of the normal equations."""
    inverse = np.linalg.pinv(design, rcond=1e-13)
    return inverse @ targets, inverse @ inverse.T
