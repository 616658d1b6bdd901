"""d-separation against NetworkX, against numbers, and its explanations."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from verulam.base import DataError
from verulam.graphical import (
    PathReport,
    Separation,
    connection,
    d_separated,
    independences,
    sprinkler,
)

#: Figure 14.8, with the arc between B and E directed from E.
FIGURE = [("C", "B"), ("C", "D"), ("D", "F"), ("E", "F"), ("F", "G"), ("E", "B")]


def test_canonical_connections():
    network = sprinkler()
    assert connection(network, "cloudy", "rain", "wet") == "chain"
    assert connection(network, "wet", "rain", "cloudy") == "chain"
    assert connection(network, "sprinkler", "cloudy", "rain") == "fork"
    assert connection(network, "sprinkler", "wet", "rain") == "collider"


def test_figure_14_8():
    graph = [("C", "B"), ("C", "D"), ("D", "F"), ("E", "F"), ("F", "G"), ("B", "E")]
    assert not d_separated(graph, "B", "D", ["C", "F"])
    assert not d_separated(graph, "B", "D", ["C", "G"])
    assert d_separated(graph, "B", "D", "C")
    assert d_separated(graph, "B", "G", "F")
    assert d_separated(FIGURE, "B", "D", "C")
    assert d_separated(FIGURE, "B", "G", "F")


def test_course_notes(five_nodes):
    assert d_separated(five_nodes, "A", "B")
    assert not d_separated(five_nodes, "A", "B", "D")
    assert d_separated(five_nodes, "C", "B", "A")
    assert d_separated(five_nodes, "D", "C", ["A", "B"])
    assert d_separated(five_nodes, "E", ["A", "B", "D"], "C")


@pytest.mark.parametrize("seed", range(4))
def test_separation_is_networkxs_and_the_numbers(make_network, seed):
    network = make_network(seed, n_nodes=6)
    theirs = nx.DiGraph(network.graph.arcs)
    theirs.add_nodes_from(network.nodes)
    joint = network.joint()
    random = np.random.default_rng(seed)
    for first, second in combinations(network.nodes, 2):
        others = [name for name in network.nodes if name not in (first, second)]
        for size in range(4):
            condition = [str(name) for name in random.permutation(others)[:size]]
            ours = bool(d_separated(network, first, second, condition))
            assert ours == nx.is_d_separator(theirs, {first}, {second}, set(condition))
            # Random tables have no other independences than those of the graph.
            assert ours == joint.independent([first], [second], condition, tol=1e-10)


def test_paths_explain():
    result = d_separated(FIGURE, "B", "D", ["G"])
    assert isinstance(result, Separation)
    assert isinstance(result.paths[0], PathReport)
    reasons = {path.text: (path.is_blocked, path.reason) for path in result.paths}
    assert reasons["B <- C -> D"] == (False, "C is a fork that is not observed")
    blocked, reason = reasons["B <- E -> F <- D"]
    assert not blocked
    assert "F is a collider with an observed descendant" in reason
    assert "not d-separated" in str(result)
    known = d_separated(FIGURE, "B", "D", ["C"])
    assert "B <- C -> D: blocked, by C, a fork that is observed" in str(known)
    assert "by F, a collider without observed descendants" in str(known)
    assert str(d_separated({"a": (), "b": ()}, "a", "b")) == "d-separated: no path."
    assert "an arc joins them" in str(d_separated([("a", "b")], "a", "b"))


def test_separation_holds_where_all_listed_paths_are_blocked(make_network):
    network = make_network(2, n_nodes=7)
    for first, second in combinations(network.nodes, 2):
        result = d_separated(network, first, second, [])
        assert bool(result) == all(path.is_blocked for path in result.paths)


def test_list_of_independences(five_nodes):
    triples = independences(five_nodes, max_condition=2)
    assert ("A", "B", ()) in triples
    assert ("C", "D", ("A",)) in triples
    assert ("A", "E", ("C",)) in triples
    assert ("C", "D", ("A", "B")) not in triples  # A alone is enough
    for first, second, condition in triples:
        assert five_nodes.joint().independent([first], [second], condition)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: d_separated(FIGURE, "B", "X"), "no node 'X'"),
        (lambda: d_separated(FIGURE, "B", "B"), "'B' is in two of the three sets"),
        (lambda: d_separated(3, "B", "C"), "list of arcs, not int"),
        (lambda: connection(FIGURE, "B", "G", "C"), "no arc between 'B' and 'G'"),
    ],
)
def test_wrong_questions_are_refused(ask, message):
    with pytest.raises(DataError, match=message):
        ask()
