"""Overlap of errors: counts, agreement with McNemar's cells, numbers, and gaps."""

from dataclasses import replace

import numpy as np
import pytest
from tests.experiment.analysed import RUNS_OF, changed_copy

from verulam.experiment import LearnerChoice
from verulam.experiment._analysis.error_overlap import (
    correlation_of,
    error_overlaps,
    overlap_of,
    vote_of,
)
from verulam.experiment._store.predictions import (
    PooledPredictions,
    StoredPredictions,
    pooled_predictions,
)
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
    assert found.by_contestant.loc["a"].tolist() == [0.5, 0.25, 0.25]
    assert found.by_contestant.loc["c"].tolist() == [0.5, 0.0, 0.0]


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


LABELS = ("no", "yes")


def says(*labels, probability=None, rows=None):
    """Return predictions for rows whose class is "yes" throughout."""
    shares = None if probability is None else np.column_stack([1 - np.array(probability)] * 2)
    if shares is not None:
        shares[:, 1] = probability
    targets = np.full(len(labels), "yes")
    return PooledPredictions(LABELS, targets, np.array(labels), shares, rows=rows)


def test_a_vote_by_labels_and_by_probabilities():
    members = {
        "a": says("no", "yes", "yes", "yes", probability=[0.4, 0.9, 0.9, 0.9]),
        "b": says("yes", "no", "yes", "no", probability=[0.9, 0.45, 0.9, 0.0]),
        "c": says("yes", "yes", "no", "no", probability=[0.9, 0.9, 0.45, 0.4]),
    }
    soft = vote_of(members)
    assert (soft.rule, soft.members, soft.best, soft.best_error) == ("probabilities", 3, "a", 0.25)
    # Only the last row has a mean below one half: 0.9, 0.0 and 0.4.
    assert soft.error == 0.25
    hard = vote_of({**members, "d": says("yes", "yes", "yes", "yes")})
    assert (hard.rule, hard.best, hard.best_error) == ("plurality", "d", 0.0)
    # Two against two in the last row goes as the best does.
    assert hard.error == 0.0
    assert "no clear difference" in hard.sentence


def test_a_vote_that_beats_the_best_is_said_to():
    wrong = np.arange(90) % 3
    members = {
        name: says(*np.where(wrong == place, "no", "yes")) for place, name in enumerate("abc")
    }
    vote = vote_of(members)
    assert (vote.error, vote.best_error) == (0.0, pytest.approx(1 / 3))
    half = 1.96 * np.sqrt(1 / 3 * 2 / 3 / 89)
    assert (vote.low, vote.high) == pytest.approx((-1 / 3 - half, -1 / 3 + half))
    assert vote.sentence == (
        "A majority vote of these 3 would err on 0.0 % of the rows; a, the best of them, errs on "
        "33.3 % (difference -43.1 to -23.5 points), so that together they are better than the best "
        "alone."
    )
    assert "(difference +0.0 to +2.0 points)" in replace(vote, low=-1e-4, high=0.02).sentence
    alike = {"a": members["a"], "b": members["a"]}
    assert (vote_of(alike).low, vote_of(alike).high) == (0.0, 0.0)


def test_a_vote_of_numbers_is_their_mean_and_rows_count_once():
    targets, rows = np.array([1.0, 2.0, 1.0]), np.array([0, 1, 0])

    def member(*errors):
        return PooledPredictions((), targets, targets + errors, None, rows=rows)

    vote = vote_of({"a": member(1.0, 1.0, 1.0), "b": member(-1.0, 3.0, -3.0)})
    # Squares of the mean error: 0, 4 and 1; the first and the third are of one row.
    assert vote.error == pytest.approx((0.5 + 4.0) / 2)
    assert (vote.rule, vote.best, vote.best_error) == ("numbers", "a", 1.0)
    assert "The mean of the numbers of these 2 would have a root mean squared error of 1.5" in (
        vote.sentence
    )


def test_stored_predictions_vote_without_refitting(several):
    contestants = responses(several).contestants
    stored = [pooled_predictions(several, "wine", each.learner) for each in contestants]
    likely = [
        contestant
        for contestant, predictions in zip(contestants, stored, strict=True)
        if predictions.probabilities is not None
    ]
    stored = [predictions for predictions in stored if predictions.probabilities is not None]
    overlap = error_overlaps(StoredPredictions(several), "wine", likely)
    mean = np.mean([each.probabilities for each in stored], axis=0)
    wrong = np.array(stored[0].classes)[mean.argmax(axis=1)] != stored[0].targets
    assert overlap.vote.error == pytest.approx(wrong.mean())
    assert overlap.vote.sentence in overlap.sentence
    assert len(likely) > 1
    assert overlap.vote.rule == "probabilities"
