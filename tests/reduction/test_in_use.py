"""Reductions at work: from sensing to decision, in comparisons and studies, and to look at data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import verulam
from verulam.data import dataset
from verulam.experiment import DataChoice, LearnerChoice, Study, run
from verulam.plots import class_map
from verulam.reduction import (
    DiscriminantProjection,
    PrincipalComponents,
    ProbabilisticComponents,
    spatial_filter_energies,
)


def fish(count):
    """Return lightness and width of salmon and sea bass, which overlap in either."""
    random = np.random.default_rng(0)
    spread = [[1.0, 0.9], [0.9, 1.5]]
    salmon = random.multivariate_normal([4.0, 14.0], spread, count)
    bass = random.multivariate_normal([5.5, 13.0], spread, count)
    return np.vstack([salmon, bass]), np.repeat(["salmon", "sea bass"], count)


def test_fish_are_sorted_by_two_features_better_than_by_one():
    features, kinds = fish(150)
    errors = {
        columns: 1 - cross_val_score(DiscriminantProjection(), features[:, columns], kinds).mean()
        for columns in ((0,), (1,), (0, 1))
    }
    assert errors[0, 1] < 0.5 * min(errors[0,], errors[1,])


def test_from_pictures_to_decisions():
    """Sensing (pixels), features (energies), reduction, classifier, evaluation on unseen rows."""
    digits = dataset("digits")
    images = digits.inputs.to_numpy(dtype=float)[:300].reshape(-1, 8, 8)
    labels = np.asarray(digits.target_values)[:300]
    features = np.log(spatial_filter_energies(images, n_bands=2))
    system = make_pipeline(
        StandardScaler(), DiscriminantProjection(shrinkage=0.1), KNeighborsClassifier(5)
    )
    answers = cross_val_predict(system, features, labels, cv=5)
    assert (answers == labels).mean() > 0.6
    # Features of upright digits tell orientations apart: turned ones look different.
    turned = np.log(spatial_filter_energies(np.rot90(images, axes=(1, 2)), n_bands=2))
    fitted = system.fit(features, labels)
    assert (fitted.predict(turned) == labels).mean() < 0.4


def test_groups_and_outliers_are_seen_and_patterns_drawn_again():
    wine = dataset("wine")
    rows = StandardScaler().fit_transform(wine.inputs)
    rows[0] += 12.0
    places = PrincipalComponents(2).fit_transform(rows)
    assert np.linalg.norm(places, axis=1).argmax() == 0
    axes = class_map(places, wine.target_values)
    assert len(axes.collections) == 3
    model = ProbabilisticComponents(2).fit(rows[1:])
    assert_allclose(model.sample(5, random_state=3), model.sample(5, random_state=3))
    assert np.abs(model.sample(5, random_state=3) - model.sample(5, random_state=4)).max() > 0


def test_reductions_are_compared_within_training_rows():
    nearest = KNeighborsClassifier(5)
    contest = {
        "components": make_pipeline(PrincipalComponents(2, standardise=True), nearest),
        "discriminants": make_pipeline(DiscriminantProjection(), nearest),
    }
    comparison = verulam.compare("wine", contest, resampling="5-fold", progress=False)
    assert not len(comparison.failures)
    errors = comparison.ranking()["mean"]
    assert errors.max() < 0.1
    # Fitted to all rows beforehand, discriminants would look better than they are.
    wine = dataset("wine")
    expected = 1 - cross_val_score(contest["discriminants"], wine.inputs, wine.target_values)
    assert errors["discriminants"] == pytest.approx(expected.mean(), abs=0.03)


def test_the_number_of_components_is_a_factor_of_a_study(tmp_path):
    pipeline = Pipeline(
        [("reduce", PrincipalComponents(standardise=True)), ("nearest", KNeighborsClassifier(5))]
    )
    study = Study(
        name="how many components",
        data=[DataChoice("wine")],
        learners=[LearnerChoice(pipeline, "neighbours", factors={"reduce__n_components": [1, 2]})],
        resampling="3-fold",
    )
    results = run(study, tmp_path / "runs.sqlite", engine="serial", progress=False)
    errors = results.scores().groupby("setting")["error"].mean()
    assert list(errors.index) == ["reduce__n_components=1", "reduce__n_components=2"]
    assert errors.iloc[0] > errors.iloc[1]
