"""Pictures of the guide's page on the reduction of dimensions."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from verulam.data import dataset
from verulam.plots import (
    biplot,
    class_map,
    loading_map,
    scree,
    selection_path,
    shepard_diagram,
)
from verulam.reduction import (
    ClassicalScaling,
    CurvilinearComponents,
    DiscriminantProjection,
    FactorAnalysis,
    PrincipalComponents,
    StressScaling,
    SubsetSelector,
    distance_concentration,
)


def draw_reduction(folder: Path) -> None:
    """Draw the page's pictures into `folder`."""
    for name, figure in (
        ("concentration", _concentration()),
        ("selection", _selection()),
        ("components", _components()),
        ("digits", _digits()),
        ("factors", _factors()),
        ("discriminants", _discriminants()),
        ("cube", _three_dimensions()),
        ("maps", _maps()),
    ):
        figure.savefig(folder / f"reduction-{name}.png", dpi=110)
        plt.close(figure)


def _concentration() -> plt.Figure:
    """Return how distances and angles become alike."""
    table = distance_concentration([1, 2, 3, 5, 10, 20, 50, 100, 200, 500], n_samples=400)
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained")
    axes[0].loglog(table.index, table["contrast"], "o-", color="#0072b2")
    axes[0].set(xlabel="dimensions", ylabel="(farthest - nearest) / nearest")
    axes[1].semilogx(table.index, table["angle_spread"], "s-", color="#d55e00")
    axes[1].set(xlabel="dimensions", ylabel="spread of angles about 90 degrees")
    return figure


def _selection() -> plt.Figure:
    """Return the path of a forward search on wine."""
    wine = dataset("wine")
    selector = SubsetSelector(GaussianNB()).fit(wine.inputs, wine.target_values)
    figure, ax = plt.subplots(figsize=(8.4, 4.4), layout="constrained")
    selection_path(selector, ax=ax)
    return figure


def _components() -> plt.Figure:
    """Return scree and biplot of wine."""
    wine = dataset("wine")
    components = PrincipalComponents(standardise=True).fit(wine.inputs)
    figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.8), layout="constrained")
    scree(components, ax=axes[0])
    biplot(components, wine.inputs, wine.target_values, ax=axes[1])
    return figure


def _digits() -> plt.Figure:
    """Return digits rebuilt from fewer and fewer components."""
    images = dataset("digits").inputs.to_numpy(dtype=float)
    counts = (64, 20, 8, 2)
    figure, axes = plt.subplots(len(counts), 8, figsize=(7.0, 3.8), layout="constrained")
    for row, count in zip(axes, counts, strict=True):
        model = PrincipalComponents(count if count < 64 else None).fit(images)
        rebuilt = model.inverse_transform(model.transform(images[:8]))
        for ax, image in zip(row, rebuilt, strict=True):
            ax.imshow(image.reshape(8, 8), cmap="gray_r")
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(f"{count}", rotation=0, ha="right", va="center")
    return figure


def _factors() -> plt.Figure:
    """Return the loadings of two factors of wine, before and after rotation."""
    wine = dataset("wine").inputs
    figure, axes = plt.subplots(1, 2, figsize=(11.0, 5.0), layout="constrained")
    for ax, rotation in zip(axes, (None, "varimax"), strict=True):
        loading_map(FactorAnalysis(2, rotation=rotation).fit(wine), ax=ax)
        ax.set_title(rotation or "not rotated")
    return figure


def _discriminants() -> plt.Figure:
    """Return wine along two components, and along both discriminants."""
    wine = dataset("wine")
    y = wine.target_values
    figure, axes = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    class_map(PrincipalComponents(2, standardise=True).fit_transform(wine.inputs), y, ax=axes[0])
    axes[0].set_title("principal components")
    class_map(DiscriminantProjection().fit(wine.inputs, y).transform(wine.inputs), y, ax=axes[1])
    axes[1].set_title("discriminants")
    return figure


def _three_dimensions() -> plt.Figure:
    """Return iris in three dimensions."""
    iris = dataset("iris")
    ax = class_map(PrincipalComponents(3).fit_transform(iris.inputs), iris.target_values)
    ax.view_init(22, -60)
    return ax.figure


def _maps() -> plt.Figure:
    """Return three maps of digits, with their distances below."""
    digits = dataset("digits")
    rows = digits.inputs.to_numpy(dtype=float)[:400]
    labels = np.asarray(digits.target_values)[:400]
    four = np.isin(labels.astype(str), ["0", "1", "4", "7"])
    rows, labels = rows[four], labels[four]
    maps = {
        "classical scaling": ClassicalScaling(2).fit_transform(rows),
        "Sammon's mapping": StressScaling(weighting="sammon").fit_transform(rows),
        "curvilinear components": CurvilinearComponents(2, random_state=0).fit_transform(rows),
    }
    figure, axes = plt.subplots(2, 3, figsize=(12.0, 7.6), layout="constrained")
    for column, (name, places) in zip(axes.T, maps.items(), strict=True):
        class_map(places, labels, ax=column[0])
        column[0].set_title(name)
        shepard_diagram(rows, places, ax=column[1])
    return figure
