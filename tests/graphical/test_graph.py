"""Directed graphs, moral graphs and triangulation."""

import networkx as nx
import numpy as np
import pytest

from verulam.base import DataError
from verulam.graphical import DirectedGraph
from verulam.graphical._graph import components, maximal_cliques, triangulate, undirected


def random_graph(seed, n_nodes=9, share=0.35):
    random = np.random.default_rng(seed)
    names = [f"n{k}" for k in range(n_nodes)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    return names, [pair for pair in pairs if random.random() < share]


def test_a_cycle_is_named():
    with pytest.raises(DataError, match="a cycle: a -> b -> c -> a"):
        DirectedGraph.from_arcs([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DirectedGraph({"rain": ("clouds",), "cloud": ()}), "Nearest: cloud"),
        (lambda: DirectedGraph({"a": (), "b": ("a", "a")}), "names a parent twice"),
        (lambda: DirectedGraph.from_arcs(["ab"]), r"pairs \(parent, child\)"),
    ],
)
def test_wrong_graphs_are_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_order_puts_parents_first():
    graph = DirectedGraph.from_arcs([("b", "a"), ("c", "b"), ("c", "a")], nodes=["a", "b", "c"])
    assert graph.order == ("c", "b", "a")


@pytest.mark.parametrize("seed", range(3))
def test_moral_graph_is_networkxs(seed):
    names, arcs = random_graph(seed)
    theirs = nx.moral_graph(nx.DiGraph(arcs))
    ours = DirectedGraph.from_arcs(arcs, nodes=names).moral
    for first, second in theirs.edges:
        assert second in ours[first]
    assert sum(map(len, ours.values())) == 2 * theirs.number_of_edges()


@pytest.mark.parametrize("heuristic", ["min-fill", "min-size", "min-neighbours"])
def test_triangulation_leaves_no_long_cycle(heuristic):
    names, arcs = random_graph(5)
    neighbours = undirected(names, arcs)
    result = triangulate(neighbours, dict.fromkeys(names, 2), heuristic)
    filled = nx.Graph([*arcs, *result.fill])
    assert nx.is_chordal(filled)
    assert not nx.is_chordal(nx.Graph(arcs))
    theirs = {frozenset(clique) for clique in nx.find_cliques(filled)}
    ours = {frozenset(clique) for clique in result.cliques}
    assert theirs <= ours | {frozenset([name]) for name in names}


def test_maximal_cliques_are_networkxs():
    names, arcs = random_graph(2)
    graph = nx.Graph(arcs)
    graph.add_nodes_from(names)
    ours = {frozenset(clique) for clique in maximal_cliques(undirected(names, arcs))}
    assert ours == {frozenset(clique) for clique in nx.find_cliques(graph)}


def test_components_and_polytrees():
    assert DirectedGraph.from_arcs([("a", "c"), ("b", "c"), ("d", "e")]).is_singly_connected
    assert not DirectedGraph.from_arcs([("a", "b"), ("a", "c"), ("b", "c")]).is_singly_connected
    parts = components(undirected("abcd", [("a", "b")]))
    assert sorted(map(sorted, parts)) == [["a", "b"], ["c"], ["d"]]
