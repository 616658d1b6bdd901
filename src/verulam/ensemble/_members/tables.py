"""Tables as members need them: rows, columns, and preparation of what a member cannot use."""

from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils import Tags

from verulam.base import (
    Abilities,
    DataError,
    Transformer,
    abilities,
    check_is_fitted,
    checked_fit,
    clone,
    is_categorical,
    nearest_names,
    read_schema,
    validate_data,
)

#: First steps of a pipeline that take numbers alone.
_SCALERS = (MaxAbsScaler, MinMaxScaler, StandardScaler)


def read_table(learner: Any, X: Any, *, reset: bool = True) -> Any:
    """Return the rows as members are given them: a table as it is, anything else as an array.

    Columns are remembered (`reset`) or compared with those of training.
    """
    if isinstance(X, pd.DataFrame) and not _is_plain(X):
        read_schema(X)  # refuses text, dates and repeated names
        if X.shape[0] == 0:
            raise DataError("Found array with 0 sample(s): X needs one row or more.")
        validate_data(learner, X, reset=reset, skip_check_array=True)
        return X
    array = validate_data(
        learner, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", order="C"
    )
    return X if isinstance(X, pd.DataFrame) else array


def _is_plain(table: pd.DataFrame) -> bool:
    kinds = (isinstance(kind, np.dtype) and kind.kind in "iuf" for kind in table.dtypes)
    return all(kinds) and table.shape[1] > 0


def take_rows(table: Any, rows: NDArray[Any]) -> Any:
    """Return some rows of a table or array, by number or by truth."""
    if isinstance(table, pd.DataFrame):
        return table.iloc[rows]
    # Whole rows are taken twice as fast by `take`, which knows numbers alone.
    return table[rows] if rows.dtype == bool else table.take(rows, axis=0)


class ColumnSubset(Transformer):
    """Pass some columns on, as they are: the view of one member.

    Parameters
    ----------
    columns
        Names or positions, counted from 0; None for all.

    Attributes
    ----------
    positions_ : ndarray
        Positions of the columns that are passed on.

    Notes
    -----
    Learners that see different representations of the same thing make different mistakes. See
    Alpaydin 17.2.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import ColumnSubset
    >>> iris = dataset("iris")
    >>> list(ColumnSubset(["petal_width_cm", "petal_length_cm"]).fit_transform(iris.inputs))
    ['petal_width_cm', 'petal_length_cm']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"columns": ["array-like", None]}

    def __init__(self, columns: ArrayLike | None = None) -> None:
        self.columns = columns

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns."""
        table = read_table(self, X)
        self.positions_ = column_positions(self.columns, table)
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns."""
        check_is_fitted(self)
        return take_columns(read_table(self, X, reset=False), self.positions_)


def take_columns(table: Any, positions: NDArray[Any]) -> Any:
    """Return some columns of a table or array."""
    return table.iloc[:, positions] if isinstance(table, pd.DataFrame) else table[:, positions]


def column_positions(columns: Any, table: Any) -> NDArray[np.intp]:
    """Return the positions of columns that are named, or counted from 0."""
    n_columns = table.shape[1]
    if columns is None:
        return np.arange(n_columns)
    names = list(table.columns) if isinstance(table, pd.DataFrame) else []
    positions = []
    for column in np.asarray(columns, dtype=object).ravel():
        if column in names:
            positions.append(names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < n_columns:
            positions.append(int(column))
        else:
            near = nearest_names(str(column), map(str, names))
            hint = f" Nearest: {', '.join(near)}." if near else ""
            raise DataError(
                f"columns: there is no column {column!r} among the {n_columns} of the table.{hint}"
            )
    if not positions:
        raise DataError("columns is empty: name one column or more, or None for all.")
    if len(set(positions)) < len(positions):
        raise DataError(f"columns names some column twice: {list(np.ravel(columns))}.")
    return np.array(positions, dtype=np.intp)


def prepared_member(estimator: Any, table: Any) -> Any:
    """Return a clone that can use the table: by itself, or behind imputing and encoding.

    A pipeline is taken to prepare its columns by itself, unless it begins with a view or a scaler.
    """
    copy = clone(estimator)
    if not isinstance(copy, Pipeline):
        return _encoded(copy, table, abilities(copy))
    first = copy.steps[0][1]
    if isinstance(first, ColumnSubset) and len(copy) > 1:
        part = take_columns(table, column_positions(first.columns, table))
        inner = copy[1:] if len(copy) > 2 else copy.steps[1][1]
        return make_pipeline(first, prepared_member(inner, part))
    if isinstance(first, _SCALERS):
        return _encoded(copy, table, Abilities("other"))
    return copy


def _encoded(learner: Any, table: Any, able: Abilities) -> Any:
    """Return the learner, behind a preparation if the table has more than it is able to use."""
    is_frame = isinstance(table, pd.DataFrame)
    n_columns = table.shape[1]
    categories = [
        place for place in range(n_columns) if is_frame and is_categorical(table.iloc[:, place])
    ]
    gaps = bool((table.isna().to_numpy() if is_frame else np.isnan(table)).any())
    if (able.categorical or not categories) and (able.missing or not gaps):
        return learner
    numbers = [place for place in range(n_columns) if place not in categories]
    fill = [SimpleImputer(strategy="median", keep_empty_features=True)] if gaps else []
    parts: list[tuple[str, Any, list[int]]] = []
    if numbers:
        # Beside columns of 0 and 1 numbers are scaled, or their units would outweigh those.
        scale = [StandardScaler()] if categories else []
        parts.append(("numbers", make_pipeline(*fill, *scale), numbers))
    if categories:
        # A missing category is one more category to the encoder.
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", encoder, categories))
    return make_pipeline(ColumnTransformer(parts), learner)


def takes_gaps(estimator: Any) -> bool:
    """Tell whether a learner can predict where a value is missing that never was in training."""
    if not isinstance(estimator, Pipeline):
        return abilities(estimator).missing
    first = estimator.steps[0][1]
    passes_gaps = isinstance(first, (ColumnSubset, *_SCALERS)) and len(estimator) > 1
    return takes_gaps(estimator[1:] if passes_gaps else first)


def complete_medians(table: Any) -> NDArray[np.float64]:
    """Return the median of each column of numbers without gaps, and NaN for all other columns."""
    if not isinstance(table, pd.DataFrame):
        return np.median(table, axis=0)
    columns = (table.iloc[:, place] for place in range(table.shape[1]))
    return np.array(
        [
            np.nan
            if is_categorical(column) or column.isna().any()
            else np.median(column.to_numpy(dtype=np.float64))
            for column in columns
        ]
    )


def without_new_gaps(table: Any, medians: NDArray[np.float64]) -> Any:
    """Return the table with medians in gaps of the columns that have one."""
    if not isinstance(table, pd.DataFrame):
        gaps = np.isnan(table) & ~np.isnan(medians)
        return np.where(gaps, medians, table) if gaps.any() else table
    gapped = table.isna().any().to_numpy() & ~np.isnan(medians)
    if not gapped.any():
        return table
    table = table.copy()
    for place in np.flatnonzero(gapped):
        # By position, for names may be of any type.
        column = table.iloc[:, place].astype(np.float64).fillna(medians[place])
        table.isetitem(int(place), column)
    return table
