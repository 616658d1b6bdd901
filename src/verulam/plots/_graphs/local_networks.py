"""Local models as networks: radial units below their outputs, experts beside their gate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verulam.base import DataError, check_is_fitted
from verulam.plots._graphs.diagram import GraphEdge, GraphNode, graph_diagram

#: Units, experts, columns or outputs beyond these are not drawn one by one.
MOST_NODES = 6
#: More units than this have no centre and spread beside them.
MOST_NOTES = 4
#: Columns that a linear function is written out with.
MOST_TERMS = 2
#: Distance of layers, of neighbours, and of neighbours with a note beside them.
STEP_Y, STEP_X, WIDE = 2.0, 1.5, 2.7


def radial_network_diagram(learner: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a radial network: columns below, units with centre and spread, weights, outputs.

    Parameters
    ----------
    learner
        A fitted `verulam.local.RBFNetworkRegressor` or `verulam.local.RBFNetworkClassifier`.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin fig. 12.8. Of very many units and columns the first are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import RBFNetworkRegressor
    >>> from verulam.plots import radial_network_diagram
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> axes = radial_network_diagram(RBFNetworkRegressor(3, random_state=0).fit(x, x[:, 0] ** 2))
    >>> [text.get_text() for text in axes.texts if text.get_text().startswith("$p")]
    ['$p_{1}$', '$p_{2}$', '$p_{3}$']
    """
    check_is_fitted(learner)
    units = getattr(learner, "units_", None)
    if units is None or not hasattr(learner, "coef_"):
        raise DataError(f"learner: expected a radial network, not {type(learner).__name__}.")
    weights = np.atleast_2d(learner.coef_)
    columns, inputs = _inputs(learner)
    shown = min(weights.shape[1], MOST_NODES)
    labels = _outputs(learner, len(weights))
    nodes, edges = list(inputs), []
    step = WIDE if shown <= MOST_NOTES else STEP_X
    for h in range(shown):
        center = ", ".join(f"{value:.2g}" for value in units.centers[h, :MOST_TERMS])
        more = ", ..." if units.centers.shape[1] > MOST_TERMS else ""
        nodes.append(
            GraphNode(
                f"p{h}", rf"$p_{{{h + 1}}}$", position=(_across(h, shown, step), STEP_Y),
                note=f"m {center}{more}\ns {_spread(units, h)}" if shown <= MOST_NOTES else "",
            )
        )  # fmt: skip
        edges += [GraphEdge(name, f"p{h}") for name in columns]
    for i, label in enumerate(labels):
        place = (_across(i, len(labels), WIDE), 2 * STEP_Y)
        nodes.append(GraphNode(f"y{i}", label, position=place))
        for h in range(shown):
            weight = float(weights[i, h])
            text = f"{weight:.2g}" if len(labels) == 1 else ""
            edges.append(GraphEdge(f"p{h}", f"y{i}", sign="-" if weight < 0 else "+", label=text))
    rest = _rest(weights.shape[1] - shown, _across(shown, shown, step))
    return graph_diagram([*nodes, *rest], edges, ax=ax)


def experts_diagram(learner: Any, *, view: str = "combination", ax: Axes | None = None) -> Axes:
    """Draw a mixture of experts as a network, or as a combination of models.

    Parameters
    ----------
    learner
        A fitted `verulam.local.MixtureOfExpertsRegressor` or
        `verulam.local.MixtureOfExpertsClassifier`.
    view
        "combination" draws experts beside the network that weighs them; "network" a radial network
        whose second weights are linear functions of the inputs, of which the first is drawn.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin figs. 12.10 ("network") and 12.11 ("combination").

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import MixtureOfExpertsRegressor
    >>> from verulam.plots import experts_diagram
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> experts = MixtureOfExpertsRegressor(2, random_state=0).fit(x, np.abs(x[:, 0]))
    >>> [text.get_text() for text in experts_diagram(experts).texts if "gate" in text.get_text()]
    ['gate']
    """
    check_is_fitted(learner)
    if not hasattr(learner, "n_experts_") or hasattr(learner, "branching"):
        raise DataError(f"learner: expected a mixture of experts, not {type(learner).__name__}.")
    if view not in ("combination", "network"):
        raise DataError(f"view is {view!r}; accepted are combination and network.")
    columns, inputs = _inputs(learner)
    shown = min(int(learner.n_experts_), MOST_NODES)
    hidden = _rest(int(learner.n_experts_) - shown, _across(-1, shown, WIDE))
    draw = _combination if view == "combination" else _weighted_gates
    nodes, edges = draw(learner, columns, shown)
    return graph_diagram([*inputs, *nodes, *hidden], edges, ax=ax)


def _combination(
    learner: Any, columns: Sequence[str], shown: int
) -> tuple[list[GraphNode], list[GraphEdge]]:
    """Return figure 12.11: every expert sees the inputs, and so does the gate."""
    gate = (_across(shown, shown, WIDE) + 0.5, STEP_Y)
    nodes = [
        GraphNode("gate", "gate", "box", position=gate),
        GraphNode("sum", r"$\sum_h\, g_h w_h$", position=(0.0, 2 * STEP_Y)),
    ]
    edges = [GraphEdge(name, "gate") for name in columns]
    for h in range(shown):
        place = (_across(h, shown, WIDE), STEP_Y)
        nodes.append(
            GraphNode(f"w{h}", rf"$w_{{{h + 1}}}$", "box", position=place, note=_line(learner, h))
        )
        edges += [GraphEdge(name, f"w{h}") for name in columns]
        edges.append(GraphEdge(f"w{h}", "sum", label=rf"$g_{{{h + 1}}}$"))
    return nodes, [*edges, GraphEdge("gate", "sum", emphasised=True)]


def _weighted_gates(
    learner: Any, columns: Sequence[str], shown: int
) -> tuple[list[GraphNode], list[GraphEdge]]:
    """Return figure 12.10: weights of the gates' shares are outputs of linear models."""
    nodes = [GraphNode("y", "$y$", position=(0.0, 2 * STEP_Y))]
    edges = []
    for h in range(shown):
        place = (_across(h, shown, WIDE), STEP_Y)
        nodes.append(GraphNode(f"g{h}", rf"$g_{{{h + 1}}}$", position=place))
        edges += [GraphEdge(name, f"g{h}") for name in columns]
        edges.append(GraphEdge(f"g{h}", "y", label=rf"$w_{{{h + 1}}}$"))
    beside = (_across(shown, shown, WIDE), STEP_Y)
    nodes.append(GraphNode("w", r"$w_1 = v_1^T x$", "box", position=beside, note=_line(learner, 0)))
    edges += [GraphEdge(name, "w") for name in columns]
    return nodes, [*edges, GraphEdge("w", "y", emphasised=True)]


def _inputs(learner: Any) -> tuple[list[str], list[GraphNode]]:
    """Return the names and nodes of the columns that are drawn."""
    count = int(learner.n_features_in_)
    named = getattr(learner, "feature_names_in_", [f"x{j}" for j in range(count)])
    shown = min(count, MOST_NODES)
    names = [f"column {j}" for j in range(shown)]
    step = 0.8 + 0.125 * max(len(str(name)) for name in named[:shown])
    nodes = [
        GraphNode(name, str(named[j]), shaded=True, position=(_across(j, shown, step), 0.0))
        for j, name in enumerate(names)
    ]
    if count > shown:
        place = (_across(shown, shown, step), 0.0)
        nodes.append(GraphNode("columns", f"{count - shown} more", position=place))
    return names, nodes


def _outputs(learner: Any, count: int) -> list[str]:
    classes = getattr(learner, "classes_", None)
    labels = [f"y{i + 1}" for i in range(count)] if classes is None else map(str, classes)
    return ["$y$"] if count == 1 else list(labels)


def _rest(count: int, x: float) -> list[GraphNode]:
    """Return a node that says how many are not drawn."""
    return [GraphNode("rest", f"{count} more", position=(x, STEP_Y))] if count > 0 else []


def _across(place: int, count: int, step: float) -> float:
    return step * (place - (count - 1) / 2)


def _spread(units: Any, place: int) -> str:
    if units.covariance_type == "full":
        return "matrix"
    spreads = np.sqrt(np.atleast_1d(units.covariances[place]))[:MOST_TERMS]
    return ", ".join(f"{value:.3g}" for value in spreads)


def _line(learner: Any, place: int) -> str:
    """Return an expert's linear function in words, where it is short."""
    slopes = np.asarray(getattr(learner, "coef_", np.empty((1, 0, 0))))
    if slopes.ndim != 2 or slopes.shape[1] > MOST_TERMS:
        return ""
    names = getattr(learner, "feature_names_in_", [f"x{j}" for j in range(slopes.shape[1])])
    terms = [f"{slope:+.2g} {name}" for slope, name in zip(slopes[place], names, strict=True)]
    return "\n".join([f"{float(learner.intercept_[place]):.2g}", *terms])
