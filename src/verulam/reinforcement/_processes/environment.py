"""Worlds that an agent acts in step by step, and what a sequence of rewards is worth."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, Seed, generator
from verulam.reinforcement._checks import check_array, check_count, check_number, check_type
from verulam.reinforcement._processes.environment_loops import draw_code, draw_entry
from verulam.reinforcement._processes.process import MarkovDecisionProcess

#: Random numbers that are drawn ahead.
BLOCK = 4096


class Stream:
    """Random numbers drawn ahead, handed out one by one or in blocks with the same outcome.

    Parameters
    ----------
    random
        Where they come from.
    normal
        Whether they are standard normal; uniform otherwise.
    """

    def __init__(self, random: np.random.Generator, normal: bool = False) -> None:
        self._random = random
        self._normal = normal
        self._numbers: NDArray[np.float64] = np.empty(0)
        self._place = 0

    def next(self) -> float:
        """Return the next number."""
        if self._place == len(self._numbers):
            self.block(BLOCK)
        self._place += 1
        return float(self._numbers[self._place - 1])

    def block(self, count: int) -> NDArray[np.float64]:
        """Return at least so many numbers that come next, without using them up."""
        left = self._numbers[self._place :]
        if len(left) < count:
            size = max(count - len(left), BLOCK)
            draw = self._random.standard_normal if self._normal else self._random.random
            left = np.concatenate([left, draw(size)])
            self._numbers, self._place = left, 0
        return left

    def advance(self, count: int) -> None:
        """Use up numbers of the block that was returned last."""
        self._place += count

    def state(self) -> dict[str, Any]:
        """Return what is needed to go on: the generator's state and the numbers drawn ahead."""
        return {
            "bits": self._random.bit_generator.state,
            "numbers": self._numbers[self._place :].tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        kind = getattr(np.random, str(state["bits"]["bit_generator"]), None)
        if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
            raise DataError(f"no bit generator is called {state['bits']['bit_generator']!r}.")
        bits = kind()
        bits.state = state["bits"]
        self._random = np.random.Generator(bits)
        self._numbers, self._place = np.asarray(state["numbers"], dtype=np.float64), 0


class ProcessEnvironment:
    """A world that follows a process, with the methods of a Gymnasium environment.

    Parameters
    ----------
    process
        The process.
    random_state
        Seed.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, ProcessEnvironment
    >>> world = ProcessEnvironment(GridWorld("S.G", goal_reward=1.0).process, random_state=0)
    >>> state, _ = world.reset()
    >>> east = world.process.actions.index("east")
    >>> world.step(east)[:3], world.step(east)[:3]
    ((1, 0.0, False), (2, 1.0, True))
    """

    def __init__(self, process: MarkovDecisionProcess, *, random_state: Seed = None) -> None:
        check_type("process", process, MarkovDecisionProcess)
        self.process = process
        self._seed(random_state)
        self._state = -1

    def _seed(self, random_state: Seed) -> None:
        chance, noise = generator(random_state).spawn(2)
        self.chance = Stream(chance)
        self.normals = Stream(noise, normal=True)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.process.n_states

    @property
    def n_actions(self) -> int:
        """Number of actions."""
        return self.process.n_actions

    @property
    def available(self) -> NDArray[np.bool_]:
        """Which actions each state offers."""
        return self.process.available

    def reset(self, *, seed: int | None = None) -> tuple[int, dict[str, Any]]:
        """Begin an episode, and return its first state.

        Parameters
        ----------
        seed
            Seed of all that follows; None goes on with the present one.
        """
        if seed is not None:
            self._seed(seed)
        self._state = int(draw_code(np.cumsum(self.process.start), self.chance.next()))
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Act, and return next state, reward, whether the episode is over, False, and nothing.

        Parameters
        ----------
        action
            Number of the action.
        """
        process = self.process
        if self._state < 0:
            raise DataError("reset the environment before the first step.")
        if not 0 <= action < process.n_actions or not process.available[self._state, action]:
            raise DataError(
                f"action is {action!r}, which state {process.states[self._state]!r} does not offer."
            )
        table = process.transitions
        row = self._state * process.n_actions + int(action)
        place = int(draw_entry(table.indptr, table.data, row, self.chance.next()))
        reward = float(process.outcome_rewards[place])
        if process.noise is not None:
            reward += float(process.noise[place]) * self.normals.next()
        self._state = int(table.indices[place])
        return self._state, reward, bool(process.terminal[self._state]), False, {}


def discounted_return(
    rewards: ArrayLike, discount: float = 1.0, *, horizon: int | None = None
) -> float:
    r"""Return :math:`\sum_{i=1}^{T} \gamma^{i-1} r_i` of a sequence of rewards.

    Parameters
    ----------
    rewards
        Rewards in order.
    discount
        :math:`\gamma`; 1 for the plain sum, 0 for the first reward alone.
    horizon
        Number of rewards T that count; None for all.

    Notes
    -----
    See Alpaydin 18.3, equations 18.3-18.4.

    Examples
    --------
    >>> from verulam.reinforcement import discounted_return
    >>> discounted_return([0.0, 0.0, 100.0], 0.9)
    81.0
    >>> discounted_return([1.0, 2.0, 3.0], horizon=2)
    3.0
    """
    check_number("discount", discount, 0.0, 1.0)
    values = check_array("rewards", rewards, (None,))
    if horizon is not None:
        values = values[: check_count("horizon", horizon, 0)]
    return float(values @ discount ** np.arange(len(values)))


def returns_to_go(rewards: ArrayLike, discount: float = 1.0) -> NDArray[np.float64]:
    """Return what follows each step of an episode, in order.

    Parameters
    ----------
    rewards
        Rewards in order.
    discount
        What a reward one step later is worth.

    Examples
    --------
    >>> from verulam.reinforcement import returns_to_go
    >>> returns_to_go([0.0, 0.0, 100.0], 0.9).tolist()
    [81.0, 90.0, 100.0]
    """
    check_number("discount", discount, 0.0, 1.0)
    totals = check_array("rewards", rewards, (None,)).copy()
    for place in range(len(totals) - 2, -1, -1):
        totals[place] += discount * totals[place + 1]
    return totals
