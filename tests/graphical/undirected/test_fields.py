"""Markov fields, factor graphs, messages on them, grids of pixels and constraint networks."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.graphical import (
    BayesianNetwork,
    ConstraintNetwork,
    Factor,
    FactorGraph,
    FieldMessages,
    MarkovField,
    Mode,
    Restored,
    Table,
    moralise,
    multiply,
    necker_cube,
    propagate_field,
    restore_image,
    sprinkler,
)

TWO = ("no", "yes")


def random_field(seed, edges, n_states=3):
    random = np.random.default_rng(seed)
    names = sorted({name for pair in edges for name in pair})
    return MarkovField.pairwise(
        dict.fromkeys(names, tuple(range(n_states))),
        {pair: random.random((n_states, n_states)) + 0.1 for pair in edges},
        {name: random.random(n_states) + 0.1 for name in names},
    )


LOOP = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e")]
TREE = [("a", "b"), ("a", "c"), ("c", "d"), ("c", "e")]
CHAIN = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")]


@pytest.mark.parametrize("seed", range(3))
def test_partition_function_by_brute_force(seed):
    field = random_field(seed, LOOP)
    joint = multiply(field.model.factors).arranged(field.model.names)
    assert_allclose(field.partition_function, joint.values.sum())
    assert_allclose(field.query("a").values, joint.normalise().marginal(["a"]).values)
    assert_allclose(field.query(["a", "c"]).values, joint.normalise().marginal(["a", "c"]).values)
    assert_allclose(
        field.query("e", {"a": 1}).values, joint.reduce({"a": 1}).normalise().marginal(["e"]).values
    )
    assert_allclose(field.probability({"a": 0, "d": 2}),
                    joint.normalise().reduce({"a": 0, "d": 2}).values.sum())  # fmt: skip
    best = field.explain()
    assert_allclose(best.probability, joint.normalise().values.max())


def test_very_large_potentials_do_not_overflow():
    field = MarkovField.pairwise(
        {f"x{k}": (0, 1) for k in range(200)},
        {(f"x{k}", f"x{k + 1}"): [[1e6, 1.0], [1.0, 1e6]] for k in range(199)},
    )
    assert_allclose(field.log_partition_function, np.log(2) + 199 * np.log(1e6 + 1))
    assert_allclose(field.query("x199", {"x0": 1})[1], (1 + ((1e6 - 1) / (1e6 + 1)) ** 199) / 2)


def test_cliques_and_separation_by_removal():
    field = random_field(0, LOOP)
    theirs = {frozenset(clique) for clique in nx.find_cliques(nx.Graph(LOOP))}
    assert {frozenset(clique) for clique in field.cliques} == theirs
    joint = multiply(field.model.factors)
    for removed in ([], ["d"], ["b", "d"], ["a", "c"]):
        for first, second in (("a", "c"), ("e", "b"), ("b", "d")):
            if first in removed or second in removed:
                continue
            ours = field.separated(first, second, removed)
            assert ours == joint.independent([first], [second], removed, tol=1e-10)
    assert field.separated("e", "b", ["d"])
    assert field.separated("a", "c", ["b", "d"])
    assert not field.separated("a", "c", ["d"])


@pytest.mark.parametrize("seed", range(3))
def test_moralising_leaves_the_joint(make_network, seed):
    network = make_network(seed)
    field = moralise(network)
    assert_allclose(field.log_partition_function, 0.0, atol=1e-12)
    for name in network.nodes:
        assert_allclose(field.query(name).values, network.query(name).values, atol=1e-12)
        family = (*network.graph.parents[name], name)
        for other in family[:-1]:
            assert set(family) - {other} <= field.neighbours[other]
    assert_allclose(FactorGraph.of(network).product().values, network.joint().values)


@pytest.mark.parametrize("edges", [CHAIN, TREE], ids=["chain", "tree"])
@pytest.mark.parametrize("evidence", [{}, {"e": 1, "b": 0}])
def test_messages_without_directions(edges, evidence):
    field = random_field(1, edges)
    result = propagate_field(field, evidence)
    assert isinstance(result, FieldMessages)
    for name in field.model.names:
        assert_allclose(result.beliefs[name], field.query(name, evidence).values, atol=1e-12)
    assert len(result.messages) == 2 * len(edges)
    with pytest.raises(DataError, match="has a loop"):
        propagate_field(random_field(1, LOOP))


def test_factor_graph_of_figure_14_13():
    collider = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.05, 0.95]]]
    network = BayesianNetwork(
        {
            "R": Table(TWO, [0.6, 0.4]),
            "S": Table(TWO, [0.8, 0.2]),
            "W": Table(TWO, collider, ("R", "S")),
        }
    )
    graph = FactorGraph.of(network)
    assert graph.factor_names == ("f_a", "f_b", "f_c")
    assert graph.edges == (("f_a", "R"), ("f_b", "S"), ("f_c", "R"), ("f_c", "S"), ("f_c", "W"))
    assert graph.is_tree
    assert_allclose(graph.product().values, network.joint().values)
    beliefs = graph.sum_product({"W": "yes"})
    assert_allclose(beliefs.values["S"], network.query("S", {"W": "yes"}).values)
    assert_allclose(np.exp(beliefs.log_evidence), 0.52)
    assert_allclose(beliefs.to_variable[0, "R"], [0.6, 0.4])
    assert_allclose(beliefs.to_factor["W", 2], [0, 1])
    assert not FactorGraph.of(sprinkler()).is_tree


@pytest.mark.parametrize("seed", range(4))
def test_sum_product_and_max_product_on_trees(make_network, make_evidence, seed):
    network = make_network(seed, n_nodes=7, polytree=True)
    graph = FactorGraph.of(network)
    assert graph.is_tree
    for evidence in ({}, make_evidence(network, seed)):
        beliefs = graph.sum_product(evidence)
        for name in network.nodes:
            assert_allclose(beliefs.values[name], network.query(name, evidence).values, atol=1e-8)
        best = graph.max_product(evidence)
        exact = network.explain(evidence)
        assert best.states == exact.states
        assert_allclose(best.log_probability, exact.log_probability, atol=1e-10)


def test_max_sum_does_not_vanish_on_long_chains():
    table = np.array([[0.9, 0.1], [0.2, 0.8]])
    factors = [Factor(("x0",), [0.5, 0.5])]
    factors += [Factor((f"x{k}", f"x{k + 1}"), table * 1e-5) for k in range(300)]
    best = FactorGraph(factors).max_product({"x300": 1})
    assert best.states["x300"] == 1
    assert_allclose(
        best.log_probability, np.log(0.5) + 300 * np.log(1e-5) + 300 * np.log(0.9)
        - np.log(0.9) + np.log(0.1), atol=1e-6,
    )  # fmt: skip
    with pytest.raises(DataError, match="has a loop"):
        FactorGraph.of(sprinkler()).max_product()
    with pytest.raises(DataError, match="probability zero"):
        FactorGraph([Factor(("x",), [0.0, 1.0])]).max_product({"x": 0})


@pytest.fixture(scope="module")
def picture():
    clean = np.zeros((48, 48), dtype=int)
    clean[8:24, 8:40] = 1
    clean[28:44, 12:20] = 1
    return clean


@pytest.mark.parametrize("maximise", [False, True])
def test_noise_is_removed(picture, maximise):
    flips = np.random.default_rng(0).random(picture.shape) < 0.15
    noisy = picture ^ flips
    restored = restore_image(noisy, noise=0.15, coupling=1.5, maximise=maximise)
    assert isinstance(restored, Restored)
    assert restored.converged
    assert np.mean(restored.image != picture) < 0.2 * np.mean(noisy != picture)


def test_hidden_pixels_are_filled(picture):
    hidden = np.zeros(picture.shape, dtype=bool)
    hidden[12:20, 15:30] = True
    seen = np.where(hidden, 0, picture)
    restored = restore_image(seen, noise=0.05, coupling=1.5, hidden=hidden)
    assert (restored.image[hidden] == 1).mean() > 0.95
    assert (restore_image(seen, noise=0.05, coupling=1.5).image[hidden] == 0).mean() > 0.9


def test_potts_labels_and_a_grid_against_the_field():
    """Two rows of two pixels and three labels: messages on one square are near its marginals."""
    image = np.array([["r", "g"], ["r", "b"]])
    restored = restore_image(image, noise=0.3, coupling=0.4)
    labels = ("b", "g", "r")
    names = [f"{r}{c}" for r, c in product(range(2), range(2))]
    seen = dict(zip(names, image.ravel(), strict=True))
    nodes = {n: [0.7 if label == seen[n] else 0.15 for label in labels] for n in names}
    potts = np.where(np.eye(3) == 1, np.exp(0.4), 1.0)
    pairs = [("00", "01"), ("10", "11"), ("00", "10"), ("01", "11")]
    field = MarkovField.pairwise(dict.fromkeys(names, labels), dict.fromkeys(pairs, potts), nodes)
    for r, c in product(range(2), range(2)):
        assert_allclose(restored.probabilities[r, c], field.query(f"{r}{c}").values, atol=0.01)
    assert set(np.unique(restored.image)) <= {"r", "g", "b"}


def test_a_chain_of_pixels_is_exact():
    image = np.array([[0, 1, 1, 0, 1]])
    restored = restore_image(image, noise=0.2, coupling=0.8)
    names = [f"p{k}" for k in range(5)]
    nodes = {n: [0.8, 0.2] if v == 0 else [0.2, 0.8] for n, v in zip(names, image[0], strict=True)}
    edges = {(f"p{k}", f"p{k + 1}"): [[np.exp(0.8), 1], [1, np.exp(0.8)]] for k in range(4)}
    field = MarkovField.pairwise(dict.fromkeys(names, (0, 1)), edges, nodes)
    expected = [field.query(name).values for name in names]
    assert_allclose(restored.probabilities[0], expected, atol=1e-8)


def test_necker_cube_has_two_interpretations():
    network = necker_cube()
    assert len(network.units) == 16
    best = network.modes()
    assert isinstance(best[0], Mode)
    assert [mode.goodness for mode in best[:3]][:2] == [12.0, 12.0]
    assert best[2].goodness < 12.0
    kinds = [{name[0] for name in mode.active} for mode in best[:2]]
    assert sorted(map(sorted, kinds)) == [["A"], ["B"]]
    assert all(len(mode.active) == 8 for mode in best[:2])
    explanation = network.field.explain()
    active = {name for name, state in explanation.states.items() if state}
    assert active in [set(mode.active) for mode in best[:2]]
    ends = {network.settle(random_state=seed).active for seed in range(20)}
    assert {best[0].active, best[1].active} <= ends
    start = dict.fromkeys(network.units, 0) | {"ALDF": 1, "ALUF": 1}
    assert {name[0] for name in network.settle(start, random_state=0).active} == {"A"}


def test_constraint_field_is_the_exponential_of_goodness():
    network = ConstraintNetwork({("a", "b"): 1.5, ("b", "c"): -2.0}, bias={"c": 0.5})
    joint = multiply(network.field.model.factors).arranged(network.units)
    for states in product((0, 1), repeat=3):
        named = dict(zip(network.units, states, strict=True))
        assert_allclose(np.log(joint.values[states]), network.goodness(named), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MarkovField([]), "at least one Factor"),
        (lambda: MarkovField([3]), "at least one Factor"),
        (
            lambda: MarkovField.pairwise({"a": (0, 1)}, {("a", "b"): np.ones((2, 2))}),
            "variable 'b'",
        ),
        (lambda: random_field(0, TREE).separated("a", "a"), "two of the three sets"),
        (lambda: random_field(0, TREE).query("z"), "no node 'z'"),
        (lambda: FactorGraph([]), "at least one Factor"),
        (lambda: FactorGraph.of(3), "expected a network or field"),
        (lambda: moralise(3), "expected a BayesianNetwork"),
        (lambda: propagate_field(moralise(sprinkler())), "one or two variables"),
        (lambda: restore_image(np.zeros(3)), "rows and columns"),
        (lambda: restore_image(np.zeros((2, 2)), noise=0.0), "noise"),
        (lambda: restore_image(np.zeros((2, 2)), coupling=-1.0), "coupling"),
        (lambda: restore_image(np.zeros((2, 2)), hidden=np.zeros(3)), r"shape \(2, 2\)"),
        (lambda: restore_image(np.full((2, 2), np.nan)), "finite"),
        (lambda: restore_image(np.arange(100.0).reshape(10, 10)), "too many"),
        (
            lambda: restore_image(np.arange(9.0).reshape(3, 3) / 9),
            "9 different values are too many",
        ),
        (lambda: ConstraintNetwork({}), "dictionary from pairs"),
        (lambda: ConstraintNetwork({("a", "a"): 1.0}), "pairs of two units"),
        (lambda: ConstraintNetwork({("a", "b"): np.nan}), "weight of"),
        (lambda: ConstraintNetwork({("a", "b"): 1.0}, bias={"c": 1}), "no unit 'c'"),
        (lambda: necker_cube().settle({"Z": 1}), "no unit 'Z'"),
        (
            lambda: ConstraintNetwork({(f"u{k}", "v"): 1.0 for k in range(30)}).modes(),
            "settle from several starts",
        ),
    ],
)
def test_wrong_arguments_are_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_unsettled_messages_are_said(picture):
    with pytest.warns(DataWarning, match="max_iter=1 sweeps"):
        restore_image(picture, max_iter=1, tol=1e-12)
