"""Figures of a final model with their intervals."""

import numpy as np
import pytest
from scipy.stats import t
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import log_loss, roc_auc_score
from tests.experiment.analysed import responses_of

from verulam.decision import loss_table
from verulam.experiment._final.estimate import (
    TestPredictions,
    bootstrap_in_groups,
    decision_response,
    locked_response,
    predictions_of,
    rate_in_groups,
    resampled_response,
)
from verulam.measures import measure
from verulam.statistics import rate_interval


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(120, 2))
    targets = np.where(inputs[:, 0] + 0.8 * rng.normal(size=120) > 0, "yes", "no")
    return inputs, targets


def test_rates_have_the_interval_of_rates(binary):
    said = predictions_of(LogisticRegression().fit(*binary), *binary, ["no", "yes"])
    wrong = int((said.predicted != binary[1]).sum())
    for name, count in (("error", wrong), ("accuracy", 120 - wrong)):
        card, interval = locked_response(measure(name), said, seed=0), rate_interval(count, 120)
        assert (card.value, card.low, card.high) == (
            interval.estimate,
            interval.low,
            interval.high,
        )


def test_groups_widen_every_interval(binary):
    """Every row four times over says no more than once, if the copies are known for groups."""
    learner = LogisticRegression().fit(*binary)
    inputs, targets = (np.repeat(part, 4, axis=0) for part in binary)
    once = predictions_of(learner, *binary, ["no", "yes"])
    apart = predictions_of(learner, inputs, targets, ["no", "yes"])
    together = predictions_of(learner, inputs, targets, ["no", "yes"], np.repeat(np.arange(120), 4))
    losses = loss_table(["no", "yes"], [[0, 5], [1, 0]])

    def widths(said):
        cards = [locked_response(measure(name), said, seed=0) for name in ("error", "log_loss")]
        cards.append(decision_response(losses, said, seed=0))
        return np.array([card.high - card.low for card in cards])

    np.testing.assert_allclose(widths(together), widths(once), rtol=0.1)
    np.testing.assert_allclose(widths(together) / widths(apart), 2.0, rtol=0.15)


def test_other_measures_have_a_bootstrap(binary):
    said = predictions_of(LogisticRegression().fit(*binary), *binary, ["no", "yes"])
    card = locked_response(measure("log_loss"), said, seed=0)
    assert card.value == pytest.approx(log_loss(binary[1], said.probabilities))
    # The mean of independent losses: the normal interval is a close one.
    losses = -np.log(said.probabilities[np.arange(120), (binary[1] == "yes").astype(int)])
    reach = 1.96 * losses.std(ddof=1) / np.sqrt(120)
    assert card.high - card.low == pytest.approx(2 * reach, rel=0.15)
    assert locked_response(measure("log_loss"), said, seed=0) == card


def test_areas_from_scores(binary):
    learner = Perceptron().fit(*binary)
    said = predictions_of(learner, *binary, ["no", "yes"])
    assert said.probabilities is None
    card = locked_response(measure("auc"), said, seed=0)
    expected = roc_auc_score(binary[1] == "yes", learner.decision_function(binary[0]))
    assert card.value == pytest.approx(expected)
    assert card.low < card.value < card.high
    assert locked_response(measure("log_loss"), said, seed=0) is None


def test_a_class_that_was_not_learnt_has_no_probability(binary):
    learner = LogisticRegression().fit(*binary)
    said = predictions_of(learner, *binary, ["maybe", "no", "yes"])
    assert said.probabilities.shape == (120, 3)
    assert (said.probabilities[:, 0] == 0).all()


def test_the_mean_loss_of_decisions():
    probabilities = np.array([[0.9, 0.1], [0.55, 0.45], [0.2, 0.8]])
    targets = np.array(["a", "b", "a"])
    said = TestPredictions(targets, targets, ("a", "b"), probabilities)
    card = decision_response(loss_table(["a", "b"], reject_cost=0.3), said, seed=0)
    # Right, rejected, wrong.
    assert card.value == pytest.approx((0 + 0.3 + 1) / 3)
    assert card.title == "Mean loss of decisions, 33.3% rejected"


def test_the_resampled_interval_allows_for_overlap():
    scores = [0.1, 0.2, 0.15, 0.12, 0.18]
    found = responses_of({"iris": {"tree": scores}}, folds=5, test_share=0.2)
    card = resampled_response(found, "iris", "tree")
    reach = 2.7764451 * np.sqrt((1 / 5 + 0.25) * np.var(scores, ddof=1))
    assert card.value == pytest.approx(0.15)
    assert (card.low, card.high) == (pytest.approx(0.15 - reach), pytest.approx(0.15 + reach))
    assert card.where == "cross-validation"


def test_one_split_has_no_interval():
    found = responses_of({"iris": {"tree": [0.1]}}, folds=1, test_share=0.3)
    card = resampled_response(found, "iris", "tree")
    assert (card.value, card.low, card.high) == (0.1, None, None)


def test_without_groups_the_interval_is_that_of_a_rate():
    found, expected = rate_in_groups(np.arange(20) < 3, None), rate_interval(3, 20)
    assert (found.low, found.high) == (expected.low, expected.high)


def test_equal_groups_have_the_t_interval_of_their_means():
    rng = np.random.default_rng(0)
    counted = rng.random((12, 5)) < rng.random((12, 1))
    means = counted.mean(axis=1)
    reach = t.ppf(0.975, 11) * means.std(ddof=1) / np.sqrt(12)
    found = rate_in_groups(counted.ravel(), np.repeat(np.arange(12), 5))
    assert found.low == pytest.approx(means.mean() - reach)
    assert found.high == pytest.approx(means.mean() + reach)


def test_no_error_in_a_few_groups_is_not_certain():
    found = rate_in_groups(np.zeros(60, dtype=bool), np.repeat(np.arange(6), 10))
    assert (found.low, found.high) == (0.0, rate_interval(0, 6).high)


def test_a_single_group_has_no_interval():
    groups = np.zeros(8, dtype=np.intp)
    assert rate_in_groups(np.arange(8) < 2, groups).low is None
    found = bootstrap_in_groups(lambda rows: float(rows.mean()), 8, groups, seed=0)
    assert (found.low, found.high, found.method) == (None, None, "")


def test_groups_are_drawn_as_a_whole():
    groups, seen = np.array([0, 1, 0, 2, 2, 2]), []
    bootstrap_in_groups(lambda rows: seen.append(rows) or 0.0, 6, groups, seed=0)
    for rows in seen:
        counts = np.bincount(rows, minlength=6)
        assert counts[0] == counts[2]
        assert counts[3] == counts[4] == counts[5]
