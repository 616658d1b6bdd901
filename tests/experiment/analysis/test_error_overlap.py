"""Overlap of errors: counts, agreement with McNemar's cells, numbers, and gaps."""

import numpy as np
import pytest
from tests.experiment.analysed import RUNS_OF, changed_copy

from verulam.experiment import LearnerChoice
from verulam.experiment._analysis.error_overlap import correlation_of, error_overlaps, overlap_of
from verulam.experiment._store.predictions import StoredPredictions, pooled_predictions
from verulam.experiment._store.responses import responses
from verulam.statistics import error_overlap


def test_agrees_with_the_cells_of_mcnemar(several):
    contestants = responses(several).contestants
    found = error_overlaps(StoredPredictions(several), "wine", contestants)
    one, other = (pooled_predictions(several, "wine", each.learner) for each in contestants[1:3])
    cells = error_overlap(one.targets, one.predicted, other.predicted)
    names = contestants[1].name, contestants[2].name
    assert found.disagreement.loc[names] == pytest.approx(cells.disagreement)
    wrong = cells.total - cells.both_right
    assert found.shared.loc[names] == pytest.approx(cells.both_wrong / wrong)
    assert found.rows == cells.total


def test_all_and_some():
    wrong = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 1], [0, 0, 0]], dtype=bool)
    found = overlap_of("d", ["a", "b", "c"], wrong)
    assert found.all_wrong == 0.25
    assert found.some_right == 0.5
    assert found.most_different == ("a", "b", pytest.approx(1 / 3))
    assert found.shared.loc["b", "c"] == 1.0
    assert found.disagreement.loc["b", "c"] == 0.0


def test_nobody_errs():
    found = overlap_of("d", ["a", "b"], np.zeros((5, 2), dtype=bool))
    assert found.shared.loc["a", "b"] == 1.0
    assert found.disagreement.to_numpy().sum() == 0.0


def test_errors_of_numbers_are_correlated():
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(50, 3))
    found = correlation_of("d", list("abc"), errors)
    assert found.shared.to_numpy() == pytest.approx(np.corrcoef(errors.T))
    assert found.disagreement.loc["a", "c"] == pytest.approx(
        np.abs(errors[:, 0] - errors[:, 2]).mean()
    )
    assert "the least alike (correlation" in found.sentence


def test_a_constant_error_has_no_correlation():
    errors = np.column_stack([np.ones(4), [1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]])
    found = correlation_of("d", list("abc"), errors)
    assert np.isnan(found.shared.loc["a", "b"])
    assert found.most_different[:2] == ("b", "c")


def test_stored_numbers(make_results):
    learners = [LearnerChoice("mean predictor"), LearnerChoice("ridge regression")]
    results = make_results(learners, ["stackloss"], resampling="3-fold")
    found = error_overlaps(StoredPredictions(results), "stackloss", responses(results).contestants)
    assert found.numbers
    assert np.isnan(found.all_wrong)


def test_who_lacks_splits_is_left_out(several, tmp_path):
    command = "DELETE FROM runs WHERE " + RUNS_OF.format("parametric.NaiveBayes", "= 0")
    results = changed_copy(several, tmp_path / "gaps.sqlite", command)
    contestants = responses(results).contestants
    found = error_overlaps(StoredPredictions(results), "iris", contestants)
    assert "parametric.NaiveBayes" not in found.shared.index
    assert error_overlaps(StoredPredictions(results), "iris", contestants[:1]) is None
