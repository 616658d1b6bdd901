"""Decisions of any classifier over a grid of two inputs, as data for a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import DataError, is_categorical
from verulam.decision._outcome import LabelCodes

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DecisionGrid:
    """What a classifier decides at each point of a grid.

    Attributes
    ----------
    horizontal, vertical
        Values of the two inputs.
    codes
        Position in `labels` of the decision, of shape (vertical, horizontal).
    labels
        Decisions: the classes of the learner, then other answers, such as a rejection.
    n_classes
        How many of the labels are classes.
    confidence
        Largest posterior at each point; None if the learner gives no probabilities.
    columns
        Positions of the two inputs.
    names
        Their names.
    held
        Values at which the other inputs are held, by name.
    """

    horizontal: Vector
    vertical: Vector
    codes: NDArray[np.intp]
    labels: list[Any]
    n_classes: int
    confidence: Vector | None
    columns: tuple[int, int]
    names: tuple[str, str]
    held: dict[str, Any]

    @property
    def reject(self) -> NDArray[np.bool_]:
        """Where the decision is no class."""
        return self.codes >= self.n_classes

    @property
    def certainty(self) -> Vector:
        """From 0, where the largest posterior is no better than chance, to 1; 1 without any."""
        if self.confidence is None or self.n_classes == 1:
            return np.ones(self.codes.shape)
        chance = 1.0 / self.n_classes
        return np.clip((self.confidence - chance) / (1.0 - chance), 0.0, 1.0)


def decision_regions(
    estimator: Any,
    X: Any,
    *,
    features: Sequence[Any] = (0, 1),
    resolution: int = 200,
    margin: float = 0.05,
    extent: Sequence[float] | None = None,
) -> DecisionGrid:
    """Return the decisions of a fitted classifier over the range of two inputs.

    Parameters
    ----------
    estimator
        Fitted classifier.
    X
        Data that sets the range: an array or a pandas table of all inputs of the classifier.
    features
        Positions or names of the two inputs to vary. The others are held at their mean, or at
        their most frequent value if they are categories.
    resolution
        Number of grid points along each axis.
    margin
        How far the grid goes beyond the data, as a share of their range.
    extent
        Ends of the two axes instead: left, right, bottom, top.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from verulam.decision import decision_regions
    >>> X, y = [[0, 0], [1, 0], [0, 2], [1, 2]], ["low", "low", "high", "high"]
    >>> nearest = KNeighborsClassifier(1).fit(X, y)
    >>> grid = decision_regions(nearest, X, resolution=4)
    >>> [[str(grid.labels[code]) for code in row] for row in grid.codes[[0, 3]]]
    [['low', 'low', 'low', 'low'], ['high', 'high', 'high', 'high']]
    """
    if not isinstance(resolution, int) or resolution < 2:
        raise DataError(f"resolution must be a whole number of points above 1, not {resolution!r}.")
    if not hasattr(estimator, "classes_"):
        name = type(estimator).__name__
        raise DataError(f"{name} is not fitted, or is no classifier: it has no classes_.")
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    first, second = _two_columns(frame, features)
    ends = (None, None) if extent is None else _ends(extent)
    axes = [
        _axis(frame.iloc[:, place], resolution, margin, limits)
        for place, limits in zip((first, second), ends, strict=True)
    ]
    held = {
        place: _typical(frame.iloc[:, place])
        for place in range(frame.shape[1])
        if place not in (first, second)
    }
    rows = _rows(frame, (first, second), axes, held)
    inputs = rows if isinstance(X, pd.DataFrame) else rows.to_numpy()
    codes = LabelCodes(estimator.classes_)
    shape = (resolution, resolution)
    confidence = None
    if hasattr(estimator, "predict_proba"):
        confidence = np.asarray(estimator.predict_proba(inputs)).max(axis=1).reshape(shape)
    names = [str(name) for name in frame.columns]
    if not isinstance(X, pd.DataFrame):
        names = [f"x{place + 1}" for place in range(frame.shape[1])]
    return DecisionGrid(
        horizontal=axes[0],
        vertical=axes[1],
        codes=codes(estimator.predict(inputs)).reshape(shape),
        labels=codes.labels,
        n_classes=len(estimator.classes_),
        confidence=confidence,
        columns=(first, second),
        names=(names[first], names[second]),
        held={names[place]: value for place, value in held.items()},
    )


def _two_columns(frame: pd.DataFrame, features: Sequence[Any]) -> tuple[int, int]:
    places = []
    for feature in features:
        if feature in frame.columns:
            places.append(int(frame.columns.get_indexer(pd.Index([feature]))[0]))
        elif isinstance(feature, int) and 0 <= feature < frame.shape[1]:
            places.append(feature)
        else:
            raise DataError(
                f"features must be names or positions of columns: {feature!r} is not one of "
                f"{list(frame.columns)}."
            )
    if len(places) != 2 or places[0] == places[1]:
        raise DataError(f"features must be two different inputs, but got {list(features)}.")
    return places[0], places[1]


def _ends(extent: Sequence[float]) -> tuple[tuple[float, float], tuple[float, float]]:
    try:
        left, right, bottom, top = (float(value) for value in extent)
    except (TypeError, ValueError):
        raise DataError(
            f"extent must be four numbers, left, right, bottom, top, but got {extent!r}."
        ) from None
    if not (np.isfinite([left, right, bottom, top]).all() and left < right and bottom < top):
        raise DataError(
            f"extent must be finite with left < right and bottom < top, but got {extent!r}."
        )
    return (left, right), (bottom, top)


def _axis(
    column: pd.Series, resolution: int, margin: float, limits: tuple[float, float] | None
) -> Vector:
    if not _is_number(column):
        raise DataError(f"The input {column.name!r} is not numeric: choose others in features.")
    if limits is not None:
        return np.linspace(*limits, resolution)
    low, high = float(column.min()), float(column.max())
    border = margin * (high - low) if high > low else 0.5
    return np.linspace(low - border, high + border, resolution)


def _typical(column: pd.Series) -> Any:
    return float(column.mean()) if _is_number(column) else column.mode().iloc[0]


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not is_categorical(column)


def _rows(
    frame: pd.DataFrame, varied: tuple[int, int], axes: list[Vector], held: dict[int, Any]
) -> pd.DataFrame:
    """Return a row for each point of the grid, with the column types of the data."""
    mesh = dict(zip(varied, np.meshgrid(*axes), strict=True))
    size = len(axes[0]) * len(axes[1])
    columns = {}
    for place, name in enumerate(frame.columns):
        if place in mesh:
            columns[name] = pd.Series(mesh[place].ravel())
        elif _is_number(frame.iloc[:, place]):
            columns[name] = pd.Series(np.full(size, held[place]))
        else:
            columns[name] = pd.Series([held[place]] * size, dtype=frame.dtypes.iloc[place])
    return pd.DataFrame(columns)
