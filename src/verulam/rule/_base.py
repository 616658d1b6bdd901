"""Rules and rule bases: coverage, conflict resolution, support and confidence; text and code."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, TableSchema, as_frame, encode_table, markdown_text
from verulam.rule._term import Term, value_text


@dataclass(frozen=True)
class Rule:
    """IF all terms hold THEN the conclusion.

    Attributes
    ----------
    terms
        The conditions; none for a rule that always holds.
    conclusion
        The class, or the number, that the rule predicts.
    support
        Share of the training weight that the rule decides (in a list) or covers (in a set).
    confidence
        Share of that weight for which the conclusion is right; NaN for numbers.
    weights
        That weight by class, in the order of the sorted labels; empty for numbers.

    Examples
    --------
    >>> from verulam.rule import Rule, Term
    >>> print(Rule((Term("income", ">", 30.0), Term("savings", ">", 5.0)), "low risk"))
    IF income > 30 AND savings > 5 THEN low risk
    """

    terms: tuple[Term, ...]
    conclusion: Any
    support: float = float("nan")
    confidence: float = float("nan")
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))

    def __str__(self) -> str:
        return rule_text(self)

    def covers(self, rows: NDArray[np.float64], schema: TableSchema) -> NDArray[np.bool_]:
        """Return for each encoded row whether all terms hold."""
        met = np.ones(len(rows), dtype=bool)
        for term in self.terms:
            met &= term.holds(rows, schema)
        return met


@dataclass(frozen=True)
class RuleBase:
    """Rules and what to conclude where none of them speaks.

    Attributes
    ----------
    rules
        In the order in which they are asked.
    default
        The rule without terms for rows that no other covers.
    schema
        Columns and categories that the rules are about.
    classes : ndarray or None
        Sorted class labels; None where conclusions are numbers.
    ordered
        Whether the first rule that covers a row decides alone; otherwise all that cover it do.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.rule import Ripper
    >>> iris = dataset("iris")
    >>> base = Ripper(random_state=0).fit(iris.inputs, iris.target_values).rules_
    >>> len(base), base.default.conclusion
    (2, 'virginica')
    >>> print(base.description("setosa"))
    IF petal_length_cm <= 2.45 THEN setosa
    """

    rules: tuple[Rule, ...]
    default: Rule
    schema: TableSchema
    classes: np.ndarray | None = None
    ordered: bool = True

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        return self.export_text()

    def encode(self, X: Any, *, unseen: str = "error") -> NDArray[np.float64]:
        """Return a table as encoded rows: numbers, codes of categories, NaN where missing."""
        frame = as_frame(X)
        if frame.shape[1] != len(self.schema.names):
            raise DataError(
                f"X has {frame.shape[1]} columns; the rules are about {len(self.schema.names)}."
            )
        table = encode_table(
            frame.set_axis(list(self.schema.names), axis=1), self.schema, unseen=unseen
        )
        rows = np.empty(table.shape)
        numeric = np.array([known is None for known in self.schema.categories], dtype=bool)
        rows[:, numeric] = table.numbers
        rows[:, ~numeric] = np.where(table.codes < 0, np.nan, table.codes)
        return rows

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the conclusion for each row of a table."""
        return self.conclude(self.encode(X))

    def coverage(self, rows: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return for each encoded row and rule whether the rule covers the row."""
        covered = [rule.covers(rows, self.schema) for rule in self.rules]
        return np.column_stack(covered) if covered else np.zeros((len(rows), 0), dtype=bool)

    def decide(self, rows: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return for each encoded row the first rule that covers it, or the number of rules."""
        decided = np.full(len(rows), len(self.rules), dtype=np.intp)
        # Rows that a rule has decided are not asked again.
        waiting = np.arange(len(rows))
        for place, rule in enumerate(self.rules):
            covered = rule.covers(rows[waiting], self.schema)
            decided[waiting[covered]] = place
            waiting = waiting[~covered]
        return decided

    def conclude(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        """Return the conclusion for each encoded row.

        In a list it is that of the first rule; in a set the class with the most confidence on its
        side, or the mean of the numbers.
        """
        conclusions = np.array([rule.conclusion for rule in (*self.rules, self.default)])
        if self.ordered:
            return conclusions[self.decide(rows)]
        covered = self.coverage(rows)
        nobody = ~covered.any(axis=1)
        if self.classes is not None:
            winners = self.classes[self.votes(rows).argmax(axis=1)]
            return np.where(nobody, conclusions[-1], winners)
        totals = covered @ conclusions[:-1] if self.rules else np.zeros(len(rows))
        return np.where(nobody, conclusions[-1], totals / np.maximum(covered.sum(axis=1), 1))

    def votes(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the confidence that speaks for each class, for each encoded row.

        In a list the weights of the deciding rule count; in a set each rule speaks for its
        conclusion alone. Rows that no rule covers get the shares of the default rule.
        """
        assert self.classes is not None
        default = _shares(self.default, self.classes)
        if self.ordered:
            shares = np.array([*(_shares(rule, self.classes) for rule in self.rules), default])
            return shares[self.decide(rows)]
        speaks = np.zeros((len(self.rules), len(self.classes)))
        for place, rule in enumerate(self.rules):
            # A rule that has never been right still speaks, if nobody else does.
            confidence = 1.0 if np.isnan(rule.confidence) else max(rule.confidence, 1e-12)
            speaks[place] = np.where(self.classes == rule.conclusion, confidence, 0.0)
        covered = self.coverage(rows)
        votes = covered.astype(np.float64) @ speaks
        votes[~covered.any(axis=1)] = default
        return votes

    def description(self, conclusion: Any) -> str:
        """Return all rules of one class, or of one number, as one: IF (...) OR (...) THEN ..."""
        rules = [rule for rule in self.rules if rule.conclusion == conclusion]
        parts = [conditions_text(rule) or "TRUE" for rule in rules]
        # Where the rules leave nothing over, the default never speaks.
        if self.default.conclusion == conclusion and self.default.support != 0.0:
            parts.append("no other rule holds")
        if len(parts) > 1:
            parts = [f"({part})" for part in parts]
        return f"IF {' OR '.join(parts)} THEN {conclusion}" if parts else f"NEVER {conclusion}"

    def export_text(self) -> str:
        """Return the rules as lines of text, with support and confidence where known."""
        return base_to_text(self)

    def export_markdown(self) -> str:
        """Return the rules as a Markdown table."""
        return base_to_markdown(self)

    def export_code(self, name: str = "predict") -> str:
        """Return the rules as a Python function of one row, a mapping of column to value.

        Missing entries are given as None or NaN.
        """
        return base_to_code(self, name)


def measured(
    base: RuleBase,
    rows: NDArray[np.float64],
    codes: NDArray[np.intp],
    weights: NDArray[np.float64],
    *,
    relabel: bool = False,
) -> RuleBase:
    """Return the rule base with support and confidence as measured on data.

    Parameters
    ----------
    base
        Rules about classes.
    rows
        Encoded rows.
    codes
        Class code of each row.
    weights
        Weight of each row.
    relabel
        Whether a rule's conclusion becomes the class with the most weight, where it is not.
    """
    assert base.classes is not None
    n_rules, n_classes = len(base.rules), len(base.classes)
    counts = np.zeros((n_rules + 1, n_classes))
    if base.ordered:
        np.add.at(counts, (base.decide(rows), codes), weights)
    else:
        by_class = np.zeros((len(rows), n_classes))
        by_class[np.arange(len(rows)), codes] = weights
        covered = base.coverage(rows)
        covered = np.column_stack([covered, ~covered.any(axis=1)])
        counts = covered.T.astype(np.float64) @ by_class
    total = weights.sum()
    rules = [
        _with_counts(rule, count, total, base.classes, relabel)
        for rule, count in zip((*base.rules, base.default), counts, strict=True)
    ]
    return replace(base, rules=tuple(rules[:-1]), default=rules[-1])


def _with_counts(
    rule: Rule, count: NDArray[np.float64], total: float, classes: np.ndarray, relabel: bool
) -> Rule:
    covered = count.sum()
    right = count[classes == rule.conclusion].sum()
    conclusion = rule.conclusion
    if relabel and right < count.max():
        conclusion, right = classes[count.argmax()], count.max()
    return replace(
        rule,
        conclusion=conclusion,
        support=float(covered / total),
        confidence=float(right / covered) if covered else float("nan"),
        weights=tuple(count.tolist()),
    )


def _shares(rule: Rule, classes: np.ndarray) -> NDArray[np.float64]:
    """Return the share of each class; ties, and what was never counted, go to the conclusion."""
    weights = np.array(rule.weights or (0.0,) * len(classes))
    # A little more for the conclusion, so that probabilities and predictions never disagree.
    weights[classes == rule.conclusion] += max(1e-9 * weights.sum(), 1e-300)
    return weights / weights.sum()


def unique_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules, each combination of terms and conclusion once."""
    seen: dict[tuple[frozenset[Term], Any], Rule] = {}
    for rule in rules:
        seen.setdefault((frozenset(rule.terms), rule.conclusion), rule)
    return tuple(seen.values())


def conditions_text(rule: Rule) -> str:
    """Return the conditions of a rule, joined by AND."""
    return " AND ".join(map(str, rule.terms))


def rule_text(rule: Rule) -> str:
    """Return one rule as a sentence."""
    conclusion = value_text(rule.conclusion)
    return f"IF {conditions_text(rule)} THEN {conclusion}" if rule.terms else f"ELSE {conclusion}"


def base_to_text(base: RuleBase) -> str:
    """Return numbered rules, one a line, with support and confidence where known."""
    lines = [(f"R{place}: {rule_text(rule)}", rule) for place, rule in enumerate(base.rules, 1)]
    lines.append((rule_text(base.default), base.default))
    return "\n".join(text + _numbers_text(rule) for text, rule in lines)


def base_to_markdown(base: RuleBase) -> str:
    """Return the rules as the rows of a Markdown table."""
    rows = [
        (f"R{place}", conditions_text(rule) or "always", rule)
        for place, rule in enumerate(base.rules, 1)
    ]
    rows.append(("", "otherwise", base.default))
    lines = ["| rule | if | then | support | confidence |", "|---|---|---|---:|---:|"]
    for name, conditions, rule in rows:
        cells = [
            name,
            markdown_text(conditions),
            markdown_text(value_text(rule.conclusion)),
            _share_text(rule.support),
            _share_text(rule.confidence),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def base_to_code(base: RuleBase, name: str) -> str:
    """Return a Python function that concludes as the rule base does."""
    if not name.isidentifier():
        raise DataError(f"name is {name!r}; expected the name of a Python function.")
    lines = [
        f"def {name}(row):",
        '    """Return the conclusion for one row, a mapping of column to value."""',
        # A missing entry has no size and is no value: NaN can be asked of both, None cannot.
        '    row = {key: float("nan") if row[key] is None else row[key] for key in row.keys()}',
    ]
    if base.ordered:
        for rule in base.rules:
            lines += [f"    if {_test(rule)}:", f"        return {_literal(rule.conclusion)}"]
        lines.append(f"    return {_literal(base.default.conclusion)}")
    elif base.classes is None:
        lines += _mean_lines(base)
    else:
        lines += _vote_lines(base)
    return "\n".join(lines) + "\n"


def _vote_lines(base: RuleBase) -> list[str]:
    assert base.classes is not None
    # All classes in order, so that a tie falls to the same class as elsewhere.
    classes = ", ".join(f"{_literal(label)}: 0.0" for label in base.classes)
    lines = [f"    votes = {{{classes}}}"]
    for rule in base.rules:
        confidence = 1.0 if math.isnan(rule.confidence) else max(rule.confidence, 1e-12)
        conclusion = _literal(rule.conclusion)
        lines += [f"    if {_test(rule)}:", f"        votes[{conclusion}] += {confidence!r}"]
    return [
        *lines,
        "    if not any(votes.values()):",
        f"        return {_literal(base.default.conclusion)}",
        "    return max(votes, key=votes.get)",
    ]


def _mean_lines(base: RuleBase) -> list[str]:
    lines = ["    conclusions = []"]
    for rule in base.rules:
        conclusion = _literal(rule.conclusion)
        lines += [f"    if {_test(rule)}:", f"        conclusions.append({conclusion})"]
    default = _literal(base.default.conclusion)
    return [*lines, f"    return sum(conclusions) / len(conclusions) if conclusions else {default}"]


def _test(rule: Rule) -> str:
    return " and ".join(map(_term_code, rule.terms)) or "True"


def _term_code(term: Term) -> str:
    entry = f"row[{_literal(term.column)}]"
    relation = {"=": "==", "!=": "!="}.get(term.relation, term.relation)
    test = f"{entry} {relation} {_literal(term.value)}"
    # A missing entry differs from itself.
    if term.relation == "!=":
        test = f"({entry} == {entry} != {_literal(term.value)})"
    if term.accepts_missing:
        return f"({entry} != {entry} or {test})"
    return test


def _literal(value: Any) -> str:
    """Return a value as Python would write it."""
    if isinstance(value, tuple):
        inside = ", ".join(map(_literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        return f"float({str(plain)!r})"
    return repr(plain)


def _numbers_text(rule: Rule) -> str:
    parts = [
        f"{name} {_share_text(share)}"
        for name, share in (("support", rule.support), ("confidence", rule.confidence))
        if not math.isnan(share)
    ]
    return f"  ({', '.join(parts)})" if parts else ""


def _share_text(share: float) -> str:
    return "" if math.isnan(share) else f"{share:.1%}"
