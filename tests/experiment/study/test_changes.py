"""What changed in a study, told part by part."""

import json

import pytest
from sklearn.naive_bayes import GaussianNB
from tests.experiment.studies import small_study

from verulam.experiment import DataChoice, LearnerChoice, Results, run
from verulam.experiment._study.changes import study_changes

NEIGHBOURS = LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 3]})
MORE = LearnerChoice("k-nearest neighbours", factors={"n_neighbors": [1, 3, 5]})


def description(**changes):
    return json.loads(small_study(**changes).to_json())


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({}, {}, []),
        ({}, {"seed": 3}, ["seed: 0 before, now 3"]),
        ({"seed": 3}, {"seed": 0}, ["seed: 3 before, now 0"]),
        ({}, {"question": "Why?"}, ["question: nothing before, now Why?"]),
        (
            {},
            {"resampling": "5x2", "test_share": 0.3},
            ["resampling: 5-fold before, now 5x2", "test_share: 0.0 before, now 0.3"],
        ),
        ({"budget": {"runs": 4}}, {"budget": {"runs": 8}}, ["budget.runs: 4 before, now 8"]),
        (
            {},
            {"data": [DataChoice("iris"), DataChoice("wine")]},
            ["data: with wine"],
        ),
        (
            {"learners": [NEIGHBOURS, LearnerChoice(GaussianNB())]},
            {"learners": [MORE]},
            ["learners: without GaussianNB, k-nearest neighbours with other factors"],
        ),
        (
            {"learners": [NEIGHBOURS, LearnerChoice("naive bayes")]},
            {"learners": [LearnerChoice("naive bayes"), NEIGHBOURS]},
            ["learners: in another order"],
        ),
    ],
)
def test_changes_are_told(before, after, lines):
    assert study_changes(description(**before), description(**after)) == lines


def test_keys_that_an_older_version_did_not_write_are_no_change():
    before = {key: value for key, value in description().items() if key != "tuning"}
    assert study_changes(before, description()) == []


def test_an_edited_study_says_what_changed(tmp_path):
    path = tmp_path / "r.sqlite"
    first = run(small_study(), path, engine="serial", progress=False)
    assert first.changes == ()
    assert run(small_study(), path, engine="serial", progress=False).changes == ()
    edited = run(small_study(resampling="4-fold"), path, engine="serial", progress=False)
    assert edited.changes == ("resampling: 5-fold before, now 4-fold",)
    other = small_study(name="another", resampling="3-fold")
    assert run(other, path, engine="serial", progress=False).changes == ()
    assert Results(path).changes == ()


def test_the_study_that_was_carried_out_last_is_the_one_that_is_read(tmp_path):
    path = tmp_path / "r.sqlite"
    for resampling in ("5-fold", "4-fold", "5-fold"):
        run(small_study(resampling=resampling), path, engine="serial", progress=False)
        assert Results(path).description["resampling"] == resampling
