"""Rule-based classifiers: tables in, classes, probabilities and explanations out."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    Classifier,
    DataError,
    DataWarning,
    StrOptions,
    TableSchema,
    check_is_fitted,
    check_weights,
    checked_fit,
    encode_classes,
)
from verulam.numerics import announced
from verulam.rule._base import Rule, RuleBase
from verulam.rule._term import column_place, name_text
from verulam.tree import encode_rows, read_rows


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """A training table, encoded; rows without weight are left out.

    Attributes
    ----------
    schema
        Columns and categories.
    rows
        Numbers and codes of categories; NaN where missing.
    codes
        Class code of each row.
    classes
        Sorted labels.
    weights
        Weight of each row.
    """

    schema: TableSchema
    rows: NDArray[np.float64]
    codes: NDArray[np.intp]
    classes: np.ndarray
    weights: NDArray[np.float64]

    @property
    def class_weights(self) -> NDArray[np.float64]:
        """The weight of each class."""
        counts = np.bincount(self.codes, self.weights, minlength=len(self.classes))
        return counts.astype(np.float64)


@dataclass(frozen=True)
class RuleExplanation:
    """The rules behind one prediction.

    Attributes
    ----------
    label
        The predicted class.
    probability
        Share of that class among the training rows that the same rules decided.
    rules
        The rules that spoke, each with its number from 1; none where the default decided.
    values
        What the row had in the columns that they looked at, by column.
    """

    label: Any
    probability: float
    rules: tuple[tuple[int, Rule], ...]
    values: dict[Any, str]

    def __str__(self) -> str:
        label = self.label.item() if isinstance(self.label, np.generic) else self.label
        lines = [f"Predicted {label!r} with probability {self.probability:.3f}"]
        if not self.rules:
            lines[0] += ": no rule covers the row"
        lines += [f"  R{number}: {rule}" for number, rule in self.rules]
        lines += [f"  {name_text(name)} = {value}" for name, value in self.values.items()]
        return "\n".join(lines)


class RuleClassifier(Classifier):
    """Base of the classifiers whose model is a rule base, `rules_`."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "unseen": [StrOptions({"error", "missing"})],
    }

    unseen: str
    rules_: RuleBase
    classes_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Make the rule base from a table, its labels and the weights of its rows."""
        training = self._read(X, y, sample_weight)
        _warn_of_odd_data(training)
        with announced("verulam.rule"):
            self._store(self._learn(training))
        return self

    def _learn(self, training: TrainingSet) -> RuleBase:
        """Return the rule base of a training table."""
        raise NotImplementedError(f"{type(self).__name__} must define _learn.")

    def _read(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSet:
        """Return the training table, checked and encoded."""
        schema, rows = self._read_table(X)
        codes, classes = encode_classes(self, y)
        if len(codes) != len(rows):
            raise DataError(
                "Found input variables with inconsistent numbers of samples: X has "
                f"{len(rows)} rows and y has {len(codes)}."
            )
        weights = check_weights(sample_weight, rows)
        if weights is None:
            weights = np.ones(len(rows))
        elif (weights == 0).any():
            counted = weights > 0
            if not counted.any():
                raise DataError(
                    "sample_weight is zero for every row: at least one positive weight is needed."
                )
            rows, codes, weights = rows[counted], codes[counted], weights[counted]
        # Read-only weights would have the loops compiled anew.
        weights = np.require(weights, requirements=["C", "W"])
        return TrainingSet(schema, rows, codes, classes, weights)

    def _read_table(self, X: ArrayLike) -> tuple[TableSchema, NDArray[np.float64]]:
        """Return the schema of a training table and its rows, encoded."""
        return read_rows(self, X)

    def _store(self, base: RuleBase) -> None:
        assert base.classes is not None
        self.rules_ = base
        self.classes_ = base.classes

    def _encode(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return encode_rows(self, X, self.rules_.schema, unseen=self.unseen)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return what the rules conclude for each row."""
        rows = self._encode(X)
        return self.rules_.conclude(rows)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the share of each class among the training rows that the same rules decided."""
        rows = self._encode(X)
        votes = self.rules_.votes(rows)
        return votes / votes.sum(axis=1, keepdims=True)

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return for each row the place of the first rule that covers it, or their number."""
        rows = self._encode(X)
        return self.rules_.decide(rows)

    def explain(self, X: ArrayLike) -> list[RuleExplanation]:
        """Return for each row the rules behind its prediction, and what they looked at."""
        rows = self._encode(X)
        base = self.rules_
        predicted = base.conclude(rows)
        shares = base.votes(rows)
        shares /= shares.sum(axis=1, keepdims=True)
        covered = base.coverage(rows)
        explanations = []
        for row, label in enumerate(predicted):
            speaking: list[tuple[int, Rule]] = [
                (int(place) + 1, base.rules[place]) for place in np.flatnonzero(covered[row])
            ]
            if base.ordered:
                # Of a list, the first rule that covers a row has decided alone.
                speaking = speaking[:1]
            probability = float(shares[row, base.classes == label][0])
            values = _row_values(rows[row], base.schema, [rule for _, rule in speaking])
            explanations.append(RuleExplanation(label, probability, tuple(speaking), values))
        return explanations


def _warn_of_odd_data(training: TrainingSet) -> None:
    """Warn of columns without any value, and of a target without anything to tell apart."""
    empty = np.isnan(training.rows).all(axis=0)
    if empty.any():
        names = [repr(training.schema.names[place]) for place in np.flatnonzero(empty)[:8]]
        warnings.warn(
            f"All values are missing in {', '.join(names)}: no rule can use such columns.",
            DataWarning,
            stacklevel=4,
        )
    if (training.codes == training.codes[0]).all():
        label = training.classes.tolist()[training.codes[0]]
        warnings.warn(
            f"y has one class, {label!r}: it is the answer to every row, without any rule.",
            DataWarning,
            stacklevel=4,
        )


def _row_values(
    row: NDArray[np.float64], schema: TableSchema, rules: Sequence[Rule]
) -> dict[Any, str]:
    """Return what an encoded row has in the columns that the rules look at."""
    values: dict[Any, str] = {}
    for term in (term for rule in rules for term in rule.terms):
        place = column_place(term.column, schema)
        categories = schema.categories[place]
        if np.isnan(row[place]):
            values[term.column] = "missing"
        elif categories is None:
            values[term.column] = f"{row[place]:.6g}"
        else:
            values[term.column] = str(categories[int(row[place])])
    return values
