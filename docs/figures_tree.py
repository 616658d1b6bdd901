"""Pictures of the guide's page on decision trees."""

from copy import copy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import dataset
from verulam.plots import decision_regions, tree_diagram
from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    entropy,
    gini,
    misclassification,
)


def draw_tree(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("regions", _regions()),
        ("growth", _growth()),
        ("impurities", _impurities()),
        ("titanic", _titanic()),
        ("smooths", _smooths()),
        ("linear", _linear()),
    ):
        figure.savefig(folder / f"tree-{name}.png", dpi=110)
        plt.close(figure)


def _regions() -> plt.Figure:
    """Return a data set, its tree and the rectangles of its leaves."""
    iris = dataset("iris")
    X = iris.inputs[["petal_length_cm", "petal_width_cm"]]
    tree = DecisionTreeClassifier(max_leaf_nodes=4).fit(X, iris.target_values)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    decision_regions(tree, X, iris.target_values, ax=left)
    tree_diagram(tree, ax=right)
    left.set_title("Each leaf is a rectangle")
    right.set_title("The same tree")
    return figure


def _growth() -> plt.Figure:
    """Return the regions of a tree after each of its first splits."""
    iris = dataset("iris")
    X = iris.inputs[["petal_length_cm", "petal_width_cm"]]
    tree = DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=5)
    steps = tree.fit(X, iris.target_values).growth()
    figure, axes = plt.subplots(2, 2, figsize=(9.0, 7.4), layout="constrained")
    for step, ax in enumerate(axes.flat, 1):
        smaller = copy(tree)
        smaller.tree_ = tree.stage(step)
        decision_regions(smaller, X, iris.target_values, ax=ax)
        split = steps.loc[step]
        title = f"Split {step}: {split['test']}, gain {split['gain']:.2f} bits"
        ax.set_title(title, fontsize="small")
        if step > 1:
            ax.get_legend().remove()
    return figure


def _impurities() -> plt.Figure:
    """Return three impurities of two classes."""
    p = np.linspace(0.0, 1.0, 201)
    pair = np.column_stack([p, 1.0 - p])
    figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
    for impurity, style in ((entropy, "-"), (gini, "--"), (misclassification, ":")):
        ax.plot(p, impurity(pair), style, color="black", label=impurity.__name__)
    ax.set(xlabel="share of the first class", ylabel="impurity", ylim=(0.0, 1.05))
    ax.legend()
    return figure


def _titanic() -> plt.Figure:
    """Return the pruned tree of the passengers."""
    titanic = dataset("titanic")
    tree = DecisionTreeClassifier(preset="cart", random_state=0)
    tree.fit(titanic.inputs, titanic.target_values)
    figure, ax = plt.subplots(figsize=(11.0, 6.2), layout="constrained")
    tree_diagram(tree, ax=ax, max_depth=4, fontsize=7.5)
    return figure


def _smooths() -> plt.Figure:
    """Return regression trees for three acceptable errors, smooths above trees."""
    random = np.random.default_rng(3)
    X = np.sort(random.uniform(0.0, 8.0, size=(60, 1)), axis=0)
    y = 2.0 + np.sin(1.3 * X[:, 0]) + random.normal(scale=0.35, size=60)
    grid = np.linspace(0.0, 8.0, 500)[:, None]
    figure, axes = plt.subplots(
        2, 3, figsize=(14.0, 6.4), width_ratios=(0.7, 1.0, 1.6), layout="constrained"
    )
    for column, threshold in enumerate((0.4, 0.2, 0.13)):
        tree = DecisionTreeRegressor(error_threshold=threshold, min_samples_leaf=3).fit(X, y)
        axes[0, column].plot(X[:, 0], y, "x", color="0.5")
        axes[0, column].plot(grid, tree.predict(grid), color="#0072b2")
        axes[0, column].set_title(rf"$\theta_r$ = {threshold}: {tree.get_n_leaves()} leaves")
        tree.schema_ = type(tree.schema_)(("x",), (None,))
        tree_diagram(tree, ax=axes[1, column], fontsize=6.0)
    return figure


def _linear() -> plt.Figure:
    """Return constant and linear leaves on the same curve."""
    random = np.random.default_rng(0)
    X = np.sort(random.uniform(-2.0, 2.0, size=(120, 1)), axis=0)
    y = np.abs(X[:, 0]) + random.normal(scale=0.1, size=120)
    grid = np.linspace(-2.0, 2.0, 500)[:, None]
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    ax.plot(X[:, 0], y, "x", color="0.6")
    for model, colour, style in (("constant", "#d55e00", "-"), ("linear", "#0072b2", "--")):
        tree = DecisionTreeRegressor(leaf_model=model, error_threshold=0.015).fit(X, y)
        label = f"{model}: {tree.get_n_leaves()} leaves"
        ax.plot(grid, tree.predict(grid), style, color=colour, label=label)
    ax.legend()
    return figure
