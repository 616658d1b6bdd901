"""Pictures of the guide's page on Bayesian estimation."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.bayes import (
    BayesianLinearRegression,
    BetaBernoulli,
    GaussianMean,
    GaussianProcessRegressor,
    NormalGammaRegression,
    compare_models,
)
from verulam.data import dataset
from verulam.kernel import Gaussian, Polynomial
from verulam.plots import (
    distribution_curves,
    evidence_curve,
    evidence_over_data,
    plate_diagram,
    posterior_curves,
    predictive_band,
    weight_density,
)


def draw_bayes(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    pictures = {
        "share": _share,
        "gaussian": _gaussian,
        "cars": _cars,
        "weights": _weights,
        "degrees": _degrees,
        "evidence": _evidence,
        "process": _process,
        "kernels": _kernels,
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


def _gaussian() -> plt.Figure:
    """Return figures 16.2 and 16.3: beliefs of growing strength, and a mean before and after."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    shares = {"6 of 10": BetaBernoulli(6, 4), "60 of 100": BetaBernoulli(60, 40)}
    distribution_curves(
        {"uniform": BetaBernoulli().distribution}
        | {name: family.distribution for name, family in shares.items()},
        points=np.linspace(0.001, 0.999, 400),
        ax=axes[0],
    )
    axes[0].set(title="the same share, seen seldom and often", xlabel="share")
    draws = np.random.default_rng(0).normal(6.0, 1.5, size=20)
    draws += 6.0 - draws.mean()
    posterior_curves(GaussianMean(4.0, 0.8**2, 1.5**2), draws, predictive=True, ax=axes[1])
    axes[1].set(title="a mean after 20 observations", xlabel="mean")
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


def _weights() -> plt.Figure:
    """Return figure 16.4: a line under two priors, and the density of its two weights."""
    random = np.random.default_rng(3)
    x = random.uniform(-1.0, 1.0, size=(8, 1))
    y = 0.5 + 1.5 * x[:, 0] + random.normal(scale=0.5, size=8)
    settings = ((1.0, 4.0), (10.0, 4.0))
    figure, axes = plt.subplots(2, 3, figsize=(10.0, 6.2), layout="constrained")
    for row, (alpha, beta) in zip(axes, settings, strict=True):
        line = BayesianLinearRegression(
            prior_precision=alpha, noise_precision=beta, fit_intercept=False, basis=_with_constant
        ).fit(x, y)
        grid = np.linspace(-1.5, 1.5, 100)
        predictive_band(line, x, y, points=grid, ax=row[0])
        least = BayesianLinearRegression(estimate="ml").fit(x, y)
        row[0].plot(grid, least.predict(grid[:, None]), "k--", linewidth=1.0, label="ML")
        row[0].legend(fontsize="small")
        row[0].set(title=rf"$\alpha = {alpha:g}$, $\beta = {beta:g}$", ylim=(-3.0, 4.0))
        for ax, prior in zip(row[1:], (True, False), strict=True):
            weight_density(line, prior=prior, ax=ax)
            ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), title="prior" if prior else "posterior")
            ax.set_aspect("equal")
    return figure


def _with_constant(X: np.ndarray) -> np.ndarray:
    return np.hstack([np.ones((len(X), 1)), X])


def _degrees() -> plt.Figure:
    """Return figures 16.5 and 16.6: ten polynomials of the posterior, their mean, and ML's."""
    random = np.random.default_rng(1)
    x = random.uniform(-1.5, 1.5, size=(14, 1))
    y = np.sin(2.0 * x[:, 0]) + random.normal(scale=0.2, size=14)
    grid = np.linspace(-1.7, 1.7, 200)
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.4), sharey=True, layout="constrained")
    for ax, degree in zip(axes, (1, 2, 6), strict=True):
        model = NormalGammaRegression(prior_precision=0.1, noise_rate=0.05, degree=degree).fit(x, y)
        predictive_band(model, x, y, n_functions=10, points=grid, ax=ax)
        least = BayesianLinearRegression(estimate="ml", degree=degree).fit(x, y)
        ax.plot(grid, least.predict(grid[:, None]), "k--", linewidth=1.2, label="ML", zorder=5)
        ax.set(title=f"degree {degree}", ylabel="", ylim=(-2.6, 2.6))
        if degree > 1:
            ax.get_legend().remove()
        else:
            ax.legend(loc="upper left", fontsize="small")
    return figure


def _kernels() -> plt.Figure:
    """Return figure 16.10: processes with three kernels on the same rows."""
    random = np.random.default_rng(5)
    x = random.uniform(-1.5, 1.5, size=(12, 1))
    y = np.sin(2.5 * x[:, 0]) + 0.5 * x[:, 0] + random.normal(scale=0.15, size=12)
    # The text's squared width of .5 is twice that of our convention.
    kernels = {"linear": Polynomial(1), "quadratic": Polynomial(2), "Gaussian": Gaussian(0.5)}
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.2), sharey=True, layout="constrained")
    for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
        process = GaussianProcessRegressor(kernel, noise_variance=0.04, optimise=False).fit(x, y)
        predictive_band(process, x, y, points=np.linspace(-2.2, 2.2, 200), ax=ax)
        ax.set(title=f"{name} kernel", ylabel="", ylim=(-3.0, 3.0))
        if name != "linear":
            ax.get_legend().remove()
    return figure


def _evidence() -> plt.Figure:
    """Return evidence over degrees, and over all data sets of a coin."""
    weight, miles, _ = _miles()
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    models = {degree: BayesianLinearRegression(degree=degree) for degree in range(1, 8)}
    evidence_curve(compare_models(models, weight - 3.0, miles), ax=axes[0])
    # Room for the legend above the curves, which fill the rest.
    axes[0].set(xlabel="degree", ylim=(None, axes[0].get_ylim()[1] + 14.0))
    axes[0].legend(loc="upper right")
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
