"""Pooled predictions give the same scores as the runs."""

from dataclasses import replace

import numpy as np
import pytest

from verulam.experiment._store.predictions import (
    PooledPredictions,
    StoredPredictions,
    hardest_rows,
    pooled_predictions,
)


def test_every_row_is_validated_once_a_repeat(two):
    pooled = pooled_predictions(two, "iris", "parametric.NaiveBayes")
    assert pooled.classes == ("setosa", "versicolor", "virginica")
    assert pooled.targets.shape == pooled.predicted.shape == (5 * 150,)
    assert pooled.probabilities.shape == (5 * 150, 3)
    errors = two.scores("error").groupby("learner")["error"].mean()
    wrong = np.mean(pooled.targets != pooled.predicted)
    assert wrong == pytest.approx(errors["parametric.NaiveBayes"])


def test_probabilities_belong_to_the_classes(two):
    pooled = pooled_predictions(two, "iris", "parametric.NaiveBayes")
    likeliest = np.array(pooled.classes)[pooled.probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(likeliest, pooled.predicted)


def test_only_the_full_share(factors):
    pooled = pooled_predictions(factors, "breast_cancer", "k-nearest neighbours", "n_neighbors=1")
    assert len(pooled.targets) == 569


def test_nothing_finished(two):
    assert pooled_predictions(two, "iris", "no such learner") is None


def test_numbers(make_results):
    from verulam.experiment import LearnerChoice

    results = make_results([LearnerChoice("mean predictor")], ["stackloss"], resampling="3-fold")
    pooled = pooled_predictions(results, "stackloss", "mean predictor")
    assert pooled.classes == ()
    assert pooled.probabilities is None
    assert pooled.targets.dtype == np.float64
    assert len(np.unique(pooled.predicted)) == 3


def test_predictions_by_split_are_those_that_are_pooled(two):
    predictions = StoredPredictions(two)
    splits = predictions.by_split("iris", "parametric.NaiveBayes")
    targets = predictions.targets("iris")
    assert targets.task == "classification"
    assert np.bincount(targets.values).tolist() == [50, 50, 50]
    wrong = [np.mean(split.predicted != targets.values[split.rows]) for split in splits]
    scores = two.scores("error").set_index("run")["error"]
    np.testing.assert_allclose(wrong, [scores[split.run] for split in splits])
    assert sorted(np.concatenate([split.rows for split in splits])) == sorted([*range(150)] * 5)


def test_every_row_counts_once(two):
    pooled = pooled_predictions(two, "iris", "parametric.NaiveBayes")
    assert pooled.row_shares.sum() == pytest.approx(150)
    assert np.bincount(pooled.rows).tolist() == [5] * 150
    assert pooled.share_of(0) == pytest.approx(1 / 3)


def test_the_hardest_rows_are_those_of_least_probability(two):
    pooled = pooled_predictions(two, "iris", "parametric.NaiveBayes")
    hardest = hardest_rows(pooled, 4)
    codes = np.searchsorted(pooled.classes, pooled.targets)
    chances = pooled.probabilities[np.arange(750), codes]
    means = np.bincount(pooled.rows, weights=chances) / 5
    wrong = np.bincount(pooled.rows, weights=pooled.predicted != pooled.targets) / 5
    order = [row for row in np.argsort(means, kind="stable") if wrong[row] > 0][:4]
    assert [row.row for row in hardest] == [row + 1 for row in order]
    assert [row.loss for row in hardest] == pytest.approx([1 - means[row] for row in order])
    assert all(row.target != row.predicted or row.wrong < 0.5 for row in hardest)
    assert hardest[0].wrong == pytest.approx(wrong[order[0]])


def test_rows_without_an_error_are_not_hard():
    right = np.array(["a", "b"])
    sure = PooledPredictions(("a", "b"), right, right, None, rows=np.array([0, 1]))
    assert hardest_rows(sure) == ()
    assert hardest_rows(replace(sure, rows=None)) == ()
