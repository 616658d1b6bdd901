"""Preprocessing of tables: dates, texts, gaps, categories and scales, where a learner needs it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, is_regressor
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils import get_tags

from verulam.base import abilities, is_categorical
from verulam.data import Dataset, column_hint
from verulam.experiment._learning.fitting import encoding_folds
from verulam.experiment._preparation.inspection import Finding, is_identifier
from verulam.experiment._preparation.reductions import read_reduction
from verulam.experiment._preparation.table_encoder import TableEncoder
from verulam.experiment._text import counted, listed

#: Ways to prepare a table that a study may vary, and what each does to numbers.
PREPARATIONS = {
    "as needed": "scaled",
    "unscaled": "unscaled",
    "standardised": "scaled",
    "unit range": "brought between 0 and 1",
    "ranks": "replaced by their ranks",
}
#: Learners whose defaults are meant for targets of about unit scale.
_UNIT_TARGETS = {"SVR", "NuSVR", "SupportVectorRegressor", "MLPRegressor"}
#: Step that prepares numbers and categories, where others prepare dates and texts.
TABLE_STEP = "table"
#: Numbers that a column of text becomes.
TEXT_COMPONENTS = 30
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
    prefix
        What the learner's parameters are called by inside the estimator.
    """

    estimator: Any
    words: str
    transformer: Any = None
    prefix: str = ""


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


class ColumnEncoder(TransformerMixin, BaseEstimator):
    """Turn each column into numbers by an encoder of its own; the base of those below.

    The encoders are skrub's. It is loaded where a table has texts or dates: it takes a second.
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Fit an encoder to each column."""
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]
        with warnings.catch_warnings():
            # Of texts with fewer letter sequences than components, whose last ones are zero.
            warnings.simplefilter("ignore", UserWarning)
            # Of texts that are all alike, which share no variance to be shared out.
            warnings.filterwarnings("ignore", "invalid value", RuntimeWarning)
            self.encoders_ = [self._fitted(self._read(X[name])) for name in X.columns]
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Return what the encoders make of all columns, side by side."""
        columns = zip(self.encoders_, X.columns, strict=True)
        parts = [encoder.transform(self._read(X[name])).to_numpy() for encoder, name in columns]
        return np.hstack(parts).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the new columns."""
        names = [encoder.get_feature_names_out() for encoder in self.encoders_]
        return np.concatenate(names).astype(object)

    def _read(self, column: pd.Series) -> pd.Series:
        return column

    def _fitted(self, column: pd.Series) -> Any:
        raise NotImplementedError


class TextComponents(ColumnEncoder):
    """Turn texts into the main components of their letter sequences; a gap is an empty text."""

    def __init__(self, n_components: int = TEXT_COMPONENTS) -> None:
        self.n_components = n_components

    def _read(self, column: pd.Series) -> pd.Series:
        return column.astype(object).where(column.notna(), "").astype(str)

    def _fitted(self, column: pd.Series) -> Any:
        from skrub import StringEncoder

        count = max(1, min(self.n_components, len(column) - 1))
        # A training split may have no text at all, of which there is nothing to learn.
        texts = column if column.str.strip().any() else column.map(lambda _: "-")
        return StringEncoder(n_components=count, random_state=0).fit(texts)


class DateParts(ColumnEncoder):
    """Turn dates into the time passed, the year, and where in year, month and week they are.

    What returns every year, month or week stands on a circle, so that December is beside January.
    Hours count where the dates have any; what is missing stays so.
    """

    def _fitted(self, column: pd.Series) -> Any:
        from skrub import DatetimeEncoder

        present = column.dropna()
        timed = bool((present != present.dt.normalize()).any())
        encoder = DatetimeEncoder(
            resolution="hour" if timed else "day", add_weekday=True, periodic_encoding="circular"
        )
        return encoder.fit(column)


def usable_inputs(
    inputs: pd.DataFrame, keep: Sequence[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the columns that learners can use, and notices about those left out.

    Parameters
    ----------
    inputs
        All columns that may be inputs.
    keep
        Those that stay, although they seem to name the rows alone.
    """
    identifiers = [str(name) for name in inputs if is_identifier(inputs[name])]
    identifiers = [name for name in identifiers if name not in keep]
    # What alone is there is used, whatever it seems to be.
    if len(identifiers) == inputs.shape[1]:
        identifiers = []
    usable = inputs.drop(columns=identifiers)
    truths = [name for name in usable.columns if pd.api.types.is_bool_dtype(usable[name])]
    usable = usable.astype(dict.fromkeys(truths, "category"))
    constant = [name for name in usable.columns if usable[name].nunique(dropna=False) < 2]
    if len(constant) == usable.shape[1]:
        constant = []  # Baselines can do without any; the others say so themselves.
    notices = []
    if identifiers:
        one = len(identifiers) == 1
        notices.append(
            f"{listed(identifiers)} only {'names' if one else 'name'} the rows, and "
            f"{'is' if one else 'are'} left out; keep (--keep of a command) brings "
            f"{'it' if one else 'them'} back."
        )
    empty = [name for name in constant if usable[name].isna().all()]
    if empty:
        notices.append(f"Columns without any value are left out: {', '.join(empty)}.")
    if alike := [name for name in constant if name not in empty]:
        notices.append(f"Columns with one value alone are left out: {', '.join(alike)}.")
    usable = usable.drop(columns=constant)
    texts = [name for name in usable if _kind(usable[name]) == "text"]
    hinted = [f"{name} ({hint})" for name in texts if (hint := column_hint(usable[name]))]
    if hinted:
        notices.append(f"Read as text: {', '.join(hinted)}.")
    return usable, tuple(notices)


def _kind(column: pd.Series) -> str:
    """Return how a column is prepared: as ordered, category, number, date or text."""
    if is_categorical(column):
        ordered = isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered
        return "ordered" if ordered else "category"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    return "date" if column.dtype.kind == "M" else "text"


def becomes(column: pd.Series) -> str:
    """Return what a column becomes for learners that use numbers alone, in words.

    Parameters
    ----------
    column
        A column of inputs.
    """
    if _is_word(column):
        return f"{TEXT_COMPONENTS} components, mean target"
    return {
        "ordered": "its rank",
        "category": f"{counted(column.nunique(), 'column')} of 0 and 1",
        "number": "as it is, scaled",
        "date": "time passed, season, weekday",
        "text": f"{TEXT_COMPONENTS} components",
    }[_kind(column)]


_LEFT = "left out"
#: What becomes of the columns that findings name.
_OUTCOMES = {
    "identifier": _LEFT,
    "constant": _LEFT,
    "group": "keeps its rows together",
}


def columns_become(data: Dataset, findings: Sequence[Finding]) -> list[str]:
    """Return what each column of a table becomes, or its role where it is no input.

    Parameters
    ----------
    data
        A data set.
    findings
        What deserves a look in it.
    """
    special = {
        name: _OUTCOMES[item.kind]
        for item in findings
        if item.kind in _OUTCOMES
        for name in item.columns
    }
    # What alone is there is used, whatever it seems to be.
    used = usable_inputs(data.inputs)[0].columns
    special = {name: words for name, words in special.items() if name not in used or words != _LEFT}
    return [
        special.get(name) or becomes(data.table[name]) if role == "input" else role
        for name, role in data.roles.items()
    ]


def _is_word(column: pd.Series) -> bool:
    """Tell whether a text is one of many categories that come again, such as a town."""
    return _kind(column) == "text" and column.nunique() <= column.notna().sum() / 2


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
        One of `PREPARATIONS` or `REDUCTIONS`, the latter perhaps with a number behind; all but "as
        needed" and "unscaled" prepare in any case.

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
    reduction = None if how in PREPARATIONS else read_reduction(how)
    # What is reduced was brought to one scale first, or the units would choose the components.
    how = how if reduction is None else "standardised"
    able = abilities(estimator)
    kinds = _by_kind(inputs)
    gaps = bool(inputs.isna().to_numpy().any())
    read = [*kinds["date"], *kinds["text"]]
    categories = [*kinds["ordered"], *kinds["category"]]
    can_use = (able.categorical or not categories) and (able.missing or not gaps)
    plain = how == "unscaled" or (how == "as needed" and (able.categorical or not scale))
    if can_use and plain and not read:
        return Prepared(estimator, "the table as it is")
    if can_use and plain:
        # Numbers and categories as they are; dates and texts become further columns.
        steps = _reading_steps(kinds, inputs, [], of_numbers=is_regressor(estimator))
        transformer = ColumnTransformer(
            [(step.name, step.transformer, step.columns) for step in steps],
            remainder="passthrough",
            verbose_feature_names_out=False,
        ).set_output(transform="pandas")
        words = f"the table as it is but for {', '.join(step.words for step in steps)}"
        return _behind(transformer, estimator, words, scale=scale)
    inverts = {base.__qualname__ for base in type(estimator).__mro__} & _INVERT_COVARIANCES
    table = _table_step(kinds, inputs, how, gaps=gaps, drop_first=bool(inverts))
    after = [_scaler(how, len(inputs))]
    steps = [*table, *_reading_steps(kinds, inputs, after, of_numbers=is_regressor(estimator))]
    words = ", ".join(step.words for step in steps)
    if len(steps) == 1 and kinds["number"] and not categories:
        # Numbers alone need no names, and may come as an array.
        fill = [SimpleImputer(strategy="median", keep_empty_features=True)] if gaps else []
        transformer = make_pipeline(*fill, *after)
    elif len(steps) == 1 and table:
        transformer = table[0].transformer
    else:
        transformer = ColumnTransformer([(s.name, s.transformer, s.columns) for s in steps])
    if reduction is not None:
        transformer = make_pipeline(transformer, reduction.transformer(estimator))
        words = f"{words}, then {reduction.words}"
    return _behind(transformer, estimator, words, scale=scale)


def is_preparation(how: Any) -> bool:
    """Return whether a word is the name of a preparation, or of a reduction with its number."""
    return how in PREPARATIONS or read_reduction(how) is not None


def _behind(transformer: Any, estimator: Any, words: str, *, scale: bool) -> Prepared:
    """Return the learner behind a transformer, with its targets scaled where it needs that."""
    names = {base.__qualname__ for base in type(estimator).__mro__}
    if not (scale and names & _UNIT_TARGETS):
        pipeline = make_pipeline(transformer, estimator)
        return Prepared(pipeline, words, transformer, f"{pipeline.steps[-1][0]}__")
    scaled = TransformedTargetRegressor(estimator, transformer=StandardScaler())
    pipeline = make_pipeline(transformer, scaled)
    prefix = f"{pipeline.steps[-1][0]}__regressor__"
    return Prepared(pipeline, f"{words}, targets scaled", transformer, prefix)


@dataclass(frozen=True)
class _Step:
    """Some columns, what is done to them, and that in words."""

    name: str
    transformer: Any
    columns: list[str]
    words: str


def _by_kind(inputs: pd.DataFrame) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {
        kind: [] for kind in ("number", "ordered", "category", "date", "text")
    }
    for name in inputs.columns:
        kinds[_kind(inputs[name])].append(name)
    return kinds


def _table_step(
    kinds: dict[str, list[str]], inputs: pd.DataFrame, how: str, *, gaps: bool, drop_first: bool
) -> list[_Step]:
    """Return what prepares numbers and categories; nothing where there are none."""
    numbers, ordered, categories = kinds["number"], kinds["ordered"], kinds["category"]
    words = []
    imputed = "imputed (median) and " if gaps else ""
    if numbers:
        words.append(f"numbers {imputed}{PREPARATIONS[how]}")
    if ordered:
        words.append(f"ordered categories {imputed}by rank")
    if categories:
        without = " (the first left out)" if drop_first else ""
        by_mode = imputed.replace("median", "mode")
        words.append(f"categories {by_mode}one-hot encoded{without}")
    if not words:
        return []
    encoder = TableEncoder(
        numbers,
        ordered,
        [list(inputs[name].cat.categories) for name in ordered],
        categories,
        impute=gaps,
        scaler=_scaler(how, len(inputs)),
        drop_first=drop_first,
    )
    return [_Step(TABLE_STEP, encoder, [*numbers, *ordered, *categories], ", ".join(words))]


def _reading_steps(
    kinds: dict[str, list[str]], inputs: pd.DataFrame, after: list[Any], *, of_numbers: bool
) -> list[_Step]:
    """Return what turns dates, repeated words and texts into numbers."""
    steps = []
    if kinds["date"]:
        fill = SimpleImputer(strategy="median", keep_empty_features=True)
        pipeline = make_pipeline(DateParts(), fill, *after)
        steps.append(_Step("dates", pipeline, kinds["date"], "dates as time and season"))
    words = [name for name in kinds["text"] if _is_word(inputs[name])]
    if words:
        # Whole numbers are no classes where a number is predicted.
        encoder = TargetEncoder(
            target_type="continuous" if of_numbers else "auto",
            cv=encoding_folds(),
        )
        pipeline = make_pipeline(AsObjects(), encoder, *after)
        steps.append(_Step("words", pipeline, words, "repeated words by their mean target"))
    if kinds["text"]:
        pipeline = make_pipeline(TextComponents(), *after)
        steps.append(_Step("texts", pipeline, kinds["text"], "texts as components"))
    return steps


def _scaler(how: str, n_rows: int) -> Any:
    if how == "unscaled":
        return FunctionTransformer()
    if how == "unit range":
        # Rows to predict may lie beyond the training rows, and the range is to hold for them too.
        return MinMaxScaler(clip=True)
    if how == "ranks":
        return QuantileTransformer(n_quantiles=min(1000, max(2, n_rows // 4)), random_state=0)
    return StandardScaler()
