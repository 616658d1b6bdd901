"""Small studies and misbehaving learners that several test modules share."""

import os
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from verulam.experiment import DataChoice, LearnerChoice, Study


class Misbehaving(ClassifierMixin, BaseEstimator):
    """Does on fitting or predicting what learners should not do."""

    def __init__(self, how="raise"):
        self.how = how

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.how == "raise":
            raise RuntimeError("out of\n  luck")
        if self.how == "hang at first use" or (self.how == "hang" and len(X) > 60):
            time.sleep(60)
        if self.how == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "eat":
            self.food = np.ones(10**9)
        return self

    def predict(self, X):
        if self.how == "shape":
            return np.zeros((len(X), 2))
        if self.how == "nan":
            return np.full(len(X), np.nan)
        if self.how == "label":
            return np.full(len(X), "nonsense")
        return np.full(len(X), self.classes_[0])


class Fickle(GaussianNB):
    """Gives other probabilities every time, whatever the seed."""

    def predict_proba(self, X):
        # Not from a count: a worker that takes the place of another would begin it anew.
        return np.random.default_rng().dirichlet(np.ones(len(self.classes_)), len(X))


def small_study(**changes):
    """Return a study of two quick learners on iris, in five folds."""
    given = {
        "name": "flowers",
        "data": [DataChoice("iris")],
        "learners": [LearnerChoice("majority class"), LearnerChoice("parametric.NaiveBayes")],
        "resampling": "5-fold",
    }
    return Study(**{**given, **changes})


def with_trouble(how, **changes):
    """Return a study in which one learner misbehaves and one does not."""
    learners = [LearnerChoice(Misbehaving(how), label="trouble"), LearnerChoice(DummyClassifier())]
    return small_study(learners=learners, resampling="2-fold", **changes)


#: What turns the file of a store into one of the first schema.
FIRST_SCHEMA = """
ALTER TABLE planned RENAME TO later;
CREATE TABLE planned (
    study TEXT NOT NULL, run TEXT NOT NULL, position INTEGER NOT NULL, data TEXT NOT NULL,
    learner TEXT NOT NULL, setting TEXT NOT NULL, levels TEXT NOT NULL,
    preparation TEXT NOT NULL, split TEXT NOT NULL, share REAL NOT NULL, seed INTEGER NOT NULL,
    PRIMARY KEY (study, run)) WITHOUT ROWID;
INSERT INTO planned SELECT study, run, position, data, learner, setting, levels, preparation,
    split, share, seed FROM later;
DROP TABLE later;
UPDATE facts SET value = '1' WHERE name = 'schema';
"""

#: A program that carries out a study in two processes; the store is its argument.
KILLABLE = """
import sys
from verulam.experiment import DataChoice, LearnerChoice, Study, run

learners = [LearnerChoice("majority class"), LearnerChoice("parametric.NaiveBayes"),
            LearnerChoice("random forest", parameters={"n_estimators": 5})]
study = Study("killed", [DataChoice("iris"), DataChoice("wine")], learners, resampling="10-fold")
print("ready", flush=True)
run(study, sys.argv[1], engine="processes", workers=2, progress=False)
"""


#: A program whose last runs take for ever; the engine and the store are its arguments.
ENDLESS = """
import sys
import time
from sklearn.dummy import DummyClassifier
from verulam.experiment import DataChoice, LearnerChoice, Study, run

class Endless(DummyClassifier):
    def fit(self, X, y):
        if self.constant == "endless" and len(X) > 60:
            time.sleep(600)
        return super().fit(X, y)

if __name__ == "__main__":
    learners = [LearnerChoice(Endless(constant=c), label=str(c)) for c in ("endless", None)]
    study = Study("endless", [DataChoice("iris")], learners, resampling="2-fold", seed=SEED)
    print("ready", flush=True)
    run(study, sys.argv[2], engine=sys.argv[1], workers=1, progress=False)
"""
