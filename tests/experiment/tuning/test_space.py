"""Spaces: read from a study with errors that name the key, drawn from, laid out as a grid."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from verulam.base import DataError
from verulam.catalogue import entry
from verulam.design import Factor
from verulam.experiment._tuning.space import (
    DEFAULT_SPACES,
    default_space,
    distinct_settings,
    draw_setting,
    grid_settings,
    search_space,
    setting_key,
)
from verulam.kernel import SupportVectorClassifier

LOG = {"low": 0.01, "high": 100, "scale": "log"}


def test_every_form_is_read():
    mine = Factor("depth", (1, 5), "numeric", whole=True)
    space = search_space({"C": LOG, "k": {"low": 1, "high": 9}, "kernel": ["a", "b"], "m": mine})
    assert [(f.kind, f.whole) for f in space] == [
        ("log", False),
        ("numeric", True),
        ("categorical", False),
        ("numeric", True),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C": "log"}, "tune.C: 'log'; expected a list of values, or a table with low and high"),
        ({"C": []}, r"tune.C: \[\]; expected a list"),
        ({"C": [1, 1]}, "tune.C: Factor 'C' has a level twice"),
        ({"C": {"low": 1}}, "tune.C.high: missing"),
        ({"C": {"lwo": 1, "high": 2}}, "tune.C.lwo: no such key. Nearest: low"),
        ({"C": {**LOG, "scale": "cubic"}}, "tune.C.scale: 'cubic'; expected linear or log"),
        ({"C": {"low": 3, "high": 2}}, "tune.C: low is 3, not below high, 2"),
        ({"C": {"low": 0, "high": 2, "scale": "log"}}, "tune.C: .* not above 0"),
        ({"C": {"low": "a", "high": 2}}, "tune.C: .* has the level 'a'"),
    ],
)
def test_errors_name_the_key(given, message):
    with pytest.raises(DataError, match=message):
        search_space(given)


def test_draws_are_even_on_their_scale():
    space = search_space({"C": LOG, "k": {"low": 1, "high": 3}, "kernel": ["a", "b"]})
    random = np.random.default_rng(0)
    drawn = [draw_setting(space, random) for _ in range(4000)]
    logs = np.log10([each["C"] for each in drawn])
    assert abs(logs.mean()) < 0.1
    assert -2 <= logs.min() < -1.9 < 1.9 < logs.max() <= 2
    assert {each["k"] for each in drawn} == {1, 2, 3}
    assert all(type(each["k"]) is int for each in drawn)
    assert 0.45 < np.mean([each["kernel"] == "a" for each in drawn]) < 0.55


def test_sizes():
    whole = search_space({"k": {"low": 1, "high": 3}, "kernel": ["a", "b"]})
    assert distinct_settings(whole) == 6
    assert distinct_settings(search_space({"C": LOG})) == np.inf
    assert distinct_settings(()) == 0


def test_grids_are_as_fine_as_the_budget():
    space = search_space({"C": LOG, "k": {"low": 1, "high": 3}, "kernel": ["a", "b"]})
    assert len(grid_settings(space, 17)) == 8
    settings = grid_settings(space, 20)
    assert len(settings) == 18
    assert {each["k"] for each in settings} == {1, 2, 3}
    assert sorted({each["C"] for each in settings}) == pytest.approx([0.01, 1.0, 100.0])
    assert len(grid_settings(search_space({"kernel": ["a", "b"]}), 20)) == 2
    with pytest.raises(DataError, match="has 2 settings, above the budget of 1"):
        grid_settings(search_space({"kernel": ["a", "b"]}), 1)


def test_settings_are_the_same_whatever_their_order():
    assert setting_key({"a": 1, "b": None}) == setting_key({"b": None, "a": 1})
    assert setting_key({"a": 1}) != setting_key({"a": "1"})


def test_defaults_of_names_and_of_estimators():
    assert default_space(KNeighborsClassifier()) == default_space("k-nearest neighbours")
    assert [each.name for each in default_space(SVC())] == ["C", "gamma"]
    assert [each.name for each in default_space(SupportVectorClassifier())] == [
        "C",
        "kernel__width",
    ]
    assert default_space(DecisionTreeRegressor()) == default_space("regression tree")
    assert default_space("majority class") == default_space(object()) == ()


@pytest.mark.parametrize("name", DEFAULT_SPACES)
def test_learners_take_what_is_drawn(name):
    found = entry(name)
    assert found.name == name
    make = make_classification if found.abilities.task == "classification" else make_regression
    X, y = make(n_samples=60, n_features=5, random_state=0)
    random = np.random.default_rng(0)
    for _ in range(2):
        setting = draw_setting(DEFAULT_SPACES[name], random)
        limited = {"max_iter": 5} if "max_iter" in found.make().get_params() else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert len(found.make(**setting, **limited).fit(X, y).predict(X)) == 60
