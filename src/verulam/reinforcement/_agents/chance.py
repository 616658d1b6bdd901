"""The agent that learns nothing: all actions alike, beside which others show what learning adds."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.reinforcement._agents.protocol import Agent, Transition
from verulam.reinforcement._agents.tabular import TDPrediction


class RandomAgent(Agent):
    """Take any action that a state offers, all as likely, and learn nothing.

    Parameters
    ----------
    random_state
        Seed.

    Notes
    -----
    The baseline of a comparison: an agent that gets no more has learned nothing.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, RandomAgent, train
    >>> agent = RandomAgent(random_state=0)
    >>> run = train(agent, GridWorld("S..G").process, episodes=3)
    >>> agent.policy()[0].tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    def act(self, state: Any) -> int:
        """Return any action that a state offers."""
        spaces = self._started()
        choices = np.arange(spaces.n_actions)
        if spaces.available is not None and spaces.n_states is not None:
            choices = np.flatnonzero(spaces.available[state])
        return int(choices[int(self.lots.next() * len(choices))])

    def learn(self, transition: Transition) -> None:
        """Learn nothing."""

    def policy(self) -> NDArray[np.float64] | Callable[[Any], int]:
        """Return equal probabilities for numbered states, or a function of the state."""
        spaces = self._started()
        if spaces.n_states is None:
            return self.act
        offered = spaces.offered()
        return offered / offered.sum(axis=1, keepdims=True)

    def stand_in(self) -> Agent:
        """Return an agent with a table that acts alike, which known processes run compiled."""
        spaces = self._started()
        if spaces.n_states is None:
            return self
        actor = TDPrediction(discount=1.0 if spaces.discount is None else None).start(spaces)
        actor.lots = self.lots
        return actor

    def values(self) -> NDArray[np.float64]:
        """Return zeros: it holds no action better than another."""
        spaces = self._started()
        return np.zeros((spaces.n_states or 1, spaces.n_actions))
