"""The work that is left: within the budget, written down at once, one run of each twice.

And as many repeats as the choice needs, whatever interrupts them.
"""

import pytest
from tests.experiment.studies import Fickle, Misbehaving, small_study, with_trouble

from verulam.experiment import DataChoice, LearnerChoice, Results, Store, analyse, make_plan, run
from verulam.experiment._run.queue import RunQueue


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


QUERY = "SELECT run, status, predicted, probabilities FROM runs ORDER BY run"


def until_settled(**changes):
    """Return a study that needs more than two repeats of most of its learners."""
    names = ["majority class", "naive bayes", "logistic regression", "k-nearest neighbours"]
    learners = [LearnerChoice(name) for name in names]
    return small_study(**{"learners": learners, "resampling": "2-5x4-fold", **changes})


def stored(path):
    with Store(path, read_only=True) as store:
        return store.read(QUERY)


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """Return the results of such a study that nobody disturbs."""
    return carry_out(until_settled(), tmp_path_factory.mktemp("calm") / "r.sqlite")


def test_repeats_are_added_and_what_was_not_needed_is_not_left(calm):
    runs = calm.runs()
    repeats = runs.groupby("learner")["repeat"].nunique()
    assert repeats["majority class"] == 2
    assert repeats.max() > 2
    assert calm.status() == {"done": len(runs)}
    assert len(runs) < len(make_plan(until_settled()).runs)
    notes = " ".join(analyse(calm).notes)
    words = f"majority class could not win any more after 2 of {repeats.max()} repeats"
    assert words in notes
    assert "left" not in notes


def test_a_settled_choice_needs_no_more_than_the_first_repeats(tmp_path):
    learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    results = carry_out(until_settled(learners=learners), tmp_path / "r.sqlite")
    assert results.status() == {"done": 2 * 2 * 4}
    assert results.design == "stratified 4-fold cross-validation, repeated 2 times"


def interrupt(monkeypatch, moment):
    """Have the work break off after so many more runs."""
    count, counted = RunQueue._count, []

    def counting(work, outcome):
        counted.append(outcome)
        if len(counted) > moment:
            raise KeyboardInterrupt
        count(work, outcome)

    monkeypatch.setattr(RunQueue, "_count", counting)


@pytest.mark.parametrize("moments", [(3,), (31,), (32,), (35,), (44,), (50,), (10, 15, 10, 6)])
def test_interrupted_repeats_go_on_as_if_nothing_had_happened(calm, tmp_path, monkeypatch, moments):
    path = tmp_path / "r.sqlite"
    for moment in moments:
        with monkeypatch.context() as patch:
            interrupt(patch, moment)
            with pytest.raises(KeyboardInterrupt):
                carry_out(until_settled(), path)
        assert Results(path).status()["left"] > 0
    results = carry_out(until_settled(), path)
    assert results.status() == calm.status()
    assert stored(path).equals(stored(calm.path))
    assert analyse(results).answer == analyse(calm).answer
    assert carry_out(until_settled(), path).status() == calm.status()


def test_repeats_are_the_same_in_several_processes(calm, tmp_path):
    results = carry_out(until_settled(), tmp_path / "r.sqlite", engine="processes", workers=2)
    assert results.status() == calm.status()
    assert stored(results.path).equals(stored(calm.path))


def test_a_budget_of_runs_holds_for_all_repeats_together(calm, tmp_path):
    path = tmp_path / "r.sqlite"
    whole = len(make_plan(until_settled()).runs)
    for runs, done in ((8, 8), (32, 32), (40, 38)):
        results = carry_out(until_settled(budget={"runs": runs}), path)
        assert results.status() == {"done": done, "left": whole - done}
        assert carry_out(until_settled(budget={"runs": runs}), path).status() == results.status()
    # What is left of the third repeat does not count: all are judged by the same rows.
    assert analyse(path).evidence["iris"].repeats == 2
    assert carry_out(until_settled(), path).status() == calm.status()


def test_a_budget_of_time_begins_no_more_repeats(calm, tmp_path):
    path = tmp_path / "r.sqlite"
    results = carry_out(until_settled(budget={"seconds": 1e-6}), path)
    assert results.status()["done"] == 2 * 4 * 4
    assert results.status()["left"] > 0
    known = analyse(results).evidence["iris"]
    assert known.repeats == 2
    assert len(known.names) == 4
    assert carry_out(until_settled(budget={"seconds": 600}), path).status() == calm.status()


def test_who_fails_gets_no_more_repeats(tmp_path):
    learners = [*until_settled().learners, LearnerChoice(Misbehaving("raise"), label="trouble")]
    results = carry_out(until_settled(learners=learners), tmp_path / "r.sqlite")
    runs = results.runs()
    repeats = runs.groupby("learner")["repeat"].nunique()
    assert repeats["trouble"] == 2
    assert repeats.max() > 2
    assert results.status()["failed"] == 8
    found = analyse(results)
    assert found.answer.sentence.startswith("Trouble failed in 8 of 8 runs and was left out")


def test_each_data_set_has_as_many_repeats_as_it_needs(tmp_path):
    data = [DataChoice("iris"), DataChoice("breast_cancer")]
    names = ["majority class", "naive bayes", "logistic regression", "k-nearest neighbours"]
    study = until_settled(data=data, learners=[LearnerChoice(name) for name in names])
    results = carry_out(study, tmp_path / "r.sqlite")
    repeats = results.runs().groupby("data")["repeat"].nunique()
    found = analyse(results)
    for label, known in found.evidence.items():
        assert known.repeats == repeats[label]
        assert known.repeats == 5 or known.selection.settled >= 0.95
    assert "left" not in results.status()
