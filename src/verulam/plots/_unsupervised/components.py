"""Scree, biplot and loadings of components and factors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, check_is_fitted
from verulam.plots._style import axes_or_new, colour, line, marker, place_legend

#: Share of the plane's width that the longest arrow of a biplot takes.
ARROW_SHARE = 0.8


def scree(components: Any, *, share: float | None = 0.9, ax: Axes | None = None) -> Axes:
    """Draw the eigenvalues, and the share of variance of the first so many components.

    Parameters
    ----------
    components
        Fitted components with `eigenvalues_`, such as `verulam.reduction.PrincipalComponents`.
    share
        Share of the variance at which one may stop; None draws no line.
    ax
        Axes to draw on; the shares have an axis of their own on the right.

    Notes
    -----
    One stops where the share is above .9, or at the elbow, behind which eigenvalues hardly fall.
    See SIT1305 II.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.plots import scree
    >>> from verulam.reduction import PrincipalComponents
    >>> axes = scree(PrincipalComponents(standardise=True).fit(dataset("wine").inputs))
    >>> axes.get_title()
    '8 components explain 0.9 of the variance'
    """
    check_is_fitted(components)
    values = np.asarray(components.eigenvalues_, dtype=np.float64)
    ax = axes_or_new(ax)
    places = np.arange(1, len(values) + 1)
    ax.plot(places, values, color=colour(0), marker=marker(0), label="eigenvalue")
    ax.set(xlabel="component", ylabel="eigenvalue", ylim=(0.0, 1.08 * values[0]))
    shares = values.cumsum() / values.sum()
    right = ax.twinx()
    right.plot(
        places, shares, color=colour(1), marker=marker(1), linestyle=line(1), label="share so far"
    )
    right.set(ylabel="proportion of variance", ylim=(0.0, 1.08))
    if share is not None:
        enough = int((shares < share - 1e-12).sum()) + 1
        right.axhline(share, color="0.6", linewidth=0.8)
        ax.axvline(enough, color="0.6", linewidth=0.8)
        ax.set_title(f"{enough} components explain {share:g} of the variance")
    handles = [*ax.get_lines()[:1], *right.get_lines()[:1]]
    # On the axes in front, so that no curve crosses it.
    right.legend(handles, [str(handle.get_label()) for handle in handles], loc="center right")
    if len(values) <= 20:
        ax.set_xticks(places)
    return ax


def biplot(
    components: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    axes: tuple[int, int] = (0, 1),
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows along two components, and the columns as arrows.

    Parameters
    ----------
    components
        Fitted components with `loadings_`, such as `verulam.reduction.PrincipalComponents` or
        `verulam.reduction.FactorAnalysis`.
    X
        Rows to draw.
    y
        Their classes.
    axes
        Which two components, counted from 0.
    names
        Names of the columns; None for those of training.
    ax
        Axes to draw on.

    Notes
    -----
    An arrow points to where its column grows; columns whose arrows have small angles go together.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.plots import biplot
    >>> from verulam.reduction import PrincipalComponents
    >>> iris = dataset("iris")
    >>> model = PrincipalComponents(2).fit(iris.inputs)
    >>> biplot(model, iris.inputs, iris.target_values).get_xlabel()
    'component 1 (92 % of the variance)'
    """
    check_is_fitted(components)
    z = np.asarray(components.transform(X))
    first, second = _two_axes(axes, z.shape[1])
    ax = axes_or_new(ax, 6.4, 5.2)
    labels = np.zeros(len(z), dtype=int) if y is None else np.asarray(y)
    for code, label in enumerate(np.unique(labels)):
        rows = z[labels == label]
        ax.scatter(
            rows[:, first],
            rows[:, second],
            s=14,
            color=colour(code),
            marker=marker(code),
            alpha=0.55,
            label=None if y is None else str(label),
        )
    loadings = np.asarray(components.loadings_)[:, [first, second]]
    reach = ARROW_SHARE * np.abs(z[:, [first, second]]).max()
    _draw_arrows(ax, loadings, reach, column_names(components, len(loadings), names))
    shares = getattr(components, "explained_variance_ratio_", None)
    for position, put in ((first, ax.set_xlabel), (second, ax.set_ylabel)):
        share = "" if shares is None else f" ({100 * shares[position]:.0f} % of the variance)"
        put(f"{'factor' if shares is None else 'component'} {position + 1}{share}")
    ax.axhline(0.0, color="0.85", linewidth=0.8, zorder=0)
    ax.axvline(0.0, color="0.85", linewidth=0.8, zorder=0)
    ax.margins(0.12)
    place_legend(ax)
    return ax


def _draw_arrows(
    ax: Axes, loadings: NDArray[np.float64], reach: float, names: Sequence[str]
) -> None:
    longest = float(np.linalg.norm(loadings, axis=1).max())
    for (across, up), name in zip(reach / longest * loadings, names, strict=True):
        ax.annotate("", (across, up), (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": "0.25"})
        ax.annotate(
            name,
            (across, up),
            (4 * np.sign(across), 4 * np.sign(up)),
            textcoords="offset points",
            ha="left" if across >= 0 else "right",
            va="bottom" if up >= 0 else "top",
            fontsize="small",
        )


def loading_map(
    components: Any, *, names: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the loadings of columns on components or factors as colours, with their numbers.

    Parameters
    ----------
    components
        Fitted components or factors with `loadings_`.
    names
        Names of the columns; None for those of training.
    ax
        Axes to draw on.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.plots import loading_map
    >>> from verulam.reduction import FactorAnalysis
    >>> factors = FactorAnalysis(2, rotation="varimax").fit(dataset("wine").inputs)
    >>> len(loading_map(factors).texts)
    26
    """
    check_is_fitted(components)
    loadings = np.asarray(components.loadings_)
    count, width = loadings.shape
    ax = axes_or_new(ax, 2.4 + 0.8 * width, 1.2 + 0.32 * count)
    limit = float(np.abs(loadings).max()) or 1.0
    image = ax.imshow(loadings, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(loadings):
        ink = "white" if abs(value) > 0.6 * limit else "black"
        ax.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink, fontsize="small")
    noun = "component" if hasattr(components, "explained_variance_ratio_") else "factor"
    ax.set_xticks(range(width), [f"{noun} {position + 1}" for position in range(width)])
    ax.set_yticks(range(count), column_names(components, count, names))
    ax.tick_params(length=0)
    ax.figure.colorbar(image, ax=ax, label="loading")
    return ax


def column_names(learner: Any, count: int, names: Sequence[str] | None) -> list[str]:
    """Return the names of columns: those given, those of training, or their numbers."""
    if names is None:
        fitted_names = getattr(learner, "feature_names_in_", None)
        return (
            [f"x{place}" for place in range(count)] if fitted_names is None else list(fitted_names)
        )
    if len(names) != count:
        raise DataError(f"names: expected {count}, one for each column; got {len(names)}.")
    return list(names)


def _two_axes(axes: tuple[int, int], count: int) -> tuple[int, int]:
    if len(axes) != 2 or not all(0 <= position < count for position in axes):
        raise DataError(f"axes={axes}: expected two components, counted from 0; there are {count}.")
    return axes
