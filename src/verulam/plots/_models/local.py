"""Local models: units over their inputs, shares of gates, experts where they hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse
from numpy.typing import NDArray

from verulam.base import DataError, check_is_fitted
from verulam.plots._style import (
    PALETTE,
    axes_or_new,
    colour,
    line,
    marker,
    place_legend,
    tint,
)

#: Points along a line, and along each side of a plane.
LINE_POINTS, PLANE_POINTS = 400, 200
#: More units than this have no entry of their own in the legend.
MOST_LABELS = 8
#: Lines of equal predictions, of all experts together.
N_LEVELS = 7
#: Faces of the classes where colours are those of experts.
GREYS = ("0.2", "white", "0.65")


def unit_bells(learner: Any, X: Any, *, shares: bool = True, ax: Axes | None = None) -> Axes:
    """Draw the bells of radial units over one column and, dashed, their shares.

    Parameters
    ----------
    learner
        A fitted radial network or `verulam.local.RBFFeatures`, of one column.
    X
        Rows whose range is drawn.
    shares
        Whether to draw what normalising makes of the bells.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 12.5, figs. 12.6 and 12.9: where a unit counts depends on the others once bells
    are normalised.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import RBFFeatures
    >>> from verulam.plots import unit_bells
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> axes = unit_bells(RBFFeatures(3, random_state=0).fit(X), X)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['unit 1', 'unit 2', 'unit 3', 'normalised']
    """
    units = _units(learner)
    table = _columns(X, 1)
    grid = np.linspace(table.min(), table.max(), LINE_POINTS)[:, None]
    bells = units.activations(grid)
    ax = axes_or_new(ax, 6.0, 3.6)
    for place in range(bells.shape[1]):
        label = f"unit {place + 1}" if bells.shape[1] <= MOST_LABELS else None
        ax.plot(grid[:, 0], bells[:, place], color=colour(place), label=label)
        if shares:
            normalised = bells[:, place] / np.maximum(bells.sum(axis=1), 1e-300)
            ax.plot(grid[:, 0], normalised, "--", color=colour(place), linewidth=1.0)
        ax.plot(units.centers[place], [0.0], marker="*", color=colour(place), clip_on=False)
    if shares:
        ax.plot([], [], "--", color="0.4", linewidth=1.0, label="normalised")
    ax.set(xlabel=_names(learner, 1)[0], ylabel="activation", ylim=(0, 1.05))
    place_legend(ax)
    return ax


def unit_ellipses(learner: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw radial units over two columns: centres, and where a bell has fallen to 0.61 and 0.14.

    Parameters
    ----------
    learner
        A fitted radial network or `verulam.local.RBFFeatures`, of two columns.
    X, y
        Rows to draw, and their classes; None for none.
    ax
        Axes to draw on.

    Notes
    -----
    Contours lie one and two spreads away. See Alpaydin 12.3 and fig. 12.12.

    Examples
    --------
    >>> from verulam.local import RBFNetworkClassifier
    >>> from verulam.plots import unit_ellipses
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> circles = RBFNetworkClassifier(init=[[0, 1], [1, 0]], bandwidth=0.5).fit(X, y)
    >>> len(unit_ellipses(circles, X, y).patches)
    4
    """
    units = _units(learner)
    if units.centers.shape[1] != 2:
        raise DataError(
            f"learner: units of two columns are drawn; it has {units.centers.shape[1]}."
        )
    ax = axes_or_new(ax, 5.0, 4.4)
    if X is not None:
        _draw_rows(ax, _columns(X, 2), y)
    for place, center in enumerate(units.centers):
        values, vectors = np.linalg.eigh(_matrix(units, place))
        angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
        for spreads in (1.0, 2.0):
            # The second eigenvector is the long axis.
            height, width = (float(size) for size in 2.0 * spreads * np.sqrt(values))
            ax.add_patch(
                Ellipse(
                    (float(center[0]), float(center[1])), width, height, angle=angle, fill=False,
                    edgecolor="0.25", linewidth=1.4 if spreads == 1.0 else 0.7,
                )
            )  # fmt: skip
        ax.plot(*center, marker="+", color="0.25", markersize=9, zorder=1)
    names = _names(learner, 2)
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.autoscale_view()
    return ax


def expert_lines(learner: Any, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw experts over one column, each as strong as its share, and what they predict together.

    Parameters
    ----------
    learner
        Fitted experts that predict numbers, of one column.
    X, y
        Rows whose range is drawn, and their targets; None for none.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 12.8, figs. 12.10 and 12.11.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import MixtureOfExpertsRegressor
    >>> from verulam.plots import expert_lines
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> experts = MixtureOfExpertsRegressor(2, random_state=0).fit(x, np.abs(x[:, 0]))
    >>> expert_lines(experts, x, np.abs(x[:, 0])).get_ylabel()
    'prediction'
    """
    check_is_fitted(learner)
    if hasattr(learner, "classes_"):
        raise DataError(
            "learner: experts that predict numbers are drawn; see gate_map for classes."
        )
    table = _columns(X, 1)
    grid = np.linspace(table.min(), table.max(), LINE_POINTS)[:, None]
    grid_input = grid if not isinstance(X, pd.DataFrame) else pd.DataFrame(grid, columns=X.columns)
    outputs, shares = learner.expert_outputs(grid_input)[:, :, 0], learner.gate_weights(grid_input)
    ax = axes_or_new(ax, 6.0, 3.8)
    if y is not None:
        ax.plot(table[:, 0], np.asarray(y), ".", color="0.7", markersize=4, label="rows", zorder=1)
    for place in range(shares.shape[1]):
        ax.scatter(
            grid[:, 0],
            outputs[:, place],
            s=14.0 * shares[:, place] + 1e-3,
            color=tint(place, shares[:, place]),
            zorder=2,
        )
        if shares.shape[1] <= MOST_LABELS:
            ax.plot([], [], color=colour(place), linewidth=3.0, label=f"expert {place + 1}")
    # Lines of experts may leave the picture where they have no share.
    together = np.atleast_1d(learner.predict(grid_input).reshape(len(grid), -1)[:, 0])
    values = together if y is None else np.concatenate([together, np.asarray(y, dtype=float)])
    margin = 0.1 * float(np.ptp(values)) + 1e-9
    ax.plot(grid[:, 0], together, color="black", linewidth=1.0, label="together", zorder=3)
    ax.set(
        xlabel=_names(learner, 1)[0], ylabel="prediction",
        ylim=(values.min() - margin, values.max() + margin),
    )  # fmt: skip
    place_legend(ax)
    return ax


def gate_map(learner: Any, X: Any, y: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw which unit or expert has how much share over two columns, and the rows.

    Parameters
    ----------
    learner
        Fitted experts, or a radial network, of two columns.
    X, y
        Rows whose range is drawn, and their classes or numbers; None for none.
    ax
        Axes to draw on.

    Notes
    -----
    The colours of the experts are mixed by their shares, so that soft borders are pale. Where an
    expert has most of the share, thin lines are its own borders between classes or, of an expert
    that predicts a number, where it predicts equal ones. See Alpaydin 12.8 and 12.9.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import MixtureOfExpertsClassifier
    >>> from verulam.plots import gate_map
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(80, 2))
    >>> y = X[:, 1] > np.abs(X[:, 0])
    >>> axes = gate_map(MixtureOfExpertsClassifier(2, random_state=0).fit(X, y), X, y)
    >>> len(axes.images)
    1
    """
    check_is_fitted(learner)
    table = _columns(X, 2)
    low, high = table.min(axis=0), table.max(axis=0)
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    first, second = (np.linspace(low[i], high[i], PLANE_POINTS) for i in (0, 1))
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(first, second)])
    grid_input = grid if not isinstance(X, pd.DataFrame) else pd.DataFrame(grid, columns=X.columns)
    read = learner.gate_weights if hasattr(learner, "gate_weights") else learner.unit_shares
    shares = read(grid_input)
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    # Shares squared, so that where experts mix, the picture is pale.
    image = 1.0 - sum(
        0.6 * (shares[:, [place]] ** 2) * (1.0 - tint(place, np.ones(1)))
        for place in range(shares.shape[1])
    )
    ax = axes_or_new(ax, 5.4, 4.4)
    ax.imshow(
        np.clip(image.reshape(PLANE_POINTS, PLANE_POINTS, 3), 0.0, 1.0),
        origin="lower", extent=(low[0], high[0], low[1], high[1]), aspect="auto", zorder=0,
        interpolation="bilinear",
    )  # fmt: skip
    if hasattr(learner, "expert_outputs"):
        _draw_experts(ax, learner, grid_input, shares.argmax(axis=1), (first, second))
    _draw_rows(ax, table, y, GREYS)
    names = _names(learner, 2)
    ax.set(xlabel=names[0], ylabel=names[1], xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    return ax


def _draw_experts(
    ax: Axes, learner: Any, grid: Any, holders: NDArray[np.intp], axes: tuple[Any, Any]
) -> None:
    """Draw lines of each expert where it holds: between classes, or of equal numbers."""
    outputs = learner.expert_outputs(grid)
    if hasattr(learner, "classes_"):
        top = outputs.argmax(axis=2) if outputs.shape[2] > 1 else outputs[:, :, 0] > 0.5
        values, levels = top.astype(np.float64), np.arange(len(learner.classes_) - 1) + 0.5
    else:
        values = outputs[:, :, 0]
        ruling = values[np.arange(len(values)), holders]
        levels = np.linspace(ruling.min(), ruling.max(), N_LEVELS + 2)[1:-1]
    for place in range(values.shape[1]):
        part = np.where(holders == place, values[:, place], np.nan)
        seen = part[np.isfinite(part)]
        if len(seen) and ((levels > seen.min()) & (levels < seen.max())).any():
            height = part.reshape(PLANE_POINTS, PLANE_POINTS)
            ax.contour(*axes, height, levels=levels, colors="0.25", linewidths=0.8, zorder=1)


def expert_trace(trace: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how the errors of experts vary together, epoch by epoch.

    Parameters
    ----------
    trace
        What `verulam.local.trace_experts` returns.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 17.8: experts that compete become negatively correlated.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import MixtureOfExpertsRegressor, trace_experts
    >>> from verulam.plots import expert_trace
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> trace = trace_experts(MixtureOfExpertsRegressor(2, random_state=0), x, np.abs(x[:, 0]))
    >>> [entry.get_label() for entry in expert_trace(trace).lines[:2]]
    ['variance', 'covariance']
    """
    if not {"epoch", "variance", "covariance"} <= set(getattr(trace, "columns", ())):
        raise DataError("trace: expected the table of verulam.local.trace_experts.")
    ax = axes_or_new(ax, 6.0, 3.4)
    for place, part in enumerate(("variance", "covariance")):
        ax.plot(trace["epoch"], trace[part], line(place), color=colour(place), label=part)
    ax.axhline(0.0, color="0.7", linewidth=0.8)
    ax.set(xlabel="epoch", ylabel="part of the average's variance")
    place_legend(ax)
    return ax


def _units(learner: Any) -> Any:
    check_is_fitted(learner)
    units = getattr(learner, "units_", None)
    if units is None or not hasattr(units, "centers"):
        raise DataError(
            f"learner: a radial network or RBFFeatures is expected; got {type(learner).__name__}."
        )
    return units


def _matrix(units: Any, place: int) -> NDArray[np.float64]:
    covariance = units.covariances[place]
    if units.covariance_type == "full":
        return covariance
    variances = np.broadcast_to(covariance, (2,))
    if not np.isfinite(variances).all():
        raise DataError("learner: a unit that leaves a column out has no ellipse.")
    return np.diag(variances)


def _columns(X: Any, count: int) -> NDArray[np.float64]:
    table: NDArray[np.float64] = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != count or not len(table):
        raise DataError(f"X: rows of {count} column{'s' if count > 1 else ''} are expected.")
    return table


def _names(learner: Any, count: int) -> list[str]:
    names = getattr(learner, "feature_names_in_", None)
    return [f"x{place}" for place in range(count)] if names is None else [str(n) for n in names]


def _draw_rows(
    ax: Axes, table: NDArray[np.float64], y: Any, faces: Sequence[str] = PALETTE
) -> None:
    if y is None:
        ax.plot(table[:, 0], table[:, 1], ".", color="0.3", markersize=4)
        return
    labels = np.asarray(y)
    if len(labels) != len(table):
        raise DataError(f"y has {len(labels)} entries for {len(table)} rows of X.")
    if labels.dtype.kind == "f":
        ax.scatter(table[:, 0], table[:, 1], c=labels, s=14, cmap="Greys", edgecolors="0.3", lw=0.4)
        return
    for place, label in enumerate(np.unique(labels)):
        mine = labels == label
        ax.scatter(
            table[mine, 0], table[mine, 1], s=20, marker=marker(place), zorder=2,
            color=faces[place % len(faces)], edgecolors="black" if faces is GREYS else "white",
            linewidths=0.5, label=str(label),
        )  # fmt: skip
    place_legend(ax)
