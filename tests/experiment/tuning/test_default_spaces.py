"""The table of what is tuned: parameters that the learners have, with values that they take."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from verulam.catalogue import entry
from verulam.experiment._tuning.default_spaces import DEFAULT_SPACES
from verulam.experiment._tuning.space import draw_setting


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
