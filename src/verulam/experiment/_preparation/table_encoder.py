"""From a table of numbers and categories to an array of numbers, in one step.

A column transformer of pipelines gives the same numbers. It also checks the table again in each
of its eight steps, which for tables of some hundred rows takes longer than most learners do.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from verulam.base import DataError, clone

#: What stands in front of the name of an output, by the kind of its column.
NUMBERS, ORDERED, CATEGORIES = "numbers", "ordered", "categories"


class TableEncoder(TransformerMixin, BaseEstimator):
    """Impute and scale numbers, rank ordered categories, and one-hot encode the others.

    Parameters
    ----------
    numbers, ordered, categories
        Names of the columns of each kind; the table may have others.
    levels
        For each ordered column its values, from the lowest to the highest.
    impute
        Whether gaps are filled: by the median of numbers and ranks, by the most frequent category.
        If not, a gap stays one among numbers, and is none of the categories.
    scaler
        What numbers and ranks pass through afterwards; None for nothing.
    drop_first
        Whether the first category of a column has no output. All outputs of a column sum to one,
        so that their covariance has no inverse.

    Attributes
    ----------
    medians_
        What gaps of numbers and ranks are filled with; zero where a column has no value.
    categories_
        The values of each category column, sorted.
    modes_
        For each category column the place of its most frequent value, the first of equals.
    scaler_
        The fitted scaler.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.preprocessing import StandardScaler
    >>> table = pd.DataFrame({"age": [20.0, None, 60.0], "sex": pd.Categorical(["f", "m", None])})
    >>> encoder = TableEncoder(["age"], categories=["sex"], impute=True, scaler=StandardScaler())
    >>> encoder.fit_transform(table).round(2)
    array([[-1.22,  1.  ,  0.  ],
           [ 0.  ,  0.  ,  1.  ],
           [ 1.22,  1.  ,  0.  ]])
    """

    def __init__(
        self,
        numbers: Sequence[str] = (),
        ordered: Sequence[str] = (),
        levels: Sequence[Sequence[Any]] = (),
        categories: Sequence[str] = (),
        *,
        impute: bool = False,
        scaler: Any = None,
        drop_first: bool = False,
    ) -> None:
        self.numbers = numbers
        self.ordered = ordered
        self.levels = levels
        self.categories = categories
        self.impute = impute
        self.scaler = scaler
        self.drop_first = drop_first

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn medians, scales and categories from the training rows."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: pd.DataFrame, y: Any = None) -> NDArray[np.float64]:
        """Learn from the training rows and return their numbers."""
        self.feature_names_in_ = np.asarray(self._columns(), dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        columns = self._read(X)
        values = self._values(columns)
        self.medians_ = np.zeros(values.shape[1])
        present = ~np.isnan(values)
        for place in np.flatnonzero(present.any(axis=0)):
            self.medians_[place] = np.median(values[present[:, place], place])
        values = self._filled(values, present)
        if self.scaler is not None and values.shape[1]:
            self.scaler_ = clone(self.scaler)
            values = self.scaler_.fit_transform(values)
        self.categories_, self.modes_ = [], []
        for name in self.categories:
            codes, uniques = _codes(columns[name])
            counts = np.bincount(codes[codes >= 0], minlength=len(uniques))
            if not counts.any():  # a column of gaps alone
                uniques, counts = pd.Index(["missing"]), np.ones(1, dtype=np.intp)
            names, order = _sorted(uniques[counts > 0])
            self.categories_.append(names)
            self.modes_.append(int(counts[counts > 0][order].argmax()))
        return np.hstack([values, *self._one_hot(columns)])

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return the numbers of further rows; a category that is new is none of the known."""
        check_is_fitted(self)
        columns = self._read(X)
        values = self._values(columns)
        values = self._filled(values, ~np.isnan(values))
        if self.scaler is not None and values.shape[1]:
            values = self.scaler_.transform(values)
        return np.hstack([values, *self._one_hot(columns)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the outputs, with the kind of their column in front."""
        check_is_fitted(self)
        names = [f"{NUMBERS}__{name}" for name in self.numbers]
        names += [f"{ORDERED}__{name}" for name in self.ordered]
        for name, values in zip(self.categories, self.categories_, strict=True):
            names += [f"{CATEGORIES}__{name}_{value}" for value in values[self._first :]]
        return np.asarray(names, dtype=object)

    @property
    def _first(self) -> int:
        return 1 if self.drop_first else 0

    def _columns(self) -> list[str]:
        return [*self.numbers, *self.ordered, *self.categories]

    def _read(self, X: pd.DataFrame) -> dict[str, pd.Series]:
        if not isinstance(X, pd.DataFrame):
            raise DataError(f"X must be a pandas DataFrame, not {type(X).__name__}.")
        missing = [name for name in self._columns() if name not in X.columns]
        if missing:
            raise DataError(f"X lacks columns that were there in training: {', '.join(missing)}.")
        return {name: X[name] for name in self._columns()}

    def _values(self, columns: dict[str, pd.Series]) -> NDArray[np.float64]:
        """Return numbers and ranks side by side, gaps as NaN."""
        n_rows = len(next(iter(columns.values())))
        values = np.empty((n_rows, len(self.numbers) + len(self.ordered)))
        for place, name in enumerate(self.numbers):
            values[:, place] = columns[name].to_numpy(np.float64, na_value=np.nan)
        for place, (name, levels) in enumerate(
            zip(self.ordered, self.levels, strict=True), len(self.numbers)
        ):
            codes, uniques = _codes(columns[name])
            ranks = pd.Index(levels).get_indexer(uniques).astype(np.float64)
            ranks[ranks < 0] = np.nan
            values[:, place] = np.append(ranks, np.nan)[codes]
        infinite = np.isinf(values).any(axis=0)
        if infinite.any():
            name = self._columns()[int(infinite.argmax())]
            raise DataError(f"Column {name!r} of X has an infinite value.")
        return values

    def _filled(
        self, values: NDArray[np.float64], present: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        return np.where(present, values, self.medians_) if self.impute else values

    def _one_hot(self, columns: dict[str, pd.Series]) -> Iterator[NDArray[np.float64]]:
        known = zip(self.categories, self.categories_, self.modes_, strict=True)
        for name, categories, mode in known:
            codes, uniques = _codes(columns[name])
            places = np.append(
                pd.Index(categories).get_indexer(uniques), mode if self.impute else -1
            )
            # The last row, of zeros, is that of what is none of the known.
            rows = np.eye(len(categories) + 1, len(categories))[:, self._first :]
            yield rows[places[codes]]


def _codes(column: pd.Series) -> tuple[NDArray[np.integer[Any]], pd.Index]:
    """Return the place of each value among the different ones, -1 for a gap, and those."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories
    codes, uniques = pd.factorize(column)
    return codes, pd.Index(uniques)


def _sorted(index: pd.Index) -> tuple[NDArray[np.object_], NDArray[np.intp]]:
    """Return values in order, and the order; those of different kinds as their words are."""
    values = index.to_numpy(dtype=object)
    try:
        order = np.argsort(values, kind="stable")
    except TypeError:
        order = np.argsort(values.astype(str), kind="stable")
    return values[order], order
