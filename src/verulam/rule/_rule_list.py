"""Decision lists and rule sets of rules that are written by hand or taken from elsewhere."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from verulam.base import DataError, DataWarning
from verulam.rule._base import Rule, RuleBase, measured
from verulam.rule._classifier import RuleClassifier, TrainingSet

#: Of more labels than this, a warning names the first.
MOST_LABELS = 10


class RuleList(RuleClassifier):
    """Decide by the first of some given rules that covers a row.

    Fitting leaves the rules as they are and measures them: how much of the data each decides and
    how often it is right.

    Parameters
    ----------
    rules
        The rules, in the order in which they are asked. Another learner's `rules_.rules` will do,
        and so will rules of an expert.
    default
        Class of the rows that no rule covers; None for the most frequent among those rows.
    unseen
        What to do with a category that was not there in training: "error", or "missing" to
        treat it so.

    Attributes
    ----------
    rules_ : RuleBase
        The rules with their support and confidence.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels, of the data and of the rules.

    Notes
    -----
    See Alpaydin 9.4, where the support of a rule is the share of the data that it covers; in a
    list, rows that an earlier rule has taken do not count.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.rule import Rule, RuleList, Term
    >>> titanic = dataset("titanic")
    >>> expert = [
    ...     Rule([Term("sex", "=", "female"), Term("passenger_class", "!=", "third")], "yes"),
    ...     Rule([Term("age", "<", 10)], "yes"),
    ... ]
    >>> print(RuleList(expert).fit(titanic.inputs, titanic.target_values).rules_)
    R1: IF sex = female AND passenger_class != third THEN yes  (support 19.0%, confidence 94.7%)
    R2: IF age < 10 THEN yes  (support 5.9%, confidence 56.6%)
    ELSE no  (support 75.1%, confidence 77.3%)
    """

    _ordered: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RuleClassifier._parameter_constraints,
        "rules": ["array-like"],
        "default": "no_validation",
    }

    def __init__(
        self, rules: Sequence[Rule] = (), *, default: Any = None, unseen: str = "error"
    ) -> None:
        self.rules = rules
        self.default = default
        self.unseen = unseen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Without rules there is only the most frequent class.
        tags.classifier_tags.poor_score = True
        return tags

    def _learn(self, training: TrainingSet) -> RuleBase:
        return measured_rules(training, tuple(self.rules), self.default, ordered=self._ordered)


class RuleSet(RuleList):
    """Decide by all of some given rules that cover a row, each with its confidence.

    Parameters
    ----------
    rules
        The rules, in any order.
    default
        Class of the rows that no rule covers; None for the most frequent among those rows.
    unseen
        What to do with a category that was not there in training: "error", or "missing" to
        treat it so.

    Attributes
    ----------
    rules_ : RuleBase
        The rules with their support and confidence.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels, of the data and of the rules.

    Notes
    -----
    Each rule that covers a row adds its confidence to the class that it concludes. The rules of
    one class are a disjunction: ``rules_.description(label)`` writes them as one. See Alpaydin 9.4.

    Examples
    --------
    >>> from verulam.rule import Rule, RuleSet, Term
    >>> rules = [Rule([Term("x", "<=", 2)], "low"), Rule([Term("x", ">", 1)], "high")]
    >>> import pandas as pd
    >>> X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0]})
    >>> learner = RuleSet(rules).fit(X, ["low", "low", "low", "high", "high"])
    >>> print(learner.explain(X[2:3])[0])
    Predicted 'low' with probability 0.600
      R1: IF x <= 2 THEN low
      R2: IF x > 1 THEN high
      x = 2
    """

    _ordered: ClassVar[bool] = False


def measured_rules(
    training: TrainingSet, rules: tuple[Rule, ...], default: Any, *, ordered: bool
) -> RuleBase:
    """Return a rule base of rules as they are, measured on data that may have more classes."""
    for place, rule in enumerate(rules):
        if not isinstance(rule, Rule):
            raise DataError(f"rules[{place}] is {rule!r}; expected a verulam.rule.Rule.")
    concluded = [rule.conclusion for rule in rules] + ([] if default is None else [default])
    classes = training.classes
    if concluded:
        if any(isinstance(label, str) != isinstance(classes[0], str) for label in concluded):
            raise DataError(
                f"The rules conclude {concluded[0]!r} and the labels of y are such as "
                f"{classes.tolist()[0]!r}; use one type for both."
            )
        try:
            classes = np.unique(np.concatenate([classes, np.array(concluded)]))
        except TypeError as error:
            raise DataError(
                "The conclusions of the rules and the labels of y cannot be put in one order; "
                "use one type for both."
            ) from error
    if foreign := sorted(set(classes.tolist()) - set(training.classes.tolist())):
        warnings.warn(
            f"No row has the label {', '.join(map(repr, foreign))}, which rules conclude; labels "
            f"of y: {', '.join(map(repr, training.classes.tolist()[:MOST_LABELS]))}.",
            DataWarning,
            stacklevel=5,
        )
    codes = np.searchsorted(classes, training.classes)[training.codes]
    base = RuleBase(rules, Rule((), default), training.schema, classes, ordered)
    if default is None:
        left = base.decide(training.rows) == len(rules)
        # Where the rules cover everything, the most frequent class of all stands by.
        left = left if left.any() else np.ones(len(left), dtype=bool)
        counts = np.bincount(codes[left], training.weights[left], minlength=len(classes))
        base = RuleBase(
            rules, Rule((), classes[counts.argmax()]), training.schema, classes, ordered
        )
    return measured(base, training.rows, codes, training.weights)
