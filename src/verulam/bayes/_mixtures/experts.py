"""Mixtures of experts with priors on all weights: gate, experts, noise and their precisions."""

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    Interval,
    Regressor,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
    warn_caller,
)
from verulam.bayes._mixtures.checks import check_shape_and_rate
from verulam.bayes._mixtures.mean_field import GammaFactor, MeanFieldRun, mean_field
from verulam.cluster import KMeans
from verulam.numerics import log_sum_exp, softmax

#: Steps of the gate's weights in each cycle.
GATE_STEPS = 20
_LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class ExpertFactors:
    """Factors of the posterior.

    Attributes
    ----------
    shares : ndarray of shape (n_rows, n_experts)
        Probability that a row is of each expert.
    means : ndarray of shape (n_experts, n_inputs)
        Expected weights of the experts.
    covariances : ndarray of shape (n_experts, n_inputs, n_inputs)
        Their covariances.
    noise, precision : GammaFactor
        Precisions of each expert's noise and weights.
    gate : ndarray of shape (n_experts, n_inputs)
        Expected weights of the gate.
    gate_covariance : ndarray of shape (n_experts * n_inputs, n_experts * n_inputs)
        Their covariance.
    gate_precision : GammaFactor
        Precision of the gate's weights for each expert.
    """

    shares: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    noise: GammaFactor
    precision: GammaFactor
    gate: np.ndarray
    gate_covariance: np.ndarray
    gate_precision: GammaFactor


class ExpertUpdates:
    """Updates of the factors for one set of rows, and the bound that they raise."""

    def __init__(self, inputs: np.ndarray, targets: np.ndarray, prior: GammaFactor, size: int):
        self.inputs, self.targets, self.prior = inputs, targets, prior
        self.gram = inputs.T @ inputs
        #: Curvature that softmax never exceeds (Boehning 1992).
        self.curvature = 0.5 * (np.eye(size) - 1.0 / size)

    def log_likelihoods(self, factors: ExpertFactors) -> np.ndarray:
        """Return the expected log-density of each target by each expert."""
        errors = self.squared_errors(factors)
        terms = factors.noise.mean_log - _LOG_TWO_PI - factors.noise.mean * errors
        return 0.5 * terms

    def squared_errors(self, factors: ExpertFactors) -> np.ndarray:
        """Return the expected squared error of each target by each expert."""
        residuals = self.targets[:, None] - self.inputs @ factors.means.T
        spreads = np.einsum("ti,kij,tj->tk", self.inputs, factors.covariances, self.inputs)
        return residuals**2 + spreads

    def update_shares(self, factors: ExpertFactors) -> ExpertFactors:
        """Give each row to the experts by gate and likelihood."""
        scores = self.inputs @ factors.gate.T + self.log_likelihoods(factors)
        return replace(factors, shares=softmax(scores, axis=1))

    def update_experts(self, factors: ExpertFactors) -> ExpertFactors:
        """Fit each expert's weights to its rows."""
        n_inputs = factors.means.shape[1]
        weighted = factors.shares.T[:, :, None] * self.inputs
        grams = weighted.transpose(0, 2, 1) @ self.inputs
        precisions = factors.noise.mean[:, None, None] * grams
        precisions = precisions + factors.precision.mean[:, None, None] * np.eye(n_inputs)
        covariances = np.linalg.inv(precisions)
        cross = weighted.transpose(0, 2, 1) @ self.targets
        means = factors.noise.mean[:, None] * np.einsum("kij,kj->ki", covariances, cross)
        return replace(factors, means=means, covariances=covariances)

    def update_precisions(self, factors: ExpertFactors) -> ExpertFactors:
        """Fit the precisions of noise, of experts' weights and of the gate's."""
        weight = factors.shares.sum(axis=0)
        errors = (factors.shares * self.squared_errors(factors)).sum(axis=0)
        noise = GammaFactor(self.prior.shape + 0.5 * weight, self.prior.rate + 0.5 * errors)
        n_inputs = factors.means.shape[1]
        return replace(
            factors,
            noise=noise,
            precision=self._gamma(n_inputs, self._norms(factors)),
            gate_precision=self._gamma(n_inputs, self._gate_norms(factors)),
        )

    def _gamma(self, n_inputs: int, norms: np.ndarray) -> GammaFactor:
        shapes = np.full(len(norms), self.prior.shape + 0.5 * n_inputs)
        return GammaFactor(shapes, self.prior.rate + 0.5 * norms)

    def _norms(self, factors: ExpertFactors) -> np.ndarray:
        traces = np.einsum("kii->k", factors.covariances)
        return (factors.means**2).sum(axis=1) + traces

    def _gate_norms(self, factors: ExpertFactors) -> np.ndarray:
        variances = np.diag(factors.gate_covariance).reshape(factors.gate.shape)
        return (factors.gate**2 + variances).sum(axis=1)

    def update_gate(self, factors: ExpertFactors) -> ExpertFactors:
        """Fit the gate's weights to the shares, by a quadratic bound around the present ones."""
        gate, n_inputs = factors.gate, factors.gate.shape[1]
        precision = np.kron(self.curvature, self.gram)
        precision += np.diag(np.repeat(factors.gate_precision.mean, n_inputs))
        covariance = np.linalg.inv(precision)
        # The bound's curvature is fixed, so that steps are short and cheap: take some.
        for _ in range(GATE_STEPS):
            scores = self.inputs @ gate.T
            slopes = factors.shares - softmax(scores, axis=1) + scores @ self.curvature
            gate = (covariance @ (slopes.T @ self.inputs).ravel()).reshape(gate.shape)
        return replace(factors, gate=gate, gate_covariance=covariance)

    def bound(self, factors: ExpertFactors) -> float:
        """Return the bound on the log-evidence, shares at their best."""
        n_experts, n_inputs = factors.means.shape
        scores = self.inputs @ factors.gate.T
        rows = log_sum_exp(scores + self.log_likelihoods(factors), axis=1)
        rows = rows - log_sum_exp(scores, axis=1)
        # What the gate's uncertainty costs under the quadratic bound.
        blocks = factors.gate_covariance.reshape(n_experts, n_inputs, n_experts, n_inputs)
        cost = 0.5 * np.einsum("kl,kilj,ij->", self.curvature, blocks, self.gram)
        surplus = _weights_divergence(
            self._norms(factors), factors.precision, np.linalg.slogdet(factors.covariances)[1].sum()
        ) + _weights_divergence(
            self._gate_norms(factors),
            factors.gate_precision,
            np.linalg.slogdet(factors.gate_covariance)[1],
        )
        surplus -= n_experts * n_inputs
        gammas = (factors.noise, factors.precision, factors.gate_precision)
        surplus += sum(factor.divergence(self.prior) for factor in gammas)
        return float(rows.sum() - cost - surplus + self._constant(n_inputs, factors))

    def _constant(self, n_inputs: int, factors: ExpertFactors) -> float:
        logs = np.sum(factors.precision.mean_log) + np.sum(factors.gate_precision.mean_log)
        return 0.5 * n_inputs * float(logs)


def _weights_divergence(norms: np.ndarray, precision: GammaFactor, log_volume: float) -> float:
    """Return the part of a Gaussian's divergence from its prior that its moments give."""
    return 0.5 * (float(precision.mean @ norms) - float(log_volume))


class BayesianMixtureOfExperts(Regressor):
    r"""Piecewise linear regression: a gate shares the inputs among linear experts.

    Parameters
    ----------
    n_experts
        Number of experts; those that are not needed lose their rows.
    precision_prior
        Shape and rate of the gamma priors of all precisions, in units of the data's spread.
    n_init
        Number of starts, from clusters of the inputs; the one with the highest bound is taken.
    max_iter
        Most cycles over all factors.
    tol
        Stop when a cycle raises the bound by no more than this, relative to its size.
    random_state
        Seed of the starts.

    Attributes
    ----------
    coef_ : ndarray of shape (n_experts, n_features)
        Expected slopes of the experts, that with most rows first.
    intercept_ : ndarray of shape (n_experts,)
        Their constants.
    noise_precision_ : ndarray of shape (n_experts,)
        Expected precisions of their noise.
    weight_precision_ : ndarray of shape (n_experts,)
        Expected precisions of their weights.
    gate_precision_ : ndarray of shape (n_experts,)
        Expected precisions of the gate's weights.
    weights_ : ndarray of shape (n_experts,)
        Shares of the training rows.
    lower_bound_ : float
        Bound on the log-evidence of the targets, in units of their spread.
    objective_curve_ : list of float
        The bound after each cycle; it never falls.
    n_iter_ : int
        Number of cycles.

    Notes
    -----
    The posterior is taken as a product of factors for the experts' indices, the gate's weights,
    the experts' weights, the noise, and the precisions of both kinds of weights, as in
    [waterhouse1996]_ (Alpaydin 16.7):

    .. math:: p(r \mid x) = \sum_j g_j(x)\, N(r \mid w_j^T x, \beta_j^{-1}), \qquad
              g(x) = \text{softmax}(Vx)

    Where that paper approximates the gate's factor around its mode, the softmax is bounded by a
    quadratic function here, so that the bound on the evidence is one and never falls.

    References
    ----------
    .. [waterhouse1996] S. Waterhouse, D. MacKay and T. Robinson, "Bayesian methods for mixtures of
       experts", Advances in Neural Information Processing Systems 8, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BayesianMixtureOfExperts
    >>> x = np.linspace(-3, 3, 120)[:, None]
    >>> y = np.abs(x[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=120)
    >>> model = BayesianMixtureOfExperts(2, random_state=0).fit(x, y)
    >>> np.sort(model.coef_.ravel()).round(1)
    array([-1.,  1.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_experts": [Interval(Integral, 1, None, closed="left")],
        "precision_prior": [tuple, list],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_experts: int = 2,
        *,
        precision_prior: tuple[float, float] = (1e-2, 1e-2),
        n_init: int = 3,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Seed = None,
    ) -> None:
        self.n_experts = n_experts
        self.precision_prior = precision_prior
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @checked_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Fit gate and experts together."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        if self.n_experts > len(X):
            raise DataError(
                f"n_experts={self.n_experts} is more than the data has: n_samples={len(X)}; "
                f"choose n_experts from 1 to {len(X)}."
            )
        prior = GammaFactor(*check_shape_and_rate(self.precision_prior, "precision_prior"))
        self._origin, self._scale = X.mean(axis=0), _spread(X)
        self._centre, self._unit = float(y.mean()), float(_spread(y))
        inputs, targets = self._inputs(X), (y - self._centre) / self._unit
        random = generator(self.random_state)
        runs = [self._run(inputs, targets, prior, random) for _ in range(self.n_init)]
        best = max(runs, key=lambda run: run.lower_bound)
        if not best.converged:
            warn_caller(
                f"BayesianMixtureOfExperts had not converged after max_iter={self.max_iter} "
                "cycles; raise max_iter or tol.",
                ConvergenceWarning,
            )
        self._store(best)
        return self

    def _inputs(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([np.ones(len(X)), (X - self._origin) / self._scale])

    def _run(
        self,
        inputs: np.ndarray,
        targets: np.ndarray,
        prior: GammaFactor,
        random: np.random.Generator,
    ) -> MeanFieldRun:
        size, width = self.n_experts, inputs.shape[1]
        seed = int(random.integers(2**31))
        with warnings.catch_warnings():
            # Experts may share equal rows, so that empty clusters are no fault here.
            warnings.simplefilter("ignore", DataWarning)
            labels = KMeans(size, random_state=seed).fit_predict(inputs[:, 1:])
        ones = np.ones(size)
        unit = GammaFactor(ones, ones)
        factors = ExpertFactors(
            np.eye(size)[labels], np.zeros((size, width)), np.array([np.eye(width)] * size),
            unit, unit, np.zeros((size, width)), np.eye(size * width), unit,
        )  # fmt: skip
        work = ExpertUpdates(inputs, targets, prior, size)
        for update in (work.update_experts, work.update_precisions, work.update_gate):
            factors = update(factors)
        updates = [
            work.update_shares, work.update_experts, work.update_precisions, work.update_gate,
        ]  # fmt: skip
        return mean_field(factors, updates, work.bound, max_iter=self.max_iter, tol=self.tol)

    def _store(self, run: MeanFieldRun) -> None:
        factors = run.factors
        order = np.argsort(-factors.shares.sum(axis=0), kind="stable")
        size, width = factors.means.shape
        blocks = factors.gate_covariance.reshape(size, width, size, width)
        self._means, self._covariances = factors.means[order], factors.covariances[order]
        self._gate = factors.gate[order]
        self._gate_covariances = np.array([blocks[k, :, k] for k in order])
        slopes = self._means[:, 1:] * self._unit / self._scale
        self.coef_ = slopes
        self.intercept_ = self._centre + self._unit * self._means[:, 0] - slopes @ self._origin
        self.noise_precision_ = factors.noise.mean[order] / self._unit**2
        self.weight_precision_ = factors.precision.mean[order]
        self.gate_precision_ = factors.gate_precision.mean[order]
        self.weights_ = factors.shares.mean(axis=0)[order]
        self.lower_bound_, self.objective_curve_ = run.lower_bound, run.curve
        self.n_iter_ = len(run.curve)

    def predict_gate(self, X: ArrayLike) -> np.ndarray:
        """Return the share of each expert at each row, the gate's uncertainty included."""
        check_is_fitted(self)
        return self._shares(self._inputs(validate_data(self, X, reset=False, dtype=np.float64)))

    def _shares(self, inputs: np.ndarray) -> np.ndarray:
        scores = inputs @ self._gate.T
        spreads = np.einsum("ti,kij,tj->tk", inputs, self._gate_covariances, inputs)
        # Scores that are uncertain are drawn together (MacKay 1992).
        return softmax(scores / np.sqrt(1.0 + 0.125 * np.pi * spreads), axis=1)

    def predict(
        self, X: ArrayLike, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the expected target of each row, and its standard deviation if asked."""
        check_is_fitted(self)
        inputs = self._inputs(validate_data(self, X, reset=False, dtype=np.float64))
        shares, outputs = self._shares(inputs), inputs @ self._means.T
        mean = np.einsum("tk,tk->t", shares, outputs)
        result = self._centre + self._unit * mean
        if not return_std:
            return result
        spreads = np.einsum("ti,kij,tj->tk", inputs, self._covariances, inputs)
        spreads += 1.0 / (self.noise_precision_ * self._unit**2)
        variances = np.einsum("tk,tk->t", shares, spreads + outputs**2) - mean**2
        return result, self._unit * np.sqrt(variances)


def _spread(values: np.ndarray) -> np.ndarray:
    """Return standard deviations, 1 where all values are the same."""
    spread = values.std(axis=0)
    return np.where(spread > 1e-12 * np.abs(values).max(axis=0), spread, 1.0)
