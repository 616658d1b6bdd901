"""Pictures of the guide's page on smoothers and outliers."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import dataset, gaussian_classes, noisy_sine
from verulam.nonparametric import (
    AdditiveModel,
    DensityDetector,
    GaussianDetector,
    KernelDensity,
    KernelSmoother,
    LocalOutlierFactor,
    Loess,
    MixtureDetector,
    NeighbourSmoother,
    Regressogram,
    RunningLine,
    RunningMean,
    RunningMedian,
    bias_variance,
    select_smoothing,
)
from verulam.plots import (
    bias_variance_curve,
    complexity_curve,
    component_curve,
    neighbour_circles,
    outlier_map,
    smooth_curves,
)


def draw_smoothers(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("widths", _widths()),
        ("fuel", _fuel()),
        ("bands", _bands()),
        ("bias-variance", _bias_variance()),
        ("sunspots", _sunspots()),
        ("additive", _additive()),
        ("circles", _circles()),
        ("detectors", _detectors()),
        ("two-classes", _two_classes()),
    ):
        figure.savefig(folder / f"smoothers-{name}.png", dpi=110)
        plt.close(figure)


def _widths() -> plt.Figure:
    """Return five smoothers, each with three widths, on one sample."""
    sample = noisy_sine(40, noise=0.25, random_state=2)
    X, y = sample.inputs, sample.target_values
    kinds = {
        "regressogram": Regressogram(),
        "regressogram, lines": Regressogram(degree=1),
        "running mean": RunningMean(),
        "kernel smoother": KernelSmoother(),
        "running line": RunningLine(),
    }
    figure, axes = plt.subplots(
        5, 3, figsize=(9.6, 11.0), sharex=True, sharey=True, layout="constrained"
    )
    for row, (name, smoother) in zip(axes, kinds.items(), strict=True):
        for ax, width in zip(row, (0.3, 0.15, 0.05), strict=True):
            smoother.set_params(bandwidth=width).fit(X, y)
            smooth_curves(smoother, X, y, band=False, ax=ax)
            ax.set_title(f"{name}, h = {width}", fontsize="small")
            ax.label_outer()
    return figure


def _fuel() -> plt.Figure:
    """Return consumption by power: a curve with its band, and how its width was chosen."""
    cars = dataset("auto_mpg").table.dropna()
    X, y = cars[["horsepower"]], cars["miles_per_gallon"]
    curve = select_smoothing(
        NeighbourSmoother(), "n_neighbors", [2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200], X, y
    )
    loess = Loess(span=0.4).fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.9), layout="constrained")
    smooth_curves(
        {"loess, with 95% band": loess, f"mean of {curve.best} neighbours": curve.learner},
        X,
        y,
        ax=left,
    )
    left.set(xlabel="horsepower", ylabel="miles per gallon")
    complexity_curve(curve, ax=right)
    right.set(xscale="log", xlabel="number of neighbours", ylabel="mean squared error")
    return figure


def _bands() -> plt.Figure:
    """Return two curves, each with its band for single points and for all of them."""
    sample = noisy_sine(80, noise=0.3, random_state=1)
    X, y = sample.inputs, sample.target_values
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.4), sharey=True, layout="constrained")
    kinds = {
        "loess": Loess(span=0.3, n_iter=0),
        "kernel smoother": KernelSmoother(bandwidth=0.06),
    }
    for ax, (name, smoother) in zip(axes, kinds.items(), strict=True):
        smoother.fit(X, y)
        smooth_curves(smoother, X, coverage="curve", ax=ax)
        smooth_curves(smoother, X, y, ax=ax)
        ax.set_title(f"{name}: pointwise inside, whole curve outside", fontsize="small")
        ax.label_outer()
    return figure


def _bias_variance() -> plt.Figure:
    """Return bias and variance by bandwidth, with the curves of three bandwidths."""
    X = np.linspace(-0.5, 0.5, 40)[:, None]
    widths = np.geomspace(0.01, 0.4, 15)

    def truth(X: np.ndarray) -> np.ndarray:
        return np.sin(6 * X[:, 0])

    study = bias_variance(
        KernelSmoother(), "bandwidth", widths, truth, X, noise=0.3, random_state=0
    )
    figure, axes = plt.subplots(1, 4, figsize=(11.0, 3.0), layout="constrained")
    for ax, place in zip(axes, (1, int(study.error.argmin()), 13), strict=False):
        ax.plot(X[:, 0], study.curves[place, :20].T, color="0.7", linewidth=0.6)
        ax.plot(X[:, 0], study.truth, "--", color="black", linewidth=1.0)
        ax.plot(X[:, 0], study.curves[place].mean(axis=0), color="#d55e00", linewidth=1.8)
        ax.set(title=f"h = {widths[place]:.3f}", ylim=(-2, 2), xlabel="x")
        ax.label_outer()
    bias_variance_curve(study, ax=axes[3])
    return figure


def _sunspots() -> plt.Figure:
    """Return a time series with its running mean and median, centred and of the past."""
    sun = dataset("sunspots")
    X, y = sun.inputs, sun.target_values
    smoothers = {
        "running mean, 11 years": RunningMean(bandwidth=5.5).fit(X, y),
        "running median, 11 years": RunningMedian(bandwidth=5.5).fit(X, y),
        "mean of the last 11 years": RunningMean(bandwidth=11.0, side="past").fit(X, y),
    }
    figure, ax = plt.subplots(figsize=(9.6, 3.6), layout="constrained")
    ax.plot(X["year"], y, color="0.75", linewidth=0.8)
    smooth_curves(smoothers, X, band=False, ax=ax)
    ax.set(ylabel="sunspots")
    return figure


def _additive() -> plt.Figure:
    """Return the components of an additive model of consumption."""
    cars = dataset("auto_mpg").table.dropna()
    X = cars[["horsepower", "weight_in_lbs", "acceleration", "year"]].astype(float)
    model = AdditiveModel().fit(X, cars["miles_per_gallon"])
    figure, axes = plt.subplots(1, 4, figsize=(11.0, 3.0), sharey=True, layout="constrained")
    for column, ax in enumerate(axes):
        component_curve(model, column, X, cars["miles_per_gallon"], ax=ax)
        ax.label_outer()
    return figure


def _circles() -> plt.Figure:
    """Return a typical query and an outlier, with circles to third neighbours."""
    rng = np.random.default_rng(4)
    points = rng.normal(scale=0.8, size=(16, 2))
    detector = LocalOutlierFactor(n_neighbors=3).fit(points)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.2), layout="constrained")
    for ax, query in zip(axes, ((0.3, -0.2), (2.6, 2.2)), strict=True):
        neighbour_circles(detector, query, ax=ax)
        ax.set(xlim=(-3, 6), ylim=(-3, 6))
    return figure


def _detectors() -> plt.Figure:
    """Return four detectors on two clusters of different density and a few strays."""
    rng = np.random.default_rng(1)
    points = np.vstack(
        [
            rng.normal((0, 0), 1.2, size=(120, 2)),
            rng.normal((6, 5), 0.25, size=(80, 2)),
            [(6.0, 3.4), (4.6, 5.0), (-4.5, 4.0), (2.5, 7.0), (7.5, -3.0)],
        ]
    )
    detectors = {
        "one Gaussian": GaussianDetector(contamination=0.025),
        "two Gaussians": MixtureDetector(contamination=0.025, random_state=0),
        "kernel density": DensityDetector(contamination=0.025),
        "local outlier factor": LocalOutlierFactor(n_neighbors=15, contamination=0.025),
    }
    figure, axes = plt.subplots(
        1, 4, figsize=(12.0, 3.4), sharex=True, sharey=True, layout="constrained"
    )
    for ax, (name, detector) in zip(axes, detectors.items(), strict=True):
        outlier_map(detector.fit(points), points, ax=ax)
        ax.set_title(name, fontsize="medium")
        ax.get_legend().remove()
        ax.label_outer()
    return figure


def _two_classes() -> plt.Figure:
    """Return the densities of two classes with three bandwidths."""
    sample = gaussian_classes(
        means=[[0.0], [2.5]], covariances=[[[1.0]], [[0.5]]], n=40, random_state=0
    )
    x, labels = sample.inputs.to_numpy(), sample.target_values.to_numpy()
    grid = np.linspace(-3.5, 6.0, 400)[:, None]
    figure, axes = plt.subplots(3, 1, figsize=(7.0, 6.4), sharex=True, layout="constrained")
    for ax, width in zip(axes, (1.5, 0.5, 0.12), strict=True):
        for label, style, mark in zip(np.unique(labels), ("-", "--"), ("o", "x"), strict=True):
            members = x[labels == label]
            density = KernelDensity(bandwidth=width).fit(members)
            ax.plot(grid, np.exp(density.score_samples(grid)), style, label=f"class {label}")
            ax.plot(members, np.zeros(len(members)), mark, color="0.3", markersize=5, clip_on=False)
        ax.set(ylabel="density", title=f"h = {width}", ylim=(0, None))
    axes[0].legend()
    axes[-1].set_xlabel("x")
    return figure
