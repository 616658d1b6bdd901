"""The pictures of the guide to statistics, and those of chapter 19 and appendix A redrawn."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import stats

from verulam import plots
from verulam.measures import RocCurve, iso_cost, precision_recall, retrieval, roc
from verulam.statistics import (
    compare_many,
    manova,
    power_curve,
    roc_band,
    running_means,
    sampling_distribution,
    simulate,
    standardised_sums,
)


def draw_statistics(folder: Path) -> None:
    """Draw every picture of the page."""
    for name, drawing in (
        ("statistics-critical-difference", draw_critical_difference),
        ("statistics-many-learners", draw_many_learners),
        ("statistics-power", draw_power),
        ("statistics-results", draw_results),
        ("statistics-vectors", draw_vectors),
        ("statistics-roc", draw_roc),
        ("statistics-large-numbers", draw_large_numbers),
        ("figure-19-1", draw_process),
        ("figure-19-2", draw_strategies),
        ("figure-19-3", draw_roc_curves),
        ("figure-19-4", draw_venn),
        ("figure-19-5-6-a1", draw_normals),
    ):
        figure = drawing()
        figure.savefig(folder / f"{name}.png", dpi=150)
        plt.close(figure)


def draw_critical_difference() -> plt.Figure:
    """Six learners on twenty data sets."""
    shifts = [0.0, 0.15, 0.5, 0.9, 1.0, 1.6]
    names = ["forest", "boosting", "k-nn", "tree", "naive Bayes", "majority"]
    table = np.random.default_rng(0).normal(shifts, size=(20, 6))
    return plots.critical_difference(compare_many(pd.DataFrame(table, columns=names))).figure


def draw_many_learners() -> plt.Figure:
    """Forty learners, the largest diagram that is laid out with care."""
    table = np.random.default_rng(1).normal(np.linspace(0, 2.5, 40), size=(60, 40))
    names = [f"learner {place + 1}" for place in range(40)]
    return plots.critical_difference(compare_many(pd.DataFrame(table, columns=names))).figure


def draw_power() -> plt.Figure:
    """Power, exact and simulated, also on overlapping splits."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    plots.power_curves(power_curve(np.linspace(-1.5, 1.5, 121), [5, 10, 30]), ax=left)
    left.set_title("t test", fontsize="medium")
    effects = np.linspace(0, 2, 9)
    plots.simulated_power(
        {
            "K-fold t, as if independent": simulate("cv t", effects, correlation=0.1),
            "corrected t": simulate("corrected t", effects),
            "5x2 cv F": simulate("5x2 F", effects, correlation=0.1),
            "sign test": simulate("sign", effects, rows=10),
        },
        ax=right,
    )
    right.set_title("ten differences, simulated", fontsize="medium")
    return figure


def draw_results() -> plt.Figure:
    """Three ways to look at the results of learners."""
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        rng.normal([0.2, 0.18, 0.26], [0.02, 0.03, 0.02], size=(30, 3)),
        columns=["tree", "net", "k-nn"],
    )
    figure, axes = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
    for ax, kind in zip(axes, ("box", "range", "histogram"), strict=True):
        plots.learner_results(table, kind=kind, ax=ax)
        ax.set_title(kind, fontsize="medium")
    return figure


def draw_vectors() -> plt.Figure:
    """Learners along the directions that separate them."""
    rng = np.random.default_rng(3)
    centres = np.array([[0.8, 0.2], [0.82, 0.22], [0.9, 0.2], [0.86, 0.3]])
    names = ["tree", "rules", "net", "k-nn"]
    groups = {
        name: rng.normal(centre, 0.02, size=(10, 2))
        for name, centre in zip(names, centres, strict=True)
    }
    return plots.manova_projections(manova(groups)).figure


def scored_sample(separation: float, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores of a two-class problem."""
    rng = np.random.default_rng(seed)
    true = np.arange(160) % 2
    scale = np.where(true == 1, spread, 1.0)
    return true, rng.normal(size=160) * scale + separation * true


def draw_roc() -> plt.Figure:
    """ROC curve with band, hull and cheapest point, and precision against recall."""
    true, scores = scored_sample(1.4, 1.0, 4)
    curve = roc(true, scores)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained")
    plots.roc_curves(
        {"classifier": curve},
        band=roc_band(true, scores, random_state=0),
        iso_cost=iso_cost(curve, false_positive=1, false_negative=3),
        hull=True,
        ax=left,
    )
    plots.precision_recall_curves({"classifier": precision_recall(true, scores)}, ax=right)
    return figure


def draw_large_numbers() -> plt.Figure:
    """Large numbers, the central limit, and the sampling distribution of mean and variance."""
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 6), layout="constrained")
    paths = running_means(stats.bernoulli(0.3), 10_000, paths=8, random_state=0)
    plots.running_mean_paths(paths, 0.3, ax=axes[0, 0])
    axes[0, 0].set_title("means of Bernoulli draws, p = 0.3", fontsize="medium")
    plots.against_normal(
        standardised_sums(stats.uniform(), 12, 50_000, random_state=0), ax=axes[0, 1]
    )
    axes[0, 1].set_title("sums of 12 uniform draws", fontsize="medium")
    plots.against_normal(
        standardised_sums(stats.bernoulli(0.3), 30, 50_000, random_state=0), ax=axes[1, 0]
    )
    axes[1, 0].set_title("binomial with N = 30, p = 0.3", fontsize="medium")
    found = sampling_distribution(stats.norm(0, 1), 10, 2000, random_state=0)
    axes[1, 1].plot(found.means, found.variances, ".", ms=2)
    axes[1, 1].set(xlabel="mean of a sample", ylabel="variance of the sample")
    axes[1, 1].set_title(f"normal samples: correlation {found.correlation:.2f}", fontsize="medium")
    return figure


def draw_process() -> plt.Figure:
    """Figure 19.1: a process with controllable and uncontrollable factors."""
    figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
    box = {"boxstyle": "round,pad=0.8", "facecolor": "0.93", "edgecolor": "black"}
    ax.text(0, 0, "process", ha="center", va="center", bbox=box, fontsize="large")
    arrow = {"arrowstyle": "->", "lw": 1.3}
    for start, end, text, place, side in (
        ((-2.2, 0), (-0.65, 0), "input", (-2.3, 0), "right"),
        ((0.65, 0), (2.2, 0), "output", (2.3, 0), "left"),
        ((0, 1.05), (0, 0.42), "controllable factors", (0, 1.15), "center"),
        ((0, -1.05), (0, -0.42), "uncontrollable factors", (0, -1.3), "center"),
    ):
        ax.annotate("", end, start, arrowprops=arrow)
        ax.text(*place, text, ha=side, va="center")
    ax.set(xlim=(-3.2, 3.3), ylim=(-1.5, 1.4))
    ax.set_axis_off()
    return figure


def draw_strategies() -> plt.Figure:
    """Figure 19.2: three strategies with two factors of five levels."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
    guesses = [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]
    single = [(level, 2) for level in range(5)] + [(2, level) for level in range(5)]
    full = [(one, other) for one in range(5) for other in range(5)]
    runs = {"best guess": guesses, "one factor at a time": single, "full factorial": full}
    for ax, (title, points) in zip(axes, runs.items(), strict=True):
        x, y = np.array(points).T
        ax.plot(x, y, "-o" if title == "best guess" else "o")
        ax.set(xlim=(-0.5, 4.5), ylim=(-0.5, 4.5), xlabel="first factor", aspect="equal")
        ax.set(xticks=range(5), yticks=range(5))
        ax.grid(alpha=0.4)
        ax.set_title(f"{title}: {len(set(points))} runs", fontsize="medium")
    axes[0].set_ylabel("second factor")
    return figure


def draw_roc_curves() -> plt.Figure:
    """Figure 19.3: a typical curve, and three of which two cross."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
    plots.roc_curves({"classifier": roc(*scored_sample(1.5, 1.0, 5))}, ax=left)
    fp = np.linspace(0, 1, 401)
    # B is better where false alarms are cheap, C where they are dear, and A nowhere.
    shapes = {"A": fp + 0.6 * fp * (1 - fp), "B": 1 - (1 - fp) ** 5, "C": fp**0.2}
    curves = {name: RocCurve(fp, tp, 1 - fp, 1, 1) for name, tp in shapes.items()}
    plots.roc_curves(curves, ax=right)
    return figure


def draw_venn() -> plt.Figure:
    """Figure 19.4: precision and recall as sets."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
    for ax, relevant, retrieved in (
        (axes[0], range(60), range(35, 80)),
        (axes[1], range(60), range(20)),
        (axes[2], range(30), range(75)),
    ):
        plots.retrieval_venn(retrieval(relevant, retrieved), ax=ax)
    return figure


def draw_normals() -> plt.Figure:
    """Figures 19.5, 19.6 and A.1: the unit normal density."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
    regions: tuple[tuple[Axes, float, float, str], ...] = (
        (axes[0], -1.96, 1.96, "two-sided"),
        (axes[1], -np.inf, 1.645, "one-sided"),
        (axes[2], -np.inf, np.inf, "unit normal"),
    )
    for ax, low, high, title in regions:
        plots.normal_region(low, high, ax=ax)
        ax.set_title(title, fontsize="medium")
    return figure
