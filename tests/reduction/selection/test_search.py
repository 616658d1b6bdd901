"""Searches for columns: beside scikit-learn's, by added scores, exhaustive, floating, fixed."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from verulam.base import DataError
from verulam.data import dataset
from verulam.parametric import NaiveBayes
from verulam.reduction import SearchStep, SubsetSelector

WINE = dataset("wine")
X = WINE.inputs
Y = np.asarray(WINE.target_values)


def score_of(estimator, columns, scoring=None):
    return cross_val_score(estimator, X[list(columns)], Y, cv=5, scoring=scoring).mean()


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("scaled", [False, True])
def test_columns_of_naive_bayes_are_those_of_scikit_learn(direction, scaled):
    """Unscaled columns differ so much that scikit-learn's variance floor follows the subset."""
    table = X.iloc[:, [0, 4, 5, 6, 9, 10, 12]]
    table = (table - table.mean()) / table.std() if scaled else table
    ours = SubsetSelector(GaussianNB(), 4, search=direction).fit(table, Y)
    theirs = SequentialFeatureSelector(
        GaussianNB(), n_features_to_select=4, direction=direction, cv=5
    ).fit(table, Y)
    assert ours.is_additive_
    assert (ours.support_ == theirs.get_support()).all()


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "f1_macro"])
@pytest.mark.parametrize("estimator", [GaussianNB(), NaiveBayes()])
def test_added_scores_are_those_of_refitting(estimator, scoring):
    selector = SubsetSelector(estimator, 3, scoring=scoring).fit(X, Y)
    assert selector.is_additive_
    for columns, score in selector.path_[["columns", "score"]].itertuples(index=False):
        assert score == pytest.approx(score_of(estimator, columns, scoring), abs=1e-10)


def test_a_nearly_constant_column_does_not_mislead_the_sums():
    random = np.random.default_rng(0)
    labels = np.arange(90) % 3
    rows = random.normal(size=(90, 4)) + np.outer(labels, [0.5, 0.0, 1.0, 0.0])
    rows[:, 1] = 1e-7 * random.normal(size=90) + 1e-7 * labels
    rows[:, 3] *= 1e4
    ours = SubsetSelector(GaussianNB(), 3).fit(rows, labels)
    for step in ours.steps_:
        expected = cross_val_score(GaussianNB(), rows[:, list(step.subset)], labels, cv=5)
        assert_allclose(step.scores, expected)


def test_missing_values_are_skipped_as_the_learner_does():
    table = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    selector = SubsetSelector(NaiveBayes(), 3).fit(table, Y)
    assert selector.is_additive_
    last = selector.path_.iloc[-1]
    expected = cross_val_score(NaiveBayes(), table[list(last["columns"])], Y, cv=5)
    assert last["score"] == pytest.approx(expected.mean())


def test_other_learners_are_refitted_as_by_scikit_learn():
    neighbours = KNeighborsClassifier(3)
    table = ((X - X.mean()) / X.std()).iloc[:, :5]
    ours = SubsetSelector(neighbours, 2).fit(table, Y)
    theirs = SequentialFeatureSelector(neighbours, n_features_to_select=2, cv=5).fit(table, Y)
    assert not ours.is_additive_
    assert (ours.support_ == theirs.get_support()).all()


def test_regression_columns():
    random = np.random.default_rng(0)
    rows = random.normal(size=(80, 6))
    target = rows[:, 4] - 2 * rows[:, 1] + 0.1 * random.normal(size=80)
    selector = SubsetSelector(LinearRegression(), 2, scoring="r2", cv=KFold(4)).fit(rows, target)
    assert np.flatnonzero(selector.support_).tolist() == [1, 4]


def test_exhaustive_search_is_never_beaten():
    table = X.iloc[:, :6]
    every = SubsetSelector(GaussianNB(), search="exhaustive").fit(table, Y)
    best = every.best_subsets_["score"]
    for search in ("forward", "backward", "floating"):
        walked = SubsetSelector(GaussianNB(), search=search).fit(table, Y)
        for size, score in walked.best_subsets_["score"].items():
            assert score <= best[size] + 1e-12
    scores = [score_of(GaussianNB(), columns) for columns in combinations(table.columns, 2)]
    assert best[2] == pytest.approx(max(scores))
    # Without a size that is asked for, the best of all sizes is taken, the smallest of equals.
    assert (every.score_, every.n_features_to_select_) == (best.max(), best.idxmax())


def test_floating_is_never_worse_than_forward_and_sometimes_better():
    better = 0
    for seed in range(8):
        rows, labels = make_classification(
            120, 10, n_informative=4, n_redundant=4, n_classes=3, random_state=seed
        )
        plain = SubsetSelector(GaussianNB()).fit(rows, labels).best_subsets_["score"]
        floating = SubsetSelector(GaussianNB(), search="floating").fit(rows, labels)
        gains = floating.best_subsets_["score"] - plain
        assert (gains >= -1e-12).all()
        better += bool((gains > 1e-9).any())
        actions = floating.path_["action"]
        assert set(actions) <= {"add", "drop"}
    assert better > 0


@pytest.mark.parametrize("search", ["forward", "backward", "floating", "exhaustive"])
def test_fixed_columns_stay(search):
    table = X.iloc[:, :6]
    fixed = ["ash", "magnesium"]
    selector = SubsetSelector(GaussianNB(), 3, search=search, fixed_columns=fixed).fit(table, Y)
    assert selector.n_features_to_select_ == 3
    assert set(fixed) <= set(selector.get_feature_names_out())
    assert all(set(fixed) <= set(columns) for columns in selector.path_["columns"])
    by_place = SubsetSelector(GaussianNB(), 3, search=search, fixed_columns=[2, 4]).fit(
        table.to_numpy(), Y
    )
    assert (by_place.support_ == selector.support_).all()


def test_without_a_number_the_best_size_is_taken():
    selector = SubsetSelector(GaussianNB()).fit(X, Y)
    best = selector.best_subsets_["score"]
    assert selector.score_ == best.max()
    assert selector.n_features_to_select_ == best.idxmax()
    assert len(selector.path_) == 13
    half = SubsetSelector(GaussianNB(), 0.5).fit(X, Y)
    assert half.n_features_to_select_ == 6


def test_tol_ends_the_walks():
    stopped = SubsetSelector(GaussianNB(), tol=0.02).fit(X, Y)
    scores = stopped.path_["score"]
    assert 1 < len(scores) < 13
    assert (np.diff(scores) >= 0.02).all()
    back = SubsetSelector(GaussianNB(), search="backward", tol=0.01).fit(X, Y)
    assert (np.diff(back.path_["score"]) >= -0.01).all()
    assert len(back.path_) < 13


def test_the_path_says_what_was_done():
    selector = SubsetSelector(GaussianNB(), 2, search="backward").fit(X.iloc[:, :4], Y)
    path = selector.path_
    assert path["action"].tolist() == ["start", "drop", "drop"]
    assert path["n_columns"].tolist() == [4, 3, 2]
    assert isinstance(selector.steps_[0], SearchStep)
    assert path["columns"].iloc[-1] == tuple(selector.get_feature_names_out())
    assert list(selector.transform(X.iloc[:3, :4])[0]) == list(
        X.iloc[0][list(path["columns"].iloc[-1])]
    )


def test_tables_with_categories_go_to_learners_that_take_them():
    penguins = dataset("penguins")
    table = penguins.inputs
    assert any(isinstance(dtype, pd.CategoricalDtype) for dtype in table.dtypes)
    selector = SubsetSelector(NaiveBayes(), 2, cv=3).fit(table, penguins.target_values)
    assert not selector.is_additive_
    assert selector.score_ > 0.9


def test_bad_input():
    with pytest.raises(DataError, match=r"n_features_to_select=20.*n_features=13"):
        SubsetSelector(GaussianNB(), 20).fit(X, Y)
    with pytest.raises(DataError, match="X has no column 'colour'"):
        SubsetSelector(GaussianNB(), 3, fixed_columns=["colour"]).fit(X, Y)
    with pytest.raises(DataError, match="more than n_features_to_select=1"):
        SubsetSelector(GaussianNB(), 1, fixed_columns=[0, 1]).fit(X, Y)
    with pytest.raises(DataError, match=r"there are .* subsets, more than 100,000"):
        SubsetSelector(GaussianNB(), search="exhaustive").fit(np.ones((10, 40)), Y[:10])
    with pytest.raises(DataError, match=r"cv=5 does not suit the data: .* n_splits=5"):
        SubsetSelector(GaussianNB(), 1).fit(X[:4], [0, 1, 0, 1])
    with pytest.raises(DataError, match="requires y"):
        SubsetSelector(GaussianNB()).fit(X)
    with pytest.raises(ValueError, match="'estimator' parameter"):
        SubsetSelector(None).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        SubsetSelector(GaussianNB()).fit(X.mask(X > 100), Y)
    with pytest.raises(DataError, match="X has 178 rows and y has 3"):
        SubsetSelector(DecisionTreeClassifier()).fit(X, Y[:3])
