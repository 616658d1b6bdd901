"""Pictures of the guide's page on rules."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from verulam.data import dataset
from verulam.plots import decision_regions
from verulam.rule import BoxClassifier, Ripper, SequentialCovering

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.45"


def draw_rule(folder: Path) -> None:
    """Draw the page's three pictures into `folder`."""
    for name, figure in (
        ("covering", _covering()),
        ("titanic", _titanic()),
        ("version-space", _version_space()),
    ):
        figure.savefig(folder / f"rule-{name}.png", dpi=110)
        plt.close(figure)


def _covering() -> plt.Figure:
    """Return what covering without and with pruning makes of two noisy boxes."""
    rng = np.random.default_rng(3)
    X = rng.random((500, 2))
    inside = (np.abs(X - 0.27) < 0.19).all(axis=1) | (np.abs(X - 0.73) < 0.19).all(axis=1)
    y = np.where(inside ^ (rng.random(500) < 0.1), "inside", "outside")
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.7), sharey=True, layout="constrained")
    learners = (SequentialCovering(criterion="foil"), Ripper(random_state=1))
    for ax, learner in zip(axes, learners, strict=True):
        learner.fit(X, y)
        decision_regions(learner, X, y, ax=ax)
        for corner in (0.08, 0.54):
            ax.add_patch(
                Rectangle((corner, corner), 0.38, 0.38, fill=False, linestyle="--", linewidth=1.4)
            )
        ax.set_title(f"{type(learner).__name__}: {len(learner.rules_)} rules", fontsize="medium")
        ax.set(xlabel="first input", ylabel="second input", aspect="equal")
        ax.label_outer()
    axes[1].get_legend().remove()
    return figure


def _titanic() -> plt.Figure:
    """Return support and confidence of the rules, as bars."""
    titanic = dataset("titanic")
    learner = Ripper(random_state=0).fit(titanic.inputs, titanic.target_values)
    rules = [*learner.rules_.rules, learner.rules_.default]
    labels = [str(rule).replace("_", " ").replace(" AND ", "\nAND ") for rule in rules]
    figure, ax = plt.subplots(figsize=(8.4, 4.6), layout="constrained")
    places = np.arange(len(rules))[::-1]
    right = np.array([rule.support * rule.confidence for rule in rules])
    support = np.array([rule.support for rule in rules])
    ax.barh(places, right, color=BLUE, label="rightly decided")
    ax.barh(places, support - right, left=right, color=ORANGE, label="wrongly decided")
    for place, rule in zip(places, rules, strict=True):
        ax.text(rule.support + 0.01, place, f"{rule.confidence:.0%} right", va="center")
    ax.set_yticks(places, labels, fontsize="small")
    ax.set(xlabel="share of the passengers", xlim=(0, 0.9))
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.legend(loc="center right")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def _version_space() -> plt.Figure:
    """Return the tightest and loosest boxes around family cars, and where they disagree."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.uniform(5, 40, 45), rng.uniform(40, 260, 45)])
    family = (np.abs(X[:, 0] - 20) < 7) & (np.abs(X[:, 1] - 140) < 50)
    learner = BoxClassifier().fit(X, family)
    grid = np.meshgrid(np.linspace(3, 42, 400), np.linspace(30, 270, 400))
    doubt = learner.in_doubt(np.column_stack([part.ravel() for part in grid]))
    figure, ax = plt.subplots(figsize=(7.2, 5.0), layout="constrained")
    ax.contourf(*grid, doubt.reshape(grid[0].shape), levels=[0.5, 1.5], colors=["#f0e442"])
    ax.plot(*X[family].T, "o", color=BLUE, label="family cars")
    ax.plot(*X[~family].T, "x", color=GREY, label="other cars")
    specific = learner.specific_
    _outline(ax, specific.lower, specific.upper, BLUE, "-", "S, the most specific")
    for place, box in enumerate(learner.general_):
        label = "G, the most general" if place == 0 else None
        _outline(ax, box.lower, box.upper, ORANGE, "--", label)
    ax.plot([], [], "s", color="#f0e442", markersize=10, label="in doubt")
    ax.set(xlabel="price", ylabel="engine power", xlim=(3, 42), ylim=(30, 270))
    figure.legend(loc="outside right upper")
    return figure


def _outline(ax, lower, upper, colour, style, label) -> None:
    """Draw a box, open sides as far as the picture goes."""
    low, high = np.maximum(lower, [2, 20]), np.minimum(upper, [43, 280])
    size = high - low
    ax.add_patch(
        Rectangle(
            low, *size, fill=False, edgecolor=colour, linestyle=style, linewidth=1.6, label=label
        )
    )
