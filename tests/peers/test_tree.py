"""Trees against tuned ones of scikit-learn, Weka's and C5.0, on the same splits."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier as TheirClassifier

from verulam.data import dataset
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

pytestmark = pytest.mark.peers


def generated(n_rows=5000, n_columns=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] + X[:, 2] > 0.5)).astype(int)


def tuned(X):
    """Return scikit-learn's tree on complete, encoded data, its size chosen by cross-validation."""
    numeric = X.select_dtypes("number").columns
    other = X.columns.difference(numeric)
    encoder = make_column_transformer(
        (SimpleImputer(strategy="median"), numeric),
        (OneHotEncoder(handle_unknown="ignore"), other),
    )
    name = "decisiontreeclassifier__"
    grid = [
        {f"{name}ccp_alpha": [0, 0.001, 0.003, 0.01, 0.02]},
        {f"{name}min_samples_leaf": [2, 5, 10, 20]},
        {f"{name}max_depth": [3, 5, 8]},
    ]
    return GridSearchCV(make_pipeline(encoder, TheirClassifier(random_state=0)), grid, cv=5)


@pytest.fixture(scope="module")
def their_accuracies(twelve_problems):
    splits = StratifiedKFold(10, shuffle=True, random_state=0)
    problems = twelve_problems.values()
    return [cross_val_score(tuned(X), X, y, cv=splits).mean() for X, y in problems]


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["c4.5", "cart"])
def test_accuracy_is_that_of_a_tuned_tree(preset, twelve_problems, their_accuracies):
    splits = StratifiedKFold(10, shuffle=True, random_state=0)
    learner = DecisionTreeClassifier(preset=preset, unseen="missing", random_state=0)
    problems = twelve_problems.values()
    ours = [cross_val_score(learner, X, y, cv=splits).mean() for X, y in problems]
    assert np.mean(ours) >= np.mean(their_accuracies)


@pytest.mark.slow
def test_accuracy_is_that_of_j48(twelve_problems, weka_accuracy):
    """Mean over twelve sets, five folds each, the same rows for both."""
    learner = DecisionTreeClassifier(preset="c4.5", unseen="missing", random_state=0)
    ours, theirs = [], []
    for X, y in twelve_problems.values():
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            part = (X.iloc[train], y[train], X.iloc[test], y[test])
            ours.append(learner.fit(*part[:2]).score(*part[2:]))
            theirs.append(weka_accuracy("weka.classifiers.trees.J48", *part))
    assert np.mean(ours) > np.mean(theirs) - 0.005


@pytest.mark.slow
def test_linear_leaves_err_as_m5p_does(weka_error):
    """Mean over six sets, five folds each, in standard deviations of the target."""
    ours, theirs = [], []
    for name in ("auto_mpg", "diabetes", "doctor_visits", "engel", "grunfeld", "state_crime"):
        data = dataset(name)
        rows = np.random.default_rng(0).permutation(len(data.target_values))[:1500]
        X, y = data.inputs.iloc[rows], np.asarray(data.target_values, dtype=float)[rows]
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            part = (X.iloc[train], y[train], X.iloc[test], y[test])
            learner = DecisionTreeRegressor(leaf_model="linear", unseen="missing")
            residuals = learner.fit(*part[:2]).predict(part[2]) - part[3]
            ours.append(np.sqrt(np.mean(residuals**2)) / y[test].std())
            theirs.append(weka_error("weka.classifiers.trees.M5P", *part) / y[test].std())
    assert np.mean(ours) < np.mean(theirs) + 0.01


def test_accuracy_is_that_of_c50():
    c50 = pytest.importorskip("c50py")
    X, y = generated()
    peer = c50.C5Classifier
    ours = DecisionTreeClassifier(preset="c4.5").fit(X[:2500], y[:2500]).score(X[2500:], y[2500:])
    theirs = np.mean(peer().fit(X[:2500], y[:2500]).predict(X[2500:]) == y[2500:])
    assert ours > theirs - 0.01
