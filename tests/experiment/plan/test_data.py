"""Data sets of a study: what belongs together stays together."""

import numpy as np
import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError, UnknownNameError
from verulam.experiment import DataChoice, LearnerChoice, finalise, make_plan, run
from verulam.experiment._plan.row_columns import as_levels
from verulam.experiment._study.toml import parse_study


def firms(**changes):
    """Return a study of investments, of which several rows are about one firm each."""
    given = {"data": [DataChoice("grunfeld")], "learners": [LearnerChoice("mean predictor")]}
    return small_study(**{**given, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"resampling": {"kind": "k-fold", "folds": 5, "groups": "firm"}},
        {"resampling": "5-fold", "data": [DataChoice("grunfeld", groups="firm")]},
        {"resampling": "5x2 by firm", "test_share": 0.3},
        {"resampling": "out-of-bag 5 by firm"},
    ],
)
def test_groups_are_on_one_side_of_every_split(changes):
    planned = make_plan(firms(**changes)).data[0]
    firm = planned.data.table["firm"].astype(str).to_numpy()
    assert "firm" not in planned.inputs
    for split in planned.splits:
        sides = [set(firm[rows]) for rows in (split.train, split.test, planned.locked)]
        assert not sides[0] & sides[1]
        assert not sides[2] & (sides[0] | sides[1])
    assert len(set(firm[planned.locked])) == (3 if "test_share" in changes else 0)


def test_fewer_groups_than_folds():
    plan = make_plan(firms(resampling="20-fold by firm"))
    assert plan.notices == ("11 folds instead of 20: there are only 11 groups.",)


def test_groups_that_cannot_be_used():
    with pytest.raises(DataError, match="'grunfeld' has no column 'patient' beside its target"):
        make_plan(firms(resampling="5-fold by patient"))
    gaps = [DataChoice("penguins", groups="sex")]
    with pytest.raises(DataError, match="column 'sex' of data set 'penguins' has missing values"):
        make_plan(small_study(data=gaps))


def test_columns_to_keep_must_be_there():
    with pytest.raises(UnknownNameError, match=r"keep: .*'yeer'.*year"):
        make_plan(firms(data=[DataChoice("grunfeld", keep=["yeer"])]))


def test_groups_do_not_go_with_time():
    data = [DataChoice("grunfeld", groups="firm")]
    with pytest.raises(DataError, match="'firm' of 'grunfeld' cannot be kept together, since exp"):
        make_plan(firms(resampling="expanding 5 by year", data=data))


@pytest.mark.parametrize("form", ["expanding 4", "sliding 4 by year"])
def test_the_latest_rows_are_locked_where_time_counts(form):
    planned = make_plan(firms(resampling=form, test_share=0.25)).data[0]
    table = planned.data.table
    times = table["year"].to_numpy() if "year" in form else np.arange(len(table))
    open_rows = np.setdiff1d(np.arange(len(table)), planned.locked)
    assert len(planned.locked) > 0
    assert times[open_rows].max() < times[planned.locked].min()
    for split in planned.splits:
        assert times[split.train].max() < times[split.test].min()


def test_a_study_file_may_drop_rows_without_a_target(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=40), "y": ["a", "b"] * 20})
    table.loc[[3, 8], "y"] = None
    table.to_csv(tmp_path / "gaps.csv", index=False)
    entry = {"source": str(tmp_path / "gaps.csv"), "target": "y"}
    content = {"learners": ["nearest mean"], "resampling": "2-fold", "test_share": 0.3}
    with pytest.raises(DataError, match="missing in 2 rows"):
        make_plan(parse_study(content | {"data": [entry]}))
    study = parse_study(content | {"data": [entry | {"drop_missing_target": True}]})
    assert make_plan(study).notices == ("2 rows without a value of 'y' left out, of 40.",)
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    card = finalise(results).card
    assert card.training_rows + card.test_rows == 38


@pytest.mark.parametrize(
    ("given", "key"),
    [({"measures": ["error", "r2"]}, "measures"), ({"response": "r2"}, "response")],
)
def test_measures_of_another_task_are_refused(given, key):
    study = small_study(**given)
    message = f"^{key}: 'r2' is for regression, but data set 'iris' asks for classification"
    with pytest.raises(DataError, match=message):
        make_plan(study)


def test_infinite_inputs_are_told_before_anything_runs():
    table = pd.DataFrame({"x": np.arange(30.0), "z": np.arange(30.0) ** 2, "kind": ["a", "b"] * 15})
    study = small_study(data=[DataChoice(table.replace(81.0, np.inf), target="kind", label="t")])
    assert (
        "Infinite values in z: most learners fail on them; replace them, or make them "
        in " ".join(make_plan(study).notices)
    )
    table["x"] = table["x"].astype("Int64").mask(table["x"] == 3)
    assert not make_plan(small_study(data=[DataChoice(table, target="kind", label="t")])).notices


def test_what_a_file_lost_is_told_before_anything_runs(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{number:03d}{number % 7},{number % 5}.5,{'ab'[number % 2]}" for number in range(40)]
    rows[3] = "12,1.5,a"
    path.write_text("zone,size,kind\n" + "\n".join(rows) + "\n")
    words = "Columns that deserve a look: zone (numbers that were written with zeros in front, such"
    study = small_study(data=[DataChoice(str(path), target="kind", label="t")])
    assert words in " ".join(make_plan(study).notices)
    left_out = DataChoice(str(path), target="kind", label="t", leave_out=("zone",))
    assert not make_plan(small_study(data=[left_out])).notices


def test_categories_keep_their_names_and_gaps_are_a_level():
    found = as_levels(pd.Series(["b", None, "a", "b"], name="who"))
    assert found.levels == ("a", "b", "missing")
    assert found.codes.tolist() == [1, 2, 0, 1]


def test_rare_categories_become_one():
    column = pd.Series([str(number) for number in range(30)] + ["7"] * 5, name="id")
    found = as_levels(column)
    assert len(found.levels) == 11
    assert found.levels[-1] == "others"
    assert found.levels[found.codes[7]] == "7"


def test_few_numbers_stay_and_many_are_cut_into_quarters():
    years = as_levels(pd.Series([2009, 2007, 2008, 2007], name="year"))
    assert years.levels == ("2007", "2008", "2009")
    ages = as_levels(pd.Series(np.arange(100.0), name="age"))
    assert len(ages.levels) == 4
    assert np.bincount(ages.codes).tolist() == [25, 25, 25, 25]


def test_truths():
    assert as_levels(pd.Series([True, False, True], name="night")).levels == ("False", "True")
