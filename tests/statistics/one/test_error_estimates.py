"""Errors on learnt rows, by cross-validation and on a test set, in one table."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier

from verulam.base import DataError, generator
from verulam.statistics import ErrorEstimates, error_estimates, rate_interval


def noise(n_rows=300, n_classes=2):
    random = np.random.default_rng(0)
    return random.normal(size=(n_rows, 3)), np.arange(n_rows) % n_classes


def test_one_nearest_neighbour_of_noise_is_right_on_what_it_learnt_alone():
    """No error at all on learnt rows, half of the rows wrong on others."""
    estimates = error_estimates(KNeighborsClassifier(1), *noise(), random_state=0)
    (row,) = estimates.to_frame().to_numpy()
    assert row[0] == 0.0
    assert abs(row[1:] - 0.5).max() < 0.12
    assert_allclose(estimates.optimism, row[1])
    assert (estimates.n_train, estimates.n_test) == (210, 90)


def test_the_three_agree_with_scikit_learn():
    X, y = load_iris(return_X_y=True)
    learner = LogisticRegression(C=0.01)
    estimates = error_estimates(learner, X, y, test_fraction=0.4, n_splits=5, random_state=3)
    seed = int(generator(3).integers(2**31))
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=seed
    )
    parts = StratifiedKFold(5, shuffle=True, random_state=seed)
    fitted = learner.fit(X_train, y_train)
    name = "LogisticRegression"
    assert estimates.resubstitution[name] == pytest.approx(1 - fitted.score(X_train, y_train))
    assert estimates.test[name] == pytest.approx(1 - fitted.score(X_test, y_test))
    scores = cross_val_score(learner, X_train, y_train, cv=parts)
    assert estimates.cross_validation[name] == pytest.approx(1 - scores.mean())
    assert len({*estimates.to_frame().to_numpy().ravel().tolist()}) == 3
    hidden = (1 - scores.mean()) - (1 - fitted.score(X_train, y_train))
    assert estimates.optimism[name] == pytest.approx(hidden)


def test_classifiers_are_compared_on_the_same_rows():
    X, y = load_iris(return_X_y=True, as_frame=True)
    learners = {"logistic": LogisticRegression(), "same": LogisticRegression()}
    learners["guess"] = DummyClassifier()
    estimates = error_estimates(learners, X, y, random_state=1)
    frame = estimates.to_frame()
    assert list(frame.index) == ["logistic", "same", "guess"]
    assert list(frame.columns) == ["resubstitution", "cross-validation", "test set"]
    assert frame.loc["logistic"].equals(frame.loc["same"])
    assert (frame.loc["guess"] > 0.6).all()
    assert (frame.loc["logistic"] < 0.1).all()
    again = error_estimates(learners, X, y, random_state=1).to_frame()
    assert frame.equals(again)


def test_the_test_set_has_an_interval():
    rates = [pd.Series({"tree": rate}) for rate in (0.0, 0.2, 0.25)]
    estimates = ErrorEstimates(*rates, n_train=80, n_test=20, n_splits=10)
    assert estimates.test_interval("tree", 0.9) == rate_interval(5, 20, confidence=0.9)
    assert "cross-validation" in str(estimates)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learners": LinearRegression()}, "learners must be classifiers, but 'LinearRegression'"),
        ({"learners": {}}, "learners is empty"),
        (
            {"y": np.ones((20, 2))},
            r"y must have one class for each row, but its shape is \(20, 2\)",
        ),
        ({"test_fraction": 1.0}, "test_fraction must be between 0 and 1, but is 1"),
        ({"n_splits": 1}, "n_splits must be 2 or more, but is 1"),
        ({}, "y has 10 rows of the class 0, of which about 7 are left .* n_splits=10"),
    ],
)
def test_bad_input_is_named(changes, message):
    X, y = noise(20)
    arguments = {"learners": DummyClassifier(), "X": X, "y": y, **changes}
    with pytest.raises(DataError, match=message):
        error_estimates(**arguments)
