"""Agents with a table: Q learning, Sarsa and prediction of values, with eligibility traces."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed
from verulam.numerics import Schedule
from verulam.reinforcement._agents.protocol import (
    Agent,
    Spaces,
    Transition,
    TransitionLog,
    check_log,
    cumulative_shares,
    tabular_policy,
)
from verulam.reinforcement._agents.tabular_loops import (
    EXPLORATION,
    N_EPISODES,
    N_STEPS,
    Q_RULE,
    SARSA_RULE,
    STATE_RULE,
    TIES,
    cut_trace,
    end_episode,
    learn_log,
    move_traced,
    moved,
    value_ahead,
)
from verulam.reinforcement._checks import check_number, check_option
from verulam.reinforcement._exploration.rules import (
    CLOCKS,
    EpsilonGreedy,
    Softmax,
    as_rule,
    as_schedule,
    check_rate,
    loop_numbers,
)
from verulam.reinforcement._exploration.rules_loops import (
    EPSILON_GREEDY,
    FIXED,
    drawn_choice,
    greedy_choice,
)

#: No sum of rewards comes near; where values double again and again, they soon do.
LARGEST = 1e100
#: How often larger than any sum of rewards values may be for a while, as traces overshoot.
SLACK = 1e3


class TabularAgent(Agent):
    """What agents with a table share: the table, traces, schedules and the compiled steps."""

    _rule: ClassVar[int] = Q_RULE
    #: Whether `train` may run the agent together with a known process in one compiled loop.
    runs_compiled: ClassVar[bool] = True

    def __init__(
        self,
        *,
        discount: float | None = None,
        learning_rate: float | Schedule = 0.1,
        rate_clock: str = "visits",
        exploration: float | EpsilonGreedy | Softmax | None = None,
        trace_decay: float = 0.0,
        traces: str = "replacing",
        updating: str = "online",
        initial_value: float = 0.0,
        ties: str = "random",
        random_state: Seed = None,
    ) -> None:
        super().__init__(random_state=random_state)
        self.discount = discount
        self.learning_rate = learning_rate
        self.rate_clock = rate_clock
        self.exploration = exploration
        self.trace_decay = trace_decay
        self.traces = traces
        self.updating = updating
        self.initial_value = initial_value
        self.ties = ties

    def start(self, spaces: Spaces) -> Self:
        """Forget all, and get ready to act in some spaces.

        Parameters
        ----------
        spaces
            What there is to meet and to do.
        """
        super().start(spaces)
        if spaces.n_states is None:
            raise DataError(
                f"{type(self).__name__} keeps a table of numbered states, but a state here is a "
                f"vector of {spaces.state_size} numbers; put a coding between them, or take "
                "GradientSarsa or FittedQ."
            )
        self._check_arguments()
        width = 1 if self._rule == STATE_RULE else spaces.n_actions
        self.table_ = np.full((spaces.n_states, width), float(self.initial_value))
        self.available_ = spaces.offered()
        if self.available_.shape != (spaces.n_states, spaces.n_actions):
            raise DataError("spaces: available must have a flag for each state and action.")
        self.eligibility_ = np.zeros(self.table_.size)
        self._changes = np.zeros(self.table_.size)
        # The cells with a trace, of which a long table has few: no step looks at all the others.
        self._active = np.zeros(self.table_.size, dtype=np.int64)
        self.visits_ = np.zeros(self.table_.size, dtype=np.int64)
        self.state_visits_ = np.zeros(spaces.n_states, dtype=np.int64)
        self._clock = np.zeros(3, dtype=np.int64)
        # Sarsa learns from the action that it takes next: chosen in `learn`, carried out by `act`.
        self._pending: tuple[int, int] | None = None
        self._cumulative = self._behaviour(spaces)
        self._codes, self._numbers = self._settings()
        return self

    def _check_arguments(self) -> None:
        if self._discount() is None:
            raise DataError("discount is None, but the environment has none; give one from 0 to 1.")
        check_number("discount", self._discount(), 0.0, 1.0)
        # Beyond 1 a value is moved past its target, and beyond 2 farther away from it each time.
        check_rate("learning_rate", self.learning_rate, 0.0, 1.0, open_low=True)
        check_option("rate_clock", self.rate_clock, CLOCKS)
        check_number("trace_decay", self.trace_decay, 0.0, 1.0)
        check_option("traces", self.traces, ("replacing", "accumulating"))
        check_option("updating", self.updating, ("online", "offline"))
        check_number("initial_value", self.initial_value)
        check_option("ties", self.ties, ("random", "first"))
        as_rule(self.exploration)

    @property
    def _flat(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        return self.table_.reshape(-1), self.available_.reshape(-1)

    def _discount(self) -> float | None:
        spaces = self._started()
        return spaces.discount if self.discount is None else self.discount

    def _behaviour(self, spaces: Spaces) -> NDArray[np.float64]:
        """Return cumulative probabilities of a policy that never changes, empty without one."""
        return np.zeros((1, 1))

    def _settings(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the arguments as numbers for the compiled steps."""
        rule = as_rule(self.exploration)
        rate = loop_numbers(self.learning_rate)
        level = loop_numbers(rule.schedule)
        self.is_compiled = rate is not None and level is not None
        rate, level = rate or (0, 0.0, 0.0), level or (0, 0.0, 0.0)
        fixed = self._rule == STATE_RULE
        codes = [
            self._rule, self.traces == "accumulating", self.updating == "offline",
            self.ties == "random", FIXED if fixed else rule.code,
            rate[0], CLOCKS.index(self.rate_clock), level[0], CLOCKS.index(rule.clock),
        ]  # fmt: skip
        numbers = [self._discount(), self.trace_decay, *rate[1:], *level[1:]]
        return np.asarray(codes, dtype=np.int64), np.asarray(numbers, dtype=np.float64)

    @property
    def n_steps_(self) -> int:
        """Number of transitions that the agent has learned from."""
        return int(self._clock[N_STEPS])

    @property
    def n_episodes_(self) -> int:
        """Number of episodes that it has ended."""
        return int(self._clock[N_EPISODES])

    def act(self, state: int) -> int:
        """Return an action in a state, by the rule of exploration.

        Parameters
        ----------
        state
            Number of the state.
        """
        self._started()
        pending, self._pending = self._pending, None
        if pending is not None and pending[0] == state:
            return pending[1]
        return self._choose(state)

    def _choose(self, state: int) -> int:
        self.state_visits_[state] += 1
        rule = as_rule(self.exploration)
        level = rule.schedule(self._tick(rule.clock, int(self.state_visits_[state])))
        n_actions = self.available_.shape[1]
        values, available = self._flat
        lots, kind = (self.lots.next(), self.lots.next()), int(self._codes[EXPLORATION])
        cell = int(state) * n_actions
        if kind == EPSILON_GREEDY:
            ties = int(self._codes[TIES])
            return int(greedy_choice(values, available, cell, n_actions, ties, float(level), *lots))
        shares = self._cumulative.reshape(-1)
        return int(
            drawn_choice(values, available, shares, cell, n_actions, kind, float(level), lots[0])
        )

    def _tick(self, clock: str, visits: int) -> int:
        """Return what a clock shows, counted from 1."""
        if clock == "visits":
            return visits
        return 1 + (self.n_steps_ if clock == "steps" else self.n_episodes_)

    def learn(self, transition: Transition) -> float:
        """Learn from one transition, and return the error of what was expected.

        Parameters
        ----------
        transition
            What happened; an agent that learns of its own policy chooses its next action here.
        """
        self._started()
        state, action, reward, successor, over, cut = transition
        next_action = -1
        if self._rule == SARSA_RULE and not over:
            next_action = self._choose(successor)
            self._pending = (successor, next_action)
        cell = state if self._rule == STATE_RULE else state * self.table_.shape[1] + action
        self.visits_[cell] += 1
        schedule = as_schedule(self.learning_rate)
        rate = schedule(self._tick(self.rate_clock, int(self.visits_[cell])))
        values, available = self._flat
        n_actions = self.available_.shape[1]
        target = reward + self._numbers[0] * value_ahead(
            values, available, self._rule, n_actions, int(successor), next_action, bool(over)
        )
        error = float(target - values[cell])
        self._clock[N_STEPS] += 1
        if not abs(error) < LARGEST:  # nor where it is NaN
            self.refuse_divergence()
        traced = self.trace_decay > 0 or self.updating == "offline"
        if traced and self._rule == Q_RULE:
            # Watkins: what led here says nothing of the best policy once an action departs from it.
            cut_trace(
                values, available, self.eligibility_, self._active, self._clock, self._codes,
                n_actions, int(cell),
            )  # fmt: skip
        if traced:
            move_traced(
                values, self.eligibility_, self._changes, self._active, self._clock, self._codes,
                self._numbers, int(cell), float(target), float(rate),
            )  # fmt: skip
        else:
            values[cell] = moved(values[cell], float(target), float(rate))
        if over or cut:
            self.break_off()
        return error

    def refuse_divergence(self, limit: float = LARGEST) -> None:
        """Raise where values have grown beyond a limit, as by traces or offline updates they may.

        Parameters
        ----------
        limit
            What no value should reach.
        """
        largest = float(np.abs(self.table_).max())
        if not largest < limit:
            other = "updating='online'" if self.updating == "offline" else "traces='replacing'"
            raise DataError(
                f"learning diverged: after {self.n_steps_:,} steps a value is {largest:.3g}. "
                f"Lower learning_rate or trace_decay, or take {other}."
            )

    def value_limit(self, before: float, reward: float, n_steps: int) -> float:
        """Return what no value can come to in some steps, with room for what traces overshoot.

        Parameters
        ----------
        before
            Largest value at the start.
        reward
            Largest reward.
        n_steps
            Number of steps.
        """
        # The sum of discounted rewards: of so many steps, or of endless ones where that is less.
        lost = 1.0 - float(self._numbers[0])
        reach = n_steps + 1.0 if lost * (n_steps + 1.0) < 1.0 else 1.0 / lost
        return min(SLACK * (before + 1.0 + reward * reach), LARGEST)

    def break_off(self) -> None:
        """End the episode: make changes that waited for it, and forget its traces."""
        self._pending = None
        end_episode(self._flat[0], self.eligibility_, self._changes, self._active, self._clock)

    def _arrays(self) -> Any:
        return (
            *self._flat, self.eligibility_, self._changes, self._active, self._clock,
            self._codes, self._numbers, self.available_.shape[1],
        )  # fmt: skip

    def learn_from(self, log: Any) -> Self:
        """Learn from transitions that somebody else has made, in their order.

        Parameters
        ----------
        log
            The transitions; Sarsa takes the next one's action for that of its own.
        """
        checked: TransitionLog = check_log(log, self._started())
        if not self.is_compiled:
            return super().learn_from(checked)
        ends = checked.terminated | checked.truncated
        next_actions = np.append(checked.actions[1:], checked.actions[-1:])
        columns = (
            checked.states, checked.actions, checked.rewards, checked.next_states,
            checked.terminated, ends, next_actions,
        )  # fmt: skip
        learn_log(*(*self._arrays(), self.visits_, *columns))
        return self

    def policy(self) -> NDArray[Any]:
        """Return the best action of each state, the first of several."""
        self._started()
        return tabular_policy(self.table_, self.available_)

    def values(self) -> NDArray[np.float64]:
        """Return the value of each action in each state."""
        self._started()
        return np.where(self.available_, self.table_, -np.inf)


class QLearning(TabularAgent):
    r"""Learn the values of the best policy, whatever policy acts.

    Parameters
    ----------
    discount
        :math:`\gamma`; None for that of the process.
    learning_rate
        :math:`\eta`, or a schedule. 1 is the rule for deterministic worlds,
        :math:`Q(s, a) \leftarrow r + \gamma \max_{a'} Q(s', a')`.
    rate_clock
        What a schedule of `learning_rate` counts: "visits" of the pair, "steps" or "episodes".
    exploration
        `EpsilonGreedy` or `Softmax`; a number for the first with that probability, None for its
        defaults.
    trace_decay
        :math:`\lambda`; above 0 the trace is cut at actions that are not the best (Watkins).
    traces
        "replacing" sets the trace of a visited pair to 1, "accumulating" adds 1.
    updating
        "online" changes values at every step, "offline" at the end of the episode.
    initial_value
        All values at the start; large ones make the agent explore.
    ties
        Of actions that are as good, one at "random" or the "first".
    random_state
        Seed.

    Attributes
    ----------
    table_ : ndarray of shape (n_states, n_actions)
        The values.
    visits_ : ndarray
        How often each pair was learned from.

    Notes
    -----
    :math:`Q(s, a) \leftarrow Q(s, a) + \eta (r + \gamma \max_{a'} Q(s', a') - Q(s, a))`. See
    Alpaydin 18.5.2-18.5.4, equations 18.12-18.15, figure 18.5, and Watkins and Dayan (1992).

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, QLearning, train
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> agent = QLearning(learning_rate=1.0, random_state=0)
    >>> run = train(agent, world.process, episodes=200)
    >>> agent.values().max(axis=1).round(1).tolist()
    [81.0, 90.0, 100.0, 0.0]
    """


class Sarsa(TabularAgent):
    r"""Learn the values of the policy that acts, exploration included.

    Parameters
    ----------
    discount
        :math:`\gamma`; None for that of the process.
    learning_rate
        :math:`\eta`, or a schedule.
    rate_clock
        What a schedule of `learning_rate` counts: "visits" of the pair, "steps" or "episodes".
    exploration
        `EpsilonGreedy` or `Softmax`; a number for the first with that probability, None for its
        defaults.
    trace_decay
        :math:`\lambda` of Sarsa(:math:`\lambda`).
    traces
        "replacing" sets the trace of a visited pair to 1, "accumulating" adds 1.
    updating
        "online" changes values at every step, "offline" at the end of the episode.
    initial_value
        All values at the start.
    ties
        Of actions that are as good, one at "random" or the "first".
    random_state
        Seed.

    Attributes
    ----------
    table_ : ndarray of shape (n_states, n_actions)
        The values.
    visits_ : ndarray
        How often each pair was learned from.

    Notes
    -----
    :math:`Q(s, a) \leftarrow Q(s, a) + \eta (r + \gamma Q(s', a') - Q(s, a))`, where :math:`a'` is
    the action taken next. With exploration that is greedy in the limit (`check_glie`) it comes to
    the best values. See Alpaydin 18.5.3-18.5.4, figures 18.6 and 18.8.

    Examples
    --------
    >>> from verulam.reinforcement import EpsilonGreedy, GridWorld, Sarsa, train
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> agent = Sarsa(learning_rate=0.5, trace_decay=0.8, random_state=0)
    >>> run = train(agent, world.process, episodes=100)
    >>> [world.process.actions[action] for action in agent.policy()[:3]]
    ['east', 'east', 'east']
    """

    _rule = SARSA_RULE


class TDPrediction(TabularAgent):
    r"""Learn the values of states under a policy that acts, by temporal differences.

    Parameters
    ----------
    behaviour
        The policy that acts: one action for each state, or a table of probabilities by state and
        action; None for all actions alike.
    discount
        :math:`\gamma`; None for that of the process.
    learning_rate
        :math:`\eta`, or a schedule.
    rate_clock
        What a schedule of `learning_rate` counts: "visits" of the state, "steps" or "episodes".
    trace_decay
        :math:`\lambda` of TD(:math:`\lambda`); 0 is TD(0), 1 as good as Monte Carlo.
    traces
        "replacing" sets the trace of a visited state to 1, "accumulating" adds 1.
    updating
        "online" changes values at every step, "offline" at the end of the episode.
    initial_value
        All values at the start.
    random_state
        Seed.

    Attributes
    ----------
    table_ : ndarray of shape (n_states, 1)
        The values.

    Notes
    -----
    :math:`V(s) \leftarrow V(s) + \eta (r + \gamma V(s') - V(s))`, which converges to the values of
    the policy that acts, not to the best ones. See Alpaydin 18.5.3, equation 18.16, and exercise 6.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, TDPrediction, train
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> east = [world.process.actions.index("east")] * 4
    >>> agent = TDPrediction(behaviour=east, learning_rate=0.5, random_state=0)
    >>> run = train(agent, world.process, episodes=100)
    >>> agent.values().round(1).tolist()
    [81.0, 90.0, 100.0, 0.0]
    """

    _rule = STATE_RULE

    def __init__(
        self,
        *,
        behaviour: ArrayLike | None = None,
        discount: float | None = None,
        learning_rate: float | Schedule = 0.1,
        rate_clock: str = "visits",
        trace_decay: float = 0.0,
        traces: str = "replacing",
        updating: str = "online",
        initial_value: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            discount=discount, learning_rate=learning_rate, rate_clock=rate_clock,
            trace_decay=trace_decay, traces=traces, updating=updating,
            initial_value=initial_value, random_state=random_state,
        )  # fmt: skip
        self.behaviour = behaviour

    def _behaviour(self, spaces: Spaces) -> NDArray[np.float64]:
        offered = self.available_
        if self.behaviour is None:
            shares = offered / offered.sum(axis=1, keepdims=True)
        else:
            shares = np.asarray(self.behaviour, dtype=np.float64)
            if shares.shape == offered.shape[:1]:
                shares = np.eye(offered.shape[1])[shares.astype(np.int64)]
            if shares.shape != offered.shape or (shares[~offered] != 0).any():
                raise DataError(
                    "behaviour must have an action, or a share for each action, for every state, "
                    "among those that it offers."
                )
        self._shares = shares
        return cumulative_shares(shares)

    def policy(self) -> NDArray[np.float64]:
        """Return the probabilities of the policy that acts."""
        self._started()
        return self._shares

    def values(self) -> NDArray[np.float64]:
        """Return the value of each state."""
        self._started()
        return self.table_[:, 0]
