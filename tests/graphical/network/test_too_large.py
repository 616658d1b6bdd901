"""Networks too large for exact answers: every question gets an approximate one, and says so."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataWarning
from verulam.graphical import (
    BayesianNetwork,
    BayesianNetworkClassifier,
    BayesianNetworkDensity,
    Table,
)

#: The network's largest clique has 13,122 entries.
FEW = 1000


@pytest.fixture
def network():
    """Return one effect of eight causes; a new one each time, with nothing compiled."""
    random = np.random.default_rng(0)
    causes = [f"c{k}" for k in range(8)]
    tables = {name: Table((0, 1, 2), random.dirichlet([1, 1, 1])) for name in causes}
    effect = random.dirichlet([1, 1], size=(3,) * 8)
    return BayesianNetwork({**tables, "effect": Table((0, 1), effect, tuple(causes))})


def announced(ask):
    with pytest.warns(DataWarning, match=r"clique of 9 variables .* the answer is approximate"):
        return ask()


@pytest.mark.parametrize("evidence", [{}, {"effect": 1, "c3": 0}, {"effect": [0.2, 0.9]}])
def test_the_most_probable_states_are_climbed_to(network, evidence):
    near = announced(lambda: network.explain(evidence, max_entries=FEW, random_state=0))
    best = network.explain(evidence)
    assert near.states == best.states
    assert near.log_probability == pytest.approx(best.log_probability)


def test_rows_are_filled_and_weighed(network):
    rows = network.sample(6, random_state=1)
    rows = rows.mask(np.random.default_rng(1).random(rows.shape) < 0.5)
    filled = announced(lambda: network.fill(rows, max_entries=FEW, random_state=0))
    logs = announced(lambda: network.log_evidence(rows, max_entries=FEW, random_state=0))
    pd.testing.assert_frame_equal(filled, network.fill(rows))
    assert_allclose(logs, network.log_evidence(rows), atol=0.05)


def test_climbing_leaves_evidence_and_impossible_states_alone():
    """A chain of copies: only the states that agree with the last can occur."""
    copies = {"x0": Table((0, 1), [0.9, 0.1])}
    copies |= {f"x{k}": Table((0, 1), np.eye(2), (f"x{k - 1}",)) for k in range(1, 5)}
    network = BayesianNetwork(copies)
    with pytest.warns(DataWarning, match="approximate"):
        best = network.explain({"x4": 1}, max_entries=2, random_state=0)
    assert set(best.states.values()) == {1}
    assert best.probability == pytest.approx(0.1)


def test_the_joint_of_distant_nodes_is_sampled_where_its_table_is_too_large(network):
    names = ("c0", "c1", "c2")
    apart = BayesianNetwork({name: network.conditionals[name] for name in names})
    with pytest.warns(DataWarning, match="a table of 3 variables with 27 entries, more than"):
        near = apart.query(names, max_entries=20, random_state=0)
    exact = apart.query(names)
    assert (near.method, exact.method) == ("likelihood weighting", "elimination")
    assert_allclose(near.values, exact.values, atol=0.02)


def test_learners_with_gaps_go_on(monkeypatch):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    X = pd.DataFrame((y[:, None] + random.integers(0, 2, size=(400, 4))) % 3, columns=list("abcd"))
    X = X.astype("category")
    gaps = X.iloc[:5].mask(random.random((5, 4)) < 0.5)
    learners = (
        (BayesianNetworkClassifier(structure="tan"), "predict_proba", "classifier"),
        (BayesianNetworkDensity(structure="tree"), "score_samples", "density"),
    )
    for learner, method, module in learners:
        exact = getattr(learner.fit(X, y), method)(gaps)
        learner.fit(X, y)
        monkeypatch.setattr(f"verulam.graphical._learners.{module}.MOST_ENTRIES", 3)
        with pytest.warns(DataWarning, match="more than max_entries=3"):
            near = getattr(learner, method)(gaps)
        assert_allclose(near, exact, atol=0.05)
        assert not np.array_equal(near, exact)


def test_the_probability_of_states_is_estimated(network, monkeypatch):
    exact = network.probability({"effect": 1, "c0": 2})
    monkeypatch.setattr("verulam.graphical._network.network.MOST_ENTRIES", FEW)
    near = announced(lambda: network.probability({"effect": 1, "c0": 2}))
    assert near == pytest.approx(exact, rel=0.05)
