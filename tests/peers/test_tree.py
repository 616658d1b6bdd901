"""Trees against tuned ones of scikit-learn and C5.0, on the same splits."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier as TheirClassifier

from verulam.data import dataset
from verulam.tree import DecisionTreeClassifier

pytestmark = pytest.mark.peers

NAMES = ("breast_cancer", "german_credit", "iris", "penguins", "titanic", "wine")


def generated(n_rows=5000, n_columns=10):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] + X[:, 2] > 0.5)).astype(int)


def tuned(X):
    """Return scikit-learn's tree behind an encoder, its pruning chosen by cross-validation."""
    categories = [name for name in X.columns if str(X[name].dtype) in ("category", "bool")]
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories), remainder="passthrough"
    )
    grid = {"decisiontreeclassifier__ccp_alpha": [0, 0.001, 0.003, 0.01, 0.02]}
    return GridSearchCV(make_pipeline(encoder, TheirClassifier(random_state=0)), grid, cv=5)


@pytest.mark.parametrize("preset", ["c4.5", "cart"])
def test_accuracy_is_that_of_a_tuned_tree(preset):
    ours, theirs = [], []
    for name in NAMES:
        data = dataset(name)
        X, y = data.inputs, np.asarray(data.target_values)
        splits = StratifiedKFold(10, shuffle=True, random_state=0)
        learner = DecisionTreeClassifier(preset=preset, unseen="missing", random_state=0)
        ours.append(cross_val_score(learner, X, y, cv=splits).mean())
        theirs.append(cross_val_score(tuned(X), X, y, cv=splits).mean())
    assert np.mean(ours) > np.mean(theirs) - 0.01


def test_accuracy_is_that_of_c50():
    c50 = pytest.importorskip("c50py")
    X, y = generated()
    peer = c50.C5Classifier
    ours = DecisionTreeClassifier(preset="c4.5").fit(X[:2500], y[:2500]).score(X[2500:], y[2500:])
    theirs = np.mean(peer().fit(X[:2500], y[:2500]).predict(X[2500:]) == y[2500:])
    assert ours > theirs - 0.01
