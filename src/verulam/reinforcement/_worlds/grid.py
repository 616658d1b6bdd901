"""Grid worlds typed as text: walls, goals, pits, a cliff, slips and noisy rewards."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.reinforcement._checks import check_array, check_codes, check_number
from verulam.reinforcement._processes.process import MarkovDecisionProcess

#: Moves by name: change of row and of column, in the order of the compass.
MOVES = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}
ARROWS = {"north": "↑", "east": "→", "south": "↓", "west": "←"}
SIGNS = "SGPC#."


class GridWorld:
    r"""A grid of cells with four moves, from a map that is typed as text.

    Parameters
    ----------
    text
        Lines of the map: ``S`` start, ``G`` goal, ``P`` pit, ``C`` cliff, ``#`` wall, ``.`` or a
        blank for a free cell. Without S an episode begins in any free cell.
    goal_reward, pit_reward
        Reward of the move that enters a goal or a pit, where the episode ends.
    cliff_reward
        Reward of the move that falls off the cliff, which ends at the start.
    step_reward
        Reward of every move, in addition.
    slip
        Probability that a move goes to one of its sides, half of it each.
    noise
        Standard deviation of the rewards of goals and pits.
    discount
        From 0 to 1.

    Attributes
    ----------
    process : MarkovDecisionProcess
        The world as a process; states are (row, column).

    Notes
    -----
    A move against a wall or out of the grid leaves the agent where it is. Without slips the best
    value of a cell d moves from the goal is :math:`r \gamma^{d-1}`. See Alpaydin 18.9, figure
    18.12, exercises 1 to 5.

    Examples
    --------
    >>> from verulam.reinforcement import GridWorld, value_iteration
    >>> world = GridWorld('''
    ... ...G
    ... .#.P
    ... S...
    ... ''', goal_reward=1.0, pit_reward=-1.0, step_reward=-0.04, slip=0.2, discount=1.0)
    >>> plan = value_iteration(world.process)
    >>> print(world.show(plan.values))
     0.812  0.868  0.918  0.000
     0.762  #####  0.660  0.000
     0.705  0.655  0.611  0.388
    >>> print(world.show(policy=plan.policy))
    → → → G
    ↑ # ↑ P
    ↑ ← ← ←
    """

    def __init__(
        self,
        text: str | Sequence[str],
        *,
        goal_reward: float = 1.0,
        pit_reward: float = -1.0,
        cliff_reward: float = -100.0,
        step_reward: float = 0.0,
        slip: float = 0.0,
        noise: float = 0.0,
        discount: float = 0.9,
    ) -> None:
        self.cells = _cells(text)
        self.goal_reward = check_number("goal_reward", goal_reward)
        self.pit_reward = check_number("pit_reward", pit_reward)
        self.cliff_reward = check_number("cliff_reward", cliff_reward)
        self.step_reward = check_number("step_reward", step_reward)
        self.slip = check_number("slip", slip, 0.0, 1.0)
        self.noise = check_number("noise", noise, 0.0)
        self.discount = check_number("discount", discount, 0.0, 1.0)
        self._check_goal()

    def __repr__(self) -> str:
        rows, columns = self.cells.shape
        start = "" if (self.cells == "S").any() else ", starts in any free cell"
        return f"GridWorld({rows} x {columns}, {len(self.process.states)} cells{start})"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.cells.shape[0], self.cells.shape[1]

    @cached_property
    def process(self) -> MarkovDecisionProcess:
        """The world as a process."""
        places = [(int(r), int(c)) for r, c in np.argwhere(~np.isin(self.cells, ["#", "C"]))]
        codes = {place: code for code, place in enumerate(places)}
        outcomes, spreads = [], []
        for place, code in codes.items():
            for action in range(len(MOVES)):
                if self.cells[place] in "GP":
                    outcomes.append((code, action, code, 1.0, 0.0))
                    spreads.append(0.0)
                    continue
                for share, move in self._moves(action):
                    target, reward, spread = self._entered(place, move)
                    for first, part in target:
                        outcomes.append((code, action, codes[first], share * part, reward))
                        spreads.append(spread)
        begins = self._starts()
        start = np.zeros(len(places))
        start[[codes[place] for place in begins]] = 1.0 / len(begins)
        return MarkovDecisionProcess.from_outcomes(
            outcomes, len(places), len(MOVES), self.discount, start=start, states=places,
            actions=tuple(MOVES), noise=spreads if self.noise else None,
        )  # fmt: skip

    def _starts(self) -> list[tuple[int, int]]:
        marked = np.argwhere(self.cells == "S")
        begins = marked if len(marked) else np.argwhere(self.cells == ".")
        return [(int(r), int(c)) for r, c in begins]

    def _moves(self, action: int) -> list[tuple[float, tuple[int, int]]]:
        steps = list(MOVES.values())
        if not self.slip:
            return [(1.0, steps[action])]
        sides = (steps[(action + 1) % 4], steps[(action - 1) % 4])
        straight = [(1.0 - self.slip, steps[action])] if self.slip < 1.0 else []
        return straight + [(self.slip / 2.0, side) for side in sides]

    def _entered(self, place: tuple[int, int], move: tuple[int, int]) -> tuple[Any, float, float]:
        """Return where a move leads, with shares, its reward and the spread of that."""
        row, column = place[0] + move[0], place[1] + move[1]
        inside = 0 <= row < self.shape[0] and 0 <= column < self.shape[1]
        sign = self.cells[row, column] if inside else "#"
        if sign == "#":
            return [(place, 1.0)], self.step_reward, 0.0
        if sign == "C":
            begins = self._starts()
            shares = [(first, 1.0 / len(begins)) for first in begins]
            return shares, self.step_reward + self.cliff_reward, 0.0
        entering = {"G": self.goal_reward, "P": self.pit_reward}.get(sign, 0.0)
        spread = self.noise if sign in "GP" else 0.0
        return [((row, column), 1.0)], self.step_reward + entering, spread

    def _check_goal(self) -> None:
        goals = np.isin(self.cells, ["G"])
        if not goals.any():
            raise DataError("text has no goal; mark one with G.")
        if not self._starts():
            raise DataError("text has no cell to start in; mark one with S.")
        process = self.process
        ends = np.array([self.cells[place] == "G" for place in process.states])
        reached = process.reaches(ends)
        lost = [process.states[code] for code in np.flatnonzero((process.start > 0) & ~reached)]
        if lost and (self.cells == "S").any():
            row, column = lost[0]
            raise DataError(
                f"text: no goal can be reached from the start in row {row}, column {column} "
                "(counted from 0)."
            )

    def grid(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return one number for each cell, NaN where there is a wall or a cliff.

        Parameters
        ----------
        values
            One number for each state.
        """
        process = self.process
        if getattr(values, "shape", None) == (process.n_states, process.n_actions):
            raise DataError(
                "values has a number for each state and action; expected one for each state, such "
                "as values.max(axis=1)."
            )
        numbers = check_array("values", values, (process.n_states,))
        table = np.full(self.shape, np.nan)
        rows, columns = np.asarray(self.process.states).T
        table[rows, columns] = numbers
        return table

    def show(self, values: ArrayLike | None = None, *, policy: ArrayLike | None = None) -> str:
        """Return the map as text, with the values of cells or the arrows of a policy.

        Parameters
        ----------
        values
            One number for each state.
        policy
            An action for each state; used where there are no values.
        """
        if values is not None:
            table = self.grid(values)
            return "\n".join(
                " ".join(
                    " #####" if np.isnan(number) else f"{number:6.3f}" for number in row
                ).rstrip()
                for row in table
            )
        signs = self.cells.copy()
        if policy is not None:
            arrows = list(ARROWS.values())
            codes = self.grid(check_codes("policy", policy, len(arrows), self.process.n_states))
            for place in self.process.states:
                if signs[place] not in "GP":
                    signs[place] = arrows[int(codes[place])]
        return "\n".join(" ".join(row) for row in signs)


def cliff_world(*, discount: float = 1.0) -> GridWorld:
    """Return the cliff walk: 4 x 12 cells, -1 a step, -100 and back to the start off the cliff.

    Parameters
    ----------
    discount
        From 0 to 1.

    Notes
    -----
    The best way runs along the edge. An agent that goes on exploring while it learns the values of
    what it does (Sarsa) keeps away from it. See Sutton and Barto (2018), example 6.6.

    Examples
    --------
    >>> from verulam.reinforcement import cliff_world, value_iteration
    >>> world = cliff_world()
    >>> float(value_iteration(world.process).values[world.process.state_code((3, 0))])
    -13.0
    """
    lines = ["............"] * 3 + ["SCCCCCCCCCCG"]
    return GridWorld(
        lines, goal_reward=0.0, step_reward=-1.0, cliff_reward=-99.0, discount=discount
    )


def four_rooms(
    goal: tuple[int, int] = (8, 9), *, slip: float = 0.0, discount: float = 0.95
) -> GridWorld:
    """Return four rooms with doors between them, and a goal in one.

    Parameters
    ----------
    goal
        Row and column of the goal.
    slip
        Probability that a move goes to one of its sides.
    discount
        From 0 to 1.

    Notes
    -----
    The map is that of Sutton, Precup and Singh (1999).

    Examples
    --------
    >>> from verulam.reinforcement import four_rooms
    >>> four_rooms()
    GridWorld(11 x 11, 104 cells, starts in any free cell)
    """
    lines = [
        ".....#.....", ".....#.....", "...........", ".....#.....", ".....#.....", "#.####.....",
        ".....###.##", ".....#.....", ".....#.....", "...........", ".....#.....",
    ]  # fmt: skip
    row, column = goal
    if not (0 <= row < 11 and 0 <= column < 11) or lines[row][column] == "#":
        raise DataError(f"goal is {goal!r}; expected row and column of a free cell.")
    lines[row] = lines[row][:column] + "G" + lines[row][column + 1 :]
    return GridWorld(lines, goal_reward=1.0, slip=slip, discount=discount)


def _cells(text: Any) -> NDArray[Any]:
    if isinstance(text, str):
        lines = text.strip("\n").splitlines()
    elif isinstance(text, Sequence) and all(isinstance(line, str) for line in text):
        lines = list(text)
    else:
        raise DataError(f"text is of type {type(text).__name__}; expected lines of a map.")
    if not lines or not max(map(len, lines)):
        raise DataError("text is empty; expected lines of a map.")
    width = max(map(len, lines))
    for number, line in enumerate(lines):
        for sign in line.replace(" ", "."):
            if sign not in SIGNS:
                raise DataError(
                    f"text: line {number} (counted from 0) has {sign!r}; expected S (start), "
                    "G (goal), P (pit), C (cliff), # (wall), or a dot or blank (free)."
                )
        if len(line) != width:
            raise DataError(
                f"text: line {number} (counted from 0) has {len(line)} cells and the longest has "
                f"{width}; expected lines of one length."
            )
    return np.array([list(line.replace(" ", ".")) for line in lines])
