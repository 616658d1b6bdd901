"""Mean-field approximations: factors of a posterior, updated one by one with the others' means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    FUNCTION,
    NUMBER,
    DataError,
    Interval,
    Kind,
    Regressor,
    check_is_fitted,
    checked_arguments,
    checked_fit,
    validate_data,
    warn_caller,
)
from verulam.bayes._mixtures.checks import check_shape_and_rate, check_whole

_LOG_TWO_PI = float(np.log(2.0 * np.pi))

FUNCTIONS = Kind(
    "a list of one function or more",
    lambda value: isinstance(value, list | tuple) and len(value) > 0 and all(map(callable, value)),
)


@dataclass(frozen=True, eq=False)
class MeanFieldRun:
    """Cyclic updates of the factors of an approximate posterior.

    Attributes
    ----------
    factors
        What the last update gave.
    curve : list of float
        The bound on the log-evidence after each cycle.
    converged
        Whether the last cycle raised the bound by no more than the tolerance.
    """

    factors: Any
    curve: list[float]
    converged: bool

    @property
    def lower_bound(self) -> float:
        """The bound on the log-evidence that was reached."""
        return self.curve[-1]


@checked_arguments(updates=FUNCTIONS, bound=FUNCTION, tol=NUMBER)
def mean_field(
    factors: Any,
    updates: Sequence[Callable[[Any], Any]],
    bound: Callable[[Any], float],
    *,
    max_iter: int = 500,
    tol: float = 1e-8,
) -> MeanFieldRun:
    r"""Update the factors of an approximate posterior in turn until the bound settles.

    Parameters
    ----------
    factors
        The first ones, as any object.
    updates
        Functions that take the factors and return them with one of them at its best, given the
        expectations of the others.
    bound
        Function that returns the bound on the log-evidence.
    max_iter
        Most cycles over all updates.
    tol
        Stop when a cycle raises the bound by no more than this, relative to its size.

    Notes
    -----
    With :math:`q(Z) = \prod_i q_i(Z_i)` the divergence :math:`D_{KL}(q \| p(Z \mid X))` is the gap
    between :math:`\ln p(X)` and the bound :math:`E_q[\ln p(X, Z)] - E_q[\ln q(Z)]`. Each update
    sets :math:`\ln q_i = E_{j \ne i}[\ln p(X, Z)]` up to a constant, which cannot lower the bound
    (Alpaydin 16.7, 16.42-16.43). A bound that falls is a sign of a wrong update and is refused.

    Examples
    --------
    The correlated Gaussian with precisions 2 and 2 and -1 between them, factor by factor:

    >>> from verulam.bayes import mean_field
    >>> updates = [lambda m: ((1 + m[1]) / 2, m[1]), lambda m: (m[0], (1 + m[0]) / 2)]
    >>> bound = lambda m: m[0] + m[1] + m[0] * m[1] - m[0] ** 2 - m[1] ** 2
    >>> run = mean_field((0.0, 0.0), updates, bound)
    >>> [round(mean, 4) for mean in run.factors], round(run.lower_bound, 4)
    ([1.0, 1.0], 1.0)
    """
    check_whole(max_iter, "max_iter")
    curve: list[float] = []
    for _ in range(max_iter):
        for update in updates:
            factors = update(factors)
        curve.append(float(bound(factors)))
        if not np.isfinite(curve[-1]):
            raise DataError(
                f"the bound is {curve[-1]} after cycle {len(curve)}; it must be finite."
            )
        if len(curve) > 1:
            scale = max(1.0, abs(curve[-1]))
            gain = curve[-1] - curve[-2]
            # No exact update lowers the bound by more than rounding.
            if gain < -1e-7 * scale:
                raise DataError(
                    f"the bound fell from {curve[-2]:.8g} to {curve[-1]:.8g} in cycle {len(curve)}:"
                    " one of the updates does not fit the bound."
                )
            if gain <= tol * scale:
                return MeanFieldRun(factors, curve, True)
    return MeanFieldRun(factors, curve, False)


@dataclass(frozen=True)
class GammaFactor:
    """A gamma distribution of precisions: one, or several with a shape and a rate each.

    Attributes
    ----------
    shape, rate
        Parameters.
    """

    shape: Any
    rate: Any

    @property
    def mean(self) -> Any:
        """Expected precision."""
        return self.shape / self.rate

    @property
    def mean_log(self) -> Any:
        """Expected logarithm."""
        return digamma(self.shape) - np.log(self.rate)

    def divergence(self, prior: "GammaFactor") -> float:
        """Return the Kullback-Leibler divergence from a prior, summed."""
        terms = (
            (self.shape - prior.shape) * digamma(self.shape)
            - gammaln(self.shape)
            + gammaln(prior.shape)
            + prior.shape * (np.log(self.rate) - np.log(prior.rate))
            + self.shape * (prior.rate - self.rate) / self.rate
        )
        return float(np.sum(terms))


@dataclass(frozen=True)
class LineFactors:
    r"""Factors of a regression: :math:`q(w)\, q(\beta)\, q(\alpha)`.

    Attributes
    ----------
    mean, covariance
        Of the weights.
    noise
        Precision of the noise, :math:`\beta`.
    weight
        Precision of the weights, :math:`\alpha`.
    """

    mean: np.ndarray
    covariance: np.ndarray
    noise: GammaFactor
    weight: GammaFactor


class VariationalRegression(Regressor):
    r"""Linear regression with weights and precisions averaged out, as independent factors.

    Parameters
    ----------
    weight_precision
        Precision of the weights; "learned" gives it a gamma prior and a factor.
    precision_prior
        Shape and rate of the gamma priors.
    fit_intercept
        Whether there is a constant. Columns and targets are then centred, which is a flat prior
        on it.
    max_iter
        Most cycles.
    tol
        Stop when a cycle raises the bound by no more than this, relative to its size.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Expected weights.
    covariance_ : ndarray of shape (n_features, n_features)
        Their covariance.
    intercept_ : float
        Constant.
    noise_precision_ : float
        Expected precision of the noise.
    weight_precision_ : float
        Expected precision of the weights.
    lower_bound_ : float
        Bound on the log-evidence.
    objective_curve_ : list of float
        The bound after each cycle; it never falls.
    n_iter_ : int
        Number of cycles.

    Notes
    -----
    The posterior of weights and noise precision is taken as a product :math:`q(w)\, q(\beta)`, as
    if they were independent (Alpaydin 16.7):

    .. math:: \Sigma = (E[\alpha] I + E[\beta] X^T X)^{-1}, \quad \mu = E[\beta] \Sigma X^T r, \quad
              \beta \sim \text{gamma}\left(a + \tfrac N2,\;
              b + \tfrac12 E\|r - Xw\|^2\right)

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import VariationalRegression
    >>> x = np.arange(20.0)[:, None]
    >>> y = 3 * x[:, 0] + 1 + np.tile([0.5, -0.5], 10)
    >>> line = VariationalRegression().fit(x, y)
    >>> line.coef_.round(2), round(line.intercept_, 1), round(line.noise_precision_, 1)
    (array([2.99]), 1.1, 3.8)
    >>> mean, std = line.predict([[10.0]], return_std=True)
    >>> mean.round(1), std.round(1)
    (array([31.]), array([0.5]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "weight_precision": [Interval(Real, 0, None, closed="neither"), str],
        "precision_prior": [tuple, list],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        weight_precision: float | str = "learned",
        *,
        precision_prior: tuple[float, float] = (1e-3, 1e-3),
        fit_intercept: bool = True,
        max_iter: int = 500,
        tol: float = 1e-10,
    ) -> None:
        self.weight_precision = weight_precision
        self.precision_prior = precision_prior
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    @checked_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the factors."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        if isinstance(self.weight_precision, str) and self.weight_precision != "learned":
            raise DataError(
                "weight_precision must be a number above 0 or 'learned'; got "
                f"{self.weight_precision!r}."
            )
        prior = GammaFactor(*check_shape_and_rate(self.precision_prior, "precision_prior"))
        self._origin = X.mean(axis=0) if self.fit_intercept else np.zeros(X.shape[1])
        centre = float(y.mean()) if self.fit_intercept else 0.0
        run = self._run(X - self._origin, y - centre, prior)
        if not run.converged:
            warn_caller(
                f"VariationalRegression had not converged after max_iter={self.max_iter} cycles; "
                "raise max_iter or tol.",
                ConvergenceWarning,
            )
        factors = run.factors
        self.coef_, self.covariance_ = factors.mean, factors.covariance
        self.intercept_ = centre - float(self._origin @ self.coef_)
        self.noise_precision_ = float(factors.noise.mean)
        self.weight_precision_ = float(factors.weight.mean)
        self.lower_bound_, self.objective_curve_ = run.lower_bound, run.curve
        self.n_iter_ = len(run.curve)
        return self

    def _run(self, X: np.ndarray, y: np.ndarray, prior: GammaFactor) -> MeanFieldRun:
        n_rows, n_columns = X.shape
        gram, cross, square = X.T @ X, X.T @ y, float(y @ y)
        values, vectors = np.linalg.eigh(gram)
        learned = self.weight_precision == "learned"
        fixed = 1.0 if learned else float(self.weight_precision)

        def residual(factors: LineFactors) -> float:
            mean = factors.mean
            fit = square - 2.0 * float(mean @ cross) + float(mean @ gram @ mean)
            return max(fit, 0.0) + float(np.sum(gram * factors.covariance))

        def update_weights(factors: LineFactors) -> LineFactors:
            # In the axes of the inputs every precision is a number.
            inverse = 1.0 / (factors.weight.mean + factors.noise.mean * np.maximum(values, 0.0))
            covariance = (vectors * inverse) @ vectors.T
            mean = factors.noise.mean * (covariance @ cross)
            return LineFactors(mean, covariance, factors.noise, factors.weight)

        def update_noise(factors: LineFactors) -> LineFactors:
            rate = prior.rate + 0.5 * residual(factors)
            noise = GammaFactor(prior.shape + 0.5 * n_rows, rate)
            return LineFactors(factors.mean, factors.covariance, noise, factors.weight)

        def update_precision(factors: LineFactors) -> LineFactors:
            norm = float(factors.mean @ factors.mean + np.trace(factors.covariance))
            weight = GammaFactor(prior.shape + 0.5 * n_columns, prior.rate + 0.5 * norm)
            return LineFactors(factors.mean, factors.covariance, factors.noise, weight)

        def bound(factors: LineFactors) -> float:
            noise, weight = factors.noise, factors.weight
            likelihood = 0.5 * n_rows * (noise.mean_log - _LOG_TWO_PI)
            likelihood -= 0.5 * noise.mean * residual(factors)
            log_precision = weight.mean_log if learned else np.log(fixed)
            norm = float(factors.mean @ factors.mean + np.trace(factors.covariance))
            entropy = np.linalg.slogdet(factors.covariance)[1] + n_columns
            terms = likelihood + 0.5 * (n_columns * log_precision - weight.mean * norm + entropy)
            surplus = noise.divergence(prior) + (weight.divergence(prior) if learned else 0.0)
            return float(terms - surplus)

        start = GammaFactor(1.0, max(square / n_rows, 1e-12))
        known = GammaFactor(fixed, 1.0)
        first = LineFactors(np.zeros(n_columns), np.eye(n_columns), start, known)
        updates = [update_weights, update_noise, *([update_precision] if learned else [])]
        return mean_field(first, updates, bound, max_iter=self.max_iter, tol=self.tol)

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the expected target of each row, and its standard deviation if asked."""
        check_is_fitted(self)
        inputs = validate_data(self, X, reset=False, dtype=np.float64)
        mean = inputs @ self.coef_ + self.intercept_
        if not return_std:
            return mean
        rows = inputs - self._origin
        variances = np.einsum("ij,jk,ik->i", rows, self.covariance_, rows)
        return mean, np.sqrt(variances + 1.0 / self.noise_precision_)
