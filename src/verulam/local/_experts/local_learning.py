r"""Local learning: a simple model for each query, of the rows around it alone."""

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from verulam.base import (
    Classifier,
    HasMethods,
    Interval,
    MetaEstimatorMixin,
    Regressor,
    check_is_fitted,
    checked_fit_with_parts,
    clone,
    encode_classes,
    numeric_targets,
    one_blas_thread,
    validate_data,
)
from verulam.local._experts.maximising import with_ones
from verulam.local._radial.mixing import softmax_rows
from verulam.local._radial.softmax_fit import fit_softmax
from verulam.local._radial.training import check_lengths, mean_and_spread
from verulam.local._radial.units import FloatArray

#: Penalty of the slopes of a local classifier, for columns of deviation 1 among the neighbours:
#: few rows are often separable.
PENALTY = 1.0

_SHARED: dict[str, Any] = {
    "estimator": [HasMethods(["fit", "predict"]), None],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
}


def local_line(X: FloatArray, y: FloatArray, queries: FloatArray) -> FloatArray:
    """Return the values of a least-squares plane at queries."""
    origin = X.mean(axis=0)
    design = with_ones(X - origin)
    return with_ones(queries - origin) @ np.linalg.lstsq(design, y, rcond=None)[0]


def local_softmax(X: FloatArray, shares: FloatArray, queries: FloatArray) -> FloatArray:
    """Return the probabilities of a linear softmax classifier at queries."""
    origin, spread = mean_and_spread(X, None)
    rows, queries = (X - origin) / spread, (queries - origin) / spread
    if len(rows) < rows.shape[1]:
        # Slopes that are penalised alike lie in the span of the rows.
        directions = np.linalg.svd(rows, full_matrices=False)[2].T
        rows, queries = rows @ directions, queries @ directions
    design = with_ones(rows)
    decay = np.full(design.shape[1], PENALTY)
    decay[0] = 1e-10
    start = np.zeros((design.shape[1], shares.shape[1]))
    return softmax_rows(with_ones(queries) @ fit_softmax(design, shares, decay, start))


class LocalModels(MetaEstimatorMixin):
    """Stored rows, and a model for each set of neighbours that a query has."""

    estimator: Any
    n_neighbors: int

    def _store(self, rows: FloatArray, targets: NDArray[Any]) -> None:
        check_lengths(targets, rows)
        self.inputs_, self.targets_ = rows, targets
        self._neighbours = NearestNeighbors().fit(rows)

    def _answers(self, X: Any, answer: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return what a model of its neighbours answers for each row."""
        check_is_fitted(self)
        queries = validate_data(self, X, dtype=np.float64, reset=False)
        count = min(int(self.n_neighbors), len(self.inputs_))
        answers = np.empty((len(queries), *shape), dtype=dtype)
        near = np.sort(self._neighbours.kneighbors(queries, count, return_distance=False), axis=1)
        # Queries with the same neighbours have the same model.
        sets, places = np.unique(near, axis=0, return_inverse=True)
        order = np.argsort(places.ravel(), kind="stable")
        ends = np.searchsorted(places.ravel()[order], np.arange(len(sets)), side="right")
        with one_blas_thread():
            for rows, members in zip(sets, np.split(order, ends[:-1]), strict=True):
                answers[members] = answer(rows, queries[members])
        return answers


class LocalLearningRegressor(LocalModels, Regressor):
    r"""Fit a simple regressor to the neighbours of each query, answer, and forget it.

    Parameters
    ----------
    estimator
        The simple regressor; None for least squares.
    n_neighbors
        Neighbours that it is fitted to, more than a nearest-neighbour rule would take.

    Attributes
    ----------
    inputs_ : ndarray of shape (n_samples, n_features)
        Training rows, which are stored.
    targets_ : ndarray of shape (n_samples,)
        Their targets.

    Notes
    -----
    See Alpaydin 12.8, after Bottou and Vapnik (1992). With as many neighbours as there are rows,
    this is the simple regressor itself. Nothing is trained until a query comes, so that queries
    are slow: queries with the same neighbours share a model.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.local import LocalLearningRegressor
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> local = LocalLearningRegressor(n_neighbors=20).fit(x, np.sin(x[:, 0]))
    >>> local.predict([[1.0], [2.0]]).round(1)
    array([0.8, 0.9])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _SHARED

    def __init__(self, estimator: Any = None, *, n_neighbors: int = 50) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors

    @classmethod
    def _example_learners(cls) -> list["LocalLearningRegressor"]:
        return [cls(n_neighbors=20)]

    @checked_fit_with_parts
    def fit(self, X: Any, y: Any) -> Self:
        """Store the rows.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Numbers to predict.
        """
        rows = validate_data(self, X, dtype=np.float64)
        self._store(rows, numeric_targets(self, y))
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the number for each row, by a model of its neighbours."""

        def answer(rows: NDArray[np.intp], queries: FloatArray) -> FloatArray:
            inputs, targets = self.inputs_[rows], self.targets_[rows]
            if self.estimator is None:
                return local_line(inputs, targets, queries)
            return clone(self.estimator).fit(inputs, targets).predict(queries)

        return self._answers(X, answer, (), np.float64)


class LocalLearningClassifier(LocalModels, Classifier):
    r"""Fit a simple classifier to the neighbours of each query, answer, and forget it.

    Parameters
    ----------
    estimator
        The simple classifier; None for the softmax of linear functions, with a penalty of 1.
    n_neighbors
        Neighbours that it is fitted to, more than a nearest-neighbour rule would take.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    inputs_ : ndarray of shape (n_samples, n_features)
        Training rows, which are stored.
    targets_ : ndarray of shape (n_samples,)
        Codes of their classes.

    Notes
    -----
    See Alpaydin 12.8, after Bottou and Vapnik (1992). What is said of
    `verulam.local.LocalLearningRegressor` holds here too. Where all neighbours are of one class,
    that is the answer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.local import LocalLearningClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> local = LocalLearningClassifier(n_neighbors=40).fit(X[::2], y[::2])
    >>> bool(local.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_SHARED,
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
    }

    def __init__(self, estimator: Any = None, *, n_neighbors: int = 50) -> None:
        self.estimator = estimator
        self.n_neighbors = n_neighbors

    @classmethod
    def _example_learners(cls) -> list["LocalLearningClassifier"]:
        return [cls(n_neighbors=20)]

    @checked_fit_with_parts
    def fit(self, X: Any, y: Any) -> Self:
        """Store the rows.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Their classes.
        """
        rows = validate_data(self, X, dtype=np.float64)
        codes, self.classes_ = encode_classes(self, y)
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise ValueError(f"y has one class alone, {label!r}: there is nothing to tell apart.")
        self._store(rows, codes)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class for each row, by a model of its neighbours."""
        check_is_fitted(self)

        def answer(rows: NDArray[np.intp], queries: FloatArray) -> FloatArray:
            codes = self.targets_[rows]
            probabilities = np.zeros((len(queries), len(self.classes_)))
            if (codes == codes[0]).all():
                probabilities[:, codes[0]] = 1.0
                return probabilities
            if self.estimator is None:
                present = np.unique(codes)
                targets = (codes[:, None] == present).astype(np.float64)
                probabilities[:, present] = local_softmax(self.inputs_[rows], targets, queries)
                return probabilities
            model = clone(self.estimator).fit(self.inputs_[rows], codes)
            probabilities[:, model.classes_] = model.predict_proba(queries)
            return probabilities

        return self._answers(X, answer, (len(self.classes_),), np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        check_is_fitted(self)
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most_probable]
