"""Pictures of the guide's page on rules."""

import itertools
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from verulam.data import dataset
from verulam.plots import decision_regions, tree_diagram
from verulam.rule import (
    BoxClassifier,
    Ripper,
    SequentialCovering,
    description_length,
    extract_rules,
)
from verulam.tree import DecisionTreeRegressor

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.45"


def draw_rule(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("tree", _tree()),
        ("covering", _covering()),
        ("bits", _bits()),
        ("titanic", _titanic()),
        ("version-space", _version_space()),
    ):
        figure.savefig(folder / f"rule-{name}.png", dpi=110)
        plt.close(figure)


def _tree() -> plt.Figure:
    """Return the hypothetical tree of age, years in the job and its type, and its rules."""
    rows = itertools.product((25, 38, 39, 55), (1, 2, 3, 9), "ABC")
    table = pd.DataFrame(rows, columns=["age", "years_in_job", "job_type"])
    older = np.where(table["years_in_job"] > 2, 0.8, 0.6)
    y = np.where(table["age"] > 38, older, table["job_type"].map({"A": 0.4, "B": 0.3, "C": 0.2}))
    table["job_type"] = table["job_type"].astype("category")
    tree = DecisionTreeRegressor(categories="n_way").fit(table, y)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11.0, 3.8), width_ratios=(1.5, 1.0), layout="constrained"
    )
    tree_diagram(tree, ax=left, fontsize=8.5)
    lines = [f"R{place}: {rule}" for place, rule in enumerate(extract_rules(tree).rules, 1)]
    text = "\n\n".join(line.replace(" THEN", "\n      THEN") for line in lines)
    right.text(0.0, 0.5, text, va="center", family="monospace", fontsize=8.5)
    right.axis("off")
    return figure


def _boxes(n_rows: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in two noisy boxes and around them."""
    rng = np.random.default_rng(3)
    X = rng.random((n_rows, 2))
    inside = (np.abs(X - 0.27) < 0.19).all(axis=1) | (np.abs(X - 0.73) < 0.19).all(axis=1)
    return X, np.where(inside ^ (rng.random(n_rows) < 0.1), "inside", "outside")


def _bits() -> plt.Figure:
    """Return the length of the description, rule by rule: of rules, of exceptions, of both."""
    X, y = _boxes()
    base = SequentialCovering(criterion="foil").fit(X, y).rules_
    # Of the rarer class, in the order in which they were learned.
    rules = [rule for rule in base.rules if rule.conclusion == "inside"]
    positive, covered = y == "inside", np.zeros(len(y), dtype=bool)
    n_conditions = 2 * sum(len(np.unique(column)) for column in X.T)
    lengths: list[int] = []
    bits = []
    for rule in (None, *rules):
        if rule is not None:
            covered |= rule.covers(X, base.schema)
            lengths.append(len(rule.terms))
        counts = {
            "covered": covered.sum(),
            "uncovered": (~covered).sum(),
            "false_positives": (covered & ~positive).sum(),
            "false_negatives": (~covered & positive).sum(),
            "n_conditions": n_conditions,
            "positive_share": positive.mean(),
        }
        total = description_length(lengths, **counts)
        exceptions = description_length([], **counts)
        bits.append((total - exceptions, exceptions, total))
    series = np.array(bits).T
    figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    names = ("rules", "exceptions", "both")
    for values, name, style in zip(series, names, (":", "--", "-"), strict=True):
        ax.plot(values, style, color="black", label=name)
    best = int(np.argmin(series[2]))
    limit = series[2].min() + 64.0
    ax.axhline(limit, color=ORANGE, label="the shortest + 64 bits: stop")
    ax.plot(best, series[2, best], "o", color=BLUE)
    ax.annotate(
        f"{best} rules", (best, series[2, best]), (best + 2, series[2, best] - 60), color=BLUE
    )
    ax.set(xlabel="rules learned so far", ylabel="bits")
    ax.legend()
    return figure


def _covering() -> plt.Figure:
    """Return what covering without and with pruning makes of two noisy boxes."""
    X, y = _boxes()
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
