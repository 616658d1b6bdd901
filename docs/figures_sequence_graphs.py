"""Models of sequences as graphs, and where a transition's posterior comes from."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import URN_CHAIN
from verulam.sequence import CategoricalEmission, HiddenMarkovModel

Point = tuple[float, float]

SEEN, HIDDEN = "0.85", "white"
STEPS = ("t-1", "t", "t+1")
BLUE, ORANGE = "#0072b2", "#d55e00"
#: What the three hidden urns hold, by colour, and a ball for each step.
URNS = ((0.6, 0.2, 0.2), (0.1, 0.6, 0.3), (0.2, 0.2, 0.6))
BALLS = (0, 0, 1, 2)


def draw_sequence_graphs(folder: Path) -> None:
    """Draw the graphs into `folder`."""
    for name, figure in (("arcs", _arcs()), ("graph", _graphs()), ("dynamic", _dynamic())):
        figure.savefig(folder / f"sequence-{name}.png", dpi=110)
        plt.close(figure)


@dataclass(frozen=True)
class Row:
    """Variables of the same kind, one per step.

    Attributes
    ----------
    letter
        Their name; an upper index follows after a caret.
    height
        Where they are drawn.
    seen
        Whether they are observed, which is shown by a shade.
    """

    letter: str
    height: float
    seen: bool = False

    @property
    def label(self) -> str:
        """The name as mathematics, with a place for the step."""
        letter, _, upper = self.letter.partition("^")
        return f"${letter}_{{%s}}$" if not upper else f"${letter}^{{{upper}}}_{{%s}}$"


def _unrolled(
    ax: plt.Axes,
    title: str,
    rows: Iterable[Row],
    within: Iterable[tuple[int, int, float]],
    across: Iterable[tuple[int, int]],
) -> None:
    """Draw three steps: edges within a step (from, to, bend), and from one step to the next."""
    rows = list(rows)
    for t, step in enumerate(STEPS):
        for row in rows:
            _node(ax, (t, row.height), row.label % step, seen=row.seen)
        for a, b, bend in within:
            _link(ax, (t, rows[a].height), (t, rows[b].height), bend=bend)
        if t:
            for a, b in across:
                _link(ax, (t - 1, rows[a].height), (t, rows[b].height))
    heights = [row.height for row in rows]
    ax.set(xlim=(-0.5, 2.5), ylim=(min(heights) - 0.45, max(heights) + 0.45))
    ax.set_title(title, fontsize="medium")
    ax.axis("off")


def _node(ax: plt.Axes, place: Point, label: str, *, seen: bool, size: float = 760) -> None:
    ax.scatter(*place, s=size, c=SEEN if seen else HIDDEN, edgecolors="0.2", zorder=3)
    ax.text(*place, label, ha="center", va="center", zorder=4, fontsize=9)


def _link(
    ax: plt.Axes, start: Point, end: Point, *, bend: float = 0.0, colour: str = "0.3", width=1.0
) -> None:
    arrow = {
        "arrowstyle": "-|>",
        "color": colour,
        "lw": width,
        "shrinkA": 15,
        "shrinkB": 15,
        "connectionstyle": f"arc3,rad={bend}",
    }
    ax.annotate("", xy=end, xytext=start, arrowprops=arrow)


def _graphs() -> plt.Figure:
    """Return the plain model and its relatives: inputs, factors, coupled and switched chains."""
    figure, axes = plt.subplots(2, 3, figsize=(11.0, 6.4), layout="constrained")
    states, shown = Row("q", 1.0), Row("O", 0.0, True)
    _unrolled(axes[0, 0], "hidden Markov model", (states, shown), [(0, 1, 0)], [(0, 0)])
    _unrolled(
        axes[0, 1],
        "with inputs: RegressionEmission, LogisticTransitions",
        (states, shown, Row("x", 2.0, True)),
        [(0, 1, 0), (2, 1, -0.5)],
        [(0, 0), (2, 0)],
    )
    _unrolled(
        axes[0, 2],
        "factorial: factorial_model",
        (Row("q^1", 2.0), Row("q^2", 1.0), Row("O", 0.0, True)),
        [(0, 2, -0.5), (1, 2, 0)],
        [(0, 0), (1, 1)],
    )
    _unrolled(
        axes[1, 0],
        "coupled: coupled_model",
        (Row("O^1", 3.0, True), Row("q^1", 2.0), Row("q^2", 1.0), Row("O^2", 0.0, True)),
        [(1, 0, 0), (2, 3, 0)],
        [(1, 1), (2, 2), (1, 2), (2, 1)],
    )
    _unrolled(
        axes[1, 1],
        "switching: switching_model",
        (Row("S", 3.0), Row("q^1", 2.0), Row("q^2", 1.0), Row("O", 0.0, True)),
        [(0, 3, -0.62), (1, 3, 0.5), (2, 3, 0)],
        [(0, 0), (1, 1), (2, 2)],
    )
    axes[1, 2].axis("off")
    _node(axes[1, 2], (0.1, 0.62), "", seen=False, size=300)
    _node(axes[1, 2], (0.1, 0.38), "", seen=True, size=300)
    for height, words in ((0.62, "hidden"), (0.38, "seen")):
        axes[1, 2].text(0.2, height, words, va="center")
    axes[1, 2].set(xlim=(0, 1), ylim=(0, 1))
    return figure


def _arcs() -> plt.Figure:
    """Return a transition's posterior: what leads to it, the step itself, and what follows."""
    model = HiddenMarkovModel.from_parameters(
        URN_CHAIN.initial, URN_CHAIN.transition, CategoricalEmission(probabilities=URNS)
    )
    i, j, t = 0, 1, 1
    filtered, gamma = model.filter(list(BALLS)), model.predict_proba(list(BALLS))
    shows = np.array(URNS)[j, BALLS[t + 1]]
    # What follows t + 1, relative to its posterior: gamma / (alpha / scale).
    follows = gamma[t + 1, j] / filtered[t + 1, j]
    joint = filtered[t, i] * URN_CHAIN.transition[i][j] * shows
    ahead = filtered[t] @ np.array(URN_CHAIN.transition)
    scale = float(ahead @ np.array(URNS)[:, BALLS[t + 1]])
    figure, ax = plt.subplots(figsize=(8.6, 3.6), layout="constrained")
    heights = (2.0, 1.0, 0.0)
    for place, height in enumerate(heights):
        for x in range(4):
            _node(ax, (1.6 * x, height), f"$S_{{{place + 1}}}$", seen=False)
        _link(ax, (0.0, height), (1.6, heights[i]), colour=BLUE)
        _link(ax, (3.2, heights[j]), (4.8, height), colour=ORANGE)
    _link(ax, (1.6, heights[i]), (3.2, heights[j]), colour="0.1", width=2.4)
    ax.text(1.6, 2.5, rf"$\alpha_t(i) = {filtered[t, i]:.2f}$", color=BLUE, ha="center")
    ax.text(
        2.62,
        1.62,
        rf"$a_{{ij}}\, b_j(O_{{t+1}}) = {URN_CHAIN.transition[i][j]:.2f}"
        rf" \times {shows:.2f}$",
        fontsize=9,
    )
    ax.text(3.2, 0.52, rf"$\beta_{{t+1}}(j) = {follows / scale:.2f}$", color=ORANGE, ha="center")
    ax.set_title(
        rf"$\xi_t(i, j) = \alpha_t(i)\, a_{{ij}}\, b_j(O_{{t+1}})\, \beta_{{t+1}}(j)"
        rf" = {joint * follows / scale:.2f}$  ($i = 1$, $j = 2$)",
        fontsize="medium",
    )
    for x, step in enumerate(("t-1", "t", "t+1", "t+2")):
        ax.text(1.6 * x, -0.62, f"${step}$", ha="center")
    ax.set(xlim=(-0.5, 5.3), ylim=(-0.8, 2.8))
    ax.axis("off")
    return figure


def _dynamic() -> plt.Figure:
    """Return why the grass is wet, day after day: clouds depend on those of the day before."""
    figure, ax = plt.subplots(figsize=(9.6, 3.6), layout="constrained")
    names = {
        "Cloudy": (0.0, 2.0),
        "Sprinkler": (-0.55, 1.0),
        "Rain": (0.55, 1.0),
        "Wet": (0.0, 0.0),
    }
    edges = (("Cloudy", "Sprinkler"), ("Cloudy", "Rain"), ("Sprinkler", "Wet"), ("Rain", "Wet"))
    for day, step in enumerate(STEPS):
        places = {name: (2.4 * day + x, y) for name, (x, y) in names.items()}
        for name, place in places.items():
            _node(ax, place, f"${name[0]}_{{{step}}}$", seen=False)
            if day == 0:
                left = name != "Rain"
                ax.text(
                    place[0] - 0.28 if left else place[0] + 0.28,
                    place[1],
                    {"Wet": "wet grass"}.get(name, name.lower()),
                    ha="right" if left else "left",
                    va="center",
                    fontsize=9,
                )
        for a, b in edges:
            _link(ax, places[a], places[b])
        if day:
            _link(ax, (2.4 * (day - 1), 2.0), (2.4 * day, 2.0))
    ax.set(xlim=(-1.7, 5.7), ylim=(-0.4, 2.4))
    ax.axis("off")
    return figure
