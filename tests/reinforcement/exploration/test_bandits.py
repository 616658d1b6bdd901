"""Bandits and automata: values, regret and the limits of each rule."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.numerics import inverse
from verulam.reinforcement import (
    Bandit,
    BanditRun,
    EpsilonGreedy,
    LearningAutomaton,
    Softmax,
    ThompsonSampling,
    UpperConfidence,
    play_bandit,
)

ARMS = Bandit([0.0, 1.0, 0.5], 1.0)
COINS = Bandit([0.2, 0.8, 0.5], kind="bernoulli")


def test_deterministic_arms_are_known_after_one_pull():
    """Q(a) = r_a, and the best is pulled from then on."""
    run = play_bandit(Bandit([1.0, 5.0, 3.0]), n_pulls=20, initial_value=9.0, random_state=0)
    assert run.estimates.tolist() == [[1.0, 5.0, 3.0]]
    assert run.actions[0, 3:].tolist() == [1] * 17


def test_the_rate_one_over_n_gives_means():
    run = play_bandit(ARMS, EpsilonGreedy(1.0), n_pulls=300, random_state=0)
    for arm in range(3):
        mean = run.rewards[run.actions == arm].mean()
        assert run.estimates[0, arm] == pytest.approx(mean)
    np.testing.assert_allclose(run.estimates[0], ARMS.means, atol=0.3)


def test_constant_and_falling_rates_are_the_recursion():
    for rate in (0.2, inverse(1.0, 0.6)):
        run = play_bandit(
            ARMS, Softmax(1.0), n_pulls=50, learning_rate=rate, initial_value=2.0, random_state=1
        )
        values, counts = np.full(3, 2.0), np.zeros(3)
        for arm, reward in zip(run.actions[0], run.rewards[0], strict=True):
            counts[arm] += 1
            step = rate if isinstance(rate, float) else rate(counts[arm])
            values[arm] += step * (reward - values[arm])
        np.testing.assert_allclose(run.estimates[0], values)


def test_regret_is_what_the_best_arm_would_have_given_more():
    run = play_bandit(ARMS, EpsilonGreedy(0.5), n_pulls=40, n_runs=3, random_state=0)
    assert isinstance(run, BanditRun)
    np.testing.assert_allclose(run.regret, np.cumsum(1.0 - ARMS.means[run.actions], axis=1))


@pytest.mark.parametrize(
    "rule",
    [
        EpsilonGreedy(0.05),
        EpsilonGreedy(inverse(1.0)),
        Softmax(inverse(1.0, 0.3)),
        UpperConfidence(),
        ThompsonSampling(),
    ],
)
@pytest.mark.parametrize("bandit", [ARMS, COINS], ids=["normal", "coins"])
def test_every_rule_comes_to_the_best_arm(rule, bandit):
    run = play_bandit(bandit, rule, n_pulls=1500, n_runs=40, random_state=0)
    assert (run.actions[:, -300:] == 1).mean() > 0.85
    chance = play_bandit(bandit, EpsilonGreedy(1.0), n_pulls=1500, n_runs=40, random_state=0)
    assert run.regret[:, -1].mean() < 0.3 * chance.regret[:, -1].mean()


def test_confidence_tries_every_arm_first_and_is_the_formula():
    run = play_bandit(COINS, UpperConfidence(1.0), n_pulls=200, random_state=2)
    actions, rewards = run.actions[0], run.rewards[0]
    assert sorted(actions[:3]) == [0, 1, 2]
    for pull in range(3, 200):
        counts = np.bincount(actions[:pull], minlength=3)
        means = np.bincount(actions[:pull], rewards[:pull], 3) / counts
        bounds = means + np.sqrt(2 * np.log(pull + 1) / counts)
        assert bounds[actions[pull]] == pytest.approx(bounds.max())


def test_the_automaton_moves_by_reward_and_penalty():
    automaton = LearningAutomaton(3, reward_rate=0.2, penalty_rate=0.1)
    automaton.learn(1, 1.0)
    np.testing.assert_allclose(automaton.probabilities_, [0.8 / 3, 0.8 / 3 + 0.2, 0.8 / 3])
    before = automaton.probabilities_
    automaton.learn(1, 0.0)
    np.testing.assert_allclose(
        automaton.probabilities_, 0.9 * before + 0.1 * np.array([0.5, 0, 0.5])
    )
    assert automaton.probabilities_.sum() == pytest.approx(1.0)
    draws = np.bincount([automaton.act() for _ in range(4000)], minlength=3) / 4000
    np.testing.assert_allclose(draws, automaton.probabilities_, atol=0.03)


def test_reward_inaction_settles_on_the_best_arm_and_reward_penalty_does_not():
    rule = LearningAutomaton(3, reward_rate=0.02)
    run = play_bandit(COINS, rule, n_pulls=3000, n_runs=30, random_state=0)
    assert (run.estimates[:, 1] > 0.99).mean() > 0.9
    assert rule.probabilities_.tolist() == [1 / 3] * 3
    both = LearningAutomaton(3, reward_rate=0.02, penalty_rate=0.02)
    mixed = play_bandit(COINS, both, n_pulls=3000, n_runs=30, random_state=0).estimates.mean(axis=0)
    # In the limit p_i is in proportion to 1 / c_i, c_i the chance of a penalty.
    expected = np.array([1 / 0.8, 1 / 0.2, 1 / 0.5])
    np.testing.assert_allclose(mixed, expected / expected.sum(), atol=0.05)


def test_automata_of_one_and_of_many_runs_agree():
    one = LearningAutomaton(3, reward_rate=0.1, penalty_rate=0.05)
    run = play_bandit(COINS, one, n_pulls=30, random_state=4)
    for arm, reward in zip(run.actions[0], run.rewards[0], strict=True):
        one.learn(int(arm), float(reward))
    np.testing.assert_allclose(one.probabilities_, run.estimates[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Bandit([]), "means is empty"),
        (lambda: Bandit([1.0], -1.0), "deviations must be finite and not negative"),
        (lambda: Bandit([2.0], kind="bernoulli"), "means must be probabilities"),
        (lambda: Bandit([2.0], kind="cauchy"), "kind is 'cauchy'"),
        (lambda: play_bandit(ARMS, "greedy", n_pulls=3), "rule is of type str"),
        (lambda: play_bandit(ARMS, n_pulls=0), "n_pulls is 0"),
        (lambda: play_bandit(ARMS, LearningAutomaton(3), n_pulls=3), "needs rewards of 0 and 1"),
        (lambda: play_bandit(COINS, LearningAutomaton(2), n_pulls=3), "2 actions for 3 arms"),
        (lambda: LearningAutomaton(3, reward_rate=2.0), "reward_rate is 2.0"),
        (lambda: LearningAutomaton(3).learn(0, 2.0), "response is 2.0"),
        (lambda: ThompsonSampling(0.0), "prior_deviation is 0.0"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
