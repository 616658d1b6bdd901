"""What stands between a table and a learner that cannot use it as it is."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

from verulam.base import DataError, abilities, is_categorical


@dataclass(frozen=True)
class Prepared:
    """A learner ready for one table.

    Attributes
    ----------
    estimator
        The learner, or a pipeline that ends in it.
    words
        What is done to the columns first, for the report.
    """

    estimator: Any
    words: str


def usable_inputs(inputs: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the columns that learners can use, and a notice about those left out."""
    left_out = [name for name in inputs.columns if not _is_usable(inputs[name])]
    kept = inputs.drop(columns=left_out)
    if kept.shape[1] == 0:
        raise DataError(
            "No input column holds numbers or categories; there is nothing to learn from."
        )
    truths = [name for name in kept.columns if pd.api.types.is_bool_dtype(kept[name])]
    kept = kept.astype(dict.fromkeys(truths, "category"))
    notice = f"Text and date columns are left out: {', '.join(left_out)}." if left_out else ""
    return kept, notice


def prepared(estimator: Any, inputs: pd.DataFrame, *, scale: bool = True) -> Prepared:
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

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.svm import SVC
    >>> table = pd.DataFrame({"size": [1.0, None], "colour": pd.Categorical(["r", "g"])})
    >>> prepared(SVC(), table).words
    'numbers imputed (median) and scaled, categories imputed (mode) and one-hot encoded'
    """
    if get_tags(estimator).no_validation or isinstance(estimator, Pipeline):
        return Prepared(estimator, "the table as it is")
    able = abilities(estimator)
    categories = [name for name in inputs.columns if is_categorical(inputs[name])]
    numbers = [name for name in inputs.columns if name not in categories]
    gaps = bool(inputs.isna().to_numpy().any())
    can_use = (able.categorical or not categories) and (able.missing or not gaps)
    if can_use and (able.categorical or not scale):
        return Prepared(estimator, "the table as it is")
    parts, words = [], []
    if numbers:
        fill = [SimpleImputer(strategy="median", keep_empty_features=True)] if gaps else []
        parts.append(("numbers", make_pipeline(*fill, StandardScaler()), numbers))
        words.append("numbers imputed (median) and scaled" if gaps else "numbers scaled")
    if categories:
        fill = [SimpleImputer(strategy="most_frequent", keep_empty_features=True)] if gaps else []
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        parts.append(("categories", make_pipeline(*fill, encoder), categories))
        imputed = "imputed (mode) and " if gaps else ""
        words.append(f"categories {imputed}one-hot encoded")
    # A table of numbers needs no sorting of its columns, which would cost more than some fits.
    front = ColumnTransformer(parts) if categories else parts[0][1]
    return Prepared(make_pipeline(front, estimator), ", ".join(words))


def _is_usable(column: pd.Series) -> bool:
    return is_categorical(column) or pd.api.types.is_numeric_dtype(column)
