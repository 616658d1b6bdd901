"""Reductions as preparations, which a study may vary as it varies learners."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline

from verulam import compare
from verulam.base import DataError
from verulam.cluster import KMeans
from verulam.data import dataset
from verulam.experiment import LearnerChoice, Study, analyse, make_plan, read_study, run
from verulam.experiment._preparation.preparation import is_preparation, prepared
from verulam.experiment._preparation.reductions import REDUCTIONS, Reduction, read_reduction
from verulam.local import (
    GenerativeTopographicMap,
    HebbianComponents,
    HebbianDiscriminants,
    NeuroScale,
    RBFFeatures,
    SelfOrganisingMap,
)
from verulam.reduction import DiscriminantProjection, PrincipalComponents

WINE = dataset("wine")


def reduced(how, learner=None):
    ready = prepared(learner or LogisticRegression(), WINE.inputs, how=how)
    assert isinstance(ready.estimator, Pipeline)
    codes = WINE.target_values.cat.codes
    return ready, ready.transformer.fit(WINE.inputs, codes).transform(WINE.inputs)


def test_names_with_and_without_a_number():
    assert read_reduction("principal components 5") == Reduction("principal components", 5)
    assert read_reduction("discriminants") == Reduction("discriminants")
    assert read_reduction("principal components 0") is None
    assert read_reduction("components") is None
    assert all(map(is_preparation, [*REDUCTIONS, "ranks", "feature selection 2"]))


def test_principal_components_are_those_of_scaled_columns():
    ready, columns = reduced("principal components 3")
    table = WINE.inputs.to_numpy()
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    expected = PrincipalComponents(3).fit_transform(scaled)
    np.testing.assert_allclose(np.abs(columns), np.abs(expected))
    assert ready.words == "numbers scaled, then 3 principal components"
    ready, columns = reduced("principal components")
    values = np.linalg.eigvalsh(np.corrcoef(scaled.T))[::-1]
    needed = int(np.searchsorted(np.cumsum(values) / values.sum(), 0.95)) + 1
    assert columns.shape[1] == needed
    assert ready.words.endswith("principal components (95 % of the variance)")


def test_factors_discriminants_and_selected_columns():
    ready, columns = reduced("factor analysis 2")
    assert columns.shape == (178, 2)
    assert ready.words.endswith("scores of 2 factors")
    ready, columns = reduced("discriminants")
    table = WINE.inputs.to_numpy()
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    expected = DiscriminantProjection().fit(scaled, WINE.target_values).transform(scaled)
    np.testing.assert_allclose(np.abs(columns), np.abs(expected), rtol=1e-6)
    ready, columns = reduced("feature selection 2")
    assert columns.shape == (178, 2)
    places = [int(np.argmin(np.abs(scaled - column[:, None]).sum(axis=0))) for column in columns.T]
    np.testing.assert_allclose(scaled[:, places], columns)


def test_what_needs_classes_or_a_target_is_refused_without():
    with pytest.raises(DataError, match="'discriminants' tell classes apart"):
        prepared(LinearRegression(), WINE.inputs, how="discriminants")
    with pytest.raises(DataError, match="asks which columns predict a target"):
        prepared(KMeans(2), WINE.inputs, how="feature selection")
    with pytest.raises(DataError, match="expected some of as needed, unscaled"):
        Study("x", ["wine"], ["naive bayes"], preparations=["components"])
    choice = LearnerChoice("naive bayes", factors={"preparation": ["components"]})
    with pytest.raises(DataError, match="expected some of as needed, unscaled"):
        Study("x", ["wine"], [choice])


@pytest.mark.parametrize("as_factor", [True, False])
def test_a_reduction_is_a_factor_of_a_study(as_factor, tmp_path):
    levels = ["standardised", "principal components 2", "discriminants"]
    if as_factor:
        choice = LearnerChoice("naive bayes", factors={"preparation": levels})
        study = Study("x", ["wine"], [choice], resampling="3-fold")
    else:
        study = Study("x", ["wine"], ["naive bayes"], preparations=levels, resampling="3-fold")
    assert len(make_plan(study).contestants[0]) == 3
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 9}
    assert "preparation" in analyse(results).effects[0].table.index
    assert any("2 principal components" in words for words in results.preparations())


def test_components_are_found_in_the_training_rows_of_each_run():
    """No row that is tested has a part in them."""
    plan = make_plan(Study("x", ["wine"], ["naive bayes"], preparations=["principal components 2"]))
    pipeline = plan.contestants[0][0].estimator
    split = plan.data[0].splits[0]
    inputs, targets = plan.data[0].inputs, plan.data[0].targets
    fitted = pipeline.fit(inputs.iloc[split.train], targets[split.train])
    moved = inputs.copy()
    moved.iloc[split.test] *= 1000.0
    again = pipeline.fit(moved.iloc[split.train], targets[split.train])
    assert (fitted.predict(inputs) == again.predict(inputs)).all()


def test_clusterings_may_be_made_of_components():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4)), columns=list("abcd"))
    study = Study(
        "x", [table], [KMeans(2)], task="clustering", resampling="2-fold",
        preparations=["as needed", "principal components 2"],
    )  # fmt: skip
    words = [contestant.preparation for contestant in make_plan(study).contestants[0]]
    assert words == ["numbers scaled, for all alike", "numbers scaled, then 2 principal components"]


@pytest.mark.parametrize(
    ("how", "learner", "words"),
    [
        (
            "self-organising map 4",
            SelfOrganisingMap(grid_shape=(4, 4)),
            "places on a 4 by 4 self-organising map",
        ),
        (
            "generative topographic map 5",
            GenerativeTopographicMap(grid_shape=(5, 5)),
            "places on a 5 by 5 generative topographic map",
        ),
        (
            "neuroscale 3",
            NeuroScale(n_components=3, random_state=0),
            "places in 3 columns of neuroscale",
        ),
        ("neuroscale", NeuroScale(random_state=0), "places in columns of neuroscale"),
        (
            "Hebbian components 2",
            HebbianComponents(n_components=2, random_state=0),
            "2 components by Oja's rule",
        ),
        (
            "Hebbian discriminants",
            HebbianDiscriminants(random_state=0),
            "projections that tell the classes apart, by Oja's rule",
        ),
        (
            "radial units 7",
            RBFFeatures(n_units=7, random_state=0),
            "activations of 7 radial units",
        ),
    ],
)
def test_maps_and_projections_of_local_models_are_preparations(how, learner, words):
    """What reaches the learner behind is what the map makes of scaled columns by itself."""
    ready = prepared(LogisticRegression(), WINE.inputs, how=how)
    assert ready.words == f"numbers scaled, then {words}"
    codes = WINE.target_values.cat.codes
    transformer = ready.transformer
    if "random_state" in transformer[-1].get_params():
        transformer[-1].set_params(random_state=learner.random_state)
    columns = transformer.fit(WINE.inputs, codes).transform(WINE.inputs)
    table = WINE.inputs.to_numpy()
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    np.testing.assert_allclose(columns, learner.fit(scaled, codes).transform(scaled), atol=1e-8)


def test_maps_in_compare_and_in_a_study_file(tmp_path):
    maps = ["standardised", "self-organising map 6", "neuroscale"]
    comparison = compare(
        "iris", ["naive bayes"], resampling="3-fold", preparations=maps, progress=False
    )
    assert sorted(comparison.ranking().index) == [
        f"naive Bayes (preparation={how})" for how in sorted(maps)
    ]
    assert comparison.ranking()["estimate"].max() < 0.2
    file = tmp_path / "maps.toml"
    file.write_text(
        'data = ["iris"]\nresampling = "3-fold"\npreparations = ["generative topographic map 6"]\n'
        'learners = ["naive bayes"]\n'
    )
    results = run(read_study(file), tmp_path / "runs.sqlite", engine="serial", progress=False)
    assert results.status() == {"done": 3}
    assert "6 by 6 generative topographic map" in next(iter(results.preparations()))
    with pytest.raises(DataError, match="'Hebbian discriminants' tell classes apart"):
        prepared(LinearRegression(), WINE.inputs, how="Hebbian discriminants")
