"""Tuned contestants of a study: the same budget, the training rows alone, stored with the run."""

import json
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, TunedLearner, Tuning, make_plan, run
from verulam.experiment._run.execute import execute
from verulam.measures import Measure

NEIGHBOURS = LearnerChoice("k-nearest neighbours")
BAYES = LearnerChoice("naive bayes")


def tuned_study(**changes):
    given = {
        "learners": [LearnerChoice("majority class"), BAYES, NEIGHBOURS],
        "resampling": "2-fold",
        "tuning": {"budget": 4, "folds": 2},
    }
    return small_study(**{**given, **changes})


def by_label(plan):
    return {each.label: each for each in plan.contestants[0]}


def test_every_competitor_gets_the_same_budget():
    plan = make_plan(tuned_study())
    tuned = by_label(plan)
    assert not tuned["majority class"].tuned
    assert tuned["parametric.NaiveBayes"].tuned == ("alpha", "variance_floor")
    assert tuned["k-nearest neighbours"].estimator.prefix == "kneighborsclassifier__"
    assert plan.notices == ("Nothing is tuned of majority class.",)
    assert str(plan).endswith("with a budget of 4 settings in 2 folds (9 fits a run)")


def test_what_is_given_is_not_tuned():
    fixed = LearnerChoice("k-nearest neighbours", label="a", parameters={"n_neighbors": 3})
    varied = LearnerChoice("k-nearest neighbours", label="b", factors={"n_neighbors": [1, 3]})
    never = LearnerChoice("k-nearest neighbours", label="c", tune=False)
    own = LearnerChoice("k-nearest neighbours", label="d", tune={"p": [1, 2]})
    tuned = by_label(make_plan(tuned_study(learners=[fixed, varied, never, own])))
    assert [tuned[label].tuned for label in "abcd"] == [("weights",), ("weights",), (), ("p",)]


def test_learners_of_your_own():
    pipeline = make_pipeline(StandardScaler(), KNeighborsClassifier())
    space = {"kneighborsclassifier__n_neighbors": [1, 5]}
    learners = [
        LearnerChoice(KNeighborsClassifier()),
        LearnerChoice(pipeline, label="pipeline", tune=space),
    ]
    tuned = by_label(make_plan(tuned_study(learners=learners)))
    assert tuned["KNeighborsClassifier"].tuned == ("n_neighbors", "weights")
    assert tuned["pipeline"].estimator.prefix == ""


def test_runs_are_identified_by_their_tuning_too():
    plain = make_plan(tuned_study(tuning=None)).table().set_index("learner")["run"]
    ids = set(plain)
    for changes in (
        {},
        {"tuning": Tuning(budget=5, folds=2)},
        {"tuning": Tuning("grid", budget=4, folds=2)},
        {"measures": ["log_loss"]},
        {"learners": [BAYES, LearnerChoice("k-nearest neighbours", tune={"p": [1, 2]})]},
    ):
        runs = make_plan(tuned_study(**changes)).table().set_index("learner")["run"]
        assert not set(runs.loc["k-nearest neighbours"]) & ids
        ids |= set(runs)
    again = make_plan(tuned_study()).table().set_index("learner")["run"]
    assert set(again.loc["majority class"]) == set(plain.loc["majority class"])


class Watched(KNeighborsClassifier):
    """Notes the rows that it is given, by a column that numbers them."""

    seen: ClassVar[list] = []

    def fit(self, X, y):
        self.seen.append(X["number"].to_numpy())
        return super().fit(X, y)


@pytest.mark.parametrize("resampling", ["2-fold", "out-of-bag 2"])
def test_nothing_outside_the_training_rows_is_touched(resampling):
    from verulam.data import dataset

    table = dataset("iris").table.assign(number=np.arange(150.0))
    data = [DataChoice(table, target="species")]
    learners = [LearnerChoice(Watched(), tune={"n_neighbors": [1, 3, 5, 7]})]
    plan = make_plan(tuned_study(data=data, learners=learners, resampling=resampling))
    Watched.seen.clear()
    outcome = execute(plan, plan.runs[0])
    train = Counter(plan.runs[0].split.train.tolist())
    # Before them is the first use of the learner.
    *inner, last = (Counter(rows) for rows in Watched.seen[-9:])
    assert outcome.status == "done"
    assert last == train
    for rows in inner:
        assert 0.3 < len(rows) / len(train) < 0.7
        # What is not learnt from judges: all copies of a row are on the same side.
        assert all(count == train[row] for row, count in rows.items())


def test_what_was_chosen_is_stored_with_the_run(tmp_path):
    results = run(tuned_study(), tmp_path / "r.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 6}
    table = results.tuning()
    assert table["learner"].value_counts().to_dict() == {
        "k-nearest neighbours": 2,
        "parametric.NaiveBayes": 2,
    }
    assert (table["settings"] == 4).all()
    assert (table["fits"] == 9).all()
    for row in table.to_dict("records"):
        scores = [score for _, _, score in row["trials"]]
        assert len(scores) == 4
        assert row["score"] == min(scores)
        assert [row["chosen"], 1.0, row["score"]] in row["trials"]
    assert json.loads(tuned_study().to_json())["tuning"] == {
        "method": "random",
        "budget": 4,
        "folds": 2,
        "measure": None,
    }


def test_engines_agree_on_what_was_chosen(tmp_path):
    study = tuned_study(learners=[BAYES, NEIGHBOURS])
    tables = [
        run(study, tmp_path / f"{engine}.sqlite", engine=engine, workers=2, progress=False).tuning()
        for engine in ("serial", "processes")
    ]
    first, second = (table.drop(columns="seconds") for table in tables)
    assert first.equals(second)


def test_studies_without_tuning_have_none(tmp_path):
    results = run(small_study(), tmp_path / "r.sqlite", engine="serial", progress=False)
    assert results.tuning().empty


def test_groups_reach_the_tuning():
    learners = [LearnerChoice("ridge regression")]
    data = [DataChoice("grunfeld", groups="firm")]
    plan = make_plan(tuned_study(data=data, learners=learners, resampling="3-fold"))
    groups = []

    class Spy(TunedLearner):
        def fit(self, X, y, groups=None):
            self._note(groups)
            return super().fit(X, y, groups)

        _note = groups.append

    contestant = plan.contestants[0][0]
    spy = Spy(**contestant.estimator.get_params(deep=False))
    object.__setattr__(contestant, "estimator", spy)
    assert execute(plan, plan.runs[0]).status == "done"
    assert len(set(groups[0])) in (7, 8)


def test_measures_of_your_own():
    mine = Measure.from_function(by_luck, greater_is_better=True, name="luck")
    plan = make_plan(tuned_study(measures=[mine]))
    assert by_label(plan)["k-nearest neighbours"].estimator.measure is mine
    assert execute(plan, plan.runs[0]).status == "done"


def by_luck(targets, predicted):
    return 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tuning": None}, r"learners\[0\].tune: needs a table \[tuning\]"),
        ({"factors": {"p": [1, 2]}}, r"learners\[0\].tune.p: is a factor already"),
        ({"tune": {"q": [1, 2]}}, "has no parameter 'q'; it has algorithm, leaf_size"),
        ({"tune": {"p": 3}}, r"learners\[0\].tune.p: 3; expected a list"),
        ({"tune": True}, r"learners\[0\].tune: True; name the parameters"),
    ],
)
def test_bad_tuning(changes, message):
    how = {"tuning": changes.pop("tuning")} if "tuning" in changes else {}
    learner = LearnerChoice("k-nearest neighbours", **{"tune": {"p": [1, 2]}, **changes})
    with pytest.raises(DataError, match=message):
        make_plan(tuned_study(learners=[learner], **how))


def test_a_budget_below_the_design_of_a_surface_is_refused_before_any_run():
    how = {"method": "response surface", "budget": 4, "folds": 2}
    learners = [NEIGHBOURS, LearnerChoice("support vector machine")]
    message = r"tuning\.budget: 4; .* at least 9 settings for .*support vector machine\."
    with pytest.raises(DataError, match=message):
        make_plan(tuned_study(learners=learners, tuning=how))
    assert len(make_plan(tuned_study(learners=learners, tuning=how | {"budget": 9})))


def test_a_budget_below_the_smallest_grid_is_refused_before_any_run():
    tuned = LearnerChoice("k-nearest neighbours", tune={"n_neighbors": [1, 3, 5, 7, 9]})
    how = {"method": "grid", "budget": 4}
    with pytest.raises(DataError, match=r"tuning\.budget: 4; .* at least 5 settings"):
        make_plan(tuned_study(learners=[tuned], tuning=how))
    assert len(make_plan(tuned_study(learners=[tuned], tuning=how | {"budget": 5})))
