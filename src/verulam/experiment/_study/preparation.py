"""Preprocessing of tables: imputing, encoding and scaling, where a learner needs it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.utils import get_tags

from verulam.base import DataError, abilities, is_categorical
from verulam.data import column_hint

#: Ways to prepare a table that a study may vary, and what each does to numbers.
PREPARATIONS = {
    "as needed": "scaled",
    "unscaled": "unscaled",
    "standardised": "scaled",
    "unit range": "brought between 0 and 1",
    "ranks": "replaced by their ranks",
}
#: Learners that need columns of which none follows from the others.
_INVERT_COVARIANCES = {
    "GaussianClassifier", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis",
}  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """A learner ready for one table.

    Attributes
    ----------
    estimator
        The learner, or a pipeline that ends in it.
    words
        What is done to the columns first, for the report.
    transformer
        What does it, before the learner; None for nothing.
    """

    estimator: Any
    words: str
    transformer: Any = None


class AsObjects(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn columns into plain objects, whatever their categories are.

    A class of its own, because model files may hold learners and no functions of this package.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Remember the columns."""
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the table with columns of objects."""
        return X.astype(object)


class ReferenceEncoder(OneHotEncoder):
    """One-hot encoding without the first category of each column, which the others tell.

    All columns of a category sum to one, so that their covariance has no inverse. A category that
    was not there in training is taken for the first; scikit-learn's ``drop="first"`` warns then.
    """

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the columns of all categories but the first of each."""
        return super().transform(X)[:, self._compared()]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns."""
        return super().get_feature_names_out(input_features)[self._compared()]

    def _compared(self) -> NDArray[np.bool_]:
        return np.concatenate([np.arange(len(names)) > 0 for names in self.categories_])


def usable_inputs(inputs: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the columns that learners can use, and notices about those left out."""
    left_out = [name for name in inputs.columns if not _is_usable(inputs[name])]
    usable = inputs.drop(columns=left_out)
    if usable.shape[1] == 0:
        raise DataError(
            "No input column holds numbers or categories; there is nothing to learn from."
        )
    truths = [name for name in usable.columns if pd.api.types.is_bool_dtype(usable[name])]
    usable = usable.astype(dict.fromkeys(truths, "category"))
    constant = [name for name in usable.columns if usable[name].nunique(dropna=False) < 2]
    if len(constant) == usable.shape[1]:
        constant = []  # Baselines can do without any; the others say so themselves.
    notices = []
    if left_out:
        named = ", ".join(_with_hint(inputs[name]) for name in left_out)
        notices.append(f"Text and date columns are left out: {named}.")
    if constant:
        notices.append(f"Columns with one value alone are left out: {', '.join(constant)}.")
    return usable.drop(columns=constant), tuple(notices)


def _with_hint(column: pd.Series) -> str:
    hint = column_hint(column)
    return f"{column.name} ({hint})" if hint else str(column.name)


def prepared(
    estimator: Any, inputs: pd.DataFrame, *, scale: bool = True, how: str = "as needed"
) -> Prepared:
    """Return the learner as it is where it can use the table, else behind a preparation.

    Parameters
    ----------
    estimator
        Any learner.
    inputs
        The table it will be given.
    scale
        Prepare also where the table is complete and numeric, so that no column outweighs
        another by its unit.
    how
        One of `PREPARATIONS`; all but "as needed" and "unscaled" prepare in any case.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.svm import SVC
    >>> table = pd.DataFrame({"size": [1.0, None], "colour": pd.Categorical(["r", "g"])})
    >>> prepared(SVC(), table).words
    'numbers imputed (median) and scaled, categories imputed (mode) and one-hot encoded'
    """
    ignores_inputs = get_tags(estimator).no_validation
    if ignores_inputs or (isinstance(estimator, Pipeline) and how == "as needed"):
        return Prepared(estimator, "the table as it is")
    able = abilities(estimator)
    categories = [name for name in inputs.columns if is_categorical(inputs[name])]
    numbers = [name for name in inputs.columns if name not in categories]
    gaps = bool(inputs.isna().to_numpy().any())
    can_use = (able.categorical or not categories) and (able.missing or not gaps)
    plain = how == "unscaled" or (how == "as needed" and (able.categorical or not scale))
    if can_use and plain:
        return Prepared(estimator, "the table as it is")
    parts, words = [], []
    if numbers:
        fill = [SimpleImputer(strategy="median", keep_empty_features=True)] if gaps else []
        parts.append(("numbers", make_pipeline(*fill, _scaler(how, len(inputs))), numbers))
        words.append(f"numbers {'imputed (median) and ' if gaps else ''}{PREPARATIONS[how]}")
    if categories:
        fill = (
            [
                # Categories of different kinds, such as words and truths, have no common type.
                AsObjects(),
                SimpleImputer(strategy="most_frequent", keep_empty_features=True),
            ]
            if gaps
            else []
        )
        inverts = {base.__qualname__ for base in type(estimator).__mro__} & _INVERT_COVARIANCES
        kind = ReferenceEncoder if inverts else OneHotEncoder
        encoder = kind(handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", make_pipeline(*fill, encoder), categories))
        imputed = "imputed (mode) and " if gaps else ""
        without = " (the first left out)" if inverts else ""
        words.append(f"categories {imputed}one-hot encoded{without}")
    # A table of numbers needs no sorting of its columns, which would cost more than some fits.
    transformer = ColumnTransformer(parts) if categories else parts[0][1]
    return Prepared(make_pipeline(transformer, estimator), ", ".join(words), transformer)


def _scaler(how: str, n_rows: int) -> Any:
    if how == "unscaled":
        return FunctionTransformer()
    if how == "unit range":
        # Rows to predict may lie beyond the training rows, and the range is to hold for them too.
        return MinMaxScaler(clip=True)
    if how == "ranks":
        return QuantileTransformer(n_quantiles=min(1000, max(2, n_rows // 4)), random_state=0)
    return StandardScaler()


def _is_usable(column: pd.Series) -> bool:
    return is_categorical(column) or pd.api.types.is_numeric_dtype(column)
