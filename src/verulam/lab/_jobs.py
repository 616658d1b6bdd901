"""The work behind the pictures: states in, arrays out. Nothing here knows of a browser."""

import time
import warnings
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score

from verulam.base import DataError, clone
from verulam.cluster import cluster_quality
from verulam.decision import decision_regions
from verulam.lab._lines import (
    Line,
    border_lines,
    leaf_lines,
    level_lines,
    margin_lines,
    marks_of,
    net_lines,
    rule_lines,
    split_lines,
    window_lines,
)
from verulam.lab._parameters import make_learner
from verulam.lab._state import PlaneState, Points
from verulam.nonparametric import KNeighborsClassifier
from verulam.statistics import rate_interval, t_interval

#: Shades of certainty of a class in a picture of bytes: code * LEVELS + shade.
LEVELS = 28
MOST_CODES = 9
#: Frames of a training that is played.
MOST_FRAMES = 120


@dataclass(frozen=True, eq=False)
class Picture:
    """What a fitted learner looks like on the plane.

    Attributes
    ----------
    image
        Bytes from bottom to top: classes and certainty, or a density; None for a curve.
    kind
        "classes", "density" or "curve": how the bytes are coloured.
    lines
        Boundaries, margins, curves.
    marks
        Places to mark.
    mark_words
        What these are.
    codes
        Cluster or verdict for each point, where the learner gives one; empty otherwise.
    words
        What is worth saying below the picture.
    seconds
        How long training and prediction took.
    pass_number, pass_words
        Which pass of a training this is, and what it is called.
    """

    image: np.ndarray | None
    kind: str
    lines: tuple[Line, ...] = ()
    marks: np.ndarray = field(default_factory=lambda: np.empty((0, 2)))
    mark_words: str = ""
    codes: tuple[int, ...] = ()
    words: str = ""
    seconds: float = 0.0
    pass_number: int = 0
    pass_words: str = ""


@dataclass(frozen=True)
class Estimate:
    """How well a learner does on points that it was not trained on.

    Attributes
    ----------
    measure
        "error", "root mean squared error" or "log density".
    value
        The estimate.
    low, high
        Its interval at 95%.
    folds
        Parts of the cross-validation.
    """

    measure: str
    value: float
    low: float
    high: float
    folds: int

    def __str__(self) -> str:
        """Return the estimate as it is shown."""
        if self.measure == "error":
            return f"error {self.value:.1%} [{self.low:.1%}, {self.high:.1%}]"
        return f"{self.measure} {self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def training_data(state: PlaneState) -> tuple[np.ndarray, np.ndarray | None]:
    """Return what a learner of the task is trained with; too few points are refused."""
    points = state.points
    if len(points) < 2:
        raise DataError("Draw at least two points.")
    if state.task == "regression":
        return points.rows[:, :1], points.rows[:, 1]
    if state.task == "classification":
        if len(set(points.codes)) < 2:
            raise DataError("Draw points of at least two classes.")
        return points.rows, points.labels
    return points.rows, None


def picture(state: PlaneState, place: int) -> Picture:
    """Train one learner of a state and return what it looks like.

    Parameters
    ----------
    state
        What the plane shows.
    place
        Position of the learner.
    """
    start = time.perf_counter()
    X, y = training_data(state)
    learner = make_learner(state.learners[place], state.seed)
    learner.fit(X) if y is None else learner.fit(X, y)
    drawn = draw(learner, state)
    return replace(drawn, seconds=time.perf_counter() - start)


def draw(learner: Any, state: PlaneState) -> Picture:
    """Return the picture of a fitted learner.

    Parameters
    ----------
    learner
        Fitted to the points of the state.
    state
        What the plane shows.
    """
    parts = {
        "classification": _regions,
        "regression": _curve,
        "density": _density,
        "clustering": _clusters,
        "outliers": _outliers,
    }
    drawn = parts[state.task](learner, state)
    X, _ = training_data(state)
    windows, spoken = window_lines(learner, X, state.extent)
    lines = [*split_lines(learner, state.extent), *rule_lines(learner, state.extent), *windows]
    if hasattr(getattr(learner, "tree_", None), "structure"):
        lines += leaf_lines(learner, *grid_rows(state))
    words = ", ".join(part for part in (drawn.words, spoken) if part)
    drawn = replace(drawn, lines=(*drawn.lines, *lines), words=words)
    marks, meaning = marks_of(learner, X.shape[1])
    return drawn if drawn.marks.size else replace(drawn, marks=marks, mark_words=meaning)


def grid_rows(state: PlaneState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values of both axes and a row for each point of the grid."""
    left, right, bottom, top = state.extent
    horizontal = np.linspace(left, right, state.resolution)
    vertical = np.linspace(bottom, top, state.resolution)
    mesh = np.meshgrid(horizontal, vertical)
    return horizontal, vertical, np.column_stack([mesh[0].ravel(), mesh[1].ravel()])


def shades(codes: np.ndarray, certainty: np.ndarray) -> np.ndarray:
    """Return classes and certainty as bytes; more codes than colours begin again."""
    level = np.rint(certainty * (LEVELS - 1)).astype(np.uint8)
    return (codes % MOST_CODES).astype(np.uint8) * np.uint8(LEVELS) + level


def _regions(learner: Any, state: PlaneState) -> Picture:
    X, _ = training_data(state)
    grid = decision_regions(
        _asked_once(learner), X, extent=state.extent, resolution=state.resolution
    )
    # Colours belong to the classes that were drawn, of which a learner may know only some.
    colours = np.array([_colour_code(label) for label in grid.labels])
    lines = border_lines(grid.horizontal, grid.vertical, grid.codes)
    if hasattr(learner, "support_vectors_"):
        lines += margin_lines(learner, *grid_rows(state))
    return Picture(shades(colours[grid.codes], grid.certainty), "classes", tuple(lines))


def _asked_once(learner: Any) -> Any:
    """Return a copy that remembers the neighbours of the rows that it was last asked about.

    Classes and probabilities of the same rows need the same neighbours, whose search is dear.
    """
    if not isinstance(learner, KNeighborsClassifier):
        return learner
    last: list[Any] = [None, None]

    def kneighbors(rows: Any) -> Any:
        if last[0] is not rows:
            last[:] = rows, learner.kneighbors(rows)
        return last[1]

    twin: Any = copy(learner)
    twin.kneighbors = kneighbors
    return twin


def _colour_code(label: Any) -> int:
    word = str(label)
    return "ABCDE".index(word) if len(word) == 1 and word in "ABCDE" else MOST_CODES - 1


def _curve(learner: Any, state: PlaneState) -> Picture:
    grid = np.linspace(state.extent[0], state.extent[1], 2 * state.resolution)
    column = grid[:, None]
    spread = None
    if "return_std" in signature(learner.predict).parameters:
        values, spread = learner.predict(column, return_std=True)
    else:
        values = learner.predict(column)
    values = np.asarray(values, dtype=np.float64).ravel()
    if spread is None and hasattr(learner, "epsilon_"):
        spread = np.full(len(values), float(learner.epsilon_)) / 1.96
    lines = [Line(grid, values, "curve")]
    if spread is not None:
        width = 1.96 * np.asarray(spread, dtype=np.float64).ravel()
        lines += [Line(grid, values - width, "band"), Line(grid, values + width, "band")]
    marks, words = np.empty((0, 2)), ""
    if hasattr(learner, "support_"):
        marks, words = state.points.rows[np.asarray(learner.support_)], "support vectors"
    return Picture(None, "curve", tuple(lines), marks, words)


def _density(learner: Any, state: PlaneState) -> Picture:
    horizontal, vertical, rows = grid_rows(state)
    logs = np.asarray(learner.score_samples(rows), dtype=np.float64)
    heights = np.exp(np.clip(logs, -700.0, 700.0)).reshape(len(vertical), len(horizontal))
    highest = float(heights.max())
    if not highest > 0.0 or not np.isfinite(highest):
        raise DataError("The density is zero or infinite all over the plane.")
    shares = heights / highest
    lines = [
        line
        for level in (0.05, 0.2, 0.4, 0.6, 0.8)
        for line in level_lines(horizontal, vertical, shares, level, "contour")
    ]
    image = np.rint(255.0 * np.sqrt(shares)).astype(np.uint8)
    return Picture(image, "density", tuple(lines))


def _clusters(learner: Any, state: PlaneState) -> Picture:
    X, _ = training_data(state)
    net = net_lines(learner)
    if net:
        # A map has no answers to colour: its net lies over the points as they are.
        return Picture(None, "classes", net, words=_map_words(learner))
    labels = np.asarray(learner.labels_ if hasattr(learner, "labels_") else learner.predict(X))
    codes, n_clusters = np.maximum(labels, -1), len(set(labels.tolist()))
    image, lines = None, []
    if hasattr(learner, "predict"):
        horizontal, vertical, rows = grid_rows(state)
        answers = np.asarray(learner.predict(rows)).reshape(len(vertical), len(horizontal))
        # Outside of every cluster is the last colour.
        answers = np.where(answers < 0, MOST_CODES - 1, answers % (MOST_CODES - 1))
        image = shades(answers, np.full(answers.shape, 0.6))
        lines = border_lines(horizontal, vertical, answers)
    words = f"{n_clusters} clusters"
    if 1 < n_clusters < len(X):
        words += f", silhouette {cluster_quality(X, labels).silhouette:.2f}"
    shown = tuple(int(code) for code in codes)
    return Picture(image, "classes", tuple(lines), codes=shown, words=words)


def _map_words(learner: Any) -> str:
    near, torn = learner.quantisation_error_, learner.topographic_error_
    return f"quantisation error {near:.3g}, topographic error {torn:.1%}"


def _outliers(learner: Any, state: PlaneState) -> Picture:
    X, _ = training_data(state)
    horizontal, vertical, rows = grid_rows(state)
    # scikit-learn's factor answers for other rows only where that is asked for beforehand.
    if not getattr(learner, "novelty", True):
        learner = clone(learner).set_params(novelty=True).fit(X)
    inside = np.asarray(learner.predict(rows)).reshape(len(vertical), len(horizontal)) > 0
    codes = np.where(inside, 0, MOST_CODES - 1)
    verdicts = np.asarray(learner.predict(X)) > 0
    words = f"{int((~verdicts).sum())} of {len(X)} points outside"
    image = shades(codes, np.full(codes.shape, 0.6))
    points = tuple(0 if verdict else 1 for verdict in verdicts)
    lines = tuple(border_lines(horizontal, vertical, codes))
    return Picture(image, "classes", lines, codes=points, words=words)


def estimate(state: PlaneState, place: int) -> Estimate | None:
    """Return how well one learner does in cross-validation; None where the task has no measure.

    Parameters
    ----------
    state
        What the plane shows.
    place
        Position of the learner.
    """
    if state.task in ("clustering", "outliers"):
        return None
    X, y = training_data(state)
    learner = make_learner(state.learners[place], state.seed)
    folds = _folds(state, y)
    if state.task == "classification":
        assert y is not None
        answers = cross_val_predict(learner, X, y, cv=folds)
        errors = int(np.sum(answers != y))
        interval = rate_interval(errors, len(y))
        return Estimate("error", errors / len(y), interval.low, interval.high, folds.n_splits)
    if state.task == "regression":
        scores = cross_val_score(
            learner, X, y, cv=folds, scoring="neg_root_mean_squared_error", error_score="raise"
        )
        values, words = -scores, "root mean squared error"
    else:
        values, words = _log_densities(learner, X, folds), "log density"
    interval = t_interval(values)
    return Estimate(words, float(np.mean(values)), interval.low, interval.high, folds.n_splits)


def _folds(state: PlaneState, y: np.ndarray | None) -> Any:
    if state.task == "classification" and y is not None:
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest < 2:
            raise DataError("Cross-validation needs two points of each class.")
        n_splits = min(state.folds, smallest)
        return StratifiedKFold(n_splits, shuffle=True, random_state=state.seed)
    n_splits = min(state.folds, len(state.points))
    return KFold(n_splits, shuffle=True, random_state=state.seed)


def _log_densities(learner: Any, X: np.ndarray, folds: Any) -> np.ndarray:
    parts = [clone(learner).fit(X[train]).score_samples(X[test]) for train, test in folds.split(X)]
    n_outside = int(np.isneginf(np.concatenate(parts)).sum())
    if n_outside:
        raise DataError(
            f"No estimate: {n_outside} of {len(X)} points, left out in cross-validation, lie where "
            "the others leave no density at all, so the mean log density is minus infinity."
        )
    return np.array([np.mean(part) for part in parts])


def frames(state: PlaneState, place: int) -> Iterator[Picture]:
    """Yield the picture of a learner after each pass of its training.

    Parameters
    ----------
    state
        What the plane shows.
    place
        Position of the learner.
    """
    X, y = training_data(state)
    learner = make_learner(state.learners[place], state.seed)
    words = pass_words(learner)
    if not words:
        raise DataError("This learner is trained in one piece: there are no passes to play.")
    for number, trained in _passes(learner, X, y):
        yield replace(draw(trained, state), pass_number=number, pass_words=words)


#: Parameters that count passes, and what a pass is called.
_COUNTED = {"n_iter": "pass", "max_iter": "pass", "n_estimators": "round"}


def pass_words(learner: Any) -> str:
    """Return what a pass of a training is called; nothing where it has none to show."""
    if hasattr(learner, "epochs"):
        return "epoch"
    parameters = learner.get_params(deep=False)
    if "first_radius" in parameters and "n_iter" in parameters:
        return "pass"
    if hasattr(learner, "_objective"):
        return "pass of EM" if hasattr(learner, "score_samples") else "pass"
    return "round" if "n_estimators" in parameters else ""


def _passes(learner: Any, X: np.ndarray, y: np.ndarray | None) -> Iterator[tuple[int, Any]]:
    """Yield the number of each pass and the learner as it is after it."""
    arguments = (X,) if y is None else (X, y)
    if hasattr(learner, "epochs"):
        for epoch in learner.epochs(*arguments):
            # Later epochs change less: after the first thirty, ever fewer are shown.
            if epoch.number <= 30 or epoch.number % (epoch.number // 15) == 0:
                yield epoch.number, learner
            if epoch.number >= 30 * MOST_FRAMES // 4:
                return
        return
    parameters = learner.get_params(deep=False)
    if "first_radius" in parameters and "n_iter" in parameters:
        yield from _ordering(learner, arguments)
        return
    counter = "max_iter" if hasattr(learner, "_objective") else "n_estimators"
    for number in range(1, min(parameters[counter], MOST_FRAMES) + 1):
        trained = _fitted(learner, arguments, **{counter: number})
        yield number, trained
        if counter == "max_iter" and getattr(trained, "converged_", False):
            return


def _ordering(learner: Any, arguments: tuple[Any, ...]) -> Iterator[tuple[int, Any]]:
    """Yield a map after each pass.

    Radii fall by equal ratios, so the first passes of a long training are those of a shorter one
    that ends at their radius.
    """
    count, last = learner.n_iter, learner.last_radius
    whole = clone(learner).fit(*arguments)
    first = learner.first_radius
    if first is None:
        first = max(max(whole.grid_.shape) / 2.0, last)
    radii = np.geomspace(max(first, 1e-9), max(last, 1e-9), count)
    for number in range(1, count):
        ends = {"first_radius": float(first), "last_radius": float(radii[number - 1])}
        yield number, _fitted(learner, arguments, n_iter=number, **ends)
    yield count, whole


def _fitted(learner: Any, arguments: tuple[Any, ...], **parameters: Any) -> Any:
    """Return a copy that was trained with other parameters; that it was cut short is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(learner).set_params(**parameters).fit(*arguments)


def nearest_point(
    points: Points,
    horizontal: float,
    vertical: float,
    extent: tuple[float, float, float, float],
    reach: float,
) -> int | None:
    """Return the position of the point nearest to a place, None where none is in reach.

    Parameters
    ----------
    points
        Those on the plane.
    horizontal, vertical
        The place.
    extent
        Ends of the axes, in whose lengths distances are measured.
    reach
        Largest distance.
    """
    if not len(points):
        return None
    left, right, bottom, top = extent
    rows = points.rows
    distances = np.hypot(
        (rows[:, 0] - horizontal) / (right - left), (rows[:, 1] - vertical) / (top - bottom)
    )
    nearest = int(np.argmin(distances))
    return nearest if distances[nearest] <= reach else None
