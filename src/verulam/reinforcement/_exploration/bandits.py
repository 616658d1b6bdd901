"""Bandits: arms with unknown rewards, the classical rules to pull them, and regret."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed, generator
from verulam.numerics import Schedule
from verulam.reinforcement._checks import (
    check_array,
    check_count,
    check_number,
    check_option,
    check_type,
)
from verulam.reinforcement._exploration.automata import LearningAutomaton
from verulam.reinforcement._exploration.rules import EpsilonGreedy, Softmax, as_schedule, check_rate


@dataclass(frozen=True, eq=False)
class Bandit:
    """Arms whose rewards are normal, or 0 and 1.

    Attributes
    ----------
    means
        Expected reward of each arm.
    deviations
        Standard deviation of each arm's reward; 0 for arms that always give the same.
    kind
        "normal", or "bernoulli" for rewards of 0 and 1 with the means as probabilities.

    Notes
    -----
    See Alpaydin 18.2.

    Examples
    --------
    >>> from verulam.reinforcement import Bandit
    >>> bandit = Bandit([0.2, 0.8], kind="bernoulli")
    >>> bandit.best, bandit.n_arms
    (1, 2)
    """

    means: Any
    deviations: Any = 0.0
    kind: str = "normal"

    def __post_init__(self) -> None:
        means = check_array("means", self.means, (None,))
        if not len(means):
            raise DataError("means is empty; expected at least one arm.")
        check_option("kind", self.kind, ("normal", "bernoulli"))
        if self.kind == "bernoulli" and (means.min() < 0 or means.max() > 1):
            raise DataError("means must be probabilities for a bandit of kind 'bernoulli'.")
        shape = means.shape if np.ndim(self.deviations) else ()
        deviations = check_array("deviations", self.deviations, shape)
        spread = np.broadcast_to(deviations, means.shape)
        if (spread < 0).any():
            raise DataError("deviations must be finite and not negative.")
        object.__setattr__(self, "means", means)
        object.__setattr__(self, "deviations", spread)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return len(self.means)

    @property
    def best(self) -> int:
        """The arm with the largest mean."""
        return int(np.argmax(self.means))

    def pull(self, arms: ArrayLike, random: np.random.Generator) -> NDArray[np.float64]:
        """Return a reward for each of some pulls.

        Parameters
        ----------
        arms
            Numbers of the arms.
        random
            Generator.
        """
        arms = np.asarray(arms)
        if self.kind == "bernoulli":
            return (random.random(arms.shape) < self.means[arms]).astype(np.float64)
        return self.means[arms] + self.deviations[arms] * random.standard_normal(arms.shape)


@dataclass(frozen=True)
class UpperConfidence:
    r"""The arm with the largest :math:`Q(a) + c \sqrt{2 \ln t / n(a)}`, untried arms first.

    Attributes
    ----------
    width
        :math:`c`; 1 is UCB1 for rewards from 0 to 1.

    Notes
    -----
    See Auer, Cesa-Bianchi and Fischer (2002).
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        check_number("width", self.width, 0.0)


@dataclass(frozen=True)
class ThompsonSampling:
    """The arm that is best in one draw from what is believed of all of them.

    Attributes
    ----------
    prior_deviation
        Standard deviation of means before any pull; rewards of 0 and 1 have the uniform prior.

    Notes
    -----
    Normal rewards are taken to have the arms' known deviations. See Thompson (1933).
    """

    prior_deviation: float = 1.0

    def __post_init__(self) -> None:
        check_number("prior_deviation", self.prior_deviation, 0.0, open_low=True)


@dataclass(frozen=True, eq=False)
class BanditRun:
    """What happened in several runs of pulls.

    Attributes
    ----------
    actions, rewards : ndarray of shape (n_runs, n_pulls)
        Arm and reward of each pull.
    regret : ndarray of shape (n_runs, n_pulls)
        How much the best arm would have given more, in expectation, summed so far.
    estimates : ndarray of shape (n_runs, n_arms)
        Values of the arms at the end; probabilities for an automaton.
    """

    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    regret: NDArray[np.float64]
    estimates: NDArray[np.float64]


def play_bandit(
    bandit: Bandit,
    rule: Any = None,
    *,
    n_pulls: int,
    n_runs: int = 1,
    learning_rate: float | Schedule | None = None,
    initial_value: float = 0.0,
    random_state: Seed = None,
) -> BanditRun:
    r"""Pull arms by a rule and learn their values: :math:`Q(a) \leftarrow Q(a) + \eta (r - Q(a))`.

    Parameters
    ----------
    bandit
        The arms.
    rule
        `EpsilonGreedy`, `Softmax`, `UpperConfidence`, `ThompsonSampling` or a `LearningAutomaton`
        (for rewards from 0 to 1), which is not changed; None for the greedy rule.
    n_pulls
        Pulls of each run.
    n_runs
        Runs, which know nothing of one another.
    learning_rate
        :math:`\eta`, or a schedule by the number of pulls of the arm; None for 1/n, which makes
        the value the mean of the rewards so far.
    initial_value
        Value of an arm before it is pulled; a large one makes even the greedy rule try all.
    random_state
        Seed.

    Notes
    -----
    Ties are broken by lot. See Alpaydin 18.2, equations 18.1-18.2.

    Examples
    --------
    >>> from verulam.reinforcement import Bandit, EpsilonGreedy, play_bandit
    >>> run = play_bandit(Bandit([1.0, 2.0]), EpsilonGreedy(0.2), n_pulls=100, random_state=0)
    >>> run.estimates.tolist(), int(run.actions[0, -1])
    ([[1.0, 2.0]], 1)
    """
    check_type("bandit", bandit, Bandit)
    check_count("n_pulls", n_pulls)
    check_count("n_runs", n_runs)
    rule = EpsilonGreedy(0.0) if rule is None else rule
    kinds = (EpsilonGreedy, Softmax, UpperConfidence, ThompsonSampling, LearningAutomaton)
    if not isinstance(rule, kinds):
        names = ", ".join(kind.__name__ for kind in kinds)
        raise DataError(f"rule is of type {type(rule).__name__}; expected one of {names}.")
    if learning_rate is not None:
        check_rate("learning_rate", learning_rate, 0.0, np.inf)
    rates = None if learning_rate is None else as_schedule(learning_rate).table(1, n_pulls)
    random = generator(random_state)
    state = _Arms.begin(bandit, n_runs, float(initial_value), rule)
    actions = np.empty((n_runs, n_pulls), dtype=np.int64)
    rewards = np.empty((n_runs, n_pulls))
    runs = np.arange(n_runs)
    for pull in range(n_pulls):
        arms = _choices(state, rule, bandit, pull + 1, random)
        gains = bandit.pull(arms, random)
        actions[:, pull], rewards[:, pull] = arms, gains
        if isinstance(rule, LearningAutomaton):
            _move(state.values, rule, arms, gains)
            continue
        state.counts[runs, arms] += 1
        counts = state.counts[runs, arms]
        steps = 1.0 / counts if rates is None else rates[counts.astype(np.int64) - 1]
        state.values[runs, arms] += steps * (gains - state.values[runs, arms])
        state.sums[runs, arms] += gains
    regret = np.cumsum(bandit.means[bandit.best] - bandit.means[actions], axis=1)
    return BanditRun(actions, rewards, regret, state.values)


@dataclass(frozen=True, eq=False)
class _Arms:
    """What is known of the arms in all runs."""

    values: NDArray[np.float64]
    counts: NDArray[np.float64]
    sums: NDArray[np.float64]

    @classmethod
    def begin(cls, bandit: Bandit, n_runs: int, initial: float, rule: Any) -> "_Arms":
        shape = (n_runs, bandit.n_arms)
        if isinstance(rule, LearningAutomaton):
            if rule.n_actions != bandit.n_arms:
                raise DataError(f"rule has {rule.n_actions} actions for {bandit.n_arms} arms.")
            if bandit.kind != "bernoulli":
                raise DataError(
                    "rule: an automaton needs rewards of 0 and 1, a 'bernoulli' bandit."
                )
            return cls(np.tile(rule.probabilities_, (n_runs, 1)), np.zeros(shape), np.zeros(shape))
        return cls(np.full(shape, initial), np.zeros(shape), np.zeros(shape))


def _choices(
    state: _Arms, rule: Any, bandit: Bandit, step: int, random: np.random.Generator
) -> NDArray[np.int64]:
    n_runs, n_arms = state.values.shape
    if isinstance(rule, LearningAutomaton):
        return _drawn(state.values, random)
    if isinstance(rule, Softmax):
        # Measured from the largest, no exponential overflows; the shares are the same.
        scores = state.values - state.values.max(axis=1, keepdims=True)
        weights = np.exp(scores / max(float(rule.schedule(step)), 1e-300))
        return _drawn(weights / weights.sum(axis=1, keepdims=True), random)
    scores = state.values
    if isinstance(rule, UpperConfidence):
        with np.errstate(divide="ignore"):
            bonus = rule.width * np.sqrt(2.0 * np.log(step) / state.counts) if step > 1 else 0.0
        # An arm that was never pulled has no bound: each is tried once before any is twice.
        scores = np.where(state.counts == 0, np.inf, scores + bonus)
    elif isinstance(rule, ThompsonSampling):
        scores = _believed(state, rule, bandit, random)
    best = scores == scores.max(axis=1, keepdims=True)
    # Among equals by chance, or the arm that is named first would be tried most.
    choices = np.where(best, random.random(scores.shape), -1.0).argmax(axis=1)
    if isinstance(rule, EpsilonGreedy):
        explore = random.random(n_runs) < rule.schedule(step)
        choices = np.where(explore, random.integers(n_arms, size=n_runs), choices)
    return choices


def _believed(
    state: _Arms, rule: ThompsonSampling, bandit: Bandit, random: np.random.Generator
) -> NDArray[np.float64]:
    """Draw a mean for each arm from its posterior."""
    if bandit.kind == "bernoulli":
        return random.beta(1.0 + state.sums, 1.0 + state.counts - state.sums)
    noise = np.maximum(bandit.deviations, 1e-9) ** 2
    precision = 1.0 / rule.prior_deviation**2 + state.counts / noise
    return state.sums / noise / precision + random.standard_normal(precision.shape) / np.sqrt(
        precision
    )


def _drawn(shares: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.int64]:
    # Rounded sums may end a little below the largest draw, which is the last arm's then.
    lots = random.random((len(shares), 1))
    return np.minimum((np.cumsum(shares, axis=1) <= lots).sum(axis=1), shares.shape[1] - 1)


def _move(
    shares: NDArray[np.float64],
    rule: LearningAutomaton,
    arms: NDArray[np.int64],
    gains: NDArray[np.float64],
) -> None:
    """Move the probabilities of all runs at once, as `LearningAutomaton.learn` does of one."""
    corner = np.zeros_like(shares)
    corner[np.arange(len(arms)), arms] = 1.0
    others = (1.0 - corner) / (shares.shape[1] - 1)
    gain = gains[:, None]
    shares += gain * rule.reward_rate * (corner - shares)
    shares += (1.0 - gain) * rule.penalty_rate * (others - shares)
