"""The k-nearest-neighbour classifier, with any distance and its reasons."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from verulam.base import (
    Classifier,
    DataError,
    Interval,
    StrOptions,
    check_is_fitted,
    checked_fit,
    encode_classes,
    validate_data,
)
from verulam.nonparametric._neighbours.brute_search import (
    Neighbours,
    check_neighbour_count,
    nearest_columns,
)
from verulam.nonparametric._neighbours.dissimilarity_index import (
    GowerIndex,
    ObjectIndex,
    WeightedHamming,
    encode_queries,
    gower_index,
    objects_of,
)
from verulam.nonparametric._neighbours.index import METRICS, Distance, NeighbourIndex
from verulam.nonparametric._neighbours.inputs import check_at_least, checked_cases
from verulam.nonparametric._voting.votes import (
    Weighting,
    class_shares,
    count_votes,
    vote_weights,
    winning_class,
)
from verulam.nonparametric._windows.functions import log_ball_volume

#: Metrics whose distances come with the inputs; similarities become distances by a minus sign.
SIMILARITY = "precomputed-similarity"
PRECOMPUTED = ("precomputed", SIMILARITY)


@dataclass(frozen=True)
class NeighbourReason:
    """The cases that one answer rests on.

    Attributes
    ----------
    label
        The answer.
    rows : ndarray
        Training rows that voted, nearest first.
    distances : ndarray
        How far they are.
    labels : ndarray
        Their labels.
    weights : ndarray
        Their votes, which sum to 1: added up by label they are the probabilities.
    """

    label: Any
    rows: np.ndarray
    distances: np.ndarray
    labels: np.ndarray
    weights: np.ndarray

    def __str__(self) -> str:
        cases = zip(self.rows, self.labels, self.distances, self.weights, strict=True)
        lines = [
            f"  row {row}: {label}, distance {distance:.4g}, vote {weight:.3f}"
            for row, label, distance, weight in cases
        ]
        return "\n".join([f"{self.label}, because of", *lines])


class KNeighborsClassifier(Classifier):
    r"""Let the nearest training rows vote.

    Parameters
    ----------
    n_neighbors
        Number of neighbours :math:`k`; odd numbers avoid ties between two classes.
    weights
        "uniform", "distance" (the inverse of the distance) or a function of the distances.
    ties
        Which of several classes with the same vote wins: "first", the first label, as in
        scikit-learn; "nearest", the one with the nearest neighbour; "prior", the most frequent.
    metric
        "euclidean", "manhattan", "chebyshev", "minkowski", "mahalanobis", "hamming", "cosine";
        "gower" for tables of numbers and categories, with gaps; "precomputed", where `X` holds
        distances to the training rows; "precomputed-similarity", where it holds similarities,
        such as scores of alignments; or a function of two rows, or of two objects, such as
        strings, where `X` is a list of those.
    p
        The order of "minkowski".
    column_weights
        Importance of each column in the distance, for Minkowski's kinds, "hamming" and "gower";
        `learn_column_weights` learns it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    codes_ : ndarray of shape (n_samples,)
        Class of each training row, as a position in `classes_`.
    class_counts_ : ndarray of shape (n_classes,)
        Training rows of each class.

    Notes
    -----
    .. math:: \hat P(C_i \mid x) = \frac{k_i}{k}, \qquad
              \hat p(x \mid C_i) = \frac{k_i}{N_i\, c_d\, r^d}

    with :math:`r` the distance to the k-th neighbour, of whatever class. Similarities need have
    neither sign nor scale: the largest are the nearest, and what answers and functions of weights
    call a distance is then the negative similarity. See Alpaydin 8.4
    (8.15)-(8.16), 8.6 (8.22), Bartkowiak 4.4, SIT1305 III.

    Examples
    --------
    >>> from verulam.nonparametric import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [8.0], [9.0]], ["low", "low", "low", "up", "up"]
    >>> classifier = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    >>> classifier.predict_proba([[4.0], [7.0]]).round(2)
    array([[1.  , 0.  ],
           [0.33, 0.67]])
    >>> print(classifier.explain([[7.0]])[0])
    up, because of
      row 3: up, distance 1, vote 0.333
      row 4: up, distance 2, vote 0.333
      row 2: low, distance 5, vote 0.333

    Objects need no coordinates, only a distance:

    >>> def differing(first, second):
    ...     return len(set(first) ^ set(second))
    >>> words = KNeighborsClassifier(n_neighbors=1, metric=differing)
    >>> words.fit(["cat", "dog"], ["animal", "friend"]).predict(["cart", "dogs"])
    array(['animal', 'friend'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions({"uniform", "distance"}), callable],
        "ties": [StrOptions({"nearest", "prior", "first"})],
        "metric": [StrOptions({*METRICS, "gower", *PRECOMPUTED}), callable],
        "p": [Interval(Real, 1, None, closed="left")],
        "column_weights": ["array-like", None],
    }

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        weights: Weighting = "uniform",
        ties: str = "first",
        metric: str | Distance = "euclidean",
        p: float = 2.0,
        column_weights: ArrayLike | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.ties = ties
        self.metric = metric
        self.p = p
        self.column_weights = column_weights

    @classmethod
    def _example_learners(cls) -> list["KNeighborsClassifier"]:
        return [
            cls(),
            cls(n_neighbors=3, weights="distance", metric="manhattan", ties="nearest"),
            cls(metric="gower"),
        ]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric in PRECOMPUTED
        tags.input_tags.categorical = self.metric == "gower"
        tags.input_tags.allow_nan = self.metric == "gower"
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the training rows."""
        inputs = self._checked_inputs(X, reset=True)
        self.codes_, self.classes_ = encode_classes(self, y)
        check_consistent_length(inputs, self.codes_)
        self.class_counts_ = np.bincount(self.codes_, minlength=len(self.classes_))
        check_neighbour_count(self.n_neighbors, len(self.codes_))
        self._index: NeighbourIndex | WeightedHamming | GowerIndex | ObjectIndex | None = None
        if self.metric == SIMILARITY and self.weights == "distance":
            raise DataError(
                f"metric={SIMILARITY!r} has no distances to invert: weights must be 'uniform' or "
                "a function of the negative similarities."
            )
        column_weights = self._checked_column_weights()
        self._column_scales: np.ndarray | None = None
        if self.metric == "gower":
            self._index = gower_index(inputs, column_weights)
        elif callable(self.metric) and inputs.ndim == 1:
            self._index = ObjectIndex(inputs, self.metric)
        elif self.metric == "hamming" and column_weights is not None:
            self._index = WeightedHamming(np.array(inputs), column_weights)
        elif self.metric not in PRECOMPUTED:
            if column_weights is not None:
                # Weighted differences are differences of scaled columns: sums of |w^(1/p) d|^p.
                order = {"manhattan": 1.0, "minkowski": self.p}.get(str(self.metric), 2.0)
                self._column_scales = column_weights ** (1.0 / order)
                inputs = inputs * self._column_scales
            self._index = NeighbourIndex(np.array(inputs), self.metric, self.p)
        return self

    def _checked_column_weights(self) -> np.ndarray | None:
        if self.column_weights is None:
            return None
        weights = np.asarray(self.column_weights, dtype=np.float64)
        metrics = ("euclidean", "manhattan", "minkowski", "hamming", "gower")
        if self.metric not in metrics:
            raise DataError(f"column_weights needs metric to be one of {', '.join(metrics)}.")
        usable = np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0
        if weights.shape != (self.n_features_in_,) or not usable:
            raise DataError(
                f"column_weights must be {self.n_features_in_} numbers of at least 0, one for "
                "each column, not all of them 0."
            )
        return weights

    def _checked_inputs(self, X: Any, reset: bool = False) -> Any:
        """Return checked inputs: an array, or for Gower's distance a table as it is."""
        if callable(self.metric):
            objects = objects_of(X)
            if objects is not None:
                return objects
        if self.metric != "gower":
            inputs = validate_data(self, X, dtype=np.float64, order="C", reset=reset)
            if self.metric in PRECOMPUTED:
                _check_comparisons(inputs, str(self.metric), square=reset)
            return inputs if self.metric != SIMILARITY else -inputs
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if len(X) == 0:
                raise DataError("Found array with 0 sample(s): X has no rows.")
            return X
        return validate_data(self, X, dtype=np.float64, reset=reset, ensure_all_finite="allow-nan")

    def kneighbors(self, X: ArrayLike) -> Neighbours:
        """Return the nearest training rows of each row."""
        check_is_fitted(self)
        if isinstance(self._index, ObjectIndex):
            return self._index.query(X, self.n_neighbors)
        inputs = self._checked_inputs(X)
        if isinstance(self._index, GowerIndex):
            table = encode_queries(inputs, self._index.table.schema)
            return self._index.query(table, self.n_neighbors)
        if self._index is None:
            return nearest_columns(inputs, self.n_neighbors)
        if self._column_scales is not None:
            inputs = inputs * self._column_scales
        return self._index.query(inputs, self.n_neighbors)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with most votes."""
        winners = self._winners(self.kneighbors(X))
        return self.classes_[winners]

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the share of the votes of each class."""
        return self._shares(self.kneighbors(X))

    def _shares(self, neighbours: Neighbours) -> np.ndarray:
        equal = isinstance(self.weights, str) and self.weights == "uniform"
        weights = None if equal else vote_weights(neighbours.distances, self.weights)
        return class_shares(self.codes_[neighbours.rows], weights, len(self.classes_))

    def _winners(self, neighbours: Neighbours) -> np.ndarray:
        codes = self.codes_[neighbours.rows]
        if codes.shape[1] == 1:
            return codes[:, 0]
        return winning_class(self._shares(neighbours), codes, self.class_counts_, self.ties)

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of each row under each class, for Euclidean distances."""
        if self.metric != "euclidean" or self.column_weights is not None:
            raise DataError("class_log_density needs metric='euclidean' without column_weights.")
        neighbours = self.kneighbors(X)
        n_columns = self.n_features_in_
        counts = count_votes(self.codes_[neighbours.rows], len(self.classes_))
        # A class without a vote has density zero; k copies of a row have a ball of no volume.
        with np.errstate(divide="ignore"):
            volumes = log_ball_volume(n_columns) + n_columns * np.log(neighbours.distances[:, -1:])
            return np.log(counts) - np.log(self.class_counts_) - volumes

    def explain(self, X: ArrayLike) -> list[NeighbourReason]:
        """Return the training rows behind each answer."""
        neighbours = self.kneighbors(X)
        rows, distances = neighbours.rows, neighbours.distances
        weights = vote_weights(distances, self.weights)
        answers = self.classes_[self._winners(neighbours)]
        labels = self.classes_[self.codes_[rows]]
        return [
            NeighbourReason(*case)
            for case in zip(answers, rows, distances, labels, weights, strict=True)
        ]


def _check_comparisons(table: np.ndarray, metric: str, square: bool) -> None:
    """Raise where a table of distances or similarities to the training rows is none."""
    kind = "similarities" if metric == SIMILARITY else "distances"
    if square and table.shape[0] != table.shape[1]:
        raise DataError(
            f"X has shape {table.shape}; with metric={metric!r} it must be a square table "
            f"of {kind} between training rows."
        )
    if metric != SIMILARITY and (table < 0).any():
        raise DataError(
            "X has negative entries; metric='precomputed' takes distances, and "
            f"{SIMILARITY!r} takes similarities."
        )


@dataclass(frozen=True)
class NeighbourCurve:
    """Leave-one-out error against the number of neighbours.

    Attributes
    ----------
    counts : ndarray
        Numbers of neighbours.
    errors : ndarray
        Share of rows that their neighbours misclassify.
    """

    counts: np.ndarray
    errors: np.ndarray

    @property
    def best(self) -> int:
        """The number with the least error; the largest of several, which is the smoothest."""
        least = np.flatnonzero(self.errors == self.errors.min())
        return int(self.counts[least[-1]])


def select_neighbour_count(
    X: ArrayLike, y: ArrayLike, most: int = 30, *, metric: str | Distance = "euclidean"
) -> NeighbourCurve:
    """Return the leave-one-out error of every number of neighbours, from one search.

    Parameters
    ----------
    X
        One row per case.
    y
        Their labels.
    most
        Largest number of neighbours.
    metric
        As for `KNeighborsClassifier`, but for "gower" and those computed before.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import select_neighbour_count
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(100, 2)), rng.normal(size=(100, 2)) + 2.0])
    >>> curve = select_neighbour_count(X, np.repeat([0, 1], 100))
    >>> curve.best, curve.errors.min().round(3)
    (15, np.float64(0.095))
    """
    inputs, codes, classes = checked_cases(X, y)
    check_at_least(most, 1, "most")
    counts = np.bincount(codes, minlength=len(classes))
    # Nearest first: the k nearest others are the first k columns, whatever the k.
    neighbours = codes[NeighbourIndex(inputs, metric).query_others(most).rows]
    errors = np.empty(most)
    for k in range(1, most + 1):
        shares = class_shares(neighbours[:, :k], None, len(classes))
        winners = winning_class(shares, neighbours[:, :k], counts, "nearest")
        errors[k - 1] = np.mean(winners != codes)
    return NeighbourCurve(np.arange(1, most + 1), errors)
