"""Gaussian mixtures with priors: the largest posterior by EM, or all of it by mean fields."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, digamma, gammaln

from verulam.base import (
    RANDOM_STATE,
    DataError,
    EMRun,
    Interval,
    Seed,
    Source,
    StrOptions,
    check_is_fitted,
    generator,
    map_rows,
)
from verulam.bayes._mixtures.component_priors import (
    ComponentBeliefs,
    StudentComponents,
    component_prior,
)
from verulam.cluster import Components, GaussianMixture

#: Weights of components are not taken below this, where their logarithm would be.
LEAST_WEIGHT = 1e-290


@dataclass(frozen=True)
class PriorStep:
    """Parameters of one pass with a prior.

    Attributes
    ----------
    prepared
        The mixture whose densities give the responsibilities.
    shares
        Counts of the weights' distribution: one by component, or two by stick.
    beliefs
        What is believed of means and precisions.
    penalty
        Log-prior of the parameters, or minus their divergence from the prior.
    raised
        Covariances that are singular: none, under this prior.
    """

    prepared: Any
    shares: np.ndarray
    beliefs: ComponentBeliefs
    penalty: float
    raised: tuple[int, ...] = ()


@dataclass(frozen=True)
class PenalisedSums:
    """Sums over rows, and the prior's part of the objective of the parameters they came from."""

    sums: Any
    penalty: float


class BayesianGaussianMixture(GaussianMixture):
    r"""Model the data as drawn from several Gaussians about which something is known beforehand.

    Parameters
    ----------
    n_components
        Number of Gaussians; where all of the posterior is used, the most that may be needed.
    estimate
        "map" for the parameters of the largest posterior, by EM; "full" for an average over all
        of them, weighted by a mean-field approximation of the posterior.
    covariance_type
        "full", or "diag" where columns are independent within a component.
    weight_concentration_prior_type
        "dirichlet_distribution" for a fixed number of components, or "dirichlet_process" for
        sticks broken one after another, which leave later components unused. The second needs
        estimate "full".
    weight_concentration_prior
        :math:`\alpha`: count that each component has beforehand, or concentration of the process.
        None for 1 with "map", where weights have a flat prior, and 1 / n_components with "full".
    mean_precision_prior
        :math:`\kappa_0`: rows that the prior's mean counts as; 0 is allowed with "map".
    mean_prior
        :math:`\mu_0`; None for the mean of the data.
    degrees_of_freedom_prior
        :math:`\nu_0`: rows that the prior's covariance counts as; None for the number of columns
        that are correlated plus 2.
    covariance_prior
        :math:`V_0^{-1}`: the scatter that was seen beforehand, as a matrix, by column or as one
        number; None for the variances of the data, divided among the components by volume.
    init_params
        Where passes start: "kmeans", "k-means++", "random_from_data" or "random".
    n_init
        Number of starts, the best of which is taken.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the objective of a row by no more than this.
    random_state
        Seed of the starts.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Shares of the components, largest first; expected ones with "full".
    means_ : ndarray of shape (n_components, n_features)
        Means.
    covariances_ : ndarray
        Covariances; with "full" the inverses of the expected precisions.
    weight_concentration_ : ndarray
        Counts of the components, or two for each stick.
    mean_precision_ : ndarray of shape (n_components,)
        Rows that each mean counts as.
    degrees_of_freedom_ : ndarray of shape (n_components,)
        Rows that each covariance counts as.
    scatter_ : ndarray
        :math:`V_N^{-1}` by component.
    lower_bound_ : float
        With "full" a bound on the log-evidence; with "map" the log-likelihood and log-prior, but
        for the prior's constant.
    n_parameters_ : int
        Number of free numbers in weights, means and covariances.
    n_singular_ : int
        Always 0: no covariance is singular under this prior.
    objective_curve_ : list of float
        Objective divided by the number of rows, before each pass; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.

    Notes
    -----
    With a Dirichlet prior on the weights and normal-Wishart priors on the components, the E-step of
    EM stays as it is, and the M-step gives

    .. math:: \pi_i = \frac{\alpha_i + N_i - 1}{\sum_j \alpha_j + N - k}, \quad
              \mu_i = \frac{\kappa_0 \mu_0 + N_i m_i}{\kappa_0 + N_i}, \quad
              \Sigma_i = \frac{V_0^{-1} + C_i + S_i}{\nu_0 + N_i + d + 2}

    where :math:`S_i = \frac{\kappa_0 N_i}{\kappa_0 + N_i}(m_i - \mu_0)(m_i - \mu_0)^T` (Alpaydin
    16.7, 16.40-16.41). These are the largest density of mean and covariance; that of mean and
    precision is elsewhere, since densities change with the parameters. A flat prior on the weights
    is :math:`\alpha_i = 1`, and smaller ones are refused: a component could get a negative weight.
    With "full", :math:`q(Z) q(\pi) \prod_i q(\mu_i, \Lambda_i)` is fitted to the posterior
    [bishop2006]_; each factor is updated with the expectations of the others, and the bound on the
    evidence never falls. A new row is then judged by a mixture of Student t distributions.

    References
    ----------
    .. [bishop2006] C. M. Bishop, "Pattern Recognition and Machine Learning", Springer, 2006,
       section 10.2.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BayesianGaussianMixture
    >>> X = np.r_[np.arange(20) / 10, 8 + np.arange(10) / 10][:, None]
    >>> mixture = BayesianGaussianMixture(
    ...     5, estimate="full", covariance_prior=1.0, random_state=0
    ... ).fit(X)
    >>> mixture.weights_.round(2)
    array([0.65, 0.33, 0.01, 0.01, 0.01])
    >>> BayesianGaussianMixture(2, random_state=0).fit(X).means_.round(2).ravel()
    array([0.95, 8.45])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "estimate": [StrOptions({"map", "full"})],
        "covariance_type": [StrOptions({"full", "diag"})],
        "weight_concentration_prior_type": [
            StrOptions({"dirichlet_distribution", "dirichlet_process"})
        ],
        "weight_concentration_prior": [Interval(Real, 0, None, closed="neither"), None],
        "mean_precision_prior": [Interval(Real, 0, None, closed="left")],
        "mean_prior": ["array-like", None],
        "degrees_of_freedom_prior": [Interval(Real, 0, None, closed="neither"), None],
        "covariance_prior": ["array-like", Interval(Real, 0, None, closed="neither"), None],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }
    #: What starts of the plain mixture may be told; here they come from the data alone.
    weights_init = means_init = precisions_init = None
    variance_floor = 1e-6

    def __init__(
        self,
        n_components: int = 1,
        *,
        estimate: str = "map",
        covariance_type: str = "full",
        weight_concentration_prior_type: str = "dirichlet_distribution",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float = 0.01,
        mean_prior: ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        init_params: str = "kmeans",
        n_init: int = 1,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.estimate = estimate
        self.covariance_type = covariance_type
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.init_params = init_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["GaussianMixture"]:
        return [
            cls(n_components=2),
            cls(n_components=2, estimate="full", covariance_type="diag"),
            cls(
                n_components=3,
                estimate="full",
                weight_concentration_prior_type="dirichlet_process",
            ),
        ]

    def _run(self, source: Source, parameters: Any, revise: Any = None) -> EMRun:
        self._prior = component_prior(
            self, self._origin, self._scale, self.n_components, proper=self.estimate == "full"
        )
        self._concentration = self._weight_prior()
        # The start is a plain mixture; its responsibilities give the first posterior.
        first = self._updated(super()._total(source, parameters))
        return super()._run(source, first)

    def _weight_prior(self) -> float:
        concentration = self.weight_concentration_prior
        if concentration is None:
            concentration = 1.0 if self.estimate == "map" else 1.0 / self.n_components
        if self.estimate == "map":
            if self.weight_concentration_prior_type == "dirichlet_process":
                raise DataError(
                    "weight_concentration_prior_type='dirichlet_process' needs estimate='full'; "
                    "with 'map' take 'dirichlet_distribution'."
                )
            if concentration < 1:
                raise DataError(
                    "weight_concentration_prior must be at least 1 with estimate='map', where "
                    f"smaller counts could give negative weights; got {concentration:g}."
                )
        return float(concentration)

    def _total(self, source: Source, parameters: Any) -> Any:
        return PenalisedSums(super()._total(source, parameters), parameters.penalty)

    def _update(self, statistics: Any) -> Any:
        return self._updated(statistics.sums)

    def _objective(self, statistics: Any) -> float:
        sums = statistics.sums
        return (sums.log_likelihood + statistics.penalty) / float(sums.weight.sum())

    def _updated(self, sums: Any) -> PriorStep:
        """Return the posterior that responsibilities give, and the mixture for the next ones."""
        safe = np.maximum(sums.weight, np.finfo(float).tiny)
        shifts = sums.deviations / safe[:, None]
        if self.covariance_type == "full":
            scatter = sums.scatter - sums.weight[:, None, None] * (
                shifts[:, :, None] * shifts[:, None, :]
            )
        else:
            scatter = np.maximum(sums.scatter - sums.weight[:, None] * shifts**2, 0.0)
        beliefs = self._prior.updated(sums.weight, sums.references + shifts, scatter)
        if self.estimate == "map":
            return self._largest(sums.weight, beliefs)
        return self._average(sums.weight, beliefs)

    def _largest(self, weight: np.ndarray, beliefs: ComponentBeliefs) -> PriorStep:
        counts = weight + self._concentration
        weights = (counts - 1.0) / (counts - 1.0).sum()
        covariances = beliefs.modal_covariances()
        components = Components(weights, beliefs.means, covariances, self.covariance_type)
        penalty = self._prior.log_density(beliefs.means, covariances)
        if self._concentration > 1.0:
            penalty += (self._concentration - 1.0) * float(np.log(weights).sum())
        return PriorStep(self._prepared(components), counts, beliefs, penalty)

    def _average(self, weight: np.ndarray, beliefs: ComponentBeliefs) -> PriorStep:
        if self.weight_concentration_prior_type == "dirichlet_process":
            later = np.cumsum(weight[::-1])[::-1] - weight
            shares = np.array([1.0 + weight, self._concentration + later])
            shares[:, -1] = 1.0, 0.0
            log_weights, divergence = _stick_terms(shares, self._concentration)
        else:
            shares = self._concentration + weight
            log_weights = digamma(shares) - digamma(shares.sum())
            divergence = _dirichlet_divergence(shares, self._concentration)
        covariances = beliefs.expected_covariances()
        # Expected logarithms of densities are those of a Gaussian, with a smaller weight.
        n_columns = beliefs.means.shape[1]
        log_weights = log_weights + 0.5 * (
            beliefs.expected_log_precision()
            + beliefs.expected_log_volumes()
            - n_columns / beliefs.mean_precision
        )
        weights = np.maximum(np.exp(log_weights), LEAST_WEIGHT)
        components = Components(weights, beliefs.means, covariances, self.covariance_type)
        penalty = -divergence - beliefs.divergence(self._prior)
        return PriorStep(self._prepared(components), shares, beliefs, penalty)

    def _store(self, parameters: Any) -> None:
        beliefs, shares = parameters.beliefs, parameters.shares
        weights = _expected_weights(shares) if self.estimate == "full" else (shares - 1.0)
        weights = weights / weights.sum()
        order = np.argsort(-weights, kind="stable")
        covariances = parameters.prepared.components.covariances
        plain = Components(weights, beliefs.means, covariances, self.covariance_type)
        super()._store(replace(parameters, prepared=self._prepared(plain)))
        rows = beliefs.mean_precision.sum() - self._prior.mean_precision.sum()
        self.lower_bound_ = float(self.objective_curve_[-1] * rows)
        beliefs = beliefs.in_order(order)
        self.weight_concentration_ = shares[..., order]
        self.mean_precision_ = beliefs.mean_precision
        self.degrees_of_freedom_ = beliefs.degrees_of_freedom
        self.scatter_ = beliefs.scatter
        self._averaged = self.estimate == "full"

    def _predictive(self) -> StudentComponents:
        return ComponentBeliefs(
            self.means_, self.mean_precision_, self.degrees_of_freedom_, self.scatter_
        ).predictive()

    def _joint(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        if not self._averaged:
            return super()._joint(X)
        inputs = self._check_inputs(X, reset=False)
        students, log_weights = self._predictive(), np.log(self.weights_)

        def joint(rows: np.ndarray) -> np.ndarray:
            result = np.empty((len(rows), len(log_weights)))
            patterns, which = np.unique(~np.isnan(rows), axis=0, return_inverse=True)
            for code, present in enumerate(patterns):
                places = np.flatnonzero(which.ravel() == code)
                result[places] = students.log_densities(rows[places], present) + log_weights
            return result

        return map_rows(joint, inputs, (len(inputs), len(log_weights)))

    def sample(
        self, n_samples: int = 1, random_state: Seed = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the mixture; return them, and the component that each came from.

        Parameters
        ----------
        n_samples
            Number of rows.
        random_state
            Seed.
        """
        check_is_fitted(self)
        if not self._averaged:
            return super().sample(n_samples, random_state)
        random = generator(random_state)
        labels = np.sort(random.choice(len(self.weights_), size=n_samples, p=self.weights_))
        return self._predictive().draw(labels, random), labels


def _dirichlet_divergence(counts: np.ndarray, prior: float) -> float:
    """Return the Kullback-Leibler divergence of a Dirichlet distribution from an even one."""
    total = counts.sum()
    constants = gammaln(total) - gammaln(counts).sum()
    constants -= gammaln(len(counts) * prior) - len(counts) * gammaln(prior)
    return float(constants + (counts - prior) @ (digamma(counts) - digamma(total)))


def _stick_terms(shares: np.ndarray, concentration: float) -> tuple[np.ndarray, float]:
    """Return expected log-weights of broken sticks, and their divergence from the prior."""
    first, second = shares[:, :-1]
    totals = digamma(first + second)
    log_part, log_rest = digamma(first) - totals, digamma(second) - totals
    log_weights = np.append(log_part, 0.0)
    log_weights[1:] += np.cumsum(log_rest)
    divergence = betaln(1.0, concentration) - betaln(first, second)
    divergence = divergence + (first - 1.0) * log_part + (second - concentration) * log_rest
    return log_weights, float(divergence.sum())


def _expected_weights(shares: np.ndarray) -> np.ndarray:
    if shares.ndim == 1:
        return shares / shares.sum()
    parts = shares[0] / shares.sum(axis=0)
    return parts * np.append(1.0, np.cumprod(1.0 - parts[:-1]))
