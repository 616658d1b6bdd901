"""Boosting in pictures: weights and boundaries of a round, errors over rounds, margins."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.ensemble import AdaBoostClassifier, MarginTrace, boosting_weights
from verulam.plots._style import axes_or_new, colour, line, marker, place_legend

#: Area of a point of mean weight, in square points.
POINT_AREA = 18.0


def boosting_round(
    model: AdaBoostClassifier,
    X: Any,
    y: ArrayLike,
    n_members: int,
    *,
    other: Any = None,
    resolution: int = 150,
    ax: Axes | None = None,
) -> Axes:
    """Draw the training rows of two columns by their weight, and what the members decide.

    Parameters
    ----------
    model
        Fitted `AdaBoostClassifier` of two classes and two columns.
    X
        Training inputs.
    y
        Training labels.
    n_members
        How many members have been taught; points have the weights that taught the last of them.
    other
        Another fitted classifier, such as a bag, whose boundary is drawn for comparison.
    resolution
        Grid points along each axis.
    ax
        Axes to draw on.

    Notes
    -----
    Dashed lines are the boundaries of up to five members, the solid line that of all together. See
    Bartkowiak 7.7 (fig. 7.2).

    Examples
    --------
    >>> from verulam.data import xor
    >>> from verulam.ensemble import AdaBoostClassifier
    >>> from verulam.plots import boosting_round
    >>> data = xor(100, random_state=0)
    >>> boost = AdaBoostClassifier(n_estimators=10).fit(data.inputs, data.target_values)
    >>> axes = boosting_round(boost, data.inputs, data.target_values, 3, resolution=20)
    >>> axes.get_title()
    '3 members'
    """
    inputs, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    if inputs.ndim != 2 or inputs.shape[1] != 2 or len(model.classes_) != 2:
        raise DataError("The picture needs two columns and two classes.")
    if not 1 <= n_members <= len(model.estimators_):
        raise DataError(
            f"n_members={n_members}: the model has {len(model.estimators_)} members, counted "
            "from 1."
        )
    ax = axes_or_new(ax, 4.6, 4.2)
    weights = boosting_weights(model, X, y)[n_members - 1] * len(labels)
    for place, label in enumerate(model.classes_):
        rows = labels == label
        ax.scatter(
            inputs[rows, 0], inputs[rows, 1], s=POINT_AREA * weights[rows], color=colour(place),
            marker=marker(place), alpha=0.6, linewidths=0, label=str(label),
        )  # fmt: skip
    places, (first, second) = _grid(inputs, resolution)
    grid: Any = pd.DataFrame(places, columns=X.columns) if hasattr(X, "columns") else places
    members = places if model._is_plain else grid
    for number in range(min(n_members, 5)):
        codes = model._codes(model.estimators_[number], members).reshape(len(second), len(first))
        _boundary(ax, first, second, codes, colors="0.45", linestyles="dashed", linewidths=0.8)
    votes = list(model.staged_votes(grid))[n_members - 1]
    shape = len(second), len(first)
    lead = (votes[:, 1] > votes[:, 0]).reshape(shape)
    _boundary(ax, first, second, lead, colors="black", linewidths=1.6)
    if other is not None:
        answers = (np.asarray(other.predict(grid)) == model.classes_[1]).reshape(shape)
        _boundary(ax, first, second, answers, colors=colour(2), linewidths=1.4)
    ax.set_title(f"{n_members} member{'s' if n_members > 1 else ''}")
    return ax


def _grid(inputs: NDArray[Any], resolution: int) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    edge = 0.05 * np.maximum(high - low, 1e-12)
    axes = [np.linspace(*ends, resolution) for ends in zip(low - edge, high + edge, strict=True)]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2), axes


def _boundary(ax: Axes, first: Any, second: Any, codes: NDArray[Any], **options: Any) -> None:
    if codes.min() < codes.max():
        ax.contour(first, second, codes.astype(float), levels=[0.5], **options)


def boosting_errors(model: AdaBoostClassifier, *, ax: Axes | None = None) -> Axes:
    """Draw the errors of a boosted ensemble over its rounds.

    Parameters
    ----------
    model
        Fitted `AdaBoostClassifier`.
    ax
        Axes to draw on.

    Notes
    -----
    The weighted error of each member in its round, its error without weights, and that of all
    members up to it. See Bartkowiak 7.7 (fig. 7.3).

    Examples
    --------
    >>> from verulam.data import xor
    >>> from verulam.ensemble import AdaBoostClassifier
    >>> from verulam.plots import boosting_errors
    >>> data = xor(100, random_state=0)
    >>> axes = boosting_errors(AdaBoostClassifier().fit(data.inputs, data.target_values))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['member, weighted', 'member', 'ensemble so far']
    """
    ax = axes_or_new(ax, 6.4, 3.8)
    curves = {
        "member, weighted": model.errors_,
        "member": model.member_errors_,
        "ensemble so far": model.training_errors_,
    }
    for place, (name, errors) in enumerate(curves.items()):
        rounds = np.arange(1, len(errors) + 1)
        ax.plot(rounds, errors, line(place), color=colour(place), label=name)
    ax.axhline(0.5, color="0.6", linewidth=0.8)
    ax.set(xlabel="round", ylabel="training error", ylim=(0, None))
    place_legend(ax)
    return ax


def margin_curves(
    trace: MarginTrace, members: Sequence[int] = (), *, ax: Axes | None = None
) -> Axes:
    """Draw the share of rows with a margin up to each value, after some members.

    Parameters
    ----------
    trace
        What `verulam.ensemble.margin_trace` returned.
    members
        After how many members, counted from 1; empty for the first, a tenth and all.
    ax
        Axes to draw on.

    Notes
    -----
    See Alpaydin 17.7.

    Examples
    --------
    >>> from verulam.data import xor
    >>> from verulam.ensemble import AdaBoostClassifier, margin_trace
    >>> from verulam.plots import margin_curves
    >>> data = xor(100, random_state=0)
    >>> boost = AdaBoostClassifier(n_estimators=20).fit(data.inputs, data.target_values)
    >>> trace = margin_trace(boost, data.inputs, data.target_values)
    >>> margin_curves(trace, [1, 10]).get_ylabel()
    'share of rows'
    """
    count = len(trace.margins)
    places = list(members) or sorted({1, max(count // 10, 1), count})
    if any(not 1 <= place <= count for place in places):
        raise DataError(f"members={places}: margins are known after 1 to {count} members.")
    ax = axes_or_new(ax, 6.0, 3.8)
    for number, place in enumerate(places):
        margins, shares = trace.cumulative(place - 1)
        name = f"{place} member{'s' if place > 1 else ''}"
        ax.step(margins, shares, line(number), where="post", color=colour(number), label=name)
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set(xlabel="margin", ylabel="share of rows", xlim=(-1.02, 1.02), ylim=(0, 1.02))
    place_legend(ax)
    return ax
