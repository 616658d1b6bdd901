"""Pictures of the guide's page on Bayesian estimation."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.bayes import (
    BayesianLinearRegression,
    BetaBernoulli,
    GaussianProcessRegressor,
    compare_models,
)
from verulam.data import dataset
from verulam.plots import (
    evidence_curve,
    evidence_over_data,
    plate_diagram,
    posterior_curves,
    predictive_band,
)


def draw_bayes(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    pictures = {
        "share": _share,
        "cars": _cars,
        "evidence": _evidence,
        "process": _process,
        "plates": _plates,
    }
    for name, draw in pictures.items():
        figure = draw()
        figure.savefig(folder / f"bayes-{name}.png", dpi=110)
        plt.close(figure)


def _share() -> plt.Figure:
    """Return beliefs of a share after four and after 93 observations."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    titanic = dataset("titanic")
    inputs = titanic.inputs
    women = (inputs["sex"] == "female") & (inputs["passenger_class"] == "first")
    lived = (np.asarray(titanic.target_values)[women] == "yes").astype(int)
    for ax, data, title in zip(
        axes, ([1, 1, 1, 1], lived), ("four survivors", "90 of 93"), strict=True
    ):
        posterior_curves(BetaBernoulli(), data, ax=ax)
        ax.set(title=title, xlabel="probability of survival")
    return figure


def _cars(n_rows: int = 12) -> plt.Figure:
    """Return curves through few cars: mode and average."""
    weight, miles, order = _miles()
    few = order[:n_rows]
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    for ax, estimate in zip(axes, ("map", "full"), strict=True):
        curve = BayesianLinearRegression(estimate=estimate, degree=2).fit(weight[few], miles[few])
        ax.plot(weight, miles, ".", color="0.68", markersize=3, zorder=1.5)
        predictive_band(
            curve,
            weight[few],
            miles[few],
            level=0.95,
            n_functions=10 if estimate == "full" else 0,
            points=np.linspace(1.6, 5.2, 300),
            ax=ax,
        )
        ax.set(title=f'estimate="{estimate}"', xlabel="weight in 1000 lbs", ylim=(0.0, 50.0))
    axes[0].set_ylabel("miles per gallon")
    axes[1].set_ylabel("")
    return figure


def _evidence() -> plt.Figure:
    """Return evidence over degrees, and over all data sets of a coin."""
    weight, miles, _ = _miles()
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    models = {degree: BayesianLinearRegression(degree=degree) for degree in range(1, 8)}
    evidence_curve(compare_models(models, weight - 3.0, miles), ax=axes[0])
    axes[0].set_xlabel("degree")
    coins = {
        "a nearly fair coin": BetaBernoulli(50, 50),
        "a coin that may be bent": BetaBernoulli(5, 5),
        "any coin": BetaBernoulli(1, 1),
    }
    evidence_over_data(coins, ax=axes[1])
    return figure


def _process() -> plt.Figure:
    """Return a process that learns from more and more cars."""
    weight, miles, order = _miles()
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.2), sharey=True, layout="constrained")
    for ax, n_rows in zip(axes, (6, 25, 150), strict=True):
        rows = order[:n_rows]
        process = GaussianProcessRegressor().fit(weight[rows], miles[rows])
        predictive_band(
            process, weight[rows], miles[rows], points=np.linspace(1.0, 6.0, 300), ax=ax
        )
        ax.set(title=f"{n_rows} cars", xlabel="weight in 1000 lbs", ylabel="")
        if n_rows > 6:
            ax.get_legend().remove()
    axes[0].set_ylabel("miles per gallon")
    return figure


def _plates() -> plt.Figure:
    """Return the plate diagrams of four models."""
    names = ("parameter", "regression", "mixture", "topics")
    figure, axes = plt.subplots(1, 4, figsize=(11.0, 3.6), layout="constrained")
    for ax, name in zip(axes, names, strict=True):
        plate_diagram(name, ax=ax)
        ax.set_title(name)
    return figure


def _miles() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cars = dataset("auto_mpg")
    miles = np.asarray(cars.target_values, dtype=float)
    order = np.random.default_rng(0).permutation(len(miles))
    return cars.inputs[["weight_in_lbs"]].to_numpy(float) / 1000, miles, order
