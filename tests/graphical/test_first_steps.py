"""What a first user types: answers that must not be wrong in silence, and plain refusals."""

import re

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, DataWarning
from verulam.graphical import (
    BayesianNetwork,
    BayesianNetworkDensity,
    Factor,
    InfluenceDiagram,
    JunctionTree,
    Table,
    Utility,
    asia,
    eliminate,
    enumerate_joint,
    fit_softmax,
    gibbs_sampling,
    learn_structure,
    likelihood_weighting,
    loopy_propagation,
    mean_field,
    multiply,
    phylogeny,
    propagate,
    sprinkler,
)

TWO = ("no", "yes")
ROWS = sprinkler().sample(20, random_state=0)


@pytest.fixture(scope="module")
def copy_of_a():
    """Return a network whose second node repeats the first, which is never "yes"."""
    return BayesianNetwork(
        {"a": Table(TWO, [1, 0]), "b": Table(TWO, [[1, 0], [0, 1]], parents=("a",))}
    )


@pytest.mark.parametrize("method", ["gibbs", "mean field"])
def test_approximate_methods_refuse_evidence_that_cannot_occur(copy_of_a, method):
    with pytest.raises(DataError, match=r"agrees with the evidence|probability zero"):
        copy_of_a.query("a", {"b": "yes"}, method=method)


def test_mean_field_still_answers_where_tables_have_zeros(copy_of_a):
    assert copy_of_a.query("a", {"b": "no"}, method="mean field")["no"] == pytest.approx(1.0)


def test_gibbs_warns_where_zeros_may_split_the_chain():
    with pytest.warns(DataWarning, match=r"The table of 'either' has zeros"):
        gibbs_sampling(asia(), n_samples=100, random_state=0)


def test_gibbs_is_silent_without_zeros():
    posterior = sprinkler().query("sprinkler", {"wet": "yes"}, method="gibbs", random_state=0)
    assert posterior["yes"] == pytest.approx(0.42, abs=0.03)


def test_left_out_rows_are_counted_as_rows_of_the_table():
    """Equal rows are counted together inside; the message speaks of the user's rows."""
    table = pd.DataFrame({"x": ["a", "b"] * 20, "y": ["a", "b"] * 20})
    table.loc[:29, "y"] = None
    with pytest.warns(DataWarning, match=r"^30 of 40 rows have gaps, most of them in 'y'"):
        BayesianNetworkDensity(structure="search").fit(table.astype("category"))


def test_expected_utility_asks_for_every_decision():
    diagram = InfluenceDiagram(
        {"c": Table(TWO, [0.5, 0.5])},
        {"d": ("stay", "go")},
        {"u": Utility(("c", "d"), [[0, 1], [2, 3]])},
    )
    assert diagram.expected_utility({"d": "go"}) == pytest.approx(2.0)
    with pytest.raises(DataError, match=r"choice: expected an option of 'd'"):
        diagram.expected_utility({})


def test_query_refuses_arguments_that_its_method_does_not_take():
    with pytest.raises(DataError, match=r"method='auto' takes no argument 'n_sample'"):
        sprinkler().query("wet", n_sample=10)


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: loopy_propagation(n, {"wet": "yes"}).posterior("rain"),
        lambda n: mean_field(n, {"wet": "yes", "cloudy": "yes"}).posterior("rain"),
        lambda n: eliminate(n, "rain", {"wet": "yes"}),
        lambda n: enumerate_joint(n, "rain", {"wet": "yes"}),
        lambda n: gibbs_sampling(n, {"wet": "yes"}, n_samples=10).posterior("rain"),
        lambda n: JunctionTree.compile(n),
    ],
)
def test_methods_take_the_network_itself(answer):
    network = sprinkler()
    answer(network)
    with pytest.raises(DataError, match=r"expected a network, a field or its FactorModel, not int"):
        answer(3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sprinkler().query(3), "There is no node 3"),
        (lambda: sprinkler().graph.ancestors("snow"), "There is no node 'snow'"),
        (lambda: propagate(3), "network: expected a BayesianNetwork, not int"),
        (lambda: likelihood_weighting(3), "network: expected a BayesianNetwork, not int"),
        (lambda: loopy_propagation(sprinkler()).posterior("q"), "There is no node 'q'"),
        (lambda: gibbs_sampling(sprinkler(), n_burn_in=-1), "n_burn_in: expected"),
        (lambda: learn_structure(ROWS, max_parents=-1), "max_parents: expected a whole number"),
        (lambda: learn_structure(ROWS.assign(wet=None)), "Column 'wet' has no values, only gaps"),
        (lambda: phylogeny({"ape": "root"}), "expected a pair (ancestor, distance)"),
        (lambda: multiply([1]), "factors: expected Factors, and one is int"),
        (lambda: Factor(("a", "b"), np.ones((2, 2))).arranged(["a"]), "each of a, b once, not a"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(call, words):
    with pytest.raises(DataError, match=re.escape(words)):
        call()


def test_one_name_serves_as_a_list_of_one():
    assert sprinkler().graph.ancestors("rain") == {"rain", "cloudy"}
    rows = sprinkler().sample(50, random_state=0)
    assert list(fit_softmax(rows, "wet", "rain").weights) == ["rain"]


def test_propagation_names_the_nodes_that_it_has():
    chain = BayesianNetwork({"u": Table(TWO, [0.5, 0.5])})
    with pytest.raises(DataError, match=r"There is no node 'q'. Nearest: u"):
        propagate(chain).posterior("q")
