"""Nuisance factors: columns that learners do not see, tested in the analysis."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.data import Dataset
from verulam.experiment import (
    DataChoice,
    LearnerChoice,
    Store,
    analyse,
    make_plan,
    recover,
    report,
    run,
)
from verulam.experiment._effects.nuisance import row_effects
from verulam.experiment._plan.row_columns import NuisanceColumn
from verulam.experiment._words.analysis_text import nuisance_lines


def measured(harder):
    """Return a table of two instruments, one of which may be no good."""
    random = np.random.default_rng(0)
    kind = random.integers(0, 2, 300)
    instrument = random.choice(["old", "new"], 300)
    noise = np.where((instrument == "old") & harder, 3.0, 0.3)
    table = pd.DataFrame(
        {"x": kind + noise * random.normal(size=300), "z": random.normal(size=300)}
    )
    return table.assign(instrument=pd.Categorical(instrument), kind=kind.astype(str))


def analysed(path, harder, **changes):
    study = small_study(
        data=[DataChoice(measured(harder), target="kind", label="lab")],
        learners=[LearnerChoice("naive bayes"), LearnerChoice("logistic regression")],
        nuisance=["instrument", "the weather"],
        resampling="5x2",
        **changes,
    )
    return study, analyse(run(study, path, engine="serial", progress=False))


def test_a_column_that_matters_is_found(tmp_path):
    study, found = analysed(tmp_path / "r.sqlite", harder=True)
    (effects,) = found.nuisance
    assert effects.factors == ("contestant", "instrument")
    assert "instrument" in effects.significant(0.05)
    assert effects.means["instrument"]["old"] > effects.means["instrument"]["new"] + 0.1
    assert nuisance_lines(effects, 0.05)[0].startswith("instrument on lab: errors depend on it (")
    # Learners do not see it, and the plan says so; what is no column is for the record.
    plan = make_plan(study)
    assert list(plan.data[0].inputs.columns) == ["x", "z"]
    assert plan.notices[:2] == (
        "Nuisance factors, no inputs, tested in the analysis: instrument.",
        "Nuisance factors for the record, no columns: the weather.",
    )
    assert "Nuisance factor: instrument on lab" in str(found)
    assert json.loads(found.to_json())["nuisance"][0]["scope"] == "instrument on lab"
    page = report(found, tmp_path / "r.html").read_text()
    assert "<h2>Nuisance factors</h2>" in page


def test_means_of_all_rows_are_those_of_the_study(tmp_path):
    """Each row is validated five times: levels weighted by their rows give the mean error."""
    _, found = analysed(tmp_path / "r.sqlite", harder=True)
    table = found.nuisance[0].settings
    weights = measured(harder=True)["instrument"].value_counts(normalize=True)
    for name, mean in found.tables["lab"]["mean"].items():
        levels = table[table["contestant"] == name].set_index("instrument")["mean"]
        assert levels @ weights[levels.index] == pytest.approx(mean)


def test_a_column_that_does_not_matter(tmp_path):
    _, found = analysed(tmp_path / "r.sqlite", harder=False)
    (effects,) = found.nuisance
    assert "errors are not shown to depend on it" in nuisance_lines(effects, 0.05)[0]


def test_chance_is_called_an_effect_as_often_as_it_should_be():
    random = np.random.default_rng(1)
    column = NuisanceColumn("site", ("x", "y", "z"), random.integers(0, 3, 120))
    found = []
    for _ in range(400):
        hardness = random.normal(size=(120, 1))
        losses = pd.DataFrame(hardness + 0.3 * random.normal(size=(120, 3)), columns=list("abc"))
        found += row_effects(losses, column).significant(0.05)
    assert 8 <= found.count("site") <= 34  # about 20 of 400
    assert 8 <= found.count("contestant x site") <= 34


def test_the_table_is_that_of_statsmodels():
    """Between rows as a plain analysis of variance of their means, within by differences."""
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    random = np.random.default_rng(2)
    codes = np.repeat([0, 1], [12, 18])
    losses = pd.DataFrame(random.normal(size=(30, 2)) + codes[:, np.newaxis], columns=["a", "b"])
    ours = row_effects(losses, NuisanceColumn("site", ("x", "y"), codes)).table
    rows = pd.DataFrame({"site": codes, "mean": losses.mean(axis=1), "gap": losses.a - losses.b})
    between = anova_lm(ols("mean ~ C(site)", rows).fit())
    within = anova_lm(ols("gap ~ C(site)", rows).fit())
    assert ours.loc["site", "F"] == pytest.approx(between.loc["C(site)", "F"])
    assert ours.loc["contestant x site", "p_value"] == pytest.approx(
        within.loc["C(site)", "PR(>F)"]
    )


def test_numbers_are_squared_errors(tmp_path):
    table = measured(harder=True).drop(columns="kind")
    study = small_study(
        data=[DataChoice(table, target="x", label="lab")],
        learners=[LearnerChoice("mean predictor"), LearnerChoice("linear regression")],
        nuisance=["instrument"],
        resampling="3-fold",
    )
    found = analyse(run(study, tmp_path / "r.sqlite", engine="serial", progress=False))
    (effects,) = found.nuisance
    assert effects.notes == ("Means are squared errors, whatever the measure of the study.",)
    assert effects.significant(0.05) == ["instrument"]


def test_it_is_saved_from_a_damaged_store(tmp_path):
    _, found = analysed(tmp_path / "r.sqlite", harder=True)
    saved = recover(tmp_path / "r.sqlite", tmp_path / "s.sqlite")
    assert saved.rows["nuisance"] == 1
    again = analyse(tmp_path / "s.sqlite").nuisance[0]
    pd.testing.assert_frame_equal(again.table, found.nuisance[0].table)


def test_a_store_from_before_has_none(tmp_path):
    _, found = analysed(tmp_path / "r.sqlite", harder=True)
    with Store(found.results.path) as store, store.transaction() as connection:
        connection.execute("DROP TABLE nuisance")
    assert analyse(found.results).nuisance == ()


def test_the_target_is_no_nuisance():
    data = Dataset.from_frame(measured(harder=True), target="kind", name="lab")
    with pytest.raises(DataError, match="nuisance: 'kind' is the target of data set 'lab'"):
        make_plan(small_study(data=[DataChoice(data)], nuisance=["kind"]))
