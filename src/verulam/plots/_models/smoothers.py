"""Smoothers: curves through points, with bands; bias against variance; components."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from verulam.base import DataError, check_is_fitted, clone
from verulam.nonparametric import AdditiveModel, BiasVariance
from verulam.plots._style import axes_or_new, by_name, colour, line, place_legend

POINTS = 400


def smooth_curves(
    smoothers: Mapping[str, Any] | Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    band: bool = True,
    level: float = 0.95,
    coverage: str = "pointwise",
    ax: Axes | None = None,
) -> Axes:
    """Draw fitted smoothers of one input over the points they smooth.

    Parameters
    ----------
    smoothers
        One regressor, or several by name; those that are not fitted yet are fitted to `X` and `y`.
    X
        Inputs, in one column; they set the range.
    y
        Targets; the points are drawn if given.
    band
        Whether to shade confidence limits, where a smoother has them.
    level
        Probability of the limits.
    coverage
        "pointwise", "curve" or "rows", as in the smoothers' `predict_band`.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.data import noisy_sine
    >>> from verulam.nonparametric import Loess
    >>> from verulam.plots import smooth_curves
    >>> sine = noisy_sine(50, random_state=0)
    >>> loess = Loess().fit(sine.inputs, sine.target_values)
    >>> axes = smooth_curves({"loess": loess}, sine.inputs, sine.target_values)
    >>> axes.get_xlabel(), axes.get_legend_handles_labels()[1]
    ('x1', ['loess'])
    """
    points = _one_column(X)
    ax = axes_or_new(ax)
    if y is not None:
        ax.plot(points, np.asarray(y), "o", color="0.55", markersize=3, zorder=1)
    grid = np.linspace(points.min(), points.max(), POINTS)
    table = _like(X, grid)
    for code, (name, learner) in enumerate(by_name(smoothers).items()):
        smoother = _fitted(learner, X, y)
        if band and hasattr(smoother, "predict_band"):
            limits = smoother.predict_band(table, level=level, coverage=coverage)
            ax.fill_between(grid, limits.lower, limits.upper, color=colour(code), alpha=0.2, lw=0)
        values = smoother.predict(table)
        ax.plot(grid, values, line(code), color=colour(code), label=name or None)
    ax.set(xlabel=str(getattr(X, "columns", ["x"])[0]), ylabel=str(getattr(y, "name", None) or "y"))
    place_legend(ax)
    return ax


def bias_variance_curve(study: BiasVariance, *, ax: Axes | None = None) -> Axes:
    """Draw squared bias, variance and their sum against the parameter that was varied.

    Parameters
    ----------
    study
        What `verulam.nonparametric.bias_variance` returns.
    ax
        Axes to draw on.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import RunningMean, bias_variance
    >>> from verulam.plots import bias_variance_curve
    >>> study = bias_variance(
    ...     RunningMean(), "bandwidth", [0.1, 0.3], lambda X: X[:, 0] ** 2,
    ...     np.linspace(-1, 1, 30)[:, None], noise=0.1, n_samples=5, random_state=0,
    ... )
    >>> bias_variance_curve(study).get_legend_handles_labels()[1]
    ['squared bias', 'variance', 'sum', 'best: 0.1']
    """
    ax = axes_or_new(ax)
    curves = {
        "squared bias": study.squared_bias,
        "variance": study.variance,
        "sum": study.error,
    }
    for code, (name, values) in enumerate(curves.items()):
        ax.plot(study.values, values, line(code), color=colour(code), label=name)
    ax.axvline(
        study.best, color="0.4", linewidth=1.0, linestyle=":", label=f"best: {study.best:.3g}"
    )
    values = np.asarray(study.values, dtype=np.float64)
    if values.min() > 0 and values.max() > 20 * values.min():
        ax.set_xscale("log")
    ax.set(xlabel=study.parameter, ylabel="mean squared error", ylim=(0, None))
    place_legend(ax)
    return ax


def component_curve(
    model: AdditiveModel, column: int, X: Any, y: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw one input's function in an additive model, with what the others leave of the targets.

    Parameters
    ----------
    model
        Fitted additive model.
    column
        Position of the input.
    X
        Inputs.
    y
        Targets; what the other inputs leave of them is drawn if given.
    ax
        Axes to draw on.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import AdditiveModel
    >>> from verulam.plots import component_curve
    >>> X = np.random.default_rng(0).uniform(size=(80, 2))
    >>> model = AdditiveModel().fit(X, X[:, 0] + X[:, 1] ** 2)
    >>> component_curve(model, 1, X, X[:, 0] + X[:, 1] ** 2).get_xlabel()
    'x2'
    """
    inputs = np.asarray(X, dtype=np.float64)
    if not 0 <= column < inputs.shape[1]:
        raise DataError(f"column is {column}, but X has columns 0 to {inputs.shape[1] - 1}.")
    ax = axes_or_new(ax)
    parts = model.components(X)
    if y is not None:
        left = np.asarray(y) - model.intercept_ - parts.sum(axis=1) + parts[:, column]
        ax.plot(inputs[:, column], left, "o", color="0.6", markersize=2.5, zorder=1)
    order = np.argsort(inputs[:, column], kind="stable")
    ax.plot(inputs[order, column], parts[order, column], color=colour(0))
    names = getattr(X, "columns", [f"x{place + 1}" for place in range(inputs.shape[1])])
    ax.set(xlabel=str(names[column]), ylabel="contribution")
    return ax


def _fitted(smoother: Any, X: Any, y: Any) -> Any:
    """Return a smoother that is fitted: itself, or a copy fitted to the points."""
    if y is None:
        return smoother
    try:
        check_is_fitted(smoother)
    except NotFittedError:
        return clone(smoother).fit(X, y)
    return smoother


def _one_column(X: Any) -> np.ndarray:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 1:
        raise DataError(f"X must have one column, but its shape is {points.shape}.")
    return points[:, 0]


def _like(X: Any, grid: np.ndarray) -> Any:
    """Return the grid as a table of the same kind."""
    if hasattr(X, "columns"):
        return type(X)(grid[:, None], columns=X.columns)
    return grid[:, None]
