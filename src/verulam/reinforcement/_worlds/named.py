"""Worlds by name, for comparisons of agents that others can repeat."""

from collections.abc import Callable

from verulam.base import unknown_name
from verulam.reinforcement._worlds.grid import GridWorld, cliff_world, four_rooms


def _corridor() -> GridWorld:
    return GridWorld("S.........G", goal_reward=1.0, slip=0.1, discount=0.95)


def _small_grid() -> GridWorld:
    return GridWorld(
        "...G\n.#.P\nS...", goal_reward=1.0, pit_reward=-1.0, step_reward=-0.04, slip=0.2,
        discount=1.0,
    )  # fmt: skip


def _maze() -> GridWorld:
    lines = [
        ".......#G", "..#....#.", "S.#....#.", "..#......", ".....#...", ".........",
    ]  # fmt: skip
    return GridWorld(lines, goal_reward=1.0, discount=0.95)


def _slippery_rooms() -> GridWorld:
    return four_rooms(slip=0.3)


#: Worlds by name. The small grid is that of Russell and Norvig (2021), section 17.1, the maze that
#: of Sutton and Barto (2018), figure 8.2.
WORLDS: dict[str, Callable[[], GridWorld]] = {
    "cliff": cliff_world,
    "corridor": _corridor,
    "four rooms": four_rooms,
    "maze": _maze,
    "slippery rooms": _slippery_rooms,
    "small grid": _small_grid,
}


def named_world(name: str) -> GridWorld:
    """Return a world by its name, whatever its case.

    Parameters
    ----------
    name
        "cliff", "corridor", "four rooms", "maze", "slippery rooms" or "small grid".

    Notes
    -----
    The small grid is that of Russell and Norvig (2021), the maze that of Sutton and Barto (2018),
    figure 8.2.

    Examples
    --------
    >>> from verulam.reinforcement import named_world, value_iteration
    >>> world = named_world("maze")
    >>> print(world.show())
    . . . . . . . # G
    . . # . . . . # .
    S . # . . . . # .
    . . # . . . . . .
    . . . . . # . . .
    . . . . . . . . .
    """
    plain = " ".join(str(name).lower().replace("-", " ").replace("_", " ").split())
    if plain not in WORLDS:
        raise unknown_name("world", str(name), WORLDS)
    return WORLDS[plain]()
