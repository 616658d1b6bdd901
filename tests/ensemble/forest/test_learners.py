"""Forests on tables as they are: votes, weights, rows out of the bag, members that can be read."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.metrics import r2_score

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.ensemble import Forest, RandomForestClassifier, RandomForestRegressor
from verulam.tree import DecisionTreeClassifier


@pytest.fixture(scope="module")
def titanic():
    return dataset("titanic")


@pytest.fixture(scope="module")
def forest(titanic):
    learner = RandomForestClassifier(60, oob_score=True, random_state=0)
    return learner.fit(titanic.inputs, titanic.target_values)


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def regression(diabetes):
    learner = RandomForestRegressor(60, max_features=0.3, oob_score=True, random_state=0)
    return learner.fit(*diabetes)


def test_a_forest_is_the_mean_of_its_trees(titanic, forest, diabetes, regression):
    shares = np.mean([tree.predict_proba(titanic.inputs) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict_proba(titanic.inputs), shares, atol=1e-12)
    assert (forest.predict(titanic.inputs) == forest.classes_[shares.argmax(axis=1)]).all()
    means = np.mean([tree.predict(diabetes[0]) for tree in regression.estimators_], axis=0)
    np.testing.assert_allclose(regression.predict(diabetes[0]), means, rtol=1e-12)
    outputs = forest.member_outputs(titanic.inputs)
    assert outputs.values.shape == (60, len(shares), 2)
    np.testing.assert_allclose(outputs.values.mean(axis=0), shares, atol=1e-12)


def test_out_of_bag_votes_are_those_of_trees_that_have_not_seen_the_row(titanic, forest):
    votes = np.zeros((len(titanic.inputs), 2))
    curve = []
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        fresh = np.setdiff1d(np.arange(len(votes)), rows)
        votes[fresh] += tree.predict_proba(titanic.inputs.iloc[fresh])
        judged = votes.sum(axis=1) > 0
        wrong = forest.classes_[votes.argmax(axis=1)] != titanic.target_values
        curve.append(wrong[judged].mean())
    np.testing.assert_allclose(forest.oob_errors_, curve, atol=1e-12)
    assert forest.oob_score_ == 1.0 - forest.oob_errors_[-1]
    shares = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(forest.oob_decision_function_, shares, atol=1e-12)
    assert forest.oob_errors_[-1] < forest.oob_errors_[0] - 0.02


def test_out_of_bag_means_of_numbers(diabetes, regression):
    X, y = diabetes
    totals, counts = np.zeros(len(y)), np.zeros(len(y))
    for tree, rows in zip(regression.estimators_, regression.estimators_samples_, strict=True):
        fresh = np.setdiff1d(np.arange(len(y)), rows)
        totals[fresh] += tree.predict(X[fresh])
        counts[fresh] += 1
    np.testing.assert_allclose(regression.oob_prediction_, totals / counts, rtol=1e-12)
    assert regression.oob_score_ == pytest.approx(r2_score(y, totals / counts), abs=1e-12)
    assert regression.oob_errors_[-1] == pytest.approx(np.mean((y - totals / counts) ** 2))


def test_without_out_of_bag_rows_there_is_nothing_to_judge_by():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    forest = RandomForestClassifier(3, bootstrap=False, oob_score=True, random_state=0).fit(X, y)
    assert np.isnan(forest.oob_score_)
    assert np.isnan(forest.oob_errors_).all()
    with pytest.raises(DataError, match="bootstrap=False"):
        forest.oob_importance(X, y)
    refitted = forest.set_params(oob_score=False).fit(X, y)
    for name in ("oob_score_", "oob_errors_", "oob_decision_function_"):
        assert not hasattr(refitted, name)


def test_accuracy_is_that_of_scikit_learn():
    digits = dataset("digits")
    X, y = digits.inputs.to_numpy(), digits.target_values
    ours = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    theirs = TheirForest(100, oob_score=True, random_state=0).fit(X, y)
    assert ours.oob_score_ == pytest.approx(theirs.oob_score_, abs=0.01)
    order = np.corrcoef(ours.feature_importances_, theirs.feature_importances_)[0, 1]
    assert order > 0.98


def test_categories_are_split_into_the_best_subsets():
    """Of two classes, every division of five categories is tried by hand."""
    random = np.random.default_rng(0)
    codes = random.integers(5, size=400)
    y = (random.random(400) < np.array([0.8, 0.1, 0.5, 0.7, 0.2])[codes]).astype(int)
    table = pd.DataFrame({"kind": pd.Categorical(np.array(list("abcde"))[codes])})
    forest = RandomForestClassifier(1, max_depth=1, bootstrap=False, random_state=0)
    tree = forest.fit(table, y).estimators_[0].tree_

    def gini(subset):
        side = np.isin(codes, subset)
        means = [y[side].mean(), y[~side].mean()]
        return np.average([2 * p * (1 - p) for p in means], weights=[side.mean(), 1 - side.mean()])

    subsets = [[k for k in range(5) if bits >> k & 1] for bits in range(1, 31)]
    best = min(subsets, key=gini)
    sides = {tree.branch_categories(0, branch) for branch in (0, 1)}
    assert tuple(best) in sides
    assert tree.impurity[0] - tree.gain[0] == pytest.approx(gini(best), abs=1e-12)


def test_categories_of_several_classes_and_of_numbers():
    random = np.random.default_rng(1)
    codes = random.integers(90, size=900)
    table = pd.DataFrame({"kind": pd.Categorical.from_codes(codes, categories=range(90))})
    y = codes % 3
    forest = RandomForestClassifier(20, random_state=0).fit(table, y)
    assert (forest.predict(table) == y).mean() > 0.97
    numbers = np.sin(codes)
    regression = RandomForestRegressor(20, random_state=0).fit(table, numbers)
    assert np.abs(regression.predict(table) - numbers).mean() < 0.05


def test_missing_values_go_where_they_belong():
    """They are of one class: the root parts them from all others, in numbers and categories."""
    random = np.random.default_rng(2)
    numbers = random.normal(size=300)
    missing = random.random(300) < 0.3
    y = missing.astype(int)
    kinds = pd.Categorical(np.where(missing, None, random.choice(["a", "b"], 300)))
    for column in (np.where(missing, np.nan, numbers), kinds):
        table = pd.DataFrame({"x": column})
        forest = RandomForestClassifier(5, max_depth=1, random_state=0).fit(table, y)
        assert (forest.predict(table) == y).all()
        assert forest.forest_.gaps == (True,)
    above = (numbers > 0.5) | missing
    table = pd.DataFrame({"x": np.where(missing, np.nan, numbers)})
    learner = RandomForestClassifier(5, max_depth=1, random_state=0).fit(table, above)
    assert (learner.predict(table) == above).mean() > 0.99
    below = (numbers < -0.5) | missing
    learner = RandomForestClassifier(5, max_depth=1, random_state=0).fit(table, below)
    assert (learner.predict(table) == below).mean() > 0.99


def test_gaps_that_training_did_not_have_go_with_the_larger_child():
    X, y = np.arange(10.0)[:, None], np.arange(10) > 6
    forest = RandomForestClassifier(1, bootstrap=False, random_state=0).fit(X, y)
    assert not forest.predict([[np.nan]])[0]


def test_members_can_be_read(titanic, forest):
    tree = forest.estimators_[3]
    assert isinstance(tree, DecisionTreeClassifier)
    assert "sex = female" in tree.export_text()
    leaves = forest.apply(titanic.inputs)
    assert leaves.shape == (len(titanic.inputs), 60)
    assert np.array_equal(tree.apply(titanic.inputs), leaves[:, 3])
    tree.tree_._check_loaded()
    assert isinstance(forest.forest_, Forest)
    assert len(forest.forest_) == 60


def test_proximity_is_the_share_of_common_leaves(titanic, forest):
    some, others = titanic.inputs.iloc[:40], titanic.inputs.iloc[40:55]
    leaves, other_leaves = forest.apply(some), forest.apply(others)
    shares = (leaves[:, None] == other_leaves[None]).mean(axis=2)
    np.testing.assert_allclose(forest.proximity(some, others), shares, atol=1e-12)
    alone = forest.proximity(some)
    assert (np.diag(alone) == 1.0).all()
    assert np.array_equal(alone, alone.T)


def test_weights_act_as_repetitions_of_all_rows():
    random = np.random.default_rng(3)
    X, y = random.normal(size=(120, 3)), random.integers(3, size=120)
    weights = random.integers(0, 4, size=120)
    options = {"max_features": None, "bootstrap": False, "max_depth": 4, "random_state": 0}
    weighted = RandomForestClassifier(1, **options).fit(X, y, sample_weight=weights)
    repeated = RandomForestClassifier(1, **options).fit(X.repeat(weights, 0), y.repeat(weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)
    options = {**options, "max_depth": 3}
    weighted = RandomForestRegressor(1, **options).fit(X, X[:, 0] * y, sample_weight=weights)
    targets = (X[:, 0] * y).repeat(weights)
    repeated = RandomForestRegressor(1, **options).fit(X.repeat(weights, 0), targets)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1.0, 1: 9.0}])
def test_class_weights_help_the_rare_class(class_weight):
    random = np.random.default_rng(4)
    y = (random.random(600) < 0.1).astype(int)
    X = random.normal(size=(600, 3)) + y[:, None]
    options = {"min_samples_leaf": 10, "random_state": 0}
    plain = RandomForestClassifier(30, **options).fit(X, y).predict(X)
    weighted = RandomForestClassifier(30, class_weight=class_weight, **options).fit(X, y)
    assert weighted.predict(X)[y == 1].mean() > plain[y == 1].mean() + 0.2
    assert weighted.estimators_[0].tree_.values[0, 1] > 60


def test_shares_of_rows_and_columns():
    random = np.random.default_rng(5)
    X, y = random.normal(size=(100, 9)), random.integers(2, size=100)
    forest = RandomForestClassifier(3, max_samples=0.2, random_state=0).fit(X, y)
    assert [len(rows) for rows in forest.estimators_samples_] == [20, 20, 20]
    forest = RandomForestClassifier(3, max_samples=30, bootstrap=False, random_state=0).fit(X, y)
    assert [len(set(rows)) for rows in forest.estimators_samples_] == [30, 30, 30]
    third, root = (
        RandomForestRegressor(3, max_features=share, random_state=0).fit(X, y).predict(X)
        for share in (3, "sqrt")
    )
    np.testing.assert_array_equal(third, root)
    for max_features in ("log2", 0.5, 4, None):
        assert RandomForestClassifier(2, max_features=max_features).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_features": 0}, "max_features"),
        ({"max_samples": 200, "bootstrap": False}, "max_samples=200: without bootstrap"),
        ({"class_weight": {0: 1.0, 1: -1.0}}, "class_weight"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
    ],
)
def test_wrong_options_are_refused(options, message):
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**options).fit(X, y)


def test_wrong_data_are_refused(titanic, forest):
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(DataError, match="zero for every row"):
        RandomForestClassifier(2).fit(X, y, sample_weight=np.zeros(20))
    with pytest.raises(DataError, match="divide it by a power of ten"):
        RandomForestClassifier(2).fit(X, y, sample_weight=np.full(20, 1e200))
    with pytest.raises(DataError, match="too large for its squares"):
        RandomForestRegressor(2).fit(X, y * 1e200)
    with pytest.raises(DataError, match="n_repeats=0"):
        forest.permutation_importance(titanic.inputs, titanic.target_values, n_repeats=0)
    with pytest.raises(DataError, match=r"grown on 891"):
        forest.oob_importance(titanic.inputs[:50], titanic.target_values[:50])
    strange = titanic.inputs.assign(sex=pd.Categorical(["robot"] * len(titanic.inputs)))
    with pytest.raises(DataError, match="robot"):
        forest.predict(strange)
    with pytest.warns(DataWarning, match="y has one class, 0"):
        alone = RandomForestClassifier(2, random_state=0).fit(X, np.zeros(20, dtype=int))
    assert (alone.predict(X) == 0).all()


def test_a_single_row_and_extreme_numbers():
    assert RandomForestRegressor(2).fit([[1.0]], [3.0]).predict([[5.0]])[0] == 3.0
    X = np.array([[-1e308], [1e308], [1e308], [-1e308]])
    forest = RandomForestClassifier(1, bootstrap=False).fit(X, [0, 1, 1, 0])
    assert forest.predict(X).tolist() == [0, 1, 1, 0]
    X = np.nextafter(1.0, [[0.0], [2.0], [2.0], [0.0]])
    X[0] = 1.0
    forest = RandomForestClassifier(1, bootstrap=False).fit(X, [0, 1, 1, 0])
    assert forest.predict(X).tolist() == [0, 1, 1, 0]


def test_a_file_with_links_to_nowhere_is_refused(forest):
    steps = forest.forest_.steps.copy()
    steps["child"][0] = 10**6
    record = {**vars(forest.forest_), "steps": steps}
    with pytest.raises(DataError, match="The tree has children that are no nodes"):
        Forest(**record)._check_loaded()
    with pytest.raises(DataError, match="do not fit together"):
        Forest(**{**record, "starts": record["starts"][:-1]})._check_loaded()
    forest.forest_._check_loaded()


def test_an_importance_reads_as_a_table_and_a_strange_category_names_the_parameter():
    X = pd.DataFrame({"colour": pd.Categorical(["red", "blue"] * 20), "size": np.arange(40.0)})
    y = np.arange(40) % 2
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    lines = repr(forest.oob_importance(X, y, random_state=0)).splitlines()
    assert lines[0].split() == ["importance", "standard_error"]
    assert {line.split()[0] for line in lines[2:]} == {"colour", "size"}
    strange = pd.DataFrame({"colour": pd.Categorical(["green"]), "size": [1.0]})
    with pytest.raises(DataError, match=r'green.*unseen="missing" takes it for missing'):
        forest.predict(strange)


def test_a_column_of_too_many_categories_is_named():
    table = pd.DataFrame({"size": 1.0, "key": pd.Categorical(np.arange(2**16).astype(str))})
    with pytest.raises(DataError, match="X: column 'key' has 65536 categories; a forest takes"):
        RandomForestClassifier(1).fit(table, np.arange(2**16) % 2)
