"""How a resampling is written: as a word such as "10x10-fold", or as a table of a study file."""

import re
from collections.abc import Mapping
from typing import Any

from verulam.base import DataError, nearest_names
from verulam.experiment._resampling.kinds import KINDS

#: A pattern, the kind it stands for, and the number that each of its groups is.
_FORMS: tuple[tuple[str, str], ...] = (
    (r"(?P<repeats>\d+)-(?P<max_repeats>\d+)x(?P<folds>\d+)-fold", "k-fold"),
    (r"(?:(?P<repeats>\d+)x)?(?P<folds>\d+)-fold", "k-fold"),
    (r"(?P<repeats>\d+)x2", "5x2"),
    (r"(?:(?P<repeats>\d+)x )?holdout(?: (?P<share>\d*\.?\d+))?", "holdout"),
    (r"leave-one-out", "leave-one-out"),
    (r"(?P<kind>bootstrap|out-of-bag)(?: (?P<repeats>\d+))?", ""),
    (r"disjoint(?: (?P<folds>\d+))?", "disjoint"),
    (r"k-fold", "k-fold"),
)

#: Other names of a kind, with the numbers that the name implies.
_ALIASES: Mapping[str, dict[str, Any]] = {
    "repeated k-fold": {"kind": "k-fold", "repeats": 10},
}


def parsed(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the kind and numbers that a word or a table stands for, defaults included."""
    numbers = _from_word(given) if isinstance(given, str) else _from_table(given)
    return {**KINDS[numbers["kind"]].defaults, **numbers}


def accepted_forms() -> str:
    """Return the sentence that lists what may be written."""
    words = ", ".join(repr(form) for kind in KINDS.values() for form in kind.forms)
    return (
        f"expected {words}, each perhaps with 'by' and a column of groups, or a table with kind "
        f"(one of {', '.join(KINDS)}), its numbers and groups."
    )


def _from_word(word: str) -> dict[str, Any]:
    form, by, column = word.strip().partition(" by ")
    plain = " ".join(form.lower().replace("×", "x").split())
    groups = {"groups": column.strip()} if by else {}
    if plain in _ALIASES:
        return {**_ALIASES[plain], **groups}
    for pattern, kind in _FORMS:
        if found := re.fullmatch(pattern, plain):
            given = {name: text for name, text in found.groupdict().items() if text is not None}
            numbers = {name: _number(name, text) for name, text in given.items()}
            return {"kind": kind, **numbers, **groups}
    raise DataError(f"resampling: {word!r}; {accepted_forms()}")


def _number(name: str, text: str) -> Any:
    if name == "kind":
        return text
    return float(text) if name == "share" else int(text)


def _from_table(table: Mapping[str, Any]) -> dict[str, Any]:
    if "kind" not in table:
        raise DataError(f"resampling.kind: missing; {accepted_forms()}")
    implied = _ALIASES.get(table["kind"], {"kind": table["kind"]})
    kind = implied["kind"]
    if kind not in KINDS:
        known = [*KINDS, *_ALIASES]
        nearest = f" Nearest: {nearest_names(kind, known, 1)[0]}." if isinstance(kind, str) else ""
        raise DataError(f"resampling.kind: {kind!r}; expected one of {', '.join(known)}.{nearest}")
    accepted = KINDS[kind].defaults
    for key, value in table.items():
        if key == "kind":
            continue
        if key == "groups":
            if not isinstance(value, str) or not value:
                raise DataError(f"resampling.groups: expected the name of a column, got {value!r}.")
            continue
        if key not in accepted:
            words = f"it takes {', '.join(accepted)}" if accepted else "it takes no numbers"
            raise DataError(f"resampling.{key}: no number of {kind}; {words}.")
        if value is None and accepted[key] is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataError(f"resampling.{key}: expected a number, got {value!r}.")
    return {**implied, **{key: value for key, value in table.items() if key != "kind"}}
