"""Pictures of the guide's page on radial bases and experts."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import dataset
from verulam.local import (
    MixtureOfExpertsClassifier,
    MixtureOfExpertsRegressor,
    RBFFeatures,
    RBFNetworkRegressor,
    trace_experts,
)
from verulam.plots import (
    expert_lines,
    expert_trace,
    experts_diagram,
    gate_map,
    radial_network_diagram,
    unit_bells,
    unit_ellipses,
)


def draw_local(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("bells", _bells()),
        ("xor", _xor()),
        ("normalised", _normalised()),
        ("experts", _experts()),
        ("networks", _networks()),
        ("gates", _gates()),
        ("trace", _trace()),
    ):
        figure.savefig(folder / f"local-{name}.png", dpi=110)
        plt.close(figure)


def _cars() -> tuple:
    cars = dataset("auto_mpg")
    x = (cars.inputs[["weight_in_lbs"]] / 1000).rename(columns={"weight_in_lbs": "weight"})
    return x, cars.target_values.to_numpy()


def _bells() -> plt.Figure:
    """Return bells of five units and what they add up to, before and after training."""
    x, y = _cars()
    figure, axes = plt.subplots(
        2, 2, figsize=(9.0, 5.0), sharex=True, sharey="row", layout="constrained",
        height_ratios=(2, 1),
    )  # fmt: skip
    grid = np.linspace(x["weight"].min(), x["weight"].max(), 300)
    for column, training in enumerate(("hybrid", "gradient")):
        network = RBFNetworkRegressor(5, training=training, random_state=0).fit(x, y)
        above, below = axes[:, column]
        above.plot(x["weight"], y, ".", color="0.7", markersize=4)
        above.plot(grid, network.predict(x.iloc[:0].reindex(range(300)).assign(weight=grid)), "k")
        above.set_title(f"{training}: R² {network.score(x, y):.2f}")
        unit_bells(network, x, shares=False, ax=below)
        below.get_legend().remove()
        below.set_xlabel("weight in 1000 lbs")
    axes[0, 0].set_ylabel("miles per gallon")
    axes[1, 1].set_ylabel("")
    return figure


def _xor() -> plt.Figure:
    """Return the two ways in which radial units tell exclusive-or."""
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    labels = np.array([0, 1, 1, 0])
    slanted = 0.25 * np.array([[[1.0, -0.9], [-0.9, 1.0]]])
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 3.9), layout="constrained")
    for ax, units, title in zip(
        axes,
        (
            RBFFeatures(init=[[0, 1], [1, 0]], bandwidth=0.35),
            RBFFeatures(init=[[0.5, 0.5]], covariance_type="full", bandwidth=slanted),
        ),
        ("two circles", "one ellipse"),
        strict=True,
    ):
        unit_ellipses(units.fit(rows), rows, labels, ax=ax)
        ax.set(title=title, xlim=(-1.1, 2.1), ylim=(-1.1, 2.1), aspect="equal")
    return figure


def _normalised() -> plt.Figure:
    """Return three bells and their shares."""
    rows = np.linspace(0, 10, 50)[:, None]
    figure, ax = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    units = RBFFeatures(init=[[2.0], [5.0], [7.0]], bandwidth=[0.8, 0.6, 1.0]).fit(rows)
    unit_bells(units, rows, ax=ax)
    return figure


def _experts() -> plt.Figure:
    """Return three experts over the weight of cars."""
    x, y = _cars()
    figure, ax = plt.subplots(figsize=(7.4, 4.0), layout="constrained")
    rows = x.to_numpy()
    expert_lines(MixtureOfExpertsRegressor(3, random_state=0).fit(rows, y), rows, y, ax=ax)
    ax.set(xlabel="weight in 1000 lbs", ylabel="miles per gallon")
    return figure


def _networks() -> plt.Figure:
    """Return a radial network, and a mixture of experts seen in two ways."""
    x, y = _cars()
    figure, axes = plt.subplots(3, 1, figsize=(7.6, 9.4), layout="constrained")
    radial_network_diagram(RBFNetworkRegressor(4, random_state=0).fit(x, y), ax=axes[0])
    experts = MixtureOfExpertsRegressor(3, random_state=0).fit(x, y)
    experts_diagram(experts, view="network", ax=axes[1])
    experts_diagram(experts, ax=axes[2])
    titles = ("radial network", "experts as a radial network", "experts as models that are weighed")
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title)
    return figure


def _gates() -> plt.Figure:
    """Return shares of softmax and radial gates over the bills of penguins."""
    penguins = dataset("penguins")
    columns = ["bill_length_mm", "bill_depth_mm"]
    complete = penguins.inputs[columns].notna().all(axis=1)
    bills = penguins.inputs.loc[complete, columns]
    species = penguins.target_values[complete].to_numpy()
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), sharey=True, layout="constrained")
    for ax, gate in zip(axes, ("softmax", "radial"), strict=True):
        learner = MixtureOfExpertsClassifier(3, gate=gate, alpha=0.1, random_state=0)
        gate_map(learner.fit(bills, species), bills, species, ax=ax)
        ax.set_title(f"{gate} gate, {learner.score(bills, species):.3f} right")
    axes[1].set_ylabel("")
    axes[0].get_legend().remove()
    return figure


def _trace() -> plt.Figure:
    """Return how two experts of a bent line come to err in opposite ways."""
    x = np.linspace(-1, 1, 100)[:, None]
    learner = MixtureOfExpertsRegressor(
        2, training="gradient", solver="adam", learning_rate=0.02, max_iter=40,
        n_iter_no_change=40, random_state=0,
    )  # fmt: skip
    figure, ax = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    expert_trace(trace_experts(learner, x, np.abs(x[:, 0])), ax=ax)
    return figure
