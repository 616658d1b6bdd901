"""Factors that are parts of the study: data sets, preparations, rows, and levels in a scale."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from tests.experiment.studies import small_study

from verulam.base import DataError
from verulam.data import dataset
from verulam.design import mean_neighbour_distance
from verulam.experiment import (
    DataChoice,
    LearnerChoice,
    Store,
    analyse,
    finalise,
    make_plan,
    run,
)
from verulam.experiment._study.factors import plain_factors, scaled_parameters, setting_parts

MULTIPLES = {"multiples": [0.5, 2], "of": "neighbour distance"}


def of_knn(factors, **changes):
    learner = LearnerChoice("k-nearest neighbours", label="knn", factors=factors)
    return small_study(learners=[learner], resampling="2-fold", **changes)


def test_a_fraction_covers_data_set_preparation_and_rows():
    factors = {
        "n_neighbors": [1, 5],
        "preparation": ["unscaled", "ranks"],
        "training_share": [0.5, 1.0],
        "data_set": ["iris", "wine"],
    }
    learner = LearnerChoice("k-nearest neighbours", label="knn", factors=factors)
    design = {"kind": "fractional", "generators": ["D=ABC"]}
    data = [DataChoice("iris"), DataChoice("wine")]
    plan = make_plan(small_study(data=data, learners=[learner], design=design, resampling="2-fold"))
    settings = plan.table().groupby("data")["setting"].unique()
    # Half of the combinations: each data set has the four that the other lacks.
    assert len(settings["iris"]) == len(settings["wine"]) == 4
    assert not set(settings["iris"]) & set(settings["wine"])
    assert set(plan.table().loc[plan.table()["share"] == 0.5, "training_rows"]) == {38, 44}
    assert plan.aliases["knn"].set_index("factors")["aliases"]["data_set"] == "ABC"
    prepared = {each.setting["preparation"]: each.preparation for each in plan.contestants[0]}
    assert prepared["ranks"] == "numbers replaced by their ranks"
    assert prepared["unscaled"] == "the table as it is"


def test_shares_of_a_design_are_contestants_and_no_learning_curve(tmp_path):
    study = of_knn({"n_neighbors": [1, 5], "training_share": [0.3, 1.0]})
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    found = analyse(results)
    assert found.tables["iris"]["mean"].notna().sum() == 4
    assert found.effects[0].factors == ("n_neighbors", "training_share")
    assert found.responses.shared_out.empty
    assert len(found.predictions.pooled("iris", "knn", "n_neighbors=1, training_share=0.3").targets)


def test_a_learner_may_be_run_on_some_data_sets_only(tmp_path):
    data = [DataChoice("iris"), DataChoice("wine")]
    some = LearnerChoice("naive bayes", label="some", factors={"data_set": ["wine"]})
    study = small_study(data=data, learners=[LearnerChoice("majority class"), some])
    counts = make_plan(study).table().groupby(["data", "learner"]).size()
    assert counts.to_dict() == {
        ("iris", "majority class"): 5,
        ("wine", "majority class"): 5,
        ("wine", "some"): 5,
    }
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    ended = finalise(results, "some", data="wine", path=tmp_path / "m.skops")
    assert ended.card.training_rows == 178


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        (
            {"preparation": ["washed"]},
            r"factors\.preparation: 'washed'; expected some of as needed",
        ),
        ({"training_share": [0.5, 2]}, r"factors\.training_share: 2; expected numbers above 0"),
        ({"training_share": ["all"]}, r"factors\.training_share: 'all'; expected numbers"),
        ({"data_set": ["iris", "roses"]}, r"factors\.data_set: the study has no data set 'roses'"),
        ({"p": {"multiples": [1], "of": "range"}}, r"factors\.p\.of: 'range'; expected neighbour"),
        ({"p": {"multiples": [0, 1]}}, r"factors\.p\.multiples: \[0, 1\]; expected a list"),
        ({"p": {"multiples": [1], "low": 1}}, r"factors\.p\.low: no such key beside multiples"),
    ],
)
def test_bad_levels_are_named(factors, message):
    with pytest.raises(DataError, match=message):
        make_plan(of_knn(factors))


def test_multiples_follow_the_unit_of_the_data():
    wide = dataset("iris").table.copy()
    numbers = wide.columns.drop("species")
    wide[numbers] = wide[numbers] * 1000
    factors = {"radius": MULTIPLES, "p": [1]}
    plain = plain_factors(factors, "factors")
    assert plain == {"radius in neighbour distances": [0.5, 2], "p": [1]}
    setting = {"radius in neighbour distances": 2, "p": 1}
    before = scaled_parameters(setting, dataset("iris").inputs, None)
    after = scaled_parameters(setting, wide[numbers], None)
    assert before["p"] == after["p"] == 1
    assert after["radius"] == pytest.approx(1000 * before["radius"], rel=1e-5)
    assert before["radius"] == pytest.approx(
        2 * mean_neighbour_distance(dataset("iris").inputs), rel=1e-5
    )


def test_multiples_are_of_what_the_learner_sees(tmp_path):
    """The scale is that of the prepared inputs, without the locked rows."""
    factors = {"bandwidth": MULTIPLES, "preparation": ["standardised"]}
    learner = LearnerChoice("nonparametric.ParzenClassifier", factors=factors)
    study = small_study(learners=[learner], test_share=0.3, resampling="2-fold")
    plan = make_plan(study)
    planned = plan.data[0]
    rows = np.setdiff1d(np.arange(150), planned.locked)
    scaled = StandardScaler().fit_transform(planned.inputs.iloc[rows])
    given = [each.estimator[-1].bandwidth for each in plan.contestants[0]]
    expected = mean_neighbour_distance(scaled) * np.array([0.5, 2])
    np.testing.assert_allclose(given, expected, rtol=1e-5)
    results = run(study, tmp_path / "r.sqlite", engine="serial", progress=False)
    with Store(results.path) as store:
        levels = set(store.read("SELECT levels FROM planned")["levels"])
    assert any('"bandwidth in neighbour distances": 0.5' in text for text in levels)


def test_multiples_need_numbers():
    table = pd.DataFrame({"colour": pd.Categorical(["red", "blue"])})
    with pytest.raises(DataError, match="multiples of the neighbour distance need numbers"):
        scaled_parameters({"h in neighbour distances": 1.0}, table, None)


def test_a_setting_is_taken_apart():
    found = setting_parts({"C": 1, "data_set": "wine"})
    assert (found.parameters, found.data, found.share) == ({"C": 1}, "wine", None)
