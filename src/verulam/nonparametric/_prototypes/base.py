"""Prototype selection: what classifiers that keep some of their training rows have in common."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    Classifier,
    check_is_fitted,
    checked_fit_with_parts,
    encode_classes,
    validate_data,
)
from verulam.nonparametric._neighbours.index import NeighbourIndex
from verulam.nonparametric._voting.votes import class_shares


class PrototypeClassifier(Classifier):
    """Base: a learner that defines `_select`, and has `n_neighbors` of what is kept vote.

    Fitting sets `classes_`, `rows_` (the kept rows of the training data), `prototypes_` (those rows
    themselves) and `codes_` (their classes, as positions in `classes_`).
    """

    n_neighbors: int

    def _select(self, inputs: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the rows to keep."""
        raise NotImplementedError(f"{type(self).__name__} must define _select.")

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose the rows to keep."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        codes, self.classes_ = encode_classes(self, labels)
        self.rows_ = self._select(inputs, codes)
        self.prototypes_ = inputs[self.rows_]
        self.codes_ = codes[self.rows_]
        self._index = NeighbourIndex(self.prototypes_)
        return self

    def fit_resample(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
        """Return the kept rows and their labels; `rows_` tells which they are."""
        self.fit(X, y)
        rows = X.iloc[self.rows_] if hasattr(X, "iloc") else np.asarray(X)[self.rows_]
        labels = y.iloc[self.rows_] if hasattr(y, "iloc") else np.asarray(y)[self.rows_]
        return rows, labels

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the share of each class among the nearest kept rows."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        nearest = self._index.query(inputs, min(self.n_neighbors, len(self.prototypes_)))
        return class_shares(self.codes_[nearest.rows], None, len(self.classes_))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class of most of the nearest kept rows."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
