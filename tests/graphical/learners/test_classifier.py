"""The classifier: naive, tree-augmented, searched and drawn; gaps, streams and wrong input."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.naive_bayes import CategoricalNB

from verulam.base import DataError, DataWarning, abilities
from verulam.catalogue import complexity_of_estimator
from verulam.data import dataset
from verulam.graphical import (
    BayesianNetwork,
    BayesianNetworkClassifier,
    LearnedStructure,
    Levels,
    Table,
    learn_tables,
    tree_augmented,
)
from verulam.parametric import NaiveBayes

TWO = ("no", "yes")


@pytest.fixture(scope="module")
def credit():
    """Return a few columns of German credit with their class as a table of categories."""
    data = dataset("german_credit")
    frame = data.inputs.select_dtypes("category").iloc[:, :6].copy()
    return frame, np.asarray(data.target_values)


@pytest.fixture(scope="module")
def drawn():
    """Return rows of a network in which two inputs depend on each other within a class."""
    truth = BayesianNetwork(
        {
            "sick": Table(TWO, [0.7, 0.3]),
            "a": Table(TWO, [[0.7, 0.3], [0.4, 0.6]], ("sick",)),
            "b": Table(TWO, [[[0.9, 0.1], [0.2, 0.8]], [[0.1, 0.9], [0.8, 0.2]]], ("sick", "a")),
            "c": Table(TWO, [[0.6, 0.4], [0.3, 0.7]], ("sick",)),
        }
    )
    rows = truth.sample(3000, random_state=0)
    return truth, rows.drop(columns="sick"), rows["sick"].astype(str).to_numpy()


def test_naive_structure_is_naive_bayes(credit):
    X, y = credit
    ours = BayesianNetworkClassifier(alpha=1.0).fit(X, y)
    assert_allclose(ours.predict_proba(X), NaiveBayes(alpha=1.0).fit(X, y).predict_proba(X))
    codes = np.column_stack([X[name].cat.codes for name in X])
    counts = [len(X[name].cat.categories) for name in X]
    theirs = CategoricalNB(alpha=1.0, min_categories=counts).fit(codes, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(codes))


@pytest.mark.parametrize("structure", ["naive", "tan", "search"])
def test_gaps_are_summed_over_exactly(drawn, structure):
    _, X, y = drawn
    model = BayesianNetworkClassifier(structure=structure).fit(X, y)
    gaps = X.iloc[:60].mask(np.random.default_rng(0).random((60, 3)) < 0.5)
    proba = model.predict_proba(gaps)
    node = model.class_node_
    for row in range(0, 60, 9):
        known = gaps.iloc[row].dropna().to_dict()
        exact = model.network_.query(node, known, method="enumeration")
        assert_allclose(proba[row], exact.values, atol=1e-10)
    assert_allclose(
        model.predict_proba(X[:50]),
        model.network_.posteriors(X[:50])[node].to_numpy(),
        atol=1e-10,
    )


def test_tan_has_the_tables_of_its_tree(drawn):
    _, X, y = drawn
    model = BayesianNetworkClassifier(structure="tan").fit(X, y)
    table = X.assign(**{"class": pd.Categorical(y)})[["class", "a", "b", "c"]]
    graph = tree_augmented(table, "class")
    assert model.network_.graph.arcs == graph.arcs
    learned = learn_tables(graph, table, alpha=1.0).network
    for name in "abc":
        assert_allclose(model.network_.factor(name).values, learned.factor(name).values)
    naive = BayesianNetworkClassifier().fit(X, y)
    assert model.score(X, y) > naive.score(X, y) + 0.02


def test_a_drawn_graph_is_used(drawn):
    truth, X, y = drawn
    model = BayesianNetworkClassifier(structure=truth.graph, alpha=0.0).fit(X, y)
    assert model.class_node_ == "sick"
    assert_allclose(model.network_.factor("b").values, truth.factor("b").values, atol=0.07)
    for graph in (truth, dict(truth.graph.parents), list(truth.graph.arcs)):
        other = BayesianNetworkClassifier(structure=graph, alpha=0.0).fit(X, y)
        assert_allclose(other.predict_proba(X), model.predict_proba(X))
    below = BayesianNetworkClassifier(structure=[("a", "sick"), ("c", "sick")]).fit(X, y)
    shares = pd.crosstab([X["a"], X["c"]], y).to_numpy() + 1.0
    expected = (shares / shares.sum(axis=1, keepdims=True)).reshape(2, 2, 2)
    assert_allclose(below.network_.factor("sick").values, expected)


def test_search_finds_the_dependence(drawn):
    _, X, y = drawn
    model = BayesianNetworkClassifier(structure="search").fit(X, y)
    assert isinstance(model.search_, LearnedStructure)
    skeleton = {frozenset(arc) for arc in model.network_.graph.arcs}
    assert {frozenset(pair) for pair in (("a", "b"), ("class", "b"), ("class", "a"))} <= skeleton
    barred = [("a", "b"), ("b", "a")]
    other = BayesianNetworkClassifier(structure="search", forbidden=barred).fit(X, y)
    assert not set(barred) & set(other.network_.graph.arcs)
    assert BayesianNetworkClassifier().fit(X, y).search_ is None


def test_numbers_are_cut_into_bins_of_equal_weight():
    X = np.column_stack([np.arange(100.0), np.arange(100) % 3])
    y = np.arange(100) >= 50
    model = BayesianNetworkClassifier(n_bins=4).fit(X, y)
    first, second = model.levels_
    assert isinstance(first, Levels)
    assert_allclose(first.cuts, [24.5, 49.5, 74.5])
    assert first.labels == ("up to 24.5", "24.5 to 49.5", "49.5 to 74.5", "above 74.5")
    assert_allclose(second.cuts, [0.5, 1.5])
    assert model.score(X, y) == 1.0


def test_bins_follow_weights():
    values = np.arange(10.0)[:, np.newaxis]
    weights = np.array([5.0] + [1.0] * 5 + [0.0] * 4)
    y = np.arange(10) % 2
    cuts = BayesianNetworkClassifier(n_bins=2).fit(values, y, sample_weight=weights).levels_[0].cuts
    repeated = np.repeat(values, weights.astype(int), axis=0)
    labels = np.repeat(y, weights.astype(int))
    expected = BayesianNetworkClassifier(n_bins=2).fit(repeated, labels).levels_[0].cuts
    assert_allclose(cuts, expected)
    assert_allclose(cuts, [0.5])


def test_a_stream_is_read_in_bounded_memory():
    """A hundred thousand rows in chunks need no more memory than a few chunks do."""
    random = np.random.default_rng(0)

    def chunks(count):
        for _ in range(count):
            y = random.integers(0, 2, 2000)
            X = (y[:, np.newaxis] + random.integers(0, 2, size=(2000, 8))) % 3
            yield X.astype(float), y

    for structure in ("naive", "tan"):
        model = BayesianNetworkClassifier(structure=structure)
        model.fit(lambda: chunks(2))
        peaks = []
        for count in (5, 50):
            tracemalloc.start()
            model.fit(lambda count=count: chunks(count))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert model.statistics_.statistics.weight.sum() == 100_000
        assert peaks[1] < 1.3 * peaks[0]


def test_abilities_and_grades():
    able = abilities(BayesianNetworkClassifier())
    assert able.additive
    assert able.categorical
    assert able.missing
    assert able.incremental
    structures = ("naive", "tan", "search")
    grades = [complexity_of_estimator(BayesianNetworkClassifier(structure=s)) for s in structures]
    assert grades == [1, 2, 3]


def test_a_column_may_be_called_class(drawn):
    _, X, y = drawn
    model = BayesianNetworkClassifier().fit(X.rename(columns={"a": "class"}), y)
    assert model.class_node_ == "target"


def test_rows_that_no_class_allows(drawn):
    _, X, y = drawn
    X = X.assign(d=pd.Categorical(["no"] * len(X), TWO))
    model = BayesianNetworkClassifier(alpha=0.0).fit(X, y)
    odd = X.iloc[:2].assign(d=pd.Categorical(["yes", "no"], TWO))
    with pytest.warns(DataWarning, match="1 rows are impossible under every class"):
        proba = model.predict_proba(odd)
    assert_allclose(proba[0], [np.mean(y == "no"), np.mean(y == "yes")])
    gap = odd.iloc[:1].assign(a=pd.Categorical([None], TWO))
    with pytest.warns(DataWarning, match="impossible"):
        assert_allclose(model.predict_proba(gap)[0], proba[0])


def test_unseen_categories(drawn):
    _, X, y = drawn
    odd = X.iloc[:1].assign(a=pd.Categorical(["perhaps"]))
    with pytest.raises(DataError, match=r"'a' has the category 'perhaps'.*Nearest"):
        BayesianNetworkClassifier().fit(X, y).predict(odd)
    model = BayesianNetworkClassifier(unseen="skip").fit(X, y)
    missing = X.iloc[:1].assign(a=pd.Categorical([None], TWO))
    assert_allclose(model.predict_proba(odd), model.predict_proba(missing))


@pytest.mark.parametrize(
    ("parameters", "change", "message"),
    [
        ({"n_bins": None}, {"x": 1.5}, "Column 'x' is numeric.*KBinsDiscretizer"),
        ({}, {"x": "word"}, "'x' holds text"),
        ({}, {"x": np.inf}, "contains infinity"),
        ({"structure": [("a", "b")]}, {}, "one node that is no column.* there are 0"),
        ({"structure": [("k", "b"), ("l", "a")]}, {}, "there are 2: k, l"),
        ({"structure": [("a", "b"), ("b", "a")]}, {}, "cycle"),
        ({"structure": "magic"}, {}, "'structure' parameter"),
        ({"alpha": -1.0}, {}, "'alpha' parameter"),
        ({"structure": "search", "required": [("a", "zz")]}, {}, "no 'zz'"),
    ],
)
def test_wrong_input_is_refused(drawn, parameters, change, message):
    _, X, y = drawn
    with pytest.raises(ValueError, match=message):
        BayesianNetworkClassifier(**parameters).fit(X.assign(**change), y)
