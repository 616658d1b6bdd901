"""What is said of the designs of a study."""

import json

from verulam.experiment import DataChoice, LearnerChoice, Study, make_plan
from verulam.experiment._plan.remarks import alias_tables, design_remarks

TREE = {
    "max_depth": [1, 3],
    "min_samples_leaf": [1, 9],
    "criterion": ["gini", "entropy"],
    "splitter": ["best", "random"],
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
    assert "max_depth x min_samples_leaf from criterion x splitter" in line
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
