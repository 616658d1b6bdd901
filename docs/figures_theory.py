"""Pictures of the guide's page on the theory of learning."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import dataset
from verulam.nonparametric import NeighbourSmoother
from verulam.plots import bias_and_variance, bound_and_simulation, labelings_grid, version_space
from verulam.rule import BoxClassifier
from verulam.theory import bias_variance, box_bound, shatters, simulate_learning


def draw_theory(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("version-space", _version_space()),
        ("labelings", _labelings()),
        ("bound", _bound()),
        ("bias-variance", _bias_variance()),
    ):
        figure.savefig(folder / f"theory-{name}.png", dpi=110)
        plt.close(figure)


def _version_space() -> plt.Figure:
    """Return the boxes that agree with measured flowers of one species."""
    table = dataset("iris")
    columns = ["petal_length_cm", "petal_width_cm"]
    X = table.inputs[columns].to_numpy()[::3]
    y = (np.asarray(table.target_values) == "setosa")[::3]
    figure, ax = plt.subplots(figsize=(7.4, 4.2), layout="constrained")
    version_space(BoxClassifier(positive=True).fit(X, y), X, np.where(y, "setosa", "other"), ax=ax)
    ax.set(xlabel="petal length", ylabel="petal width")
    return figure


def _labelings() -> plt.Figure:
    """Return all labelings of three and of four points."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.6), layout="constrained")
    labelings_grid(shatters([[0, 0], [1, 0], [0.4, 1]]), ax=axes[0])
    labelings_grid(shatters([[0, 0], [0, 1], [1, 0], [1, 1]]), ax=axes[1])
    return figure


def _inside(X: np.ndarray) -> np.ndarray:
    return ((X > 0.2) & (X < 0.8)).all(axis=1)


def _bound() -> plt.Figure:
    """Return the failures of tightest boxes beside their bound."""
    counts = (10, 20, 40, 60, 90, 130, 174, 220)
    runs = [
        simulate_learning(
            BoxClassifier(hypothesis="specific"),
            _inside,
            lambda count, random: random.random((count, 2)),
            n_samples=count,
            error=0.1,
            n_repeats=300,
            n_test=4_000,
        )
        for count in counts
    ]
    promised = [box_bound(error=0.1, n_samples=count).delta for count in counts]
    figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    bound_and_simulation(runs, promised, ax=ax)
    return figure


def _bias_variance() -> plt.Figure:
    """Return stiff, fitting and nervous smoothers of the same noisy sine."""
    points = np.linspace(0.0, 1.0, 100)[:, None]
    parts = {
        f"{count} neighbours": bias_variance(
            NeighbourSmoother(n_neighbors=count),
            lambda X: np.sin(6.0 * X[:, 0]),
            lambda size, random: random.random((size, 1)),
            points,
            noise=0.3,
            n_samples=60,
            n_repeats=100,
        )
        for count in (50, 15, 2)
    }
    axes = bias_and_variance(parts, np.sin(6.0 * points[:, 0]))
    return axes[0].figure
