"""Plans: a table of runs with hashes, shared splits, random order, seeds of their own."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, make_plan
from verulam.experiment._plan.plan import setting_text, training_rows


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
    for run in plan.runs:
        key = (run.split.repeat, run.split.fold)
        by_learner.setdefault(run.contestant, {})[key] = run.split.test.tolist()
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
    for run in plan.runs:
        assert not locked & set(run.split.train.tolist())
        assert not locked & set(run.split.test.tolist())


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
