"""The protocol of agents, transitions that they learn from, and the spaces that they act in."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from verulam.base import DataError, Seed, generator
from verulam.reinforcement._checks import check_array, check_codes, check_type
from verulam.reinforcement._processes.environment import ProcessEnvironment, Stream
from verulam.reinforcement._processes.process import MarkovDecisionProcess


class Transition(NamedTuple):
    """One step of an agent.

    Attributes
    ----------
    state, action
        What the agent saw and did.
    reward
        What it got.
    next_state
        What it saw then.
    terminated
        Whether the episode came to its end there.
    truncated
        Whether the episode was broken off there.

    Examples
    --------
    >>> from verulam.reinforcement import Transition
    >>> Transition(0, 1, 5.0, 2, terminated=True).reward
    5.0
    """

    state: Any
    action: int
    reward: float
    next_state: Any
    terminated: bool = False
    truncated: bool = False


@dataclass(frozen=True, eq=False)
class TransitionLog:
    """Transitions that somebody has made, in the order of their making.

    Attributes
    ----------
    states, actions, rewards, next_states
        What was seen, done, got, and seen then.
    terminated
        Where episodes came to their end.
    truncated
        Where episodes were broken off.

    Examples
    --------
    >>> from verulam.reinforcement import Transition, TransitionLog
    >>> log = TransitionLog.of([Transition(0, 1, 0.0, 1), Transition(1, 1, 5.0, 2, True)])
    >>> len(log), log.rewards.tolist()
    (2, [0.0, 5.0])
    """

    states: NDArray[Any]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    next_states: NDArray[Any]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]

    @classmethod
    def of(cls, transitions: Iterable[Transition]) -> "TransitionLog":
        """Return the log of some transitions."""
        rows = list(transitions)
        if not rows:
            raise DataError("transitions is empty; expected at least one.")
        states, actions, rewards, successors, over, cut = zip(*rows, strict=True)
        return cls(
            np.asarray(states), np.asarray(actions, dtype=np.int64),
            np.asarray(rewards, dtype=np.float64), np.asarray(successors),
            np.asarray(over, dtype=bool), np.asarray(cut, dtype=bool),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.actions)


@dataclass(frozen=True, eq=False)
class Spaces:
    """What an agent can meet and do.

    Attributes
    ----------
    n_states
        Number of states; None where a state is a vector of numbers.
    n_actions
        Number of actions.
    available
        Which actions each state offers; None where all do.
    state_size
        Length of such a vector.
    discount
        That of the process where it is known; None otherwise.
    """

    n_states: int | None
    n_actions: int
    available: NDArray[np.bool_] | None = None
    state_size: int = 1
    discount: float | None = None

    @classmethod
    def of(cls, environment: Any) -> "Spaces":
        """Return the spaces of a process, an environment of ours or of Gymnasium."""
        if isinstance(environment, MarkovDecisionProcess):
            process = environment
            return cls(process.n_states, process.n_actions, process.available, 1, process.discount)
        if isinstance(environment, ProcessEnvironment):
            return cls.of(environment.process)
        if not (hasattr(environment, "reset") and hasattr(environment, "step")):
            raise DataError(
                f"environment is of type {type(environment).__name__}; expected a process or "
                "something with reset and step, such as a Gymnasium environment."
            )
        if hasattr(environment, "n_states") and hasattr(environment, "n_actions"):
            offered = getattr(environment, "available", None)
            discount = getattr(environment, "discount", None)
            return cls(environment.n_states, environment.n_actions, offered, 1, discount)
        return cls._of_gymnasium(environment)

    @classmethod
    def _of_gymnasium(cls, environment: Any) -> "Spaces":
        choices: Any = getattr(environment, "action_space", None)
        if not hasattr(choices, "n"):
            raise DataError(
                f"environment has the action space {choices}; agents here choose among a finite "
                "number of actions: wrap it so that it offers some, for example with "
                "gymnasium.wrappers.TransformAction and a Discrete space."
            )
        seen: Any = getattr(environment, "observation_space", None)
        if hasattr(seen, "n"):
            return cls(int(seen.n), int(choices.n))
        shape = getattr(seen, "shape", None)
        if not shape:
            raise DataError(
                f"environment has the observation space {seen}; expected numbered states or "
                "vectors of numbers (flatten it first)."
            )
        return cls(None, int(choices.n), None, int(np.prod(shape)))

    def offered(self) -> NDArray[np.bool_]:
        """Return which actions each state offers, as a table."""
        if self.available is not None:
            return np.ascontiguousarray(self.available, dtype=bool)
        return np.ones((self.n_states or 1, self.n_actions), dtype=bool)


class Agent(BaseEstimator, ABC):
    """What acts, learns from what follows, and can say what it holds best.

    An agent of your own derives from this class and has four methods. As scikit-learn's estimators
    it has `get_params` and `set_params` and can be cloned: the constructor stores its arguments.

    Parameters
    ----------
    random_state
        Seed.

    Notes
    -----
    `train` calls `start` once, then by turns `act` and `learn`; the transition says where episodes
    end. An agent that has been started goes on from where it is.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.reinforcement import Agent, GridWorld, train
    >>> class Wanderer(Agent):
    ...     def act(self, state):
    ...         return int(self.lots.next() * self.spaces.n_actions)
    ...     def learn(self, transition):
    ...         pass
    ...     def policy(self):
    ...         return np.full((self.spaces.n_states, self.spaces.n_actions), 0.25)
    ...     def values(self):
    ...         return np.zeros(self.spaces.n_states)
    >>> train(Wanderer(random_state=0), GridWorld("S..G").process, episodes=3).n_episodes
    3
    """

    spaces: Spaces | None = None

    def __init__(self, *, random_state: Seed = None) -> None:
        self.random_state = random_state

    def start(self, spaces: Spaces) -> Self:
        """Forget all, and get ready to act in some spaces.

        Parameters
        ----------
        spaces
            What there is to meet and to do.
        """
        check_type("spaces", spaces, Spaces)
        self.spaces = spaces
        self.lots = Stream(generator(self.random_state))
        return self

    @abstractmethod
    def act(self, state: Any) -> int:
        """Return an action in a state."""

    @abstractmethod
    def learn(self, transition: Transition) -> Any:
        """Learn from one transition."""

    @abstractmethod
    def policy(self) -> Any:
        """Return the policy that the agent holds best, exploration left out."""

    @abstractmethod
    def values(self) -> Any:
        """Return the values of states or actions that the agent has come to."""

    def learn_from(self, log: TransitionLog | Iterable[Transition]) -> Self:
        """Learn from transitions that somebody else has made, in their order.

        Parameters
        ----------
        log
            The transitions.
        """
        log = log if isinstance(log, TransitionLog) else TransitionLog.of(log)
        for row in zip(
            log.states, log.actions, log.rewards, log.next_states, log.terminated, log.truncated,
            strict=True,
        ):  # fmt: skip
            self.learn(Transition(*row))
        return self

    def stand_in(self) -> "Agent":
        """Return what acts for it in `train`: itself, unless another does the same faster."""
        return self

    def break_off(self) -> None:
        """Forget an episode that will not go on; nothing, unless an agent has to."""
        return

    def _started(self) -> Spaces:
        if self.spaces is None:
            raise DataError("start the agent first, or give it to train together with a world.")
        return self.spaces


def check_log(log: Any, spaces: Spaces) -> TransitionLog:
    """Return a log whose states and actions are among those of numbered spaces."""
    log = log if isinstance(log, TransitionLog) else TransitionLog.of(log)
    n_states = spaces.n_states or 1
    length = len(log)
    return TransitionLog(
        check_codes("states", log.states, n_states, length),
        check_codes("actions", log.actions, spaces.n_actions, length),
        check_array("rewards", log.rewards, (length,)),
        check_codes("next_states", log.next_states, n_states, length),
        np.asarray(log.terminated, dtype=bool),
        np.asarray(log.truncated, dtype=bool),
    )


def tabular_policy(values: ArrayLike, available: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the first best action of each state."""
    return np.where(available, np.asarray(values), -np.inf).argmax(axis=1).astype(np.int64)


def cumulative_shares(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums of probabilities along rows, for draws that land on positive ones alone."""
    sums = np.cumsum(shares, axis=1)
    # Rounding must not let a draw fall on an action behind the last one that has a share.
    sums[sums >= sums[:, -1:] * (1.0 - 1e-12)] = 2.0
    return sums
