"""Naming learners and fitting them to the table."""

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline

from verulam.catalogue import entry
from verulam.data import dataset
from verulam.experiment._learners import DEFAULT_LEARNERS, named_learners


@pytest.fixture(scope="module")
def iris():
    return dataset("iris")


def test_names(iris):
    given = {"mine": GaussianNB(), "theirs": "logistic regression"}
    assert [item.name for item in named_learners(given, iris, iris.inputs)] == ["mine", "theirs"]
    listed = named_learners(["Naive Bayes", GaussianNB()], iris, iris.inputs)
    assert [item.name for item in listed] == ["parametric.NaiveBayes", "GaussianNB"]
    assert [item.name for item in named_learners("naive bayes", iris, iris.inputs)] == [
        "parametric.NaiveBayes"
    ]
    assert [item.name for item in named_learners(GaussianNB(), iris, iris.inputs)] == ["GaussianNB"]


def test_borrowed_ones_are_scaled_and_given_ones_left_alone(iris):
    given = {"borrowed": "logistic regression", "given": LogisticRegression()}
    borrowed, as_given = named_learners(given, iris, iris.inputs)
    assert isinstance(borrowed.estimator, Pipeline)
    assert borrowed.preparation == "numbers scaled"
    assert isinstance(as_given.estimator, LogisticRegression)


def test_given_learners_are_cloned(iris):
    fitted = GaussianNB().fit(iris.inputs, iris.target_values)
    named = named_learners({"nb": fitted}, iris, iris.inputs)[0]
    assert not hasattr(named.estimator, "classes_")


def test_a_pipeline_is_left_alone(iris):
    pipeline = make_pipeline(LogisticRegression())
    named = named_learners({"own": pipeline}, iris, pd.DataFrame({"x": [None, 1.0]}))[0]
    assert named.estimator.get_params().keys() == pipeline.get_params().keys()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_defaults_exist_and_start_with_the_baseline(task):
    names = DEFAULT_LEARNERS[task]
    assert all(entry(name).abilities.task == task for name in names)
    assert entry(names[0]).path.startswith("sklearn.dummy.")
