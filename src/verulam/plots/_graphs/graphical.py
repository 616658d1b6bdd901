"""Pictures of graphical models: networks with tables and beliefs, factor graphs, decisions."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verulam.base import DataError
from verulam.graphical import (
    BayesianNetwork,
    ConstraintNetwork,
    DirectedGraph,
    Factor,
    FactorGraph,
    InfluenceDiagram,
    JunctionTree,
    Mode,
    Posterior,
    Propagation,
    Separation,
)
from verulam.plots._graphs.diagram import GraphEdge, GraphNode, graph_diagram
from verulam.plots._style import HATCHES, axes_or_new, colour, place_legend

#: Rows of a table that are written beside a node.
MOST_ROWS = 8


def belief_network(
    network: Any,
    *,
    evidence: Mapping[str, Any] | None = None,
    tables: bool = False,
    beliefs: bool = False,
    messages: Propagation | None = None,
    path: Sequence[str] = (),
    positions: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a Bayesian network, or a directed graph.

    Parameters
    ----------
    network
        The network or graph.
    evidence
        What is known; these nodes are shaded.
    tables
        Whether to write the tables beside the nodes.
    beliefs
        Whether to draw the posterior of each node as bars.
    messages
        What `propagate` returned, to be written on the arcs.
    path
        Nodes of a path to be drawn thick.
    positions
        Places of some nodes.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.graphical import sprinkler
    >>> from verulam.plots import belief_network
    >>> axes = belief_network(sprinkler(), evidence={"wet": "yes"}, beliefs=True)
    >>> sum(text.get_text().startswith("yes") for text in axes.texts)
    4
    """
    graph = network if isinstance(network, DirectedGraph) else getattr(network, "graph", None)
    if not isinstance(graph, DirectedGraph):
        raise DataError(
            f"network: expected a network or directed graph, not {type(network).__name__}."
        )
    if (tables or beliefs) and not isinstance(network, BayesianNetwork):
        raise DataError("Tables and beliefs are drawn of a BayesianNetwork.")
    known = dict(evidence or {})
    nodes = []
    for name in graph.nodes:
        bars = None
        if beliefs:
            values = network.query(name, known).values
            labels = map(str, network.states[name])
            bars = dict(zip(labels, values.tolist(), strict=True))
        note = table_text(network.factor(name)) if tables else ""
        place = (positions or {}).get(name)
        nodes.append(GraphNode(name, shaded=name in known, position=place, note=note, bars=bars))
    steps = {frozenset(pair) for pair in pairwise(path)}
    edges = [
        GraphEdge(
            parent,
            child,
            label="" if messages is None else _messages_text(messages, parent, child),
            emphasised=frozenset((parent, child)) in steps,
        )
        for parent, child in graph.arcs
    ]
    return graph_diagram(nodes, edges, ax=ax)


def table_text(factor: Factor) -> str:
    """Return a conditional table as lines of text: the last state's column where there are two."""
    parents = factor.variables[:-1]
    short = [str(parent)[:1].upper() for parent in parents]
    rows = []
    for place in np.ndindex(factor.values.shape[:-1]):
        values = factor.values[place]
        labels = [str(factor.states[axis][k]) for axis, k in enumerate(place)]
        condition = ",".join(f"{s}={label}" for s, label in zip(short, labels, strict=True))
        if len(values) == 2:
            shown = (
                f"P({factor.states[-1][-1]}{'|' + condition if condition else ''})={values[1]:.3g}"
            )
        else:
            shown = (condition + ": " if condition else "") + " ".join(f"{v:.2g}" for v in values)
        rows.append(shown)
    more = [f"... {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
    return "\n".join([*rows[:MOST_ROWS], *more])


def _messages_text(messages: Propagation, parent: str, child: str) -> str:
    down = " ".join(f"{value:.2f}" for value in messages.pi_messages[parent, child])
    up = " ".join(f"{value:.2f}" for value in messages.lambda_messages[child, parent])
    return f"π {down}\nλ {up}"


def separation_diagram(
    network: Any,
    separation: Separation,
    condition: Sequence[str] = (),
    *,
    positions: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph with the first path between two nodes, and say whether it is blocked.

    Parameters
    ----------
    network
        The network or graph.
    separation
        What `d_separated` returned.
    condition
        Observed nodes, which are shaded.
    positions
        Places of some nodes.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.graphical import d_separated, sprinkler
    >>> from verulam.plots import separation_diagram
    >>> result = d_separated(sprinkler(), "sprinkler", "rain", "cloudy")
    >>> separation_diagram(sprinkler(), result, ["cloudy"]).get_title()
    'd-separated: sprinkler <- cloudy -> rain is blocked'
    """
    if not isinstance(separation, Separation):
        raise DataError(
            f"separation: expected what d_separated returned, not {type(separation).__name__}."
        )
    names = [condition] if isinstance(condition, str) else list(condition)
    path = separation.paths[0].nodes if separation.paths else ()
    ax = belief_network(
        network, evidence=dict.fromkeys(names), path=path, positions=positions, ax=ax
    )
    head = "d-separated" if separation.is_separated else "not d-separated"
    if separation.paths:
        first = separation.paths[0]
        head += f": {first.text} is {'blocked' if first.is_blocked else 'open'}"
    ax.set_title(head, fontsize="medium")
    return ax


def factor_graph_diagram(graph: FactorGraph, *, ax: Axes | None = None) -> Axes:
    """Draw variables as ellipses and factors as squares.

    Parameters
    ----------
    graph
        The factor graph.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.graphical import FactorGraph, sprinkler
    >>> from verulam.plots import factor_graph_diagram
    >>> axes = factor_graph_diagram(FactorGraph.of(sprinkler()))
    >>> len(axes.texts)
    8
    """
    if not isinstance(graph, FactorGraph):
        raise DataError(f"graph: expected a FactorGraph, not {type(graph).__name__}.")
    nodes = [GraphNode(name) for name in graph.model.names]
    nodes += [GraphNode(name, _mathematical(name), shape="factor") for name in graph.factor_names]
    edges = []
    for name, factor in zip(graph.factor_names, graph.model.factors, strict=True):
        # Factors stand between the variables they condition on and the one they give.
        *above, last = factor.variables
        edges += [GraphEdge(variable, name, directed=False) for variable in above]
        edges.append(GraphEdge(name, last, directed=False))
    return graph_diagram(nodes, edges, ax=ax)


def _mathematical(name: str) -> str:
    head, mark, index = name.partition("_")
    return f"${head}_{{{index}}}$" if mark and head.isalpha() and index.isalnum() else name


def influence_diagram(
    diagram: InfluenceDiagram, *, observed: str | Sequence[str] = (), ax: Axes | None = None
) -> Axes:
    """Draw chance nodes as ellipses, decisions as boxes and utilities as diamonds.

    Parameters
    ----------
    diagram
        The influence diagram.
    observed
        Chance nodes that are known before decisions are made: they are shaded, with an arrow to
        each decision.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.graphical import InfluenceDiagram, Table, Utility
    >>> from verulam.plots import influence_diagram
    >>> diagram = InfluenceDiagram(
    ...     {"class": Table(("a", "b"), [0.5, 0.5])},
    ...     {"choice": ("a", "b")},
    ...     {"gain": Utility(("class", "choice"), [[1, 0], [0, 1]])},
    ... )
    >>> len(influence_diagram(diagram).texts)
    3
    """
    if not isinstance(diagram, InfluenceDiagram):
        raise DataError(f"diagram: expected an InfluenceDiagram, not {type(diagram).__name__}.")
    shapes = diagram.shapes
    observed = [observed] if isinstance(observed, str) else list(dict.fromkeys(observed))
    unknown = [name for name in observed if name not in diagram.graph.nodes or name in shapes]
    if unknown:
        raise DataError(f"observed: {unknown[0]!r} is no chance node of the diagram.")
    nodes = [
        GraphNode(name, shape=shapes.get(name, "ellipse"), shaded=name in observed)
        for name in diagram.graph.nodes
    ]
    edges = [GraphEdge(parent, child) for parent, child in diagram.graph.arcs]
    edges += [GraphEdge(name, decision) for name in observed for decision in diagram.decisions]
    return graph_diagram(nodes, edges, ax=ax)


def constraint_diagram(
    network: ConstraintNetwork,
    mode: Mode | None = None,
    *,
    positions: Mapping[str, tuple[float, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw units with links that excite (solid) and inhibit (dashed), active ones shaded.

    Parameters
    ----------
    network
        The constraint network.
    mode
        States of the units.
    positions
        Places of the units; on a circle unless they are given.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.graphical import necker_cube
    >>> from verulam.plots import constraint_diagram
    >>> cube = necker_cube()
    >>> axes = constraint_diagram(cube, cube.modes()[0])
    >>> len(axes.texts)
    16
    """
    if not isinstance(network, ConstraintNetwork):
        raise DataError(f"network: expected a ConstraintNetwork, not {type(network).__name__}.")
    angles = np.linspace(0, 2 * np.pi, len(network.units), endpoint=False)
    radius = max(1.5, 0.22 * len(network.units))
    circle = {
        name: (float(1.3 * radius * np.sin(angle)), float(radius * np.cos(angle)))
        for name, angle in zip(network.units, angles, strict=True)
    }
    places = {**circle, **(positions or {})}
    active = set(mode.active) if mode is not None else set()
    nodes = [GraphNode(n, shaded=n in active, position=places[n]) for n in network.units]
    edges = [
        GraphEdge(first, second, directed=False, sign="+" if weight > 0 else "-")
        for (first, second), weight in network.links.items()
    ]
    return graph_diagram(nodes, edges, ax=ax)


def clique_tree(tree: JunctionTree, *, ax: Axes | None = None) -> Axes:
    """Draw the cliques of a junction tree, with the separators on its edges.

    Parameters
    ----------
    tree
        The tree, such as ``network.junction_tree``.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.graphical import sprinkler
    >>> from verulam.plots import clique_tree
    >>> axes = clique_tree(sprinkler().junction_tree)
    >>> sorted(text.get_text() for text in axes.texts)[-1]
    'sprinkler, rain'
    """
    if not isinstance(tree, JunctionTree):
        raise DataError(f"tree: expected a JunctionTree, not {type(tree).__name__}.")
    names = [str(k) for k in range(len(tree.cliques))]
    nodes = [
        GraphNode(name, "\n".join(clique)) for name, clique in zip(names, tree.cliques, strict=True)
    ]
    edges = [
        GraphEdge(names[parent], name, directed=False, label=", ".join(shared))
        for name, parent, shared in zip(names, tree.parents, tree.separators, strict=True)
        if parent >= 0
    ]
    return graph_diagram(nodes, edges, ax=ax)


def belief_bars(posteriors: Mapping[str, Posterior], *, ax: Axes | None = None) -> Axes:
    """Draw the distribution of one node under several states of knowledge side by side.

    Parameters
    ----------
    posteriors
        Answers about the same node, by what was known.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.graphical import sprinkler
    >>> from verulam.plots import belief_bars
    >>> ask = sprinkler().query
    >>> axes = belief_bars({
    ...     "nothing": ask("sprinkler"),
    ...     "wet": ask("sprinkler", {"wet": "yes"}),
    ...     "wet, rain": ask("sprinkler", {"wet": "yes", "rain": "yes"}),
    ... })
    >>> len(axes.patches)
    6
    """
    if not isinstance(posteriors, Mapping):
        raise DataError(
            "posteriors: expected a dictionary from what was known to what query returned, not "
            f"{type(posteriors).__name__}."
        )
    answers = list(posteriors.values())
    single = [isinstance(a, Posterior) and len(a.variables) == 1 for a in answers]
    if not answers or not all(single):
        raise DataError("posteriors: expected at least one answer about a single node.")
    name, states = answers[0].variables[0], answers[0].states[0]
    if any(answer.variables[0] != name for answer in answers):
        raise DataError("posteriors: expected answers about one and the same node.")
    ax = axes_or_new(ax, 1.2 + 1.1 * len(states) * max(1, len(answers) / 2), 3.0)
    width = 0.8 / len(answers)
    for k, (label, answer) in enumerate(posteriors.items()):
        places = np.arange(len(states)) + (k - (len(answers) - 1) / 2) * width
        hatch = HATCHES[k % len(HATCHES)] if k else None
        bars = ax.bar(
            places, answer.values, 0.92 * width, label=label, color=colour(k), hatch=hatch,
            edgecolor="white",
        )  # fmt: skip
        ax.bar_label(bars, fmt="%.2f", fontsize="x-small", padding=1)
    ax.set_xticks(np.arange(len(states)), [str(state) for state in states])
    ax.set_xlabel(name)
    ax.set_ylabel("probability")
    ax.set_ylim(0, 1.12)
    place_legend(ax, title="known")
    return ax
