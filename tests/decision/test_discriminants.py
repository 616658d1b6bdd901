"""Discriminant functions choose alike under the 0/1 loss; thresholds minimise the risk."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.decision import (
    ActionInterval,
    action_intervals,
    dichotomizer,
    log_odds,
    loss_table,
    threshold_from_losses,
)
from verulam.decision._discriminants import KINDS, discriminants


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_have_the_same_largest_function(kind):
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), size=50)
    values = discriminants(probabilities, kind, loss_table(range(3)))
    assert_array_equal(values.argmax(axis=1), probabilities.argmax(axis=1))


def test_dichotomizer_is_positive_for_the_first_class():
    """The first function minus the second, as the text has it."""
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]])
    values = dichotomizer(discriminants(probabilities, "posterior", loss_table([0, 1])))
    assert_allclose(values, [0.8, -0.6])
    assert_allclose(log_odds(probabilities), np.log([9, 1 / 4]))
    assert log_odds(np.array([0.0, 1.0])) == -np.inf


def test_bad_requests_are_refused():
    with pytest.raises(KeyError, match=r"Unknown kind of discriminant 'risks'. Nearest: risk"):
        discriminants(np.array([0.5, 0.5]), "risks", loss_table([0, 1]))
    with pytest.raises(ValueError, match="needs two discriminants, but there are 3"):
        dichotomizer(np.ones((4, 3)))
    with pytest.raises(ValueError, match="needs two discriminants, but there are 3"):
        log_odds(np.ones((4, 3)))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 4.0])
def test_threshold_is_alpha_over_one_plus_alpha(alpha):
    assert_allclose(threshold_from_losses(alpha, 1), alpha / (1 + alpha))


def test_threshold_minimises_the_mean_loss_of_calibrated_probabilities():
    rng = np.random.default_rng(0)
    probability = rng.beta(2, 2, size=200_000)
    loss_fp, loss_fn, loss_tp, loss_tn = 3.0, 2.0, 0.5, 0.25
    grid = np.linspace(0, 1, 101)
    risks = [
        np.where(
            probability > threshold,
            loss_tp * probability + loss_fp * (1 - probability),
            loss_fn * probability + loss_tn * (1 - probability),
        ).mean()
        for threshold in grid
    ]
    expected = threshold_from_losses(loss_fp, loss_fn, loss_tp=loss_tp, loss_tn=loss_tn)
    assert abs(grid[np.argmin(risks)] - expected) <= 0.01


def test_errors_must_cost_more_than_right_decisions():
    with pytest.raises(ValueError, match="loss must punish wrong choices more"):
        threshold_from_losses(1, 1, loss_tp=2)


def test_intervals_of_two_actions_meet_at_the_threshold():
    low, high = action_intervals(loss_table(["no", "yes"], [[0, 1], [4, 0]]))
    assert (low.action, high.action) == ("no", "yes")
    assert_allclose([low.low, low.high, high.low, high.high], [0, 0.8, 0.8, 1])


def test_reject_zone_lies_between_cost_and_its_complement():
    pieces = action_intervals(loss_table([0, 1], reject_cost=0.1))
    assert [piece.action for piece in pieces] == [0, "reject", 1]
    assert_allclose([piece.low for piece in pieces], [0, 0.1, 0.9])


def test_actions_that_are_never_best_are_left_out():
    table = loss_table([0, 1], [[0, 1], [1, 0], [0.9, 0.9]], actions=["a", "b", "never"])
    assert [piece.action for piece in action_intervals(table)] == ["a", "b"]


def test_three_lines_through_one_point_leave_no_sliver():
    table = loss_table([0, 1], [[0, 1], [1, 0], [0.5, 0.5]], actions=["a", "b", "touches"])
    assert [piece.action for piece in action_intervals(table)] == ["a", "b"]


def test_intervals_need_two_classes():
    with pytest.raises(ValueError, match="need two classes, but there are 3"):
        action_intervals(loss_table([0, 1, 2]))


def test_intervals_are_records_of_action_and_ends():
    table = loss_table(["no", "yes"])
    assert action_intervals(table) == (
        ActionInterval("no", 0.0, 0.5),
        ActionInterval("yes", 0.5, 1.0),
    )
