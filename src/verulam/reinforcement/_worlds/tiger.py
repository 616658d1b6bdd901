"""The tiger behind one of two doors: listen, or open one."""

import numpy as np
from numpy.typing import ArrayLike

from verulam.reinforcement._checks import check_array, check_number
from verulam.reinforcement._partial.process import PartiallyObservableProcess

STATES = ("tiger left", "tiger right")
ACTIONS = ("open left", "open right", "sense")
OBSERVATIONS = ("hear left", "hear right")


def tiger(
    *,
    rewards: ArrayLike = ((-100.0, 80.0), (90.0, -100.0)),
    sensing_reward: float = -1.0,
    accuracy: float = 0.7,
    stay: float = 1.0,
    discount: float = 1.0,
) -> PartiallyObservableProcess:
    """Return the tiger problem of Alpaydin 18.7.2, with any numbers.

    Parameters
    ----------
    rewards
        Rows for opening left and right, columns for the tiger on the left and right.
    sensing_reward
        Reward of sensing.
    accuracy
        Probability that sensing tells the right side.
    stay
        Probability that the tiger stays where it is while somebody senses: .2 for the restless one.
    discount
        From 0 to 1.

    Notes
    -----
    The episode ends when a door is opened. The book's envelope of equation 18.25 leaves out two
    lines that sense again; with them it has five pieces, with breaks .2596, .3180, .6562 and .7174.
    These leave the price of the first sensing out, as `after_action` does; charged, as in
    `solve_exactly`, the outer two move to .2703 and .7070.

    Examples
    --------
    >>> from verulam.reinforcement import after_action, solve_exactly, tiger
    >>> process = tiger()
    >>> first = solve_exactly(process, 1)[0]
    >>> after_action(process, first, "sense").breaks().round(4).tolist()
    [0.2596, 0.318, 0.6562, 0.7174]
    >>> restless = tiger(stay=0.2)
    >>> solve_exactly(restless, 2)[1].breaks().round(4).tolist()
    [0.281, 0.6725]
    """
    gains = check_array("rewards", rewards, (2, 2))
    check_number("sensing_reward", sensing_reward)
    check_number("accuracy", accuracy, 0.0, 1.0)
    check_number("stay", stay, 0.0, 1.0)
    moves = np.tile(np.eye(2), (3, 1, 1))
    moves[2] = [[stay, 1.0 - stay], [1.0 - stay, stay]]
    seen = np.full((3, 2, 2), 0.5)
    seen[2] = [[accuracy, 1.0 - accuracy], [1.0 - accuracy, accuracy]]
    table = np.column_stack([gains.T, np.full(2, float(sensing_reward))])
    return PartiallyObservableProcess(
        moves, seen, table, discount, ending=[True, True, False],
        states=STATES, actions=ACTIONS, observations=OBSERVATIONS,
    )  # fmt: skip


def classic_tiger(*, accuracy: float = 0.85, discount: float = 0.95) -> PartiallyObservableProcess:
    """Return the tiger problem of Kaelbling, Littman and Cassandra (1998), which goes on for ever.

    Parameters
    ----------
    accuracy
        Probability that listening tells the right side.
    discount
        Below 1.

    Notes
    -----
    Opening the tiger's door costs 100, the other one gives 10, listening costs 1; after a door is
    opened the tiger is put behind either one again. The value of the uniform belief is 19.3714.

    Examples
    --------
    >>> from verulam.reinforcement import classic_tiger, solve_exactly
    >>> values = solve_exactly(classic_tiger(), tol=1e-7)[-1]
    >>> round(values.value([0.5, 0.5]), 4)
    19.3714
    """
    check_number("accuracy", accuracy, 0.0, 1.0)
    moves = np.full((3, 2, 2), 0.5)
    moves[2] = np.eye(2)
    seen = np.full((3, 2, 2), 0.5)
    seen[2] = [[accuracy, 1.0 - accuracy], [1.0 - accuracy, accuracy]]
    gains = np.array([[-100.0, 10.0, -1.0], [10.0, -100.0, -1.0]])
    return PartiallyObservableProcess(
        moves, seen, gains, check_number("discount", discount, 0.0, 1.0, open_high=True),
        states=STATES, actions=ACTIONS, observations=OBSERVATIONS,
    )  # fmt: skip
