"""Single runs: seeds, stages and times."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from verulam.experiment._learners import NamedLearner
from verulam.experiment._runs import Work, _seeded, carry_out, one_run
from verulam.experiment._splits import Split, Splits
from verulam.measures import measure

SPLIT = Split(0, 1, np.arange(0, 8), np.arange(8, 10))


@pytest.fixture
def work():
    inputs = pd.DataFrame({"x": np.arange(10.0) % 3, "z": np.arange(10.0)})
    return Work(inputs, pd.Series(["a", "b"] * 5), measure("error"), seed=7)


def named(estimator, name="one"):
    return NamedLearner(name, estimator, "")


class Remembers(ClassifierMixin, BaseEstimator):
    seen = ()

    def fit(self, X, y):
        type(self).seen = (list(X["z"]), list(y))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        assert list(X["z"]) == [8.0, 9.0]
        return ["a", "a"]


def test_a_run_sees_its_rows_and_no_others(work):
    run = one_run(work, named(Remembers()), SPLIT)
    assert Remembers.seen == (list(np.arange(8.0)), ["a", "b"] * 4)
    assert run.score == 0.5
    assert (run.repeat, run.fold, run.stage, run.error) == (0, 1, "", "")


def test_seeds_depend_on_name_and_split(work):
    tree = DecisionTreeClassifier()
    later = Split(0, 2, SPLIT.train, SPLIT.test)
    seeds = {
        _seeded(named(tree), 7, SPLIT).random_state,
        _seeded(named(tree, "two"), 7, SPLIT).random_state,
        _seeded(named(tree), 7, later).random_state,
        _seeded(named(tree), 8, SPLIT).random_state,
    }
    assert len(seeds) == 4
    assert _seeded(named(tree), 7, SPLIT).random_state in seeds
    assert tree.random_state is None


def test_seeds_reach_the_parts_but_spare_those_that_were_set():
    forest = BaggingClassifier(DecisionTreeClassifier(random_state=3))
    seeded = _seeded(named(make_pipeline(StandardScaler(), forest)), 7, SPLIT)
    assert isinstance(seeded[-1].random_state, int)
    assert seeded[-1].estimator.random_state == 3


def test_a_failing_score_is_a_row(work):
    broken = measure("error").from_function(lambda *_: 1 / 0, greater_is_better=False)
    run = one_run(Work(work.inputs, work.targets, broken, 7), named(GaussianNB()), SPLIT)
    assert (run.stage, run.error) == ("score", "ZeroDivisionError: division by zero")
    assert np.isnan(run.score)
    assert run.fit_seconds > 0


def test_an_interrupt_is_not_swallowed(work):
    class Stops(GaussianNB):
        def fit(self, X, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one_run(work, named(Stops()), SPLIT)


def test_runs_arrive_in_order(work):
    splits = Splits(2, 1, (SPLIT, Split(0, 2, SPLIT.test, SPLIT.train)))
    seen = []
    runs = carry_out(work, [named(GaussianNB()), named(GaussianNB(), "two")], splits,
                     finished=seen.append)  # fmt: skip
    assert [(run.learner, run.fold) for run in runs] == [
        ("one", 1), ("one", 2), ("two", 1), ("two", 2),
    ]  # fmt: skip
    assert seen == runs
