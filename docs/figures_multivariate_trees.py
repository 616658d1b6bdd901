"""Pictures of the guide's page on multivariate trees."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from verulam.plots import decision_regions, tree_diagram
from verulam.tree import DecisionTreeClassifier, MultivariateTreeClassifier


def draw_multivariate_trees(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("oblique", _oblique()),
        ("steps", _steps()),
        ("kinds", _kinds()),
        ("soft", _soft()),
    ):
        figure.savefig(folder / f"multivariate-trees-{name}.png", dpi=110)
        plt.close(figure)


def _oblique() -> plt.Figure:
    """Return two classes that one slanted line divides, the line and the tree of one node."""
    random = np.random.default_rng(1)
    X = random.uniform(0.0, 4.0, size=(60, 2))
    distance = X @ [0.8, 0.6] - 2.7
    X, y = X[np.abs(distance) > 0.15], (distance > 0)[np.abs(distance) > 0.15]
    labels = np.where(y, "C1", "C2")
    tree = MultivariateTreeClassifier("oc1", random_state=0).fit(X, labels)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    decision_regions(tree, X, labels, ax=left)
    left.set(xlabel="x1", ylabel="x2", title="A linear node may lie at any angle")
    tree_diagram(tree, ax=right)
    right.set_title("The whole tree")
    return figure


def _steps() -> plt.Figure:
    """Return the staircase of a univariate tree beside one linear node."""
    X, y = slanted()
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0), layout="constrained", sharey=True)
    for ax, tree, name in (
        (axes[0], DecisionTreeClassifier(), "one input at a time"),
        (axes[1], MultivariateTreeClassifier("lda"), "linear"),
    ):
        tree.fit(X, y)
        decision_regions(tree, X, y, ax=ax)
        ax.set(xlabel="x1", title=f"{name}: {tree.get_n_leaves()} leaves")
    axes[0].set_ylabel("x2")
    axes[1].set_ylabel("")
    return figure


def slanted() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return two classes with a slanted border between them."""
    X = np.random.default_rng(0).uniform(size=(200, 2))
    return X, np.where(X[:, 0] > X[:, 1], "right", "left")


def _kinds() -> plt.Figure:
    """Return the first split of eight kinds of nodes on the same three classes."""
    random = np.random.default_rng(4)
    ring = random.normal(size=(70, 2))
    ring *= (2.4 + 0.2 * random.normal(size=70))[:, None] / np.linalg.norm(ring, axis=1)[:, None]
    X = np.vstack(
        [0.6 * random.normal(size=(70, 2)), ring, random.normal(size=(25, 2)) * 0.4 + 2.9]
    )
    y = np.repeat(["inner", "ring", "corner"], [70, 70, 25])
    kinds = ("univariate", "ternary", "lda", "oc1", "gaussian", "sphere", "quadratic", "network")
    figure, axes = plt.subplots(2, 4, figsize=(12.0, 6.2), layout="constrained")
    for ax, kind in zip(axes.flat, kinds, strict=True):
        tree = MultivariateTreeClassifier(kind, max_depth=1, hidden_units=5, random_state=0)
        tree.fit(X, y)
        decision_regions(tree, X, y, ax=ax)
        ax.set(xlabel="", ylabel="", xticks=[], yticks=[], title=kind)
        legend = ax.get_legend()
        if legend is not None and kind != "univariate":
            legend.remove()
    return figure


def _soft() -> plt.Figure:
    """Return the posterior along a line for hard and soft nodes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 1))
    y = random.uniform(size=150) < 1.0 / (1.0 + np.exp(-3.0 * X[:, 0]))
    tree = MultivariateTreeClassifier("univariate", min_samples_leaf=15).fit(X, y)
    grid = np.linspace(-3.0, 3.0, 601)[:, None]
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for softness, style, colour in ((0.0, "-", "#d55e00"), (0.1, "--", "#009e73"), (0.3, ":", "k")):
        tree.set_params(softness=softness)
        ax.plot(grid, tree.predict_proba(grid)[:, 1], style, color=colour, label=f"{softness:g}")
    ax.set(xlabel="x", ylabel="P(class 1 | x)", ylim=(-0.02, 1.02))
    ax.legend(title="softness")
    return figure
