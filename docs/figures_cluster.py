"""Pictures of the guide's page on clustering."""

import warnings
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from verulam.cluster import (
    AgglomerativeClustering,
    Chameleon,
    DivisiveClustering,
    GaussianMixture,
    KMeans,
    MixtureSelection,
    cluster_quality,
    select_mixture,
)
from verulam.data import dataset
from verulam.plots import dendrogram, mixture_criteria, mixture_ellipses, silhouette_plot
from verulam.plots._style import colour, marker

COLUMNS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def draw_cluster(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    X = dataset("penguins").inputs[COLUMNS].dropna()
    Z = (X - X.mean()) / X.std()
    selection = select_mixture(X, range(1, 6), n_init=2)
    for name, figure in (
        ("passes", _passes(Z)),
        ("silhouettes", _silhouettes(Z)),
        ("criteria", _criteria(selection)),
        ("mixture", _mixture(X, selection)),
        ("dendrograms", _dendrograms(Z)),
        ("chameleon", _chameleon()),
    ):
        figure.savefig(folder / f"cluster-{name}.png", dpi=110)
        plt.close(figure)


def _passes(Z: pd.DataFrame) -> plt.Figure:
    """Return clusters and components as pass after pass finds them, from the same three rows."""
    rows = Z[COLUMNS[:2]]
    starts = rows.to_numpy()[[0, 20, 60]]
    figure, axes = plt.subplots(
        2, 4, figsize=(13, 6), layout="constrained", sharex=True, sharey=True
    )
    trace = KMeans(3, init=starts).fit(rows).trace_
    centres = [starts, *(step.centers for step in trace)]
    for ax, number in zip(axes[0], (1, 2, 4, len(trace)), strict=True):
        # A pass divides the rows among the centres of the one before.
        labels = cdist(rows, centres[number - 1]).argmin(axis=1)
        for k, centre in enumerate(centres[number]):
            ax.scatter(*rows[labels == k].to_numpy().T, s=14, marker=marker(k), color=colour(k))
            ax.plot(*centre, marker="X", markersize=13, color=colour(k), markeredgecolor="black")
        ax.set_title(f"k-means, pass {number}: error {trace[number - 1].error:.0f}")
    means, colours = starts, np.arange(3)
    for ax, number in zip(axes[1], (1, 5, 20, 200), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture = GaussianMixture(
                3,
                weights_init=np.full(3, 1 / 3),
                means_init=starts,
                precisions_init=np.array([np.eye(2)] * 3),
                max_iter=number,
            ).fit(rows)
        # Components stand by their weight, whose order changes: who was nearest goes on.
        before, now = linear_sum_assignment(cdist(means, mixture.means_))
        colours = colours[before[np.argsort(now)]]
        means = mixture.means_
        mixture_ellipses(mixture, rows, deviations=(1.5,), colours=colours, ax=ax)
        ax.get_legend().remove()
        mean = mixture.score(rows) / len(rows)
        ax.set_title(f"mixture, pass {mixture.n_iter_}: mean log p {mean:.2f}")
    return figure


def _silhouettes(Z: pd.DataFrame) -> plt.Figure:
    """Return the silhouettes of three clusters of k-means."""
    labels = KMeans(n_clusters=3, n_init=5, random_state=0).fit(Z).labels_
    return silhouette_plot(cluster_quality(Z, labels)).figure


def _criteria(selection: MixtureSelection) -> plt.Figure:
    """Return the criterion for the families that do not take the columns' units as equal."""
    round_ones = selection.scores["covariance_type"].str.endswith("spherical")
    return mixture_criteria(replace(selection, scores=selection.scores[~round_ones])).figure


def _mixture(X: pd.DataFrame, selection: MixtureSelection) -> plt.Figure:
    """Return the components of the best mixture, in two views."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    mixture_ellipses(selection.best, X, columns=(0, 1), ax=left)
    mixture_ellipses(selection.best, X, columns=(2, 3), ax=right)
    return figure


def _dendrograms(Z: pd.DataFrame) -> plt.Figure:
    """Return thirty penguins, merged and split."""
    rows = Z.to_numpy()[::12]
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
    dendrogram(AgglomerativeClustering().fit(rows), n_clusters=3, ax=left)
    dendrogram(DivisiveClustering().fit(rows), n_clusters=3, ax=right)
    left.set_title("merged: average link")
    right.set_title("split: DIANA")
    return figure


def _chameleon() -> plt.Figure:
    """Return two moons: clusters of k-means, parts of a graph, and the parts merged."""
    rows, _ = make_moons(400, noise=0.07, random_state=0)
    learner = Chameleon().fit(rows)
    views = {
        "k-means": KMeans(n_clusters=2, n_init=5, random_state=0).fit(rows).labels_,
        f"parts of the graph: {learner.parts_.max() + 1}": learner.parts_,
        "parts merged: CHAMELEON": learner.labels_,
    }
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
    for ax, (title, labels) in zip(axes, views.items(), strict=True):
        colours = "tab20" if labels.max() > 1 else "coolwarm"
        ax.scatter(*rows.T, c=labels, cmap=colours, s=14)
        ax.set_title(title)
        ax.set_aspect("equal")
    return figure
