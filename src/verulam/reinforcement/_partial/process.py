"""Processes whose state is not seen: observations, beliefs, and a world that follows one."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed, generator
from verulam.reinforcement._checks import (
    SUM_TOLERANCE,
    check_array,
    check_codes,
    check_count,
    check_distribution,
    check_number,
    check_type,
)
from verulam.reinforcement._processes.environment import Stream
from verulam.reinforcement._processes.process import MarkovDecisionProcess
from verulam.reinforcement._processes.tables import distinct_names


@dataclass(frozen=True, eq=False)
class PartiallyObservableProcess:
    r"""A Markov decision process of which only observations are seen.

    Attributes
    ----------
    transitions : ndarray of shape (n_actions, n_states, n_states)
        :math:`P(s' \mid s, a)`.
    observation_shares : ndarray of shape (n_actions, n_states, n_observations)
        :math:`P(o \mid s', a)`, of the state that the action has led to.
    rewards : ndarray of shape (n_states, n_actions)
        Expected reward of each action.
    discount
        From 0 to 1.
    start : ndarray of shape (n_states,)
        Belief before anything is seen; None for all states alike.
    ending : ndarray of shape (n_actions,)
        Actions after which the episode is over; None for none.
    states, actions, observations
        Names; None for numbers.

    Notes
    -----
    Alpaydin writes the observation as a function of the state before the action; filters and files
    take that after it, as here. See Alpaydin 18.7.1.

    Examples
    --------
    >>> from verulam.reinforcement import tiger
    >>> process = tiger()
    >>> process
    PartiallyObservableProcess(2 states, 3 actions, 2 observations, discount 1)
    >>> process.update([0.5, 0.5], "sense", "hear left").round(2).tolist()
    [0.7, 0.3]
    """

    transitions: Any
    observation_shares: Any
    rewards: Any
    discount: float = 1.0
    start: Any = None
    ending: Any = None
    states: Sequence[Hashable] | None = field(default=None)
    actions: Sequence[Hashable] | None = field(default=None)
    observations: Sequence[Hashable] | None = field(default=None)

    def __post_init__(self) -> None:
        moves = check_array("transitions", self.transitions, (None, None, None))
        n_actions, n_states = moves.shape[0], moves.shape[1]
        if not n_actions or not n_states:
            raise DataError("transitions is empty; expected at least one action and one state.")
        check_array("transitions", moves, (n_actions, n_states, n_states))
        seen = check_array(
            "observation_shares", self.observation_shares, (n_actions, n_states, None)
        )
        gains = check_array("rewards", self.rewards, (n_states, n_actions))
        start = np.full(n_states, 1.0 / n_states) if self.start is None else self.start
        ending = np.zeros(n_actions, bool) if self.ending is None else np.asarray(self.ending, bool)
        if ending.shape != (n_actions,):
            raise DataError(f"ending has shape {ending.shape}; expected one flag for each action.")
        values = {
            "transitions": moves,
            "observation_shares": seen,
            "rewards": gains,
            "discount": check_number("discount", self.discount, 0.0, 1.0),
            "start": check_distribution("start", start, n_states),
            "ending": ending,
            "states": distinct_names("states", self.states, n_states),
            "actions": distinct_names("actions", self.actions, n_actions),
            "observations": distinct_names("observations", self.observations, seen.shape[2]),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_shares("transitions", moves)
        self._check_shares("observation_shares", seen)

    def __repr__(self) -> str:
        return (
            f"PartiallyObservableProcess({self.n_states} states, {self.n_actions} actions, "
            f"{self.n_observations} observations, discount {self.discount:g})"
        )

    def _check_shares(self, name: str, table: NDArray[np.float64]) -> None:
        wrong = np.argwhere(
            (np.abs(table.sum(axis=2) - 1.0) > SUM_TOLERANCE) | (table < 0).any(axis=2)
        )
        if len(wrong):
            action, state = wrong[0]
            raise DataError(
                f"{name}: the probabilities of state {self.state_names[state]!r} with action "
                f"{self.action_names[action]!r} sum to {table[action, state].sum():.6g}, or some "
                "are negative."
            )

    @property
    def state_names(self) -> tuple[Hashable, ...]:
        """Names of the states."""
        return tuple(self.states or ())

    @property
    def action_names(self) -> tuple[Hashable, ...]:
        """Names of the actions."""
        return tuple(self.actions or ())

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.transitions.shape[1]

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return self.transitions.shape[0]

    @property
    def n_observations(self) -> int:
        """Number of observations."""
        return self.observation_shares.shape[2]

    @cached_property
    def joint(self) -> NDArray[np.float64]:
        r""":math:`P(s', o \mid s, a)` by action, observation, state and next state."""
        return np.einsum("ast,ato->aost", self.transitions, self.observation_shares)

    def action_code(self, action: Any) -> int:
        """Return the number of an action by its name or number."""
        return _code("action", action, self.action_names)

    def observation_code(self, observation: Any) -> int:
        """Return the number of an observation by its name or number."""
        return _code("observation", observation, tuple(self.observations or ()))

    def update(self, belief: ArrayLike, action: Any, observation: Any) -> NDArray[np.float64]:
        r"""Return the belief after an action and what was seen then.

        Parameters
        ----------
        belief
            Probability of each state.
        action, observation
            Names or numbers.

        Notes
        -----
        :math:`b'(s') \propto P(o \mid s', a) \sum_s P(s' \mid s, a) b(s)`. See Alpaydin 18.7.1.
        """
        shares = check_distribution("belief", belief, self.n_states)
        code = self.action_code(action), self.observation_code(observation)
        joint = shares @ self.joint[code]
        total = joint.sum()
        if not total > 0:
            raise DataError(f"observation {observation!r} has probability 0 after this belief.")
        return joint / total

    def observation_probabilities(self, belief: ArrayLike, action: Any) -> NDArray[np.float64]:
        """Return the probability of each observation after an action.

        Parameters
        ----------
        belief
            Probability of each state.
        action
            Name or number.
        """
        shares = check_distribution("belief", belief, self.n_states)
        return np.einsum("s,ost->o", shares, self.joint[self.action_code(action)])

    def filter(
        self, actions: Sequence[Any], observations: Sequence[Any], belief: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Return the belief after each of some actions and observations.

        Parameters
        ----------
        actions, observations
            What was done and seen, in order.
        belief
            Belief before; None for that of the start.
        """
        if len(actions) != len(observations):
            raise DataError(f"{len(actions)} actions, but {len(observations)} observations.")
        current = self.start if belief is None else belief
        rows = []
        for action, observation in zip(actions, observations, strict=True):
            current = self.update(current, action, observation)
            rows.append(current)
        return np.asarray(rows).reshape(-1, self.n_states)

    def underlying(self) -> MarkovDecisionProcess:
        """Return the process of an agent that sees the state; actions that end lead to an end."""
        moves = self.transitions
        n_states, names = self.n_states, self.state_names
        gains = self.rewards
        if self.ending.any():
            wider = np.zeros((self.n_actions, n_states + 1, n_states + 1))
            wider[:, :n_states, :n_states] = np.where(self.ending[:, None, None], 0.0, moves)
            wider[self.ending, :n_states, n_states] = 1.0
            wider[:, n_states, n_states] = 1.0
            moves, gains = wider, np.vstack([gains, np.zeros(self.n_actions)])
            names = (*names, "end")
        start = np.append(self.start, [0.0] * (len(names) - n_states))
        return MarkovDecisionProcess.from_arrays(
            moves, gains, self.discount, start=start, states=names, actions=self.action_names
        )


def fully_observed(process: MarkovDecisionProcess) -> PartiallyObservableProcess:
    """Return a process whose observation is the state itself.

    Parameters
    ----------
    process
        A process in which every state offers all actions.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, fully_observed
    >>> fully_observed(GridWorld("S.G").process)
    PartiallyObservableProcess(3 states, 4 actions, 3 observations, discount 0.9)
    """
    check_type("process", process, MarkovDecisionProcess)
    if not process.available.all():
        raise DataError("process: some state does not offer all actions.")
    shape = (process.n_states, process.n_actions, process.n_states)
    moves = process.transitions.toarray().reshape(shape).transpose(1, 0, 2)
    seen = np.tile(np.eye(process.n_states), (process.n_actions, 1, 1))
    return PartiallyObservableProcess(
        moves, seen, process.rewards, process.discount, process.start,
        states=process.states, actions=process.actions, observations=process.states,
    )  # fmt: skip


class PartialEnvironment:
    """A world that follows a partially observable process; a window of observations is the state.

    Parameters
    ----------
    process
        The process.
    window
        Number of last observations, with the actions before them, that make up the state.
    random_state
        Seed.

    Attributes
    ----------
    hidden_state
        The state that nobody sees.

    Notes
    -----
    States are numbered, so that agents with tables can learn: 0 before anything was seen, then one
    number for each sequence of up to `window` actions and observations. A network that takes
    sequences can be given `history` instead. See Alpaydin 18.7.1.

    Examples
    --------
    >>> from verulam.reinforcement import PartialEnvironment, tiger
    >>> world = PartialEnvironment(tiger(), window=1, random_state=0)
    >>> world.reset()[0], world.step(2)[1], world.n_states
    (0, -1.0, 7)
    """

    def __init__(
        self, process: PartiallyObservableProcess, *, window: int = 1, random_state: Seed = None
    ) -> None:
        check_type("process", process, PartiallyObservableProcess)
        self.process = process
        self.window = check_count("window", window)
        self.chance = Stream(generator(random_state))
        self.history: list[tuple[int, int]] = []
        self.hidden_state = -1
        pairs = process.n_actions * process.n_observations
        self.n_states = sum(pairs**length for length in range(window + 1))

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return self.process.n_actions

    @property
    def discount(self) -> float:
        """Discount of the process."""
        return self.process.discount

    def reset(self, *, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        """Begin an episode, and return the number of the empty window.

        Parameters
        ----------
        seed
            Seed of all that follows; None goes on with the present one.
        """
        if seed is not None:
            self.chance = Stream(generator(seed))
        self.hidden_state = self._draw(self.process.start)
        self.history = []
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Act, and return the window's number, reward, whether the episode is over, False, nothing.

        Parameters
        ----------
        action
            Number of the action.
        """
        process = self.process
        if self.hidden_state < 0:
            raise DataError("reset the environment before the first step.")
        code = int(check_codes("action", [action], process.n_actions)[0])
        reward = float(process.rewards[self.hidden_state, code])
        self.hidden_state = self._draw(process.transitions[code, self.hidden_state])
        seen = self._draw(process.observation_shares[code, self.hidden_state])
        self.history.append((code, seen))
        over = bool(process.ending[code])
        return self._window_code(), reward, over, False, {"observation": seen}

    def _draw(self, shares: NDArray[np.float64]) -> int:
        place = int(np.searchsorted(np.cumsum(shares), self.chance.next(), side="right"))
        return min(place, int(np.flatnonzero(shares)[-1]))

    def _window_code(self) -> int:
        pairs = self.process.n_actions * self.process.n_observations
        recent = self.history[-self.window :]
        code = 0
        for action, observation in recent:
            code = code * pairs + action * self.process.n_observations + observation
        return code + sum(pairs**length for length in range(len(recent)))


def _code(kind: str, value: Any, names: tuple[Hashable, ...]) -> int:
    if value in names:
        return names.index(value)
    if isinstance(value, int | np.integer) and 0 <= value < len(names):
        return int(value)
    raise DataError(f"{kind} is {value!r}; expected one of {', '.join(map(repr, names))}.")
