"""The texts' remaining figures of local models, for the guide and the gallery."""

import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch

from verulam.base import DataWarning
from verulam.local import OnlineSelfOrganisingMap, RBFFeatures
from verulam.numerics import constant

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
#: Radius of a unit in a diagram, and how far above its centre a link begins that returns to it.
UNIT, LIFT = 0.3, 0.26


def draw_local_text(folder: Path) -> None:
    """Draw the pictures into `folder`."""
    for name, figure in (
        ("maps-network", _winner_take_all()),
        ("maps-neighbourhood", _neighbourhood()),
        ("local-bell", _bell()),
    ):
        figure.savefig(folder / f"{name}.png", dpi=110)
        plt.close(figure)


def _winner_take_all() -> plt.Figure:
    """Return figure 12.3: units that excite themselves and inhibit one another."""
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    inputs = [(x, 0.0) for x in (-2.7, -0.9, 0.9, 2.7)]
    units = [(x, 2.2) for x in (-2.2, 0.0, 2.2)]
    for place, unit in enumerate(units):
        for source in inputs:
            _link(ax, source, unit, arrowstyle="-|>", color="0.6")
        _link(
            ax, (unit[0] - 0.12, unit[1] + LIFT), (unit[0] + 0.12, unit[1] + LIFT), shrink=0.0,
            arrowstyle="-|>", color=GREEN, linestyle="--", connectionstyle="arc3,rad=-2.4",
        )  # fmt: skip
        for other in range(3):
            if other != place:
                _inhibit(ax, unit, units[other], 0.32 if abs(other - place) == 1 else 0.42)
        _draw_unit(ax, unit, f"$b_{place + 1}$", "white")
    for place, source in enumerate(inputs):
        _draw_unit(ax, source, f"$x_{place + 1}$", "0.82")
    ax.plot([], [], "--", color=GREEN, label="excites")
    ax.plot([], [], "--o", color=ORANGE, markersize=4, label="inhibits")
    ax.legend(frameon=False, loc="lower center", ncols=2, bbox_to_anchor=(0.5, -0.06))
    ax.set(xlim=(-3.2, 3.2), ylim=(-0.7, 3.6), aspect="equal")
    ax.axis("off")
    return figure


def _draw_unit(ax: Axes, place: tuple[float, float], name: str, shade: str) -> None:
    ax.add_patch(Circle(place, UNIT, facecolor=shade, edgecolor="black", zorder=3))
    ax.text(*place, name, ha="center", va="center", zorder=4)


def _link(
    ax: Axes, start: tuple[float, float], end: tuple[float, float], *, shrink: float = UNIT,
    **style: Any,
) -> None:  # fmt: skip
    """Draw a link between the rims of two units."""
    away = np.subtract(end, start)
    away = shrink * away / np.hypot(*away)
    ax.add_patch(
        FancyArrowPatch(
            tuple(np.add(start, away)),
            tuple(np.subtract(end, away)),
            shrinkA=0,
            shrinkB=0,
            mutation_scale=10,
            **style,
        )
    )


def _inhibit(ax: Axes, start: tuple[float, float], end: tuple[float, float], bend: float) -> None:
    """Draw a dashed link with a dot at its end, above towards the right and below to the left."""
    _link(
        ax, start, end, arrowstyle="-", color=ORANGE, linestyle="--",
        connectionstyle=f"arc3,rad={-bend}",
    )  # fmt: skip
    side = UNIT if end[0] < start[0] else -UNIT
    ax.plot(end[0] + side, end[1], "o", color=ORANGE, markersize=4, zorder=4)


def _neighbourhood() -> plt.Figure:
    """Return figure 12.5: the winner and its neighbours by index move, wherever these are."""
    chain = np.array([[0.3, 0.3], [1.2, 1.4], [2.6, 1.5], [3.9, 0.2], [4.6, 1.9], [5.4, 1.1]])
    row, winner = np.array([[2.3, 2.3]]), 2
    learner = OnlineSelfOrganisingMap(
        len(chain), neighbourhood="bubble", init=chain, first_radius=1.0, last_radius=1.0,
        learning_rate=constant(0.3),
    )  # fmt: skip
    with warnings.catch_warnings():
        # There is one row for six units, as in the text's figure.
        warnings.simplefilter("ignore", DataWarning)
        moved = learner.partial_fit(row).cluster_centers_
    figure, ax = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    ax.plot(*chain.T, "-", color="0.75", zorder=1)
    ax.plot(*chain.T, "o", color="0.55", markersize=9, label="units, joined where neighbours")
    ax.plot(
        *moved[winner - 1 : winner + 2].T, "o", color=BLUE, markersize=9, label="after the step"
    )
    ax.plot(*row.T, "o", markerfacecolor="white", color="black", markersize=9, label="row")
    for before, after in zip(chain, moved, strict=True):
        if (before != after).any():
            ax.annotate("", after, before, arrowprops={"arrowstyle": "->", "color": BLUE})
    for place, unit in enumerate(chain):
        name = "i" if place == winner else f"i{place - winner:+d}"
        ax.annotate(f"$m_{{{name}}}$", unit, (6, -15), textcoords="offset points")
    ax.annotate("$x$", row[0], (7, 4), textcoords="offset points")
    ax.set(xlim=(-0.2, 6.4), ylim=(-0.4, 3.1), xticks=[], yticks=[])
    ax.legend(loc="upper right", fontsize=8)
    return figure


def _bell() -> plt.Figure:
    """Return figure 12.6: one bell, and the two intervals in which it counts."""
    grid = np.linspace(-4.0, 4.0, 400)[:, None]
    unit = RBFFeatures(init=[[0.0]], bandwidth=1.0).fit(grid)
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    ax.plot(grid[:, 0], unit.transform(grid)[:, 0], color=BLUE)
    for spreads, shade, height in ((2.0, ORANGE, 0.30), (3.0, GREEN, 0.18)):
        value = float(unit.transform([[spreads]])[0, 0])
        ax.plot([-spreads, spreads], [value, value], "o", color=shade, markersize=5)
        ax.annotate(
            "", (-spreads, height), (spreads, height),
            arrowprops={"arrowstyle": "<->", "color": shade},
        )  # fmt: skip
        ax.text(0.0, height + 0.02, f"{spreads:.0f} spreads: {value:.3f} at the ends", ha="center")
        ax.vlines([-spreads, spreads], 0.0, height, color=shade, linestyle=":")
    ax.set(xlabel="input", ylabel="activation", ylim=(0.0, 1.05), xlim=(-4.0, 4.0))
    return figure
