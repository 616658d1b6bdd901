"""Pictures of the guide's page on clustering."""

from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import make_moons

from verulam.cluster import (
    AgglomerativeClustering,
    Chameleon,
    DivisiveClustering,
    KMeans,
    MixtureSelection,
    cluster_quality,
    select_mixture,
)
from verulam.data import dataset
from verulam.plots import dendrogram, mixture_criteria, mixture_ellipses, silhouette_plot

COLUMNS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def draw_cluster(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    X = dataset("penguins").inputs[COLUMNS].dropna()
    Z = (X - X.mean()) / X.std()
    selection = select_mixture(X, range(1, 6), n_init=2)
    for name, figure in (
        ("silhouettes", _silhouettes(Z)),
        ("criteria", _criteria(selection)),
        ("mixture", _mixture(X, selection)),
        ("dendrograms", _dendrograms(Z)),
        ("chameleon", _chameleon()),
    ):
        figure.savefig(folder / f"cluster-{name}.png", dpi=110)
        plt.close(figure)


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
