"""Rule bases as text, Markdown and Python code."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from verulam.base import DataError
from verulam.rule._term import Term, value_text

if TYPE_CHECKING:
    from verulam.rule._base import Rule, RuleBase


def conditions_text(rule: "Rule") -> str:
    """Return the conditions of a rule, joined by AND."""
    return " AND ".join(map(str, rule.terms))


def rule_text(rule: "Rule") -> str:
    """Return one rule as a sentence."""
    conclusion = value_text(rule.conclusion)
    return f"IF {conditions_text(rule)} THEN {conclusion}" if rule.terms else f"ELSE {conclusion}"


def base_to_text(base: "RuleBase") -> str:
    """Return numbered rules, one a line, with support and confidence where known."""
    lines = [(f"R{place}: {rule_text(rule)}", rule) for place, rule in enumerate(base.rules, 1)]
    lines.append((rule_text(base.default), base.default))
    return "\n".join(text + _numbers_text(rule) for text, rule in lines)


def base_to_markdown(base: "RuleBase") -> str:
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
            conditions.replace("|", "\\|"),
            value_text(rule.conclusion).replace("|", "\\|"),
            _share_text(rule.support),
            _share_text(rule.confidence),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def base_to_code(base: "RuleBase", name: str) -> str:
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


def _vote_lines(base: "RuleBase") -> list[str]:
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


def _mean_lines(base: "RuleBase") -> list[str]:
    lines = ["    found = []"]
    for rule in base.rules:
        conclusion = _literal(rule.conclusion)
        lines += [f"    if {_test(rule)}:", f"        found.append({conclusion})"]
    default = _literal(base.default.conclusion)
    return [*lines, f"    return sum(found) / len(found) if found else {default}"]


def _test(rule: "Rule") -> str:
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


def _numbers_text(rule: "Rule") -> str:
    parts = [
        f"{name} {_share_text(share)}"
        for name, share in (("support", rule.support), ("confidence", rule.confidence))
        if not math.isnan(share)
    ]
    return f"  ({', '.join(parts)})" if parts else ""


def _share_text(share: float) -> str:
    return "" if math.isnan(share) else f"{share:.1%}"
