"""Networks for sequences: a window of delayed inputs, feedback, and feedback unfolded in time."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from verulam.base import DataError, check_is_fitted
from verulam.plots._graphs.diagram import GraphEdge, GraphNode, graph_diagram

#: Distance of layers, and of steps in time.
STEP_Y, STEP_X = 1.7, 2.9
#: Steps of a window beyond these are not drawn one by one.
MOST_DELAYS = 6
#: Layers at the ends of each kind of feedback, counted from the inputs.
ENDS = {"hidden": (1, 1), "output": (2, 2), "output-hidden": (2, 1)}
_DASHED: dict[str, Any] = {
    "arrowstyle": "-|>",
    "mutation_scale": 12,
    "linestyle": "--",
    "color": "0.3",
    "shrinkA": 0,
    "shrinkB": 0,
}


def recurrent_diagram(learner: Any, *, n_steps: int = 1, ax: Axes | None = None) -> Axes:
    """Draw a recurrent network with dashed feedback, as it is or unfolded over some steps.

    Parameters
    ----------
    learner
        A fitted `verulam.neural.RecurrentClassifier` or `verulam.neural.RecurrentRegressor`.
    n_steps
        1 draws the network itself; more draw as many copies, whose feedback leads to the next step.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin figs. 11.21 and 11.22. A box is a layer, with the number of its units.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import RecurrentRegressor
    >>> from verulam.plots import recurrent_diagram
    >>> signals = np.random.default_rng(0).normal(size=(8, 5, 1))
    >>> net = RecurrentRegressor(3, tol=0.1, random_state=0).fit(list(signals), list(signals))
    >>> axes = recurrent_diagram(net, n_steps=4)
    >>> axes.get_title()
    '1-3-1, feedback: hidden, unfolded over 4 steps'
    """
    check_is_fitted(learner)
    layout: Any = getattr(getattr(learner, "network_", None), "layout", None)
    if not hasattr(layout, "feedback"):
        raise DataError(f"learner: expected a recurrent network, not {type(learner).__name__}.")
    if not isinstance(n_steps, int | np.integer) or n_steps < 1:
        raise DataError(f"n_steps must be a whole number of at least 1; got {n_steps!r}.")
    nodes, edges = [], []
    for step in range(int(n_steps)):
        time = f"^{{{step + 1}}}" if n_steps > 1 else ""
        for layer, (letter, size) in enumerate(zip("xzy", layout.sizes, strict=True)):
            nodes.append(
                GraphNode(
                    f"{letter}{step}", f"${letter}{time}$ ({size})", "box", shaded=layer == 0,
                    position=(step * STEP_X, layer * STEP_Y),
                )
            )  # fmt: skip
        edges += [GraphEdge(f"x{step}", f"z{step}"), GraphEdge(f"z{step}", f"y{step}")]
    ax = graph_diagram(nodes, edges, ax=ax)
    # Nodes are drawn first, in their order.
    boxes: Any = np.array(ax.patches[: len(nodes)]).reshape(-1, 3)
    for kind in layout.feedback:
        source, target = ENDS[kind]
        for step in range(1, int(n_steps)):
            _draw_to_next(ax, boxes[step - 1, source], boxes[step, target])
        if n_steps == 1:
            _draw_back(ax, boxes[0, source], boxes[0, target])
    title = "-".join(str(size) for size in layout.sizes)
    title += f", feedback: {', '.join(layout.feedback)}" if layout.feedback else ""
    ax.set_title(f"{title}, unfolded over {n_steps} steps" if n_steps > 1 else title)
    ax.autoscale_view()
    return ax


def _draw_to_next(ax: Axes, source: Any, target: Any) -> None:
    """Draw a dashed arrow between the boxes of two steps."""
    ends = source.get_center(), target.get_center()
    ax.add_patch(FancyArrowPatch(*ends, patchA=source, patchB=target, **_DASHED))


def _draw_back(ax: Axes, source: Any, target: Any) -> None:
    """Draw a dashed arrow beside the boxes of one step, from a layer to one below or to itself."""
    edge, top, bottom = source.get_x() + source.get_width(), source.get_y(), target.get_y()
    itself = source is target
    start = (edge, top + (0.75 if itself else 0.5) * source.get_height())
    end = (edge, bottom + (0.25 if itself else 0.5) * target.get_height())
    bend = f"arc3,rad={-3.0 if itself else -0.7}"
    ax.add_patch(FancyArrowPatch(start, end, connectionstyle=bend, **_DASHED))
    ax.update_datalim([(edge + 0.8, end[1])])


def delay_diagram(learner: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a time-delay network: inputs delayed step by step, and all of them below a perceptron.

    Parameters
    ----------
    learner
        A fitted `verulam.neural.TimeDelayClassifier` or `verulam.neural.TimeDelayRegressor`.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin fig. 11.20.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import TimeDelayRegressor
    >>> from verulam.plots import delay_diagram
    >>> signals = list(np.random.default_rng(0).normal(size=(8, 5, 1)))
    >>> net = TimeDelayRegressor(window_size=3, random_state=0).fit(signals, signals)
    >>> [text.get_text() for text in delay_diagram(net).texts][:3]
    ['$x^{t}$', '$x^{t-1}$', '$x^{t-2}$']
    """
    check_is_fitted(learner)
    if not hasattr(learner, "window_size"):
        raise DataError(f"learner: expected a time-delay network, not {type(learner).__name__}.")
    size = int(learner.window_size)
    shown = min(size, MOST_DELAYS)
    # Of a long window the first steps and the last are drawn.
    delays = [*range(shown - 1), size - 1]
    nodes, edges = [], []
    for place, delay in enumerate(delays):
        label = "$x^{t}$" if delay == 0 else f"$x^{{t-{delay}}}$"
        nodes.append(
            GraphNode(f"x{place}", label, "box", shaded=True, position=(place * STEP_X, 0.0))
        )
        edges.append(GraphEdge(f"x{place}", "hidden"))
        if place:
            skipped = delay - delays[place - 1]
            text = "delay" if skipped == 1 else f"{skipped} delays"
            edges.append(GraphEdge(f"x{place - 1}", f"x{place}", label=text))
    middle = STEP_X * (shown - 1) / 2
    hidden = "-".join(str(count) for count in np.atleast_1d(_hidden_sizes(learner)))
    nodes.append(GraphNode("hidden", f"$z$ ({hidden})", "box", position=(middle, STEP_Y)))
    nodes.append(GraphNode("output", "$y^{t}$", "box", position=(middle, 2 * STEP_Y)))
    ax = graph_diagram(nodes, [*edges, GraphEdge("hidden", "output")], ax=ax)
    ax.set_title(f"window of {size} steps")
    return ax


def _hidden_sizes(learner: Any) -> Any:
    network = getattr(learner.estimator_, "network_", None)
    return ["learner"] if network is None else network.layout.sizes[1:-1]
