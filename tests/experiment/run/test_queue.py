"""The work that is left: within the budget, written down at once, one run of each twice.

And as many repeats as the choice needs, whatever interrupts them.
"""

import sqlite3
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.experiment.studies import Fickle, Misbehaving, small_study, with_trouble

from verulam.experiment import (
    DataChoice,
    LearnerChoice,
    Results,
    Store,
    Study,
    analyse,
    make_plan,
    run,
)
from verulam.experiment._run.queue import SETTLED, AdaptiveRepeats, RunQueue


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
    assert analyse(calm).race.startswith(f"Unable to win after 2 of {repeats.max()} repeats")


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
    assert found.answer.sentence.startswith("trouble failed in 8 of 8 runs and was left out")


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


BASELINE, BAYES, LOGISTIC = "majority class", "parametric.NaiveBayes", "logistic regression"
TREE = LearnerChoice("decision tree", parameters={"max_depth": 2})
LEARNERS = (BASELINE, BAYES, LOGISTIC, TREE)


def table_of(seed, n_rows=60):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    y = X[:, 0] + X[:, 1] + random.normal(size=n_rows) > 0
    return pd.DataFrame(X, columns=list("abcd")).assign(y=np.where(y, "yes", "no"))


#: A table on which two repeats settle the choice, one that takes some more, and a toss-up.
CLEAR, LATER, TOSS_UP = table_of(2), table_of(7), table_of(0)


def study_of(*tables, learners=LEARNERS, resampling="2-5x3-fold", groups=None, **options):
    data = [
        DataChoice(table, target="y", label=f"table {place}", groups=groups)
        for place, table in enumerate(tables)
    ]
    return Study("repeated", data, list(learners), resampling=resampling, **options)


def carried_out(study, path, **options):
    return run(study, path, engine="serial", progress=False, **options)


def repeats_of(results):
    """Return the number of repeats of each learner."""
    runs = results.runs()
    return (runs.groupby("learner")["repeat"].max() + 1).to_dict()


def run_keys(path):
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT run, started FROM runs").fetchall()
    connection.close()
    return set(rows)


@pytest.fixture(scope="module")
def tossed(tmp_path_factory):
    """Return the results of a study that never settles."""
    return carried_out(study_of(TOSS_UP), tmp_path_factory.mktemp("tossed") / "runs.sqlite")


class TestStops:
    def test_where_the_choice_is_settled(self, tmp_path):
        results = carried_out(study_of(CLEAR), tmp_path / "runs.sqlite")
        assert set(repeats_of(results).values()) == {2}
        assert analyse(results).evidence["table 0"].selection.settled >= SETTLED

    def test_later_where_it_is_not(self, tmp_path):
        results = carried_out(study_of(LATER), tmp_path / "runs.sqlite")
        known = analyse(results).evidence["table 0"]
        assert 2 < known.repeats < 5
        assert known.selection.settled >= SETTLED

    def test_at_the_last_repeat(self, tossed):
        assert max(repeats_of(tossed).values()) == 5
        assert analyse(tossed).evidence["table 0"].repeats == 5

    def test_at_once_for_one_contestant(self, tmp_path):
        results = carried_out(study_of(TOSS_UP, learners=[BAYES]), tmp_path / "runs.sqlite")
        assert repeats_of(results) == {BAYES: 2}

    def test_at_once_for_copies(self, tmp_path):
        copies = [LearnerChoice(BAYES, label="one"), LearnerChoice(BAYES, label="other")]
        results = carried_out(study_of(TOSS_UP, learners=copies), tmp_path / "runs.sqlite")
        assert set(repeats_of(results).values()) == {2}

    def test_where_nobody_has_a_score(self, tmp_path):
        trouble = LearnerChoice(Misbehaving("raise"), label="trouble")
        results = carried_out(study_of(CLEAR, learners=[trouble]), tmp_path / "runs.sqlite")
        assert results.status() == {"failed": 6}

    @pytest.mark.filterwarnings("ignore:The relative square error is undefined")
    def test_where_no_score_can_be_computed(self, tmp_path):
        constant = CLEAR.assign(y=1.5)
        learners = ["mean predictor", "linear regression"]
        study = study_of(constant, learners=learners, measures=["r2"])
        assert carried_out(study, tmp_path / "runs.sqlite").status() == {"done": 12}

    def test_never_where_repeats_are_fixed(self, tmp_path):
        results = carried_out(study_of(CLEAR, resampling="4x3-fold"), tmp_path / "runs.sqlite")
        assert set(repeats_of(results).values()) == {4}


def test_later_repeats_in_the_store_do_not_count_yet(tossed):
    """A study that goes on after it was killed must decide as if nothing had happened."""
    adaptive = AdaptiveRepeats(make_plan(study_of(TOSS_UP)), tossed.path, tossed.study)
    for count in (2, 3, 5):
        assert adaptive._evidence(count)["table 0"].repeats == count


def test_decisions_follow_what_the_study_wishes(tmp_path):
    wishes = {"rule": "best mean", "matters": 0.3, "alpha": 0.2}
    study = study_of(CLEAR, learners=[BASELINE, BAYES], analysis=wishes, measures=["accuracy"])
    results = carried_out(study, tmp_path / "runs.sqlite")
    adaptive = AdaptiveRepeats(make_plan(study), results.path, results.study)
    known = adaptive._evidence(2)["table 0"]
    assert (known.rule, known.margin, known.alpha) == ("best mean", 0.3, 0.2)
    assert known.measure.name == "accuracy"


class TestRacing:
    def test_who_cannot_win_any_more_gets_no_more_repeats(self, tossed):
        repeats = repeats_of(tossed)
        assert repeats[BASELINE] == 2
        assert repeats[BAYES] == repeats[LOGISTIC] == 5
        known = analyse(tossed).evidence["table 0"]
        assert known.table.loc[BASELINE, "repeats"] == 2
        assert known.table.loc[known.selection.name, "repeats"] == 5
        assert known.table.loc[known.best, "repeats"] == 5

    def test_failed_contestants_get_none_either(self, tmp_path):
        trouble = LearnerChoice(Misbehaving("raise"), label="trouble")
        learners = [trouble, *LEARNERS]
        results = carried_out(study_of(TOSS_UP, learners=learners), tmp_path / "runs.sqlite")
        repeats = repeats_of(results)
        assert repeats["trouble"] == 2
        assert repeats[BAYES] == 5

    def test_nobody_drops_out_where_splits_are_compared(self, tmp_path):
        grouped = TOSS_UP.assign(patient=np.arange(60) // 2)
        study = study_of(grouped, groups="patient", measures=["f_score"])
        results = carried_out(study, tmp_path / "runs.sqlite")
        repeats = set(repeats_of(results).values())
        assert len(repeats) == 1
        known = analyse(results).evidence["table 0"]
        assert known.losses is None
        assert set(known.names) == {BASELINE, BAYES, LOGISTIC, "decision tree"}
        assert {known.repeats} == repeats != {2}


class TestPlan:
    def test_spared_runs_leave_it(self, tossed, tmp_path):
        planned = len(make_plan(study_of(TOSS_UP)).runs)
        status = tossed.status()
        assert set(status) == {"done"}
        assert status["done"] == 3 * (2 + 5 + 5 + 5) < planned
        settled = carried_out(study_of(CLEAR), tmp_path / "runs.sqlite")
        assert settled.status() == {"done": 24}
        assert len(settled.runs()) == 24

    def test_running_again_runs_nothing_and_says_the_same(self, tmp_path):
        study, path = study_of(LATER), tmp_path / "runs.sqlite"
        first = analyse(carried_out(study, path))
        before = run_keys(path)
        again = carried_out(study, path)
        assert run_keys(path) == before
        assert again.status() == first.results.status()
        assert analyse(again).answer == first.answer

    @pytest.mark.parametrize(
        "keep", ["fold < 1 OR repeat < 1", "repeat < 2", "repeat < 3 OR fold < 2"]
    )
    def test_an_interrupted_study_ends_as_one_that_nobody_disturbed(self, tossed, tmp_path, keep):
        study, path = study_of(TOSS_UP), tmp_path / "runs.sqlite"
        carried_out(study, path)
        with sqlite3.connect(path) as connection:
            connection.execute(
                "DELETE FROM runs WHERE run IN (SELECT p.run FROM planned p JOIN splits s USING "
                f"(split) WHERE NOT ({keep}))"
            )
        connection.close()
        left = run_keys(path)
        resumed = carried_out(study, path)
        assert left < run_keys(path)
        assert resumed.status() == tossed.status()
        assert repeats_of(resumed) == repeats_of(tossed)
        assert analyse(resumed).answer == analyse(tossed).answer

    def test_what_an_earlier_study_left_in_the_store_is_used(self, tmp_path):
        path = tmp_path / "runs.sqlite"
        carried_out(study_of(LATER, resampling="5x3-fold"), path, check=False)
        before = run_keys(path)
        results = carried_out(study_of(LATER), path, check=False)
        assert run_keys(path) == before
        alone = carried_out(study_of(LATER), tmp_path / "alone.sqlite")
        assert analyse(results).answer.recommended == analyse(alone).answer.recommended


def test_data_sets_settle_one_by_one(tmp_path, tossed):
    results = carried_out(study_of(CLEAR, TOSS_UP), tmp_path / "runs.sqlite")
    runs = results.runs()
    repeats = runs.groupby(["data", "learner"])["repeat"].max() + 1
    assert (repeats["table 0"] == 2).all()
    assert repeats["table 1"].max() > 2
    assert repeats["table 1", BASELINE] == 2
    assert set(results.status()) == {"done"}


def test_processes_give_the_same_numbers(tossed, tmp_path):
    other = run(
        study_of(TOSS_UP), tmp_path / "runs.sqlite", engine="processes", workers=2, progress=False
    )
    columns = ["learner", "repeat", "fold", "error"]
    serial, parallel = tossed.scores("error")[columns], other.scores("error")[columns]
    assert serial.equals(parallel)
    assert analyse(other).answer == analyse(tossed).answer


class TestDecisions:
    """The decisions alone, on evidence made by hand."""

    @pytest.fixture
    def plan(self):
        return make_plan(study_of(CLEAR, TOSS_UP, learners=[BASELINE, BAYES, LOGISTIC]))

    @pytest.fixture
    def adaptive(self, plan, tmp_path, monkeypatch):
        """Return the decisions, and a mapping with what each data set is made to tell."""
        known = {}
        adaptive = AdaptiveRepeats(plan, tmp_path, "study")
        monkeypatch.setattr(adaptive, "_evidence", lambda _: known)
        return adaptive, known

    @staticmethod
    def evidence(settled=0.5, within=(0.5, 0.5, 0.5), name=BAYES, best=BAYES, **changes):
        names = [BASELINE, BAYES, LOGISTIC]
        table = pd.DataFrame({"probability_within": within}, index=names)
        fields = {
            "selection": SimpleNamespace(name=name, settled=settled),
            "table": table,
            "eligible": tuple(names),
            "best": best,
            "losses": np.zeros((2, 3, 3)),
        }
        return SimpleNamespace(**{**fields, **changes})

    @staticmethod
    def contents(plan, positions):
        return {
            (run.data, plan.contestants[run.data][run.contestant].label, run.split.repeat)
            for run in (plan.runs[place] for place in positions)
        }

    def test_the_first_repeats_come_first(self, adaptive, plan):
        first = self.contents(plan, adaptive[0].first())
        assert {repeat for _, _, repeat in first} == {0, 1}
        assert len(adaptive[0].first()) == 2 * 3 * 3 * 2

    def test_repeat_after_repeat_up_to_the_last(self, adaptive, plan):
        decisions, known = adaptive
        known |= {"table 0": self.evidence(), "table 1": self.evidence()}
        for repeat in (2, 3, 4):
            contents = self.contents(plan, decisions.more())
            assert {number for _, _, number in contents} == {repeat}
            assert len(contents) == 6
        assert decisions.more() == set()

    @pytest.mark.parametrize(("settled", "ends"), [(0.949, False), (0.95, True), (1.0, True)])
    def test_settled_is_settled(self, adaptive, settled, ends):
        decisions, known = adaptive
        known |= {"table 0": self.evidence(settled), "table 1": self.evidence(settled)}
        assert (decisions.more() == set()) == ends

    def test_what_is_settled_stays_so(self, adaptive, plan):
        decisions, known = adaptive
        known |= {"table 0": self.evidence(1.0), "table 1": self.evidence(0.5)}
        assert {data for data, _, _ in self.contents(plan, decisions.more())} == {1}
        known["table 0"] = self.evidence(0.5)
        assert {data for data, _, _ in self.contents(plan, decisions.more())} == {1}

    def test_without_evidence_nothing_goes_on(self, adaptive):
        assert adaptive[0].more() == set()

    def test_the_hopeless_drop_out_for_good(self, adaptive, plan):
        decisions, known = adaptive
        known |= {"table 1": self.evidence(within=(0.009, 0.5, 0.5))}
        assert {name for _, name, _ in self.contents(plan, decisions.more())} == {BAYES, LOGISTIC}
        known |= {"table 1": self.evidence(within=(0.5, 0.5, 0.5))}
        assert {name for _, name, _ in self.contents(plan, decisions.more())} == {BAYES, LOGISTIC}

    def test_one_in_a_hundred_is_not_hopeless(self, adaptive, plan):
        decisions, known = adaptive
        known |= {"table 1": self.evidence(within=(0.01, 0.5, 0.5))}
        assert len(self.contents(plan, decisions.more())) == 3

    def test_neither_the_choice_nor_the_best_drops_out(self, adaptive, plan):
        """With many contestants and no margin, nobody may have one chance in a hundred."""
        decisions, known = adaptive
        known |= {"table 1": self.evidence(within=(0, 0, 0), name=BASELINE, best=LOGISTIC)}
        names = {name for _, name, _ in self.contents(plan, decisions.more())}
        assert names == {BASELINE, LOGISTIC}

    def test_who_failed_drops_out(self, adaptive, plan):
        decisions, known = adaptive
        known |= {"table 1": self.evidence(eligible=(BAYES, LOGISTIC))}
        names = {name for _, name, _ in self.contents(plan, decisions.more())}
        assert names == {BAYES, LOGISTIC}


def test_settings_of_a_factor_race_by_their_names(tmp_path, monkeypatch):
    depths = LearnerChoice("decision tree", factors={"max_depth": [1, 2, 3]})
    plan = make_plan(study_of(TOSS_UP, learners=[depths]))
    names = [f"decision tree (max_depth={depth})" for depth in (1, 2, 3)]
    known = SimpleNamespace(
        selection=SimpleNamespace(name=names[0], settled=0.5),
        table=pd.DataFrame({"probability_within": [0.5, 0.0, 0.5]}, index=names),
        eligible=tuple(names),
        best=names[2],
        losses=np.zeros((2, 3, 3)),
    )
    adaptive = AdaptiveRepeats(plan, tmp_path, "study")
    monkeypatch.setattr(adaptive, "_evidence", lambda _: {"table 0": known})
    settings = {
        plan.contestants[0][plan.runs[place].contestant].setting["max_depth"]
        for place in adaptive.more()
    }
    assert settings == {1, 3}
