"""Plans: a table of runs with hashes, shared splits, random order, seeds of their own."""

import json
from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, TunedLearner, Tuning, make_plan, run
from verulam.experiment._plan.records import training_rows
from verulam.experiment._run.execute import execute
from verulam.experiment._text import setting_text
from verulam.measures import Measure


def test_every_combination_is_there_once():
    learners = [
        LearnerChoice("majority class"),
        LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 3], "p": [1, 2]}),
    ]
    plan = make_plan(small_study(data=[DataChoice("iris"), DataChoice("wine")], learners=learners))
    table = plan.table()
    assert len(plan) == len(table) == 2 * (1 + 4) * 5
    assert table["run"].is_unique
    assert (table.groupby(["data", "learner", "setting"]).size() == 5).all()
    assert set(table["setting"]) == {
        "",
        "n_neighbors=1, p=1",
        "n_neighbors=1, p=2",
        "n_neighbors=3, p=1",
        "n_neighbors=3, p=2",
    }


def test_same_study_same_plan_other_seed_other_plan():
    first, again = make_plan(small_study()).table(), make_plan(small_study()).table()
    assert first.equals(again)
    other = make_plan(small_study(seed=1)).table()
    assert not set(first["run"]) & set(other["run"])


def test_order_is_random_not_learner_by_learner():
    table = make_plan(small_study(resampling="10-fold")).table()
    assert len(set(table["learner"][:10])) == 2


def test_learners_share_the_splits():
    plan = make_plan(small_study())
    by_learner = {}
    for planned_run in plan.runs:
        key = (planned_run.split.repeat, planned_run.split.fold)
        by_learner.setdefault(planned_run.contestant, {})[key] = planned_run.split.test.tolist()
    assert by_learner[0] == by_learner[1]


def test_a_grown_study_keeps_its_old_runs():
    small = make_plan(small_study()).table()
    grown = make_plan(
        small_study(learners=[*small_study().learners, LearnerChoice("logistic regression")])
    ).table()
    assert set(small["run"]) < set(grown["run"])
    seeds = dict(zip(grown["run"], grown["seed"], strict=True))
    assert [seeds[run] for run in small["run"]] == small["seed"].tolist()


def test_locked_rows_are_in_no_run():
    plan = make_plan(small_study(test_share=1 / 3))
    locked = set(plan.data[0].locked.tolist())
    assert 45 <= len(locked) <= 55
    for planned_run in plan.runs:
        assert not locked & set(planned_run.split.train.tolist())
        assert not locked & set(planned_run.split.test.tolist())


def test_smaller_shares_are_parts_of_larger_ones():
    plan = make_plan(small_study(training_shares=[0.1, 0.5, 1.0]))
    assert len(plan) == 2 * 5 * 3
    first = [run for run in plan.runs if run.contestant == 0 and run.split.fold == 0]
    rows = {run.share: set(training_rows(run).tolist()) for run in first}
    assert rows[0.1] < rows[0.5] < rows[1.0]
    assert [len(rows[share]) for share in (0.1, 0.5, 1.0)] == [12, 60, 120]


def test_mixed_tables_are_prepared_in_the_pipeline():
    plan = make_plan(small_study(data=[DataChoice("penguins")]))
    words = {c.label: c.preparation for c in plan.contestants[0]}
    assert words["parametric.NaiveBayes"] == "the table as it is"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": [DataChoice("iris"), DataChoice("iris")]}, "data: 'iris' is there twice"),
        (
            {"learners": [LearnerChoice("naive bayes")] * 2},
            "learners: 'parametric.NaiveBayes' is there twice",
        ),
        ({"data": [DataChoice("diabetes")]}, "is for classification.*asks for regression"),
        (
            {"learners": [LearnerChoice("naive bayes", parameters={"depth": 3})]},
            "has no parameter 'depth'; it has alpha",
        ),
    ],
)
def test_bad_studies(changes, message):
    with pytest.raises(DataError, match=message):
        make_plan(small_study(**changes))


def test_estimators_of_your_own():
    from sklearn.naive_bayes import GaussianNB

    plan = make_plan(small_study(learners=[LearnerChoice(GaussianNB(), label="mine")]))
    assert set(plan.table()["learner"]) == {"mine"}
    assert_array_equal(np.unique(plan.table()["training_rows"]), [120])


def test_replications_have_seeds_of_their_own_where_there_is_chance():
    learners = [
        LearnerChoice("naive bayes"),
        LearnerChoice("decision tree"),
        LearnerChoice("decision tree", label="fixed", parameters={"random_state": 3}),
    ]
    once = make_plan(small_study(learners=learners))
    plan = make_plan(small_study(learners=learners, replications=3))
    assert len(plan) == 45
    assert "x 5 splits x 3 replications" in str(plan)
    runs = plan.table().groupby("learner")["run"].nunique()
    assert runs.to_dict() == {"decision tree": 15, "fixed": 5, "parametric.NaiveBayes": 5}
    assert set(once.table()["run"]) < set(plan.table()["run"])


def test_preparation_is_a_factor_of_all_learners():
    learners = [
        LearnerChoice("majority class"),
        LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 5]}),
    ]
    ways = ["standardised", "unit range"]
    plan = make_plan(small_study(learners=learners, preparations=ways))
    words = {setting_text(c.setting): c.preparation for c in plan.contestants[0]}
    assert words == {
        "": "the table as it is",
        "n_neighbors=1, preparation=standardised": "numbers scaled",
        "n_neighbors=5, preparation=standardised": "numbers scaled",
        "n_neighbors=1, preparation=unit range": "numbers brought between 0 and 1",
        "n_neighbors=5, preparation=unit range": "numbers brought between 0 and 1",
    }
    assert plan.table()["run"].is_unique


def test_parameters_that_a_learner_cannot_have_are_refused_before_anything_runs():
    learner = LearnerChoice("k-nearest neighbours", parameters={"n_neighbors": -1})
    with pytest.raises(DataError, match=r"'k-nearest neighbours': The 'n_neighbors' parameter"):
        make_plan(small_study(learners=[learner]))
    factors = LearnerChoice("parametric.NaiveBayes", factors={"alpha": [1.0, -1.0]})
    with pytest.raises(DataError, match=r"NaiveBayes': The 'alpha' parameter"):
        make_plan(small_study(learners=[factors]))


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
        ({"tune": {"q": [1, 2]}}, "has no parameter 'q'; it has column_weights, metric"),
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
