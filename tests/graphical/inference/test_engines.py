"""Every engine against enumeration of the joint table."""

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.graphical import (
    BayesianNetwork,
    Beliefs,
    JunctionTree,
    MostProbable,
    Posterior,
    Propagation,
    SampledRows,
    Table,
    asia,
    eliminate,
    enumerate_joint,
    gibbs_sampling,
    likelihood_weighting,
    loopy_propagation,
    mean_field,
    propagate,
    sprinkler,
)
from verulam.graphical._inference.elimination import explain_by_enumeration
from verulam.graphical._inference.junction_tree import plan_tree

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["auto", "junction tree", "elimination"])
def test_exact_engines_are_enumeration(make_network, make_evidence, seed, method):
    network = make_network(seed, n_nodes=4 + seed % 5)
    evidence = make_evidence(network, seed)
    for name in network.nodes:
        exact = network.query(name, evidence, method="enumeration")
        answer = network.query(name, evidence, method=method)
        assert isinstance(answer, Posterior)
        assert_allclose(answer.values, exact.values, atol=1e-12)
        assert_allclose(answer.log_evidence, exact.log_evidence, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_soft_evidence_and_sets(make_network, seed):
    network = make_network(seed)
    likelihood = np.linspace(0.2, 1.0, len(network.states["x3"]))
    evidence = {"x3": likelihood, "x4": {"a", "b"}, "x1": "a"}
    joint = network.joint().values
    joint = joint * likelihood[:, np.newaxis, np.newaxis]
    joint[:, :, :, :, 2:] = 0
    joint = joint[:, 0]
    expected = joint.sum(axis=(1, 2, 3, 4)) / joint.sum()
    for method in ("auto", "enumeration", "elimination"):
        answer = network.query("x0", evidence, method=method)
        assert_allclose(answer.values, expected, atol=1e-12)
        assert_allclose(answer.log_evidence, np.log(joint.sum()), atol=1e-10)
    by_label = dict(zip(network.states["x3"], likelihood, strict=True))
    assert_allclose(network.query("x0", {**evidence, "x3": by_label}).values, expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e-140, 1e30, 1e140])
def test_totals_of_messages_may_have_any_size(scale):
    """Likelihoods count up to a factor, and the product of forty such factors is no number."""
    names = [f"n{k}" for k in range(40)]
    tables = {names[0]: Table((0, 1), [0.3, 0.7])}
    for before, name in pairwise(names):
        tables[name] = Table((0, 1), [[0.9, 0.1], [0.2, 0.8]], (before,))
    network = BayesianNetwork(tables)
    likelihoods = np.random.default_rng(0).uniform(0.1, 1.0, size=(40, 2))
    plain = network.query("n20", dict(zip(names, likelihoods, strict=True)))
    scaled = network.query("n20", dict(zip(names, scale * likelihoods, strict=True)))
    assert_allclose(scaled.values, plain.values, rtol=1e-12)
    assert_allclose(scaled.log_evidence, plain.log_evidence + 40 * np.log(scale), rtol=1e-12)
    best = network.explain(dict(zip(names, likelihoods, strict=True)))
    same = network.explain(dict(zip(names, scale * likelihoods, strict=True)))
    assert same.states == best.states
    expected = best.log_probability + 40 * np.log(scale)
    assert_allclose(same.log_probability, expected, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_of_several_nodes(make_network, make_evidence, seed):
    network = make_network(seed)
    evidence = make_evidence(network, seed, 1)
    free = [name for name in network.nodes if name not in evidence]
    for targets in (free[:2], free[::-1][:3], [free[0], next(iter(evidence))]):
        exact = network.query(targets, evidence, method="enumeration")
        assert_allclose(network.query(targets, evidence).values, exact.values, atol=1e-12)
        assert exact.table.index.names == targets


@pytest.mark.parametrize("seed", SEEDS)
def test_most_probable_explanation(make_network, make_evidence, seed):
    network = make_network(seed)
    for evidence in ({}, make_evidence(network, seed)):
        best = network.explain(evidence)
        exact = explain_by_enumeration(network.model, evidence)
        assert isinstance(best, MostProbable)
        assert best.states == exact.states
        assert_allclose(best.log_probability, exact.log_probability, atol=1e-10)


def test_rows_of_a_table_are_questions(make_network):
    network = make_network(3, n_nodes=7)
    rows = network.sample(40, random_state=0)
    rows = rows.mask(np.random.default_rng(1).random(rows.shape) < 0.6)
    answers = network.posteriors(rows)
    log_evidence = network.log_evidence(rows)
    for row in range(0, 40, 7):
        known = rows.iloc[row].dropna().to_dict()
        assert_allclose(log_evidence[row], np.log(network.probability(known)), atol=1e-10)
        for name in network.nodes:
            exact = enumerate_joint(network.model, name, known)
            assert_allclose(answers[name].iloc[row], exact.values, atol=1e-12)
    filled = network.fill(rows)
    assert filled.iloc[0].to_dict() == network.explain(rows.iloc[0].dropna().to_dict()).states


@pytest.mark.parametrize("seed", SEEDS)
def test_running_intersection(make_network, seed):
    tree = make_network(seed, n_nodes=8).junction_tree
    assert isinstance(tree, JunctionTree)
    for k, (clique, parent) in enumerate(zip(tree.cliques, tree.parents, strict=True)):
        if k:
            shared = set(clique) & {name for other in tree.cliques[:k] for name in other}
            assert shared <= set(tree.cliques[parent])
            assert set(tree.separators[k]) == set(clique) & set(tree.cliques[parent])


@pytest.mark.parametrize("heuristic", ["min-fill", "min-size", "min-neighbours"])
def test_elimination_heuristics_give_the_same_answers(make_network, heuristic):
    network = make_network(4, n_nodes=8)
    tree = JunctionTree.compile(network.model, heuristic=heuristic)
    marginals, _ = tree.posteriors(np.full((1, 8), -1, dtype=np.int32))
    expected = np.concatenate([network.query(name).values for name in network.nodes])
    assert_allclose(marginals[0], expected, atol=1e-12)


def test_cliques_of_figure_14_5():
    tree = sprinkler().junction_tree
    assert {frozenset(clique) for clique in tree.cliques} == {
        frozenset({"cloudy", "sprinkler", "rain"}),
        frozenset({"sprinkler", "rain", "wet"}),
    }


@pytest.mark.parametrize("shape", ["chain", "tree", "polytree"])
@pytest.mark.parametrize("seed", range(4))
def test_messages_are_enumeration(make_network, make_evidence, shape, seed):
    network = make_network(seed, n_nodes=7, polytree=True)
    if shape != "polytree":
        names = network.nodes
        random = np.random.default_rng(seed)
        tables = {}
        for k, name in enumerate(names):
            parent = () if k == 0 else (names[k - 1 if shape == "chain" else (k - 1) // 2],)
            size = tuple(len(network.states[node]) for node in (*parent, name))
            table = random.dirichlet(np.ones(size[-1]), size=size[:-1])
            tables[name] = Table(network.states[name], table, parent)
        network = BayesianNetwork(tables)
    for evidence in ({}, make_evidence(network, seed, 3)):
        messages = propagate(network, evidence)
        assert isinstance(messages, Propagation)
        for name in network.nodes:
            exact = network.query(name, evidence, method="enumeration").values
            assert_allclose(messages.beliefs[name], exact, atol=1e-12)
            product = messages.pi[name] * messages.lambda_[name]
            assert_allclose(product / product.sum(), exact, atol=1e-12)
    assert len(messages.table()) == 2 * len(network.graph.arcs)
    assert messages.n_rounds <= len(network.nodes)


def test_boundary_conditions_of_messages():
    chain = BayesianNetwork(
        {
            "u": Table(("no", "yes"), [0.6, 0.4]),
            "x": Table(("no", "yes"), [[0.9, 0.1], [0.2, 0.8]], ("u",)),
            "y": Table(("no", "yes"), [[0.8, 0.2], [0.1, 0.9]], ("x",)),
        }
    )
    free = propagate(chain)
    assert_allclose(free.lambda_["y"], [1, 1])
    assert_allclose(free.pi["u"], [0.6, 0.4])
    assert_allclose(free.pi["x"], [0.6 * 0.9 + 0.4 * 0.2, 0.6 * 0.1 + 0.4 * 0.8])
    seen = propagate(chain, {"y": "yes"})
    assert_allclose(seen.lambda_["y"], [0, 1])
    assert_allclose(seen.lambda_messages["y", "x"], np.array([0.2, 0.9]) / 1.1)
    assert_allclose(seen.pi["y"], free.pi["y"])  # nothing from below enters pi


def test_messages_need_a_single_path():
    with pytest.raises(DataError, match="has a loop"):
        propagate(sprinkler())


@pytest.mark.parametrize("seed", range(4))
def test_loopy_is_exact_on_a_tree(make_network, make_evidence, seed):
    network = make_network(seed, n_nodes=7, polytree=True)
    evidence = make_evidence(network, seed)
    beliefs = loopy_propagation(network.model, evidence)
    assert isinstance(beliefs, Beliefs)
    assert_allclose(beliefs.log_evidence, np.log(network.probability(evidence)), atol=1e-7)
    for name in network.nodes:
        assert_allclose(beliefs.values[name], network.query(name, evidence).values, atol=1e-8)


def test_loopy_is_near_with_loops():
    network = sprinkler()
    answer = network.query("sprinkler", {"wet": "yes"}, method="loopy", damping=0.2)
    exact = network.query("sprinkler", {"wet": "yes"})
    assert abs(answer["yes"] - exact["yes"]) < 0.05
    with pytest.warns(DataWarning, match="had not settled after max_iter=1"):
        loopy_propagation(network.model, {"wet": "yes"}, max_iter=1)


@pytest.mark.filterwarnings("ignore:Mean field takes variables as independent")
@pytest.mark.parametrize("seed", range(4))
def test_mean_field_bounds_the_evidence_and_its_error(make_network, make_evidence, seed):
    network = make_network(seed)
    evidence = make_evidence(network, seed)
    beliefs = mean_field(network.model, evidence)
    log_evidence = np.log(network.probability(evidence))
    assert beliefs.log_evidence <= log_evidence + 1e-9
    early = mean_field(network.model, evidence, max_iter=1, tol=np.inf)
    assert beliefs.log_evidence >= early.log_evidence - 1e-9
    largest = np.sqrt((log_evidence - beliefs.log_evidence) / 2)
    for name in network.nodes:
        error = np.abs(beliefs.values[name] - network.query(name, evidence).values)
        assert error.max() <= largest + 1e-9


def test_mean_field_says_where_it_is_far_off():
    """On asia a positive X-ray has a log evidence of log .11029; the bound is far below."""
    with pytest.warns(DataWarning, match=r"the log evidence -2\.205.*off by up to 0\.78; use an"):
        beliefs = mean_field(asia(), {"x-ray": "yes"})
    assert abs(beliefs.values["cancer"][1] - 0.4887) > 0.4
    with pytest.warns(DataWarning, match=r"the log evidence 0\.000, and"):
        asia().query("cancer", method="mean field")
    # Soft evidence belongs to the log evidence too.
    with pytest.warns(DataWarning, match=r"the log evidence -1\.613"):
        mean_field(asia(), {"x-ray": [0.1, 1.0]})


def test_mean_field_is_silent_where_it_is_near_or_cannot_tell(monkeypatch):
    near = BayesianNetwork(
        {
            "a": Table((0, 1), [0.6, 0.4]),
            "b": Table((0, 1), [[0.55, 0.45], [0.45, 0.55]], ("a",)),
        }
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        beliefs = mean_field(near)
        monkeypatch.setattr("verulam.graphical._inference.mean_field.CHECKED_ENTRIES", 10)
        mean_field(asia())
    assert caught == []
    assert_allclose(beliefs.values["b"], near.query("b").values, atol=0.05)


def test_mean_field_is_exact_for_independent_nodes():
    network = BayesianNetwork({"a": Table((0, 1), [0.3, 0.7]), "b": Table((0, 1), [0.9, 0.1])})
    beliefs = mean_field(network.model)
    assert_allclose(beliefs.values["a"], [0.3, 0.7])
    assert_allclose(beliefs.log_evidence, 0.0, atol=1e-12)


@pytest.mark.parametrize("method", ["gibbs", "likelihood weighting"])
def test_samples_agree_within_their_error(make_network, make_evidence, method):
    network = make_network(1)
    evidence = make_evidence(network, 1)
    if method == "gibbs":
        rows = gibbs_sampling(network.model, evidence, n_samples=40_000, random_state=0)
    else:
        rows = likelihood_weighting(network, evidence, n_samples=40_000, random_state=0)
        assert abs(rows.log_evidence - np.log(network.probability(evidence))) < 0.05
        assert rows.effective_size <= 40_000
    assert isinstance(rows, SampledRows)
    for name in network.nodes:
        exact = network.query(name, evidence).values
        error = np.abs(rows.posterior(name).values - exact)
        assert (error <= 5 * rows.standard_error(name) + 1e-12).all()
        assert (rows.standard_error(name) < 0.02).all()
    joint = rows.posterior(["x0", "x1"])
    assert_allclose(joint.values, network.query(["x0", "x1"], evidence).values, atol=0.03)
    assert_allclose(
        network.query("x0", evidence, method=method, random_state=0).values,
        network.query("x0", evidence).values,
        atol=0.05,
    )


@pytest.mark.parametrize("method", ["loopy", "gibbs", "likelihood weighting"])
def test_approximate_engines_take_soft_evidence(make_network, method):
    network = make_network(1, polytree=True)
    for name in ("x0", "x3"):
        evidence = {name: np.geomspace(0.05, 1.0, len(network.states[name])), "x1": "a"}
        for target in ("x0", "x3"):
            exact = network.query(target, evidence).values
            without = network.query(target, {"x1": "a"}).values
            options = {} if method == "loopy" else {"random_state": 0}
            answer = network.query(target, evidence, method=method, **options)
            assert_allclose(answer.values, exact, atol=1e-8 if method == "loopy" else 0.02)
            assert target != name or np.abs(without - exact).max() > 0.1


def test_a_network_too_large_is_announced(make_network):
    random = np.random.default_rng(0)
    causes = [f"c{k}" for k in range(8)]
    tables = {name: Table((0, 1, 2), random.dirichlet([1, 1, 1])) for name in causes}
    shape = (3,) * 8
    tables["effect"] = Table((0, 1), random.dirichlet([1, 1], size=shape), tuple(causes))
    network = BayesianNetwork(tables)
    assert plan_tree(network.model).largest_size == 2 * 3**8
    with pytest.warns(DataWarning, match=r"clique of 9 variables .* with 13,122 entries"):
        answer = network.query("c0", {"effect": 1}, max_entries=1000, random_state=0)
    assert answer.method == "likelihood weighting"
    assert "junction_tree" not in vars(network)
    with pytest.raises(DataError, match=r"13,122 entries.*max_entries=1,000"):
        network.query("c0", method="junction tree", max_entries=1000)
    with pytest.raises(DataError, match="needs a table of 9 variables with 13,122"):
        eliminate(network.model, "c0", max_entries=1000)
    rows = pd.DataFrame({"effect": [1, None], "c1": [0, 2]})
    with pytest.warns(DataWarning, match="approximate, by likelihood weighting"):
        sampled = network.posteriors(rows, ["c0"], max_entries=1000, random_state=0)["c0"]
    exact = network.query("c0", {"effect": 1})
    assert_allclose(answer.values, exact.values, atol=0.05)
    assert_allclose(sampled, network.posteriors(rows, ["c0"])["c0"], atol=0.05)


def test_a_joint_table_too_large_is_refused(alarm):
    with pytest.raises(DataError, match="use method='junction tree'"):
        alarm.query("HR", method="enumeration")
    with pytest.raises(DataError, match="The joint table has"):
        alarm.joint()


def test_impossible_evidence_is_said():
    network = asia()
    evidence = {"either": "no", "cancer": "yes"}
    for method in ("auto", "enumeration", "elimination", "loopy"):
        with pytest.raises(DataError, match=r"probability zero.*either = no, cancer = yes"):
            network.query("asia", evidence, method=method)
    with pytest.raises(DataError, match="probability zero"):
        network.explain(evidence)
    assert network.probability(evidence) == 0
    rows = pd.DataFrame({"either": ["yes", "no"], "cancer": ["yes", "yes"]}, index=["p", "q"])
    with pytest.raises(DataError, match=r"1 of 2 rows have probability zero.*row q"):
        network.posteriors(rows)
    with pytest.raises(DataError, match="None of 100 samples"):
        likelihood_weighting(network, evidence, n_samples=100, random_state=0)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.query("rian"), "no node 'rian'. Nearest: rain"),
        (lambda n: n.query("rain", {"wett": "yes"}), "no node 'wett'. Nearest: wet"),
        (lambda n: n.query("rain", {"wet": "yess"}), "no state 'yess'. Nearest: yes"),
        (lambda n: n.query("rain", {"wet": {"maybe"}}), "no state 'maybe'"),
        (lambda n: n.query("rain", {"wet": [0.5]}), "2 likelihoods"),
        (lambda n: n.query("rain", {"wet": [0.0, 0.0]}), "not all of them 0"),
        (lambda n: n.query("rain", {"wet": [np.nan, 1.0]}), "2 likelihoods"),
        (lambda n: n.query("rain", ["wet"]), "dictionary from names"),
        (lambda n: n.query([]), "at least one node"),
        (lambda n: n.query(["rain", "rain"]), "names a node twice"),
        (lambda n: n.query("rain", method="guess"), "method is 'guess'; accepted are auto"),
        (lambda n: n.query("rain", method="enumeration", n_samples=3), "takes no argument"),
        (lambda n: n.query(["rain", "wet"], method="loopy"), "one node; ask one by one"),
        (lambda n: n.query("rain")["maybe"], "no state 'maybe'"),
        (lambda n: n.query(["rain", "wet"])["yes"], "one state of each"),
        (lambda n: n.posteriors([[1]]), "expected a pandas DataFrame"),
        (lambda n: n.posteriors(pd.DataFrame({"wet": ["damp"]})), "'damp', which is no state"),
        (
            lambda n: n.posteriors(pd.DataFrame({"wet": [3, 4]})),
            "'wet' has 3, which is no state of that node.*A numeric column is cut into states",
        ),
        (lambda n: n.query("rain", {"wet": set()}), r"evidence\['wet'\]: the set is empty"),
        (lambda n: n.posteriors(pd.DataFrame({"wet": [0.5]})), "cut into states first"),
        (lambda n: n.posteriors(pd.DataFrame({"wett": ["yes"]})), "no node 'wett'"),
        (lambda n: n.sample(-1), "n_samples"),
        (lambda n: gibbs_sampling(n.model, n_samples=0), "at least 1"),
        (lambda n: loopy_propagation(n.model, damping=1.0), "damping"),
        (lambda n: JunctionTree.compile(n.model, heuristic="luck"), "heuristic is 'luck'"),
    ],
)
def test_wrong_questions_are_refused(ask, message):
    with pytest.raises(DataError, match=message):
        ask(sprinkler())
