"""Pictures of the guide's page on parametric methods."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from verulam.data import dataset, gaussian_classes, noisy_sine
from verulam.parametric import (
    COVARIANCE_TYPES,
    GaussianClassifier,
    NaiveBayes,
    PolynomialRegression,
    parameter_count,
    select_complexity,
)
from verulam.plots import complexity_curve, decision_regions

BLUE, ORANGE = "#0072b2", "#d55e00"


def draw_parametric(folder: Path) -> None:
    """Draw the page's three pictures into `folder`."""
    for name, figure in (
        ("covariances", _covariances()),
        ("explanation", _explanation()),
        ("polynomial", _polynomial()),
    ):
        figure.savefig(folder / f"parametric-{name}.png", dpi=110)
        plt.close(figure)


def _covariances() -> plt.Figure:
    """Return the regions of the six families on one sample."""
    sample = gaussian_classes(
        means=[(-1.0, 0.0), (1.5, -0.5), (0.0, 3.0)],
        covariances=[
            [(1.0, 1.1), (1.1, 1.6)],
            [(1.0, 1.1), (1.1, 1.6)],
            [(2.0, -0.4), (-0.4, 0.2)],
        ],
        n=240,
        random_state=3,
    )
    figure, axes = plt.subplots(
        2, 3, figsize=(9.6, 6.4), sharex=True, sharey=True, layout="constrained"
    )
    # The tied ones in the upper row, above their likes that differ between classes.
    by_row = sorted(COVARIANCE_TYPES, key=lambda kind: not kind.startswith("tied"))
    for ax, covariance_type in zip(axes.flat, by_row, strict=True):
        classifier = GaussianClassifier(covariance_type=covariance_type)
        classifier.fit(sample.inputs, sample.target_values)
        decision_regions(classifier, sample.inputs, sample.target_values, ax=ax)
        error = 1 - classifier.score(sample.inputs, sample.target_values)
        count = parameter_count(covariance_type, n_columns=2, n_classes=3)
        numbers = "1 number" if count == 1 else f"{count} numbers"
        if ax is not axes[0, 0]:
            ax.get_legend().remove()
        ax.set_title(f"{covariance_type}: {numbers}, training error {error:.0%}", fontsize="small")
        ax.label_outer()
    return figure


def _explanation() -> plt.Figure:
    """Return the evidence behind one passenger's prediction, as bars."""
    titanic = dataset("titanic")
    bayes = NaiveBayes().fit(titanic.inputs, titanic.target_values)
    explanation = bayes.explain(titanic.inputs[1:2])[0]
    table = explanation.to_frame()[::-1]
    labels = [
        str(name) if name == "prior" else f"{name} = {value}".replace("_", " ")
        for name, value in table["value"].items()
    ]
    colours = np.where(table["log_odds"] >= 0, BLUE, ORANGE)
    figure, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    ax.barh(labels, table["log_odds"], color=colours)
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_xlabel("log-odds: for death to the right, for survival to the left")
    total = table["log_odds"].sum()
    ax.set_title(
        f"Survived: {explanation.label}, with probability {explanation.probability:.2f} "
        f"(log-odds {total:+.2f})",
        fontsize="medium",
    )
    return figure


def _polynomial() -> plt.Figure:
    """Return fits of three degrees, and the error by degree."""
    sample = noisy_sine(40, noise=0.3, random_state=0)
    X, y = sample.inputs, sample.target_values
    curve = select_complexity(PolynomialRegression(), "degree", range(1, 13), X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
    left.plot(X.iloc[:, 0], y, "o", color="0.4", markersize=4)
    grid = X.iloc[:0].reindex(range(300))
    grid[grid.columns[0]] = np.linspace(-0.5, 0.5, 300)
    for degree, style in ((1, ":"), (curve.selected, "-"), (12, "--")):
        fitted = PolynomialRegression(degree=degree).fit(X, y)
        left.plot(grid, fitted.predict(grid), style, color="black", label=f"degree {degree}")
    left.set(xlabel="x", ylabel="y", ylim=(-2.0, 2.0), title="A noisy sine and three polynomials")
    left.legend()
    complexity_curve(curve, ax=right)
    right.set(ylabel="mean squared error", title="Error by degree, 10-fold cross-validation")
    return figure
