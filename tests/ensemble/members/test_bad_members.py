"""What every combination of learners refuses, and what it must bear."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from verulam import ensemble
from verulam.base import DataError

X, Y = load_iris(return_X_y=True)
KINDS = ("BestSingle", "Cascade", "DynamicSelection", "EnsembleSelection", "Gated", "Stacking",
         "Voting")  # fmt: skip
CLASSIFIERS = [getattr(ensemble, f"{kind}Classifier") for kind in (*KINDS, "Correspondence")]
REGRESSORS = [getattr(ensemble, f"{kind}Regressor") for kind in KINDS]


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_no_members(kind):
    with pytest.raises(DataError, match="estimators is empty: an ensemble needs one learner"):
        kind([]).fit(X, Y)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_members_of_the_other_task_are_named(kind):
    task = "classification" if kind in CLASSIFIERS else "regression"
    stranger = "line" if kind in CLASSIFIERS else "bayes"
    members = [("line", LinearRegression()), ("bayes", GaussianNB())]
    with pytest.raises(DataError, match=rf"member '{stranger}' \(\w+\) cannot do {task}"):
        kind(members).fit(X, Y)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_one_class(kind):
    with pytest.raises(DataError, match=r"y has only one class \(0\)"):
        kind([("bayes", GaussianNB())]).fit(X[:20], Y[:20])


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_unanimous_and_constant_classifiers(kind):
    members = [("one", DummyClassifier()), ("same", DummyClassifier())]
    answers = kind(members).fit(X[:120], Y[:120]).predict(X)
    assert set(answers) <= {0, 1, 2}
    assert len(set(answers)) == 1


@pytest.mark.parametrize("kind", REGRESSORS)
def test_unanimous_and_constant_regressors(kind):
    members = [("one", DummyRegressor()), ("same", DummyRegressor())]
    answers = kind(members).fit(X, X[:, 0]).predict(X)
    np.testing.assert_allclose(answers, X[:, 0].mean(), atol=1e-9)
