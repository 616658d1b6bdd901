"""Pictures of the guide's page on decision theory."""

from pathlib import Path

import matplotlib.pyplot as plt
from scipy.stats import multivariate_normal, norm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from verulam.data import dataset
from verulam.decision import (
    KnownDensities,
    MinimumRisk,
    OneVersusRestReject,
    error_reject_curve,
)
from verulam.measures import confusion, iso_cost, roc
from verulam.plots import (
    confusion_matrix,
    decision_regions,
    densities_1d,
    density_contours,
    log_odds_curve,
    roc_curves,
)
from verulam.plots import error_reject_curve as draw_error_reject_curve


def draw_decision(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("densities", _densities()),
        ("odds", _odds()),
        ("reject", _reject()),
        ("roc", _roc()),
        ("tradeoff", _tradeoff()),
    ):
        figure.savefig(folder / f"decision-{name}.png", dpi=110)
        plt.close(figure)


def _densities() -> plt.Figure:
    """Return a threshold with its errors, and regions that are multiply connected."""
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 3.8), layout="constrained")
    attack = KnownDensities([0.6, 0.4], {"normal": norm(0, 1), "attack": norm(2.5, 1)})
    densities_1d(attack, ax=axes[0], threshold=0.5)
    axes[0].set_title(f"Threshold 0.5: error {attack.error_of(0.5):.3f}", fontsize="medium")
    densities_1d(attack, ax=axes[1], reject_cost=0.2)
    axes[1].set_title("Reject where both classes are likely", fontsize="medium")
    spread = KnownDensities(None, {"narrow": norm(0, 1), "wide": norm(0.5, 3)})
    densities_1d(spread, ax=axes[2])
    title = f"Two pieces for one class: error {spread.bayes_error():.3f}"
    axes[2].set_title(title, fontsize="medium")
    return figure


def _odds() -> plt.Figure:
    """Return log odds of equal and of unequal spreads."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    log_odds_curve(
        KnownDensities([0.6, 0.4], {"normal": norm(0, 1), "attack": norm(2.5, 1)}), ax=axes[0]
    )
    axes[0].set_title("Equal spreads: a line", fontsize="medium")
    log_odds_curve(KnownDensities(None, {"narrow": norm(0, 1), "wide": norm(0.5, 3)}), ax=axes[1])
    axes[1].set_title("Unequal spreads: two boundaries", fontsize="medium")
    return figure


def _reject() -> plt.Figure:
    """Return three ways to divide the same plane."""
    iris = dataset("iris")
    X, y = iris.inputs.iloc[:, :2], iris.target_values
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.0), sharey=True, layout="constrained")
    loss = {
        "setosa": {"setosa": 0, "versicolor": 1, "virginica": 1},
        "versicolor": {"setosa": 1, "versicolor": 0, "virginica": 5},
        "virginica": {"setosa": 1, "versicolor": 1, "virginica": 0},
    }
    for ax, learner, title in zip(
        axes,
        (
            MinimumRisk(GaussianNB(), reject_cost=0.25),
            MinimumRisk(GaussianNB(), loss),
            OneVersusRestReject(LogisticRegression()),
        ),
        (
            "Reject cost 0.25",
            "Missing a virginica costs five times as much",
            "One against the rest: none or two fire",
        ),
        strict=True,
    ):
        decision_regions(learner.fit(X, y), X, y, ax=ax)
        ax.set_title(title, fontsize="medium")
        ax.label_outer()
    return figure


def _roc() -> plt.Figure:
    """Return analytic curves with the best point, contours of densities, and confusions."""
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.0), layout="constrained")
    attack = KnownDensities([0.8, 0.2], {"normal": norm(0, 1), "attack": norm(2, 1)})
    x, y = attack.sample(150, random_state=3)
    curve = attack.roc()
    best = iso_cost(curve, false_positive=1, false_negative=3)
    roc_curves(
        {"densities": curve, "150 instances": roc(y, x, positive="attack")},
        ax=axes[0],
        iso_cost=best,
    )
    axes[0].set_title(f"The best threshold is {best.threshold:.2f}", fontsize="medium")
    plane = KnownDensities(
        [0.5, 0.5],
        {
            "first": multivariate_normal([0, 0], [[1.0, 0.7], [0.7, 1.0]]),
            "second": multivariate_normal([2, 1], [[0.5, 0.0], [0.0, 1.5]]),
        },
    )
    points, labels = plane.sample(200, random_state=0)
    density_contours(plane, points, labels, ax=axes[1])
    axes[1].set_title(f"Least error of these two: {plane.bayes_error():.4f}", fontsize="medium")
    iris = dataset("iris")
    guesses = cross_val_predict(GaussianNB(), iris.inputs.iloc[:, :2], iris.target_values, cv=10)
    confusion_matrix(confusion(iris.target_values, guesses), ax=axes[2])
    axes[2].set_title("Irises by their sepals", fontsize="medium")
    return figure


def _tradeoff() -> plt.Figure:
    """Return the price of fewer errors for two classifiers."""
    iris = dataset("iris")
    X, y = iris.inputs.iloc[:, :2], iris.target_values
    curves = {
        name: error_reject_curve(y, cross_val_predict(learner, X, y, cv=10, method="predict_proba"))
        for name, learner in (
            ("naive Bayes", GaussianNB()),
            ("25 nearest neighbours", KNeighborsClassifier(25)),
        )
    }
    figure, ax = plt.subplots(figsize=(5.6, 3.8), layout="constrained")
    draw_error_reject_curve(curves, ax=ax)
    return figure
