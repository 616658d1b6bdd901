"""Networks beside pyAgrum: posteriors of tables, single questions, structure; answers asserted."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks._timing import alone, close, print_races, race
from verulam.graphical import (
    BayesianNetworkClassifier,
    learn_structure,
    read_bif,
    structure_score,
)

DATA = Path(__file__).parents[1] / "tests" / "graphical" / "data"
#: Network, rows of evidence, share of cells that are observed.
TABLES = (("alarm", 1000, 0.2), ("alarm", 1000, 0.5), ("insurance", 50, 0.2))
#: Single questions, each with other evidence, as an engine keeps what it made for the last one.
QUESTIONS = 100
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
        title = f"{name}: all posteriors of {n_rows:,} rows, {share:.0%} observed"
        ours, theirs = (
            partial(network.posteriors, rows),
            partial(_all, engine, known, network.nodes),
        )
        races.append(race(title, ours, "pyAgrum", theirs, same=_same))
        if name == "alarm" and share == 0.2:
            races += _single_questions(pyagrum, network, engine, known[:QUESTIONS])
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


def _all(engine: Any, known: list, nodes: tuple) -> list[dict[str, Any]]:
    answers = []
    for evidence in known:
        engine.setEvidence(evidence)
        engine.makeInference()
        answers.append({node: engine.posterior(node) for node in nodes})
    return answers


def _single_questions(pyagrum: Any, network: Any, engine: Any, known: list) -> list:
    """Race single questions against engines that have all nodes as targets, or only this one.

    All nodes are what pyAgrum computes unless it is told; which node is asked for, ours hears only
    with each question.
    """
    theirs = as_pyagrum(pyagrum, network)
    targeted, elimination = pyagrum.LazyPropagation(theirs), pyagrum.VariableElimination(theirs)
    targeted.addTarget("HR")
    elimination.addTarget("HR")
    peers = {
        "pyAgrum, all nodes as targets": engine,
        "pyAgrum, this node as target": targeted,
        "pyAgrum, variable elimination": elimination,
    }
    ours = partial(_ask, network, known)
    title = f"alarm: {len(known)} questions, one by one"
    return [
        race(title, ours, name, partial(_ask_engine, e, known), same=close(0.0, TOLERANCE))
        for name, e in peers.items()
    ]


def _ask(network: Any, known: list) -> list:
    return [network.query("HR", evidence).values for evidence in known]


def _ask_engine(engine: Any, known: list) -> list:
    answers = []
    for evidence in known:
        engine.setEvidence(evidence)
        engine.makeInference()
        answers.append(engine.posterior("HR").tolist())
    return answers


def _same(ours: Any, theirs: list[dict[str, Any]]) -> None:
    for row in range(0, len(theirs), max(1, len(theirs) // 10)):
        for node, posterior in theirs[row].items():
            close(0.0, TOLERANCE)(ours[node].iloc[row], posterior.tolist())


def _structures(pyagrum: Any) -> list:
    """Race searches for ALARM's structure; ours must not score worse on average."""
    network = read_bif(DATA / "alarm.bif")
    template = as_pyagrum(pyagrum, network)
    scores = []
    for seed in range(5):
        rows = network.sample(5000, random_state=seed)
        # Its learner takes words, which are made outside of the race.
        words = rows.astype(str)
        dag = _search(pyagrum, words, template)
        arcs = [(network.nodes[p], network.nodes[c]) for p, c in dag.arcs()]
        parents = {n: tuple(p for p, c in arcs if c == n) for n in network.nodes}
        scores.append((learn_structure(rows).score, structure_score(parents, rows)))
    ours, peers = np.mean(scores, axis=0)
    print(f"  mean BIC of five structures: ours {ours:,.0f}, pyAgrum {peers:,.0f}")
    rows = network.sample(5000, random_state=0)
    return [
        race(
            "alarm: structure from a table of 5,000 rows",
            partial(learn_structure, rows),
            "pyAgrum tabu",
            partial(_search, pyagrum, rows.astype(str), template),
            # Searches end at different networks: on average of five tables ours must be as good.
            same=lambda *_: bool(ours >= peers),
        )
    ]


def _search(pyagrum: Any, words: pd.DataFrame, template: Any) -> Any:
    learner = pyagrum.BNLearner(words, template)
    learner.setNumberOfThreads(1)
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useLocalSearchWithTabuList(100, 2)
    return learner.learnDAG()


def _stream(structure: str) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 10_000)
    X = ((y[:, np.newaxis] + random.integers(0, 2, size=(10_000, 10))) % 3).astype(float)
    BayesianNetworkClassifier(structure=structure).fit(lambda: ((X, y) for _ in range(100)))
