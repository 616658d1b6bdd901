"""Pictures of the guide's page on graphical models."""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from verulam.base import DataWarning
from verulam.data import dataset
from verulam.graphical import (
    BayesianNetwork,
    BayesianNetworkDensity,
    FactorGraph,
    InfluenceDiagram,
    Table,
    Utility,
    d_separated,
    necker_cube,
    phylogeny,
    propagate,
    restore_image,
    sprinkler,
    story_over_days,
)
from verulam.plots import (
    GraphEdge,
    GraphNode,
    Plate,
    belief_bars,
    belief_network,
    clique_tree,
    constraint_diagram,
    factor_graph_diagram,
    graph_diagram,
    influence_diagram,
    separation_diagram,
)

TWO = ("no", "yes")


def draw_graphical(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    pictures = {
        "connections": _connections,
        "sprinkler": _sprinkler,
        "away": _away,
        "separation": _separation,
        "messages": _messages,
        "cliques": _cliques,
        "factors": _factors,
        "plates": _plates,
        "decision": _decision,
        "necker": _necker,
        "pixels": _pixels,
        "titanic": _titanic,
        "applications": _applications,
    }
    for name, draw in pictures.items():
        figure = draw()
        figure.savefig(folder / f"graphical-{name}.png", dpi=110)
        plt.close(figure)


def _connections() -> plt.Figure:
    """Return the two-node net, chain, fork and collider with their tables (14.1 to 14.4)."""
    wet = Table(TWO, [[0.8, 0.2], [0.1, 0.9]], ("rain",))
    rain = Table(TWO, [[0.9, 0.1], [0.2, 0.8]], ("cloudy",))
    both = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.05, 0.95]]]
    networks = {
        "cause and effect": {"rain": Table(TWO, [0.6, 0.4]), "wet": wet},
        "chain": {"cloudy": Table(TWO, [0.6, 0.4]), "rain": rain, "wet": wet},
        "fork": {
            "cloudy": Table(TWO, [0.5, 0.5]),
            "sprinkler": Table(TWO, [[0.5, 0.5], [0.9, 0.1]], ("cloudy",)),
            "rain": rain,
        },
        "collider": {
            "sprinkler": Table(TWO, [0.8, 0.2]),
            "rain": Table(TWO, [0.6, 0.4]),
            "wet": Table(TWO, both, ("sprinkler", "rain")),
        },
    }
    places = {
        "fork": {"cloudy": (0, 0), "sprinkler": (-1.7, -2.2), "rain": (1.9, -2.2)},
        "collider": {"sprinkler": (-1.7, 0), "rain": (1.9, 0), "wet": (0, -2.2)},
    }
    figure, panels = plt.subplots(
        1, 4, figsize=(15, 4.2), layout="constrained", width_ratios=(2, 2, 3, 3)
    )
    for ax, (title, tables) in zip(panels, networks.items(), strict=True):
        belief_network(BayesianNetwork(tables), tables=True, positions=places.get(title), ax=ax)
        ax.set_title(title)
    return figure


def _sprinkler() -> plt.Figure:
    """Return figure 14.5: the four nodes with their tables, and the beliefs once grass is wet."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    places = {
        "cloudy": (0.0, 0.0),
        "sprinkler": (-2.0, -2.0),
        "rain": (2.0, -2.0),
        "wet": (0.0, -4.0),
    }
    belief_network(sprinkler(), tables=True, positions=places, ax=panels[0])
    panels[0].set_title("tables")
    belief_network(
        sprinkler(), evidence={"wet": "yes"}, beliefs=True, positions=places, ax=panels[1]
    )
    panels[1].set_title("beliefs once the grass is known to be wet")
    return figure


def _away() -> plt.Figure:
    """Return the sprinkler's probability before and after rain explains the wet grass."""
    ask = sprinkler().query
    return belief_bars(
        {
            "nothing": ask("sprinkler"),
            "grass is wet": ask("sprinkler", {"wet": "yes"}),
            "wet, and it rained": ask("sprinkler", {"wet": "yes", "rain": "yes"}),
        }
    ).figure


def _separation() -> plt.Figure:
    """Return figure 14.8 with a blocked and an open path."""
    graph = {"C": (), "B": ("C",), "E": ("B",), "D": ("C",), "F": ("D", "E"), "G": ("F",)}
    arcs = [(parent, child) for child, parents in graph.items() for parent in parents]
    network = BayesianNetwork(
        {
            name: Table(TWO, np.full((2,) * (len(parents) + 1), 0.5), parents)
            for name, parents in graph.items()
        }
    )
    places = {"C": (0, 0), "B": (-1.5, -1.4), "D": (1.5, -1.4), "E": (-1.5, -2.8), "F": (0.4, -2.8),
              "G": (0.4, -4.2)}  # fmt: skip
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.6), layout="constrained")
    cases = (("B", "D", ["C"]), ("B", "D", ["C", "F"]), ("B", "G", ["F"]))
    for ax, (first, second, condition) in zip(panels, cases, strict=True):
        result = d_separated(arcs, first, second, condition)
        separation_diagram(network, result, condition, positions=places, ax=ax)
        state = "independent" if result else "dependent"
        ax.set_title(f"{first} and {second} given {', '.join(condition)}: {state}")
    return figure


def _messages() -> plt.Figure:
    """Return messages on a chain, a tree and a polytree (14.9 to 14.11)."""
    move = [[0.8, 0.2], [0.3, 0.7]]
    chain = BayesianNetwork(
        {
            "U": Table(TWO, [0.6, 0.4]),
            "X": Table(TWO, move, ("U",)),
            "Y": Table(TWO, move, ("X",)),
        }
    )
    tree = chain.with_conditionals({"Z": Table(TWO, move, ("X",))})
    poly = BayesianNetwork(
        {
            "U": Table(TWO, [0.6, 0.4]),
            "V": Table(TWO, [0.9, 0.1]),
            "X": Table(TWO, [[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]], ("U", "V")),
            "Y": Table(TWO, move, ("X",)),
            "Z": Table(TWO, move, ("X",)),
        }
    )
    figure, panels = plt.subplots(
        1, 3, figsize=(13, 4.8), layout="constrained", width_ratios=(1, 2, 2)
    )
    titles = ("chain", "tree", "polytree")
    for ax, network, title in zip(panels, (chain, tree, poly), titles, strict=True):
        evidence = {"Y": "yes"}
        belief_network(network, evidence=evidence, messages=propagate(network, evidence), ax=ax)
        ax.set_title(f"{title}, Y = yes observed")
    return figure


def _cliques() -> plt.Figure:
    """Return figure 14.12: a graph with a loop and its tree of cliques."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    belief_network(sprinkler(), ax=panels[0])
    clique_tree(sprinkler().junction_tree, ax=panels[1])
    panels[0].set_title("a network with a loop")
    panels[1].set_title("its junction tree")
    return figure


def _factors() -> plt.Figure:
    """Return figure 14.13: the collider and its factor graph."""
    both = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.05, 0.95]]]
    collider = BayesianNetwork(
        {
            "R": Table(TWO, [0.6, 0.4]),
            "S": Table(TWO, [0.8, 0.2]),
            "W": Table(TWO, both, ("R", "S")),
        }
    )
    figure, panels = plt.subplots(1, 2, figsize=(8, 4.4), layout="constrained")
    belief_network(collider, ax=panels[0])
    factor_graph_diagram(FactorGraph.of(collider), ax=panels[1])
    return figure


def _plates() -> plt.Figure:
    """Return classification, naive Bayes and regression as graphs with plates (14.6 and 14.7)."""
    figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    nodes = [GraphNode("C"), GraphNode("x", shaded=True)]
    graph_diagram(nodes, [GraphEdge("C", "x")], [Plate(("C", "x"), "N")], ax=panels[0])
    panels[0].set_title("classification")
    inputs = [GraphNode(f"x{k}", f"$x_{k}$", shaded=True) for k in (1, 2, 3)]
    edges = [GraphEdge("C", f"x{k}") for k in (1, 2, 3)]
    graph_diagram([GraphNode("C"), *inputs], edges, ax=panels[1])
    panels[1].set_title("naive Bayes")
    regression = [
        GraphNode("alpha", r"$\alpha$", shape="point", position=(-3.4, -0.4)),
        GraphNode("w", r"$w$", position=(-2.2, -0.4)),
        GraphNode("x", r"$x^t$", shaded=True, position=(0, 1.2)),
        GraphNode("r", r"$r^t$", shaded=True, position=(0, -0.4)),
        GraphNode("beta", r"$\beta$", shape="point", position=(1.9, -0.4)),
        GraphNode("x'", r"$x'$", shaded=True, position=(-3.4, -2.4)),
        GraphNode("r'", r"$r'$", position=(-1.2, -2.4)),
    ]
    arcs = [("alpha", "w"), ("w", "r"), ("x", "r"), ("beta", "r"), ("w", "r'"), ("x'", "r'")]
    graph_diagram(
        regression, [GraphEdge(*arc) for arc in arcs], [Plate(("x", "r"), "N")], ax=panels[2]
    )
    panels[2].set_title("Bayesian regression")
    return figure


def _decision() -> plt.Figure:
    """Return figure 14.14: classification as a decision."""
    diagram = InfluenceDiagram(
        {
            "class": Table(("low", "high"), [0.7, 0.3]),
            "x": Table(TWO, [[0.8, 0.2], [0.3, 0.7]], ("class",)),
        },
        {"choose": ("low", "high", "reject")},
        {"utility": Utility(("class", "choose"), [[0, -1, -0.2], [-5, 0, -0.2]])},
    )
    return influence_diagram(diagram, observed=["x"]).figure


def _necker() -> plt.Figure:
    """Return the two modes of the Necker cube (14.15)."""
    cube = necker_cube()
    figure, panels = plt.subplots(1, 2, figsize=(13, 5.4), layout="constrained")
    places = {}
    for name in cube.units:
        kind, side, height, depth = name
        shift = 0.9 if depth == "B" else 0.0
        x = (2.4 if side == "R" else 0.0) + shift + (5.4 if kind == "B" else 0.0)
        # One cube lower, so that links between the cubes do not lie on those within.
        lower = 1.5 if kind == "B" else 0.0
        places[name] = (x, (2.4 if height == "U" else 0.0) + shift - lower)
    for ax, mode in zip(panels, cube.modes()[:2], strict=True):
        constraint_diagram(cube, mode, positions=places, ax=ax)
        ax.set_title(f"goodness {mode.goodness:.0f}: all of {mode.active[0][0]}")
    return figure


def _pixels() -> plt.Figure:
    """Return an image with noise and with a hidden part, and both restored."""
    rows, columns = np.mgrid[0:96, 0:96]
    clean = ((rows - 40) ** 2 + (columns - 36) ** 2 < 26**2) | (
        (columns > 64) & (rows > 30) & (rows < 84)
    )
    clean = clean.astype(int)
    flips = np.random.default_rng(0).random(clean.shape) < 0.15
    noisy = clean ^ flips
    hidden = np.zeros(clean.shape, dtype=bool)
    hidden[30:46, 20:50] = True
    restored = restore_image(noisy, noise=0.15, coupling=1.6)
    filled = restore_image(np.where(hidden, 0, noisy), noise=0.15, coupling=1.6, hidden=hidden)
    figure, panels = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
    shown = np.where(hidden, 0.5, noisy)
    titles = (
        f"15% noise: {np.mean(noisy != clean):.3f} wrong",
        f"restored: {np.mean(restored.image != clean):.4f} wrong",
        "a part hidden",
        f"filled: {np.mean(filled.image != clean):.4f} wrong",
    )
    pictures = (noisy, restored.image, shown, filled.image)
    for ax, image, title in zip(panels, pictures, titles, strict=True):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        ax.set_title(title, fontsize="medium")
        ax.axis("off")
    return figure


def titanic_table() -> pd.DataFrame:
    """Return the passengers with age and family as categories."""
    titanic = dataset("titanic")
    table = titanic.inputs[["passenger_class", "sex", "embarked"]].copy()
    ages = ["child", "adult", "older"]
    table["age"] = pd.cut(titanic.inputs["age"], [0, 15, 40, 100], labels=ages)
    family = titanic.inputs["siblings_spouses"] + titanic.inputs["parents_children"]
    table["family"] = pd.cut(family, [-1, 0, 3, 20], labels=["alone", "small", "large"])
    table["survived"] = pd.Categorical(titanic.target_values)
    return table


def _titanic() -> plt.Figure:
    """Return the network that a search finds in the passengers of the Titanic."""
    table = titanic_table()
    forbidden = [(name, root) for root in ("age", "sex") for name in table if name != root]
    forbidden += [("survived", name) for name in table if name != "survived"]
    density = BayesianNetworkDensity(structure="search", criterion="bde", forbidden=forbidden)
    places = {
        "sex": (-1.8, 0.0),
        "age": (2.6, 0.0),
        "family": (0.2, -2.0),
        "passenger_class": (2.2, -4.0),
        "survived": (-1.2, -6.0),
        "embarked": (2.6, -6.2),
    }
    known = {"survived": "yes"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the page says which rows are left out
        network = density.fit(table).network_
    return belief_network(network, evidence=known, beliefs=True, positions=places).figure


def _applications() -> plt.Figure:
    """Return a site of DNA along a tree of species, and a story that lasts for days."""
    species = {
        "ape": ("root", 0.2), "human": ("ape", 0.05), "chimp": ("ape", 0.06), "mouse": ("root", 0.5)
    }  # fmt: skip
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(12, 4.6), layout="constrained", width_ratios=(3, 2)
    )
    seen = {"human": "A", "chimp": "A", "mouse": "G"}
    belief_network(phylogeny(species), evidence=seen, beliefs=True, ax=left)
    left.set_title("what the common ancestors had at one site")
    words = [[0.5, 0.4, 0.1], [0.1, 0.1, 0.8]]
    table = pd.DataFrame({"word": ["goal", None, "team", None, "vote", "goal", "vote", "vote"]})
    for persistence, line in ((0.9, "o-"), (0.0, "s--")):
        days = story_over_days([0.5, 0.5], words, ["goal", "team", "vote"], persistence=persistence)
        share = days.smooth(table, "topic")[0]
        right.plot(share, line, label=f"a topic lasts with probability {persistence:g}")
    right.set_xticks(range(len(table)), table["word"].fillna("-"))
    right.set(ylim=(0, 1), ylabel="probability of the topic sports", xlabel="word of the day")
    right.legend()
    return figure
