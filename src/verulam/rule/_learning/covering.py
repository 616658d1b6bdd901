"""Rules learned from data, one at a time: sequential covering, Irep and Ripper."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    generator,
)
from verulam.rule._base import Rule, RuleBase, measured
from verulam.rule._classifier import RuleClassifier, TrainingSet
from verulam.rule._learning.grow_loops import AT_MOST, EQUAL
from verulam.rule._learning.one_class import CoveringOptions, learn_class
from verulam.rule._learning.problem import (
    CRITERIA,
    MOST_CONDITIONS,
    Conjunction,
    GrowthOptions,
    Problem,
    sort_columns,
    without_redundancy,
)
from verulam.rule._term import Term
from verulam.tree import category_counts

_MIN_POSITIVES = [Interval(Real, 0, None, closed="neither")]
_FRACTION = [Interval(Real, 0, 1, closed="neither"), None]


class SequentialCovering(RuleClassifier):
    """Learn rules one at a time until every row of a class is covered, the rarest class first.

    Each rule is grown until it covers no row of another class; the rows that it covers are taken
    out, and the next rule is learned. Nothing is pruned: `Irep` and `Ripper` do that.

    Parameters
    ----------
    criterion
        What the next condition of a rule should do: "entropy" for the purest rows covered, or
        "foil" for the most Foil gain.
    min_positives
        Least weight of rows of its class that a condition must leave to a rule.
    max_conditions
        Most conditions of a rule; None for no limit.
    unseen
        What to do with a category that was not there in training: "error", or "missing" to
        treat it so.

    Attributes
    ----------
    rules_ : RuleBase
        The rules, in the order in which they are asked.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.

    Notes
    -----
    See Alpaydin 9.5 and SIT1305 III. Entropy is least where the share of the rule's own class is
    largest, since a rule is only extended in its favour; of equal shares the one that covers more
    rows is taken.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.rule import SequentialCovering
    >>> table = dataset("buys_computer")
    >>> print(SequentialCovering().fit(table.inputs, table.target_values).rules_)
    R1: IF age = youth AND student = no THEN no  (support 21.4%, confidence 100.0%)
    R2: IF age = senior AND credit_rating = excellent THEN no  (support 14.3%, confidence 100.0%)
    ELSE yes  (support 64.3%, confidence 100.0%)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RuleClassifier._parameter_constraints,
        "criterion": [StrOptions(set(CRITERIA))],
        "min_positives": _MIN_POSITIVES,
        "max_conditions": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        min_positives: float = 1.0,
        max_conditions: int | None = None,
        unseen: str = "error",
    ) -> None:
        self.criterion = criterion
        self.min_positives = min_positives
        self.max_conditions = max_conditions
        self.unseen = unseen

    def _learn(self, training: TrainingSet) -> RuleBase:
        growth = GrowthOptions(
            criterion=self.criterion,
            smoothing=0.0,
            least_positives=self.min_positives,
            most_conditions=self.max_conditions or MOST_CONDITIONS,
        )
        return cover(training, CoveringOptions(growth, surplus_bits=None), generator(0))


class Irep(RuleClassifier):
    """Learn rules one at a time, each pruned at once on rows that it was not grown on.

    Parameters
    ----------
    pruning_fraction
        Share of the remaining rows that each rule is pruned on; it is grown on the others.
    min_positives
        Least weight of rows of its class that a condition must leave to a rule.
    unseen
        What to do with a category that was not there in training: "error", or "missing" to
        treat it so.
    random_state
        Seed of the divisions into growing and pruning rows.

    Attributes
    ----------
    rules_ : RuleBase
        The rules, in the order in which they are asked.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.

    Notes
    -----
    Conditions are added for the most Foil gain and deleted from the last on for the largest rule
    value; a class is done when a rule is wrong as often as right. See Alpaydin 9.5.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.rule import Irep
    >>> iris = dataset("iris")
    >>> learner = Irep(random_state=0).fit(iris.inputs, iris.target_values)
    >>> round(learner.score(iris.inputs, iris.target_values), 2)
    0.9...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RuleClassifier._parameter_constraints,
        "pruning_fraction": _FRACTION[:1],
        "min_positives": _MIN_POSITIVES,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        pruning_fraction: float = 1 / 3,
        min_positives: float = 2.0,
        unseen: str = "error",
        random_state: Seed = None,
    ) -> None:
        self.pruning_fraction = pruning_fraction
        self.min_positives = min_positives
        self.unseen = unseen
        self.random_state = random_state

    def _learn(self, training: TrainingSet) -> RuleBase:
        options = CoveringOptions(
            GrowthOptions(least_positives=self.min_positives),
            self.pruning_fraction,
            surplus_bits=None,
        )
        return cover(training, options, generator(self.random_state))


class Ripper(RuleClassifier):
    r"""Learn a short ordered list of rules, pruned and optimised by description length.

    Parameters
    ----------
    n_optimisations
        How often the rules of a class are gone through, each to be kept, replaced or revised.
    pruning_fraction
        Share of the remaining rows that each rule is pruned on; None grows rules on all rows and
        neither prunes nor optimises them.
    min_positives
        Least weight of rows of its class that a condition must leave to a rule.
    surplus_bits
        A class is done when the description of its rules is so many bits longer than the
        shortest so far.
    unseen
        What to do with a category that was not there in training: "error", or "missing" to
        treat it so.
    random_state
        Seed of the divisions into growing and pruning rows.

    Attributes
    ----------
    rules_ : RuleBase
        The rules, in the order in which they are asked.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.

    Notes
    -----
    Classes are learned by rising prior, each against those that follow; the largest is the
    default. A rule is grown by Foil gain on two thirds of the rows and pruned from its last
    condition by the rule value :math:`(p - n) / (p + n)` on the other third, both with a
    pseudo-count of one. Each rule is then compared with a *replacement*, grown from nothing, and a
    *revision*, grown from the rule, and the one of the least description length stays; at last
    rules that lengthen the description go. Covered rows are always removed and rules always
    pruned, as the prose of Alpaydin 9.5 has it (fig. 9.7 does so in some branches only). The code
    lengths are those of `description_length`.

    Sorted columns and compiled scans over the rows still covered make the cost of a rule
    proportional to rows times columns.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.rule import Ripper
    >>> titanic = dataset("titanic")
    >>> learner = Ripper(random_state=0).fit(titanic.inputs, titanic.target_values)
    >>> print(learner.rules_)
    R1: IF sex = female AND passenger_class = first THEN yes  (support 10.4%, confidence 96.8%)
    R2: IF sex = female AND passenger_class = second THEN yes  (support 8.5%, confidence 92.1%)
    R3: IF sex = female AND fare <= 7.8875 THEN yes  (support 4.7%, confidence 71.4%)
    R4: IF fare >= 10.825 AND age <= 6.5 AND siblings_spouses <= 2.5 THEN yes
      (support 2.7%, confidence 100.0%)
    ELSE no  (support 73.6%, confidence 80.5%)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RuleClassifier._parameter_constraints,
        "n_optimisations": [Interval(Integral, 0, None, closed="left")],
        "pruning_fraction": _FRACTION,
        "min_positives": _MIN_POSITIVES,
        "surplus_bits": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        n_optimisations: int = 2,
        pruning_fraction: float | None = 1 / 3,
        min_positives: float = 2.0,
        surplus_bits: float = 64.0,
        unseen: str = "error",
        random_state: Seed = None,
    ) -> None:
        self.n_optimisations = n_optimisations
        self.pruning_fraction = pruning_fraction
        self.min_positives = min_positives
        self.surplus_bits = surplus_bits
        self.unseen = unseen
        self.random_state = random_state

    def _learn(self, training: TrainingSet) -> RuleBase:
        options = CoveringOptions(
            GrowthOptions(least_positives=self.min_positives),
            self.pruning_fraction,
            surplus_bits=self.surplus_bits,
            n_passes=0 if self.pruning_fraction is None else self.n_optimisations,
        )
        return cover(training, options, generator(self.random_state))


def cover(training: TrainingSet, options: CoveringOptions, rng: np.random.Generator) -> RuleBase:
    """Return the ordered rules of all classes, learned by rising weight; the largest is default."""
    # Rare classes first, each against all that follow: the most frequent needs no rules, it is what
    # they leave over.
    order = np.argsort(training.class_weights, kind="stable")
    present = [int(label) for label in order if training.class_weights[label] > 0]
    if len(present) > 1:
        _check_fraction(options.pruning_fraction, len(training.rows))
    table = sort_columns(training.rows, category_counts(training.schema))
    rows = np.arange(len(training.rows), dtype=np.int32)
    rules: list[Rule] = []
    for label in present[:-1]:
        positive = (training.codes == label).astype(np.uint8)
        if not positive[rows].any():
            continue
        problem = Problem(table, positive, training.weights)
        for conjunction in learn_class(problem, rows, options, rng):
            rules.append(Rule(as_terms(conjunction, training), training.classes[label]))
            # Separate and conquer: what a rule covers is decided, and later rules learn from the
            # rest.
            rows = rows[conjunction.covered[rows] == 0]
    base = RuleBase(
        tuple(rules),
        Rule((), training.classes[present[-1]]),
        training.schema,
        training.classes,
    )
    return measured(base, training.rows, training.codes, training.weights, relabel=True)


def as_terms(conjunction: Conjunction, training: TrainingSet) -> tuple[Term, ...]:
    """Return the conditions of a conjunction by name, without those that another implies."""
    slim = without_redundancy(conjunction)
    terms = []
    for kind, place, value in zip(slim.kinds, slim.places, slim.values, strict=True):
        name, categories = training.schema.names[place], training.schema.categories[place]
        if kind == EQUAL:
            assert categories is not None
            terms.append(Term(name, "=", categories.tolist()[int(value)]))
        else:
            terms.append(Term(name, "<=" if kind == AT_MOST else ">=", float(value)))
    return tuple(terms)


def _check_fraction(fraction: float | None, n_rows: int) -> None:
    if fraction is None:
        return
    pruning = round(fraction * n_rows)
    if pruning == 0 or pruning == n_rows:
        what = "prune" if pruning == 0 else "grow"
        raise DataError(
            f"pruning_fraction={fraction:g} of {n_rows} rows leaves none to {what} rules on; "
            f"accepted here is {0.5 / n_rows:.3g} to {1 - 0.5 / n_rows:.3g}."
        )
