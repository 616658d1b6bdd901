"""The work that is left: within the budget, written down at once, one run of each twice."""

import pytest
from tests.experiment.studies import Fickle, small_study, with_trouble

from verulam.experiment import DataChoice, LearnerChoice, Results, Store, run


def carry_out(study, path, **options):
    return run(study, path, **{"engine": "serial", "progress": False, **options})


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_a_budget_of_runs_can_be_raised(tmp_path, engine):
    path = tmp_path / "r.sqlite"
    for runs, done in ((5, 4), (5, 4), (8, 8), (100, 10)):
        study = small_study(budget={"runs": runs})
        results = carry_out(study, path, engine=engine, workers=2)
        left = {"left": 10 - done} if done < 10 else {}
        assert results.status() == {"done": done, **left}
        complete = results.scores().groupby("fold").size()
        assert (complete == 2).all()


def test_a_budget_of_time_stops_the_study(tmp_path):
    path = tmp_path / "r.sqlite"
    spent = carry_out(small_study(budget={"seconds": 1e-6}), path).status()
    assert spent == {"done": 1, "left": 9}
    assert carry_out(small_study(budget={"seconds": 1e-6}), path).status() == spent
    assert carry_out(small_study(budget={"seconds": 60}), path).status() == {"done": 10}


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_learners_that_are_not_deterministic_are_told(tmp_path, engine):
    learners = [LearnerChoice(Fickle(), label="fickle"), LearnerChoice("naive bayes")]
    data = [DataChoice("iris"), DataChoice("wine")]
    study = small_study(learners=learners, data=data, resampling="2-fold")
    results = carry_out(study, tmp_path / "r.sqlite", engine=engine, workers=1)
    assert results.status() == {"done": 8}
    told = results.unrepeatable()
    assert told[["learner", "difference"]].to_numpy().tolist() == [
        ["fickle", "other predictions the second time"]
    ]


def test_one_run_of_each_contestant_is_tried_twice_and_only_once(tmp_path):
    path = tmp_path / "r.sqlite"
    varied = LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 3]})
    study = small_study(learners=[varied, LearnerChoice("naive bayes")])
    carry_out(study, path, check=False)
    assert checked(path) == 0
    carry_out(study, path)
    assert checked(path) == 3
    carry_out(study, path)
    assert checked(path) == 3
    assert Results(path).unrepeatable().empty


def test_learners_that_never_finish_a_run_are_not_tried_twice(tmp_path):
    path = tmp_path / "r.sqlite"
    assert carry_out(with_trouble("raise"), path).status() == {"done": 2, "failed": 2}
    assert checked(path) == 1


def checked(path):
    with Store(path) as store:
        return len(store.read("SELECT * FROM checks"))


def test_a_study_with_no_runs_left(tmp_path):
    path = tmp_path / "r.sqlite"
    before = carry_out(small_study(), path).runs()
    assert carry_out(small_study(), path).runs().equals(before)
