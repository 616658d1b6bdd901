"""Pictures of models of sequences: states and their transitions, trellises, posteriors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, place_legend, tint

NODE_RADIUS = 0.17
#: Transitions below this are left out, as they would only clutter.
LEAST_SHOWN = 0.005


def state_diagram(
    transitions: ArrayLike,
    *,
    initial: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    in_line: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw states as circles and transitions as arrows, thicker where more probable.

    Parameters
    ----------
    transitions
        Transition matrix.
    initial
        Probability of each first state, written beside it.
    names
        Names of the states.
    in_line
        Whether to draw the states side by side; None to do so where no transition goes back.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import state_diagram
    >>> axes = state_diagram([[0.9, 0.1], [0.3, 0.7]], names=["calm", "storm"])
    >>> sorted(text.get_text() for text in axes.texts)
    ['0.10', '0.30', '0.70', '0.90', 'calm', 'storm']
    """
    matrix = np.asarray(transitions, dtype=np.float64)
    if not (matrix >= 0).all() or not np.allclose(matrix.sum(axis=1), 1.0, atol=1e-6):
        raise DataError("transitions: every row must be probabilities that add up to one.")
    n_states = len(matrix)
    ordered = not np.tril(matrix, -1).any() if in_line is None else in_line
    ax = axes_or_new(ax, 1.6 * n_states + 1 if ordered else 4.6, 2.8 if ordered else 4.4)
    if ordered:
        places = np.column_stack([np.arange(n_states, dtype=float), np.zeros(n_states)])
        # Loops stand away from the middle: with one far below, all stand on top of their states.
        middle = np.array([(n_states - 1) / 2, -50.0])
    else:
        angles = np.pi / 2 - 2 * np.pi * np.arange(n_states) / n_states
        places, middle = np.column_stack([np.cos(angles), np.sin(angles)]), np.zeros(2)
    labels = [f"$S_{{{place + 1}}}$" for place in range(n_states)] if names is None else names
    for i in range(n_states):
        for j in range(n_states):
            if matrix[i, j] >= LEAST_SHOWN:
                _arrow(ax, places, i, j, matrix[i, j], middle)
    for place, (position, label) in enumerate(zip(places, labels, strict=True)):
        ax.add_patch(
            _circle(position, facecolor=tint(place, 0.35), edgecolor=colour(place), zorder=3)
        )
        ax.text(position[0], position[1], label, ha="center", va="center", zorder=4)
        if initial is not None:
            share = float(np.asarray(initial)[place])
            away = _outward(position, middle)
            spot = position + (NODE_RADIUS + 0.28) * np.array([-away[1], away[0]])
            ax.text(
                spot[0], spot[1], rf"$\pi$ = {share:.2f}", ha="center", va="center", color="0.35"
            )
    margin = 0.75
    low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    ax.axis("off")
    return ax


def _circle(position: np.ndarray, **options: Any) -> Any:
    from matplotlib.patches import Circle

    return Circle((float(position[0]), float(position[1])), NODE_RADIUS, linewidth=1.6, **options)


def _outward(position: np.ndarray, middle: np.ndarray) -> np.ndarray:
    away = position - middle
    length = np.linalg.norm(away)
    return away / length if length > 0 else np.array([0.0, 1.0])


def _arrow(ax: Axes, places: np.ndarray, i: int, j: int, weight: float, middle: np.ndarray) -> None:
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 11,
        "color": "0.25",
        "linewidth": 0.6 + 2.2 * weight,
        "alpha": 0.35 + 0.65 * weight,
        "zorder": 2,
    }
    if i == j:
        away = _outward(places[i], middle)
        side = np.array([-away[1], away[0]])
        start = places[i] + NODE_RADIUS * (0.8 * away + 0.6 * side)
        end = places[i] + NODE_RADIUS * (0.8 * away - 0.6 * side)
        ax.add_patch(
            FancyArrowPatch(tuple(start), tuple(end), connectionstyle="arc3,rad=-1.6", **style)
        )
        spot = places[i] + (NODE_RADIUS + 0.27) * away
    else:
        along = places[j] - places[i]
        length = np.linalg.norm(along)
        along = along / length
        side = np.array([-along[1], along[0]])
        start = places[i] + NODE_RADIUS * (along + 0.25 * side)
        end = places[j] - NODE_RADIUS * (along - 0.25 * side)
        # Longer jumps bend the other way, past the states between and clear of their loops.
        bend = -0.18 if length < 1.9 else 0.35
        ax.add_patch(
            FancyArrowPatch(tuple(start), tuple(end), connectionstyle=f"arc3,rad={bend}", **style)
        )
        spot = (places[i] + places[j]) / 2 + (0.06 * np.sign(-bend) - bend * length / 2) * side
    ax.text(
        spot[0], spot[1], f"{weight:.2f}", ha="center", va="center", fontsize="small", color="0.25"
    )


def trellis(
    scores: ArrayLike,
    *,
    path: ArrayLike | None = None,
    transitions: ArrayLike | None = None,
    observations: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw states over time as a lattice, one path through it in thick lines.

    Parameters
    ----------
    scores
        Probability of each state at each step, shown by the fill of its node.
    path
        State at each step of the path to stress, such as the most probable one.
    transitions
        Transition matrix: impossible transitions are left out.
    observations
        What was observed at each step, written below.
    names
        Names of the states.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import trellis
    >>> axes = trellis([[0.9, 0.1], [0.4, 0.6]], path=[0, 1], observations=["a", "b"])
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['a', 'b']
    """
    shares = np.asarray(scores, dtype=np.float64)
    n_steps, n_states = shares.shape
    ax = axes_or_new(ax, min(11.0, 1.0 * n_steps + 1.5), 0.9 * n_states + 1.2)
    allowed = np.ones((n_states, n_states)) if transitions is None else np.asarray(transitions)
    for t in range(1, n_steps):
        for i, j in np.argwhere(allowed > 0):
            ax.plot([t - 1, t], [i, j], color="0.82", linewidth=0.8, zorder=1)
    if path is not None:
        steps = np.arange(n_steps)
        ax.plot(steps, path, color=colour(1), linewidth=3.2, zorder=2, label="best path")
        place_legend(ax, loc="upper left", bbox_to_anchor=(0.0, 1.16), frameon=False)
    times, states = np.meshgrid(np.arange(n_steps), np.arange(n_states), indexing="ij")
    ax.scatter(
        times.ravel(),
        states.ravel(),
        s=330,
        c=[tuple(tint(0, float(share))) for share in shares.ravel()],
        edgecolors=colour(0),
        linewidths=1.4,
        zorder=3,
    )
    labels = [f"$S_{{{place + 1}}}$" for place in range(n_states)] if names is None else names
    ax.set_yticks(range(n_states), labels)
    shown = [str(t + 1) for t in range(n_steps)] if observations is None else map(str, observations)
    ax.set_xticks(range(n_steps), list(shown))
    ax.set(xlim=(-0.5, n_steps - 0.5), ylim=(n_states - 0.5, -0.5))
    ax.set_xlabel("time" if observations is None else "observation")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def posterior_ribbon(
    probabilities: ArrayLike,
    observations: ArrayLike | None = None,
    *,
    times: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posteriors of the states over time as a ribbon, the observations over it.

    Parameters
    ----------
    probabilities
        Probability of each state at each step.
    observations
        Numbers to draw as a line, on their own scale.
    times
        When each step was; None for whole numbers from 0.
    names
        Names of the states.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import posterior_ribbon
    >>> axes = posterior_ribbon([[0.9, 0.1], [0.2, 0.8]], [1.0, 5.0])
    >>> axes.get_ylabel()
    'probability of the state'
    """
    shares = np.asarray(probabilities, dtype=np.float64)
    if shares.ndim != 2 or not len(shares):
        raise DataError(f"probabilities must be a row per moment, but its shape is {shares.shape}.")
    if not np.allclose(shares.sum(axis=1), 1.0, atol=1e-6) or (shares < -1e-9).any():
        raise DataError("probabilities: every row must be probabilities that add up to one.")
    n_steps, n_states = shares.shape
    ax = axes_or_new(ax, 8.0, 3.4)
    moments = np.arange(n_steps) if times is None else np.asarray(times)
    labels = [f"state {place + 1}" for place in range(n_states)] if names is None else names
    ax.stackplot(
        moments,
        shares.T,
        labels=labels,
        colors=[tuple(tint(place, 0.45)) for place in range(n_states)],
        step="mid",
    )
    ax.set(xlim=(moments[0], moments[-1]), ylim=(0, 1), ylabel="probability of the state")
    if observations is not None:
        over = ax.twinx()
        over.plot(moments, np.asarray(observations), color="0.1", linewidth=1.1)
        over.set_ylabel("observation")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.14), ncols=n_states, frameon=False)
    return ax


def objective_curve(curve: Sequence[float], *, ax: Axes | None = None) -> Axes:
    """Draw how the objective of a learner rises from pass to pass.

    Parameters
    ----------
    curve
        The objective at each pass, such as the `objective_curve_` of a learner.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.plots import objective_curve
    >>> objective_curve([-30.0, -20.0, -19.5]).get_xlabel()
    'pass'
    """
    ax = axes_or_new(ax)
    values = np.asarray(curve, dtype=np.float64)
    passes = np.arange(1, len(values) + 1)
    ax.plot(passes, values, "o-", color=colour(0), markersize=3.5)
    ax.set(xlabel="pass", ylabel="log-likelihood")
    return ax
