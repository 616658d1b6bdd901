"""Grades of interpretability: one for every learner, by the kind of its model."""

import pytest

from verulam.catalogue import GRADES, entries, entry, grade_of, learners
from verulam.catalogue._entries import Entry
from verulam.parametric import NaiveBayes


@pytest.mark.parametrize("found", entries(), ids=lambda found: found.name)
def test_every_learner_has_a_grade(found):
    assert found.interpretability in GRADES


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("decision tree", "random forest"),
        ("naive bayes", "k-nearest neighbours"),
        ("logistic regression", "support vector machine"),
        ("k-nearest neighbours", "multilayer perceptron"),
        ("nearest mean", "parametric.GaussianClassifier"),
    ],
)
def test_who_is_easier_to_read(better, worse):
    assert entry(better).interpretability > entry(worse).interpretability


def test_private_modules_do_not_matter():
    assert grade_of("sklearn.svm._classes.SVC") == grade_of("sklearn.svm.SVC") == 1
    assert grade_of("sklearn.svm._classes.LinearSVC") == 3


@pytest.mark.parametrize("path", ["", "Learner", "mine.Tree", "sklearn.unheard_of.Tree"])
def test_unknown_learners_have_none(path):
    assert grade_of(path) is None


def test_a_class_may_say_so_itself(monkeypatch):
    monkeypatch.setattr(NaiveBayes, "_interpretability", 1, raising=False)
    assert Entry("n", "verulam.parametric.NaiveBayes", "ours").interpretability == 1


def test_it_is_in_the_table():
    table = learners(task="classification").set_index("name")["interpretability"]
    assert table["decision tree"] == 3
    assert table["random forest"] == 1
