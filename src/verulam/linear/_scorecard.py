"""Scorecards: a logistic discriminant of attributes, written as points that are added up."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils import Tags

from verulam.base import (
    Classifier,
    DataError,
    EncodedTable,
    Interval,
    TableSchema,
    as_frame,
    check_classification_targets,
    check_is_fitted,
    check_same_kinds,
    checked_fit,
    encode_table,
    is_categorical,
    read_schema,
    refuse_duplicate_names,
    validate_data,
)
from verulam.linear._logistic.logistic import LogisticDiscriminant
from verulam.linear._training.trainer import LinearTrainer, check_two_classes


@dataclass(frozen=True)
class Characteristic:
    """A column of the table, and the attributes that its values are sorted into.

    Attributes
    ----------
    name
        The column.
    cuts
        Ends of the ranges of a numeric column, the last open; empty for categories.
    attributes
        A name for each range or category, and "missing" at the end.
    """

    name: str
    cuts: np.ndarray
    attributes: tuple[str, ...]


class Scorecard(Classifier):
    r"""Give points for every attribute of an applicant; the more points, the better the odds.

    Numeric columns are cut into ranges, categories are taken as they are, and gaps are an attribute
    of their own. A logistic discriminant weighs the attributes.

    Parameters
    ----------
    favourable
        Class whose odds the points stand for; None takes the second of the sorted labels.
    n_ranges
        Ranges that each numeric column is cut into, with about as many rows each.
    base_points
        Points at which the odds are `base_odds` to one.
    base_odds
        Odds of the favourable class at `base_points`.
    double_points
        Points that double the odds.
    alpha
        Factor of the squared penalty on the weights of the attributes.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Sorted class labels.
    characteristics_ : list of Characteristic
        Columns and their attributes.
    coef_ : ndarray of shape (n_attributes,)
        Weight of each attribute in the log-odds of the favourable class.
    intercept_ : float
        Bias.
    attribute_rows_ : ndarray of shape (n_attributes,)
        Training rows that have each attribute.
    attribute_favourable_ : ndarray of shape (n_attributes,)
        Those of them in the favourable class.

    Notes
    -----
    .. math:: \text{points} = \text{base} + \frac{d}{\log 2} \left( g(x) - \log o \right)

    where :math:`g` is the log-odds, a sum of one weight for each column and the bias;
    :math:`d` doubles the odds, which are :math:`o` at the base. The worst attribute of each
    column has no points. See Alpaydin 10.2, where a linear discriminant is a credit score.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.linear import Scorecard
    >>> table = pd.DataFrame({"income": [10, 12, 20, 22, 30, 32, 40, 44]})
    >>> table["home"] = pd.Categorical(["rents", "owns", "rents", "owns"] * 2)
    >>> outcome = ["bad", "bad", "bad", "good", "bad", "good", "good", "good"]
    >>> card = Scorecard(n_ranges=2, base_odds=1.0).fit(table, outcome)
    >>> card.card()[["rows", "favourable", "points"]]
                              rows  favourable  points
    characteristic attribute
    start                        8        0.50     570
    income         up to 22      4        0.25       0
                   above 22      4        0.75      30
    home           owns          4        0.75      30
                   rents         4        0.25       0
    >>> card.points(table[-1:])
    array([630])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "favourable": "no_validation",
        "n_ranges": [Interval(Integral, 2, None, closed="left")],
        "base_points": [Interval(Real, None, None, closed="neither")],
        "base_odds": [Interval(Real, 0, None, closed="neither")],
        "double_points": [Interval(Real, 0, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        favourable: Any = None,
        n_ranges: int = 5,
        base_points: float = 600.0,
        base_odds: float = 50.0,
        double_points: float = 20.0,
        alpha: float = 1.0,
    ) -> None:
        self.favourable = favourable
        self.n_ranges = n_ranges
        self.base_points = base_points
        self.base_odds = base_odds
        self.double_points = double_points
        self.alpha = alpha

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, np.ndarray]:
        return LinearTrainer._example_data()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on rows of a table `X`, which may have categories and gaps, of two classes `y`."""
        table, targets = self._read(X, y)
        check_classification_targets(targets)
        self.classes_ = np.unique(targets)
        check_two_classes(self.classes_, "Scorecard")
        good = targets == self._favourable()
        self.schema_ = table.schema
        self.characteristics_ = find_characteristics(table, self.n_ranges)
        indicators = self._indicators(table)
        model = LogisticDiscriminant(alpha=self.alpha).fit(indicators, good)
        self.coef_, self.intercept_ = model.coef_[0], float(model.intercept_[0])
        self.attribute_rows_ = np.asarray(indicators.sum(axis=0)).ravel()
        self.attribute_favourable_ = np.asarray(indicators[good].sum(axis=0)).ravel()
        return self

    def _favourable(self) -> Any:
        if self.favourable is None:
            return self.classes_[1]
        if self.favourable not in self.classes_:
            raise DataError(
                f"favourable={self.favourable!r} is not among the classes {self.classes_.tolist()}."
            )
        return self.favourable

    def _read(self, X: Any, y: ArrayLike) -> tuple[EncodedTable, np.ndarray]:
        if _is_mixed(X):
            _, targets = validate_data(self, X, y, skip_check_array=True)
            targets = np.asarray(targets)
            if len(targets) != len(X):
                raise DataError(f"X has {len(X)} rows, but y has {len(targets)}.")
            return encode_table(X, read_schema(X)), targets
        numbers, targets = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return _numeric_table(numbers, X), targets

    def _encode(self, X: Any) -> EncodedTable:
        check_is_fitted(self)
        if not self.schema_.categorical and not _is_mixed(X):
            numbers = validate_data(
                self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
            )
            return EncodedTable(self.schema_, numbers, np.empty((len(numbers), 0), dtype=np.int32))
        validate_data(self, X, reset=False, skip_check_array=True)
        frame = as_frame(X).set_axis(list(self.schema_.names), axis=1)
        check_same_kinds(self.schema_, frame)
        return encode_table(frame, self.schema_)

    def _indicators(self, table: EncodedTable) -> Any:
        """Return one column for each attribute, one where a row has it."""
        columns = attribute_codes(table, self.characteristics_)
        sizes = [len(column.attributes) for column in self.characteristics_]
        places = (columns + np.cumsum([0, *sizes[:-1]])).ravel()
        starts = np.arange(len(table) + 1) * len(sizes)
        shape = (len(table), sum(sizes))
        return sp.csr_array((np.ones(len(places)), places, starts), shape=shape)

    @property
    def _factor(self) -> float:
        return float(self.double_points / np.log(2.0))

    def _points(self) -> tuple[float, np.ndarray]:
        """Return the points of the start and of each attribute, before rounding."""
        # Shifting a characteristic's points so that its worst attribute has none moves the same
        # amount into the start: sums stay as they are.
        start = self.base_points + self._factor * (self.intercept_ - np.log(self.base_odds))
        points = self._factor * self.coef_
        for part in self._parts():
            least = points[part].min()
            points[part] -= least
            start += least
        return start, points

    def _parts(self) -> list[slice]:
        ends = np.cumsum([0] + [len(column.attributes) for column in self.characteristics_])
        return [slice(low, high) for low, high in pairwise(ends)]

    def card(self) -> pd.DataFrame:
        """Return the card to print: rounded points of each attribute, under those of the start.

        Beside the points are the training rows that have the attribute, their favourable share
        and the weight in the log-odds. Attributes that no row had are left out.
        """
        check_is_fitted(self)
        start, points = self._points()
        rows, favourable = self.attribute_rows_, self.attribute_favourable_
        # Each row has one attribute of the first column.
        first = self._parts()[0]
        total, good = rows[first].sum(), favourable[first].sum()
        names = [
            (column.name, text) for column in self.characteristics_ for text in column.attributes
        ]
        seen = np.flatnonzero(rows)
        index = pd.MultiIndex.from_tuples(
            [("start", ""), *(names[place] for place in seen)],
            names=["characteristic", "attribute"],
        )
        return pd.DataFrame(
            {
                "rows": np.r_[total, rows[seen]].astype(np.int64),
                "favourable": np.r_[good / total, favourable[seen] / rows[seen]],
                "weight": np.r_[self.intercept_, self.coef_[seen]],
                "points": np.rint(np.r_[start, points[seen]]).astype(np.int64),
            },
            index=index,
        )

    def points(self, X: Any, *, rounded: bool = True) -> np.ndarray:
        """Return the points of each row.

        Parameters
        ----------
        X
            Rows of a table.
        rounded
            Whether to add the rounded points of the card, as one would by hand.
        """
        indicators = self._indicators(self._encode(X))
        start, points = self._points()
        if rounded:
            return (indicators @ np.rint(points) + np.rint(start)).astype(np.int64)
        return indicators @ points + start

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second class."""
        log_odds = self._indicators(self._encode(X)) @ self.coef_ + self.intercept_
        return log_odds if self._favourable() == self.classes_[1] else -log_odds

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the posterior of each class."""
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict(self, X: Any) -> np.ndarray:
        """Return the likelier class of each row."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.int64)]


def _is_mixed(X: Any) -> bool:
    if not isinstance(X, pd.DataFrame):
        return False
    refuse_duplicate_names(X.columns)
    return any(
        is_categorical(X[name]) or not pd.api.types.is_numeric_dtype(X[name]) for name in X.columns
    )


def _numeric_table(numbers: np.ndarray, X: Any) -> EncodedTable:
    named = isinstance(X, pd.DataFrame)
    names = tuple(X.columns) if named else tuple(f"input {j}" for j in range(numbers.shape[1]))
    codes = np.empty((len(numbers), 0), dtype=np.int32)
    return EncodedTable(TableSchema(names, (None,) * len(names)), numbers, codes)


def find_characteristics(table: EncodedTable, n_ranges: int) -> list[Characteristic]:
    """Return the attributes of each column: ranges between quantiles, or categories."""
    characteristics, numeric = [], 0
    for name, categories in zip(table.schema.names, table.schema.categories, strict=True):
        if categories is not None:
            texts = tuple(str(category) for category in categories)
            characteristics.append(Characteristic(str(name), np.empty(0), (*texts, "missing")))
            continue
        numbers = table.numbers[:, numeric]
        numeric += 1
        cuts = _cuts(numbers[~np.isnan(numbers)], n_ranges)
        characteristics.append(Characteristic(str(name), cuts, (*_ranges(cuts), "missing")))
    return characteristics


def _cuts(numbers: np.ndarray, n_ranges: int) -> np.ndarray:
    if len(numbers) == 0:
        return np.empty(0)
    shares = np.linspace(0, 1, n_ranges + 1)[1:-1]
    # Values of the column itself: ranges between them cannot be empty.
    cuts = np.unique(np.quantile(numbers, shares, method="lower"))
    # Beyond the largest value there is nothing to cut off.
    return cuts[cuts < numbers.max()]


def _ranges(cuts: np.ndarray) -> list[str]:
    if len(cuts) == 0:
        return ["any"]
    texts = [f"{cut:.6g}" for cut in cuts]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"up to {texts[0]}", *between, f"above {texts[-1]}"]


def attribute_codes(table: EncodedTable, characteristics: Sequence[Characteristic]) -> np.ndarray:
    """Return for each row and column the number of its attribute."""
    codes = np.empty(table.shape, dtype=np.int64)
    numeric = categorical = 0
    columns = zip(characteristics, table.schema.categories, strict=True)
    for place, (characteristic, categories) in enumerate(columns):
        missing = len(characteristic.attributes) - 1
        if categories is None:
            numbers = table.numbers[:, numeric]
            ranges = np.searchsorted(characteristic.cuts, numbers, side="left")
            codes[:, place] = np.where(np.isnan(numbers), missing, ranges)
            numeric += 1
        else:
            categories_met = table.codes[:, categorical]
            codes[:, place] = np.where(categories_met < 0, missing, categories_met)
            categorical += 1
    return codes
