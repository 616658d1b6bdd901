"""C4.5rules: a tree, its paths as rules, each pruned alone, the best of them in order."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import HasMethods, Interval, checked_fit_with_parts, clone
from verulam.numerics import announced
from verulam.rule._base import Rule, RuleBase
from verulam.rule._classifier import RuleClassifier, TrainingSet
from verulam.rule._term import Term
from verulam.rule._trees.extract import extract_rules
from verulam.rule._trees.simplify import order_rules, prune_terms, select_rules
from verulam.tree import DecisionTreeClassifier


class TreeRules(RuleClassifier):
    """Grow a tree, write its paths as rules, and prune each rule without regard to the others.

    Parameters
    ----------
    estimator
        The tree to start from; None for one grown by gain ratio as far as it goes, with a branch
        for each category.
    confidence
        Confidence of the pessimistic error rates by which terms are dropped; smaller drops
        more. None keeps the rules as the tree has them.
    unseen
        What to do with a category that was not there in training: "error", or "missing" to
        treat it so.

    Attributes
    ----------
    estimator_ : DecisionTreeClassifier
        The fitted tree.
    rules_ : RuleBase
        The rules, in the order in which they are asked.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.

    Notes
    -----
    From each rule the term is dropped without which its pessimistic error rate is least, as long as
    the rate does not rise; of the rules of a class those stay that pay for their description; the
    classes are put in order by false positives, and the default is the class most frequent among
    the rows that no rule covers. The rules may overlap then, and need not be a tree any more. See
    Alpaydin 9.4.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.rule import TreeRules
    >>> iris = dataset("iris")
    >>> print(TreeRules().fit(iris.inputs, iris.target_values).rules_)
    R1: IF petal_width_cm <= 0.8 THEN setosa  (support 33.3%, confidence 100.0%)
    R2: IF petal_width_cm > 0.8 AND petal_width_cm <= 1.65 AND petal_length_cm <= 4.95
      THEN versicolor  (support 31.3%, confidence 100.0%)
    R3: IF petal_width_cm > 1.65 THEN virginica  (support 32.0%, confidence 95.8%)
    R4: IF petal_length_cm > 4.95 THEN virginica  (support 3.3%, confidence 80.0%)
    ELSE setosa  (support 0.0%)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RuleClassifier._parameter_constraints,
        "estimator": [HasMethods(["fit", "predict"]), None],
        "confidence": [Interval(Real, 0, 1, closed="neither"), None],
    }

    def __init__(
        self, estimator: Any = None, *, confidence: float | None = 0.25, unseen: str = "error"
    ) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.unseen = unseen

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree and simplify its rules."""
        training = self._read(X, y, sample_weight)
        # As large as can be: the rules are pruned afterwards. Each missing entry goes one way, so
        # that the rules of the tree exclude one another.
        tree = DecisionTreeClassifier(criterion="gain_ratio", categories="n_way")
        if self.estimator is not None:
            tree = clone(self.estimator)
        with announced("verulam.rule"):
            self.estimator_ = tree.fit(X, y, sample_weight=sample_weight)
            rules = extract_rules(self.estimator_, missing=True)
            rules = replace(rules, rules=_without_needless_gaps(rules, training))
            if self.confidence is not None:
                rules = simplify(rules.rules, training, self.confidence)
        self._store(rules)
        return self


def simplify(rules: Sequence[Rule], training: TrainingSet, confidence: float) -> RuleBase:
    """Return the rules of a tree, pruned one by one, selected and put in order."""
    labels = training.classes[training.codes]
    pruned = prune_terms(
        rules, training.rows, training.schema, labels, training.weights, confidence=confidence
    )
    return order_rules(select_rules(pruned, training), training)


def _without_needless_gaps(rules: RuleBase, training: TrainingSet) -> tuple[Rule, ...]:
    """Return the rules that speak of missing entries only where a column has some."""
    gaps = np.asarray(np.isnan(training.rows).any(axis=0))
    names = {
        name for name, any_missing in zip(rules.schema.names, gaps, strict=True) if any_missing
    }

    def settled(term: Term) -> Term:
        # An infinite threshold is a question about missing entries itself.
        if term.column in names or str(term).endswith("is missing"):
            return term
        return replace(term, accepts_missing=False)

    return tuple(replace(rule, terms=tuple(map(settled, rule.terms))) for rule in rules.rules)
