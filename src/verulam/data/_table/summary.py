"""One row per column: what it holds, what it seems to be, and what deserves a look."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from verulam.data._table.columns import kind_of
from verulam.data._table.written_values import units_of

#: So many values are looked at; more would not change a hint.
_LOOKED_AT = 10_000
#: Fewer consecutive numbers may well be measurements.
_FEWEST_ROW_NUMBERS = 20
#: Numbers of rows may have gaps, but most of them are there.
_GAPS = 1.25
#: From here on, a float does not tell a whole number from the next.
_LARGEST_WHOLE = 2**53

# Anchored at both ends, so that a sentence that begins with a number is none.
_DECORATED = r"[-+]?\s?[€$£¥]?\s?\d{1,3}(?:[.,' \u00a0]?\d{3})*(?:[.,]\d+)?\s?(?:%|[€$£¥])?"
_PLAIN_DATE = r"\d{4}-\d{2}-\d{2}(?:[ T].*)?"
#: The remark on text that is nothing but digits.
DIGITS = "codes of digits"
_LOCAL_DATE = r"\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?"


def column_hint(column: pd.Series) -> str:
    """Return a remark on what a column seems to be, or nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from verulam.data import column_hint
    >>> column_hint(pd.Series(["4.211,54", "87,10", "5,00"]))
    "looks like numbers, written as '4.211,54'"
    """
    return hint(column.dropna(), kind_of(column))


def hint(present: pd.Series, kind: str) -> str:
    """Return the remark on values of that kind, none of them missing."""
    if kind == "text":
        texts = present.iloc[:_LOOKED_AT].astype(str)
        remark = _text_hint(texts.str.strip())
        if remark == DIGITS and len(present) > len(
            texts
        ):  # which may be so of the first rows alone
            remark = _text_hint(present.astype(str).str.strip())
        return ", ".join(filter(None, [remark, _space_hint(texts)]))
    if kind in {"categorical", "ordinal"}:
        words = pd.Series(present.cat.categories)
        return ", ".join(filter(None, [_number_hint(words), _space_hint(words)]))
    if kind == "numeric" and numbers_the_rows(present):
        return "numbers the rows"
    if kind == "numeric" and pd.api.types.is_integer_dtype(present.dtype):
        # Learners work with floats.
        rounded = len(present) and (
            present.max() > _LARGEST_WHOLE or present.min() < -_LARGEST_WHOLE
        )
        return "whole numbers of more digits than a float holds" if rounded else ""
    return ""


def _space_hint(values: pd.Series) -> str:
    """Return the remark on strings with spaces around them, which tell equal words apart."""
    texts = values[[isinstance(value, str) for value in values]].astype(object)
    padded = texts[texts != texts.str.strip()]
    if padded.empty:
        return ""
    distinct = set(texts)
    twins = [text for text in padded if text.strip() in distinct]
    if twins:
        return f"{twins[0]!r} and {twins[0].strip()!r} differ by spaces alone"
    return f"spaces around values, such as {padded.iloc[0]!r}"


def _number_hint(words: pd.Series) -> str:
    """Return the remark on categories that are numbers but for a few, or dates."""
    if words.empty or not all(isinstance(word, str) for word in words):
        return ""
    words = words.str.strip()
    plain = pd.to_numeric(words, errors="coerce").notna()
    odd = int((~plain).sum())
    if plain.sum() > 2 * odd > 0:
        return _text_hint(words)
    if plain.any() and plain.all():
        return ""
    return _date_hint(words) or _unit_hint(words)


def _date_hint(texts: pd.Series) -> str:
    """Return the remark on strings that are dates, but not all, or not in one way."""
    plain = texts.str.fullmatch(_PLAIN_DATE)
    local = texts.str.fullmatch(_LOCAL_DATE)
    if (plain | local).mean() <= 0.5:
        return ""
    if plain.sum() > local.sum():
        return f"looks like dates, but for {_some(texts[~plain])}" if not plain.all() else ""
    return f"looks like dates, which are read in the form 2024-02-29, not {texts[local].iloc[0]}"


def _unit_hint(words: pd.Series) -> str:
    """Return the remark on amounts with more than one unit."""
    units = units_of(words.tolist())
    if units is None:
        return ""
    if len(units) > 1:
        return f"looks like numbers, but with several units: {_some(words)}"
    both = all(words.str.contains(rf"\d{mark}\d", regex=True).any() for mark in ("[.]", ","))
    if both and words.str.fullmatch(r"-?\d+(?:[.,]\d+)?").all():
        return f"looks like numbers, but with points and commas: {_some(words)}"
    return ""


def _some(texts: pd.Series) -> str:
    """Return the first different ones of some strings, and how many others there are."""
    others = texts.unique()
    more = f" and {len(others) - 3} others" if len(others) > 3 else ""
    return ", ".join(repr(str(text)) for text in others[:3]) + more


def _text_hint(texts: pd.Series) -> str:
    if dates := _date_hint(texts):
        return dates
    plain = pd.to_numeric(texts, errors="coerce").notna()
    if plain.all():
        return DIGITS
    if plain.mean() > 0.5:
        return f"looks like numbers, but for {_some(texts[~plain])}"
    if units := _unit_hint(texts):
        return units
    decorated = texts.str.fullmatch(_DECORATED)
    if decorated.mean() > 0.5:
        return f"looks like numbers, written as {texts[decorated].iloc[0]!r}"
    return ""


def numbers_the_rows(present: pd.Series) -> bool:
    """Tell whether whole numbers go up with the rows, few of them left out."""
    return bool(
        len(present) >= _FEWEST_ROW_NUMBERS
        and pd.api.types.is_integer_dtype(present.dtype)
        and (present.diff().iloc[1:] >= 1).all()
        # Some rows may have been left out of the count.
        and present.iloc[-1] - present.iloc[0] < _GAPS * len(present)
    )


def summarise(
    table: pd.DataFrame, roles: Mapping[str, str], hints: Mapping[str, str]
) -> pd.DataFrame:
    """Return kind, role, missing and distinct counts, range or most frequent value, and a note."""
    rows = [
        _column_summary(table[name], roles[name], hints.get(name, "")) for name in table.columns
    ]
    summary = pd.DataFrame(rows, index=pd.Index(table.columns, name="column"))
    return summary.astype({"minimum": object, "mean": object, "maximum": object})


def _column_summary(column: pd.Series, role: str, file_hint: str) -> dict[str, object]:
    kind = kind_of(column)
    present = column.dropna()
    summary: dict[str, object] = {
        "kind": kind,
        "role": role,
        "missing": int(column.isna().sum()),
        "distinct": int(present.nunique()),
        "minimum": "",
        "mean": "",
        "maximum": "",
        "most_frequent": "",
        "note": ", ".join(filter(None, [_note(column, present, kind), file_hint])),
    }
    if present.empty:
        return summary
    if kind in {"numeric", "date", "ordinal"}:
        summary["minimum"] = present.min()
        summary["maximum"] = present.max()
    if kind == "numeric":
        # Infinite values have a range, but their mean may not exist.
        summary["mean"] = float(present.mean()) if np.isfinite(present).all() else np.nan
    elif kind != "date":
        summary["most_frequent"] = present.mode().iloc[0]
    return summary


def _note(column: pd.Series, present: pd.Series, kind: str) -> str:
    if present.empty:
        return "all values missing" if len(column) else "no rows"
    notes = []
    if len(present) > 1 and (present == present.iloc[0]).all():
        notes.append("constant")
    if kind == "numeric" and (n_infinite := int(np.isinf(present.to_numpy(float)).sum())):
        notes.append(f"{n_infinite} infinite")
    return ", ".join([*notes, *filter(None, [hint(present, kind)])])
