"""Hypothesis classes of one rule: axis-aligned boxes, and conjunctions of thresholds."""

from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    DataError,
    StrOptions,
    TableSchema,
    check_is_fitted,
    validate_data,
)
from verulam.rule._base import Rule, RuleBase, measured
from verulam.rule._boxes.box_search import (
    Box,
    least_error_box,
    least_error_thresholds,
    loosest_boxes,
    midway_box,
    tightest_box,
)
from verulam.rule._classifier import RuleClassifier, TrainingSet
from verulam.rule._term import Term

#: The sides of a threshold that each direction allows.
_SIGNS = {"above": (1.0,), "below": (-1.0,), "either": (1.0, -1.0)}


class _NumericRule(RuleClassifier):
    """A rule of numbers for one class of two; the other is the default."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {"positive": "no_validation"}
    positive: Any
    unseen = "error"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.allow_nan = False
        tags.classifier_tags.multi_class = False
        return tags

    def _read_table(self, X: ArrayLike) -> tuple[TableSchema, NDArray[np.float64]]:
        rows = validate_data(self, X, dtype=np.float64, order="C")
        names = getattr(self, "feature_names_in_", range(rows.shape[1]))
        return TableSchema(tuple(names), (None,) * rows.shape[1]), rows

    def _read(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSet:
        training = super()._read(X, y, sample_weight)
        if len(training.classes) > 2:
            raise DataError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"it has {len(training.classes)} classes."
            )
        if np.count_nonzero(training.class_weights) < 2:
            raise DataError(
                "y has one class only (of positive weight); a class is learned from examples of "
                "it and of others."
            )
        return training

    def _encode(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def _positive_code(self, classes: np.ndarray) -> int:
        if self.positive is None:
            return 1
        matches = np.flatnonzero(classes == self.positive)
        if len(matches) == 0:
            known = ", ".join(map(repr, classes.tolist()))
            raise DataError(f"positive is {self.positive!r}; the classes are {known}.")
        return int(matches[0])

    def _conclude(self, training: TrainingSet, terms: list[Term], code: int) -> RuleBase:
        """Return the rule, and note how often it is wrong."""
        label, other = training.classes[code], training.classes[1 - code]
        base = RuleBase(
            (Rule(tuple(terms), label),), Rule((), other), training.schema, training.classes
        )
        inside = base.decide(training.rows) == 0
        belongs = training.codes == code
        self.false_positives_ = float(training.weights[inside & ~belongs].sum())
        self.false_negatives_ = float(training.weights[~inside & belongs].sum())
        return measured(base, training.rows, training.codes, training.weights)


class BoxClassifier(_NumericRule):
    r"""Learn a class as a box: every column between two bounds.

    Parameters
    ----------
    hypothesis
        Which of the boxes without errors to choose: "specific" for the tightest, S; "general" for
        one of the loosest, G; "midway" for the one halfway between the two, which keeps the
        largest margin on each side. Where every box has errors, one of few errors is chosen.
    positive
        The class to learn; None for the last of the two labels in order.

    Attributes
    ----------
    box_ : Box
        The chosen box.
    specific_ : Box
        S, the tightest box around all examples of the class.
    general_ : tuple of Box
        G, all boxes that cannot be made larger without taking in a counter-example, which lie on
        their borders; empty where every box has errors.
    false_positives_, false_negatives_ : float
        Weight of the training rows wrongly taken in, and wrongly left out; their sum is the
        empirical error.
    rules_ : RuleBase
        The box as a rule.
    classes_ : ndarray of shape (2,)
        Sorted class labels.

    Notes
    -----
    .. math:: h(x) = 1 \text{ iff } a_j \le x_j \le b_j \text{ for all } j, \qquad
              E(h) = \sum_t 1(h(x^t) \ne r^t)

    All boxes between S and one of G are consistent with the examples: they are the version
    space. Where they disagree, `in_doubt` says so. With noise, each column's interval is improved
    in turn, from several starts. See SIT1305 I.

    Examples
    --------
    Family cars by price and engine power:

    >>> from verulam.rule import BoxClassifier
    >>> X = [[14, 100], [16, 150], [18, 120], [8, 60], [30, 130], [15, 250], [17, 40]]
    >>> y = ["family"] * 3 + ["other"] * 4
    >>> learner = BoxClassifier(positive="family").fit(X, y)
    >>> print(learner.rules_.rules[0])
    IF column 0 <= 24 AND column 1 >= 80 AND column 1 <= 200 THEN family
    >>> learner.in_doubt([[16, 120], [19, 120], [40, 40]]).tolist()
    [False, True, False]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_NumericRule._parameter_constraints,
        "hypothesis": [StrOptions({"specific", "general", "midway"})],
    }

    def __init__(self, *, hypothesis: str = "midway", positive: Any = None) -> None:
        self.hypothesis = hypothesis
        self.positive = positive

    def _learn(self, training: TrainingSet) -> RuleBase:
        code = self._positive_code(training.classes)
        belongs = training.codes == code
        negatives = training.rows[~belongs]
        self.specific_ = tightest_box(training.rows[belongs])
        self.general_: tuple[Box, ...] = ()
        if self.specific_.contains(negatives).any():
            signed = np.where(belongs, training.weights, -training.weights)
            self.box_ = least_error_box(training.rows, signed)
        else:
            if self.hypothesis != "specific":
                self.general_ = loosest_boxes(self.specific_, negatives)
            self.box_ = self._consistent_box()
        terms = box_terms(self.box_, training.schema, self._strict())
        return self._conclude(training, terms, code)

    def _strict(self) -> bool:
        """Tell whether the bounds are counter-examples, and so outside."""
        return self.hypothesis == "general" and bool(self.general_)

    def _consistent_box(self) -> Box:
        if self.hypothesis == "specific":
            return self.specific_
        # The most open of the loosest boxes; of those, the first.
        widest = max(
            self.general_,
            key=lambda box: np.isinf(np.concatenate([box.lower, box.upper])).sum(),
        )
        return widest if self.hypothesis == "general" else midway_box(self.specific_, widest)

    def in_doubt(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return where the boxes of the version space disagree: outside S, yet inside one of G."""
        rows = self._encode(X)
        if not self.general_:
            raise DataError(
                "There is no version space: every box has errors, or hypothesis='specific' left "
                "the loosest boxes out."
            )
        possible = np.zeros(len(rows), dtype=bool)
        for box in self.general_:
            possible |= ((rows > box.lower) & (rows < box.upper)).all(axis=1)
        return possible & ~self.specific_.contains(rows)


class ThresholdRule(_NumericRule):
    r"""Learn a class as a conjunction of thresholds: income > a AND savings > b.

    Parameters
    ----------
    directions
        On which side of its threshold the class lies: "above", "below", "either" to find out,
        or one of these for each column.
    positive
        The class to learn; None for the last of the two labels in order.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_columns,)
        Threshold of each column; infinite where the column is not needed.
    false_positives_, false_negatives_ : float
        Weight of the training rows wrongly taken in, and wrongly left out; their sum is the
        empirical error.
    rules_ : RuleBase
        The rule.
    classes_ : ndarray of shape (2,)
        Sorted class labels.

    Notes
    -----
    The thresholds minimise the empirical error, exactly with one or two columns, in
    :math:`O(N \log N)`; with more, pairs of columns are improved in turn, and "either" is the
    side on which the mean of the class lies. See SIT1305 I.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.rule import ThresholdRule
    >>> X = pd.DataFrame({"income": [20, 60, 55, 25, 70, 40], "savings": [9, 8, 1, 2, 6, 7]})
    >>> y = ["high risk", "low risk", "high risk", "high risk", "low risk", "low risk"]
    >>> print(ThresholdRule().fit(X, y).rules_)
    R1: IF income > 32.5 AND savings > 4 THEN low risk  (support 50.0%, confidence 100.0%)
    ELSE high risk  (support 50.0%, confidence 100.0%)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_NumericRule._parameter_constraints,
        "directions": [StrOptions(set(_SIGNS)), "array-like"],
    }

    def __init__(self, *, directions: Any = "either", positive: Any = None) -> None:
        self.directions = directions
        self.positive = positive

    def _learn(self, training: TrainingSet) -> RuleBase:
        code = self._positive_code(training.classes)
        belongs = training.codes == code
        signed = np.where(belongs, training.weights, -training.weights)
        solutions = [
            (*least_error_thresholds(training.rows * signs, signed), signs)
            for signs in self._signs(training.rows, belongs)
        ]
        # Thresholds were searched above; a column whose class lies below was turned by its sign.
        turned, _, signs = max(solutions, key=lambda solution: solution[1])
        self.thresholds_ = turned * signs
        terms = [
            Term(name, ">" if sign > 0 else "<", float(threshold))
            for name, sign, threshold in zip(
                training.schema.names, signs, self.thresholds_, strict=True
            )
            if np.isfinite(threshold)
        ]
        return self._conclude(training, terms, code)

    def _signs(
        self, rows: NDArray[np.float64], belongs: NDArray[np.bool_]
    ) -> list[NDArray[np.float64]]:
        """Return the combinations of sides to try: 1 for above, -1 for below."""
        n_columns, directions = rows.shape[1], self.directions
        directions = [directions] * n_columns if isinstance(directions, str) else list(directions)
        if len(directions) != n_columns or set(directions) - set(_SIGNS):
            raise DataError(
                f"directions is {self.directions!r}; expected one of "
                f"{', '.join(map(repr, _SIGNS))}, or one for each of the {n_columns} columns."
            )
        sides = [_SIGNS[direction] for direction in directions]
        # All combinations would double with every column.
        if n_columns > 2:
            above = rows[belongs].mean(axis=0) >= rows[~belongs].mean(axis=0)
            sides = [
                side if len(side) == 1 else (1.0 if up else -1.0,)
                for side, up in zip(sides, above, strict=True)
            ]
        return [np.array(signs) for signs in product(*sides)]


def box_terms(box: Box, schema: TableSchema, strict: bool) -> list[Term]:
    """Return the finite bounds of a box as terms."""
    above, below = (">", "<") if strict else (">=", "<=")
    terms = []
    for name, lower, upper in zip(schema.names, box.lower, box.upper, strict=True):
        if np.isfinite(lower):
            terms.append(Term(name, above, float(lower)))
        if np.isfinite(upper):
            terms.append(Term(name, below, float(upper)))
    return terms
