"""Networks beside pyAgrum: posteriors of tables, single questions, structure; answers asserted."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._timing import alone, print_races, race
from verulam.graphical import (
    BayesianNetworkClassifier,
    learn_structure,
    read_bif,
    structure_score,
)

DATA = Path(__file__).parents[1] / "tests" / "graphical" / "data"
#: Network, rows of evidence, share of cells that are observed.
TABLES = (("alarm", 1000, 0.2), ("alarm", 1000, 0.5), ("insurance", 50, 0.2))
#: Largest difference of two answers; pyAgrum is given our numbers, not those of its own reader.
TOLERANCE = 1e-10


def run() -> None:
    """Print races over tables of evidence, single questions and structures."""
    try:
        import pyagrum
    except ImportError:
        print("  pyagrum is not installed")
        return
    pyagrum.setNumberOfThreads(1)
    races = []
    for name, n_rows, share in TABLES:
        network = read_bif(DATA / f"{name}.bif")
        rows = network.sample(n_rows, random_state=0)
        rows = rows.mask(np.random.default_rng(0).random(rows.shape) > share)
        known = [row.dropna().to_dict() for _, row in rows.iterrows()]
        engine = pyagrum.LazyPropagation(as_pyagrum(pyagrum, network))
        _assert_same(network, rows, engine, known)
        title = f"{name}: all posteriors of {n_rows:,} rows, {share:.0%} observed"
        ours, theirs = (
            partial(network.posteriors, rows),
            partial(_all, engine, known, network.nodes),
        )
        races.append(race(title, ours, "pyAgrum", theirs))
        if name == "alarm" and share == 0.2:
            ours, theirs = partial(network.query, "HR", known[0]), partial(_one, engine, known[0])
            races.append(race("alarm: one question", ours, "pyAgrum", theirs))
    races += _structures(pyagrum)
    print_races("Networks", races)
    print("  " + alone("10^6 rows in 100 chunks, naive Bayes", partial(_stream, "naive")))
    print("  " + alone("10^6 rows in 100 chunks, tree-augmented", partial(_stream, "tan")))


def as_pyagrum(pyagrum: Any, network: Any) -> Any:
    """Return the same network with the same numbers."""
    theirs = pyagrum.BayesNet()
    for name, states in network.states.items():
        theirs.add(pyagrum.LabelizedVariable(name, name, list(map(str, states))))
    for parent, child in network.graph.arcs:
        theirs.addArc(parent, child)
    for name in network.nodes:
        order = [other for other in reversed(theirs.cpt(name).names) if other != name]
        values = network.factor(name).arranged([*order, name]).values
        theirs.cpt(name)[:] = np.ascontiguousarray(values)
    return theirs


def _all(engine: Any, known: list, nodes: tuple) -> None:
    for evidence in known:
        engine.setEvidence(evidence)
        engine.makeInference()
        for node in nodes:
            engine.posterior(node)


def _one(engine: Any, evidence: dict) -> None:
    engine.setEvidence(evidence)
    engine.makeInference()
    engine.posterior("HR")


def _assert_same(network: Any, rows: pd.DataFrame, engine: Any, known: list) -> None:
    answers = network.posteriors(rows)
    for row in range(0, len(rows), max(1, len(rows) // 10)):
        engine.setEvidence(known[row])
        engine.makeInference()
        for node in network.nodes:
            difference = answers[node].iloc[row] - engine.posterior(node).tolist()
            assert np.abs(difference).max() < TOLERANCE


def _structures(pyagrum: Any) -> list:
    """Race searches for ALARM's structure; ours must not score worse on average."""
    network = read_bif(DATA / "alarm.bif")
    template = as_pyagrum(pyagrum, network)
    scores, races = [], []
    for seed in range(5):
        rows = network.sample(5000, random_state=seed)
        learner = pyagrum.BNLearner(rows.astype(str), template)
        learner.useScoreBIC()
        learner.useNoPrior()
        learner.useLocalSearchWithTabuList(100, 2)
        arcs = [(network.nodes[p], network.nodes[c]) for p, c in learner.learnDAG().arcs()]
        parents = {n: tuple(p for p, c in arcs if c == n) for n in network.nodes}
        scores.append((learn_structure(rows).score, structure_score(parents, rows)))
        if seed == 0:
            theirs = partial(_search, pyagrum, rows, template)
            title = "alarm: structure from a table of 5,000 rows"
            races.append(race(title, partial(learn_structure, rows), "pyAgrum tabu", theirs))
    ours, peers = np.mean(scores, axis=0)
    assert ours >= peers, scores
    print(f"  mean BIC of five structures: ours {ours:,.0f}, pyAgrum {peers:,.0f}")
    return races


def _search(pyagrum: Any, rows: pd.DataFrame, template: Any) -> None:
    learner = pyagrum.BNLearner(rows.astype(str), template)
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useLocalSearchWithTabuList(100, 2)
    learner.learnDAG()


def _stream(structure: str) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 10_000)
    X = ((y[:, np.newaxis] + random.integers(0, 2, size=(10_000, 10))) % 3).astype(float)
    BayesianNetworkClassifier(structure=structure).fit(lambda: ((X, y) for _ in range(100)))
