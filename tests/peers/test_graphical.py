"""Networks beside pyAgrum: the same answers, learned tables and scores."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.graphical import (
    NoisyOr,
    learn_structure,
    learn_tables,
    read_bif,
    structure_score,
)

gum = pytest.importorskip("pyagrum")
pytestmark = pytest.mark.peers

DATA = Path(__file__).parents[1] / "graphical" / "data"


def as_pyagrum(network):
    """Return the same network with our own numbers: its reader of files rounds them."""
    theirs = gum.BayesNet()
    for name, states in network.states.items():
        theirs.add(gum.LabelizedVariable(name, name, list(map(str, states))))
    for parent, child in network.graph.arcs:
        theirs.addArc(parent, child)
    for name in network.nodes:
        factor = network.factor(name)
        table = theirs.cpt(name)
        order = [n for n in reversed(table.names) if n != name]
        table[:] = np.ascontiguousarray(factor.arranged([*order, name]).values)
    return theirs


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
def test_posteriors_of_rows(name):
    network = read_bif(DATA / f"{name}.bif")
    engine = gum.LazyPropagation(as_pyagrum(network))
    rows = network.sample(20, random_state=0)
    rows = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.7)
    answers = network.posteriors(rows)
    log_evidence = network.log_evidence(rows)
    for row in range(len(rows)):
        engine.setEvidence(rows.iloc[row].dropna().to_dict())
        engine.makeInference()
        assert_allclose(log_evidence[row], np.log(engine.evidenceProbability()), atol=1e-8)
        for node in network.nodes:
            assert_allclose(answers[node].iloc[row], engine.posterior(node).tolist(), atol=1e-10)


def test_soft_evidence_and_most_probable_states():
    network = read_bif(DATA / "alarm.bif")
    engine = gum.LazyPropagation(as_pyagrum(network))
    engine.setEvidence({"HR": [0.2, 0.5, 0.9], "BP": "LOW"})
    engine.makeInference()
    evidence = {"HR": [0.2, 0.5, 0.9], "BP": "LOW"}
    for node in network.nodes[:10]:
        expected = engine.posterior(node).tolist()
        assert_allclose(network.query(node, evidence).values, expected, atol=1e-10)


def test_noisy_or():
    ours = NoisyOr({"a": 0.8, "b": 0.4}, leak=0.1)
    theirs = gum.BayesNet()
    for name in "ab":
        theirs.add(gum.LabelizedVariable(name, name, 2))
    theirs.addNoisyORNet(gum.LabelizedVariable("x", "x", 2), 0.1)
    theirs.addWeightedArc("a", "x", 0.8)
    theirs.addWeightedArc("b", "x", 0.4)
    table = ours.table([(0, 1), (0, 1)], "x")
    for a in (0, 1):
        for b in (0, 1):
            assert_allclose(theirs.cpt("x")[{"a": a, "b": b}], table[a, b])


def test_learned_tables():
    network = read_bif(DATA / "asia.bif")
    rows = network.sample(500, random_state=0)
    learner = gum.BNLearner(rows.astype(str), as_pyagrum(network))
    learner.useSmoothingPrior(1)
    theirs = learner.learnParameters(as_pyagrum(network).dag())
    ours = learn_tables(network, rows, alpha=1.0).network
    for name in network.nodes:
        table = theirs.cpt(name)
        order = [n for n in reversed(table.names) if n != name]
        expected = ours.factor(name).arranged([*order, name]).values
        assert_allclose(np.asarray(table.toarray()), expected, atol=1e-8)


@pytest.mark.slow
def test_structure_is_no_worse_on_average():
    network = read_bif(DATA / "alarm.bif")
    scores = []
    for seed in range(5):
        rows = network.sample(5000, random_state=seed)
        learner = gum.BNLearner(rows.astype(str), as_pyagrum(network))
        learner.useScoreBIC()
        learner.useNoPrior()
        learner.useLocalSearchWithTabuList(100, 2)
        graph = learner.learnDAG()
        names = network.nodes
        arcs = [(names[parent], names[child]) for parent, child in graph.arcs()]
        parents = {n: tuple(p for p, c in arcs if c == n) for n in names}
        scores.append((learn_structure(rows).score, structure_score(parents, rows)))
    ours, theirs = np.mean(scores, axis=0)
    assert ours >= theirs
