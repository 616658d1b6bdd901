"""Values that are missing at prediction for the first time: medians for who needs numbers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verulam.ensemble import (
    BaggingClassifier,
    BestSingleRegressor,
    CascadeClassifier,
    ColumnSubset,
    DynamicSelectionClassifier,
    DynamicSelectionRegressor,
    EigenLearners,
    GatedClassifier,
    MultiViewClassifier,
    OutputCodeClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from verulam.ensemble._members.tables import takes_gaps
from verulam.nonparametric import KNeighborsClassifier, NeighbourSmoother
from verulam.parametric import GaussianClassifier, LeastSquares, NaiveBayes
from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame(RANDOM.normal(size=(60, 3)), columns=["age", "income", "debt"])
TABLE["income"] += 3.0
LABELS = np.where(TABLE["age"] + TABLE["debt"] > 0, "late", "paid")
NUMBERS = TABLE["income"].to_numpy() - TABLE["age"].to_numpy()
#: One needs numbers, one takes gaps.
CLASSIFIERS = [GaussianClassifier(), DecisionTreeClassifier(max_depth=3)]
REGRESSORS = [LeastSquares(), DecisionTreeRegressor(max_depth=3)]


@pytest.mark.parametrize("as_array", [False, True])
@pytest.mark.parametrize(
    "ensemble",
    [
        VotingClassifier(CLASSIFIERS, weights="accuracy", random_state=0),
        StackingClassifier(CLASSIFIERS, random_state=0),
        EigenLearners(CLASSIFIERS, random_state=0),
        CascadeClassifier(CLASSIFIERS, random_state=0),
        BaggingClassifier(KNeighborsClassifier(), n_estimators=3, random_state=0),
        OutputCodeClassifier(KNeighborsClassifier(), random_state=0),
        MultiViewClassifier([[0, 1], [1, 2]], integration="latent", random_state=0),
        # Trees and naive Bayes take gaps, but rows are compared with those of training.
        DynamicSelectionClassifier([NaiveBayes(), DecisionTreeClassifier()], random_state=0),
        GatedClassifier([NaiveBayes(), DecisionTreeClassifier()], random_state=0),
        VotingRegressor(REGRESSORS, random_state=0),
        BestSingleRegressor([LeastSquares(), NeighbourSmoother()], random_state=0),
        DynamicSelectionRegressor(REGRESSORS, random_state=0),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_a_new_gap_counts_as_the_median_of_training(ensemble, as_array):
    targets = NUMBERS if type(ensemble).__name__.endswith("Regressor") else LABELS
    gapped, filled = TABLE.head(8).copy(), TABLE.head(8).copy()
    gapped.iloc[[2, 5], 1] = np.nan
    filled.iloc[[2, 5], 1] = TABLE["income"].median()
    table = TABLE
    if as_array:
        table, gapped, filled = table.to_numpy(), gapped.to_numpy(), filled.to_numpy()
    before = gapped.copy()
    ensemble.fit(table, targets)
    assert_array_equal(ensemble.predict(gapped), ensemble.predict(filled))
    assert_array_equal(gapped, before)  # the caller's table is as it was


def test_members_that_take_gaps_get_them():
    gapped = TABLE.head(8).copy()
    gapped["age"] = np.nan
    vote = VotingClassifier([DecisionTreeClassifier(max_depth=2)]).fit(TABLE, LABELS)
    assert_array_equal(vote.predict(gapped), vote.estimators_[0][1].predict(gapped))


def test_gaps_of_training_are_filled_by_the_members_preparation():
    # Columns with gaps in training, and categories, are none of the ensemble's business.
    table = TABLE.copy()
    table.loc[4, "debt"] = np.nan
    table["kind"] = pd.Categorical(np.where(np.arange(60) % 3, "a", "b"))
    table["count"] = pd.array(np.arange(60), dtype="Int64")
    members = [KNeighborsClassifier(), DecisionTreeClassifier(max_depth=3)]
    vote = VotingClassifier(members, random_state=0).fit(table, LABELS)
    rows = table.head(6).copy()
    rows.loc[1, ["debt", "kind"]] = None
    rows.loc[2, "count"] = pd.NA
    filled = rows.copy()
    filled["count"] = filled["count"].astype(float).fillna(29.5)
    assert_array_equal(vote.predict_proba(rows), vote.predict_proba(filled))
    medians = vote._medians
    assert_array_equal(np.isnan(medians), [False, False, True, True, False])


def test_rows_without_weight_do_not_move_the_median():
    weights = np.ones(60)
    weights[:30] = 0.0
    members = [GaussianClassifier(), NaiveBayes()]
    weighed = VotingClassifier(members).fit(TABLE, LABELS, sample_weight=weights)
    part = VotingClassifier(members).fit(TABLE[30:], LABELS[30:])
    assert_array_equal(weighed._medians, part._medians)


@pytest.mark.parametrize(
    ("learner", "takes"),
    [
        (NaiveBayes(), True),
        (GaussianClassifier(), False),
        (make_pipeline(StandardScaler(), NaiveBayes()), True),
        (make_pipeline(StandardScaler(), GaussianClassifier()), False),
        (make_pipeline(SimpleImputer(), GaussianClassifier()), True),
        (make_pipeline(PCA(2), NaiveBayes()), False),
        (make_pipeline(StandardScaler(), PCA(2), NaiveBayes()), False),
        (make_pipeline(ColumnSubset([0]), StandardScaler(), GaussianClassifier()), False),
    ],
)
def test_pipelines_take_gaps_where_their_first_step_that_minds_does(learner, takes):
    assert takes_gaps(learner) == takes
