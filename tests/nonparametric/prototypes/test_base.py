"""Classifiers that keep rows: votes of what was kept, tables in and out."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.nonparametric import CondensedNeighbours
from verulam.nonparametric._prototypes.base import PrototypeClassifier

X = pd.DataFrame({"a": [0.0, 1.0, 5.0, 6.0]})
Y = pd.Series(["low", "low", "up", "up"])


def test_tables_stay_tables():
    inputs, labels = CondensedNeighbours(random_state=0).fit_resample(X, Y)
    assert isinstance(inputs, pd.DataFrame)
    assert list(labels) == list(Y[inputs.index])


def test_fewer_kept_rows_than_neighbours():
    classifier = CondensedNeighbours(n_neighbors=3, random_state=0).fit(X, Y)
    assert_allclose(classifier.predict_proba(X).sum(axis=1), 1.0)


def test_the_base_selects_nothing():
    with pytest.raises(NotImplementedError, match="must define _select"):
        PrototypeClassifier()._select(np.zeros((1, 1)), np.zeros(1))
