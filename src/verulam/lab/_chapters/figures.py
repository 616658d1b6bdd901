"""What each figure draws: short programs that can be shown, copied and run as they stand."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np

from verulam.bayes import BetaBernoulli, GaussianMean
from verulam.data import gaussian_classes, noisy_sine, two_spirals, xor
from verulam.ensemble import AdaBoostClassifier
from verulam.graphical import sprinkler
from verulam.kernel import Gaussian, SupportVectorClassifier
from verulam.local import RBFNetworkRegressor, SelfOrganisingMap
from verulam.measures import roc
from verulam.neural import MLPClassifier
from verulam.nonparametric import KernelDensity, KernelSmoother
from verulam.parametric import GaussianClassifier
from verulam.plots import (
    belief_network,
    boosting_round,
    decision_regions,
    map_net,
    margin_boundary,
    posterior_curves,
    power_curves,
    roc_curves,
    smooth_curves,
    tree_diagram,
    trellis,
    value_map,
    window_density,
)
from verulam.reinforcement import EpsilonGreedy, GridWorld, QLearning, train, value_iteration
from verulam.sequence import CategoricalEmission, HiddenMarkovModel
from verulam.statistics import power_curve, sample_size
from verulam.tree import DecisionTreeClassifier

Facts = dict[str, float | int | str]


def window_bandwidth(bandwidth: float = 0.25, n: int = 30) -> Facts:
    """Sum one window for each point, and say how likely other points are under the sum."""
    random = np.random.default_rng(8)
    first = random.normal(-1.0, 0.5, (n, 1)), random.normal(1.0, 0.3, (n, 1))
    sample = np.concatenate(first)[random.permutation(2 * n)]
    density = KernelDensity(bandwidth=bandwidth).fit(sample[:n])
    window_density(density, label=f"bandwidth {bandwidth:g}")
    return {"mean log density of other points": float(density.score_samples(sample[n:]).mean())}


def smoother_bandwidth(bandwidth: float = 0.3, noise: float = 0.3) -> Facts:
    """Average the points around every place, weighted by a window."""
    data = noisy_sine(60, low=-3.0, high=3.0, frequency=1.5, noise=noise, random_state=8)
    X, y = data.inputs.to_numpy(), data.target_values.to_numpy()
    smoother = KernelSmoother(bandwidth=bandwidth).fit(X, y)
    smooth_curves({f"bandwidth {bandwidth:g}": smoother}, X, y)
    grid = np.linspace(-3.0, 3.0, 200)
    error = smoother.predict(grid[:, None]) - np.sin(1.5 * grid)
    return {"root mean squared distance from the sine": float(np.sqrt(np.mean(error**2)))}


def tree_depth(max_depth: int = 3, show: str = "regions") -> Facts:
    """Split the plane by one input at a time, so deep and no deeper."""
    data = gaussian_classes([[0, 0], [2, 1], [0, 3]], 0.8, n=300, random_state=9)
    X, y = data.inputs, data.target_values
    tree = DecisionTreeClassifier(max_depth=max_depth).fit(X[:200], y[:200])
    if show == "regions":
        decision_regions(tree, X[:200], y[:200])
    else:
        tree_diagram(tree)
    return {
        "error in training": float(1 - tree.score(X[:200], y[:200])),
        "error on 100 other points": float(1 - tree.score(X[200:], y[200:])),
    }


def linear_boundary(separation: float = 2.0, covariance_type: str = "tied") -> Facts:
    """Separate two Gaussian classes: one covariance gives a line, two give a conic."""
    data = gaussian_classes(
        np.array([[0.0, 0.0], [separation, separation / 2]]),
        [[[1.0, 0.4], [0.4, 1.0]], [[0.4, -0.1], [-0.1, 0.7]]],
        n=200,
        random_state=10,
    )
    X, y = data.inputs, data.target_values
    classifier = GaussianClassifier(covariance_type=covariance_type).fit(X, y)
    decision_regions(classifier, X, y)
    return {"error in training": float(1 - classifier.score(X, y))}


def network_epoch(epoch: int = 20, hidden_units: int = 6) -> Facts:
    """Train a network on XOR and stop after an epoch."""
    data = xor(120, noise=0.35, random_state=11)
    X, y = data.inputs, data.target_values
    network = MLPClassifier(
        hidden_units, activation="tanh", learning_rate=0.05, random_state=3, max_iter=200
    )
    for step in network.epochs(X, y):
        if step.number >= epoch:
            break
    decision_regions(network, X, y)
    return {"epoch": step.number, "error in training": float(1 - network.score(X, y))}


def map_ordering(passes: int = 10, side: int = 7) -> Facts:
    """Spread a map over a square, from a tangle to an ordered net."""
    random = np.random.default_rng(12)
    sample = random.uniform(-1.0, 1.0, (600, 2))
    radii = np.geomspace(side / 2, 0.5, 20)
    units = SelfOrganisingMap(
        (side, side),
        init="random",
        n_iter=passes,
        first_radius=radii[0],
        last_radius=radii[passes - 1],
        random_state=1,
    ).fit(sample)
    map_net(units, sample)
    return {
        "mean distance from the nearest unit": float(units.quantisation_error_),
        "share of torn neighbours": float(units.topographic_error_),
    }


def radial_units(n_units: int = 6, spread_share: float = 0.5) -> Facts:
    """Fit a sine by a sum of bumps."""
    data = noisy_sine(60, low=-3.0, high=3.0, frequency=1.5, noise=0.2, random_state=12)
    X, y = data.inputs.to_numpy(), data.target_values.to_numpy()
    network = RBFNetworkRegressor(n_units, spread_share=spread_share, random_state=0).fit(X, y)
    smooth_curves({f"{n_units} units": network}, X, y)
    return {"mean squared error in training": float(np.mean((network.predict(X) - y) ** 2))}


def machine_margin(C: float = 1.0, width: float = 1.0) -> Facts:
    """Separate two classes by a machine with a Gaussian kernel, and look at its margin."""
    data = gaussian_classes(
        [[0, 0], [2, 1]], [[[0.8, 0.3], [0.3, 0.8]]] * 2, n=120, random_state=13
    )
    X, y = data.inputs.to_numpy(), data.target_values.to_numpy()
    machine = SupportVectorClassifier(kernel=Gaussian(width=width), C=C).fit(X, y)
    margin_boundary(machine, X, y)
    return {
        "support vectors": len(machine.support_),
        "error in training": float(1 - machine.score(X, y)),
    }


def network_evidence(evidence: Mapping[str, str] | None = None) -> Facts:
    """Enter what is known about clouds, sprinkler, rain and grass: beliefs follow."""
    network = sprinkler()
    known = dict(evidence or {})
    belief_network(network, evidence=known, beliefs=True)
    unknown = [node for node in network.nodes if node not in known]
    return {
        f"probability of {node}": float(network.query(node, known).values[1]) for node in unknown
    }


def best_path(stay: float = 0.8, noise: float = 0.2, observations: str = "aababbbab") -> Facts:
    """Find the most probable way through the states of a hidden Markov model."""
    model = HiddenMarkovModel.from_parameters(
        [0.5, 0.5],
        [[stay, 1 - stay], [1 - stay, stay]],
        CategoricalEmission(probabilities=[[1 - noise, noise], [noise, 1 - noise]]),
    )
    codes = np.array(["ab".index(letter) for letter in observations])
    path = model.best_path(codes)
    trellis(
        np.asarray(model.predict_proba(codes)),
        path=path.states,
        observations=list(observations),
        names=["mostly a", "mostly b"],
    )
    return {
        "best path": "".join("ab"[state] for state in path.states),
        "log likelihood": float(model.score(codes)),
    }


def prior_strength(strength: float = 4.0, n: int = 10) -> Facts:
    """Estimate a mean: the firmer the prior, the more data it takes to move it."""
    sample = np.random.default_rng(16).normal(6.0, 1.5, n)
    prior = GaussianMean(4.0, 1.5**2 / strength, 1.5**2)
    posterior_curves(prior, sample)
    return {
        "mean of the sample": float(sample.mean()),
        "mean of the posterior": float((strength * 4.0 + sample.sum()) / (strength + n)),
    }


def coin_prior(a: int = 2, b: int = 2, heads: int = 7, tosses: int = 10) -> Facts:
    """Estimate the probability of heads from tosses and from counts that are only imagined."""
    sample = np.repeat([1, 0], [min(heads, tosses), max(tosses - heads, 0)])
    posterior_curves(BetaBernoulli(a, b), sample)
    return {"probability of heads next": float((a + sample.sum()) / (a + b + len(sample)))}


def boosting_rounds(rounds: int = 5) -> Facts:
    """Boost stumps: rows that were wrong weigh more in the next round."""
    data = two_spirals(160, turns=0.6, noise=0.08, random_state=17)
    X, y = data.inputs, data.target_values
    model = AdaBoostClassifier(n_estimators=rounds, random_state=0).fit(X, y)
    boosting_round(model, X, y, min(rounds, len(model.estimators_)))
    return {"error in training": float(1 - model.score(X, y))}


def grid_agent(
    world: str = "....G\n.##..\n..#.P\nS....",
    episodes: int = 50,
    epsilon: float = 0.2,
    slip: float = 0.1,
) -> Facts:
    """Let an agent learn by acting, and compare with what a planner who knows the world finds."""
    place = GridWorld(world, goal_reward=100.0, pit_reward=-100.0, slip=slip, discount=0.9)
    agent = QLearning(learning_rate=0.3, exploration=EpsilonGreedy(epsilon), random_state=18)
    run = train(agent, place.process, episodes=episodes, max_steps=300, random_state=18)
    values = agent.table_.max(axis=1)
    value_map(place, values, policy=agent.table_.argmax(axis=1))
    plan = value_iteration(place.process)
    return {
        "steps taken": int(run.n_steps),
        "largest gap to the best values": float(np.abs(values - plan.values).max()),
    }


def power_of_a_test(n: int = 20, alpha: float = 0.05) -> Facts:
    """Show how often a t test finds an effect, by its size."""
    effects = np.linspace(-1.5, 1.5, 61)
    curve = power_curve(effects, sorted({10, n, 80}), alpha=alpha)
    power_curves(curve)
    return {
        f"power at 0.5 deviations, {n} values": float(np.interp(0.5, effects, curve.table[n])),
        "values needed for power 0.8 there": int(sample_size(0.5, power=0.8, alpha=alpha)),
    }


def roc_separation(separation: float = 1.5, threshold: float = 0.75) -> Facts:
    """Move two classes apart and a threshold between them."""
    random = np.random.default_rng(19)
    truth = np.repeat([0, 1], 150)
    scores = random.normal(separation * truth, 1.0)
    curve = roc(truth, scores)
    roc_curves({"scores": curve}, threshold=threshold, ax=plt.subplots()[1])
    hits = float(np.mean(scores[truth == 1] >= threshold))
    alarms = float(np.mean(scores[truth == 0] >= threshold))
    return {"area": float(curve.area), "hits": hits, "false alarms": alarms}
