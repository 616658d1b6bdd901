"""Classification trees: worked example, criteria, thresholds, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier as TheirClassifier

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.tree import DecisionTreeClassifier, MultivariateTreeClassifier


@pytest.fixture
def buys():
    data = dataset("buys_computer")
    return data.inputs, data.target_values


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, (X[:, 0] + rng.normal(size=300) > 0).astype(int)


def test_id3_on_the_worked_example(buys):
    """SIT1305 example 2.6, with the two rules for seniors the right way round."""
    tree = DecisionTreeClassifier(preset="id3").fit(*buys)
    steps = tree.growth()
    assert steps["column"].tolist()[0] == "age"
    assert set(steps["column"][1:]) == {"student", "credit_rating"}
    assert_allclose(steps["gain"].iloc[0], 0.246750, atol=5e-7)
    assert_allclose(steps["gain"].iloc[1:], 0.970951, atol=5e-7)
    assert tree.export_text().splitlines() == [
        "age = middle_aged: yes (4)",
        "age = senior",
        "|   credit_rating = excellent: no (2)",
        "|   credit_rating = fair: yes (3)",
        "age = youth",
        "|   student = no: no (3)",
        "|   student = yes: yes (2)",
    ]
    assert tree.score(*buys) == 1.0


def test_n_way_split_has_a_branch_per_value():
    X = pd.DataFrame({"colour": pd.Categorical(["red", "blue", "green"] * 4), "x": np.arange(12.0)})
    y = ["a", "b", "c"] * 4
    tree = DecisionTreeClassifier(categories="n_way").fit(X, y)
    assert tree.tree_.n_children[0] == 3
    assert tree.get_depth() == 1


def test_an_empty_branch_takes_its_parents_majority():
    X = pd.DataFrame(
        {
            "a": pd.Categorical(list("pppqqq")),
            "b": pd.Categorical(list("uvuuvw"), categories=list("uvw")),
        }
    )
    y = [0, 1, 0, 1, 1, 1]
    tree = DecisionTreeClassifier(preset="id3").fit(X, y)
    query = pd.DataFrame({"a": ["p"], "b": ["w"]}).astype("category")
    assert_array_equal(tree.predict(query), [0])
    assert_allclose(tree.predict_proba(query), [[2 / 3, 1 / 3]])
    assert tree.tree_.n_rows[tree.apply(query)[0]] == 0


def test_gain_ratio_does_not_choose_an_index():
    """A column with a value of its own for every row gains most and means nothing (9.2.1)."""
    rng = np.random.default_rng(0)
    index = pd.Categorical([f"row{i}" for i in range(60)])
    useful = rng.integers(2, size=60)
    X = pd.DataFrame({"index": index, "useful": pd.Categorical(useful)})
    y = np.where(rng.random(60) < 0.1, 1 - useful, useful)
    by_gain = DecisionTreeClassifier(criterion="entropy", categories="n_way").fit(X, y)
    by_ratio = DecisionTreeClassifier(criterion="gain_ratio", categories="n_way").fit(X, y)
    assert by_gain.growth()["column"].iloc[0] == "index"
    assert by_ratio.growth()["column"].iloc[0] == "useful"


def test_risk_with_zero_one_loss_grows_the_tree_of_misclassification(noisy):
    X, y = noisy
    trees = [
        DecisionTreeClassifier(criterion=name, max_depth=4).fit(X, y)
        for name in ("risk", "misclassification")
    ]
    assert_array_equal(trees[0].tree_.threshold, trees[1].tree_.threshold)
    shares = np.bincount(y) / len(y)
    assert_allclose(trees[0].tree_.impurity[0], 1 - shares.max())


def test_minimum_risk_decisions(noisy):
    X, y = noisy
    loss = [[0.0, 10.0], [1.0, 0.0]]
    tree = DecisionTreeClassifier(max_depth=3, loss=loss).fit(X, y)
    risks = tree.predict_proba(X) @ np.array(loss).T
    assert_array_equal(tree.predict(X), np.argmin(risks, axis=1))
    plain = DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert_array_equal(plain.predict(X), np.argmax(plain.predict_proba(X), axis=1))
    assert tree.predict(X).sum() > plain.predict(X).sum()


def leaves_of_the_full_tree_cut_by(noisy, goes_on):
    """Return how many leaves are left where only nodes are split that `goes_on` says yes to."""
    full = DecisionTreeClassifier().fit(*noisy).tree_

    def count(node):
        if full.n_children[node] == 0 or not goes_on(full, node):
            return 1
        first = full.first_child[node]
        return sum(count(child) for child in range(first, first + full.n_children[node]))

    return count(0)


@pytest.mark.parametrize("threshold", [0.2, 0.3, 0.42])
def test_only_nodes_above_the_impurity_threshold_are_split(noisy, threshold):
    n_leaves = DecisionTreeClassifier(impurity_threshold=threshold).fit(*noisy).get_n_leaves()
    assert n_leaves == leaves_of_the_full_tree_cut_by(noisy, lambda t, i: t.impurity[i] > threshold)
    assert n_leaves != leaves_of_the_full_tree_cut_by(
        noisy, lambda t, i: t.impurity[i] > 0.6 * threshold
    )


@pytest.mark.parametrize("threshold", [0.95, 0.85, 0.7])
def test_only_nodes_below_the_purity_threshold_are_split(noisy, threshold):
    def largest(tree, node):
        return tree.values[node].max() / tree.values[node].sum()

    n_leaves = DecisionTreeClassifier(purity_threshold=threshold).fit(*noisy).get_n_leaves()
    assert n_leaves == leaves_of_the_full_tree_cut_by(noisy, lambda t, i: largest(t, i) < threshold)


def test_prepruning_by_a_share_of_rows_agrees_with_scikit_learn(noisy):
    ours = DecisionTreeClassifier(min_samples_split=0.05).fit(*noisy)
    theirs = TheirClassifier(min_samples_split=0.05, random_state=0).fit(*noisy)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.get_n_leaves() == leaves_of_the_full_tree_cut_by(
        noisy, lambda t, i: t.n_rows[i] >= 15
    )


def test_posteriors_are_the_shares_of_the_leaf(noisy):
    X, y = noisy
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    tree = DecisionTreeClassifier(max_depth=3).fit(X, y, sample_weight=weights)
    leaves, probabilities = tree.apply(X), tree.predict_proba(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        shares = np.bincount(np.asarray(y)[rows], weights[rows], minlength=2) / weights[rows].sum()
        assert_allclose(probabilities[rows], np.tile(shares, (rows.sum(), 1)))
    assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("name", ["impurity_threshold", "purity_threshold", "min_samples_split"])
def test_size_is_monotone_in_the_thresholds(noisy, name):
    levels = {
        "impurity_threshold": [0.0, 0.1, 0.3, 0.45, 0.6],
        "purity_threshold": [1.0, 0.95, 0.85, 0.7, 0.4],
        "min_samples_split": [2, 0.05, 0.2, 0.5],
    }[name]
    sizes = [DecisionTreeClassifier(**{name: v}).fit(*noisy).get_n_leaves() for v in levels]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[1] > sizes[-1]


def test_small_nodes_are_not_split(noisy):
    """Prepruning at five per cent of the rows (Alpaydin 9.3)."""
    tree = DecisionTreeClassifier(min_samples_split=0.05).fit(*noisy).tree_
    assert tree.n_rows[tree.kind > 0].min() >= 15
    leaf = DecisionTreeClassifier(min_samples_leaf=0.05).fit(*noisy).tree_
    assert leaf.n_rows[leaf.leaves].min() >= 15


def test_balanced_weights_even_out_the_classes():
    X = np.arange(20.0)[:, None]
    y = np.array([0] * 18 + [1] * 2)
    tree = DecisionTreeClassifier(class_weight="balanced", min_samples_split=30).fit(X, y)
    assert_allclose(tree.predict_proba(X[:1]), [[0.5, 0.5]])


def test_conflicting_duplicates_share_a_leaf():
    X = [[1.0, 2.0]] * 4 + [[3.0, 4.0]] * 2
    tree = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    assert_allclose(tree.predict_proba([[1.0, 2.0]]), [[0.75, 0.25]])


def test_one_class():
    with pytest.warns(DataWarning, match="y has one class, 'a': the tree is a single leaf"):
        tree = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert_array_equal(tree.predict([[5.0]]), ["a"])


@pytest.mark.parametrize("missing", ["learned", "fractional"])
def test_a_column_that_is_all_missing(missing):
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]])
    with pytest.warns(DataWarning, match="All values are missing in column 0:"):
        tree = DecisionTreeClassifier(missing=missing).fit(X, [0, 1, 1])
    assert tree.used_features_.tolist() == [1]


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan])
def test_a_class_must_weigh_something(weight):
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    for learner in (DecisionTreeClassifier, MultivariateTreeClassifier):
        with pytest.raises(DataError, match="must give each class a positive weight"):
            learner(class_weight={0: 1.0, 1: weight}).fit(X, y)


def test_weights_whose_squares_overflow_are_refused(noisy):
    X, y = noisy
    for learner in (DecisionTreeClassifier, MultivariateTreeClassifier):
        with pytest.raises(DataError, match=r"sample_weight adds up to .*; divide it by a power"):
            learner().fit(X, y, np.full(len(y), 1e300))


def test_weights_that_are_zero_or_negative(noisy):
    X, y = noisy
    with pytest.raises(DataError, match="sample_weight is zero for every row"):
        DecisionTreeClassifier().fit(X, y, sample_weight=np.zeros(300))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        DecisionTreeClassifier().fit(X, y, sample_weight=np.full(300, -1.0))
    some = np.where(np.arange(300) < 200, 1.0, 0.0)
    part = DecisionTreeClassifier().fit(X, y, sample_weight=some)
    assert_array_equal(part.predict(X), DecisionTreeClassifier().fit(X[:200], y[:200]).predict(X))


def test_a_category_unseen_in_training(buys):
    X, y = buys
    query = X[:1].astype(object).assign(age="infant").astype("category")
    with pytest.raises(DataError, match="'infant', which was not there in training"):
        DecisionTreeClassifier().fit(X, y).predict(query)
    tree = DecisionTreeClassifier(unseen="missing").fit(X, y)
    assert len(tree.predict(query)) == 1


def test_a_pruning_fraction_that_leaves_no_data():
    learner = DecisionTreeClassifier(pruning="reduced_error", pruning_fraction=0.1)
    with pytest.raises(DataError, match=r"pruning_fraction=0.1 of 4 rows leaves none to prune on"):
        learner.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])


def test_losses_that_do_not_fit(noisy):
    for loss, words in ((np.eye(3), r"loss has shape \(3, 3\)"), (-np.eye(2), "at least 0")):
        with pytest.raises(DataError, match=words):
            DecisionTreeClassifier(loss=loss).fit(*noisy)


def test_prune_refuses_unknown_classes(noisy):
    X, y = noisy
    tree = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(DataError, match="class 7"):
        tree.prune(X[:2], [0, 7])


@pytest.mark.slow
def test_a_hundred_thousand_leaves_can_be_saved():
    import skops.io

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300_000, 2)), rng.integers(2, size=300_000)
    tree = DecisionTreeClassifier().fit(X, y)
    assert tree.get_n_leaves() > 100_000
    restored = pickle.loads(pickle.dumps(tree))
    assert_array_equal(restored.predict(X[:1000]), tree.predict(X[:1000]))
    written = skops.io.dumps(tree)
    trusted = skops.io.get_untrusted_types(data=written)
    assert_array_equal(
        skops.io.loads(written, trusted=trusted).predict(X[:1000]), tree.predict(X[:1000])
    )
