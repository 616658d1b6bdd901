"""Kernel machines: boundaries with margins, tubes, and balls around one class."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.plots._style import axes_or_new, colour, marker, place_legend, tint

#: How instances of each case are ringed; safe ones are not.
RINGS = {"on margin": ("o", "0.1"), "inside margin": ("s", "0.1"), "wrong": ("D", "#cc0000")}


def margin_boundary(
    classifier: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None, resolution: int = 200
) -> Axes:
    """Draw a two-class machine over two inputs: boundary, margins, and every instance's case.

    Instances on the margin have a circle, those inside it a square, and those on the wrong side a
    red diamond.

    Parameters
    ----------
    classifier
        Fitted `SupportVectorClassifier` of two classes and two columns.
    X, y
        Instances to draw.
    ax
        Axes to draw on.
    resolution
        Number of grid points along each axis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import SupportVectorClassifier
    >>> from verulam.plots import margin_boundary
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SupportVectorClassifier(kernel="linear").fit(X[50:, 2:], y[50:])
    >>> margin_boundary(machine, X[50:, 2:], y[50:]).get_title().split("; ")[1]
    '5 wrong'
    """
    plane, names = _two_columns(X)
    labels = np.asarray(y)
    report = classifier.instance_report(X, labels)
    ax = axes_or_new(ax)
    horizontal, vertical, outputs = _outputs(classifier.decision_function, X, plane, resolution)
    ax.contourf(
        horizontal,
        vertical,
        outputs,
        levels=[-np.inf, 0, np.inf],
        colors=[tint(0, 0.15), tint(1, 0.15)],
    )
    ax.contour(
        horizontal,
        vertical,
        outputs,
        levels=[-1, 0, 1],
        colors="0.25",
        linestyles=["--", "-", "--"],
        linewidths=[0.9, 1.4, 0.9],
    )
    for code, label in enumerate(classifier.classes_):
        members = labels == label
        ax.scatter(
            plane[members, 0],
            plane[members, 1],
            color=colour(code),
            marker=marker(code),
            s=18,
            label=str(label),
        )
    for case, (shape, edge) in RINGS.items():
        members = report.cases == case
        if members.any():
            ax.scatter(
                plane[members, 0],
                plane[members, 1],
                marker=shape,
                s=75,
                facecolors="none",
                edgecolors=edge,
                label=case,
            )
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_title(
        f"{len(classifier.support_)} support vectors of {len(labels)}; {report.n_wrong} wrong",
        fontsize="medium",
    )
    place_legend(ax)
    return ax


def regression_tube(
    regressor: Any, X: Any, y: ArrayLike, *, ax: Axes | None = None, resolution: int = 300
) -> Axes:
    """Draw a support-vector regression over one input, with its tube and every instance's case.

    Parameters
    ----------
    regressor
        Fitted `SupportVectorRegressor` of one column.
    X, y
        Instances to draw.
    ax
        Axes to draw on.
    resolution
        Number of points along the curve.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import SupportVectorRegressor
    >>> from verulam.plots import regression_tube
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> machine = SupportVectorRegressor(epsilon=0.2).fit(X, np.sin(X[:, 0]))
    >>> len(regression_tube(machine, X, np.sin(X[:, 0])).collections) > 2
    True
    """
    frame: Any = pd.DataFrame(X)
    if frame.shape[1] != 1:
        raise DataError(f"X must have one column to be drawn as a curve; got {frame.shape[1]}.")
    inputs, targets = frame.iloc[:, 0].to_numpy(np.float64), np.asarray(y, dtype=np.float64)
    report = regressor.tube_report(X, targets)
    ax = axes_or_new(ax)
    grid = np.linspace(inputs.min(), inputs.max(), resolution)
    curve = regressor.predict(grid[:, None])
    width = regressor.epsilon_
    ax.fill_between(grid, curve - width, curve + width, color=tint(0, 0.2), label="tube")
    ax.plot(grid, curve, color=colour(0))
    for place, (case, face) in enumerate(
        (("in tube", "0.6"), ("on tube", "white"), ("outside", colour(1)))
    ):
        members = report.cases == case
        if members.any():
            ax.scatter(
                inputs[members],
                targets[members],
                s=26,
                color=face,
                edgecolors="0.2",
                linewidths=0.8,
                marker=marker(place),
                label=f"{case} ({members.sum()})",
                zorder=3,
            )
    ax.set(xlabel=_name(frame.columns[0], "x"), ylabel="y")
    place_legend(ax)
    return ax


def description_boundary(
    machine: Any, X: Any, *, ax: Axes | None = None, resolution: int = 200
) -> Axes:
    """Draw a one-class machine over two inputs: its border, support vectors and outliers.

    Parameters
    ----------
    machine
        Fitted `OneClassMachine` or `SupportVectorDescription` of two columns.
    X
        Instances to draw.
    ax
        Axes to draw on.
    resolution
        Number of grid points along each axis.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.kernel import SupportVectorDescription
    >>> from verulam.plots import description_boundary
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> description_boundary(SupportVectorDescription(C=0.1).fit(X), X).get_xlabel()
    'x1'
    """
    plane, names = _two_columns(X)
    ax = axes_or_new(ax)
    horizontal, vertical, scores = _outputs(machine.decision_function, X, plane, resolution)
    ax.contourf(horizontal, vertical, scores, levels=[0, np.inf], colors=[tint(0, 0.15)])
    ax.contour(horizontal, vertical, scores, levels=[0], colors="0.25", linewidths=1.2)
    outlier = machine.predict(X) < 0
    ax.scatter(
        plane[~outlier, 0],
        plane[~outlier, 1],
        s=18,
        color=colour(0),
        marker=marker(0),
        label="typical",
    )
    if outlier.any():
        ax.scatter(
            plane[outlier, 0], plane[outlier, 1], s=24, color=colour(1), marker="x", label="outlier"
        )
    supports = np.asarray(machine.support_vectors_)
    ax.scatter(
        supports[:, 0],
        supports[:, 1],
        s=75,
        facecolors="none",
        edgecolors="0.1",
        label="support vector",
    )
    ax.set(xlabel=names[0], ylabel=names[1])
    place_legend(ax)
    return ax


def _two_columns(X: Any) -> tuple[np.ndarray, list[str]]:
    frame: Any = pd.DataFrame(X)
    if frame.shape[1] != 2:
        raise DataError(f"X must have two columns to be drawn in the plane; got {frame.shape[1]}.")
    names = [_name(name, f"x{place + 1}") for place, name in enumerate(frame.columns)]
    return frame.to_numpy(np.float64), names


def _name(column: Any, otherwise: str) -> str:
    """Return the name of a column, or another where it has a number only."""
    return otherwise if isinstance(column, int | np.integer) else str(column)


def _outputs(
    function: Any, X: Any, plane: np.ndarray, resolution: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a grid around the instances and the machine's outputs on it."""
    low, high = plane.min(axis=0), plane.max(axis=0)
    padding = 0.08 * (high - low)
    axes = [
        np.linspace(low[place] - padding[place], high[place] + padding[place], resolution)
        for place in (0, 1)
    ]
    corners: Any = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    if isinstance(X, pd.DataFrame):  # a machine that knows its columns by name asks for them
        corners = pd.DataFrame(corners, columns=X.columns)
    return axes[0], axes[1], function(corners).reshape(resolution, resolution)
