"""Agents whose values are functions with parameters, moved along gradients and their traces."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, Seed
from verulam.numerics import Schedule
from verulam.reinforcement._agents.approximation import Approximator, LinearValues, NetworkValues
from verulam.reinforcement._agents.codings import Identity, OneHot
from verulam.reinforcement._agents.protocol import Agent, Spaces, Transition
from verulam.reinforcement._checks import check_number, check_option
from verulam.reinforcement._exploration.rules import (
    CLOCKS,
    EpsilonGreedy,
    Softmax,
    as_rule,
    as_schedule,
    check_rate,
)
from verulam.reinforcement._exploration.rules_loops import (
    EPSILON_GREEDY,
    drawn_choice,
    greedy_choice,
)

#: Parameters beyond this have diverged.
LARGEST = 1e12


def default_approximator(spaces: Spaces, random_state: Seed) -> Approximator:
    """Return the values of an agent that was told of none: a table, or for vectors a network."""
    if spaces.n_states is not None:
        return LinearValues(OneHot(spaces.n_states))
    return NetworkValues(Identity(spaces.state_size), random_state=random_state)


class GradientAgent(Agent):
    """What agents with a function share: the approximator, the trace of gradients, exploration."""

    _n_outputs_is_one: ClassVar[bool] = False

    def __init__(
        self,
        approximator: Approximator | None = None,
        *,
        discount: float | None = None,
        learning_rate: float | Schedule = 0.01,
        rate_clock: str = "steps",
        exploration: float | EpsilonGreedy | Softmax | None = None,
        trace_decay: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(random_state=random_state)
        self.approximator = approximator
        self.discount = discount
        self.learning_rate = learning_rate
        self.rate_clock = rate_clock
        self.exploration = exploration
        self.trace_decay = trace_decay

    def start(self, spaces: Spaces) -> Self:
        """Forget all, and get ready to act in some spaces.

        Parameters
        ----------
        spaces
            What there is to meet and to do.
        """
        super().start(spaces)
        self.approximator_: Approximator = (
            default_approximator(spaces, self.random_state)
            if self.approximator is None
            else self.approximator
        )
        if not all(hasattr(self.approximator_, name) for name in ("start", "values", "gradient")):
            raise DataError(
                f"approximator is of type {type(self.approximator_).__name__}; expected one such "
                "as LinearValues(RadialBasis(...)) or NetworkValues(...)."
            )
        discount = spaces.discount if self.discount is None else self.discount
        if discount is None:
            raise DataError("discount is None, but the environment has none; give one from 0 to 1.")
        self._discount = check_number("discount", discount, 0.0, 1.0)
        check_rate("learning_rate", self.learning_rate, 0.0, np.inf, open_low=True)
        check_option("rate_clock", self.rate_clock, CLOCKS[:2])
        check_number("trace_decay", self.trace_decay, 0.0, 1.0)
        rule = as_rule(self.exploration)
        if rule.clock == "visits":
            raise DataError("exploration must be EpsilonGreedy or Softmax by steps or episodes.")
        self.approximator_.start(1 if self._n_outputs_is_one else spaces.n_actions)
        self.eligibility_ = np.zeros_like(self.approximator_.parameters)
        self.n_steps_, self.n_episodes_ = 0, 0
        # The action that Sarsa has learned from must be the one that it then takes.
        self._pending: tuple[Any, int] | None = None
        return self

    def act(self, state: Any) -> int:
        """Return an action in a state, by the rule of exploration.

        Parameters
        ----------
        state
            Number or vector of the state.
        """
        self._started()
        pending, self._pending = self._pending, None
        if pending is not None and np.array_equal(pending[0], state):
            return pending[1]
        return self._choose(state)

    def _choose(self, state: Any) -> int:
        rule = as_rule(self.exploration)
        level = rule.schedule(self._tick(rule.clock))
        values = np.ascontiguousarray(self.approximator_.values(state), dtype=np.float64)
        offered = self._offered(state)
        lots = self.lots.next(), self.lots.next()
        if rule.code == EPSILON_GREEDY:
            return int(greedy_choice(values, offered, 0, len(values), 1, float(level), *lots))
        return int(
            drawn_choice(values, offered, values, 0, len(values), rule.code, float(level), lots[0])
        )

    def _offered(self, state: Any) -> NDArray[np.bool_]:
        spaces = self._started()
        if spaces.available is None or spaces.n_states is None:
            return np.ones(spaces.n_actions, dtype=bool)
        return np.ascontiguousarray(spaces.available[state])

    def _tick(self, clock: str) -> int:
        return 1 + (self.n_steps_ if clock == "steps" else self.n_episodes_)

    def _ahead(self, successor: Any) -> float:
        """Return what the next state is held to be worth."""
        raise NotImplementedError

    def learn(self, transition: Transition) -> float:
        """Learn from one transition, and return the error of what was expected.

        Parameters
        ----------
        transition
            What happened.
        """
        self._started()
        state, action, reward, successor, over, cut = transition
        output = 0 if self._n_outputs_is_one else int(action)
        values = self.approximator_.values(state)
        ahead = 0.0 if over else self._ahead(successor)
        error = float(reward + self._discount * ahead - values[output])
        self._cut(state, values, output)
        # With a table of indicators the trace of gradients is the accumulating trace of tables.
        fade = self._discount * self.trace_decay
        self.eligibility_ = fade * self.eligibility_ + self.approximator_.gradient(state, output)
        rate = as_schedule(self.learning_rate)(self._tick(self.rate_clock))
        self.approximator_.parameters = (
            self.approximator_.parameters + rate * error * self.eligibility_
        )
        self.n_steps_ += 1
        largest = np.abs(self.approximator_.parameters).max()
        if not largest < LARGEST:
            raise DataError(
                f"learning diverged at step {self.n_steps_:,}: a parameter has grown to "
                f"{largest:.3g}. Lower learning_rate, or take a coding whose features are smaller."
            )
        if over or cut:
            self.break_off()
        return error

    def _cut(self, state: Any, values: NDArray[np.float64], output: int) -> None:
        """Forget the trace where it must not go on."""

    def break_off(self) -> None:
        """End the episode, and forget its trace."""
        self._pending = None
        self.eligibility_ = np.zeros_like(self.approximator_.parameters)
        self.n_episodes_ += 1

    def action_values(self, state: Any) -> NDArray[np.float64]:
        """Return the value of each action in a state."""
        self._started()
        return self.approximator_.values(state)

    def policy(self) -> Any:
        """Return the best action of each numbered state, or a function of the state."""
        if self._started().n_states is None:
            return self._best
        return np.array([self._best(state) for state in range(self._started().n_states or 0)])

    def _best(self, state: Any) -> int:
        values = np.where(self._offered(state), self.approximator_.values(state), -np.inf)
        return int(np.argmax(values))

    def values(self) -> Any:
        """Return a table of values by numbered state, or a function of the state."""
        n_states = self._started().n_states
        if n_states is None:
            return self.action_values
        return np.array([self.approximator_.values(state) for state in range(n_states)])


class GradientSarsa(GradientAgent):
    r"""Sarsa(:math:`\lambda`) with values that are a function of coded states.

    Parameters
    ----------
    approximator
        `LinearValues`, `JointLinear` or `NetworkValues`; None for a linear function of numbered
        states, one weight each, and a network where a state is a vector.
    discount
        :math:`\gamma`; None for that of the process.
    learning_rate
        :math:`\eta`, or a schedule.
    rate_clock
        What a schedule of `learning_rate` counts: "steps" or "episodes".
    exploration
        `EpsilonGreedy` or `Softmax` by steps or episodes; a number for the first with that
        probability, None for its defaults.
    trace_decay
        :math:`\lambda`.
    random_state
        Seed.

    Attributes
    ----------
    approximator_
        The function that learns.
    eligibility_ : ndarray
        Trace of each parameter.

    Notes
    -----
    :math:`e \leftarrow \gamma \lambda e + \nabla_\theta Q(s, a)` and
    :math:`\theta \leftarrow \theta + \eta \delta e`, where
    :math:`\delta = r + \gamma Q(s', a') - Q(s, a)`. Traces accumulate. See Alpaydin 18.6, equations
    18.20-18.23.

    Examples
    --------
    >>> from verulam.reinforcement import GradientSarsa, GridWorld, LinearValues, OneHot, train
    >>> world = GridWorld("S..G", goal_reward=1.0)
    >>> agent = GradientSarsa(LinearValues(OneHot(4)), learning_rate=0.3, random_state=0)
    >>> run = train(agent, world.process, episodes=60)
    >>> [world.process.actions[action] for action in agent.policy()[:3]]
    ['east', 'east', 'east']
    """

    def _ahead(self, successor: Any) -> float:
        action = self._choose(successor)
        self._pending = (successor, action)
        return float(self.approximator_.values(successor)[action])


class GradientQLearning(GradientAgent):
    r"""Q(:math:`\lambda`) with values that are a function of coded states.

    Parameters
    ----------
    approximator
        `LinearValues`, `JointLinear` or `NetworkValues`; None for a linear function of numbered
        states, one weight each, and a network where a state is a vector.
    discount
        :math:`\gamma`; None for that of the process.
    learning_rate
        :math:`\eta`, or a schedule.
    rate_clock
        What a schedule of `learning_rate` counts: "steps" or "episodes".
    exploration
        `EpsilonGreedy` or `Softmax` by steps or episodes; a number for the first with that
        probability, None for its defaults.
    trace_decay
        :math:`\lambda`; the trace is cut at actions that are not the best.
    random_state
        Seed.

    Attributes
    ----------
    approximator_
        The function that learns.
    eligibility_ : ndarray
        Trace of each parameter.

    Notes
    -----
    As `GradientSarsa`, with :math:`\max_{a'} Q(s', a')` for :math:`Q(s', a')`; it may diverge, and
    then says so. See Alpaydin 18.6.

    Examples
    --------
    >>> from verulam.reinforcement import GradientQLearning, GridWorld, LinearValues, OneHot, train
    >>> world = GridWorld("S..G", goal_reward=1.0)
    >>> agent = GradientQLearning(LinearValues(OneHot(4)), learning_rate=0.3, random_state=0)
    >>> train(agent, world.process, episodes=60).n_episodes
    60
    """

    def _ahead(self, successor: Any) -> float:
        values = self.approximator_.values(successor)
        return float(values[self._offered(successor)].max())

    def _cut(self, state: Any, values: NDArray[np.float64], output: int) -> None:
        # Watkins: what follows an action that is not the best one is not the best policy's return.
        if values[output] < values[self._offered(state)].max():
            self.eligibility_ = np.zeros_like(self.eligibility_)


class GradientTD(GradientAgent):
    r"""TD(:math:`\lambda`) with values of states that are a function of coded states.

    Parameters
    ----------
    approximator
        `LinearValues` or `NetworkValues`; None for a linear function of numbered states, one weight
        each, and a network where a state is a vector.
    behaviour
        The policy that acts, a function of the state that returns an action; None for all actions
        alike.
    discount
        :math:`\gamma`; None for that of the process.
    learning_rate
        :math:`\eta`, or a schedule.
    rate_clock
        What a schedule of `learning_rate` counts: "steps" or "episodes".
    trace_decay
        :math:`\lambda`.
    random_state
        Seed.

    Attributes
    ----------
    approximator_
        The function that learns.
    eligibility_ : ndarray
        Trace of each parameter.

    Notes
    -----
    :math:`\theta \leftarrow \theta + \eta (r + \gamma V(s') - V(s)) e`. See Alpaydin 18.6.

    Examples
    --------
    >>> from verulam.reinforcement import GradientTD, GridWorld, LinearValues, OneHot, train
    >>> world = GridWorld("S..G", goal_reward=1.0)
    >>> agent = GradientTD(
    ...     LinearValues(OneHot(4)), behaviour=lambda state: 1, learning_rate=0.5, random_state=0
    ... )
    >>> run = train(agent, world.process, episodes=60)
    >>> agent.values().ravel().round(2).tolist()
    [0.81, 0.9, 1.0, 0.0]
    """

    _n_outputs_is_one = True

    def __init__(
        self,
        approximator: Approximator | None = None,
        *,
        behaviour: Callable[[Any], int] | None = None,
        discount: float | None = None,
        learning_rate: float | Schedule = 0.01,
        rate_clock: str = "steps",
        trace_decay: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            approximator, discount=discount, learning_rate=learning_rate, rate_clock=rate_clock,
            trace_decay=trace_decay, random_state=random_state,
        )  # fmt: skip
        self.behaviour = behaviour

    def act(self, state: Any) -> int:
        """Return the action of the policy that is evaluated."""
        self._started()
        if self.behaviour is not None:
            return int(self.behaviour(state))
        offered = np.flatnonzero(self._offered(state))
        return int(offered[int(self.lots.next() * len(offered))])

    def _ahead(self, successor: Any) -> float:
        return float(self.approximator_.values(successor)[0])

    def policy(self) -> Any:
        """Return the policy that is evaluated, a function of the state."""
        return self.act
