"""Linear dynamical systems that switch between regimes, by Gibbs sampling."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Density,
    InSteps,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
)
from verulam.sequence._chains.structured_transitions import shares
from verulam.sequence._data.sequences import Sequences, check_count
from verulam.sequence._dynamics.kalman import LinearSystem, run_filter, run_smoother, stacked
from verulam.sequence._dynamics.simulation import draw_system
from verulam.sequence._dynamics.system import FLOOR, LinearDynamicalSystem
from verulam.sequence._dynamics.system_sums import (
    DynamicalSums,
    expected_products,
    start_system,
    updated_systems,
)
from verulam.sequence._emissions.gaussian import GaussianEmission, GaussianStates
from verulam.sequence._extensions.infinite import path_counts
from verulam.sequence._learners.hidden_markov import ORDER_MATTERS
from verulam.sequence._learners.markov_chain import MarkovChain
from verulam.sequence._learners.queries import SampledSequences
from verulam.sequence._model.emission import checked_sequences
from verulam.sequence._model.inference import draw_paths, emissions_from_logarithms
from verulam.sequence._model.transitions import Transitions

#: Steps in a row that a random start puts into the same regime.
RUN_LENGTH = 15
#: Keeps the noise of a move from being singular where regimes are compared by it.
LEAST_NOISE = 1e-9


@dataclass(frozen=True)
class SwitchingSystem:
    """Systems, and how they follow one another.

    Attributes
    ----------
    systems : tuple of LinearSystem
        The system of each regime; the first one's initial state counts for all.
    initial : ndarray of shape (n_regimes,)
        Probability of each first regime.
    transitions : ndarray of shape (n_regimes, n_regimes)
        Transition matrix of the regimes.
    """

    systems: tuple[LinearSystem, ...]
    initial: np.ndarray
    transitions: np.ndarray

    def __post_init__(self) -> None:
        if any(system.n_inputs for system in self.systems):
            raise DataError(
                "systems of a SwitchingSystem have no inputs; LinearDynamicalSystem takes them."
            )


@dataclass(frozen=True)
class RegimeDraws:
    """What paths of regimes drawn from their posterior say.

    Attributes
    ----------
    probabilities : ndarray of shape (n_steps, n_regimes)
        How often each step was in each regime.
    means : ndarray of shape (n_steps, n_dimensions)
        Mean of the states.
    best : ndarray of shape (n_steps,)
        The most probable of the paths drawn.
    log_joint
        Its log-probability together with the data.
    """

    probabilities: np.ndarray
    means: np.ndarray
    best: np.ndarray
    log_joint: float


def draw_smoothed(
    stack: LinearSystem, sequences: Sequences, regimes: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Return states drawn from their joint posterior, given the regime of each step.

    A draw from the prior is moved by what smoothing makes of the difference to the data.
    """
    # Simulation smoother: the error of a smoothed draw from the prior has the law of the posterior
    # error, whatever the data. Without means and offsets smoothing is linear, so that one run over
    # the difference does for both.
    states, seen = draw_system(stack, sequences.starts, regimes, random)
    centred = replace(
        stack, initial_mean=np.zeros_like(stack.initial_mean), offset=np.zeros_like(stack.offset)
    )
    gap = sequences.with_values(np.ascontiguousarray(sequences.values - seen))
    return states + run_smoother(centred, gap, regimes).means


def regime_logarithms(
    systems: tuple[LinearSystem, ...], sequences: Sequences, states: np.ndarray
) -> np.ndarray:
    """Return how well each regime explains each move and what is seen, as log-densities."""
    table = np.zeros((len(states), len(systems)))
    inside = np.ones(len(states), dtype=bool)
    inside[sequences.starts[:-1]] = False
    later = np.flatnonzero(inside)
    for g, system in enumerate(systems):
        moved = states[later] - states[later - 1] @ system.transition.T
        size = LEAST_NOISE * max(float(np.trace(system.state_noise)), LEAST_NOISE)
        noise = system.state_noise + size * np.eye(system.n_dimensions)
        table[later, g] = _log_density(moved, noise)
        gaps = sequences.values - states @ system.observation.T - system.offset
        table[:, g] += _log_density(gaps, system.observation_noise)
    return table


def _log_density(rows: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    zero = np.zeros((1, rows.shape[1]))
    centre = GaussianStates(zero, covariance[None], zero[0], np.diag(covariance))
    return GaussianEmission("full").log_likelihoods(centre, rows)[:, 0]


def log_joint(switching: SwitchingSystem, sequences: Sequences, regimes: np.ndarray) -> float:
    """Return the log-probability of the data and of a path of regimes, states integrated out."""
    estimates = run_filter(stacked(switching.systems), sequences, regimes).estimates
    firsts, counts = path_counts(regimes, sequences.starts, len(switching.initial))
    with np.errstate(divide="ignore", invalid="ignore"):
        moves = np.where(counts > 0, counts * np.log(switching.transitions), 0.0).sum()
        first = np.where(firsts > 0, firsts * np.log(switching.initial), 0.0).sum()
    return float(estimates.log_likelihoods.sum() + moves + first)


def draw_regimes(
    switching: SwitchingSystem,
    sequences: Sequences,
    regimes: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """Return a new path of regimes: states given the old one, then regimes given the states."""
    states = draw_smoothed(stacked(switching.systems), sequences, regimes, random)
    logarithms = regime_logarithms(switching.systems, sequences, states)
    return draw_paths(
        emissions_from_logarithms(logarithms),
        sequences.starts,
        switching.initial,
        Transitions.from_matrix(switching.transitions),
        random,
    )


class SwitchingDynamicalSystem(InSteps, Density):
    r"""A state moves linearly, by the rules of a regime that changes now and then.

    Parameters
    ----------
    n_regimes
        Number of regimes.
    n_dimensions
        Numbers that make up a state.
    init
        A `SwitchingSystem` to begin from; None to guess one from the data.
    fixed
        Names of parameters of the systems to hold at their start.
    shared_observation
        Whether all regimes are seen alike, so that they differ in how the state moves.
    alpha
        Pseudo-count of each change of regime.
    n_iter
        Sweeps of learning, each of which draws regimes and then improves the parameters.
    n_init
        Number of random starts; the best is kept.
    random_state
        Seed of starts and draws.

    Attributes
    ----------
    switching_ : SwitchingSystem
        The most probable parameters that a sweep had.
    objective_curve_ : list of float
        Log-probability of the data and the regimes drawn, before each sweep's update.
    n_iter_ : int
        Number of sweeps.

    Notes
    -----
    :math:`z_t = A_{q_t} z_{t-1} + w_t`, with a hidden chain of regimes :math:`q_t`: the switching
    form of fig. 15.6d for continuous states (Alpaydin 15.9). Exact inference would follow all
    paths of regimes; here states are drawn given regimes, and regimes given states. Given the
    regimes, each update is the one of `LinearDynamicalSystem`; with one regime it is the same.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import SwitchingDynamicalSystem
    >>> random = np.random.default_rng(0)
    >>> scale = np.repeat([0.1, 3.0, 0.1], 40)
    >>> series = np.cumsum(scale * random.normal(size=120))
    >>> model = SwitchingDynamicalSystem(2, n_iter=30, n_init=2, random_state=0).fit(series)
    >>> regimes = model.predict(series)
    >>> bool(np.mean(regimes[45:75] == regimes[60]) > 0.9), bool(regimes[10] != regimes[60])
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_regimes": [Interval(Integral, 1, None, closed="left")],
        "n_dimensions": [Interval(Integral, 1, None, closed="left")],
        "init": [SwitchingSystem, None],
        "fixed": [tuple, list],
        "shared_observation": ["boolean"],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }
    _takes_sequences: ClassVar[bool] = True
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_fit1d": "a one-dimensional X is a sequence of single numbers",
        "check_methods_sample_order_invariance": ORDER_MATTERS,
        "check_methods_subset_invariance": ORDER_MATTERS,
    }

    def __init__(
        self,
        n_regimes: int = 2,
        n_dimensions: int = 1,
        *,
        init: SwitchingSystem | None = None,
        fixed: tuple[str, ...] = (),
        shared_observation: bool = True,
        alpha: float = 1.0,
        n_iter: int = 50,
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.n_regimes = n_regimes
        self.n_dimensions = n_dimensions
        self.init = init
        self.fixed = fixed
        self.shared_observation = shared_observation
        self.alpha = alpha
        self.n_iter = n_iter
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["SwitchingDynamicalSystem"]:
        return [cls(n_iter=5)]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        return LinearDynamicalSystem._example_data()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X
            A list of arrays, or one array; missing numbers are integrated out.
        y
            Ignored.
        lengths
            Steps of each sequence, where X is one array.
        """
        sequences = checked_sequences(self, X, lengths, True)
        random = generator(self.random_state)
        guess = start_system(sequences.values, sequences.starts, self.n_dimensions)
        floor = FLOOR * 2.0 * np.diag(guess.observation_noise)
        best: tuple[float, SwitchingSystem, list[float]] | None = None
        for _ in self._steps(range(self.n_init), "start", self.n_init):
            run = self._run(sequences, guess, floor, random)
            best = run if best is None or run[0] > best[0] else best
        assert best is not None
        self.switching_, self.objective_curve_ = best[1], best[2]
        self.n_iter_ = len(self.objective_curve_)
        return self

    def _run(
        self,
        sequences: Sequences,
        guess: LinearSystem,
        floor: np.ndarray,
        random: np.random.Generator,
    ) -> tuple[float, SwitchingSystem, list[float]]:
        switching = self.init or self._guess(guess)
        n_regimes = len(switching.initial)
        runs = random.integers(n_regimes, size=sequences.n_steps // RUN_LENGTH + 1)
        regimes = np.repeat(runs, RUN_LENGTH)[: sequences.n_steps]
        if self.init is None:
            # Regimes begin apart by what random runs of steps say of each.
            switching = self._improved(switching, sequences, regimes, floor)
        curve: list[float] = []
        best = -np.inf, switching
        for _ in self._steps(range(self.n_iter), "sweep", self.n_iter):
            regimes = draw_regimes(switching, sequences, regimes, random)
            # Draws go up and down: the best parameters are noted on the way.
            curve.append(log_joint(switching, sequences, regimes))
            if curve[-1] > best[0]:
                best = curve[-1], switching
            switching = self._improved(switching, sequences, regimes, floor)
        return best[0], best[1], curve

    def _guess(self, guess: LinearSystem) -> SwitchingSystem:
        size = self.n_regimes
        stay = 1.0 / size if size == 1 else 0.9
        matrix = np.full((size, size), (1.0 - stay) / max(1, size - 1))
        np.fill_diagonal(matrix, stay)
        return SwitchingSystem((guess,) * size, np.full(size, 1.0 / size), matrix)

    def _improved(
        self,
        switching: SwitchingSystem,
        sequences: Sequences,
        regimes: np.ndarray,
        floor: np.ndarray,
    ) -> SwitchingSystem:
        systems = switching.systems
        smoothed = run_smoother(stacked(systems), sequences, regimes)
        sums = expected_products(systems, sequences, regimes, smoothed)
        if self.shared_observation:
            sums = _pooled(sums)
        firsts, counts = path_counts(regimes, sequences.starts, len(systems))
        return SwitchingSystem(
            updated_systems(systems, sums, tuple(self.fixed), True, floor),
            shares(firsts + self.alpha, switching.initial),
            shares(counts + self.alpha, switching.transitions),
        )

    @classmethod
    def from_parameters(cls, switching: SwitchingSystem) -> "SwitchingDynamicalSystem":
        """Return a model with known parameters, ready for use without learning.

        Parameters
        ----------
        switching
            The systems and how they follow one another.
        """
        systems = switching.systems
        if len(systems) != len(switching.initial):
            raise DataError(
                f"There are {len(systems)} systems and {len(switching.initial)} initial "
                "probabilities; expected one of each per regime."
            )
        model = cls(len(systems), systems[0].n_dimensions, init=switching)
        model.n_features_in_ = systems[0].n_columns
        model.switching_ = switching
        return model

    def gibbs(
        self,
        X: Any,
        lengths: Any = None,
        *,
        n_iter: int = 60,
        burn_in: int = 20,
        random_state: Seed = 0,
    ) -> RegimeDraws:
        """Return what draws of regimes and states from their posterior say.

        Parameters
        ----------
        X, lengths
            As in `fit`.
        n_iter
            Number of sweeps.
        burn_in
            Sweeps that are not counted.
        random_state
            Seed of the draws.
        """
        check_is_fitted(self)
        if not 0 <= burn_in < n_iter:
            raise DataError(f"burn_in is {burn_in}; it must be from 0 to n_iter={n_iter} - 1.")
        sequences = checked_sequences(self, X, lengths, False)
        random, switching = generator(random_state), self.switching_
        stack, n_regimes = stacked(switching.systems), len(switching.initial)
        regimes = random.integers(n_regimes, size=sequences.n_steps)
        steps = np.arange(len(regimes))
        counts = np.zeros((len(regimes), n_regimes))
        means = np.zeros((len(regimes), stack.n_dimensions))
        best, height = regimes, -np.inf
        for sweep in range(n_iter):
            regimes = draw_regimes(switching, sequences, regimes, random)
            if sweep < burn_in:
                continue
            counts[steps, regimes] += 1.0
            means += run_smoother(stack, sequences, regimes).means
            value = log_joint(switching, sequences, regimes)
            if value > height:
                best, height = regimes, value
        n_draws = n_iter - burn_in
        return RegimeDraws(counts / n_draws, means / n_draws, best, height)

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """Return a lower bound of the log-likelihood: that with the best regimes drawn."""
        return self.gibbs(X, lengths).log_joint

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """Return how often each step was in each regime among the draws."""
        probabilities = self.gibbs(X, lengths).probabilities
        return checked_sequences(self, X, lengths, False).give_back(probabilities)

    def sample(
        self, n_steps: int = 1, n_sequences: int = 1, *, random_state: Seed = None
    ) -> SampledSequences:
        """Return sequences drawn as by `LinearDynamicalSystem`, with the regimes behind them."""
        check_is_fitted(self)
        count, number = check_count(n_steps, "n_steps"), check_count(n_sequences, "n_sequences")
        random, switching = generator(random_state), self.switching_
        chain = MarkovChain.from_parameters(switching.initial, switching.transitions)
        regimes = chain.sample(count, number, random_state=random)
        starts = np.arange(number + 1) * count
        stack = stacked(switching.systems)
        seen = draw_system(stack, starts, np.concatenate(regimes), random)[1]
        return SampledSequences(np.split(seen, starts[1:-1]), regimes)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the regime of each step that most draws have."""
        regimes = self.gibbs(X, lengths).probabilities.argmax(axis=1)
        return checked_sequences(self, X, lengths, False).give_back(regimes)


def _pooled(sums: DynamicalSums) -> DynamicalSums:
    """Return the sums with what is seen added up over the regimes."""
    names = ("n_seen", "states", "cross", "squares")
    parts = {name: getattr(sums, name) for name in names}
    return replace(
        sums, **{name: np.zeros_like(part) + part.sum(axis=0) for name, part in parts.items()}
    )
