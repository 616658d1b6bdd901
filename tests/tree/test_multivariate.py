"""MultivariateTreeClassifier: smaller trees on slanted data, and clear answers to bad input."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_validate

from verulam.base import DataError, DataWarning, UnknownNameError
from verulam.data import dataset
from verulam.tree import DecisionTreeClassifier, MultivariateTreeClassifier
from verulam.tree._nodes.kinds import FITS


def rotated_boxes(seed, n_rows=300, n_inputs=2):
    """Return uniform rows whose class depends on two slanted borders."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n_rows, n_inputs))
    turn = np.linalg.qr(random.normal(size=(n_inputs, n_inputs)))[0]
    Z = X @ turn
    return X, np.digitize(Z[:, 0], [0.0]) + 2 * ((Z[:, 1] > 0.1) & (Z[:, 0] > 0))


def compared(ours, X, y):
    """Return the mean accuracies and leaves of ours and of univariate trees in 10 folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    accuracy_and_leaves = []
    for learner in (ours, DecisionTreeClassifier()):
        result = cross_validate(learner, X, y, cv=folds, return_estimator=True)
        leaves = np.mean([tree.get_n_leaves() for tree in result["estimator"]])
        accuracy_and_leaves.append((result["test_score"].mean(), leaves))
    return accuracy_and_leaves


@pytest.mark.parametrize("node", ["lda", "logistic", "cart", "oc1"])
@pytest.mark.parametrize(("seed", "n_inputs"), [(0, 2), (1, 3), (2, 5)])
def test_smaller_and_at_least_as_accurate_on_rotated_data(node, seed, n_inputs):
    X, y = rotated_boxes(seed, n_inputs=n_inputs)
    learner = MultivariateTreeClassifier(node, n_init=2, n_jumps=3, random_state=0)
    ours, univariate = compared(learner, X, y)
    assert ours[0] >= univariate[0]
    assert ours[1] < 0.75 * univariate[1]


@pytest.mark.parametrize("node", ["lda", "quadratic", "network"])
def test_one_slanted_node_beats_many_thresholds_on_rotated_data(node):
    """Linear and nonlinear nodes alike: two leaves, and fewer errors on other rows."""
    X = np.random.default_rng(3).uniform(-1, 1, size=(600, 2))
    y = (X[:, 0] > 0).astype(int)
    angle = np.pi / 6
    turned = X @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    slanted = MultivariateTreeClassifier(node, max_depth=1, n_init=2, random_state=0)
    slanted.fit(turned[:200], y[:200])
    straight = DecisionTreeClassifier().fit(turned[:200], y[:200])
    assert slanted.get_n_leaves() == 2 < straight.get_n_leaves()
    assert slanted.score(turned[200:], y[200:]) > straight.score(turned[200:], y[200:])
    test = slanted.tree_.tests[0]
    if node == "lda":
        # The side of the hyperplane decides, and it is the border that was turned.
        branch = (turned @ test.weights + test.intercept > 0).astype(int)
        assert_array_equal(slanted.apply(turned) == slanted.apply(turned)[0], branch == branch[0])
        assert abs(test.weights[1] / test.weights[0]) == pytest.approx(np.tan(angle), abs=0.1)
        assert DecisionTreeClassifier().fit(X[:200], y[:200]).get_n_leaves() == 2


@pytest.mark.parametrize("node", [*FITS, "omnivariate"])
def test_grown_trees_are_pure_and_the_seed_decides(node):
    iris = dataset("iris")
    first, second = (
        MultivariateTreeClassifier(node, n_init=2, random_state=5).fit(
            iris.inputs, iris.target_values
        )
        for _ in range(2)
    )
    assert first.score(iris.inputs, iris.target_values) == 1.0
    assert first.export_text() == second.export_text()
    assert first.get_n_leaves() == (first.tree_.structure.kind == 0).sum()
    assert first.get_depth() <= first.get_n_leaves()


def test_probabilities_are_the_shares_of_the_leaf():
    iris = dataset("iris")
    tree = MultivariateTreeClassifier(max_depth=1).fit(iris.inputs, iris.target_values)
    probabilities = tree.predict_proba(iris.inputs)
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert_array_equal(tree.predict(iris.inputs), tree.classes_[np.argmax(probabilities, axis=1)])
    values = tree.tree_.structure.values
    leaves = tree.apply(iris.inputs)
    assert_allclose(probabilities, (values / values.sum(axis=1, keepdims=True))[leaves])


@pytest.mark.parametrize("node", ["sphere", "ellipsoid", "quadratic", "gaussian"])
def test_one_curved_node_holds_a_disc(node):
    X = np.random.default_rng(0).uniform(-1.5, 1.5, size=(200, 2))
    radius = np.linalg.norm(X, axis=1)
    X, inside = X[abs(radius - 1) > 0.15], (radius < 1)[abs(radius - 1) > 0.15]
    tree = MultivariateTreeClassifier(node).fit(X, inside)
    n_leaves = tree.get_n_leaves()
    if node == "gaussian":  # shared covariances draw lines, and a disc needs several
        assert n_leaves > 2
    else:
        assert n_leaves == 2
        assert_array_equal(tree.predict(X), inside)


def test_one_network_solves_xor():
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    X = X[(abs(X) > 0.1).all(axis=1)]
    y = X[:, 0] * X[:, 1] > 0
    tree = MultivariateTreeClassifier("network", random_state=0).fit(X, y)
    assert tree.get_n_leaves() == 2
    assert_array_equal(tree.predict(X), y)


@pytest.mark.parametrize("node", ["lda", "logistic", "cart", "oc1"])
def test_one_linear_node_holds_a_slanted_line(node):
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    X = X[abs(X.sum(axis=1)) > 0.2]
    tree = MultivariateTreeClassifier(node, random_state=0).fit(X, X.sum(axis=1) > 0)
    assert tree.get_n_leaves() == 2
    # Two rows are enough to be divided.
    pair = MultivariateTreeClassifier(node).fit([[0.1, 0.2], [8.9, 9.3]], [0, 1])
    assert pair.get_n_leaves() == 2


def test_three_gaussian_branches_for_three_classes():
    data = dataset("iris")
    tree = MultivariateTreeClassifier("gaussian", max_depth=1).fit(data.inputs, data.target_values)
    assert tree.get_n_leaves() == 3


def test_soft_trees_are_smooth_and_their_hard_limit_is_the_tree():
    X, y = rotated_boxes(0)
    tree = MultivariateTreeClassifier().fit(X, y)
    hard = tree.predict_proba(X)
    assert_allclose(tree.set_params(softness=1e-9).predict_proba(X), hard, atol=1e-6)
    tree.set_params(softness=0.1)
    line = np.column_stack([np.linspace(-1, 1, 2001), np.full(2001, 0.3)])
    assert np.abs(np.diff(tree.predict_proba(line), axis=0)).max() < 0.02
    assert tree.score(X, y) > 0.9


def test_a_forest_of_trees_with_few_inputs_beats_one_tree():
    """Rows and inputs drawn at random for each tree and node, as in a random forest."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 10))
    y = np.abs(X[:, :3]).sum(axis=1) + 0.5 * random.normal(size=400) > 2.3
    single = DecisionTreeClassifier(random_state=0).fit(X[:250], y[:250])
    forest = BaggingClassifier(
        DecisionTreeClassifier(max_features="sqrt"), n_estimators=40, random_state=0
    ).fit(X[:250], y[:250])
    theirs = RandomForestClassifier(40, random_state=0).fit(X[:250], y[:250])
    score = forest.score(X[250:], y[250:])
    assert score > single.score(X[250:], y[250:])
    assert abs(score - theirs.score(X[250:], y[250:])) < 0.06


def test_thresholds_stop_the_growth():
    X, y = rotated_boxes(0)
    flipped = np.where(np.random.default_rng(0).uniform(size=300) < 0.15, 0, y)

    def leaves(**parameters):
        return MultivariateTreeClassifier(**parameters).fit(X, flipped).get_n_leaves()

    full = leaves()
    assert leaves(max_depth=1) == 2
    assert full > leaves(impurity_threshold=0.5) > leaves(impurity_threshold=0.9) >= 2
    assert full > leaves(purity_threshold=0.8)
    assert full > leaves(min_samples_split=0.05) > leaves(min_samples_split=0.5)
    assert full > leaves(min_impurity_decrease=0.02)
    tree = MultivariateTreeClassifier(min_samples_leaf=30).fit(X, flipped)
    assert tree.tree_.structure.n_rows.min() >= 30


@pytest.mark.parametrize("pruning", ["reduced_error", "pessimistic"])
def test_pruning_never_enlarges_and_helps_on_noise(pruning):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    y = X @ [1.0, -1.0, 1.0, 0.5] + random.normal(size=400) > 0
    train, test = slice(0, 250), slice(250, 400)
    grown = MultivariateTreeClassifier().fit(X[train], y[train])
    pruned = MultivariateTreeClassifier(pruning=pruning, random_state=0).fit(X[train], y[train])
    assert pruned.get_n_leaves() < 0.75 * pruned.n_leaves_grown_
    assert pruned.score(X[test], y[test]) >= grown.score(X[test], y[test])


def test_reduced_error_pruning_makes_no_more_errors_on_the_pruning_set():
    X, y = rotated_boxes(1)
    y = np.where(np.random.default_rng(1).uniform(size=300) < 0.2, 0, y)
    codes = y[150:].astype(np.int64)
    tree = MultivariateTreeClassifier().fit(X[:150], y[:150])
    smaller = tree._reduced(tree.tree_, X[150:], codes, np.ones(150))

    def errors(grown):
        return (grown.structure.values[grown.apply(X[150:])].argmax(axis=1) != codes).sum()

    assert errors(smaller) <= errors(tree.tree_)
    assert smaller.structure.n_leaves < tree.tree_.structure.n_leaves


def test_indicators_find_what_single_categories_say():
    """A univariate node on 0/1 indicators separates one category from all others."""
    colours = pd.Categorical(np.tile(["red", "green", "blue", "pink"], 10))
    frame = pd.DataFrame({"colour": colours, "size": np.arange(40.0)})
    tree = MultivariateTreeClassifier("univariate").fit(frame, colours == "green")
    assert tree.export_text().splitlines() == [
        "[colour = green] <= 0.5: False (30)",
        "[colour = green] > 0.5: True (10)",
    ]


def test_mixed_tables_with_gaps():
    titanic = dataset("titanic")
    tree = MultivariateTreeClassifier(pruning="pessimistic", random_state=0)
    tree.fit(titanic.inputs[:600], titanic.target_values[:600])
    assert tree.score(titanic.inputs[600:], titanic.target_values[600:]) > 0.75
    assert "[sex = " in tree.export_text()


def test_weights_count_as_repetitions():
    X, y = rotated_boxes(0, n_rows=80)
    weights = np.random.default_rng(0).integers(0, 4, size=80)
    weighted = MultivariateTreeClassifier(min_samples_split=2).fit(X, y, weights)
    repeated = MultivariateTreeClassifier().fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert_allclose(weighted.tree_.structure.weight, repeated.tree_.structure.weight)


def test_class_weights_move_the_border():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = X.sum(axis=1) + random.normal(size=300) > 1.5
    plain, balanced = (
        MultivariateTreeClassifier(max_depth=1, class_weight=weight).fit(X, y)
        for weight in (None, "balanced")
    )
    assert balanced.predict(X).sum() > plain.predict(X).sum()


def test_discriminants_are_in_the_units_of_the_table():
    iris = dataset("iris")
    tree = MultivariateTreeClassifier("lda").fit(iris.inputs, iris.target_values)
    test = tree.discriminant()
    scores = iris.inputs.to_numpy(float) @ test.weights + test.intercept
    assert_array_equal(tree.apply(iris.inputs) == 1, scores <= 0)
    with pytest.raises(DataError, match="node 1 is a leaf and has no discriminant"):
        tree.discriminant(1)


def test_few_inputs_per_node():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 8))
    y = X[:, 2] - X[:, 5] > 0
    tree = MultivariateTreeClassifier("lda", max_inputs=2, max_depth=1).fit(X, y)
    assert np.flatnonzero(tree.discriminant().weights).tolist() == [2, 5]
    assert tree.get_n_parameters() == 3


def test_spheres_of_raw_inputs_are_spheres():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(200, 2)) * [1.0, 3.0]
    y = (X**2).sum(axis=1) < 0.5
    tree = MultivariateTreeClassifier("sphere", standardise=False, max_depth=1).fit(X, y)
    assert_allclose(tree.discriminant().root, np.eye(2))
    assert tree.score(X, y) == 1.0


def test_text_shows_each_branch_once():
    iris = dataset("iris")
    tree = MultivariateTreeClassifier("gaussian").fit(iris.inputs, iris.target_values)
    lines = tree.export_text().splitlines()
    assert len(lines) == len(tree.tree_.tests) - 1
    assert sum("is the largest" in line for line in lines) >= 3
    assert len(tree.export_text(max_depth=1).splitlines()) == 3
    stump = MultivariateTreeClassifier(purity_threshold=0.2).fit(iris.inputs, iris.target_values)
    assert stump.export_text() == "setosa (150, 100 of others)"
    assert stump.node_kinds().empty


def test_questions_and_answers_in_words():
    iris = dataset("iris")
    X, y = iris.inputs[["petal_length_cm"]], iris.target_values
    two = MultivariateTreeClassifier("univariate", max_depth=1).fit(X, y)
    assert two.node_text(0) == "petal_length_cm > 2.45"
    assert [two.branch_text(node) for node in (1, 2)] == ["no", "yes"]
    assert two.leaf_text(1) == "setosa (50)"
    three = MultivariateTreeClassifier("ternary", max_depth=1).fit(X, y)
    assert three.node_text(0) == "3 branches"
    assert three.branch_text(2) == "2.45 < petal_length_cm <= 4.75"


def test_one_class_is_a_single_leaf():
    with pytest.warns(DataWarning, match="y has one class, 7: the tree is a single leaf"):
        tree = MultivariateTreeClassifier().fit(np.eye(4), [7, 7, 7, 7])
    assert_array_equal(tree.predict(np.eye(4)), 7)
    assert tree.get_depth() == 0


def test_conflicting_duplicates_share_a_leaf():
    X = np.array([[0.0, 1.0]] * 4 + [[1.0, 0.0]] * 2)
    tree = MultivariateTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1])
    assert tree.get_n_leaves() == 2
    assert_allclose(tree.predict_proba([[0.0, 1.0]]), [[0.75, 0.25]])


def test_bad_input_is_named():
    X, y = rotated_boxes(0, n_rows=30)
    with pytest.raises(UnknownNameError, match=r"Unknown node 'mlp'"):
        MultivariateTreeClassifier("omnivariate", candidates=["lda", "mlp"]).fit(X, y)
    with pytest.raises(DataError, match="candidates is empty"):
        MultivariateTreeClassifier("omnivariate", candidates=[]).fit(X, y)
    with pytest.raises(ValueError, match="'node' parameter of MultivariateTreeClassifier must be"):
        MultivariateTreeClassifier("oblique").fit(X, y)
    with pytest.raises(ValueError, match="'softness' parameter"):
        MultivariateTreeClassifier(softness=-1.0).fit(X, y)
    with pytest.raises(DataError, match=r"pruning_fraction=0.001 of 30 rows leaves none to prune"):
        MultivariateTreeClassifier(pruning="reduced_error", pruning_fraction=0.001).fit(X, y)
    with pytest.raises(DataError, match="sample_weight is zero for every row"):
        MultivariateTreeClassifier().fit(X, y, np.zeros(30))
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        MultivariateTreeClassifier().fit(X, y, -np.ones(30))


def test_empty_columns_and_unseen_categories_are_named():
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [np.nan] * 4})
    with pytest.warns(DataWarning, match="All values are missing in 'b'"):
        MultivariateTreeClassifier().fit(frame, [0, 0, 1, 1])
    frame["b"] = pd.Categorical(["x", "y", "x", "y"])
    tree = MultivariateTreeClassifier().fit(frame, [0, 1, 0, 1])
    other = frame.assign(b=pd.Categorical(["x", "y", "z", "y"]))
    with pytest.raises(DataError, match="'b' has the category 'z', which was not there"):
        tree.predict(other)
    assert len(tree.set_params(unseen="missing").predict(other)) == 4
