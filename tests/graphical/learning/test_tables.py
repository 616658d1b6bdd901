"""Tables from counts and by EM, hidden parents, softmax nodes."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from verulam.base import DataError
from verulam.graphical import (
    BayesianNetwork,
    HiddenParent,
    LearnedTables,
    Table,
    fit_softmax,
    learn_tables,
    sprinkler,
    try_hidden_parent,
)

TWO = ("no", "yes")


@pytest.fixture(scope="module")
def rows():
    return sprinkler().sample(3000, random_state=0)


def with_gaps(rows, share, seed=0):
    return rows.mask(np.random.default_rng(seed).random(rows.shape) < share)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.5])
def test_tables_are_smoothed_frequencies(rows, alpha):
    learned = learn_tables(sprinkler().graph, rows, alpha=alpha)
    counts = pd.crosstab([rows["sprinkler"], rows["rain"]], rows["wet"]).to_numpy() + alpha
    expected = (counts / counts.sum(axis=1, keepdims=True)).reshape(2, 2, 2)
    assert isinstance(learned, LearnedTables)
    assert_allclose(learned.network.factor("wet").values, expected)
    likelihood = learned.network.log_evidence(rows).sum()
    assert_allclose(learned.log_likelihood, likelihood)
    assert_allclose(learned.bic(3000), likelihood - 4.5 * np.log(3000))


def test_states_without_rows_are_uniform():
    rows = pd.DataFrame({"a": ["x", "x"], "b": ["p", "q"]}).astype("category")
    rows["a"] = rows["a"].cat.add_categories("y")
    network = learn_tables({"a": (), "b": ("a",)}, rows, alpha=0.0).network
    assert_allclose(network.factor("a").values, [1, 0])
    assert_allclose(network.factor("b").values, [[0.5, 0.5], [0.5, 0.5]])


def test_pseudo_counts_reach_what_was_never_seen():
    rows = pd.DataFrame({"a": ["x", "x", "x"], "b": ["p", "p", "q"]}).astype("category")
    rows["b"] = rows["b"].cat.add_categories("r")
    network = learn_tables({"a": (), "b": ("a",)}, rows, alpha=0.5).network
    assert_allclose(network.factor("b").values, [[2.5 / 4.5, 1.5 / 4.5, 0.5 / 4.5]])


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_em_never_lowers_its_objective(rows, alpha):
    learned = learn_tables(sprinkler(), with_gaps(rows, 0.3), alpha=alpha, tol=1e-9)
    assert learned.converged
    assert (np.diff(learned.curve) >= -1e-7).all()
    assert len(learned.curve) > 3
    truth = sprinkler().factor("wet").values
    assert_allclose(learned.network.factor("wet").values, truth, atol=0.09)


def test_em_is_counting_where_nothing_is_missing(rows):
    gap = pd.concat([rows, pd.DataFrame({"cloudy": [None]})], ignore_index=True)
    gap = gap.astype({name: rows[name].dtype for name in rows})
    by_em = learn_tables(sprinkler(), gap, alpha=1.0, tol=1e-12)
    by_counts = learn_tables(sprinkler(), rows, alpha=1.0)
    for name in rows:
        expected = by_counts.network.factor(name).values
        assert_allclose(by_em.network.factor(name).values, expected, atol=1e-6)


def test_one_pass_of_em_is_the_posterior_of_a_gap():
    """Two rows, one with a gap: its expected counts are the posterior under the start."""
    rows = pd.DataFrame({"a": ["yes", None, "no"], "b": ["yes", "yes", "no"]})
    for name in rows:
        rows[name] = pd.Categorical(rows[name], TWO)
    graph = {"a": (), "b": ("a",)}
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        learned = learn_tables(graph, rows, alpha=0.0, max_iter=1)
    start = BayesianNetwork(
        {
            "a": Table(TWO, [0.5, 0.5]),
            "b": Table(TWO, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], ("a",)),
        }
    )
    posterior = start.query("a", {"b": "yes"})["yes"]
    assert_allclose(learned.network.factor("a").values[1], (1 + posterior) / 3)


def test_a_hidden_cause_is_found():
    """Baskets with a hidden kind of customer: EM finds the two kinds again."""
    truth = BayesianNetwork(
        {
            "kind": Table((0, 1), [0.4, 0.6]),
            **{f"item{k}": Table(TWO, [[0.9, 0.1], [0.2, 0.8]], ("kind",)) for k in range(4)},
        }
    )
    baskets = truth.sample(4000, random_state=0).drop(columns="kind")
    learned = learn_tables(
        truth.graph, baskets, hidden={"kind": 2}, n_init=3, random_state=0, tol=1e-8
    )
    assert (np.diff(learned.curve) >= -1e-7).all()
    shares = np.sort(learned.network.factor("kind").values)
    assert_allclose(shares, [0.4, 0.6], atol=0.04)
    strengths = np.sort(learned.network.factor("item0").values[:, 1])
    assert_allclose(strengths, [0.1, 0.8], atol=0.05)


def test_hidden_parents_are_accepted_where_they_pay():
    truth = BayesianNetwork(
        {
            "kind": Table((0, 1), [0.4, 0.6]),
            **{f"item{k}": Table(TWO, [[0.9, 0.1], [0.2, 0.8]], ("kind",)) for k in range(5)},
        }
    )
    items = [f"item{k}" for k in range(5)]
    baskets = truth.sample(2000, random_state=0)[items]
    chain = {item: tuple(items[max(k - 1, 0) : k]) for k, item in enumerate(items)}
    tried = try_hidden_parent(chain, baskets, items, random_state=0)
    assert isinstance(tried, HiddenParent)
    assert tried.accepted
    assert tried.after > tried.before
    assert "hidden" in tried.network.nodes
    free = pd.DataFrame(
        {name: pd.Categorical(np.random.default_rng(k).choice(TWO, 500), TWO)
         for k, name in enumerate("abc")}
    )  # fmt: skip
    rejected = try_hidden_parent(dict.fromkeys("abc", ()), free, list("abc"), random_state=0)
    assert not rejected.accepted
    assert rejected.network.nodes == ("a", "b", "c")


def test_softmax_is_logistic_regression(rows):
    node = fit_softmax(rows, "wet", ["sprinkler", "rain"], alpha=1e-6)
    X = np.column_stack([rows[name].cat.codes for name in ("sprinkler", "rain")])
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(X, rows["wet"])
    table = node.table([TWO, TWO], "wet")
    for a in (0, 1):
        for b in (0, 1):
            assert_allclose(table[a, b], theirs.predict_proba([[a, b]])[0], atol=1e-4)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: learn_tables({"a": ()}, r), "no column 'a', and it is not among the hidden"),
        (lambda r: learn_tables(sprinkler(), r.to_numpy()), "expected a pandas DataFrame"),
        (lambda r: learn_tables(sprinkler(), r.iloc[:0]), "no rows"),
        (lambda r: learn_tables(sprinkler(), r, alpha=-1), "alpha: expected"),
        (lambda r: learn_tables({"x": ()}, pd.DataFrame({"x": [0.5, 1.5]})), "KBinsDiscretizer"),
        (lambda r: learn_tables({"x": ()}, pd.DataFrame({"x": ["a", "b"]})), "astype"),
        (lambda r: try_hidden_parent(sprinkler().graph, r, ["wet"], name="wet"), "a node 'wet'"),
        (lambda r: fit_softmax(r, "wet", ["snow"]), "no column 'snow'"),
        (lambda r: fit_softmax(with_gaps(r, 0.1), "wet", ["rain"]), "without gaps"),
    ],
)
def test_wrong_arguments_are_refused(rows, ask, message):
    with pytest.raises(DataError, match=message):
        ask(rows)
