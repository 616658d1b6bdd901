"""Schedules: their values, and whether they meet the conditions of stochastic approximation."""

import pickle

import pytest

from verulam.base import DataError
from verulam.numerics import (
    Schedule,
    ScheduleCheck,
    check_schedule,
    constant,
    exponential,
    inverse,
    search_then_converge,
)


@pytest.mark.parametrize(
    ("schedule", "first", "tenth", "converges"),
    [
        (constant(0.2), 0.2, 0.2, False),
        (inverse(1.0), 1.0, 0.1, True),
        (inverse(1.0, power=0.5), 1.0, 10**-0.5, False),
        (inverse(1.0, power=2.0), 1.0, 0.01, False),
        (exponential(1.0, 0.5), 1.0, 0.5**9, False),
        (search_then_converge(1.0, 10.0), 1 / 1.1, 0.5, True),
    ],
)
def test_values_and_conditions(schedule, first, tenth, converges):
    assert schedule(1) == pytest.approx(first)
    assert schedule(10) == pytest.approx(tenth)
    assert schedule.converges is converges


@pytest.mark.parametrize(
    "schedule",
    [
        constant(0.2),
        inverse(1.0, power=0.5),
        exponential(1.0, 0.5),
        search_then_converge(1.0, 10.0),
        Schedule("own", lambda step: 1.0 if step < 3 else 0.5, True, False),
    ],
)
def test_a_table_has_the_rates_of_successive_steps(schedule):
    assert schedule.table(2, 3).tolist() == pytest.approx([schedule(k) for k in (2, 3, 4)])


def test_a_schedule_survives_pickling():
    assert pickle.loads(pickle.dumps(inverse(0.5)))(2) == 0.25


@pytest.mark.parametrize(
    ("rate", "separates", "settles"),
    [
        (lambda k: 0.3 + 0.0 * k, True, False),
        (lambda k: 1.0 / k, True, True),
        (lambda k: k**-0.5, True, False),
        (lambda k: 1.0 / (5.0 + k), True, True),
        (lambda k: k**-1.5, False, False),
        (lambda k: 0.9**k, False, False),
        (lambda k: 1.01**k, False, False),
    ],
)
def test_conditions_are_judged_by_the_rates_themselves(rate, separates, settles):
    schedule = Schedule("own", rate, sums_to_infinity=False, squares_sum=False)
    check = check_schedule(schedule)
    assert (check.separates, check.settles) == (separates, settles)


@pytest.mark.parametrize(
    "schedule", [constant(0.1), inverse(2.0), inverse(1.0, 0.7), exponential(1.0, 0.99)]
)
def test_what_schedules_declare_is_what_the_check_finds(schedule):
    check = check_schedule(schedule)
    assert check.sums_to_infinity == schedule.sums_to_infinity
    assert check.settles == schedule.converges


def test_negative_rates_are_refused():
    with pytest.raises(DataError, match="not negative"):
        check_schedule(Schedule("down", lambda k: -1.0 + 0 * k, True, True))


def test_the_three_conditions_combine():
    assert ScheduleCheck(True, True, False).separates
    assert not ScheduleCheck(True, True, False).settles
    assert not ScheduleCheck(False, True, True).settles
    assert "finite sum" in str(ScheduleCheck(False, True, True))
