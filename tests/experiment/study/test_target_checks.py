"""The column to predict: all that is wrong with it at once, and what may be done about it."""

import numpy as np
import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam import compare
from verulam.base import DataError
from verulam.data import Dataset
from verulam.experiment import DataChoice, finalise, make_plan, read_study, run
from verulam.experiment._study.data_source import settled_target, target_problem

COUNTS = {"yes": 30, "no": 25, "maybe": 3, "never": 1, "once": 1}


@pytest.fixture
def table():
    """Return rows of two ordinary and three rare classes, with gaps in the target."""
    labels = [label for label, count in COUNTS.items() for _ in range(count)]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": labels}).sample(frac=1, random_state=0)
    return pd.concat([frame, pd.DataFrame({"x": [0.0, 1.0], "y": [None, None]})])


def complete(table):
    return Dataset.from_frame(table.dropna(), target="y", name="mixed")


def test_everything_wrong_is_said_at_once(table):
    with pytest.raises(DataError) as caught:
        compare(table, ["majority class"], target="y")
    said = str(caught.value)
    assert "Target 'y' is missing in 2 rows" in said
    assert "There is 1 row each of the classes 'never', 'once' of 'y'" in said
    assert "Also rare: 'maybe' (3 rows)." in said
    assert "--rare drop" in said
    with pytest.raises(DataError, match=r"^There is 1 row each of the classes 'never', 'once'"):
        compare(table, ["majority class"], target="y", drop_missing_target=True)


def test_rare_classes_dropped(table):
    data, notice = settled_target(complete(table), "drop")
    assert notice == (
        "Rare classes left out with their rows: 'maybe' (3 rows), 'never' (1 row), 'once' (1 row)."
    )
    assert data.target_values.value_counts().to_dict() == {"yes": 30, "no": 25}
    assert data.classes == ["no", "yes"]


def test_rare_classes_joined(table):
    data, notice = settled_target(complete(table), "join")
    assert notice.startswith("Rare classes joined into 'other': 'maybe' (3 rows), ")
    assert data.target_values.value_counts().to_dict() == {"yes": 30, "no": 25, "other": 5}
    taken = complete(table.replace({"y": {"yes": "other"}}))
    assert settled_target(taken, "join").data.classes == ["no", "other", "other (rare)"]


def test_numbers_as_classes_are_joined_as_words():
    labels = [1] * 10 + [2] * 10 + [3] * 2
    data = Dataset.from_frame(pd.DataFrame({"x": np.arange(22) / 7, "y": labels}), target="y")
    assert data.task == "classification"
    assert settled_target(data, "join").data.classes == ["1", "2", "other"]
    assert settled_target(data, "drop").data.classes == [1, 2]


def test_one_row_is_not_helped_by_joining(table):
    lonely = complete(table[~table["y"].isin(["maybe", "once"])])
    with pytest.raises(DataError, match=r"1 row of class 'other' .* Joining rare classes does not"):
        settled_target(lonely, "join")


def test_numbers_have_no_rare_classes(table):
    numbers = Dataset.from_frame(table.dropna(), target="x")
    assert settled_target(numbers, "drop").notice == "'x' is a number: it has no rare classes."
    assert settled_target(numbers).notice == ""


def test_nothing_is_rare():
    data = Dataset.from_frame(pd.DataFrame({"x": range(10), "y": list("ababababab")}), target="y")
    for rare in ("keep", "drop", "join"):
        assert settled_target(data, rare) == (data, "")


def test_targets_that_cannot_be_learnt():
    texts = [f"a sentence of its own, number {n}" for n in range(30)]
    frame = pd.DataFrame({"x": range(30), "comment": texts, "const": "EUR", "y": [*"abc"] * 10})
    comment = Dataset.from_frame(frame, target="comment")
    for rare in ("keep", "drop", "join"):
        with pytest.raises(DataError, match="'comment' holds 30 different texts in 30 rows: that"):
            settled_target(comment, rare)
    with pytest.raises(DataError, match="Column 'const' has only the class 'EUR'"):
        settled_target(Dataset.from_frame(frame, target="const"))
    few = Dataset.from_frame(frame.iloc[:9], target="y")
    with pytest.raises(DataError, match="every class of 'y' has fewer than 5 rows"):
        settled_target(few, "drop")
    with pytest.raises(DataError, match=r"no target; name the column to predict \(--target"):
        settled_target(Dataset.from_frame(frame))
    assert target_problem(Dataset.from_frame(frame, target="x")) == ""


def test_a_study_file_names_rare_classes_and_columns(table, tmp_path):
    table.assign(id=range(1, 63)).to_csv(tmp_path / "mixed.csv", index=False)
    study = tmp_path / "study.toml"
    study.write_text(
        'learners = ["nearest mean"]\nresampling = "3-fold"\n[[data]]\nsource = "mixed.csv"\n'
        'target = "y"\ndrop_missing_target = true\nleave_out = ["id"]\nrare = "join"\n'
    )
    plan = make_plan(read_study(study))
    assert list(plan.data[0].inputs.columns) == ["x"]
    assert [notice.partition(":")[0] for notice in plan.notices] == [
        "2 rows without a value of 'y' left out, of 62.",
        "Rare classes joined into 'other'",
    ]
    results = run(plan, tmp_path / "r.sqlite", engine="serial", progress=False)
    card = finalise(results).card
    assert card.classes == ("no", "other", "yes")
    assert {column.name: column.role for column in card.columns}["id"] == "ignored"


def test_words_that_are_none():
    with pytest.raises(DataError, match="rare: 'some'; expected one of keep, drop, join"):
        small_study(data=[DataChoice("iris", rare="some")])


def test_infinite_numbers_are_refused_with_their_rows():
    table = pd.DataFrame({"x": np.arange(30.0), "y": np.linspace(0.1, 3.3, 30)})
    table.loc[[4, 7], "y"] = [np.inf, -np.inf]
    with pytest.raises(DataError, match=r"Column 'y' is infinite in 2 rows: 4, 7 \(counted"):
        settled_target(Dataset.from_frame(table, target="y"))
