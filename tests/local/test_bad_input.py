"""Awkward tables, each tried on every learner of the package that it concerns."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier

import verulam.local
from verulam.base import DataError, DataWarning
from verulam.local import (
    AdaptiveResonance,
    GeneralisedVectorQuantisation,
    GenerativeTopographicMap,
    GrowingCells,
    GrowingCellsClassifier,
    HebbianDiscriminants,
    HierarchicalExpertsClassifier,
    HierarchicalExpertsRegressor,
    LearningVectorQuantisation,
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
    NeuroScale,
    OnlineKMeans,
    OnlineSelfOrganisingMap,
    RBFFeatures,
    RBFNetworkClassifier,
    RBFNetworkRegressor,
    SelfOrganisingMap,
    SoftDecisionTreeClassifier,
    SoftDecisionTreeRegressor,
)

LEARNERS = [
    member
    for name in verulam.local.__all__
    if inspect.isclass(member := getattr(verulam.local, name)) and hasattr(member, "fit")
]
#: What makes a learner small and quick enough for these tables.
SMALL = {
    GenerativeTopographicMap: {"grid_shape": (3, 3)},
    GrowingCells: {"max_units": 4},
    GrowingCellsClassifier: {"max_units": 4},
    NeuroScale: {"n_units": 3},
    OnlineKMeans: {"n_clusters": 2},
    OnlineSelfOrganisingMap: {"grid_shape": (2, 2)},
    SelfOrganisingMap: {"grid_shape": (2, 2)},
}
FEW = np.random.default_rng(0).normal(size=(3, 2))
ROWS = np.random.default_rng(1).normal(size=(40, 2))


def needs_classes(learner):
    return is_classifier(learner) or isinstance(learner, HebbianDiscriminants)


def fitted(kind, X, **options):
    learner = kind(**{**SMALL.get(kind, {}), **options})
    if "random_state" in learner.get_params():
        learner.set_params(random_state=0)
    y = np.arange(len(X)) % 2 if needs_classes(learner) else np.asarray(X)[:, 0]
    learner.fit(X, y)
    for method in ("predict", "transform"):
        if hasattr(learner, method):
            result = np.asarray(getattr(learner, method)(X))
            assert result.dtype.kind != "f" or np.isfinite(result).all()
    return learner


@pytest.mark.parametrize("kind", LEARNERS)
def test_duplicated_rows_and_constant_columns_give_finite_answers(kind):
    for X in (
        np.repeat(ROWS[:5], 8, axis=0),
        np.column_stack([ROWS[:, 0], np.full(40, 5.0)]),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            warnings.simplefilter("ignore", DataWarning)
            learner = fitted(kind, X)
        numbers = [value for value in vars(learner).values() if isinstance(value, np.ndarray)]
        assert all(np.isfinite(value).all() for value in numbers if value.dtype.kind == "f")


@pytest.mark.parametrize("kind", LEARNERS)
def test_rows_that_are_all_the_same_are_learned_or_refused(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", DataWarning)
        try:
            fitted(kind, np.ones((20, 2)))
        except DataError as error:
            assert "X does not vary" in str(error)  # noqa: PT017 - either is right


@pytest.mark.parametrize("kind", LEARNERS)
def test_missing_values_are_refused(kind):
    gaps = ROWS.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fitted(kind, gaps)


@pytest.mark.parametrize("kind", [kind for kind in LEARNERS if needs_classes(kind())])
def test_one_class_is_refused(kind):
    with pytest.raises(ValueError, match=r"one class: 0|one class alone, 0"):
        kind().fit(ROWS, np.zeros(40, dtype=int))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (SelfOrganisingMap, {"grid_shape": (4, 4)}, "16 units and X has 3 rows"),
        (OnlineSelfOrganisingMap, {"grid_shape": (4, 4)}, "16 units and X has 3 rows"),
        (GenerativeTopographicMap, {"grid_shape": (4, 4)}, "16 units and X has 3 rows"),
        (GrowingCells, {"max_units": 9}, "max_units=9 is more than the different rows"),
        (GrowingCellsClassifier, {"max_units": 9}, "max_units=9 is more than the rows"),
        (LearningVectorQuantisation, {"n_prototypes": 5}, "n_prototypes=5 is more than"),
        (GeneralisedVectorQuantisation, {"n_prototypes": 5}, "n_prototypes=5 is more than"),
        (RBFFeatures, {"n_units": 5}, "n_units=5 is more than the 3 rows of X that differ"),
        (RBFNetworkClassifier, {"n_units": 5}, "n_units=5 is more than the 3 rows"),
        (RBFNetworkRegressor, {"n_units": 5}, "n_units=5 is more than the 3 rows"),
        (MixtureOfExpertsClassifier, {}, "n_experts=4 is more than the 3 rows"),
        (MixtureOfExpertsRegressor, {}, "n_experts=4 is more than the 3 rows"),
        (HierarchicalExpertsClassifier, {}, r"branching=\(2, 2\) makes 4 experts, more than the 3"),
        (HierarchicalExpertsRegressor, {}, r"branching=\(2, 2\) makes 4 experts, more than the 3"),
        (SoftDecisionTreeClassifier, {"max_depth": 2}, "max_depth=2 makes 4 leaves, more than"),
        (SoftDecisionTreeRegressor, {"max_depth": 2}, "max_depth=2 makes 4 leaves, more than"),
    ],
)
def test_fewer_rows_than_units_are_said(kind, options, message):
    with pytest.warns(DataWarning, match=message):
        fitted(kind, FEW, **options)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (OnlineKMeans, {"n_clusters": 8}, "n_clusters=8 is more than the data has: n_samples=3"),
        (NeuroScale, {"n_units": 9}, "n_units=9 is more than the data has: n_samples=3"),
    ],
)
def test_fewer_rows_than_units_are_refused_where_units_start_at_rows(kind, options, message):
    with pytest.raises(DataError, match=message):
        fitted(kind, FEW, **options)


def test_dead_units_are_reported():
    with pytest.warns(DataWarning, match=r"1 of 2 units won no row .*dead units: 1"):
        learner = OnlineKMeans(2, init=[[0.0, 0.0], [99.0, 99.0]]).fit(ROWS)
    assert learner.dead_units_.tolist() == [1]


def test_vigilance_of_zero_and_infinity():
    assert len(AdaptiveResonance(0.0).fit(np.vstack([ROWS, ROWS])).cluster_centers_) == 40
    assert len(AdaptiveResonance(np.inf).fit(ROWS).cluster_centers_) == 1
    for wrong in (-1.0, np.nan):
        with pytest.raises(ValueError, match="vigilance"):
            AdaptiveResonance(wrong).fit(ROWS)


def test_numbers_too_large_for_distances_are_said():
    with pytest.raises(DataError, match=r"X has numbers of 1e\+150 and more"):
        fitted(OnlineKMeans, ROWS * 1e151)
