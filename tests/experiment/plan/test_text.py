"""The sentence of a plan: its numbers multiply to the number of runs, or it does not say so."""

import json

from tests.experiment.studies import small_study

from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
from verulam.experiment._plan.text import alias_tables, design_remarks


def test_contestants_are_counted_once_for_all_data_sets():
    names = ["iris", "wine", "penguins"]
    plan = make_plan(small_study(data=[DataChoice(name) for name in names]))
    assert "30 runs = 2 settings of learners x 3 data sets (iris, wine, penguins) x 5" in str(plan)


def test_shares_and_replications_are_factors_of_their_own():
    plan = make_plan(small_study(training_shares=[0.5, 1.0], replications=3))
    assert "60 runs = 2 settings of learners x 1 data set (iris) x 5 splits x 2 training" in str(
        plan
    )
    assert "shares x 3 replications, 5-fold" in str(plan)


def test_numbers_that_differ_are_no_product():
    factors = {"data_set": ["iris"], "training_share": [0.5, 1.0]}
    learners = [LearnerChoice("nearest mean", factors=factors), LearnerChoice("naive bayes")]
    plan = make_plan(small_study(data=[DataChoice("iris"), DataChoice("wine")], learners=learners))
    assert "20 runs of 1 to 3 settings of learners, 2 data sets (iris, wine), 5 splits" in str(plan)


def test_rows_that_are_locked_away_are_told():
    assert "seed 0, 25% of the rows locked away" in str(make_plan(small_study(test_share=0.25)))
    assert "locked" not in str(make_plan(small_study()))


def test_repeats_that_may_not_be_needed_are_counted_as_the_most():
    text = str(make_plan(small_study(resampling="2-4x5-fold")))
    assert text == (
        "flowers: up to 40 runs = 2 settings of learners x 1 data set (iris) x 20 splits, "
        "2-4x5-fold, seed 0"
    )


TREE = {
    "max_depth": [1, 3],
    "min_samples_leaf": [1, 9],
    "criterion": ["gini", "entropy"],
    "pruning": ["none", "pessimistic"],
    "max_features": [1, 2],
}


def described(factors, design):
    learners = [LearnerChoice("decision tree", factors=factors, design=design)]
    study = Study("trees", [DataChoice("iris")], learners)
    return json.loads(study.to_json())


def first(count):
    return {name: TREE[name] for name in list(TREE)[:count]}


def test_every_combination_needs_no_remark():
    assert design_remarks(described(TREE, None)) == []
    assert alias_tables(described(TREE, "one at a time")) == {}


def test_the_caveat_of_a_design():
    (line,) = design_remarks(described(first(2), "one at a time"))
    assert line.startswith(
        "decision tree, one at a time design of max_depth, min_samples_leaf: Int"
    )


def test_pairs_are_named_once_and_cut_short():
    (line,) = design_remarks(described(first(4), "fractional"))
    assert line.count(" from ") == 3
    assert "max_depth x min_samples_leaf from criterion x pruning" in line
    (line,) = design_remarks(described(TREE, {"kind": "fractional", "resolution": 3}))
    assert "and " in line.rpartition(";")[2]
    assert line.endswith("more pairs.")


def test_a_fraction_of_resolution_five_confuses_no_pairs():
    (line,) = design_remarks(described(TREE, {"kind": "fractional", "resolution": 5}))
    assert "told from one another, but not from interactions of three or more" in line


def test_the_plan_has_the_table():
    study = Study(
        "trees",
        [DataChoice("iris")],
        [LearnerChoice("decision tree", factors=first(4))],
        design="fractional",
    )
    plan = make_plan(study)
    table = plan.aliases["decision tree"].set_index("effect")
    assert table.loc["AB", "aliases"] == "CD"
    assert table.loc["AB", "factors"] == "max_depth x min_samples_leaf"
    assert len(plan.notices) == 1
