"""Learning automata: probabilities of actions that move with reward and penalty."""

import numpy as np
from numpy.typing import NDArray

from verulam.base import Seed, generator
from verulam.reinforcement._checks import check_count, check_number


class LearningAutomaton:
    r"""Action probabilities that reward moves towards an action and penalty away from it.

    Parameters
    ----------
    n_actions
        Number of actions.
    reward_rate
        Step :math:`a` after a reward.
    penalty_rate
        Step :math:`b` after a penalty: as `reward_rate` for linear reward-penalty, 0 for linear
        reward-inaction, which settles on one action.
    random_state
        Seed.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_actions,)
        Probability of each action.

    Notes
    -----
    After action i with response :math:`\beta \in [0, 1]` (1 is reward),

    .. math::

        p \leftarrow p + \beta a (e_i - p) + (1 - \beta) b \left(\frac{1 - e_i}{K - 1} - p\right).

    See Alpaydin 18.8, and Narendra and Thathachar (1974).

    Examples
    --------
    >>> from verulam.reinforcement import LearningAutomaton
    >>> automaton = LearningAutomaton(3, reward_rate=0.1, penalty_rate=0.1)
    >>> automaton.learn(0, 1.0).probabilities_.round(3).tolist()
    [0.4, 0.3, 0.3]
    """

    def __init__(
        self,
        n_actions: int,
        *,
        reward_rate: float = 0.05,
        penalty_rate: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        self.n_actions = check_count("n_actions", n_actions, 2)
        self.reward_rate = check_number("reward_rate", reward_rate, 0.0, 1.0)
        self.penalty_rate = check_number("penalty_rate", penalty_rate, 0.0, 1.0)
        self._random = generator(random_state)
        self.probabilities_: NDArray[np.float64] = np.full(n_actions, 1.0 / n_actions)

    def act(self) -> int:
        """Draw an action."""
        place = int(np.searchsorted(np.cumsum(self.probabilities_), self._random.random(), "right"))
        return min(place, self.n_actions - 1)

    def learn(self, action: int, response: float) -> "LearningAutomaton":
        """Move the probabilities after an action, and return the automaton.

        Parameters
        ----------
        action
            Number of the action.
        response
            From 0, a penalty, to 1, a reward.
        """
        check_count("action", action, 0)
        check_number("action", action, 0, self.n_actions - 1)
        check_number("response", response, 0.0, 1.0)
        corner = np.zeros(self.n_actions)
        corner[action] = 1.0
        others = (1.0 - corner) / (self.n_actions - 1)
        shares = self.probabilities_
        self.probabilities_ = (
            shares
            + response * self.reward_rate * (corner - shares)
            + (1.0 - response) * self.penalty_rate * (others - shares)
        )
        return self
