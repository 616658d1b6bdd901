"""Naming the learners of a comparison."""

import pytest
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.catalogue import entry
from verulam.experiment._study.learners import DEFAULT_LEARNERS, default_learners, labelled_learners


def labels(learners):
    return [choice.label for choice in labelled_learners(learners)]


def test_names():
    assert labels({"mine": GaussianNB(), "theirs": "logistic regression"}) == ["mine", "theirs"]
    assert labels(["Naive Bayes", GaussianNB()]) == ["naive Bayes", "GaussianNB"]
    assert labels("parametric.NaiveBayes") == labels("naive bayes") == ["naive Bayes"]
    assert labels(GaussianNB()) == ["GaussianNB"]
    assert labels([("a", GaussianNB()), ("b", "naive bayes")]) == ["a", "b"]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_defaults_exist_and_start_with_the_baseline(task):
    names, _ = default_learners(task, 100)
    assert tuple(names) == DEFAULT_LEARNERS[task]
    assert all(entry(name).abilities.task == task for name in names)
    assert entry(names[0]).path.startswith("sklearn.dummy.")


def test_neither_name_nor_estimator():
    with pytest.raises(DataError, match=r"learners\[0\]: got int; expected the name of a learner"):
        labels([3])
    with pytest.raises(ValueError, match="at least one learner"):
        labels([])


def test_slow_learners_are_left_out_of_large_data():
    names, notice = default_learners("classification", 5000)
    assert (tuple(names), notice) == (DEFAULT_LEARNERS["classification"], "")
    names, notice = default_learners("classification", 5001)
    assert "support vector machine" not in names
    assert len(names) == len(DEFAULT_LEARNERS["classification"]) - 1
    assert notice.startswith("support vector machine is left out, because 5001 rows")
