"""A study written as a TOML file that `read_study` reads."""

import json
import re
from collections.abc import Mapping
from typing import Any

from verulam.base import DataError

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
#: Parts that are lists of tables, each with a heading of its own.
_TABLES = ("data", "learners")


def study_toml(description: Mapping[str, Any]) -> str:
    """Return a description of a study as a TOML file.

    Parameters
    ----------
    description
        The study, as its store has it; what is None or empty is left out.

    Examples
    --------
    >>> print(study_toml({"name": "flowers", "seed": 0, "data": [{"source": "iris"}]}))
    name = "flowers"
    seed = 0
    <BLANKLINE>
    [[data]]
    source = "iris"
    """
    blocks = [_lines({key: item for key, item in description.items() if key not in _TABLES})]
    for name in _TABLES:
        blocks += [f"[[{name}]]\n{_lines(each)}" for each in description.get(name, ())]
    return "\n\n".join(blocks)


def _lines(table: Mapping[str, Any]) -> str:
    # To tune nothing is another wish than none at all.
    given = {key: item for key, item in table.items() if key == "tune" or not _is_nothing(item)}
    given = {key: item for key, item in given.items() if item is not None}
    return "\n".join(f"{_key(key)} = {_value(item, key)}" for key, item in given.items())


def _is_nothing(item: Any) -> bool:
    return item is None or (isinstance(item, str | list | Mapping) and not item)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # The strings of JSON are those of TOML, but for one character that TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(item: Any, key: str) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int | float):
        return repr(item)
    if isinstance(item, str):
        return _text(item)
    if isinstance(item, list):
        return f"[{', '.join(_value(each, key) for each in item)}]"
    if isinstance(item, Mapping):
        pairs = [
            f"{_key(name)} = {_value(each, name)}"
            for name, each in item.items()
            if each is not None
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise DataError(f"{key}: TOML has no way to write {item!r}.")
