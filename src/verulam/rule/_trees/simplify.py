"""Rule pruning as in C4.5rules: terms dropped, rules selected by description length, ordered."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError, TableSchema, check_weights
from verulam.rule._base import Rule, RuleBase, measured, unique_rules
from verulam.rule._classifier import TrainingSet
from verulam.rule._learning.description_length_loops import rule_bits, rules_that_pay
from verulam.tree import pessimistic_errors


def prune_rules(
    base: RuleBase,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    confidence: float = 0.25,
) -> RuleBase:
    """Return the rule base with each rule freed of the terms that it can do without.

    Parameters
    ----------
    base
        Rules about classes or numbers.
    X
        A table with the columns that the rules are about.
    y
        The labels or numbers.
    sample_weight
        Weight of each row.
    confidence
        Confidence of the pessimistic error rates; smaller drops more.

    Notes
    -----
    A term is dropped where the error of its rule does not rise: the upper bound of the error rate
    at the given confidence, as C4.5 estimates it, or for numbers the mean absolute error times
    (n + k) / (n - k) for k terms and n rows. Other rules are not touched, so that the rules may
    overlap afterwards and need not be a tree any more. See Alpaydin 9.4.

    Examples
    --------
    The age makes no difference to those whose job is A:

    >>> import pandas as pd
    >>> from verulam.rule import Rule, RuleList, Term, prune_rules
    >>> X = pd.DataFrame({"age": [30, 50, 30, 50] * 5, "job": pd.Categorical(list("AABC") * 5)})
    >>> y = ["yes", "yes", "no", "no"] * 5
    >>> rule = Rule([Term("age", "<=", 38.5), Term("job", "=", "A")], "yes")
    >>> base = RuleList([rule]).fit(X, y).rules_
    >>> print(prune_rules(base, X, y).rules[0])
    IF job = A THEN yes
    """
    if not 0.0 < confidence < 1.0:
        raise DataError(f"confidence is {confidence!r}; expected a number between 0 and 1.")
    rows = base.encode(X)
    targets = np.asarray(y)
    if base.classes is None:
        targets = targets.astype(np.float64)
    if len(targets) != len(rows):
        raise DataError(f"X has {len(rows)} rows and y has {len(targets)}.")
    weights = check_weights(sample_weight, rows)
    weights = np.ones(len(rows)) if weights is None else weights
    rules = prune_terms(base.rules, rows, base.schema, targets, weights, confidence=confidence)
    pruned = replace(base, rules=rules)
    if base.classes is not None:
        return measured(pruned, rows, _codes_of(targets, base.classes), weights)
    decided = np.bincount(pruned.decide(rows), weights, minlength=len(rules) + 1) / weights.sum()
    return replace(
        pruned,
        rules=tuple(
            replace(rule, support=float(share))
            for rule, share in zip(rules, decided[:-1], strict=True)
        ),
        default=replace(base.default, support=float(decided[-1])),
    )


def _codes_of(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position of each label among the sorted classes, which must have it."""
    known = np.isin(labels, classes)
    if not known.all():
        first = labels[~known][0]
        plain = first.item() if isinstance(first, np.generic) else first
        raise DataError(
            f"y has the class {plain!r}, which the rules do not know; their classes are "
            f"{', '.join(map(repr, classes.tolist()))}."
        )
    return np.searchsorted(classes, labels)


def prune_terms(
    rules: Sequence[Rule],
    rows: NDArray[np.float64],
    schema: TableSchema,
    targets: NDArray[Any],
    weights: NDArray[np.float64],
    *,
    confidence: float = 0.25,
) -> tuple[Rule, ...]:
    """Return the rules, each without the terms that its error can do without.

    Parameters
    ----------
    rules
        The rules; each is pruned alone.
    rows
        Encoded rows.
    schema
        Columns and categories.
    targets
        Label or number of each row.
    weights
        Weight of each row.
    confidence
        Confidence of the pessimistic error rates; smaller drops more.
    """
    pruned = []
    for rule in rules:
        errors = _errors(rule.conclusion, targets)
        met = np.array([term.holds(rows, schema) for term in rule.terms]).reshape(-1, len(rows))
        needed = _needed_terms(met, errors, weights, confidence, counted=errors.dtype == bool)
        terms = tuple(rule.terms[place] for place in needed)
        pruned.append(replace(rule, terms=terms))
    return unique_rules(pruned)


def _errors(conclusion: Any, targets: NDArray[Any]) -> NDArray[Any]:
    """Return whether, or by how much, a conclusion misses each target."""
    if targets.dtype.kind == "f":
        return np.abs(targets - conclusion)
    return targets != conclusion


def _needed_terms(
    met: NDArray[np.bool_],
    errors: NDArray[Any],
    weights: NDArray[np.float64],
    confidence: float,
    *,
    counted: bool,
) -> list[int]:
    """Return the terms that stay: the one is dropped without which the error rate is least."""
    remaining = list(range(len(met)))
    lost = weights * errors
    # How many terms each row fails: counted once, and brought up to date as terms go.
    failures = np.count_nonzero(~met, axis=0)
    covered = failures == 0
    total, loss = np.array([weights[covered].sum()]), np.array([lost[covered].sum()])
    rate = _pessimistic(total, loss, confidence, len(remaining), counted)[0]
    while remaining:
        # Without a term, those rows are covered as well that fail it alone.
        nearly = np.flatnonzero(failures == 1)
        failed = np.argmin(met[remaining][:, nearly], axis=0)
        totals = total + np.bincount(failed, weights[nearly], len(remaining)).astype(np.float64)
        losses = loss + np.bincount(failed, lost[nearly], len(remaining)).astype(np.float64)
        rates = _pessimistic(totals, losses, confidence, len(remaining) - 1, counted)
        # Of equals the last: conditions near the root of a tree say more.
        best = len(remaining) - 1 - int(np.argmin(rates[::-1]))
        if rates[best] > rate + 1e-12:
            break
        rate = rates[best]
        total, loss = totals[best : best + 1], losses[best : best + 1]
        failures = failures - ~met[remaining[best]]
        del remaining[best]
    return remaining


def _pessimistic(
    totals: NDArray[np.float64],
    losses: NDArray[np.float64],
    confidence: float,
    n_terms: int,
    counted: bool,
) -> NDArray[np.float64]:
    """Return upper estimates of the error rate, or of the mean distance, among covered rows.

    Of each set of covered rows, `totals` is the weight and `losses` the weight of the errors, or
    the weighted sum of the distances.
    """
    rates = np.full(len(totals), np.inf)
    some = totals > 0.0
    totals, losses = totals[some], losses[some]
    if counted:
        rates[some] = pessimistic_errors(totals, losses, confidence) / totals
    else:
        # As in M5: few rows and many terms make an average look better than it is.
        penalty = (totals + n_terms) / np.maximum(totals - n_terms, 1e-9)
        rates[some] = losses / totals * penalty
    return rates


def select_rules(rules: Sequence[Rule], training: TrainingSet) -> tuple[Rule, ...]:
    """Return for each class those of its rules whose deletion would lengthen its description."""
    # Only conditions that some rule has need to be told apart.
    choices = float(len({term for rule in rules for term in rule.terms}))
    selected: list[Rule] = []
    for code, label in enumerate(training.classes):
        class_rules = [rule for rule in rules if rule.conclusion == label]
        if class_rules:
            positive = training.codes == code
            selected += _shortest(class_rules, training, positive, choices)
    return tuple(selected)


def _shortest(
    rules: list[Rule], training: TrainingSet, positive: NDArray[np.bool_], n_choices: float
) -> list[Rule]:
    """Return the rules left after deleting, one at a time, the one that saves the most bits."""
    coverage = np.array([rule.covers(training.rows, training.schema) for rule in rules])
    theory = np.array([rule_bits(float(len(rule.terms)), n_choices) for rule in rules])
    stays = rules_that_pay(
        coverage, training.weights * positive, training.weights * ~positive, theory
    )
    return [rule for rule, pays in zip(rules, stays, strict=True) if pays]


def order_rules(rules: Sequence[Rule], training: TrainingSet) -> RuleBase:
    """Return the rules as a list: the class of the fewest false positives first, then the next."""
    coverage = {
        label: [
            (rule, rule.covers(training.rows, training.schema))
            for rule in rules
            if rule.conclusion == label and rule.terms
        ]
        for label in training.classes
    }
    # A class that is asked early takes rows from the others: the one that takes the fewest wrongly
    # goes first.
    left = np.ones(len(training.rows), dtype=bool)
    ordered: list[Rule] = []
    waiting = [label for label in training.classes if coverage[label]]
    while waiting:
        unions = {
            label: np.any([covered for _, covered in coverage[label]], axis=0) & left
            for label in waiting
        }
        wrong = [
            training.weights[unions[label] & (training.classes[training.codes] != label)].sum()
            for label in waiting
        ]
        label = waiting.pop(int(np.argmin(wrong)))
        ordered += _by_precision(coverage[label], label, training)
        left &= ~unions[label]
    rest = left if left.any() else np.ones(len(left), dtype=bool)
    counts = np.bincount(
        training.codes[rest], training.weights[rest], minlength=len(training.classes)
    )
    default = Rule((), training.classes[counts.argmax()])
    base = RuleBase(tuple(ordered), default, training.schema, training.classes)
    return measured(base, training.rows, training.codes, training.weights, relabel=True)


def _by_precision(
    rules: list[tuple[Rule, NDArray[np.bool_]]], label: Any, training: TrainingSet
) -> list[Rule]:
    """Return the rules of one class, the most reliable first."""
    belongs = training.classes[training.codes] == label

    def precision(covered: NDArray[np.bool_]) -> float:
        weights = training.weights[covered]
        # Laplace's estimate: of two rules without errors, the one that covers more goes first.
        return float((weights @ belongs[covered] + 1.0) / (weights.sum() + 2.0))

    return [rule for rule, _ in sorted(rules, key=lambda pair: -precision(pair[1]))]
