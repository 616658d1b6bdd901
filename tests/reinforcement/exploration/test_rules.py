"""Exploration: probabilities, limits, schedules and the conditions of convergence."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.numerics import (
    Schedule,
    check_schedule,
    constant,
    exponential,
    inverse,
    search_then_converge,
)
from verulam.reinforcement import (
    EpsilonGreedy,
    GLIECheck,
    GridWorld,
    QLearning,
    Softmax,
    Spaces,
    check_glie,
)
from verulam.reinforcement._exploration.rules_loops import scheduled


def frequencies(agent, values, n=6000):
    agent.start(Spaces(1, len(values), discount=0.9))
    agent.table_[0] = values
    return np.bincount([agent.act(0) for _ in range(n)], minlength=len(values)) / n


def test_epsilon_is_spread_over_all_actions():
    rule = EpsilonGreedy(0.4)
    np.testing.assert_allclose(rule.probabilities([0.0, 3.0, 1.0, 1.0]), [0.1, 0.7, 0.1, 0.1])
    # Ties share what is left; actions that are not there get nothing.
    np.testing.assert_allclose(rule.probabilities([3.0, 3.0]), [0.5, 0.5])
    shares = rule.probabilities([9.0, 3.0, 1.0], [False, True, True])
    np.testing.assert_allclose(shares, [0.0, 0.8, 0.2])
    drawn = frequencies(QLearning(exploration=rule, random_state=0), [0.0, 3.0, 1.0, 1.0])
    np.testing.assert_allclose(drawn, [0.1, 0.7, 0.1, 0.1], atol=0.02)


def test_softmax_between_all_alike_and_greedy():
    values = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(Softmax(1e9).probabilities(values), 1 / 3, atol=1e-6)
    np.testing.assert_allclose(Softmax(1e-3).probabilities(values), [0, 0, 1], atol=1e-12)
    expected = np.exp(values / 2) / np.exp(values / 2).sum()
    np.testing.assert_allclose(Softmax(2.0).probabilities(values), expected)
    # Large values do not overflow.
    np.testing.assert_allclose(Softmax(1.0).probabilities([1e6, 1e6 - 1])[0], 0.731, atol=1e-3)
    drawn = frequencies(QLearning(exploration=Softmax(2.0), random_state=0), values)
    np.testing.assert_allclose(drawn, expected, atol=0.02)


def test_a_temperature_that_falls_anneals():
    rule = Softmax(exponential(10.0, 0.5))
    spread = [rule.probabilities([0.0, 1.0], step=step)[1] for step in (1, 5, 10)]
    assert spread[0] == pytest.approx(1 / (1 + np.exp(-0.1)))
    assert spread[0] < spread[1] < spread[2]
    assert spread[2] > 0.999


def test_ties_are_broken_by_lot_or_by_order():
    greedy = EpsilonGreedy(0.0)
    by_lot = frequencies(QLearning(exploration=greedy, random_state=0), [1.0, 1.0, 0.0])
    np.testing.assert_allclose(by_lot, [0.5, 0.5, 0.0], atol=0.03)
    first = frequencies(QLearning(exploration=greedy, ties="first"), [1.0, 1.0, 0.0], 50)
    assert first.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("rule", "explores", "greedy", "soft"),
    [
        (EpsilonGreedy(inverse(1.0), clock="visits"), True, True, True),
        (EpsilonGreedy(inverse(1.0, 0.5)), True, True, True),
        (EpsilonGreedy(0.1), True, False, True),
        (EpsilonGreedy(0.0), False, True, False),
        (EpsilonGreedy(exponential(1.0, 0.9)), False, True, True),
        (EpsilonGreedy(inverse(1.0, 2.0)), False, True, True),
        (Softmax(1.0), True, False, True),
        (Softmax(inverse(1.0)), False, True, False),
    ],
)
def test_greedy_in_the_limit_with_infinite_exploration(rule, explores, greedy, soft):
    check = check_glie(rule)
    assert isinstance(check, GLIECheck)
    assert (check.explores_forever, check.greedy_in_the_limit) == (explores, greedy)
    assert check.holds == (explores and greedy)
    if isinstance(rule, EpsilonGreedy) and rule.epsilon != 0.9:
        assert check.soft == soft or not explores


def test_epsilon_falls_by_visits_of_the_state():
    agent = QLearning(exploration=EpsilonGreedy(inverse(1.0), clock="visits"), random_state=0)
    agent.start(Spaces(2, 4, discount=0.9))
    agent.table_[:, 2] = 1.0
    late = [agent.act(0) for _ in range(3000)][-1000:]
    assert np.mean(np.array(late) != 2) < 0.01
    # Another state begins with exploration alone.
    first = []
    for _ in range(400):
        agent.state_visits_[1] = 0
        first.append(agent.act(1))
    assert np.mean(np.array(first) != 2) > 0.65


@pytest.mark.parametrize(
    ("schedule", "settles"),
    [
        (constant(0.1), False),
        (inverse(1.0), True),
        (inverse(1.0, 0.7), True),
        (inverse(1.0, 0.4), False),
        (exponential(1.0, 0.9), False),
        (search_then_converge(0.5, 20.0), True),
    ],
)
def test_step_sizes_and_the_conditions_of_robbins_and_monro(schedule, settles):
    assert check_schedule(schedule).settles == settles
    assert schedule.converges == settles


@pytest.mark.parametrize(
    ("schedule", "kind", "first", "shape"),
    [
        (constant(0.3), 0, 0.3, 0.0),
        (inverse(0.5), 1, 0.5, 1.0),
        (inverse(0.5, 0.7), 1, 0.5, 0.7),
        (exponential(2.0, 0.9), 2, 2.0, 0.9),
        (search_then_converge(0.5, 20.0), 3, 0.5, 20.0),
    ],
)
def test_compiled_schedules_are_those_of_numerics(schedule, kind, first, shape):
    for step in (1, 2, 17, 1000):
        assert scheduled(kind, first, shape, float(step)) == pytest.approx(
            schedule(step), rel=1e-14
        )


def test_wrong_levels_are_refused():
    for call, message in (
        (lambda: EpsilonGreedy(1.5), "epsilon is 1.5; expected a number at least 0 and at most 1"),
        (lambda: EpsilonGreedy("much"), "epsilon is 'much'"),
        (lambda: EpsilonGreedy(inverse(3.0)), "epsilon is a schedule that begins with 3.0"),
        (lambda: EpsilonGreedy(0.1, clock="years"), "clock is 'years'"),
        (lambda: Softmax(0.0), "temperature is 0.0; expected a number above 0"),
        (lambda: check_glie("greedy"), "rule is of type str"),
        (lambda: Softmax().probabilities([np.nan, 1.0]), "values has a value that is missing"),
        (lambda: Softmax().probabilities([1.0], [False]), "available must have one flag"),
    ):
        with pytest.raises(DataError, match=message):
            call()


def test_a_schedule_of_the_users_own_runs_from_python():
    world = GridWorld("S..G", discount=0.9)
    steps = []

    def halved(step):
        steps.append(step)
        return 0.5

    agent = QLearning(learning_rate=Schedule("mine", halved, True, False), random_state=0)
    agent.start(Spaces.of(world.process))
    assert not agent.is_compiled
