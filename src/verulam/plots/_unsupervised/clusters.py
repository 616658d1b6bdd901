"""Clusters: hierarchies with a cut, silhouettes, mixtures as ellipses, and criteria by size."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Ellipse
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.cluster import ClusterQuality, Components, MergeTree, MixtureSelection
from verulam.plots._style import axes_or_new, colour, line, marker, place_legend

#: Leaves that are named; more would be unreadable.
MOST_NAMED = 60


def dendrogram(
    hierarchy: Any,
    *,
    height: float | None = None,
    n_clusters: int | None = None,
    names: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a hierarchy of clusters, the line where it is cut, and the clusters below it.

    Parameters
    ----------
    hierarchy
        A fitted `AgglomerativeClustering` or `DivisiveClustering`, or a `MergeTree`.
    height
        Height of the cut.
    n_clusters
        Number of clusters that the cut leaves, instead of the height.
    names
        Names of the rows.
    ax
        Axes to draw on.

    Notes
    -----
    Merges above the cut are grey, those below have the colour of their cluster. See SIT1305 III.

    Examples
    --------
    >>> from verulam.cluster import AgglomerativeClustering
    >>> from verulam.plots import dendrogram
    >>> learner = AgglomerativeClustering(linkage="single").fit([[0.0], [1.0], [4.0], [4.5]])
    >>> axes = dendrogram(learner, n_clusters=2)
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['2', '3', '0', '1']
    """
    tree: MergeTree = getattr(hierarchy, "merge_tree_", hierarchy)
    if not isinstance(tree, MergeTree):
        raise DataError(
            f"hierarchy is a {type(hierarchy).__name__}; expected a fitted one, or a MergeTree."
        )
    if tree.n_rows < 2:
        raise DataError("hierarchy has one row alone; there are no merges to draw.")
    order = tree.leaf_order()
    ax = axes_or_new(ax, min(12.0, max(5.0, 0.25 * len(order) + 2)), 4.2)
    labels = np.zeros(tree.n_rows, dtype=int)
    if height is not None or n_clusters is not None:
        labels = tree.cut(height=height, n_clusters=n_clusters)
        ax.axhline(_cut_height(tree, height, labels), color="0.3", linestyle="--", linewidth=1)
    _draw_merges(ax, tree, order, labels, whole=height is None and n_clusters is None)
    ax.set_ylabel("height")
    ax.set_ylim(0, 1.06 * float(tree.heights.max()) or 1.0)
    ax.set_xlim(-0.7, len(order) - 0.3)
    ax.set_xticks([])
    if len(order) <= MOST_NAMED:
        shown = np.arange(tree.n_rows) if names is None else np.asarray(names)
        long = len(order) > 20 or max(len(str(name)) for name in shown) > 3
        ax.set_xticks(range(len(order)), [str(shown[row]) for row in order])
        ax.tick_params("x", length=0, labelrotation=90 if long else 0)
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    return ax


def _cut_height(tree: MergeTree, height: float | None, labels: np.ndarray) -> float:
    if height is not None:
        return height
    n_clusters = int(labels.max()) + 1
    heights = np.r_[0.0, np.sort(tree.heights), 1.05 * tree.heights.max()]
    return float(heights[-n_clusters - 1] + heights[-n_clusters]) / 2


def _draw_merges(
    ax: Axes, tree: MergeTree, order: np.ndarray, labels: np.ndarray, *, whole: bool
) -> None:
    n_rows = tree.n_rows
    across, up = np.empty(2 * n_rows - 1), np.zeros(2 * n_rows - 1)
    across[order] = np.arange(n_rows)
    members = np.r_[labels, np.full(n_rows - 1, -1)]
    segments, colours = [], []
    for step, (first, second) in enumerate(tree.merges[:, :2].astype(int)):
        place, top = n_rows + step, tree.heights[step]
        left, right = across[first], across[second]
        across[place], up[place] = (left + right) / 2, top
        if members[first] == members[second]:
            members[place] = members[first]
        segments.append([(left, up[first]), (left, top), (right, top), (right, up[second])])
        inside = members[place] >= 0 and not whole
        colours.append(colour(members[place]) if inside else "0.45")
    ax.add_collection(LineCollection(segments, colors=colours, linewidths=1.3))


def silhouette_plot(quality: ClusterQuality, *, ax: Axes | None = None) -> Axes:
    """Draw the silhouette of every row, cluster by cluster, and the mean of all.

    Parameters
    ----------
    quality
        What `verulam.cluster.cluster_quality` returned.
    ax
        Axes to draw on.

    Notes
    -----
    Rows below 0 are nearer to another cluster than to their own. See SIT1305 III.

    Examples
    --------
    >>> from verulam.cluster import cluster_quality
    >>> from verulam.plots import silhouette_plot
    >>> quality = cluster_quality([[0.0], [2.0], [10.0], [14.0]], ["near", "near", "far", "far"])
    >>> axes = silhouette_plot(quality)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['far (2)', 'near (2)']
    """
    ax = axes_or_new(ax, 6.4, 4.6)
    gap = max(1.0, 0.02 * len(quality.silhouettes))
    ticks, names, bottom = [], [], 0.0
    for place, label in enumerate(quality.labels):
        values = np.sort(quality.silhouettes[quality.row_labels == place])
        heights = bottom + np.arange(len(values))
        ax.barh(heights, values, height=1.0, color=colour(place), linewidth=0)
        ticks.append(bottom + (len(values) - 1) / 2)
        names.append(f"{label} ({len(values)})")
        bottom += len(values) + gap
    mean = quality.silhouette
    ax.axvline(mean, color="0.2", linestyle="--", linewidth=1, label=f"mean {mean:.2f}")
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set_yticks(ticks, names)
    ax.set(xlabel="silhouette", ylabel="cluster (rows)", ylim=(-gap, bottom))
    ax.set_xlim(min(-0.05, float(quality.silhouettes.min()) - 0.02), 1.0)
    place_legend(ax)
    return ax


def mixture_ellipses(
    mixture: Any,
    X: ArrayLike,
    *,
    columns: tuple[int, int] = (0, 1),
    deviations: tuple[float, ...] = (1.0, 2.0),
    colours: Sequence[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows by their component, the paler the less sure, and components as ellipses.

    Parameters
    ----------
    mixture
        A fitted mixture.
    X
        Rows.
    columns
        The two columns to show; ellipses are those of the marginal densities.
    deviations
        Radii of the ellipses in standard deviations.
    colours
        Place of each component in the palette; None for their order. Pictures of several mixtures
        can so have one colour for what is the same in all.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.cluster import GaussianMixture
    >>> from verulam.data import dataset
    >>> from verulam.plots import mixture_ellipses
    >>> X = dataset("iris").inputs
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> axes = mixture_ellipses(mixture, X, columns=(2, 3))
    >>> axes.get_xlabel(), len(axes.patches)
    ('petal_length_cm', 4)
    """
    components: Components = mixture.components_
    names = list(getattr(X, "columns", [f"x{place}" for place in range(np.shape(X)[1])]))
    ax = axes_or_new(ax, 6.4, 4.8)
    shares = mixture.predict_proba(X)
    best, rows = shares.argmax(axis=1), np.asarray(X, dtype=np.float64)[:, list(columns)]
    palette = range(len(components.weights)) if colours is None else colours
    if len(palette) != len(components.weights):
        raise DataError(
            f"colours: expected {len(components.weights)} numbers, one for each component, not "
            f"{len(palette)}."
        )
    for k, shade in enumerate(palette):
        mine = best == k
        ax.scatter(
            rows[mine, 0], rows[mine, 1], s=18, marker=marker(shade), color=colour(shade),
            linewidth=0, alpha=np.clip(2 * shares[mine, k] - 1, 0.15, 0.9),
        )  # fmt: skip
        # Rows differ in how pale they are, and the legend shows none of them.
        share = f"component {k}, {components.weights[k]:.0%}"
        ax.scatter([], [], s=18, marker=marker(shade), color=colour(shade), label=share)
        matrix = components.matrices()[k][np.ix_(columns, columns)]
        values, vectors = np.linalg.eigh(matrix)
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        for radius in deviations:
            ax.add_patch(
                Ellipse(
                    tuple(components.means[k, list(columns)]), 2 * radius * np.sqrt(values[1]),
                    2 * radius * np.sqrt(values[0]), angle=angle, fill=False,
                    edgecolor=colour(shade), linewidth=1.4,
                )
            )  # fmt: skip
    ax.set(xlabel=names[columns[0]], ylabel=names[columns[1]])
    place_legend(ax)
    return ax


def mixture_criteria(selection: MixtureSelection, *, ax: Axes | None = None) -> Axes:
    """Draw the criterion by number of components, a curve for each family, the best marked.

    Parameters
    ----------
    selection
        What `verulam.cluster.select_mixture` returned.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.cluster import select_mixture
    >>> from verulam.data import dataset
    >>> from verulam.plots import mixture_criteria
    >>> axes = mixture_criteria(select_mixture(dataset("iris").inputs, (1, 2), ("tied", "full")))
    >>> axes.get_ylabel()
    'BIC, less is better'
    """
    ax = axes_or_new(ax, 6.8, 4.4)
    table = selection.to_frame()
    for place, kind in enumerate(table.columns):
        ax.plot(
            table.index, table[kind], marker=marker(place), linestyle=line(place),
            color=colour(place), label=kind,
        )  # fmt: skip
    best = selection.best
    place = list(table.index).index(best.n_components)
    lowest = float(table[best.covariance_type].to_numpy()[place])
    ax.plot(best.n_components, lowest, "o", markersize=15, fillstyle="none", color="0.2")
    ax.set_xticks(list(table.index))
    ax.set(xlabel="components", ylabel=f"{selection.criterion.upper()}, less is better")
    place_legend(ax, beside=True)
    return ax
