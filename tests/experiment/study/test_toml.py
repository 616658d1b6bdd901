"""Studies as TOML: what is written is read as the same study."""

import json
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError, UnknownNameError
from verulam.experiment import DataChoice, LearnerChoice
from verulam.experiment._study.toml import parse_study, read_study, study_toml

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


TEXT = """
name = "flowers"
aim = "compare"
question = "Does it pay to model covariances?"
measures = ["error", "log_loss"]
response = ["error", "fit time"]
resampling = "5x2"
test_share = 0.25
seed = 7
data = ["iris", {source = "table.csv", target = "kind", label = "mine"}]

[[learners]]
name = "naive bayes"

[[learners]]
name = "k-nearest neighbours"
label = "neighbours"
parameters = {weights = "distance"}
factors = {n_neighbors = [1, 3, 5]}
"""


@pytest.fixture
def file(tmp_path):
    pd.DataFrame({"a": [1, 2], "kind": ["x", "y"]}).to_csv(tmp_path / "table.csv", index=False)
    path = tmp_path / "study.toml"
    path.write_text(TEXT)
    return path


def test_file_is_read_whole(file):
    study = read_study(file)
    assert (study.name, study.aim, study.seed, study.test_share) == ("flowers", "compare", 7, 0.25)
    assert study.response == ("error", "fit time")
    assert study.data[0].source == "iris"
    assert study.data[1].source == str(file.parent / "table.csv")
    assert study.data[1].label == "mine"
    assert study.learners[1].factors == {"n_neighbors": [1, 3, 5]}
    assert study.learners[1].parameters == {"weights": "distance"}


def test_json_tells_everything(file):
    content = json.loads(read_study(file).to_json())
    assert content["learners"][1]["factors"] == {"n_neighbors": [1, 3, 5]}
    assert content["measures"] == ["error", "log_loss"]
    assert content["resampling"] == "5x2"


GOOD = {"data": ["iris"], "learners": ["naive bayes"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"aims": "choose"}, r"aims: no such key\. Nearest: aim"),
        ({"aim": "win"}, "aim: 'win'; expected one of assess, compare, choose, order"),
        ({"seed": "seven"}, "seed: expected a whole number, got 'seven'"),
        ({"test_share": "a third"}, "test_share: expected a number, got 'a third'"),
        ({"seed": True}, "seed: expected a whole number, got True"),
        ({"test_share": 1.5}, "test_share: 1.5; expected a number from 0 to below 1"),
        ({"training_shares": [0.0]}, "training_shares: 0.0; expected numbers above 0"),
        ({"replications": 0}, "replications: 0; expected a whole number of at least 1"),
        ({"preparations": ["boiled"]}, "preparations: 'boiled'; expected some of as needed"),
        ({"preparations": []}, "preparations: ''; expected some of"),
        ({"nuisance": "noise"}, "nuisance: expected a list, got 'noise'"),
        ({"time_limit": -1}, "time_limit: -1; expected a number above 0"),
        ({"data": []}, "data: at least one is needed"),
        ({"data": [3]}, r"data\[0\]: expected a table, got int"),
        ({"data": [{"path": "iris"}]}, r"data\[0\]\.path: no such key"),
        ({"learners": [{"label": "x"}]}, r"learners\[0\]\.name: missing"),
        ({"learners": [{"name": "x", "factors": {"k": 3}}]}, r"factors\.k: expected a list"),
    ],
)
def test_bad_keys_are_named(change, message):
    with pytest.raises(DataError, match=message):
        parse_study({**GOOD, **change})


def test_missing_parts():
    with pytest.raises(DataError, match=r"learners: missing; add a table \[\[learners\]\]"):
        parse_study({"data": ["iris"]})
    with pytest.raises(UnknownNameError, match="Unknown measure 'eror'"):
        parse_study({**GOOD, "measures": ["eror"]})


def test_unknown_measures_are_named_with_file_and_key(tmp_path):
    file = tmp_path / "mine.toml"
    lines = ['measures = ["eror"]', 'data = ["iris"]', 'learners = ["naive bayes"]']
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(UnknownNameError, match=r"mine\.toml: measures: Unknown measure 'eror'"):
        read_study(file)


def test_bad_files(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        read_study(tmp_path / "none.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("name = ")
    with pytest.raises(DataError, match=r"broken\.toml is not a TOML file"):
        read_study(broken)
    broken.write_text('aim = "win"\ndata = ["iris"]\nlearners = ["naive bayes"]')
    with pytest.raises(DataError, match=r"broken\.toml: aim: 'win'"):
        read_study(broken)


TUNED = """
data = ["iris"]
tuning = {method = "random", budget = 5, measure = "log_loss"}

[[learners]]
name = "support vector machine"
[learners.tune]
C = {low = 0.01, high = 100, scale = "log"}
kernel = ["rbf", "linear"]

[[learners]]
name = "naive bayes"
tune = false
"""


def test_tuning_is_read(tmp_path):
    path = tmp_path / "tuned.toml"
    path.write_text(TUNED)
    study = read_study(path)
    assert (study.tuning.method, study.tuning.budget, study.tuning.folds) == ("random", 5, 3)
    assert study.learners[0].tune["kernel"] == ["rbf", "linear"]
    assert study.learners[1].tune is False


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("budget = 5", "bugdet = 5", r"tuning\.bugdet: no such key"),
        ('scale = "log"', 'scale = "cubic"', r"learners\[0\]\.tune\.C\.scale: 'cubic'"),
        (
            "tune = false",
            "tune = 3",
            r"learners\[1\]\.tune: expected a table or true or false, got 3",
        ),
    ],
)
def test_bad_tuning_is_named(tmp_path, before, after, message):
    path = tmp_path / "tuned.toml"
    path.write_text(TUNED.replace(before, after))
    with pytest.raises(DataError, match=message):
        read_study(path)


def test_a_negative_seed_is_named_with_its_file(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('seed = -1\ndata = ["iris"]\nlearners = ["naive bayes"]\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"mine\.toml: seed: -1; expected a whole number"):
        read_study(file)
