"""Naive Bayes for tables as they come: categories, counts, numbers and missing values."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import (
    ByClass,
    Chunk,
    Classifier,
    DataError,
    DataWarning,
    EncodedTable,
    Interval,
    OnePassClassifier,
    StrOptions,
    TableSchema,
    as_frame,
    check_is_fitted,
    check_same_kinds,
    encode_table,
    map_rows,
    named_kinds,
    read_schema,
    validate_data,
)
from verulam.numerics import PosteriorMixin
from verulam.parametric._class_parameters import PRIORS, class_priors, log_priors
from verulam.parametric._column_models import (
    LOG_ZERO,
    CategoricalColumns,
    ColumnSums,
    GaussianColumns,
    LinearColumns,
    bernoulli_columns,
    categorical_columns,
    first_positions,
    gaussian_columns,
    multinomial_columns,
    sum_columns,
)
from verulam.parametric._explanation import Explanation, explain_rows

#: A log-likelihood below this contains an event of probability 0; others are far above.
IMPOSSIBLE = 0.1 * LOG_ZERO
KINDS = ("gaussian", "categorical", "bernoulli", "multinomial")


@dataclass(frozen=True)
class NaiveBayesParameters:
    """The fitted parameters, named as the attributes of the classifier."""

    priors: np.ndarray
    schema: TableSchema
    gaussian: GaussianColumns
    bernoulli: LinearColumns
    multinomial: LinearColumns
    categorical: CategoricalColumns


class NaiveBayes(PosteriorMixin, OnePassClassifier, Classifier):
    r"""Choose the most probable class as if the columns were independent within a class.

    Columns of pandas dtype ``category`` or ``bool`` are categorical, numbers are Gaussian, and
    `kinds` says otherwise. Missing values are skipped, in training and prediction alike.

    Parameters
    ----------
    alpha
        Pseudo-count added to each category (Laplace smoothing); 0 gives the plain frequencies.
    kinds
        Kind of some columns by name (or position for arrays): "gaussian", "categorical",
        "bernoulli" for 0 and 1, or "multinomial" for counts, such as of words; the counts of
        all multinomial columns are shares of one whole.
    priors
        Prior of each class in the order of the sorted labels, "equal", or None for the
        shares in the training data.
    variance_floor
        Least variance of a Gaussian, as a fraction of its column's total variance.
    unseen
        What to do with a category that was not there in training: "error", or "skip" to
        treat it as missing.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    schema_ : TableSchema
        Columns and categories found in training.
    gaussian_, bernoulli_, multinomial_, categorical_
        The fitted models of the columns of each kind.
    statistics_ : ByClass
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: P(C_k \mid x) \propto P(C_k) \prod_j p(x_j \mid C_k)

    with :math:`p(x_j = v \mid C_k) = (n_{jkv} + \alpha) / (n_{jk} + \alpha V_j)` for a
    categorical column of :math:`V_j` categories. See SIT1305 II.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.parametric import NaiveBayes
    >>> X = pd.DataFrame({"sky": ["sun", "sun", "rain", "rain"], "heat": [30.0, 27.0, 19.0, None]})
    >>> X["sky"] = X["sky"].astype("category")
    >>> classifier = NaiveBayes(alpha=1).fit(X, ["out", "out", "in", "in"])
    >>> print(classifier.explain(X[:1])[0])
    Predicted 'out' with probability 1.000; log-odds against 'in':
      prior      +0.000
      sky = sun  +1.099
      heat = 30  ...
      total      ...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "kinds": [dict, None],
        "priors": PRIORS,
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
        "unseen": [StrOptions({"error", "skip"})],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        kinds: Mapping[str | int, str] | None = None,
        priors: ArrayLike | str | None = None,
        variance_floor: float = 1e-9,
        unseen: str = "error",
    ) -> None:
        self.alpha = alpha
        self.kinds = kinds
        self.priors = priors
        self.variance_floor = variance_floor
        self.unseen = unseen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_inputs(self, X: Any, reset: bool) -> EncodedTable:
        """Return the table encoded: by its own schema in training, by the fitted one after."""
        kinds = self._checked_kinds()
        declared = named_kinds(kinds, "categorical")
        mixed = isinstance(X, pd.DataFrame) and not all(map(_is_plain_number, X.dtypes))
        if not (mixed or declared):
            numbers = validate_data(
                self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
            )
            return self._numeric_table(numbers, X)
        frame = as_frame(X)
        validate_data(self, frame, reset=reset, skip_check_array=True)
        if len(frame) == 0:
            raise DataError("Found array with 0 sample(s): X has no rows.")
        return encode_table(frame, read_schema(frame, declared))

    def _numeric_table(self, numbers: np.ndarray, X: Any) -> EncodedTable:
        names = tuple(X.columns) if isinstance(X, pd.DataFrame) else tuple(range(numbers.shape[1]))
        codes = np.empty((len(numbers), 0), dtype=np.int32)
        return EncodedTable(TableSchema(names, (None,) * len(names)), numbers, codes)

    def _checked_kinds(self) -> Mapping[str | int, str]:
        kinds = self.kinds or {}
        for name, kind in kinds.items():
            if kind not in KINDS:
                raise DataError(f"kinds[{name!r}] is {kind!r}; expected one of {', '.join(KINDS)}.")
        return kinds

    def _statistics(self, chunk: Chunk, parameters: None) -> ByClass[ColumnSums]:
        assert chunk.classes is not None
        self._check_numbers(chunk.inputs)
        return ByClass(chunk.classes, sum_columns(chunk))

    def _check_numbers(self, table: EncodedTable) -> None:
        """Raise where a column's numbers do not fit the kind that was declared."""
        for name, kind in self._checked_kinds().items():
            if name not in table.schema.names:
                raise DataError(f"kinds names the column {name!r}, which the table does not have.")
            if kind in ("bernoulli", "multinomial") and name in table.schema.numeric:
                numbers = table.numbers[:, table.schema.numeric.index(name)]
                wrong = numbers < 0 if kind == "multinomial" else (numbers != 0) & (numbers != 1)
                wrong &= ~np.isnan(numbers)
                if wrong.any():
                    accepted = "counts of at least 0" if kind == "multinomial" else "0 and 1"
                    raise DataError(
                        f"Column {name!r} is {kind} and has the value "
                        f"{numbers[wrong][0]:.6g}; accepted are {accepted}."
                    )

    def _update(self, statistics: ByClass[ColumnSums]) -> NaiveBayesParameters:
        sums = statistics.statistics
        kinds = [self._checked_kinds().get(name, "gaussian") for name in sums.schema.numeric]
        positions = {kind: np.flatnonzero(np.array(kinds) == kind) for kind in KINDS}
        self._warn_of_empty_columns(sums)
        first = first_positions(sums.schema)
        return NaiveBayesParameters(
            priors=class_priors(self.priors, sums.weight),
            schema=sums.schema,
            gaussian=gaussian_columns(positions["gaussian"], sums.numbers, self.variance_floor),
            bernoulli=bernoulli_columns(positions["bernoulli"], sums.numbers, self.alpha),
            multinomial=multinomial_columns(positions["multinomial"], sums.numbers, self.alpha),
            categorical=categorical_columns(sums.counts, first, len(sums.weight), self.alpha),
        )

    def _warn_of_empty_columns(self, sums: ColumnSums) -> None:
        schema = sums.schema
        pairs = [(name, sums.numbers.weight[:, j].sum()) for j, name in enumerate(schema.numeric)]
        pairs += zip(schema.categorical, (c.sum() for c in sums.counts), strict=True)
        empty = [name for name, weight in pairs if weight == 0]
        if empty:
            warnings.warn(
                f"All values are missing in {', '.join(map(repr, empty[:8]))}: "
                "such columns cannot inform the prediction.",
                DataWarning,
                stacklevel=2,
            )

    def _encode(self, X: Any) -> EncodedTable:
        """Return rows to predict, encoded by the fitted schema."""
        check_is_fitted(self)
        if not self.schema_.categorical and not isinstance(X, pd.DataFrame):
            return self._check_inputs(X, reset=False)
        frame = as_frame(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        if len(frame) == 0:
            raise DataError("Found array with 0 sample(s): X has no rows.")
        # Names were compared above, where both have them; from here on positions count.
        frame = frame.set_axis(list(self.schema_.names), axis=1)
        check_same_kinds(self.schema_, frame)
        return encode_table(
            frame, self.schema_, unseen="error" if self.unseen == "error" else "missing"
        )

    def _joint_log_likelihood(self, X: Any) -> np.ndarray:
        table = self._encode(X)
        joint = map_rows(self._joint_of_chunk, table, (len(table), len(self.classes_)))
        impossible = joint.max(axis=1) < IMPOSSIBLE
        if impossible.any():
            warnings.warn(
                f"{impossible.sum()} rows are impossible under every class, because alpha=0 gives "
                "unobserved categories probability 0; their posteriors are the priors.",
                DataWarning,
                stacklevel=2,
            )
            # Minus infinity for all classes would make every posterior a NaN.
            joint[impossible] = log_priors(self.priors_)
        return joint

    def _joint_of_chunk(self, table: EncodedTable) -> np.ndarray:
        joint = np.tile(log_priors(self.priors_), (len(table), 1))
        for model in (self.gaussian_, self.bernoulli_, self.multinomial_, self.categorical_):
            model.add_terms(joint, table)
        return joint

    def predict_joint_proba(self, X: ArrayLike) -> np.ndarray:
        """Return prior times likelihood of each class, before normalisation."""
        return np.exp(self._joint_log_likelihood(X))

    def explain(self, X: ArrayLike) -> list[Explanation]:
        """Return for each row what its columns say for the predicted class and against the next."""
        table = self._encode(X)
        terms = column_terms(self, table)
        return explain_rows(table, terms, log_priors(self.priors_), self.classes_)


def column_terms(classifier: NaiveBayes, table: EncodedTable) -> dict[str | int, np.ndarray]:
    """Return each column's log-likelihood of shape (n_rows, n_classes), by column name."""
    terms: dict[str | int, np.ndarray] = {}
    n_classes = len(classifier.classes_)
    numeric = table.schema.numeric
    for group in (classifier.gaussian_, classifier.bernoulli_, classifier.multinomial_):
        for order, position in enumerate(group.positions):
            terms[numeric[position]] = np.zeros((len(table), n_classes))
            group.alone(order).add_terms(terms[numeric[position]], table)
    for position, name in enumerate(table.schema.categorical):
        terms[name] = np.zeros((len(table), n_classes))
        alone = EncodedTable(
            table.schema, table.numbers, np.ascontiguousarray(table.codes[:, [position]])
        )
        model = classifier.categorical_
        # The tables of all columns lie end to end; one column alone starts at its own.
        CategoricalColumns(model.first[position:], model.log_probabilities).add_terms(
            terms[name], alone
        )
    return {name: terms[name] for name in table.schema.names}


def _is_plain_number(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iuf"
