"""Curves of learning: means, bands, regret and traces are the numbers that they show."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.plots import eligibility_trace, learning_curves, regret_curves
from verulam.reinforcement import (
    Bandit,
    EpsilonGreedy,
    GridWorld,
    QLearning,
    Sarsa,
    Spaces,
    Transition,
    play_bandit,
    train,
)


def test_a_band_lies_over_seeds_around_the_mean():
    table = np.random.default_rng(0).normal(size=(20, 30))
    axes = learning_curves({"first": table, "second": table[0]}, window=5)
    smooth = np.array([np.convolve(row, np.ones(5) / 5, "valid") for row in table])
    np.testing.assert_allclose(axes.lines[0].get_ydata(), smooth.mean(axis=0))
    assert axes.lines[0].get_xdata()[0] == 5
    assert len(axes.collections) == 1
    path = axes.collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(path[:, 1].max(), np.quantile(smooth, 0.9, axis=0).max())
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["first", "second"]


def test_regret_is_the_mean_over_runs():
    run = play_bandit(
        Bandit([0.0, 1.0], 1.0), EpsilonGreedy(0.3), n_pulls=40, n_runs=5, random_state=0
    )
    axes = regret_curves({"greedy now and then": run})
    np.testing.assert_allclose(axes.lines[0].get_ydata(), run.regret.mean(axis=0))


@pytest.mark.parametrize("traces", ["replacing", "accumulating"])
def test_the_trace_is_that_of_an_agent(traces):
    states = [1, 0, 2, 0, 0, 1, 2, 0]
    agent = Sarsa(discount=0.9, trace_decay=0.8, traces=traces).start(Spaces(3, 1))
    seen = []
    for state in states:
        agent.learn(Transition(state, 0, 0.0, 1))
        seen.append(agent.eligibility_[0] / 0.72)
    visits = [step for step, state in enumerate(states) if state == 0]
    axes = eligibility_trace(visits, n_steps=8, decay=0.72, traces=traces)
    np.testing.assert_allclose(axes.lines[0].get_ydata(), seen)
    assert axes.lines[1].get_xdata().tolist() == visits
    assert axes.lines[1].get_marker() == "*"


def test_wrong_arguments_are_named():
    for call, message in (
        (lambda: learning_curves({}), "curves must be a dictionary"),
        (lambda: learning_curves({"a": [[1.0]]}, window=3), "too few for window 3"),
        (lambda: learning_curves({"a": [[1.0]]}, share=2.0), "share is 2.0"),
        (lambda: regret_curves({"a": 3}), "'a' is of type int"),
        (lambda: regret_curves([]), "runs must be a dictionary"),
        (lambda: eligibility_trace([9], n_steps=3, decay=0.5), "visits must lie from 0 to 2"),
        (lambda: eligibility_trace([1], n_steps=3, decay=0.5, traces="dutch"), "traces is 'dutch'"),
    ):
        with pytest.raises(DataError, match=message):
            call()


def test_learning_curves_take_what_train_returned():
    world = GridWorld("S..G", step_reward=-1.0).process
    runs = [train(QLearning(random_state=k), world, episodes=5, random_state=k) for k in (0, 1)]
    one = learning_curves({"agent": runs[0]})
    assert one.lines[0].get_ydata().tolist() == runs[0].returns.tolist()
    both = learning_curves({"agent": runs})
    mean = (runs[0].returns + runs[1].returns) / 2
    assert both.lines[0].get_ydata().tolist() == mean.tolist()


@pytest.mark.parametrize("returns", ["ab", [[1.0], [1.0, 2.0]], {"a": 1}])
def test_learning_curves_refuse_what_is_no_table(returns):
    with pytest.raises(DataError, match="'agent' must hold returns by seed and episode"):
        learning_curves({"agent": returns})
