"""What matters: a point of shares, a share of what guessing scores, and odd measures."""

import numpy as np
import pytest

from verulam.experiment._evidence.estimate import default_margin
from verulam.experiment._store.row_values import ValidatedTargets
from verulam.experiment._text import is_share
from verulam.measures import Measure, measure

CODES = np.repeat([0.0, 1.0], [30, 10])
TWO = ValidatedTargets(CODES, np.array(["no", "yes"], dtype=object))
VALUES = np.random.default_rng(0).normal(10, 3, size=50)
NUMBERS = ValidatedTargets(VALUES, np.array([], dtype=object))
SCORES = np.array([1.0, 2.0, 40.0])


@pytest.mark.parametrize("name", ["error", "accuracy", "balanced_accuracy", "precision"])
def test_one_point_of_shares(name):
    assert is_share(measure(name))
    assert default_margin(measure(name), TWO, SCORES) == 0.01


@pytest.mark.parametrize("name", ["auc", "average_precision", "f_score"])
def test_areas_and_scores_are_not_given_in_per_cent_but_have_the_same_margin(name):
    assert not is_share(measure(name))
    assert default_margin(measure(name), TWO, SCORES) == 0.01


def test_options_change_neither():
    assert is_share(measure("tp_rate").with_options(positive="yes"))
    assert not is_share(measure("f_score").with_options(positive="yes"))


@pytest.mark.parametrize("name", ["kappa", "matthews"])
def test_measures_with_two_ends_have_a_hundredth_of_the_way_between_them(name):
    assert default_margin(measure(name), TWO, SCORES) == pytest.approx(0.02)


def test_a_share_of_what_the_mean_scores():
    deviations = VALUES - VALUES.mean()
    rmse, mse = np.sqrt(np.mean(deviations**2)), np.mean(deviations**2)
    assert default_margin(measure("rmse"), NUMBERS, SCORES) == pytest.approx(0.01 * rmse)
    assert default_margin(measure("mean_squared_error"), NUMBERS, SCORES) == pytest.approx(
        0.02 * mse
    )
    mae = np.mean(np.abs(deviations))
    assert default_margin(measure("mean_absolute_error"), NUMBERS, SCORES) == pytest.approx(
        0.01 * mae
    )
    assert default_margin(measure("r2"), NUMBERS, SCORES) == pytest.approx(0.01)
    assert default_margin(measure("relative_square_error"), NUMBERS, SCORES) == pytest.approx(0.02)


def test_a_share_of_what_the_shares_of_the_classes_score():
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert default_margin(measure("log_loss"), TWO, SCORES) == pytest.approx(0.02 * entropy)
    brier = 2 * 0.75 * 0.25
    assert default_margin(measure("brier"), TWO, SCORES) == pytest.approx(0.02 * brier)


def test_the_cost_of_the_majority_class():
    risk = measure("risk", loss=[[0, 10], [1, 0]])
    guess = risk(np.repeat(["no", "yes"], [30, 10]), ["no"] * 40, labels=["no", "yes"])
    assert default_margin(risk, TWO, SCORES) == pytest.approx(0.01 * guess)


@pytest.mark.parametrize("name", ["half_sum_of_squares", "epsilon_error"])
def test_sums_over_rows_are_compared_with_those_of_a_split(name):
    """All rows have a larger sum than those of a split, by which contestants are judged."""
    share = 0.02 if name == "half_sum_of_squares" else 0.01
    assert default_margin(measure(name), NUMBERS, SCORES) == pytest.approx(share * 2.0)


def test_a_constant_target_leaves_no_margin():
    constant = ValidatedTargets(np.full(9, 3.0), np.array([], dtype=object))
    assert default_margin(measure("rmse"), constant, SCORES) == 0.0


class TestOnesOwn:
    def test_that_scores_a_guess(self):
        def cost(truth, predicted):
            return float(np.mean(np.abs(truth - predicted))) * 7

        cost_measure = Measure.from_function(cost, greater_is_better=False, task="regression")
        expected = 0.01 * cost(VALUES, np.full(50, VALUES.mean()))
        assert default_margin(cost_measure, NUMBERS, SCORES) == pytest.approx(expected)

    @pytest.mark.parametrize("error", [KeyError, IndexError, ValueError, ZeroDivisionError])
    def test_that_cannot_takes_the_median_of_the_contestants(self, error):
        def cost(truth, predicted):
            raise error("no guesses, please")

        cost_measure = Measure.from_function(cost, greater_is_better=False)
        assert default_margin(cost_measure, TWO, SCORES) == pytest.approx(0.01 * 2.0)
        diverging = np.array([1.0, 2.0, 1e300, np.inf, np.nan])
        assert default_margin(cost_measure, TWO, diverging) == pytest.approx(0.01 * 2.0)
        assert default_margin(cost_measure, TWO, np.array([np.nan])) == 0.0

    def test_that_has_no_number_for_a_guess(self):
        cost_measure = Measure.from_function(lambda *_: np.nan, greater_is_better=True, name="odd")
        assert default_margin(cost_measure, TWO, SCORES) == pytest.approx(0.01 * 2.0)

    def test_with_a_range(self):
        cost_measure = Measure.from_function(
            lambda *_: 1.0, greater_is_better=True, name="marks", range=(1, 6)
        )
        assert default_margin(cost_measure, TWO, SCORES) == pytest.approx(0.05)
        share = Measure.from_function(
            lambda *_: 1.0, greater_is_better=True, name="hits", range=(0, 1)
        )
        assert is_share(share)

    def test_of_scores_cannot_be_guessed(self):
        cost_measure = Measure.from_function(
            lambda *_: 1.0, greater_is_better=True, name="gap", needs="scores"
        )
        assert default_margin(cost_measure, TWO, SCORES) == pytest.approx(0.01 * 2.0)
