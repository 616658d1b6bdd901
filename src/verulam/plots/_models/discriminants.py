"""Discriminants over one and two inputs: lines, surfaces and posteriors."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from verulam.base import DataError
from verulam.plots._predictions.regions import decision_regions
from verulam.plots._style import axes_or_new, colour, line, place_legend


def discriminant_lines(
    classifier: Any, X: ArrayLike, y: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    r"""Draw the regions of a classifier and the lines :math:`g_i(x) = 0` behind them.

    Parameters
    ----------
    classifier
        Fitted classifier with a `decision_function`, over two inputs.
    X, y
        Rows and their classes.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.linear import LogisticDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> axes = discriminant_lines(LogisticDiscriminant().fit(X[:, 2:], y), X[:, 2:], y)
    >>> axes.get_legend() is not None
    True
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.shape[1] != 2:
        raise DataError(f"lines are drawn over two inputs; these rows have {rows.shape[1]}.")
    ax = decision_regions(classifier, rows, y, ax=ax)
    grid, first, second = _grid(ax)
    values = _outputs(classifier, grid)
    for number in range(values.shape[1]):
        # Contours of a constant-sign discriminant would warn: there is no line to draw.
        surface = values[:, number].reshape(first.shape)
        if surface.min() < 0 < surface.max():
            ax.contour(
                first, second, surface, levels=[0.0], colors=colour(number), linestyles="dashed"
            )
    return ax


def discriminant_curves(
    classifier: Any, X: ArrayLike, *, posterior: bool = False, ax: Axes | None = None
) -> Axes:
    """Draw the discriminants, or the posteriors, of each class over one input.

    Parameters
    ----------
    classifier
        Fitted classifier of one input.
    X
        Rows, whose range is drawn.
    posterior
        Whether to draw `predict_proba` instead of `decision_function`.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.linear import LogisticDiscriminant
    >>> model = LogisticDiscriminant().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> discriminant_curves(model, [[0.0], [4.0]], posterior=True).get_ylabel()
    'posterior'
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.shape[1] != 1:
        raise DataError(f"curves are drawn over one input; these rows have {rows.shape[1]}.")
    ax = axes_or_new(ax)
    padding = 0.05 * max(float(np.ptp(rows)), 1e-9)
    points = np.linspace(rows.min() - padding, rows.max() + padding, 400)
    values, names = _values_and_names(classifier, points[:, None], posterior)
    for number, name in enumerate(names):
        ax.plot(points, values[:, number], line(number), color=colour(number), label=str(name))
    ax.axhline(0.5 if posterior else 0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.set(xlabel="$x$", ylabel="posterior" if posterior else "discriminant")
    place_legend(ax)
    return ax


def discriminant_surface(
    classifier: Any,
    X: ArrayLike,
    *,
    posterior: bool = False,
    resolution: int = 50,
    ax: Any = None,
) -> Any:
    """Draw the discriminants, or the posteriors, of each class as surfaces over two inputs.

    Where surfaces cross, classes are equally likely: the boundaries lie below.

    Parameters
    ----------
    classifier
        Fitted classifier of two inputs.
    X
        Rows, whose range is drawn.
    posterior
        Whether to draw `predict_proba` instead of `decision_function`.
    resolution
        Points along each input.
    ax
        Three-dimensional axes to draw on, as made with `projection="3d"`.

    Returns
    -------
    The three-dimensional axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.linear import LogisticDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticDiscriminant().fit(X[:, 2:], y)
    >>> discriminant_surface(model, X[:, 2:], posterior=True).get_zlabel()
    'posterior'
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.shape[1] != 2:
        raise DataError(f"surfaces are drawn over two inputs; these rows have {rows.shape[1]}.")
    if ax is None:
        ax = Figure(layout="constrained").add_subplot(projection="3d")
    elif not hasattr(ax, "plot_surface"):
        raise DataError('surfaces need three-dimensional axes; make them with projection="3d".')
    places = [np.linspace(low, high, resolution) for low, high in _ranges(rows)]
    first, second = np.meshgrid(*places)
    grid = np.column_stack([first.ravel(), second.ravel()])
    values, names = _values_and_names(classifier, grid, posterior)
    for number, name in enumerate(names):
        ax.plot_surface(
            first,
            second,
            values[:, number].reshape(first.shape),
            color=colour(number),
            alpha=0.6,
            linewidth=0,
            label=str(name),
        )
    ax.set(xlabel="$x_1$", ylabel="$x_2$", zlabel="posterior" if posterior else "discriminant")
    ax.legend()
    return ax


def _ranges(rows: np.ndarray) -> np.ndarray:
    low, high = rows.min(axis=0), rows.max(axis=0)
    padding = 0.05 * np.where(high > low, high - low, 1.0)
    return np.column_stack([low - padding, high + padding])


def _values_and_names(classifier: Any, rows: np.ndarray, posterior: bool) -> tuple[np.ndarray, Any]:
    """Return one column for each class, or the only discriminant of two, with names."""
    if posterior:
        return classifier.predict_proba(rows), classifier.classes_
    values = _outputs(classifier, rows)
    return values, classifier.classes_ if values.shape[1] > 1 else classifier.classes_[1:]


def _grid(ax: Axes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first, second = np.meshgrid(np.linspace(*ax.get_xlim(), 200), np.linspace(*ax.get_ylim(), 200))
    return np.column_stack([first.ravel(), second.ravel()]), first, second


def _outputs(classifier: Any, rows: np.ndarray) -> np.ndarray:
    values = np.asarray(classifier.decision_function(rows))
    return values[:, None] if values.ndim == 1 else values
