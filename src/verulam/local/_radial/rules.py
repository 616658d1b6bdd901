r"""Fuzzy rules in words: parsed into conditions on columns, and printed from units."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from verulam.base import DataError, unknown_name
from verulam.local._radial.units import FloatArray, RadialUnits

_TOKEN = re.compile(
    r"""\s*(?:(?P<bracket>[()])
    | (?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])
    | (?P<about>≈|~=|~)
    | (?P<spread>±|\+-|\+/-)
    | (?P<equal>=)
    | (?P<comma>,)
    | (?P<quoted>"[^"]*"|'[^']*'|`[^`]*`)
    | (?P<word>[^\s()≈~±=,"'`]+))""",
    re.VERBOSE,
)
#: Digits that are enough for a number that rounding alone keeps from having fewer.
DIGITS, ROUNDING = ".12g", 1e-14
_KEYWORDS = {"IF", "AND", "OR", "THEN", "ELSE", "WITH"}


@dataclass(frozen=True)
class Condition:
    """A column is about some value.

    Attributes
    ----------
    column
        Its name.
    center
        The value :math:`m`.
    spread
        The allowed difference :math:`s`; None where the rule names none.
    """

    column: str
    center: float
    spread: float | None = None

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        width = "" if self.spread is None else f" ± {_number(self.spread, spec)}"
        return f"{_quoted(self.column)} ≈ {_number(self.center, spec)}{width}"


@dataclass(frozen=True)
class FuzzyRule:
    r"""If all conditions hold, about, then the output is such.

    A condition is a bell over one column, their conjunction is the product of the bells: a unit
    with a spread of its own in every column (Alpaydin 12.4). ``format(rule, ".3g")`` is shorter
    than ``str(rule)``, which can be read back.

    Attributes
    ----------
    conditions : tuple of Condition
        All must hold; with none, the rule is the default.
    value
        The output: a number, or the name of a class.
    certainty
        Probability of the class where the rule holds; None for numbers.
    others : tuple of pairs
        Further classes with their probabilities; what is left is shared evenly by those that are
        not named.
    """

    conditions: tuple[Condition, ...]
    value: float | str
    certainty: float | None = None
    others: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        return format(self)

    def __format__(self, spec: str) -> str:
        value = self.value
        result = "y = " + (_number(value, spec) if isinstance(value, float) else _quoted(value))
        if self.certainty:
            result += f" WITH {_number(self.certainty, spec)}"
        for name, probability in self.others:
            result += f", {_quoted(name)} WITH {_number(probability, spec)}"
        if not self.conditions:
            return f"ELSE {result}"
        parts = " AND ".join(format(condition, spec) for condition in self.conditions)
        return f"IF {parts} THEN {result}"


def _quoted(name: str) -> str:
    """Return a name as the reader takes it for one."""
    if re.fullmatch(r"[^\W\d]\w*", name) and name.upper() not in _KEYWORDS:
        return name
    mark = next((mark for mark in "\"'`" if mark not in name), '"')
    return f"{mark}{name}{mark}"


def _number(value: float, spec: str) -> str:
    """Return a number in as many digits as are asked for, or as the way back needs."""
    if spec:
        return f"{value:{spec}}"
    short = f"{value:{DIGITS}}"
    exact = abs(float(short) - value) <= ROUNDING * abs(value)
    return short if exact else repr(float(value))


def parse_rules(text: str | Sequence[Any]) -> list[FuzzyRule]:
    """Return the rules of a text, one for each disjunct.

    Parameters
    ----------
    text
        Rules such as ``IF (a ≈ 1 ± 0.2 AND b ≈ 2) OR c ≈ 3 THEN y = 0.1``, one to a line, or a
        list of lines and rules. ``~`` stands for ≈ and ``+-`` for ±; names with spaces are put in
        quotes; ``ELSE y = 0`` is the output where no rule holds; ``y = a WITH 0.7, b WITH 0.2``
        states probabilities of classes, of which those that are not named share the rest.

    Notes
    -----
    See Alpaydin 12.4 (12.23). A disjunction makes a rule for each of its parts.

    Examples
    --------
    >>> from verulam.local import parse_rules
    >>> for rule in parse_rules("IF ((a ~ 1) AND (b ~ 2)) OR (c ~ 3 +- 0.5) THEN y = 0.1"):
    ...     print(rule)
    IF a ≈ 1 AND b ≈ 2 THEN y = 0.1
    IF c ≈ 3 ± 0.5 THEN y = 0.1
    """
    if isinstance(text, str):
        lines: list[Any] = [line for line in text.splitlines() if line.strip()]
    elif isinstance(text, Sequence):
        lines = list(text)
    else:
        raise DataError(f"rules: expected a text or a list of rules; got {type(text).__name__}.")
    if not lines:
        raise DataError("rules: the text has no rules.")
    rules: list[FuzzyRule] = []
    for line in lines:
        if isinstance(line, FuzzyRule):
            rules.append(line)
        elif isinstance(line, str):
            rules += _Reader(line).rules()
        else:
            raise DataError(f"rules: expected texts; got {type(line).__name__} in the list.")
    return rules


class _Reader:
    """Reads one rule from left to right."""

    def __init__(self, line: str) -> None:
        self.line = line.strip()
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(self.line):
            match = _TOKEN.match(self.line, place)
            if match is None:
                raise self.refusal(f"{self.line[place:].strip()[:20]!r} cannot be read")
            kind = str(match.lastgroup)
            word = match.group(kind)
            if kind == "word" and word.upper() in _KEYWORDS:
                kind, word = "keyword", word.upper()
            elif kind == "quoted":
                kind, word = "word", word[1:-1]
            self.tokens.append((kind, word))
            place = match.end()
        self.place = 0

    def refusal(self, reason: str) -> DataError:
        return DataError(
            f"rules: {reason} in {self.line[:80]!r}; rules read like "
            "'IF (a ≈ 1 ± 0.2 AND b ≈ 2) OR c ≈ 3 THEN y = 0.1'."
        )

    def next_is(self, kind: str, word: str | None = None) -> bool:
        if self.place >= len(self.tokens):
            return False
        token = self.tokens[self.place]
        return token[0] == kind and word in (None, token[1])

    def take(self, kind: str, word: str | None = None) -> str:
        if not self.next_is(kind, word):
            expected = word or {"about": "≈", "equal": "="}.get(kind, f"a {kind}")
            at = self.tokens[self.place][1] if self.place < len(self.tokens) else "the end"
            raise self.refusal(f"{expected} is expected where {at!r} stands")
        self.place += 1
        return self.tokens[self.place - 1][1]

    def rules(self) -> list[FuzzyRule]:
        if self.next_is("keyword", "ELSE"):
            self.place += 1
            disjuncts: list[tuple[Condition, ...]] = [()]
        else:
            self.take("keyword", "IF")
            disjuncts = self.disjunction()
            self.take("keyword", "THEN")
        value, certainty, others = self.consequent()
        if self.place < len(self.tokens):
            raise self.refusal(f"{self.tokens[self.place][1]!r} is too much")
        return [FuzzyRule(conditions, value, certainty, others) for conditions in disjuncts]

    def disjunction(self) -> list[tuple[Condition, ...]]:
        parts = self.conjunction()
        while self.next_is("keyword", "OR"):
            self.place += 1
            parts = parts + self.conjunction()
        return parts

    def conjunction(self) -> list[tuple[Condition, ...]]:
        parts = self.factor()
        while self.next_is("keyword", "AND"):
            self.place += 1
            # OR inside of AND is multiplied out, since a unit is a conjunction.
            parts = [left + right for left, right in product(parts, self.factor())]
        return parts

    def factor(self) -> list[tuple[Condition, ...]]:
        if self.next_is("bracket", "("):
            self.place += 1
            parts = self.disjunction()
            self.take("bracket", ")")
            return parts
        column = self.take("word")
        self.take("about")
        center = float(self.take("number"))
        spread = None
        if self.next_is("spread"):
            self.place += 1
            spread = float(self.take("number"))
            if spread <= 0:
                raise self.refusal("a spread must be positive")
        return [(Condition(column, center, spread),)]

    def consequent(self) -> tuple[float | str, float | None, tuple[tuple[str, float], ...]]:
        if self.place + 1 < len(self.tokens) and self.tokens[self.place + 1][0] == "equal":
            self.place += 2
        value: float | str
        value = float(self.take("number")) if self.next_is("number") else self.take("word")
        if not self.next_is("keyword", "WITH"):
            return value, None, ()
        certainty = self.probability()
        others = []
        while self.next_is("comma"):
            self.place += 1
            name = self.take("number" if self.next_is("number") else "word")
            others.append((name, self.probability()))
        if certainty + sum(part for _, part in others) > 1 + 1e-9:
            raise self.refusal("the probabilities of classes must not sum to more than 1")
        if certainty == 1 and not others:
            raise self.refusal("a certainty must lie between 0 and 1")
        return value, certainty, tuple(others)

    def probability(self) -> float:
        self.take("keyword", "WITH")
        number = float(self.take("number"))
        if not 0 < number <= 1:
            raise self.refusal("a certainty must lie between 0 and 1")
        return number


def units_of_rules(
    rules: Sequence[FuzzyRule], columns: Sequence[str], default_spreads: FloatArray
) -> RadialUnits:
    """Return a unit for each rule: bells over the columns it names, and no bound on the others.

    Parameters
    ----------
    rules
        Rules with conditions.
    columns
        Names of the columns, in order.
    default_spreads
        Spreads of conditions that name none, by column.
    """
    centers = np.zeros((len(rules), len(columns)))
    variances = np.full((len(rules), len(columns)), np.inf)
    places = {str(name): place for place, name in enumerate(columns)}
    for row, rule in enumerate(rules):
        for condition in rule.conditions:
            if condition.column not in places:
                raise unknown_name("column in rules:", condition.column, places)
            place = places[condition.column]
            spread = default_spreads[place] if condition.spread is None else condition.spread
            if np.isfinite(variances[row, place]):
                raise DataError(
                    f"rules: {str(rule)!r} names the column {condition.column!r} twice."
                )
            centers[row, place], variances[row, place] = condition.center, spread**2
    return RadialUnits(centers, variances, "diag")


def conditions_of_units(units: RadialUnits, columns: Sequence[str]) -> list[tuple[Condition, ...]]:
    """Return the conditions that each unit stands for; correlations are left out.

    Parameters
    ----------
    units
        The units.
    columns
        Names of the columns, in order.
    """
    if units.covariance_type == "spherical":
        variances = np.repeat(units.covariances[:, None], len(columns), axis=1)
    elif units.covariance_type == "full":
        variances = np.einsum("hjj->hj", units.covariances)
    else:
        variances = units.covariances
    return [
        tuple(
            Condition(str(name), float(center), float(np.sqrt(variance)))
            for name, center, variance in zip(columns, row, widths, strict=True)
            if np.isfinite(variance)
        )
        for row, widths in zip(units.centers, variances, strict=True)
    ]
