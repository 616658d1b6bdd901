"""Maps of units: ridges between clusters, hits, component planes, nets and how they unfold."""

import warnings
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, LineCollection, PolyCollection
from numpy.typing import ArrayLike

from verulam.base import DataError, DataWarning, check_is_fitted, clone
from verulam.local import AdaptiveResonance, OnlineSelfOrganisingMap, SelfOrganisingMap, UnitGrid
from verulam.plots._style import axes_or_new, colour, marker, place_legend

#: Share of a cell that the largest number of hits fills.
LARGEST_HIT = 0.85


def u_matrix(learner: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how far each unit of a map is from those that touch it.

    Parameters
    ----------
    learner
        A fitted `SelfOrganisingMap` or `OnlineSelfOrganisingMap`.
    ax
        Axes to draw on.

    Notes
    -----
    Dark cells are far from their neighbours: ridges between clusters. See Bartkowiak 8.1.1.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import SelfOrganisingMap
    >>> from verulam.plots import u_matrix
    >>> learner = SelfOrganisingMap((6, 4), lattice="hexagonal").fit(dataset("iris").inputs)
    >>> u_matrix(learner).get_title()
    'distance from neighbours'
    """
    _check_map(learner)
    ax = axes_or_new(ax, 5.2, 4.6)
    _draw_cells(ax, learner.grid_, learner.u_matrix_, "distance from neighbours", "Greys")
    return ax


def component_plane(learner: Any, column: Any, *, ax: Axes | None = None) -> Axes:
    """Draw one input of all units of a map.

    Parameters
    ----------
    learner
        A fitted `SelfOrganisingMap` or `OnlineSelfOrganisingMap`.
    column
        Name or number of the input.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import SelfOrganisingMap
    >>> from verulam.plots import component_plane
    >>> learner = SelfOrganisingMap((6, 4)).fit(dataset("iris").inputs)
    >>> component_plane(learner, "petal_length_cm").get_title()
    'petal_length_cm'
    """
    _check_map(learner)
    values = learner.component_plane(column)
    ax = axes_or_new(ax, 5.2, 4.6)
    names = getattr(learner, "feature_names_in_", None)
    title = str(column) if isinstance(column, str) or names is None else str(names[column])
    _draw_cells(ax, learner.grid_, values, title, "viridis")
    return ax


def hit_map(
    learner: Any, X: ArrayLike | None = None, y: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how many rows each unit of a map wins, and of which classes they are.

    Parameters
    ----------
    learner
        A fitted `SelfOrganisingMap` or `OnlineSelfOrganisingMap`.
    X
        Rows; None for those of training.
    y
        Their classes: a disc is drawn for each, the larger the more rows of it.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import SelfOrganisingMap
    >>> from verulam.plots import hit_map
    >>> iris = dataset("iris")
    >>> learner = SelfOrganisingMap((6, 4)).fit(iris.inputs)
    >>> axes = hit_map(learner, iris.inputs, iris.target_values)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['setosa', 'versicolor', 'virginica']
    """
    _check_map(learner)
    grid = learner.grid_
    if X is None and y is not None:
        raise DataError("y: classes need the rows that they belong to, as X.")
    winners = None if X is None else learner.predict(X)
    labels = None if y is None else np.asarray(y)
    if winners is not None and labels is not None and len(labels) != len(winners):
        raise DataError(f"X has {len(winners)} rows and y has {len(labels)}.")
    ax = axes_or_new(ax, 5.2, 4.6)
    _draw_cells(ax, grid, np.zeros(grid.shape), "hits", "Greys", bar=False)
    if winners is None:
        counts = {"": np.ravel(learner.hits_)}
    elif labels is None:
        counts = {"": np.bincount(winners, minlength=grid.n_units)}
    else:
        counts = {
            str(label): np.bincount(winners[labels == label], minlength=grid.n_units)
            for label in np.unique(labels)
        }
    _draw_discs(ax, grid, counts)
    columns = min(len(counts), 5)
    place_legend(ax, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=columns)
    return ax


def map_net(
    learner: Any,
    X: ArrayLike | None = None,
    *,
    columns: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
) -> Axes:
    """Draw the units of a map among the rows, joined where they touch on the grid.

    Parameters
    ----------
    learner
        A fitted map, or `GrowingCells`.
    X
        Rows to draw behind the net.
    columns
        Numbers of the two inputs to draw.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.local import SelfOrganisingMap
    >>> from verulam.plots import map_net
    >>> iris = dataset("iris").inputs
    >>> map_net(SelfOrganisingMap((6, 4)).fit(iris), iris, columns=(0, 2)).get_xlabel()
    'sepal_length_cm'
    """
    check_is_fitted(learner)
    if not hasattr(learner, "cluster_centers_") or not (
        hasattr(learner, "grid_") or hasattr(learner, "edges_")
    ):
        raise DataError(
            f"learner is a {type(learner).__name__}; expected a fitted map, or GrowingCells."
        )
    ax = axes_or_new(ax)
    units = learner.cluster_centers_
    _check_columns(columns, units.shape[1])
    if X is not None:
        rows = np.asarray(X, dtype=np.float64)[:, list(columns)]
        ax.plot(*rows.T, ".", color=colour(6), markersize=3, alpha=0.5, zorder=1)
    edges = learner.grid_.touching if hasattr(learner, "grid_") else learner.edges_
    _draw_net(ax, units[:, list(columns)], edges)
    names = getattr(learner, "feature_names_in_", [f"input {j}" for j in range(units.shape[1])])
    ax.set(xlabel=str(names[columns[0]]), ylabel=str(names[columns[1]]))
    return ax


def ordering_strip(
    learner: Any,
    X: ArrayLike,
    steps: Sequence[int],
    *,
    columns: tuple[int, int] = (0, 1),
    axes: Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw the net of an online map after several numbers of rows: how it comes to order.

    Parameters
    ----------
    learner
        An `OnlineSelfOrganisingMap`, fitted or not; a copy is trained anew.
    X
        Rows, which are presented in random orders.
    steps
        Numbers of rows after which the net is drawn, from small to large.
    columns
        Numbers of the two inputs to draw.
    axes
        Axes to draw on, one for each number.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import OnlineSelfOrganisingMap
    >>> from verulam.plots import ordering_strip
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> learner = OnlineSelfOrganisingMap((5, 5), init="random", random_state=0)
    >>> [ax.get_title() for ax in ordering_strip(learner, X, [25, 100, 1000])]
    ['25 rows', '100 rows', '1000 rows']
    """
    if not isinstance(learner, OnlineSelfOrganisingMap):
        raise DataError(
            f"learner is a {type(learner).__name__}; expected an OnlineSelfOrganisingMap."
        )
    counts = [int(step) for step in steps]
    if not counts or counts[0] < 1 or any(np.diff(counts) < 1):
        raise DataError(f"steps={list(steps)!r}; expected rising whole numbers from 1 on.")
    rows = np.asarray(X, dtype=np.float64)
    places = [] if axes is None else list(axes)
    if axes is None:
        size = (3.0 * len(counts), 3.1)
        grid_of_axes = plt.subplots(1, len(counts), figsize=size, layout="constrained")[1]
        places.extend(np.ravel(grid_of_axes))
    if len(places) != len(counts):
        raise DataError(f"axes: expected {len(counts)} of them, one for each step.")
    trained = clone(learner)
    trained.set_params(n_steps=counts[-1])
    random = np.random.default_rng(0)
    order = np.concatenate(
        [random.permutation(len(rows)) for _ in range(-(-counts[-1] // len(rows)))]
    )
    for place, start, stop in zip(places, [0, *counts[:-1]], counts, strict=True):
        with warnings.catch_warnings():
            # Few rows are asked for here, and more will come.
            warnings.simplefilter("ignore", DataWarning)
            trained.partial_fit(rows[order[start:stop]])
        map_net(trained, rows, columns=columns, ax=place)
        rows_so_far = "1 row" if stop == 1 else f"{stop} rows"
        place.set(title=rows_so_far, xticks=[], yticks=[], xlabel="", ylabel="")
    return places


def vigilance_circles(learner: AdaptiveResonance, X: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """Draw the circles of vigilance around the units of adaptive resonance, and their rows.

    Parameters
    ----------
    learner
        A fitted `AdaptiveResonance` of two inputs, by distance.
    X
        Rows.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin, figure 12.4. Units move after a row was accepted, so that some rows may end
    outside of their circle.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import AdaptiveResonance
    >>> from verulam.plots import vigilance_circles
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> learner = AdaptiveResonance(1.0, random_state=0).fit(X)
    >>> vigilance_circles(learner, X).get_aspect()
    1.0
    """
    if not isinstance(learner, AdaptiveResonance):
        raise DataError(f"learner is a {type(learner).__name__}; expected an AdaptiveResonance.")
    check_is_fitted(learner)
    if learner.n_features_in_ != 2 or learner.similarity != "distance":
        raise DataError("learner: circles need two inputs and similarity='distance'.")
    ax = axes_or_new(ax, 5.0, 4.8)
    rows, units = np.asarray(X, dtype=np.float64), learner.cluster_centers_
    labels = learner.predict(X)
    for unit in range(len(units)):
        ax.plot(*rows[labels == unit].T, marker(unit), color=colour(unit), markersize=4, alpha=0.7)
    size = 2.0 * np.full(len(units), min(float(learner.vigilance), 1e6))
    ax.add_collection(
        EllipseCollection(
            size,
            size,
            np.zeros(len(units)),
            units="xy",
            offsets=units,
            offset_transform=ax.transData,
            facecolors="none",
            edgecolors=[colour(unit) for unit in range(len(units))],
        )
    )
    ax.plot(*units.T, "k+", markersize=9)
    if learner.vigilance < np.ptp(rows, axis=0).max():
        padding = 1.05 * float(learner.vigilance)
        low, high = units.min(axis=0) - padding, units.max(axis=0) + padding
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_aspect("equal")
    return ax


def _check_map(learner: Any) -> None:
    if not isinstance(learner, SelfOrganisingMap | OnlineSelfOrganisingMap):
        raise DataError(
            f"learner is a {type(learner).__name__}; expected a SelfOrganisingMap or an "
            "OnlineSelfOrganisingMap."
        )
    check_is_fitted(learner)


def _check_columns(columns: tuple[int, int], n_columns: int) -> None:
    if len(columns) != 2 or any(not 0 <= column < n_columns for column in columns):
        raise DataError(f"columns={columns!r}; expected two numbers from 0 to {n_columns - 1}.")


def _draw_cells(
    ax: Axes, grid: UnitGrid, values: np.ndarray, title: str, colours: str, *, bar: bool = True
) -> None:
    """Draw a square or a hexagon for each unit, the first row on top."""
    places = _plane(grid)
    cells = PolyCollection(
        list(places[:, None, :] + _outline(grid)), array=np.ravel(values), cmap=colours,
        edgecolors="white", linewidths=0.6,
    )  # fmt: skip
    if not bar:
        cells.set_clim(-1.0, 12.0)
    ax.add_collection(cells)
    ax.set(
        title=title,
        xlim=(places[:, 0].min() - 0.7, places[:, 0].max() + 0.7),
        ylim=(places[:, 1].max() + 0.7, places[:, 1].min() - 0.7),
        xticks=[],
        yticks=[],
    )
    ax.set_aspect("equal")
    ax.set_frame_on(False)
    figure = ax.get_figure()
    if bar and figure is not None:
        figure.colorbar(cells, ax=ax, shrink=0.8)


def _plane(grid: UnitGrid) -> np.ndarray:
    positions = grid.positions
    return positions if positions.shape[1] == 2 else np.column_stack([positions, 0 * positions])


def _outline(grid: UnitGrid) -> np.ndarray:
    """Return the corners of a cell about its centre."""
    if not grid.hexagonal:
        return 0.5 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    angles = np.pi / 6 + np.arange(6) * np.pi / 3
    return np.column_stack([np.cos(angles), np.sin(angles)]) / np.sqrt(3.0)


def _draw_discs(ax: Axes, grid: UnitGrid, counts: dict[str, np.ndarray]) -> None:
    """Draw discs whose areas are the counts, side by side where there are several classes."""
    places = _plane(grid)
    largest = max(float(count.max()) for count in counts.values()) or 1.0
    n_kinds = len(counts)
    angles = 2.0 * np.pi * np.arange(n_kinds) / n_kinds
    offsets = np.column_stack([np.cos(angles), np.sin(angles)]) * (0.22 if n_kinds > 1 else 0.0)
    widest = LARGEST_HIT if n_kinds == 1 else 0.5
    for kind, (name, count) in enumerate(counts.items()):
        present = count > 0
        sizes = widest * np.sqrt(count[present] / largest)
        ax.add_collection(
            EllipseCollection(
                sizes,
                sizes,
                np.zeros(len(sizes)),
                units="xy",
                offsets=places[present] + offsets[kind],
                offset_transform=ax.transData,
                facecolors=colour(kind),
                alpha=0.85,
            )
        )
        if name:
            ax.plot([], [], "o", color=colour(kind), label=name)


def _draw_net(ax: Axes, points: np.ndarray, edges: np.ndarray) -> None:
    ax.add_collection(
        LineCollection(list(points[edges]), colors=colour(0), linewidths=0.9, zorder=2)
    )
    ax.plot(*points.T, "o", color=colour(1), markersize=3.5, zorder=3)
    ax.autoscale_view()
