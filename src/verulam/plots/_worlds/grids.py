"""Grid worlds: values and policies on their map, and an episode as an animation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour
from verulam.reinforcement import GridWorld

#: Change of column and row of each action, in the order of a grid's actions.
_ARROWS = ((0, -1), (1, 0), (0, 1), (-1, 0))
_NAMES = {"G": "goal", "P": "pit", "S": "start", "C": "cliff"}


def value_map(
    world: GridWorld,
    values: ArrayLike | None = None,
    *,
    policy: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the map of a grid world, with the values of its cells and the arrows of a policy.

    Parameters
    ----------
    world
        The world.
    values
        One number for each state; None draws the map alone.
    policy
        An action for each state; several arrows where it is a table of probabilities.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import value_map
    >>> from verulam.reinforcement import GridWorld, value_iteration
    >>> world = GridWorld("S..G", goal_reward=100.0)
    >>> plan = value_iteration(world.process)
    >>> axes = value_map(world, plan.values, policy=plan.policy)
    >>> [text.get_text() for text in axes.texts][:3]
    ['81', '90', '100']
    """
    if not isinstance(world, GridWorld):
        raise DataError(f"world is of type {type(world).__name__}; expected a GridWorld.")
    rows, columns = world.shape
    ax = axes_or_new(ax, 0.75 * columns + 1.0, 0.75 * rows + 0.4)
    if values is not None:
        _shade(ax, world, values)
    for row in range(rows):
        for column in range(columns):
            _draw_cell(ax, str(world.cells[row, column]), row, column, values is not None)
    if policy is not None:
        _draw_arrows(ax, world, policy)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal")
    ax.set(xticks=range(columns), yticks=range(rows))
    ax.tick_params(length=0)
    return ax


def _shade(ax: Axes, world: GridWorld, values: ArrayLike) -> None:
    table = world.grid(values)
    ends = np.isin(world.cells, ["G", "P"])
    shown = np.where(ends, np.nan, table)
    largest = float(np.nanmax(np.abs(shown), initial=1e-12))
    lowest = float(np.nanmin(shown, initial=0.0))
    # One hue for values of one sign, two around zero where there are both.
    scale: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.6 * largest}
    if lowest < 0:
        scale = {"cmap": "RdBu", "vmin": -1.6 * largest, "vmax": 1.6 * largest}
    ax.imshow(shown, **scale)
    for row, column in np.argwhere(np.isfinite(shown)):
        number = shown[row, column]
        ax.text(column, row + 0.3, _number(number, largest), ha="center", va="center", fontsize=8)


def _number(value: float, largest: float) -> str:
    digits = int(np.clip(2 - np.floor(np.log10(max(largest, 1e-12))), 0, 3))
    return f"{value:.{digits}f}"


def _draw_cell(ax: Axes, sign: str, row: int, column: int, has_values: bool) -> None:
    fills = {"#": "0.35", "C": "0.6", "G": colour(2), "P": colour(1)}
    corner = (column - 0.5, row - 0.5)
    ax.add_patch(
        Rectangle(corner, 1, 1, facecolor=fills.get(sign, "none"), edgecolor="0.8", linewidth=0.8)
    )
    if sign in "GP":
        ax.text(column, row, _NAMES[sign], ha="center", va="center", fontsize=8, color="white")
    elif sign == "S":
        x, y = (column - 0.45, row - 0.3) if has_values else (column, row)
        side = "left" if has_values else "center"
        ax.text(x, y, _NAMES[sign], ha=side, va="center", fontsize=7, color="0.1")


def _draw_arrows(ax: Axes, world: GridWorld, policy: ArrayLike) -> None:
    process = world.process
    table = np.asarray(policy)
    if table.shape == (process.n_states,):
        if not np.isin(table, np.arange(process.n_actions)).all():
            raise DataError(f"policy must hold whole numbers from 0 to {process.n_actions - 1}.")
        table = np.eye(process.n_actions)[table.astype(np.int64)]
    if table.shape != (process.n_states, process.n_actions):
        raise DataError(f"policy has shape {table.shape}; expected one action for each state.")
    for (row, column), shares in zip(process.states, table, strict=True):
        if world.cells[row, column] in "GP":
            continue
        for action in np.flatnonzero(shares > 1e-9):
            right, down = _ARROWS[action]
            ax.annotate(
                "",
                (column + 0.3 * right, row - 0.12 + 0.25 * down),
                (column - 0.12 * right, row - 0.12 - 0.12 * down),
                arrowprops={"arrowstyle": "->", "color": "0.15", "linewidth": 1.2},
            )


def episode_animation(
    world: GridWorld,
    states: Sequence[int],
    *,
    values: ArrayLike | None = None,
    policy: ArrayLike | None = None,
    interval: int = 300,
    ax: Axes | None = None,
) -> FuncAnimation:
    """Return an animation of an episode on the map of a grid world.

    Parameters
    ----------
    world
        The world.
    states
        Numbers of the states that the agent came through.
    values, policy
        What `value_map` draws below.
    interval
        Milliseconds between two steps.
    ax
        Axes to draw on.

    Notes
    -----
    Show it in a notebook by ``HTML(animation.to_jshtml())``, or save it by
    ``animation.save("episode.gif")``.

    Examples
    --------
    >>> from verulam.plots import episode_animation
    >>> from verulam.reinforcement import GridWorld
    >>> animation = episode_animation(GridWorld("S..G"), [0, 1, 2, 3])
    >>> animation.new_frame_seq().__length_hint__()
    4
    >>> len(animation.to_jshtml()) > 1000
    True
    """
    codes = np.asarray(states)
    if codes.ndim != 1 or not len(codes) or not np.issubdtype(codes.dtype, np.integer):
        raise DataError("states must be a list of numbers of states, at least one.")
    if codes.min() < 0 or codes.max() >= world.process.n_states:
        raise DataError(f"states must lie from 0 to {world.process.n_states - 1}.")
    ax = value_map(world, values, policy=policy, ax=ax)
    places = np.array([world.process.states[code] for code in codes], dtype=np.float64)
    (path,) = ax.plot([], [], "-", color=colour(4), linewidth=2.0, alpha=0.8)
    (spot,) = ax.plot([], [], "o", color=colour(4), markeredgecolor="black", markersize=13)

    def show(step: int) -> tuple[Any, ...]:
        row, column = places[step]
        path.set_data(places[: step + 1, 1], places[: step + 1, 0])
        spot.set_data([column], [row])
        ax.set_title(f"step {step}", fontsize=9)
        return path, spot

    show(0)
    figure: Any = ax.figure
    return FuncAnimation(figure, show, frames=len(codes), interval=interval)
