"""The .632 and .632+ estimates: worked numbers, limits, and rows counted by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.statistics import (
    BootstrapError,
    ResampledLosses,
    bootstrap_error,
    no_information_error,
    resampled_losses,
)


def test_worked_numbers():
    plain = bootstrap_error(0.1, 0.3)
    assert plain.value == pytest.approx(0.368 * 0.1 + 0.632 * 0.3)
    assert plain.weight == pytest.approx(0.632)
    plus = bootstrap_error(0.1, 0.3, 0.5)
    # R = 0.2 / 0.4, and the weight of the error out of bag is 0.632 / (1 - 0.368 R).
    assert plus.overfitting == pytest.approx(0.5)
    assert plus.weight == pytest.approx(0.632 / (1 - 0.368 * 0.5))
    assert plus.value == pytest.approx(0.1 + 0.2 * 0.632 / (1 - 0.184))


def test_one_neighbour_on_labels_of_chance():
    """The example of Efron and Tibshirani: the plain estimate is 0.316, the truth is 0.5."""
    assert bootstrap_error(0.0, 0.5).value == pytest.approx(0.316)
    estimate = bootstrap_error(0.0, 0.5, 0.5)
    assert estimate.value == pytest.approx(0.5)
    assert "relative overfitting 1" in str(estimate)


@pytest.mark.parametrize(
    ("errors", "value"),
    [
        ((0.2, 0.2, 0.5), 0.2),  # nothing overfitted
        ((0.2, 0.1, 0.5), 0.368 * 0.2 + 0.632 * 0.1),  # better on rows left out
        ((0.2, 0.4, 0.1), 0.368 * 0.2 + 0.632 * 0.4),  # worse than chance on its own rows
        ((0.0, 0.6, 0.5), 0.632 * 0.6 + 0.5 * 0.368),  # worse than chance out of bag
    ],
)
def test_limits(errors, value):
    assert bootstrap_error(*errors).value == pytest.approx(value)


def test_plus_lies_between_plain_and_out_of_bag():
    random = np.random.default_rng(0)
    for training, out_of_bag, chance in np.sort(random.random((200, 3)), axis=1):
        plain = bootstrap_error(training, out_of_bag).value
        assert plain <= bootstrap_error(training, out_of_bag, chance).value <= out_of_bag


def test_rows_count_alike_out_of_bag():
    losses = np.array([[1.0, 0.0, 4.0], [3.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    draws = np.array([[0, 2, 1], [0, 1, 2], [1, 0, 2]])
    mean_losses = resampled_losses(losses, draws)
    # Row 0 is left out twice, row 1 once, row 2 never.
    assert mean_losses.out_of_bag == pytest.approx(((1 + 3) / 2 + 1) / 2)
    assert mean_losses.training == pytest.approx((4 / 3 + 2 / 3 + 2 / 3) / 3)
    assert mean_losses.always_drawn == 1


def test_no_information_is_the_mean_over_all_pairs():
    random = np.random.default_rng(1)
    true, predicted = random.integers(0, 3, 40), random.integers(0, 4, 40)
    assert_allclose(
        no_information_error(true, predicted), np.mean(true[:, None] != predicted[None, :])
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_error(np.nan, 0.2), "training must be a finite number"),
        (lambda: bootstrap_error(0.1, 0.2, np.inf), "no_information must be a finite"),
        (lambda: resampled_losses([[0.0, 1.0]], [[1, 1]]), "Every row was drawn"),
        (lambda: resampled_losses([[0.0, 1.0]], [[1]]), "losses has shape"),
        (lambda: resampled_losses([[0.0, np.nan]], [[1, 0]]), "missing or infinite"),
        (lambda: resampled_losses([[0.0, 1.0]], [[0, 0]]), "at least one in each sample"),
        (lambda: no_information_error([0, 1], [0]), "one class for each row"),
        (lambda: no_information_error([], []), "one class for each row"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_errors_that_differ_by_rounding_are_equal():
    training = 0.1 + 0.2
    estimate = bootstrap_error(0.3, training, training + 1e-16)
    assert training > 0.3
    assert estimate.overfitting == 0.0
    assert estimate.value == pytest.approx(0.3)


def test_records_hold_what_the_estimate_was_made_of():
    estimate = bootstrap_error(0.1, 0.3)
    assert estimate == BootstrapError(estimate.value, estimate.method, 0.1, 0.3)
    assert estimate.value == pytest.approx(0.368 * 0.1 + 0.632 * 0.3)
    # Row 0 is drawn always; rows 1 and 2 are left out once each.
    losses = resampled_losses([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], [[2, 0, 1], [1, 2, 0]])
    assert isinstance(losses, ResampledLosses)
    assert losses.always_drawn == 1
