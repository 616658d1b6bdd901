"""The calibrated t test: Bouckaert's degrees of freedom, the formula, and its level."""

import numpy as np
import pytest
from scipy import stats

from verulam.base import DataError
from verulam.statistics import calibrated_degrees, calibrated_t_test, choose_test, cv_t_test

RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(size=(2, 100)) / 50 + [[0.10], [0.12]]


def test_ten_times_tenfold_has_ten_degrees_of_freedom():
    assert calibrated_degrees(100, 0.1) == 10


def test_fewer_degrees_where_splits_tell_less():
    assert calibrated_degrees(10, 0.1) < calibrated_degrees(100, 0.1)
    assert calibrated_degrees(100, 0.5) < calibrated_degrees(100, 0.1)
    assert calibrated_degrees(10, 0.5) >= 1


def test_independent_splits_keep_all_degrees():
    assert calibrated_degrees(30, 1e-9) == 29


def test_formula():
    result = calibrated_t_test(FIRST, SECOND, test_share=0.1)
    differences = FIRST - SECOND
    statistic = differences.mean() * np.sqrt(11) / differences.std(ddof=1)
    assert result.statistic == pytest.approx(statistic)
    assert result.degrees_of_freedom == (10,)
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 10))


def test_given_degrees_of_freedom_are_used():
    plain = cv_t_test(FIRST, SECOND)
    test = calibrated_t_test(FIRST, SECOND, test_share=0.1, degrees_of_freedom=99)
    assert test.statistic == pytest.approx(plain.statistic)
    assert test.p_value == pytest.approx(plain.p_value)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_level_is_kept_where_splits_are_correlated(share):
    """Any two differences of the model share a part of their variance, the test share."""
    repeats, splits = 4000, 60
    rng = np.random.default_rng(1)
    shared, independent = rng.normal(size=(repeats, 1)), rng.normal(size=(repeats, splits))
    differences = np.sqrt(share) * shared + np.sqrt(1 - share) * independent
    freedom = calibrated_degrees(splits, share)
    statistic = differences.mean(axis=1) * np.sqrt(freedom + 1) / differences.std(axis=1, ddof=1)
    rate = np.mean(2 * stats.t.sf(np.abs(statistic), freedom) < 0.05)
    # Whole degrees of freedom are as near as one can come.
    assert rate == pytest.approx(0.05, abs=0.025)
    naive = np.mean(
        2 * stats.t.sf(np.abs(statistic * np.sqrt(splits / (freedom + 1))), splits - 1) < 0.05
    )
    assert naive > 0.3


def test_the_chooser_offers_it_for_repeated_splits_alone():
    offered = [choice.function for choice in choose_test("compare", "repeated", replications=100)]
    assert offered[:2] == ["corrected_t_test", "calibrated_t_test"]
    single = [choice.function for choice in choose_test("compare", "k-fold")]
    assert "calibrated_t_test" not in single


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibrated_degrees(1, 0.1), "at least 2 are needed"),
        (lambda: calibrated_degrees(10, 1.0), "test_share must lie"),
        (
            lambda: calibrated_t_test(FIRST, SECOND, test_share=0.1, degrees_of_freedom=0),
            "degrees_of_freedom=0: at least 1",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(DataError, match=message):
        call()
