"""Scores of graphs, searches and trees."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln
from sklearn.metrics import mutual_info_score

from verulam.base import DataError, DataWarning
from verulam.graphical import (
    DirectedGraph,
    LearnedStructure,
    asia,
    chow_liu,
    learn_structure,
    learn_tables,
    sprinkler,
    structure_score,
    tree_augmented,
)

CHAIN = [("a", "b"), ("b", "c")]


@pytest.fixture(scope="module")
def rows():
    return sprinkler().sample(4000, random_state=0)


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    a = random.integers(0, 3, 500)
    b = (a + random.integers(0, 2, 500)) % 3
    c = (b + random.integers(0, 2, 500)) % 3
    frame = pd.DataFrame({"a": a, "b": b, "c": c})
    return frame.astype("category")


def family_counts(table, child, parents):
    keys = [table[name] for name in parents]
    if not keys:
        return table[child].value_counts(sort=False).to_numpy()[np.newaxis]
    return pd.crosstab(keys, table[child], dropna=False).to_numpy()


@pytest.mark.parametrize("score", ["loglik", "bic", "aic", "k2", "bde"])
def test_scores_by_their_formulas(table, score):
    graph = DirectedGraph.from_arcs([("a", "c"), ("b", "c"), ("a", "b")])
    expected = 0.0
    for child in graph.nodes:
        counts = family_counts(table, child, graph.parents[child])
        q, r = counts.shape
        totals = counts.sum(axis=1)
        if score in ("k2", "bde"):
            prior = 1.0 if score == "k2" else 2.0 / (q * r)
            expected += (gammaln(counts + prior) - gammaln(prior)).sum()
            expected += (gammaln(prior * r) - gammaln(totals + prior * r)).sum()
        else:
            shares = counts / np.maximum(totals, 1)[:, np.newaxis]
            expected += (counts * np.log(np.where(counts > 0, shares, 1))).sum()
            charge = {"loglik": 0.0, "bic": 0.5 * np.log(500), "aic": 1.0}[score]
            expected -= charge * q * (r - 1)
    assert_allclose(structure_score(graph, table, score, mass=2.0), expected)


@pytest.mark.parametrize("score", ["loglik", "bic", "aic", "bde"])
def test_equivalent_graphs_score_alike(table, score):
    chain = structure_score(CHAIN, table, score)
    assert_allclose(structure_score([("c", "b"), ("b", "a")], table, score), chain)
    assert_allclose(structure_score([("b", "a"), ("b", "c")], table, score), chain)
    collider = structure_score([("a", "b"), ("c", "b")], table, score)
    assert abs(collider - chain) > 1


def test_bic_is_that_of_the_learned_tables(rows):
    learned = learn_tables(sprinkler(), rows, alpha=0.0)
    assert_allclose(structure_score(sprinkler(), rows), learned.bic(len(rows)))


@pytest.mark.parametrize("method", ["tabu", "greedy"])
@pytest.mark.parametrize("score", ["bic", "bde", "aic"])
def test_search_recovers_the_sprinkler(rows, method, score):
    result = learn_structure(rows, method=method, score=score)
    assert isinstance(result, LearnedStructure)
    assert_allclose(structure_score(result.graph, rows, score), result.score)
    assert result.score >= structure_score(sprinkler(), rows, score) - 1e-9
    skeleton = {frozenset(arc) for arc in result.graph.arcs}
    assert {frozenset(arc) for arc in sprinkler().graph.arcs} <= skeleton
    assert len(result.trace) == result.n_moves + 1
    assert max(result.trace) == result.score


def test_tabu_is_no_worse_than_greedy():
    for seed in range(3):
        rows = asia().sample(1000, random_state=seed)
        tabu, greedy = (learn_structure(rows, method=m).score for m in ("tabu", "greedy"))
        assert tabu >= greedy - 1e-9
    # Here the way to a better graph leads through worse ones.
    rows = asia().sample(1000, random_state=11)
    tabu, greedy = (learn_structure(rows, method=m).score for m in ("tabu", "greedy"))
    assert tabu > greedy + 5


def test_greedy_stops_at_a_maximum(table):
    """No single change of an arc raises the score of what the search returns."""
    best = learn_structure(table, method="greedy")
    arcs = set(best.graph.arcs)
    names = list(table.columns)
    for parent in names:
        for child in names:
            changed = arcs ^ {(parent, child)} if parent != child else arcs
            graph = nx.DiGraph(list(changed))
            if nx.is_directed_acyclic_graph(graph):
                other = DirectedGraph.from_arcs(changed, nodes=names)
                assert structure_score(other, table) <= best.score + 1e-9


def test_k2_takes_parents_from_before(rows):
    order = ["cloudy", "sprinkler", "rain", "wet"]
    result = learn_structure(rows, method="k2", score="k2", order=order)
    assert set(result.graph.parents["wet"]) == {"sprinkler", "rain"}
    assert set(result.graph.parents["rain"]) <= {"cloudy", "sprinkler"}
    assert_allclose(result.score, structure_score(result.graph, rows, "k2"))
    reverse = learn_structure(rows, method="k2", score="k2", order=order[::-1])
    assert reverse.graph.parents["wet"] == ()


def test_experts_have_their_say(rows):
    required, forbidden = [("wet", "cloudy")], [("rain", "wet"), ("wet", "rain")]
    for method in ("tabu", "greedy"):
        arcs = learn_structure(
            rows, method=method, required=required, forbidden=forbidden
        ).graph.arcs
        assert ("wet", "cloudy") in arcs
        assert not set(forbidden) & set(arcs)
    graph = learn_structure(rows, max_parents=1).graph
    assert max(map(len, graph.parents.values())) == 1


def test_chow_liu_is_the_largest_spanning_tree():
    rows = asia().sample(3000, random_state=1)
    weights = nx.Graph()
    for i, first in enumerate(rows):
        for second in rows.columns[i + 1 :]:
            weights.add_edge(first, second, weight=mutual_info_score(rows[first], rows[second]))
    theirs = nx.maximum_spanning_tree(weights)
    ours = chow_liu(rows, root="either")
    assert {frozenset(arc) for arc in ours.arcs} == {frozenset(edge) for edge in theirs.edges}
    assert ours.parents["either"] == ()
    assert all(len(ours.parents[name]) == 1 for name in rows if name != "either")


def test_augmented_tree_uses_information_within_classes():
    random = np.random.default_rng(0)
    c = random.integers(0, 2, 4000)
    x = random.integers(0, 2, 4000)
    frame = {
        "c": c,
        "x": x,
        "y": x ^ (random.random(4000) < 0.1),
        "z": c ^ (random.random(4000) < 0.1),
    }
    rows = pd.DataFrame(frame).astype("category")
    graph = tree_augmented(rows, "c")
    assert all("c" in graph.parents[name] for name in "xyz")
    # x and y go together within the classes; z is a copy of the class and of nothing else.
    assert ("x", "y") in graph.arcs
    assert len(graph.arcs) == 5


def test_rows_with_gaps_are_left_out(rows):
    gaps = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.02)
    whole = gaps.dropna()
    gaps.loc[whole.index[:30], "rain"] = None
    whole = whole.iloc[30:]
    left_out = rf"^{len(rows) - len(whole)} of {len(rows)} rows have gaps, most of them in 'rain'"
    with pytest.warns(DataWarning, match=left_out):
        learned = learn_structure(gaps)
    assert learned.score == learn_structure(whole).score
    with pytest.warns(DataWarning, match=left_out):
        assert structure_score(learned.graph, gaps) == pytest.approx(learned.score)
    none = rows.assign(rain=pd.Categorical([None] * len(rows), ["no", "yes"]))
    with pytest.raises(DataError, match="Every row has a gap, most of them in 'rain'"):
        learn_structure(none)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: learn_structure(r, method="luck"), "method is 'luck'"),
        (lambda r: learn_structure(r, score="mdl"), "score is 'mdl'"),
        (lambda r: learn_structure(r, required=[("rain", "snow")]), "no 'snow'"),
        (lambda r: learn_structure(r, required=["rain"]), "required: expected pairs"),
        (
            lambda r: learn_structure(r, required=[("rain", "wet")], forbidden=[("rain", "wet")]),
            "both required and forbidden",
        ),
        (
            lambda r: learn_structure(r, required=[("rain", "wet"), ("wet", "rain")]),
            "cycle: rain -> wet -> rain",
        ),
        (lambda r: learn_structure(r, method="k2", order=["rain"]), "every column once"),
        (
            lambda r: learn_structure(r, method="k2", required=[("wet", "rain")]),
            "from a later node",
        ),
        (lambda r: learn_structure(r.assign(x=1.5)), "Column 'x' is numeric.*KBinsDiscretizer"),
        (lambda r: learn_structure(r.iloc[:0]), "no rows"),
        (lambda r: structure_score({"snow": ()}, r), "no column 'snow'"),
        (lambda r: chow_liu(r, root="snow"), "no column 'snow'"),
        (lambda r: tree_augmented(r, "snow"), "no column 'snow'"),
    ],
)
def test_wrong_arguments_are_refused(rows, ask, message):
    with pytest.raises(DataError, match=message):
        ask(rows)
