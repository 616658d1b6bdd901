"""Contestants and responses, read back from a store."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.experiment._identity import describe
from verulam.experiment._store.responses import (
    _place,
    contestant_name,
    is_baseline,
    responses,
)


def test_simplest_first_baselines_before_all(factors):
    found = responses(factors)
    assert found.names == [
        "majority class",
        "parametric.NaiveBayes",
        "k-nearest neighbours (n_neighbors=15)",
        "k-nearest neighbours (n_neighbors=1)",
    ]
    assert [each.baseline for each in found.contestants] == [True, False, False, False]
    assert [dict(each.levels) for each in found.contestants[2:]] == [
        {"n_neighbors": 15},
        {"n_neighbors": 1},
    ]


def test_scores_are_those_of_the_store(factors):
    found = responses(factors)
    stored = factors.scores("error")
    chosen = stored[(stored["learner"] == "majority class") & (stored["share"] == 1.0)]
    table = found.by_split("breast_cancer")
    assert table["majority class"].tolist() == chosen["error"].tolist()
    assert table.shape == (3, 4)
    assert found.test_shares["breast_cancer"] == pytest.approx(1 / 3, abs=1e-3)


def test_means_by_data_set(several):
    found = responses(several)
    assert found.data == ("iris", "wine", "penguins")
    means = found.by_data()
    assert means.index.tolist() == list(found.data)
    for data in found.data:
        np.testing.assert_allclose(means.loc[data], found.by_split(data).mean())


def test_other_measures_afterwards(two):
    error, accuracy = responses(two), responses(two, "accuracy")
    assert accuracy.measure.greater_is_better
    np.testing.assert_allclose(accuracy.by_data(), 1 - error.by_data())


def test_measure_of_another_task(two):
    with pytest.raises(DataError, match=r"'r2' cannot be computed .* for regression"):
        responses(two, "r2")


def test_names():
    assert contestant_name("tree", "") == "tree"
    assert contestant_name("tree", "depth=3") == "tree (depth=3)"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("majority class", True),
        ("mean predictor", True),
        ("naive bayes", False),
        (describe(DummyClassifier()), True),
        (describe(GaussianNB()), False),
    ],
)
def test_baselines(given, expected):
    assert is_baseline(given) is expected


def test_estimators_are_ordered_by_their_labels(make_results):
    from verulam.experiment import LearnerChoice

    learners = [LearnerChoice(GaussianNB()), LearnerChoice(DummyClassifier(), label="nothing")]
    assert responses(make_results(learners, resampling="2-fold")).names == ["nothing", "GaussianNB"]


def test_levels_of_a_range_stand_by_size_and_others_after_them():
    levels = [None, 3.0, "few", 0.5]
    assert sorted(levels, key=lambda level: _place(level, {"low": 0.1, "high": 9.0}))[:2] == [
        0.5,
        3,
    ]
    assert sorted(levels, key=lambda level: _place(level, [3.0, "few"])) == [3.0, "few", None, 0.5]
