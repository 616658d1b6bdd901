"""The record: calling, own functions, options, scoring in scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.measures import Measure, measure, to_scorer
from verulam.measures._registry import MEASURES


def count_errors(y_true, y_pred):
    return float(np.sum(np.asarray(y_true) != np.asarray(y_pred)))


def test_own_function_needs_a_direction():
    errors = Measure.from_function(count_errors, greater_is_better=False, range=(0, np.inf))
    assert errors([0, 1, 1], [1, 0, 1]) == 2
    assert (errors.name, errors.title, errors.needs, errors.perfect) == (
        "count_errors",
        "count errors",
        "labels",
        0.0,
    )
    # Labels are context that such a function cannot use; weights would change its meaning.
    assert errors([0, 1], [0, 1], labels=[0, 1]) == 0
    with pytest.raises(DataError, match="takes no sample_weight"):
        errors([0, 1], [0, 1], sample_weight=[1, 2])


def test_options_are_fixed_and_shown():
    loss = np.array([[0, 5], [1, 0]])
    risk = measure("risk", loss=loss)
    assert risk.name == "risk(loss=[[0, 5], [1, 0]])"
    assert risk([0, 1], [0, 0]) == 2.5
    assert risk != measure("risk", loss=1 - np.eye(2))
    with pytest.raises(TypeError, match="'accuracy' has no option 'beta'; it takes sample_weight"):
        measure("accuracy", beta=2)


def test_direction():
    assert measure("accuracy").is_better(0.9, 0.8)
    assert measure("error").is_better(0.1, 0.2)
    assert not measure("error").is_better(0.2, 0.2)


@pytest.mark.parametrize("name", ["tp_rate", "auc", "r2"])
def test_measures_can_be_pickled(name):
    assert pickle.loads(pickle.dumps(measure(name))) == measure(name)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("accuracy", "accuracy"),
        ("log_loss", "neg_log_loss"),
        ("auc", "roc_auc_ovr"),
        ("balanced_accuracy", "balanced_accuracy"),
    ],
)
def test_scorer_matches_scikit_learn(ours, theirs):
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    value = to_scorer(ours)(model, X, y)
    expected = (
        -np.mean(model.predict(X) != y) if theirs is None else get_scorer(theirs)(model, X, y)
    )
    assert value == pytest.approx(expected)


def test_two_class_scores_come_from_the_second_class():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], np.array(["versicolor", "virginica"])[y[50:] - 1]
    model = GaussianNB().fit(X, y)
    assert to_scorer("auc")(model, X, y) == pytest.approx(get_scorer("roc_auc")(model, X, y))
    second = model.predict_proba(X)[:, 1]
    assert to_scorer("brier")(model, X, y) == pytest.approx(
        -2 * np.mean((second - (y == "virginica")) ** 2)
    )


def test_part_without_a_class_is_scored():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    assert to_scorer("log_loss")(model, X[:60], y[:60]) < 0


def test_searches_accept_the_scorer():
    X, y = load_iris(return_X_y=True)
    grid = {"var_smoothing": [1e-9, 10.0]}
    search = GridSearchCV(GaussianNB(), grid, scoring=to_scorer("error"), cv=3).fit(X, y)
    assert search.best_params_ == {"var_smoothing": 1e-9}
    r2 = cross_val_score(LinearRegression(), X[:, :3], X[:, 3], scoring=to_scorer("r2"), cv=3)
    expected = cross_val_score(LinearRegression(), X[:, :3], X[:, 3], scoring="r2", cv=3)
    assert r2 == pytest.approx(expected)


def test_missing_method_is_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="needs predict_proba, which LinearRegression"):
        to_scorer("log_loss")(LinearRegression().fit(X, y), X, y)


def problem_of(entry):
    random = np.random.default_rng(0)
    if entry.needs in ("intervals", "predictive densities"):
        table = np.column_stack([np.zeros(30), np.full(30, -1.0), np.ones(30), np.full(30, 0.5)])
        return random.normal(size=30), table, None
    if entry.task in ("regression", "density"):
        return random.normal(size=30), random.normal(size=30), None
    true = random.integers(0, 3, 30)
    if entry.needs == "probabilities":
        return true, random.dirichlet([1, 1, 1], 30), [0, 1, 2]
    return true, random.integers(0, 3, 30), [0, 1, 2]


@pytest.mark.parametrize("name", [entry.name for entry in MEASURES if entry.rows is not None])
def test_a_measure_of_rows_is_their_mean(name):
    entry = measure(name, loss=[[0, 1, 2], [5, 0, 1], [2, 3, 0]]) if name == "risk" else None
    entry = entry or measure(name)
    true, prediction, labels = problem_of(entry)
    rows = entry.row_losses(true, prediction, labels=labels)
    assert rows.shape == (30,)
    assert entry.from_mean(rows.mean()) == pytest.approx(entry(true, prediction, labels=labels))


def test_which_measures_are_means_of_rows():
    means = {entry.name for entry in MEASURES if entry.rows is not None}
    assert {"error", "accuracy", "risk", "log_loss", "brier", "mean_squared_error"} < means
    with pytest.raises(DataError, match="'kappa' is not a mean over the rows"):
        measure("kappa").row_losses([0, 1], [0, 1])


def test_rows_of_ones_own_function():
    absolute = Measure.from_function(
        lambda true, predicted: float(np.mean(true - predicted)),
        greater_is_better=False,
        task="regression",
        rows=np.subtract,
    )
    assert absolute.row_losses(np.array([3.0, 1.0]), np.array([1.0, 1.0])).tolist() == [2.0, 0.0]
