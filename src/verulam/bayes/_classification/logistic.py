"""Bayesian linear classification: logistic and probit links, by Laplace's method."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import expit, log_expit, log_ndtr, ndtr
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    NUMBERS,
    RANDOM_STATE,
    SEED,
    TEXT,
    WHOLE,
    Classifier,
    DataError,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_arguments,
    checked_fit,
    encode_classes,
    generator,
    validate_data,
    warn_caller,
)
from verulam.bayes._families.multivariate import as_definite

#: Nodes of the quadrature: enough for ten digits of these integrals.
_NODES = 64
#: Halvings of Newton's step before it is given up.
_HALVINGS = 40


def logistic_slopes(outputs: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return first and negative second derivatives of the log-likelihood by the linear output."""
    probability = expit(-signs * outputs)
    return signs * probability, probability * (1.0 - probability)


def probit_slopes(outputs: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same for the probit link."""
    margins = signs * outputs
    # The ratio of density to probability, from logarithms: both vanish far out.
    ratio = np.exp(-0.5 * margins**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(margins))
    return signs * ratio, ratio * (ratio + margins)


def logistic_integral(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""Return the mean of the sigmoid of a Gaussian, the sigmoid taken for a scaled probit."""
    return np.asarray(expit(mean / np.sqrt(1.0 + np.pi / 8.0 * variance)))


def probit_integral(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    r"""Return the mean of :math:`\Phi` of a Gaussian, which is exact."""
    return np.asarray(ndtr(mean / np.sqrt(1.0 + variance)))


@dataclass(frozen=True)
class Link:
    """A function from linear outputs to probabilities, with what Laplace's method needs of it."""

    probability: Callable[[np.ndarray], Any]
    log_probability: Callable[[np.ndarray], Any]
    slopes: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    integral: Callable[[np.ndarray, np.ndarray], np.ndarray]


LINKS = {
    "logit": Link(expit, log_expit, logistic_slopes, logistic_integral),
    "probit": Link(ndtr, log_ndtr, probit_slopes, probit_integral),
}


@checked_arguments(
    mean=NUMBERS, variance=NUMBERS, link=TEXT, integral=TEXT, n_draws=WHOLE, random_state=SEED
)
def averaged_probability(
    mean: ArrayLike,
    variance: ArrayLike,
    *,
    link: str = "logit",
    integral: str = "closed",
    n_draws: int = 1000,
    random_state: Seed = None,
) -> np.ndarray:
    r"""Return the mean of a sigmoid or probit function of a Gaussian.

    Parameters
    ----------
    mean, variance
        Moments of the linear output of each row.
    link
        "logit" or "probit".
    integral
        "closed": :math:`\Phi(\mu / \sqrt{1 + \sigma^2})`, exact for the probit link, and for the
        other :math:`\mathrm{sigmoid}(\mu / \sqrt{1 + \pi \sigma^2 / 8})`, as a sigmoid is nearly a
        probit function; "quadrature": by Gauss and Hermite; "sampling": by draws.
    n_draws
        Number of draws of "sampling".
    random_state
        Seed of "sampling".

    Notes
    -----
    See Alpaydin 16.4.4.

    Examples
    --------
    >>> from verulam.bayes import averaged_probability
    >>> averaged_probability([2.0], [4.0], integral="quadrature").round(3)
    array([0.775])
    >>> averaged_probability([2.0], [4.0], integral="closed").round(3)
    array([0.777])
    """
    if link not in LINKS:
        raise DataError(f'link must be "logit" or "probit"; got {link!r}.')
    if integral not in ("closed", "quadrature", "sampling"):
        raise DataError(f'integral must be "closed", "quadrature" or "sampling"; got {integral!r}.')
    means, variances = np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    if (variances < 0.0).any():
        raise DataError(f"variance must be 0 or more; got {variances.min():g}.")
    if integral == "closed":
        return LINKS[link].integral(means, variances)
    if integral == "quadrature":
        nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        weights = weights / weights.sum()
    else:
        nodes = generator(random_state).standard_normal(n_draws)
        weights = np.full(n_draws, 1.0 / n_draws)
    outputs = means[:, None] + np.sqrt(variances)[:, None] * nodes
    return np.asarray(LINKS[link].probability(outputs) @ weights)


class BayesianLogisticRegression(Classifier):
    r"""Linear classification with a Gaussian prior of the weights.

    Parameters
    ----------
    estimate
        "full" averages probabilities over the posterior of the weights; "map" takes its mode; "ml"
        has no prior.
    link
        "logit" for logistic, "probit" for probit regression.
    integral
        How "full" averages: "closed", "quadrature" or "sampling", as in `averaged_probability`.
    prior_mean
        Prior mean :math:`m_0` of the weights: a number for all, or one each.
    prior_covariance
        Prior covariance :math:`S_0` of the weights: a number for that multiple of the identity, or
        a matrix.
    fit_intercept
        Whether there is a constant, with a flat prior.
    n_draws
        Number of draws of "sampling".
    max_iter
        Most steps of Newton's method.
    tol
        Largest entry of the gradient at its end, in units of the number of rows.
    random_state
        Seed of "sampling".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The likeliest weights; one set for two classes, otherwise one for each class against the
        rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    covariances_ : ndarray of shape (1 or n_classes, n_weights, n_weights)
        Posterior covariance of the weights, the constant first if there is one.
    log_evidence_ : float
        Logarithm of the probability of the labels by Laplace's method, summed over the sets of
        weights; NaN for "ml".
    n_iter_ : int
        Most steps of Newton's method that a set of weights took.

    Notes
    -----
    The mode :math:`w` maximises :math:`\log p(w) + \sum_t \log p(r^t \mid x^t, w)`; there the
    posterior has the precision

    .. math:: S_N = S_0^{-1} + \sum_t y^t (1 - y^t)\, x^t (x^t)^T

    (the text calls the precision :math:`S_N`; the covariance is its inverse), and :math:`P(C_1 \mid
    x) = \int \mathrm{sigmoid}(w^T x)\, q(w)\, dw`. See Alpaydin 16.4.4 (16.31-16.32).

    Examples
    --------
    >>> from verulam.bayes import BayesianLogisticRegression
    >>> X, y = [[-2.0], [-1.0], [1.0], [2.0]], ["no", "no", "yes", "yes"]
    >>> for estimate in ("map", "full"):
    ...     learner = BayesianLogisticRegression(estimate=estimate).fit(X, y)
    ...     print(estimate, learner.predict_proba([[3.0]])[0, 1].round(3))
    map 0.953
    full 0.842
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimate": [StrOptions({"ml", "map", "full"})],
        "link": [StrOptions({"logit", "probit"})],
        "integral": [StrOptions({"closed", "quadrature", "sampling"})],
        "prior_mean": [Real, "array-like"],
        "prior_covariance": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "fit_intercept": ["boolean"],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        estimate: str = "full",
        link: str = "logit",
        integral: str = "closed",
        prior_mean: float | ArrayLike = 0.0,
        prior_covariance: float | ArrayLike = 1.0,
        fit_intercept: bool = True,
        n_draws: int = 1000,
        max_iter: int = 100,
        tol: float = 1e-8,
        random_state: Seed = 0,
    ) -> None:
        self.estimate = estimate
        self.link = link
        self.integral = integral
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.fit_intercept = fit_intercept
        self.n_draws = n_draws
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows and their labels."""
        inputs, y = validate_data(self, X, y, dtype=np.float64, order="C")
        codes, self.classes_ = encode_classes(self, y)
        if len(self.classes_) < 2:
            raise DataError(f"y must have two classes or more; got 1 class, {self.classes_[0]}.")
        weights = check_weights(sample_weight, inputs)
        if weights is not None and not weights.any():
            raise DataError("sample_weight: at least one row needs a weight above zero.")
        prior_mean, precision = self._prior(inputs.shape[1])
        first = int(self.fit_intercept)
        design = np.column_stack([*[np.ones(len(inputs))] * first, inputs])
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        modes = [
            self._mode(design, np.where(codes == k, 1.0, -1.0), weights, prior_mean, precision)
            for k in positives
        ]
        self.coef_ = np.array([mode.weights[first:] for mode in modes])
        self.intercept_ = np.array([mode.weights[0] if first else 0.0 for mode in modes])
        self.covariances_ = np.array([mode.covariance for mode in modes])
        self.log_evidence_ = float(sum(mode.log_evidence for mode in modes))
        self.n_iter_ = max(mode.n_iter for mode in modes)
        self._fitted_intercept, self._link = bool(first), self.link
        return self

    def _prior(self, n_features: int) -> tuple[np.ndarray, np.ndarray]:
        """Return prior mean and precision of all weights, the constant first."""
        mean = np.asarray(self.prior_mean, dtype=np.float64)
        if mean.shape not in ((), (n_features,)) or not np.isfinite(mean).all():
            raise DataError(
                f"prior_mean must be a finite number or one for each of the {n_features} weights; "
                f"got shape {mean.shape}."
            )
        if np.ndim(self.prior_covariance) == 0:
            precision = np.eye(n_features) / float(self.prior_covariance)  # type: ignore[arg-type]
        else:
            covariance = as_definite(self.prior_covariance, "prior_covariance", n_features)
            precision = np.linalg.inv(covariance)
        if self.estimate == "ml":
            precision = np.zeros_like(precision)
        first = int(self.fit_intercept)
        # A flat prior of the constant has no precision.
        padded = np.zeros((n_features + first, n_features + first))
        padded[first:, first:] = precision
        return np.concatenate([np.zeros(first), np.broadcast_to(mean, n_features)]), padded

    def _mode(
        self,
        design: np.ndarray,
        signs: np.ndarray,
        sample_weight: np.ndarray | None,
        prior_mean: np.ndarray,
        precision: np.ndarray,
    ) -> "Mode":
        shares = np.ones(len(signs)) if sample_weight is None else sample_weight
        mode = newton_mode(
            LINKS[self.link], design, signs, shares, prior_mean, precision, self.max_iter, self.tol
        )
        if not mode.converged:
            cause = (
                "the classes may be separable, so that the likelihood has no maximum; take a prior "
                '(estimate="map" or "full")'
                if self.estimate == "ml"
                else "raise max_iter or tol, or standardise the inputs"
            )
            warn_caller(
                f"{type(self).__name__} had not converged after {mode.n_iter} steps: {cause}.",
                ConvergenceWarning,
            )
        return mode

    def _moments(self, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of each linear output, one column for each set of weights."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        design = np.column_stack([*[np.ones(len(inputs))] * self._fitted_intercept, inputs])
        variances = [
            np.einsum("ij,jk,ik->i", design, covariance, design, optimize=True)
            for covariance in self.covariances_
        ]
        return inputs @ self.coef_.T + self.intercept_, np.column_stack(variances)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the expected linear output of each row, or one for each class."""
        means, _ = self._moments(X)
        return means[:, 0] if len(self.classes_) == 2 else means

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each class for each row."""
        means, variances = self._moments(X)
        if self.estimate == "full":
            rng = generator(self.random_state)
            columns = [
                averaged_probability(
                    mean,
                    np.maximum(variance, 0.0),
                    link=self._link,
                    integral=self.integral,
                    n_draws=self.n_draws,
                    random_state=rng,
                )
                for mean, variance in zip(means.T, variances.T, strict=True)
            ]
            table = np.column_stack(columns)
        else:
            table = np.asarray(LINKS[self._link].probability(means))
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - table[:, 0], table[:, 0]])
        # One class against the rest: shares of the sum.
        return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable class of each row."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            # An average of sigmoids is above one half just where its mean output is above zero.
            return self.classes_[(self.decision_function(X) > 0).astype(int)]
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


@dataclass(frozen=True, eq=False)
class Mode:
    """The likeliest weights, and the Gaussian about them."""

    weights: np.ndarray
    covariance: np.ndarray
    log_evidence: float
    n_iter: int
    converged: bool


def newton_mode(
    link: Link,
    design: np.ndarray,
    signs: np.ndarray,
    shares: np.ndarray,
    prior_mean: np.ndarray,
    precision: np.ndarray,
    max_iter: int,
    tol: float,
) -> Mode:
    """Return the mode of the posterior of the weights by damped Newton steps."""
    weights = prior_mean.astype(np.float64)

    def height(point: np.ndarray) -> float:
        shift = point - prior_mean
        fit = shares @ np.asarray(link.log_probability(signs * (design @ point)))
        return float(fit) - 0.5 * float(shift @ precision @ shift)

    value, converged, count = height(weights), False, 0
    for count in range(1, max_iter + 1):  # noqa: B007 # read after the loop
        slope, curvature = link.slopes(design @ weights, signs)
        gradient = design.T @ (shares * slope) - precision @ (weights - prior_mean)
        system = (design.T * (shares * curvature)) @ design + precision
        if np.abs(gradient).max() <= tol * max(shares.sum(), 1.0):
            converged = True
            break
        step = np.linalg.lstsq(system, gradient, rcond=None)[0]
        for _ in range(_HALVINGS):
            later = height(weights + step)
            if later >= value:
                break
            step = 0.5 * step
        else:
            # No height to gain: as near to the top as rounding lets it come.
            converged = True
            break
        weights, value = weights + step, later
    slope, curvature = link.slopes(design @ weights, signs)
    system = (design.T * (shares * curvature)) @ design + precision
    covariance, log_determinant = _inverse(system)
    flat = not precision.any()
    prior = precision[np.ix_(*[np.flatnonzero(np.diagonal(precision))] * 2)]
    log_evidence = (
        np.nan
        if flat
        else value
        + 0.5 * (float(np.linalg.slogdet(prior)[1]) - log_determinant)
        # A constant with a flat prior has no normaliser of its own.
        + 0.5 * (len(weights) - len(prior)) * np.log(2.0 * np.pi)
    )
    return Mode(weights, covariance, float(log_evidence), count, converged)


def _inverse(system: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the inverse of a precision, and the logarithm of its determinant."""
    try:
        root = cho_factor(system, lower=True)
    except LinAlgError:
        # Directions that neither data nor prior say anything of.
        return np.linalg.pinv(system, hermitian=True), float(np.linalg.slogdet(system)[1])
    return cho_solve(root, np.eye(len(system))), 2.0 * float(np.log(np.diagonal(root[0])).sum())
