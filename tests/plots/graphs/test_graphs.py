"""Diagrams: every node, arc, shape, plate, table, message and bar that was described is drawn."""

import numpy as np
import pytest
from matplotlib.patches import (
    Circle,
    Ellipse,
    FancyArrowPatch,
    FancyBboxPatch,
    Polygon,
    Rectangle,
)
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.graphical import (
    BayesianNetwork,
    DirectedGraph,
    FactorGraph,
    InfluenceDiagram,
    Table,
    Utility,
    d_separated,
    necker_cube,
    propagate,
    sprinkler,
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
from verulam.plots._graphs.diagram import WIDTH, layout

TWO = ("no", "yes")


def kinds(axes):
    patches = axes.patches
    return {kind: [p for p in patches if type(p) is kind] for kind in {type(p) for p in patches}}


def texts(axes):
    return [text.get_text() for text in axes.texts]


@pytest.fixture(scope="module")
def chain():
    return BayesianNetwork(
        {
            "U": Table(TWO, [0.6, 0.4]),
            "X": Table(TWO, [[0.8, 0.2], [0.3, 0.7]], ("U",)),
        }
    )


def test_shapes_of_nodes():
    nodes = [
        GraphNode("chance", position=(0, 0)),
        GraphNode("seen", shaded=True, position=(2, 0)),
        GraphNode("decision", shape="box", position=(4, 0)),
        GraphNode("utility", shape="diamond", position=(6, 0)),
        GraphNode("f", shape="factor", position=(8, 0)),
        GraphNode("alpha", r"$\alpha$", shape="point", position=(10, 0)),
    ]
    edges = [GraphEdge("chance", "seen"), GraphEdge("seen", "f", directed=False)]
    axes = graph_diagram(nodes, edges, [Plate(("chance", "seen"), "N")])
    drawn = kinds(axes)
    assert {kind.__name__: len(patches) for kind, patches in drawn.items()} == {
        "Ellipse": 2, "Rectangle": 2, "Polygon": 1, "Circle": 1, "FancyArrowPatch": 2,
        "FancyBboxPatch": 1,
    }  # fmt: skip
    open_, shaded = drawn[Ellipse]
    assert open_.get_facecolor()[:3] == (1, 1, 1)
    assert max(shaded.get_facecolor()[:3]) < 1
    assert "N" in texts(axes)
    assert r"$\alpha$" in texts(axes)
    frame = drawn[FancyBboxPatch][0].get_path().get_extents()
    assert frame.x0 < 0 < 2 < frame.x1
    assert drawn[Polygon]
    assert drawn[Circle]
    assert drawn[Rectangle]
    assert drawn[FancyArrowPatch]


def test_signs_of_links():
    nodes = [GraphNode("a"), GraphNode("b"), GraphNode("c")]
    edges = [GraphEdge("a", "b", directed=False, sign="+"), GraphEdge("b", "c", sign="-")]
    plus, minus = kinds(graph_diagram(nodes, edges))[FancyArrowPatch]
    assert plus.get_linestyle() == "-"
    assert minus.get_linestyle() == "--"
    assert plus.get_edgecolor() != minus.get_edgecolor()


def test_parents_stand_above_their_children():
    graph = sprinkler().graph
    nodes = [GraphNode(name) for name in graph.nodes]
    places = layout(nodes, [GraphEdge(*arc) for arc in graph.arcs])
    for parent, child in graph.arcs:
        assert places[parent][1] > places[child][1]
    assert places["sprinkler"][0] != places["rain"][0]
    assert len(set(places.values())) == 4


def test_arcs_that_pass_layers_have_no_node_in_their_way():
    nodes = [GraphNode(name) for name in "abcd"]
    edges = [GraphEdge(*arc) for arc in ("ab", "bc", "cd", "ad")]
    places = layout(nodes, edges)
    assert list(places) == ["a", "b", "c", "d"]
    for name in "bc":
        (left, top), (right, bottom), (x, y) = places["a"], places["d"], places[name]
        passing = left + (right - left) * (y - top) / (bottom - top)
        assert abs(x - passing) > WIDTH


def test_a_loop_of_links_can_be_laid_out():
    nodes = [GraphNode(name) for name in "abc"]
    edges = [GraphEdge("a", "b"), GraphEdge("b", "c"), GraphEdge("c", "a")]
    assert len(set(layout(nodes, edges).values())) == 3


def test_tables_stand_beside_nodes():
    axes = belief_network(sprinkler(), tables=True)
    written = "\n".join(texts(axes))
    for line in ("P(yes)=0.5", "P(yes|C=yes)=0.8", "P(yes|S=yes,R=yes)=0.95"):
        assert line in written
    many = BayesianNetwork(
        {
            **{name: Table((0, 1, 2), [0.2, 0.3, 0.5]) for name in "ab"},
            "c": Table((0, 1, 2), np.full((3, 3, 3), 1 / 3), ("a", "b")),
        }
    )
    written = "\n".join(texts(belief_network(many, tables=True)))
    assert "A=0,B=1: 0.33 0.33 0.33" in written
    assert "... 1 more" in written


def test_beliefs_are_bars():
    network = sprinkler()
    axes = belief_network(network, evidence={"wet": "yes"}, beliefs=True)
    assert "yes 0.42" in texts(axes)
    assert "yes 1.00" in texts(axes)
    bars = [p for p in axes.patches if type(p) is Rectangle]
    assert len(bars) == 2 * 2 * 4


def test_messages_stand_on_arcs(chain):
    messages = propagate(chain, {"X": "yes"})
    axes = belief_network(chain, evidence={"X": "yes"}, messages=messages)
    assert "π 0.60 0.40\nλ 0.22 0.78" in texts(axes)


def test_paths_are_emphasised():
    graph = [("C", "B"), ("C", "D"), ("D", "F"), ("B", "F")]
    result = d_separated(graph, "B", "D", ["C"])
    axes = separation_diagram(DirectedGraph.from_arcs(graph), result, "C")
    widths = [arrow.get_linewidth() for arrow in kinds(axes)[FancyArrowPatch]]
    assert sum(width > 2 for width in widths) == 2
    assert axes.get_title() == "d-separated: B <- C -> D is blocked"


def test_factor_graph(chain):
    axes = factor_graph_diagram(FactorGraph.of(chain))
    drawn = kinds(axes)
    assert len(drawn[Rectangle]) == 2
    assert len(drawn[Ellipse]) == 2
    assert len(drawn[FancyArrowPatch]) == 3
    assert "$f_{a}$" in texts(axes)


def test_influence_diagram():
    diagram = InfluenceDiagram(
        {"class": Table(TWO, [0.5, 0.5])},
        {"choice": TWO},
        {"gain": Utility(("class", "choice"), [[1, 0], [0, 1]])},
    )
    drawn = kinds(influence_diagram(diagram))
    assert len(drawn[Ellipse]) == len(drawn[Rectangle]) == len(drawn[Polygon]) == 1


def test_what_is_known_before_a_decision_leads_to_it():
    diagram = InfluenceDiagram(
        {"class": Table(TWO, [0.5, 0.5]), "x": Table(TWO, np.eye(2), ("class",))},
        {"choice": TWO},
        {"gain": Utility(("class", "choice"), [[1, 0], [0, 1]])},
    )
    arrows = [
        sum(
            isinstance(patch, FancyArrowPatch)
            for patch in influence_diagram(diagram, **options).patches
        )
        for options in ({}, {"observed": ["x"]})
    ]
    assert arrows == [3, 4]
    with pytest.raises(DataError, match="observed: 'choice' is no chance node"):
        influence_diagram(diagram, observed=["choice"])


def test_constraint_network():
    cube = necker_cube()
    mode = cube.modes()[0]
    axes = constraint_diagram(cube, mode)
    drawn = kinds(axes)
    shaded = [e for e in drawn[Ellipse] if max(e.get_facecolor()[:3]) < 1]
    assert len(shaded) == len(mode.active)
    dashed = [a for a in drawn[FancyArrowPatch] if a.get_linestyle() == "--"]
    assert len(dashed) == sum(weight < 0 for weight in cube.links.values())


def test_clique_tree():
    axes = clique_tree(sprinkler().junction_tree)
    assert "cloudy\nsprinkler\nrain" in texts(axes)
    assert "sprinkler, rain" in texts(axes)


def test_belief_bars():
    ask = sprinkler().query
    answers = {"nothing": ask("sprinkler"), "wet": ask("sprinkler", {"wet": "yes"})}
    axes = belief_bars(answers)
    heights = [patch.get_height() for patch in axes.patches]
    assert_allclose(heights, [0.7, 0.3, *answers["wet"].values])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["nothing", "wet"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: graph_diagram([]), "at least one node"),
        (lambda: graph_diagram([GraphNode("a"), GraphNode("a")]), "a name of its own"),
        (lambda: graph_diagram([GraphNode("a", shape="star")]), "shape 'star'; accepted"),
        (lambda: graph_diagram([GraphNode("a")], [GraphEdge("a", "b")]), "no node 'b' to draw"),
        (lambda: graph_diagram([GraphNode("a")], plates=[Plate(("b",))]), "no node 'b' to draw"),
        (lambda: belief_network(3), "expected a network"),
        (lambda: belief_network(sprinkler().graph, tables=True), "of a BayesianNetwork"),
        (lambda: factor_graph_diagram(3), "expected a FactorGraph"),
        (lambda: influence_diagram(3), "expected an InfluenceDiagram"),
        (lambda: constraint_diagram(3), "expected a ConstraintNetwork"),
        (lambda: clique_tree(3), "expected a JunctionTree"),
        (lambda: belief_bars({}), "at least one answer"),
        (
            lambda: belief_bars({"a": sprinkler().query("rain"), "b": sprinkler().query("wet")}),
            "one and the same node",
        ),
    ],
)
def test_wrong_descriptions_are_refused(draw, message):
    with pytest.raises(DataError, match=message):
        draw()


def test_pictures_say_which_result_they_expect():
    with pytest.raises(DataError, match="expected what d_separated returned, not str"):
        separation_diagram(sprinkler(), "sprinkler", "rain")
    with pytest.raises(DataError, match="expected a dictionary from what was known"):
        belief_bars(sprinkler())
    with pytest.raises(DataError, match="about a single node"):
        belief_bars({"nothing": 3})
