"""Data sets and learners of a study, by whatever they are given."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from sklearn.naive_bayes import GaussianNB

from verulam.base import DataError
from verulam.catalogue import entry
from verulam.data import dataset
from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
from verulam.experiment._study.choices import (
    DEFAULT_LEARNERS,
    data_choices,
    default_learners,
    labelled_learners,
    learner_choices,
)


def test_bare_names_and_estimators_are_a_study():
    learners = ["naive bayes", GaussianNB()]
    study = Study("bare", data=["iris"], learners=learners, resampling="2-fold")
    assert str(make_plan(study)).startswith("bare: 4 runs = 2 settings of learners x 1 data set")
    chosen = [LearnerChoice(each) for each in learners]
    chosen = Study("bare", [DataChoice("iris")], chosen, resampling="2-fold")
    assert chosen.to_json() == study.to_json()


def test_every_form_of_a_learner():
    own = GaussianNB()
    mapping = learner_choices({"a": "naive bayes", "b": own})
    pairs = learner_choices([("a", "naive bayes"), ("b", own)])
    assert [(each.label, each.learner) for each in mapping] == [("a", "naive bayes"), ("b", own)]
    assert [(each.label, each.learner) for each in pairs] == [("a", "naive bayes"), ("b", own)]
    choice = LearnerChoice("naive bayes", parameters={"alpha": 1.0})
    assert learner_choices(choice) == (choice,)
    named = learner_choices([("mine", choice)])[0]
    assert (named.label, named.parameters) == ("mine", {"alpha": 1.0})
    assert learner_choices("naive bayes")[0].learner == "naive bayes"
    assert learner_choices(own)[0].learner is own


def test_every_form_of_a_data_set():
    iris = dataset("iris")
    frame = pd.DataFrame({"x": [1], "y": [2]})
    given = ["iris", Path("a.csv"), frame, iris, DataChoice("wine")]
    assert [each.source for each in data_choices(given)][:2] == ["iris", Path("a.csv")]
    assert data_choices(frame)[0].source is frame
    assert data_choices(iris)[0].source is iris
    table = pa.table({"x": [1], "y": [2]})
    assert data_choices([table, "iris"])[0].source is table


@pytest.mark.parametrize(
    ("data", "learners", "message"),
    [
        ([3], ["naive bayes"], r"data\[0\]: got int; expected the name of a data set, a file"),
        (["iris"], [GaussianNB], r"learners\[0\]: got the class GaussianNB; expected the name"),
        (["iris"], ["naive bayes", 3], r"learners\[1\]: got int; expected the name of a learner"),
        ([], ["naive bayes"], "data: at least one is needed"),
        (["iris"], {}, "learners: at least one is needed"),
    ],
)
def test_what_is_neither(data, learners, message):
    with pytest.raises(DataError, match=message):
        Study("wrong", data, learners)


def test_one_column_to_leave_out_may_be_a_word():
    assert DataChoice("iris", leave_out="petal_width_cm").leave_out == ("petal_width_cm",)


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
    assert notice.startswith("The support vector machine is left out: 5001 rows")
