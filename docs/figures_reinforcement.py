"""Pictures of the guide's page on reinforcement learning."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.plots import (
    alpha_lines,
    eligibility_trace,
    learning_curves,
    regret_curves,
    value_map,
)
from verulam.reinforcement import (
    Bandit,
    EpsilonGreedy,
    GridWorld,
    QLearning,
    Sarsa,
    Softmax,
    ThompsonSampling,
    UpperConfidence,
    after_action,
    cliff_world,
    compare_agents,
    play_bandit,
    solve_exactly,
    tiger,
    train,
    value_iteration,
)

#: The map of the page.
MAP = """
......G
.####..
.......
..##.P.
S......
"""


def draw_reinforcement(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    pictures = {
        "map": _map(),
        "cliff": _cliff(),
        "curves": _curves(),
        "trace": _trace(),
        "regret": _regret(),
        "tiger": _tiger(),
    }
    for name, figure in pictures.items():
        figure.savefig(folder / f"reinforcement-{name}.png", dpi=110)
        plt.close(figure)


def the_world() -> GridWorld:
    """Return the world of the page."""
    return GridWorld(MAP, goal_reward=100.0, pit_reward=-100.0, slip=0.2, discount=0.9)


def _map() -> plt.Figure:
    """Return best values and actions on the map."""
    world = the_world()
    plan = value_iteration(world.process)
    return value_map(world, plan.values, policy=plan.policy).figure


def _cliff() -> plt.Figure:
    """Return what Q learning and Sarsa have learned beside the cliff."""
    world = cliff_world()
    figure, axes = plt.subplots(2, 1, figsize=(8.5, 6.4), layout="constrained")
    for ax, kind in zip(axes, (QLearning, Sarsa), strict=True):
        agent = kind(learning_rate=0.5, random_state=0)
        train(agent, world.process, episodes=2000, random_state=0)
        value_map(world, agent.values().max(axis=1), policy=agent.policy(), ax=ax)
        ax.set_title(kind.__name__)
    return figure


def _curves() -> plt.Figure:
    """Return the returns of agents beside the cliff, by episode and over seeds."""
    agents = {
        "Q learning": QLearning(learning_rate=0.5),
        "Sarsa": Sarsa(learning_rate=0.5),
        "Sarsa(0.7)": Sarsa(learning_rate=0.5, trace_decay=0.7),
    }
    comparison = compare_agents(agents, {"cliff": cliff_world().process}, seeds=30, episodes=400)
    curves = {name: comparison.curves["cliff", name] for name in agents}
    ax = learning_curves(curves, window=20)
    ax.set_ylim(-120, 0)
    return ax.figure


def _trace() -> plt.Figure:
    """Return the eligibility of a pair that is visited four times."""
    figure, axes = plt.subplots(2, 1, figsize=(6.5, 4.6), layout="constrained", sharex=True)
    for ax, kind in zip(axes, ("replacing", "accumulating"), strict=True):
        eligibility_trace([3, 12, 15, 30], n_steps=45, decay=0.81, traces=kind, ax=ax)
        ax.set_title(kind)
    axes[0].set_xlabel("")
    return figure


def _regret() -> plt.Figure:
    """Return the regret of five rules on ten arms."""
    bandit = Bandit(np.random.default_rng(0).normal(size=10), 1.0)
    rules = {
        "greedy": EpsilonGreedy(0.0),
        "ε-greedy, 0.1": EpsilonGreedy(0.1),
        "softmax, 0.25": Softmax(0.25),
        "upper confidence": UpperConfidence(),
        "Thompson": ThompsonSampling(),
    }
    runs = {
        name: play_bandit(bandit, rule, n_pulls=1000, n_runs=300, random_state=0)
        for name, rule in rules.items()
    }
    return regret_curves(runs).figure


def _tiger() -> plt.Figure:
    """Return figures 18.10 and 18.11: lines now, after hearing, after sensing, and two steps."""
    process, restless = tiger(), tiger(stay=0.2)
    first = solve_exactly(process, 1)[0]
    panels = {
        "one step to go": first,
        "heard left, times its probability": after_action(process, first, "sense", "hear left"),
        "heard right, times its probability": after_action(process, first, "sense", "hear right"),
        "after sensing, its price left out": after_action(process, first, "sense"),
        "two steps to go": solve_exactly(process, 2)[1],
        "two steps to go, restless": solve_exactly(restless, 2)[1],
    }
    figure, axes = plt.subplots(2, 3, figsize=(13.0, 7.0), layout="constrained")
    for ax, (title, vectors) in zip(axes.flat, panels.items(), strict=True):
        alpha_lines(vectors, actions=process.actions, ax=ax)
        ax.set(title=title, xlabel="probability that the tiger is left")
    return figure
