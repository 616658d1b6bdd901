"""Maps of rows in two or three dimensions, their distances, and the path of a selection."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from sklearn.metrics import pairwise_distances

from verulam.base import DataError, check_is_fitted
from verulam.plots._style import axes_or_new, colour, line, marker, place_legend

#: Pairs that are drawn as points; of more, so many are drawn at random.
MOST_PAIRS = 20_000
#: Steps of a selection that are labelled with their columns.
MOST_NAMES = 16


def class_map(embedding: ArrayLike, y: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """Draw places in two or three dimensions, with a colour and a marker for each class.

    Parameters
    ----------
    embedding
        Two or three columns of coordinates.
    y
        Classes of the rows.
    ax
        Axes to draw on; for three columns they must be three-dimensional.

    Notes
    -----
    In a window or notebook that lets pictures be turned, the axes of three dimensions turn with the
    mouse (Bartkowiak, figure 8.2).

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.plots import class_map
    >>> from verulam.reduction import DiscriminantProjection, PrincipalComponents
    >>> iris = dataset("iris")
    >>> places = PrincipalComponents(3).fit_transform(iris.inputs)
    >>> class_map(places, iris.target_values).name
    '3d'
    """
    places = np.asarray(embedding, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] not in (2, 3):
        raise DataError(f"embedding: expected two or three columns; got shape {places.shape}.")
    if places.shape[1] == 3 and ax is None:
        ax = plt.figure(figsize=(6.4, 5.4), layout="constrained").add_subplot(projection="3d")
    elif places.shape[1] == 2:
        ax = axes_or_new(ax)
    elif getattr(ax, "name", "") != "3d":
        raise DataError("ax: three columns need axes made with projection='3d'.")
    labels = np.zeros(len(places), dtype=int) if y is None else np.asarray(y)
    if len(labels) != len(places):
        raise DataError(f"embedding has {len(places)} rows and y has {len(labels)}.")
    for code, label in enumerate(np.unique(labels)):
        ax.scatter(
            *places[labels == label].T,
            s=16,
            color=colour(code),
            marker=marker(code),
            alpha=0.75,
            label=None if y is None else str(label),
        )
    ax.set(xlabel="first coordinate", ylabel="second coordinate")
    if places.shape[1] == 3:
        ax.set_zlabel("third coordinate")
    place_legend(ax)
    return ax


def shepard_diagram(
    X: ArrayLike, embedding: ArrayLike, *, metric: str = "euclidean", ax: Axes | None = None
) -> Axes:
    """Draw the distances in a map against those of the rows (the dy-dx diagram).

    Parameters
    ----------
    X
        The rows, or the matrix of their distances.
    embedding
        Their places.
    metric
        Distance between rows by name, or "precomputed" where `X` holds distances.
    ax
        Axes to draw on.

    Notes
    -----
    Pairs on the diagonal keep their distance; those below are drawn together, those above torn
    apart. Where a map unfolds a surface, near pairs follow the diagonal and far ones lie above.
    See SIT1305 II and Bartkowiak 8.3.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.plots import shepard_diagram
    >>> from verulam.reduction import ClassicalScaling
    >>> X = dataset("iris").inputs
    >>> shepard_diagram(X, ClassicalScaling(2).fit_transform(X)).get_ylabel()
    'distance in the map'
    """
    rows, places = np.asarray(X, dtype=np.float64), np.asarray(embedding, dtype=np.float64)
    if len(rows) != len(places) or len(rows) < 2:
        raise DataError(f"X has {len(rows)} rows and embedding has {len(places)}.")
    upper = np.triu_indices(len(rows), 1)
    before = (
        rows[upper] if metric == "precomputed" else pairwise_distances(rows, metric=metric)[upper]
    )
    after = pairwise_distances(places)[upper]
    ax = axes_or_new(ax, 5.2, 4.8)
    shown = np.arange(len(before))
    if len(before) > MOST_PAIRS:
        shown = np.random.default_rng(0).choice(len(before), MOST_PAIRS, replace=False)
    ax.plot(before[shown], after[shown], ".", color=colour(0), markersize=2, alpha=0.3)
    longest = 1.03 * max(float(before.max()), float(after.max()))
    ax.plot([0.0, longest], [0.0, longest], color=colour(1), linewidth=1.0, label="kept")
    ax.set(
        xlabel="distance of the rows",
        ylabel="distance in the map",
        xlim=(0.0, longest),
        ylim=(0.0, longest),
    )
    place_legend(ax, loc="upper left")
    return ax


def selection_path(selector: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the best score of each size of subset, and the steps of the search.

    Parameters
    ----------
    selector
        A fitted `verulam.reduction.SubsetSelector`.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from verulam.data import dataset
    >>> from verulam.plots import selection_path
    >>> from verulam.reduction import SubsetSelector
    >>> wine = dataset("wine")
    >>> axes = selection_path(SubsetSelector(GaussianNB()).fit(wine.inputs, wine.target_values))
    >>> axes.get_xlabel()
    'number of columns'
    """
    check_is_fitted(selector)
    path, best = selector.path_, selector.best_subsets_
    ax = axes_or_new(ax)
    n_splits = len(selector.steps_[0].scores)
    ax.errorbar(
        path["n_columns"],
        path["score"],
        path["spread"] / np.sqrt(n_splits),
        color=colour(0),
        fmt=marker(0),
        linestyle="-",
        linewidth=0.8,
        markersize=4,
        capsize=2,
        label="steps, with standard errors",
    )
    ax.plot(best.index, best["score"], color=colour(2), linestyle=line(1), label="best of its size")
    size, score = selector.n_features_to_select_, selector.score_
    ax.plot(size, score, color=colour(1), marker="*", markersize=14, linestyle="", label="chosen")
    changes = path[path["action"].isin(["add", "drop"])]
    # Names are legible where each size was passed once.
    if len(path) <= MOST_NAMES and path["n_columns"].is_unique:
        for _, step in changes.iterrows():
            sign = "+" if step["action"] == "add" else "\u2212"
            ax.annotate(
                f"{sign} {step['column']}",
                (step["n_columns"], step["score"]),
                (3, -8),
                textcoords="offset points",
                rotation=-60,
                ha="left",
                va="top",
                fontsize="x-small",
            )
    ax.set(xlabel="number of columns", ylabel="cross-validated score")
    ax.margins(y=0.25)
    place_legend(ax, loc="lower right")
    return ax
