"""The pictures of the guide to designs."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from verulam.design import (
    Factor,
    best_guess,
    central_composite,
    fractional_factorial,
    full_factorial,
    lenth_method,
    one_at_a_time,
    response_surface_search,
    two_level_effects,
)
from verulam.plots import effect_half_normal

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
FIVE = [Factor("f1", (1, 2, 3, 4, 5), "numeric"), Factor("f2", (1, 2, 3, 4, 5), "numeric")]
TWO = [Factor(name, (1, 5), "numeric") for name in ("f1", "f2", "f3")]
STEPS = [{"f1": 3}, {"f2": 3}, {"f1": 4}, {"f2": 4}, {"f2": 5}]


def draw_designs(folder: Path) -> None:
    """Draw the settings that six strategies run, for two factors."""
    figure, axes = plt.subplots(2, 3, figsize=(9, 6.2), layout="constrained")
    guess, single, full, fraction, composite, surface = axes.flat
    tried = best_guess({"f1": 2, "f2": 2}, STEPS)
    guess.plot(tried["f1"], tried["f2"], color=BLUE, linewidth=1)
    points(guess, tried, f"best guess: {len(tried)} settings")
    at_baseline = one_at_a_time(FIVE, {"f1": 3, "f2": 2})
    points(single, at_baseline, f"one factor at a time: {len(at_baseline)}")
    every = full_factorial(FIVE)
    points(full, every, f"full factorial: {len(every)}")
    draw_fraction(fraction)
    starred = central_composite([Factor(n, (1.6, 4.4), "numeric") for n in ("f1", "f2")])
    points(composite, starred, f"central composite: {len(starred.drop_duplicates())}")
    composite.plot([1.6, 4.4, 4.4, 1.6, 1.6], [1.6, 1.6, 4.4, 4.4, 1.6], ":", color="0.6")
    draw_surface(surface)
    for ax in axes.flat:
        ax.set(xlim=(0.5, 5.5), ylim=(0.5, 5.5), aspect="equal")
        ax.set(xticks=range(1, 6), yticks=range(1, 6), xlabel="$f_1$", ylabel="$f_2$")
    figure.savefig(folder / "designs.png", dpi=150)
    plt.close(figure)
    draw_half_normal(folder)


def draw_half_normal(folder: Path) -> None:
    """Draw the effects of the pilot plant, one run per setting, with the margins of Lenth."""
    plant = full_factorial([Factor(name, (-1, 1), "numeric") for name in "DCBA"])[list("ABCD")]
    rate = [45, 71, 48, 65, 68, 60, 80, 65, 43, 100, 45, 104, 75, 86, 70, 96]
    effects = two_level_effects(plant, rate)
    judged = lenth_method(effects)
    margins = {
        "margin of error": judged.margin_of_error,
        "simultaneous margin": judged.simultaneous_margin,
    }
    axes = effect_half_normal(effects, margins=margins, label="effect on the filtration rate")
    axes.figure.savefig(folder / "half_normal.png", dpi=150, bbox_inches="tight")
    plt.close(axes.figure)


def points(ax: plt.Axes, settings: pd.DataFrame, title: str) -> None:
    """Draw settings as dots."""
    ax.scatter(settings["f1"], settings["f2"], s=36, c=BLUE, zorder=3)
    ax.set_title(title, fontsize=10)


def draw_fraction(ax: plt.Axes) -> None:
    """Draw half of the combinations of three factors, the third one as shape and colour."""
    half = fractional_factorial(TWO, ["C=AB"])
    for level, colour, marker in ((1, BLUE, "o"), (5, ORANGE, "s")):
        chosen = half[half["f3"] == level]
        label = f"$f_3 = {level}$"
        ax.scatter(chosen["f1"], chosen["f2"], s=44, c=colour, marker=marker, label=label)
    ax.legend(loc="center", frameon=False)
    ax.set_title(f"half fraction of $2^3$: {len(half)}", fontsize=10)


def draw_surface(ax: plt.Axes) -> None:
    """Draw what a response surface runs first, and where it goes from there."""

    def error(setting: dict[str, float]) -> float:
        first, second = setting["f1"] - 3.6, setting["f2"] - 2.7
        return float(np.log1p(first**2 + first * second + second**2))

    found = response_surface_search(error, FIVE, max_runs=20)
    axis = np.linspace(0.5, 5.5, 80)
    heights = [[error({"f1": first, "f2": second}) for first in axis] for second in axis]
    ax.contour(axis, axis, heights, levels=9, colors="0.75", linewidths=0.8)
    start = found.path["step"] == "start"
    points(ax, found.path[start], f"response surface: {len(found.path)}")
    later = found.path[~start]
    ax.scatter(later["f1"], later["f2"], s=44, c=GREEN, marker="^", zorder=4, label="later runs")
    ax.plot(3.6, 2.7, "+", color="black", markersize=11, zorder=5, label="truly best")
    # Between the rows of settings, where nothing is hidden.
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 0.19), fontsize=8)
