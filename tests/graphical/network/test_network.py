"""The networks of Alpaydin's figures and of the course notes, number by number."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.graphical import (
    BayesianNetwork,
    ExplainingAway,
    NoisyOr,
    SoftmaxTable,
    Table,
    asia,
    explaining_away,
    sprinkler,
    tabulate,
)
from verulam.numerics import sigmoid

TWO = ("no", "yes")
METHODS = ["auto", "enumeration", "elimination", "junction tree"]
WET = Table(TWO, [[0.8, 0.2], [0.1, 0.9]], ("R",))


def yes(network, name, evidence=None, method="auto"):
    return network.query(name, evidence, method=method)["yes"]


@pytest.fixture(scope="module")
def collider():
    table = [[[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.05, 0.95]]]
    return BayesianNetwork(
        {
            "R": Table(TWO, [0.6, 0.4]),
            "S": Table(TWO, [0.8, 0.2]),
            "W": Table(TWO, table, ("R", "S")),
        }
    )


@pytest.mark.parametrize("method", METHODS)
def test_figure_14_1(method):
    network = BayesianNetwork({"R": Table(TWO, [0.6, 0.4]), "W": WET})
    assert_allclose(yes(network, "W", None, method), 0.48)
    assert_allclose(yes(network, "R", {"W": "yes"}, method), 0.75)  # diagnostic
    assert_allclose(1 - yes(network, "W", {"R": "yes"}, method), 0.1)  # causal
    assert_allclose(1 - yes(network, "W", {"R": "no"}, method), 0.8)


@pytest.mark.parametrize("method", METHODS)
def test_figure_14_2_a_chain(method):
    """The printed P(W) = .48 is that of figure 14.1; .466 is what gives the printed P(C|W)."""
    rain = Table(TWO, [[0.9, 0.1], [0.2, 0.8]], ("C",))
    network = BayesianNetwork({"C": Table(TWO, [0.6, 0.4]), "R": rain, "W": WET})
    assert_allclose(yes(network, "R", None, method), 0.38)
    assert_allclose(yes(network, "W", {"C": "yes"}, method), 0.76)
    assert_allclose(yes(network, "W", None, method), 0.466)
    assert round(yes(network, "C", {"W": "yes"}, method), 2) == 0.65


@pytest.mark.parametrize("method", METHODS)
def test_figure_14_3_a_fork(method):
    network = BayesianNetwork(
        {
            "C": Table(TWO, [0.5, 0.5]),
            "R": Table(TWO, [[0.9, 0.1], [0.2, 0.8]], ("C",)),
            "S": Table(TWO, [[0.5, 0.5], [0.9, 0.1]], ("C",)),
        }
    )
    assert_allclose(yes(network, "R", None, method), 0.45)
    assert round(yes(network, "C", {"R": "yes"}, method), 2) == 0.89
    assert round(yes(network, "R", {"S": "yes"}, method), 2) == 0.22
    assert round(yes(network, "R", {"S": "no"}, method), 2) == 0.55
    assert_allclose(yes(network, "S", None, method), 0.3)
    assert round(yes(network, "C", {"S": "yes"}, method), 4) == 0.1667


@pytest.mark.parametrize("method", METHODS)
def test_figure_14_4_a_collider(collider, method):
    assert_allclose(yes(collider, "W", None, method), 0.52)
    assert round(yes(collider, "W", {"S": "yes"}, method), 2) == 0.92
    assert round(yes(collider, "S", {"W": "yes"}, method), 2) == 0.35
    assert round(yes(collider, "S", {"W": "yes", "R": "yes"}, method), 2) == 0.21
    assert round(yes(collider, "S", {"W": "yes", "R": "no"}, method), 4) == 0.6923
    # Exercise 14.3
    assert round(yes(collider, "R", {"W": "yes"}, method), 2) == 0.70
    assert round(yes(collider, "R", {"W": "yes", "S": "yes"}, method), 4) == 0.4130
    assert round(yes(collider, "R", {"W": "yes", "S": "no"}, method), 4) == 0.8571


@pytest.mark.parametrize("method", METHODS)
def test_figure_14_5(method):
    network = sprinkler()
    assert network.n_parameters == 9
    assert network.joint().values.size - 1 == 15
    assert_allclose(yes(network, "wet", {"cloudy": "yes"}, method), 0.76)
    assert_allclose(yes(network, "wet", None, method), 0.65125)
    assert round(yes(network, "cloudy", {"wet": "yes"}, method), 5) == 0.58349
    assert round(yes(network, "sprinkler", {"wet": "yes"}, method), 5) == 0.41958
    assert round(yes(network, "sprinkler", {"wet": "yes", "rain": "yes"}, method), 5) == 0.15126


def test_most_probable_state_of_figure_14_5():
    best = sprinkler().explain()
    assert best.states == {"cloudy": "yes", "sprinkler": "no", "rain": "yes", "wet": "yes"}
    assert_allclose(best.probability, 0.324)


@pytest.mark.parametrize("method", METHODS)
def test_course_notes(five_nodes, method):
    assert_allclose(yes(five_nodes, "D", None, method), 0.32)
    assert_allclose(yes(five_nodes, "C", None, method), 0.52)
    assert round(yes(five_nodes, "A", {"C": "yes"}, method), 6) == 0.461538
    assert_allclose(yes(five_nodes, "E", None, method), 0.46)
    assert_allclose(yes(five_nodes, "A", {"D": "yes"}, method), 0.69375)
    assert_allclose(yes(five_nodes, "B", {"D": "yes"}, method), 0.525)
    assert round(yes(five_nodes, "B", {"A": "yes", "D": "yes"}, method), 6) == 0.567568
    assert round(yes(five_nodes, "D", {"C": "yes"}, method), 6) == 0.416923


def test_terms_of_the_course_notes(five_nodes):
    terms = [
        five_nodes.probability({"A": a, "B": b, "D": "yes"})
        for a, b in (("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no"))
    ]
    assert_allclose(terms, [0.126, 0.096, 0.042, 0.056])


def test_explaining_away(collider):
    record = explaining_away(collider, "S", "W", "R")
    assert isinstance(record, ExplainingAway)
    assert record.explains_away
    assert_allclose([record.before, record.with_effect], [0.2, 0.184 / 0.52])
    assert round(record.with_other, 2) == 0.21
    reverse = explaining_away(collider, "S", "W", "R", {"R": "no"})
    assert not reverse.explains_away


@pytest.mark.parametrize("seed", range(3))
def test_the_joint_sums_to_one(make_network, seed):
    network = make_network(seed)
    joint = network.joint()
    assert_allclose(joint.values.sum(), 1)
    row = network.sample(1, random_state=seed).iloc[0].to_dict()
    product = np.prod([f.reduce(row).values for f in network.model.factors])
    assert_allclose(network.probability(row), product)
    free = sum(
        (len(c.states) - 1) * c.probabilities[..., 0].size for c in network.conditionals.values()
    )
    assert network.n_parameters == free


def test_samples_follow_the_joint(make_network):
    network = make_network(0)
    rows = network.sample(40_000, random_state=0)
    for name in network.nodes:
        shares = rows[name].value_counts(normalize=True).reindex(network.states[name], fill_value=0)
        assert_allclose(shares, network.query(name).values, atol=0.012)
    pair = rows.groupby(["x0", "x5"], observed=False).size().to_numpy() / len(rows)
    assert_allclose(pair, network.query(["x0", "x5"]).values.ravel(), atol=0.012)
    assert rows.equals(network.sample(40_000, random_state=0))
    assert len(network.sample(0)) == 0


def test_noisy_or():
    node = NoisyOr({"flu": 0.8, "cold": 0.4, "malaria": 0.9})
    table = node.table([TWO] * 3, "fever")
    assert_allclose(table[1, 1, 0, 1], 1 - 0.2 * 0.6)
    assert_allclose(table[0, 0, 0], [1, 0])
    assert_allclose(table[1, 1, 1, 0], 0.2 * 0.6 * 0.1)
    assert node.n_parameters == 3
    leaky = NoisyOr({"flu": 0.8}, leak=0.1)
    assert_allclose(leaky.table([TWO], "fever")[:, 1], [0.1, 1 - 0.9 * 0.2])
    assert leaky.n_parameters == 2
    network = BayesianNetwork(
        {
            "flu": Table(TWO, [0.9, 0.1]),
            "cold": Table(TWO, [0.7, 0.3]),
            "malaria": Table(TWO, [0.99, 0.01]),
            "fever": node,
        }
    )
    absent = (1 - 0.1 * 0.8) * (1 - 0.3 * 0.4) * (1 - 0.01 * 0.9)
    assert_allclose(yes(network, "fever"), 1 - absent)


def test_sigmoid_and_softmax():
    node = SoftmaxTable(TWO, {"a": 1.5, "b": -2.0}, bias=0.3)
    table = node.table([TWO, TWO], "x")
    for a in (0, 1):
        for b in (0, 1):
            assert_allclose(table[a, b, 1], sigmoid(0.3 + 1.5 * a - 2.0 * b))
    assert node.n_parameters == 3
    weights = np.random.default_rng(0).normal(size=(2, 3))
    three = SoftmaxTable(("l", "m", "h"), {"a": weights}, bias=[0.1, 0.2, 0.3])
    scores = np.exp(np.array([0.1, 0.2, 0.3]) + weights)
    assert_allclose(three.table([TWO], "x"), scores / scores.sum(axis=1, keepdims=True))
    assert three.n_parameters == 4


def test_asia_has_its_known_marginals():
    """P(tuberculosis) = .0104, P(either) = .0648 and P(x-ray) = .1103 by hand."""
    network = asia()
    assert_allclose(yes(network, "tuberculosis"), 0.0104)
    assert_allclose(yes(network, "either"), 1 - (1 - 0.0104) * (1 - 0.055))
    either = 1 - (1 - 0.0104) * (1 - 0.055)
    assert_allclose(yes(network, "x-ray"), 0.98 * either + 0.05 * (1 - either))


def test_pickling_leaves_out_what_is_compiled():
    network = sprinkler()
    network.query("rain")
    again = pickle.loads(pickle.dumps(network))
    assert "junction_tree" not in vars(again)
    assert again.query("rain")["yes"] == network.query("rain")["yes"]
    other = again.with_conditionals({"cloudy": Table(TWO, [0.0, 1.0])})
    assert_allclose(yes(other, "rain"), 0.8)
    assert repr(other) == "BayesianNetwork(4 nodes, 4 arcs, 9 parameters)"


@pytest.mark.parametrize(
    ("conditionals", "message"),
    [
        ({}, "dictionary from nodes"),
        ({"a": 3}, "'a': expected a Table, NoisyOr or SoftmaxTable, not int"),
        ({1: Table(TWO, [0.5, 0.5])}, "named by strings"),
        ({"a": Table(TWO, [0.5, 0.6])}, "'a': the probabilities sum to 1.1, not to 1"),
        (
            {
                "a": Table(TWO, [0.5, 0.5]),
                "b": Table(TWO, [[0.5, 0.5], [0.5, 0.4]], ("a",)),
            },
            "'b': the probabilities for a = yes sum to 0.9",
        ),
        ({"a": Table(TWO, [0.5, -0.5])}, "at least 0"),
        ({"a": Table(TWO, [0.5, np.nan])}, "finite"),
        ({"a": Table(TWO, [[0.5, 0.5]])}, r"shape \(1, 2\)"),
        ({"a": Table(TWO, [0.5, 0.5], ("b",))}, "'a' has the parent 'b', which is no node"),
        (
            {
                "a": Table(TWO, [[0.5, 0.5]] * 2, ("b",)),
                "b": Table(TWO, [[0.5, 0.5]] * 2, ("a",)),
            },
            "cycle: a -> b -> a",
        ),
        (
            {"a": Table((0, 1, 2), [0.2, 0.3, 0.5]), "b": NoisyOr({"a": 0.5})},
            "needs parents of two states, and 'a' has 3",
        ),
        (
            {f"x{k}": Table(TWO, [0.5, 0.5]) for k in range(40)}
            | {"b": NoisyOr({f"x{k}": 0.5 for k in range(40)})},
            "'b': with 40 parents its table has 2,199,023,255,552 entries, more than",
        ),
        (
            {f"x{k}": Table(TWO, [0.5, 0.5]) for k in range(30)}
            | {"b": SoftmaxTable(TWO, {f"x{k}": 0.5 for k in range(30)})},
            "'b': with 30 parents its table has 2,147,483,648 entries",
        ),
        (
            {"a": Table(TWO, [0.5, 0.5]), "b": SoftmaxTable(TWO, {"a": [[1.0]]})},
            r"weights of 'a' have the shape \(1, 1\)",
        ),
    ],
)
def test_wrong_networks_are_refused(conditionals, message):
    with pytest.raises(DataError, match=message):
        BayesianNetwork(conditionals)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Table("yes", [0.5, 0.5]), "sequence of labels"),
        (lambda: Table(("a", "a"), [0.5, 0.5]), "different labels"),
        (lambda: Table(TWO, [0.5, 0.5], "a"), r"such as \('a',\)"),
        (lambda: Table(TWO, ["x", "y"]), "array of numbers"),
        (lambda: NoisyOr({"a": 1.2}), "'a' is 1.2, outside"),
        (lambda: NoisyOr({}), "dictionary from parents"),
        (lambda: NoisyOr({"a": 0.5}, states=("a", "b", "c")), "two states"),
        (lambda: SoftmaxTable(TWO, [1.0]), "dictionary from parents"),
        (lambda: tabulate(lambda a: "maybe", TWO, {"a": TWO}), "no state 'maybe'"),
    ],
)
def test_wrong_conditionals_are_refused(make, message):
    with pytest.raises(DataError, match=message):
        make()
