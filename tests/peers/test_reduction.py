"""Floating search beside mlxtend's, on the same splits."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from verulam.data import dataset
from verulam.reduction import SubsetSelector

pytestmark = pytest.mark.peers


@pytest.mark.parametrize(("search", "forward"), [("forward", True), ("backward", False)])
def test_steps_are_those_of_mlxtend(search, forward):
    from mlxtend.feature_selection import SequentialFeatureSelector

    wine = dataset("wine")
    rows, labels = wine.inputs.to_numpy(dtype=float)[:, :8], np.asarray(wine.target_values)
    ours = SubsetSelector(GaussianNB(), 3, search=search).fit(rows, labels)
    theirs = SequentialFeatureSelector(
        GaussianNB(), k_features=3, forward=forward, floating=False, scoring="accuracy", cv=5
    ).fit(rows, labels)
    assert tuple(np.flatnonzero(ours.support_)) == theirs.k_feature_idx_


def test_floating_is_at_least_as_good_as_mlxtends():
    from mlxtend.feature_selection import SequentialFeatureSelector

    wine = dataset("wine")
    rows, labels = wine.inputs.to_numpy(dtype=float)[:, :8], np.asarray(wine.target_values)
    ours = SubsetSelector(GaussianNB(), 4, search="floating").fit(rows, labels)
    theirs = SequentialFeatureSelector(
        GaussianNB(), k_features=4, floating=True, scoring="accuracy", cv=5
    ).fit(rows, labels)
    assert ours.score_ >= theirs.k_score_ - 1e-12
