"""Studies as TOML: what is written is read as the same study."""

import json
import tomllib
from pathlib import Path

import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.experiment import DataChoice, LearnerChoice, read_study
from verulam.experiment._study.file import parse_study
from verulam.experiment._study.toml import study_toml

EXAMPLES = sorted(Path(__file__).parents[2].joinpath("examples").glob("*.toml"))


def read_back(study):
    description = json.loads(study.to_json())
    return json.loads(parse_study(tomllib.loads(study_toml(description))).to_json()), description


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_written_as_they_were_read(path):
    again, before = read_back(read_study(path))
    assert again == before


def test_odd_words_and_numbers():
    names = {'odd "name" \\ with\n\tsigns \x7f é': [0.1, 1e-300, 5]}
    study = small_study(
        name='a "study" = [x]',
        data=[DataChoice("iris", label="# no comment")],
        learners=[LearnerChoice("nearest mean", parameters=names)],
        analysis={"alpha": 0.01},
        losses=[[0, 1, 2], [1, 0, 2], [1, 2, 0]],
        test_share=1 / 3,
    )
    again, before = read_back(study)
    assert again == before


def test_what_has_no_form():
    with pytest.raises(DataError, match="weights: TOML has no way to write None"):
        study_toml({"weights": [1, None]})


def test_to_tune_nothing_is_not_to_say_nothing():
    learners = [LearnerChoice("nearest mean", tune={}), LearnerChoice("naive bayes", tune=False)]
    again, before = read_back(small_study(learners=learners, tuning={"budget": 4}))
    assert again == before
