"""Mixtures of Gaussians in each state, with components of their own or a codebook for all."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import SumRecord
from verulam.numerics import log_sum_exp
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._emissions.gaussian import GaussianEmission, GaussianStates, GaussianSums
from verulam.sequence._model.emission import Emission, check_least
from verulam.sequence._model.transitions import check_distribution


@dataclass(frozen=True)
class MixtureStates:
    """Parameters of mixture emissions.

    Attributes
    ----------
    weights : ndarray of shape (n_states, n_components)
        Share of each component in each state.
    components
        The Gaussians: those of state 0, then of state 1, and so on; or one codebook.
    """

    weights: np.ndarray
    components: GaussianStates


@dataclass(frozen=True)
class MixtureSums(SumRecord):
    """Expected uses of each component in each state, and the sums of the Gaussians."""

    uses: np.ndarray
    components: GaussianSums


@dataclass(frozen=True)
class MixtureEmission(Emission):
    r"""Each state shows numbers from a mixture of Gaussians.

    Parameters
    ----------
    n_components
        Gaussians per state, or in the codebook.
    codebook
        Whether all states share the same Gaussians and differ in their shares only.
    gaussian
        What the Gaussians are like: covariance family, floor, priors, values to start from.
    weights
        Shares of the components to start from.
    prior
        Pseudo-count of each component in each state.

    Notes
    -----
    :math:`p(O_t \mid q_t = S_j) = \sum_l P(G_l \mid S_j)\, \mathcal N(\mu_{jl}, \Sigma_{jl})`.
    The text (Alpaydin 15.36-15.37) leaves out the index of the state, without which emissions
    would not depend on it; with a codebook, :math:`\mu_{jl} = \mu_l`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel, MixtureEmission
    >>> X = np.concatenate([np.tile([0.0, 4.0], 30), np.tile([10.0, 14.0], 30)])
    >>> model = HiddenMarkovModel(2, MixtureEmission(2), random_state=0).fit(X[:, None])
    >>> np.sort(model.emission_.components.means.ravel()).round(1)
    array([ 0.,  4., 10., 14.])
    """

    n_components: int = 2
    codebook: bool = False
    gaussian: GaussianEmission = GaussianEmission(variance_floor=1e-3)  # noqa: RUF009 - frozen
    weights: Any = None
    prior: float = 0.0

    def __post_init__(self) -> None:
        check_least(self, "n_components", 1, whole=True)
        check_least(self, "prior", 0.0)

    @property
    def complete(self) -> bool:
        """Whether shares and Gaussians are given."""
        return self.weights is not None and self.gaussian.complete

    def encode(self, sequences: Sequences, parameters: Any = None) -> np.ndarray:
        """Return the rows as C-ordered float64."""
        return self.gaussian.encode(sequences, parameters)

    def blank(self, survey: Any, head: np.ndarray, n_states: int) -> MixtureStates:
        """Return equal components."""
        n_gaussians = self.n_components * (1 if self.codebook else n_states)
        return MixtureStates(
            np.full((n_states, self.n_components), 1.0 / self.n_components),
            self.gaussian.blank(survey, head, n_gaussians),
        )

    def with_start_values(self, parameters: MixtureStates) -> MixtureStates:
        """Return the parameters with the start values that the user has set."""
        weights = parameters.weights
        if self.weights is not None:
            weights = check_distribution(self.weights, "weights", weights.shape)
        return MixtureStates(weights, self.gaussian.with_start_values(parameters.components))

    def jitter(self, parameters: MixtureStates, random: np.random.Generator) -> MixtureStates:
        """Return components that lie apart from one another within each state."""
        components = parameters.components
        spread = np.sqrt(components.spread)
        if self.codebook:
            steps = random.standard_normal(components.means.shape)
        else:
            # Within a state, components begin on both sides of its mean, by its own spread.
            matrices = self.gaussian._matrices(components)
            spread = np.sqrt(np.einsum("kii->ki", matrices))
            offsets = np.linspace(-1.0, 1.0, self.n_components) if self.n_components > 1 else [0.0]
            steps = np.tile(offsets, len(parameters.weights))[:, None] * np.ones_like(
                components.means
            )
            steps = steps * (1 + 0.1 * random.standard_normal(steps.shape))
        weights = parameters.weights
        if self.codebook:
            # States that share all components differ in their shares alone.
            weights = random.dirichlet(np.ones(self.n_components), len(weights))
        moved = GaussianStates(
            components.means + steps * spread,
            components.covariances,
            components.origin,
            components.spread,
        )
        return MixtureStates(weights, moved)

    def _joint(self, parameters: MixtureStates, values: np.ndarray) -> np.ndarray:
        """Return the logarithm of share times density by step, state and component."""
        densities = self.gaussian.log_likelihoods(parameters.components, values)
        shape = (len(values), 1 if self.codebook else len(parameters.weights), self.n_components)
        with np.errstate(divide="ignore"):
            return densities.reshape(shape) + np.log(parameters.weights)

    def log_likelihoods(self, parameters: MixtureStates, values: np.ndarray) -> np.ndarray:
        """Return the log-density of each state's mixture."""
        missing = np.isnan(values).all(axis=1)
        result = log_sum_exp(self._joint(parameters, values), axis=2)
        result[missing] = 0.0
        return result

    def statistics(
        self, parameters: MixtureStates, values: np.ndarray, weights: np.ndarray
    ) -> MixtureSums:
        """Return the sums, each step shared out among states and components."""
        joint = self._joint(parameters, values)
        shares = np.exp(joint - log_sum_exp(joint, axis=2)[:, :, None]) * weights[:, :, None]
        uses = shares.sum(axis=0)
        flat = shares.sum(axis=1) if self.codebook else shares.reshape(len(values), -1)
        components = self.gaussian.statistics(parameters.components, values, flat)
        return MixtureSums(uses, components)

    def update(self, parameters: MixtureStates, sums: MixtureSums) -> MixtureStates:
        """Return shares and Gaussians."""
        uses = sums.uses + self.prior
        totals = uses.sum(axis=1, keepdims=True)
        weights = np.divide(uses, totals, out=parameters.weights.copy(), where=totals > 0)
        return MixtureStates(weights, self.gaussian.update(parameters.components, sums.components))

    def log_prior(self, parameters: MixtureStates) -> float:
        """Return the logarithm of the priors, up to a constant."""
        shares = self.prior * np.log(parameters.weights).sum() if self.prior else 0.0
        return float(shares) + self.gaussian.log_prior(parameters.components)

    def sample(
        self, parameters: MixtureStates, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one row per state."""
        cumulative = parameters.weights.cumsum(axis=1)[states]
        components = (random.random(len(states))[:, None] > cumulative).sum(axis=1)
        components = np.minimum(components, self.n_components - 1)
        first = 0 if self.codebook else states * self.n_components
        return self.gaussian.sample(parameters.components, first + components, random)

    def expected(self, parameters: MixtureStates) -> np.ndarray:
        """Return the mean of each state's mixture."""
        means = parameters.components.means
        if self.codebook:
            return parameters.weights @ means
        by_state = means.reshape(len(parameters.weights), self.n_components, -1)
        return np.einsum("kl,kld->kd", parameters.weights, by_state)

    def n_columns(self, parameters: MixtureStates) -> int:
        """Return the columns of the Gaussians."""
        return self.gaussian.n_columns(parameters.components)

    def n_parameters(self, parameters: MixtureStates) -> int:
        """Return the free numbers in shares and Gaussians."""
        shares = parameters.weights.size - len(parameters.weights)
        return shares + self.gaussian.n_parameters(parameters.components)

    def take(self, parameters: MixtureStates, states: np.ndarray) -> MixtureStates:
        """Return the parameters of some states."""
        if self.codebook:
            return MixtureStates(parameters.weights[states], parameters.components)
        places = np.asarray(states)[:, None] * self.n_components + np.arange(self.n_components)
        return MixtureStates(
            parameters.weights[states], self.gaussian.take(parameters.components, places.ravel())
        )
