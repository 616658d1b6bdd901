"""Learning from batches: fitted values with any regressor, and models that are planned in."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from verulam.base import DataError, Seed, clone
from verulam.numerics import Schedule
from verulam.reinforcement._agents.batch_loops import plan_steps, remember
from verulam.reinforcement._agents.codings import OneHot
from verulam.reinforcement._agents.protocol import Agent, Spaces, Transition, TransitionLog
from verulam.reinforcement._agents.tabular import QLearning
from verulam.reinforcement._checks import check_count, check_number, check_option
from verulam.reinforcement._exploration.rules import EpsilonGreedy, Softmax
from verulam.reinforcement._processes.planning import policy_iteration
from verulam.reinforcement._processes.process import MarkovDecisionProcess

#: Discount of a learned model at most, where the world may have none.
LARGEST_DISCOUNT = 0.999
TARGETS = ("q", "sarsa", "td")


class FittedQ(Agent):
    r"""Fit values to what transitions promise, by any regressor, again and again.

    Parameters
    ----------
    regressor
        An estimator of scikit-learn's protocol; None for a regression tree. One is fitted for each
        action.
    coding
        Function of the state that returns its features; None for numbers as they are, or a single
        one of numbered states.
    target
        "q" fits :math:`r + \gamma \max_{a'} Q(s', a')`, "sarsa" :math:`r + \gamma Q(s', a')` with
        the action that was taken next, "td" :math:`r + \gamma V(s')` for values of states.
    discount
        :math:`\gamma`; None for that of the process.
    n_fits
        How often values are fitted to the targets that the last ones gave.
    epsilon
        Probability of an action at random while acting.
    refit_every
        Episodes of acting between fits; transitions are collected in between.
    random_state
        Seed.

    Attributes
    ----------
    regressors_ : list
        The fitted regressors, one for each action, or one for "td".
    changes_ : list
        Largest change of a target in each fit of the last time.

    Notes
    -----
    See Alpaydin 18.6 and, for the iteration, Ernst, Geurts and Wehenkel (2005).

    Examples
    --------
    >>> from verulam.reinforcement import FittedQ, GridWorld, Spaces, record_transitions
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> log = record_transitions(None, world.process, steps=300, random_state=0)
    >>> agent = FittedQ().start(Spaces.of(world.process)).learn_from(log)
    >>> agent.values()[:3].max(axis=1).round(1).tolist()
    [81.0, 90.0, 100.0]
    """

    def __init__(
        self,
        regressor: Any = None,
        *,
        coding: Any = None,
        target: str = "q",
        discount: float | None = None,
        n_fits: int = 50,
        epsilon: float = 0.1,
        refit_every: int = 10,
        random_state: Seed = None,
    ) -> None:
        super().__init__(random_state=random_state)
        self.regressor = regressor
        self.coding = coding
        self.target = target
        self.discount = discount
        self.n_fits = n_fits
        self.epsilon = epsilon
        self.refit_every = refit_every

    def start(self, spaces: Spaces) -> Self:
        """Forget all, and get ready to act in some spaces.

        Parameters
        ----------
        spaces
            What there is to meet and to do.
        """
        super().start(spaces)
        check_option("target", self.target, TARGETS)
        check_count("n_fits", self.n_fits)
        check_count("refit_every", self.refit_every)
        check_number("epsilon", self.epsilon, 0.0, 1.0)
        discount = spaces.discount if self.discount is None else self.discount
        if discount is None:
            raise DataError("discount is None, but the environment has none; give one from 0 to 1.")
        self._discount = check_number("discount", discount, 0.0, 1.0)
        if self.regressor is not None and not hasattr(self.regressor, "fit"):
            raise DataError("regressor must have fit and predict, as scikit-learn's have.")
        self._coding = self.coding or (OneHot(spaces.n_states) if spaces.n_states else np.ravel)
        self._memory: list[Transition] = []
        self._log: TransitionLog | None = None
        self._n_episodes = 0
        self.regressors_: list[Any] = []
        self.changes_: list[float] = []
        return self

    def act(self, state: Any) -> int:
        """Return the best action in a state, or now and then any."""
        spaces = self._started()
        explore, lot = self.lots.next(), self.lots.next()
        if explore < self.epsilon or not self.regressors_ or self.target == "td":
            return int(lot * spaces.n_actions)
        return int(np.argmax(self._predicted(self._coded([state]))[0]))

    def learn(self, transition: Transition) -> None:
        """Collect a transition; now and then, when an episode ends, fit all of them."""
        self._started()
        self._memory.append(transition)
        if transition.terminated or transition.truncated:
            self._n_episodes += 1
            if self._n_episodes % self.refit_every == 0:
                self._fit(TransitionLog.of(self._memory))

    def learn_from(self, log: Any) -> Self:
        """Fit values to transitions that somebody has made.

        Parameters
        ----------
        log
            The transitions, in their order.
        """
        self._started()
        log = log if isinstance(log, TransitionLog) else TransitionLog.of(log)
        self._fit(log)
        return self

    def _coded(self, states: Iterable[Any]) -> NDArray[np.float64]:
        return np.array([np.asarray(self._coding(state), dtype=np.float64) for state in states])

    def _predicted(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = [
            np.zeros(len(rows)) if model is None else model.predict(rows)
            for model in self.regressors_
        ]
        return np.column_stack(columns)

    def _fit(self, log: TransitionLog) -> None:
        spaces, self._log = self._started(), log
        rows, following = self._coded(log.states), self._coded(log.next_states)
        groups = (
            [np.arange(len(log))]
            if self.target == "td"
            else [np.flatnonzero(log.actions == action) for action in range(spaces.n_actions)]
        )
        model = DecisionTreeRegressor(random_state=0) if self.regressor is None else self.regressor
        targets = log.rewards.astype(np.float64)
        self.changes_ = []
        for _ in range(self.n_fits):
            self.regressors_ = [
                clone(model).fit(rows[group], targets[group]) if len(group) else None
                for group in groups
            ]
            ahead = self._ahead(log, following)
            updated = log.rewards + self._discount * np.where(log.terminated, 0.0, ahead)
            self.changes_.append(float(np.abs(updated - targets).max()))
            targets = updated
            if not np.isfinite(targets).all() or np.abs(targets).max() > 1e12:
                raise DataError(
                    f"fitting diverged: targets have grown to {np.abs(targets).max():.3g}. Lower "
                    "discount, or take a regressor that does not extrapolate, such as a tree."
                )
            if self.changes_[-1] == 0.0:
                break

    def _ahead(self, log: TransitionLog, following: NDArray[np.float64]) -> NDArray[np.float64]:
        table = self._predicted(following)
        if self.target == "td":
            return table[:, 0]
        if self.target == "q":
            return table.max(axis=1)
        # The last step of a log that was cut off has no action after it: it stands for itself.
        next_actions = np.append(log.actions[1:], log.actions[-1])
        return table[np.arange(len(log)), next_actions]

    def action_values(self, state: Any) -> NDArray[np.float64]:
        """Return the value of each action in a state."""
        self._started()
        if not self.regressors_:
            raise DataError("nothing has been fitted yet; train the agent or give it a log.")
        return self._predicted(self._coded([state]))[0]

    def policy(self) -> Any:
        """Return the best action of each numbered state, or a function of the state."""
        n_states = self._started().n_states
        if n_states is None:
            return lambda state: int(np.argmax(self.action_values(state)))
        return self.values().argmax(axis=1)

    def values(self) -> Any:
        """Return a table of values by numbered state, or a function of the state."""
        n_states = self._started().n_states
        if n_states is None:
            return self.action_values
        if not self.regressors_:
            return np.zeros((n_states, self._started().n_actions))
        return self._predicted(self._coded(range(n_states)))


class ModelLearner(Agent):
    r"""Count what follows what, and plan in the process that the counts suggest.

    Parameters
    ----------
    discount
        :math:`\gamma`; None for that of the process.
    epsilon
        Probability of an action at random while acting.
    plan_every
        Episodes between two plans.
    prior
        Imagined steps that lead from each pair that was never tried back to its state.
    optimistic_value
        Value of pairs that were never tried; None for that of staying without reward.
    random_state
        Seed.

    Notes
    -----
    :math:`P(s' \mid s, a)` is estimated by shares and :math:`E[r \mid s, a]` by means; the plan
    takes them for true (certainty equivalence). See Alpaydin 18.5.2.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, ModelLearner, train
    >>> world = GridWorld("S..G", goal_reward=100.0, discount=0.9)
    >>> agent = ModelLearner(epsilon=0.5, random_state=0)
    >>> run = train(agent, world.process, episodes=40)
    >>> agent.values()[:3].round(1).tolist()
    [81.0, 90.0, 100.0]
    """

    def __init__(
        self,
        *,
        discount: float | None = None,
        epsilon: float = 0.1,
        plan_every: int = 1,
        prior: float = 0.0,
        optimistic_value: float | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(random_state=random_state)
        self.discount = discount
        self.epsilon = epsilon
        self.plan_every = plan_every
        self.prior = prior
        self.optimistic_value = optimistic_value

    def start(self, spaces: Spaces) -> Self:
        """Forget all, and get ready to act in some spaces.

        Parameters
        ----------
        spaces
            What there is to meet and to do.
        """
        super().start(spaces)
        if spaces.n_states is None:
            raise DataError("ModelLearner counts numbered states; put a coding in between.")
        check_number("epsilon", self.epsilon, 0.0, 1.0)
        check_count("plan_every", self.plan_every)
        check_number("prior", self.prior, 0.0)
        discount = spaces.discount if self.discount is None else self.discount
        if discount is None:
            raise DataError("discount is None, but the environment has none; give one from 0 to 1.")
        self._discount = check_number("discount", discount, 0.0, 1.0)
        self._counts: dict[tuple[int, int], dict[int, list[float]]] = {}
        self._terminal = np.zeros(spaces.n_states, dtype=bool)
        self._n_episodes = 0
        self._values = np.zeros(spaces.n_states)
        self._policy: NDArray[np.int64] | None = None
        return self

    def act(self, state: Any) -> int:
        """Return the action of the last plan, or now and then any."""
        offered = np.flatnonzero(self._started().offered()[state])
        explore, lot = self.lots.next(), self.lots.next()
        if explore < self.epsilon or self._policy is None:
            return int(offered[int(lot * len(offered))])
        return int(self._policy[state])

    def learn(self, transition: Transition) -> None:
        """Count a transition; plan when an episode ends."""
        self._started()
        state, action, reward, successor, over, cut = transition
        cell = self._counts.setdefault((int(state), int(action)), {})
        entry = cell.setdefault(int(successor), [0.0, 0.0])
        entry[0] += 1.0
        entry[1] += reward
        self._terminal[successor] |= bool(over)
        if over or cut:
            self._n_episodes += 1
            if self._n_episodes % self.plan_every == 0:
                self.plan()

    def process(self) -> MarkovDecisionProcess:
        """Return the process that the counts suggest; pairs never tried stay where they are."""
        spaces = self._started()
        n_states, n_actions = spaces.n_states or 0, spaces.n_actions
        offered = spaces.offered()
        untried = 0.0
        if self.optimistic_value is not None:
            # Staying for ever with this reward is worth the value.
            untried = float(self.optimistic_value) * (1.0 - self._discount)
        outcomes: list[tuple[Any, ...]] = []
        for state in range(n_states):
            for action in np.flatnonzero(offered[state]):
                cell = self._counts.get((state, int(action)))
                if self._terminal[state]:
                    outcomes.append((state, action, state, 1.0, 0.0))
                elif cell is None:
                    outcomes.append((state, action, state, 1.0, untried))
                else:
                    total = sum(count for count, _ in cell.values()) + self.prior
                    outcomes += [
                        (state, action, successor, count / total, rewards / count)
                        for successor, (count, rewards) in cell.items()
                    ]
                    if self.prior:
                        outcomes.append((state, action, state, self.prior / total, 0.0))
        # Pairs never tried stay where they are for ever, which without a discount has no end.
        discount = min(self._discount, LARGEST_DISCOUNT)
        return MarkovDecisionProcess.from_outcomes(outcomes, n_states, n_actions, discount)

    def plan(self) -> Self:
        """Plan in the process that the counts suggest, and return the agent."""
        plan = policy_iteration(self.process(), tol=1e-6)
        self._values, self._policy = plan.values, plan.policy
        return self

    def policy(self) -> NDArray[np.int64]:
        """Return the best action of each state in the last plan."""
        self._started()
        if self._policy is None:
            self.plan()
        assert self._policy is not None
        return self._policy

    def values(self) -> NDArray[np.float64]:
        """Return the values of states in the last plan."""
        self._started()
        return self._values


class Dyna(QLearning):
    r"""Q learning that also learns from steps that it only imagines, by what it remembers.

    Parameters
    ----------
    n_planning
        Imagined steps after each real one.
    n_outcomes
        Outcomes that are remembered of each pair of state and action.
    discount
        :math:`\gamma`; None for that of the process.
    learning_rate
        :math:`\eta`, or a schedule; imagined steps take that of the real one.
    rate_clock
        What a schedule of `learning_rate` counts: "visits" of the pair, "steps" or "episodes".
    exploration
        `EpsilonGreedy` or `Softmax`; a number for the first with that probability, None for its
        defaults.
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

    Notes
    -----
    An imagined step takes a pair that was met, all alike, and one of its outcomes, which are a
    sample of all that were met. See Alpaydin 18.5.2 and Sutton (1990).

    Examples
    --------
    >>> from verulam.reinforcement import Dyna, GridWorld, train
    >>> world = GridWorld("S..\n.#.\n..G", goal_reward=100.0, discount=0.9)
    >>> agent = Dyna(n_planning=20, learning_rate=1.0, random_state=0)
    >>> run = train(agent, world.process, episodes=10)
    >>> round(float(agent.values()[0].max()), 1)
    72.9
    """

    runs_compiled = False

    def __init__(
        self,
        *,
        n_planning: int = 10,
        n_outcomes: int = 8,
        discount: float | None = None,
        learning_rate: float | Schedule = 0.1,
        rate_clock: str = "visits",
        exploration: float | EpsilonGreedy | Softmax | None = None,
        initial_value: float = 0.0,
        ties: str = "random",
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            discount=discount, learning_rate=learning_rate, rate_clock=rate_clock,
            exploration=exploration, initial_value=initial_value, ties=ties,
            random_state=random_state,
        )  # fmt: skip
        self.n_planning = n_planning
        self.n_outcomes = n_outcomes

    def start(self, spaces: Spaces) -> Self:
        """Forget all, and get ready to act in some spaces.

        Parameters
        ----------
        spaces
            What there is to meet and to do.
        """
        super().start(spaces)
        check_count("n_planning", self.n_planning, 0)
        check_count("n_outcomes", self.n_outcomes)
        shape = (self.table_.size, self.n_outcomes)
        self._successors = np.zeros(shape, dtype=np.int64)
        self._rewards = np.zeros(shape)
        self._met = np.zeros(self.table_.size, dtype=np.int64)
        self._pairs = np.zeros(self.table_.size, dtype=np.int64)
        self._n_pairs = 0
        return self

    def learn(self, transition: Transition) -> float:
        """Learn from one transition, then from some that are remembered.

        Parameters
        ----------
        transition
            What happened.
        """
        error = super().learn(transition)
        state, action, reward, successor, over, _ = transition
        cell = int(state) * self.table_.shape[1] + int(action)
        if not self._met[cell]:
            self._pairs[self._n_pairs] = cell
            self._n_pairs += 1
        remember(
            self._successors, self._rewards, self._met, cell, -1 if over else int(successor),
            float(reward), self.lots.next(),
        )  # fmt: skip
        lots = self.lots.block(2 * self.n_planning)[: 2 * self.n_planning]
        self.lots.advance(2 * self.n_planning)
        rate = self.learning_rate
        step = self._tick(self.rate_clock, int(self.visits_[cell]))
        level = rate(step) if isinstance(rate, Schedule) else float(rate)
        plan_steps(
            *self._flat, self.table_.shape[1], self._successors, self._rewards, self._met,
            self._pairs, self._n_pairs, float(self._numbers[0]), level, lots,
        )  # fmt: skip
        return error
