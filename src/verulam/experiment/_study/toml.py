"""Study files in TOML: read with errors that name the key, and written."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from verulam.base import DataError, UnknownNameError, nearest_names
from verulam.experiment._study.choices import DataChoice, LearnerChoice
from verulam.experiment._study.cost_matrix import read_losses
from verulam.experiment._study.study import Study
from verulam.experiment._tasks.environments import EnvironmentChoice

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
#: Parts of a study that are lists of tables, each with a heading of its own.
_TABLES = ("data", "learners")


def read_study(path: str | Path) -> Study:
    """Read a study from a TOML file.

    Files of data, and of losses, are looked for beside the study file. Errors name the key.

    Parameters
    ----------
    path
        The file.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a TOML file: {error}.") from error
    try:
        if isinstance(content.get("losses"), str):
            content["losses"] = read_losses(path.parent / content["losses"])
        study = parse_study(content, default_name=path.stem)
    except (DataError, UnknownNameError) as error:
        raise type(error)(f"{path}: {error}") from error
    beside = [_beside(choice, path.parent) for choice in study.data]
    return replace(study, data=beside)


_KEYS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "aim": str,
    "question": str,
    "measures": list,
    "response": (list, str),
    "resampling": (str, dict),
    "design": (str, dict),
    "preparations": list,
    "nuisance": list,
    "replications": int,
    "training_shares": list,
    "test_share": (int, float),
    "seed": int,
    "tuning": dict,
    "budget": dict,
    "time_limit": (int, float),
    "memory_limit": (int, float),
    "analysis": dict,
    "losses": (list, dict, str),
    "reject_cost": (int, float),
    "task": str,
    "data": list,
    "environments": list,
    "learners": list,
    "agents": list,
}
_DATA_KEYS: dict[str, type | tuple[type, ...]] = {
    "source": str,
    "target": (str, list),
    "label": str,
    "groups": str,
    "drop_missing_target": bool,
    "leave_out": (list, str),
    "keep": (list, str),
    "categorical": (list, str),
    "weights": str,
    "rare": str,
}
_ENVIRONMENT_KEYS: dict[str, type | tuple[type, ...]] = {
    "source": str,
    "label": str,
    "episodes": int,
    "test_episodes": int,
    "max_steps": int,
    "discount": (int, float),
    "options": dict,
}
_LEARNER_KEYS: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "label": str,
    "parameters": dict,
    "factors": dict,
    "design": (str, dict),
    "tune": (dict, bool),
    "decision": str,
}


def parse_study(content: Mapping[str, Any], *, default_name: str = "study") -> Study:
    """Return the study that a parsed TOML file describes."""
    keys = _checked(content, _KEYS, "")
    data = _data(keys)
    tables = "agents" if "agents" in keys else "learners"
    if tables not in keys:
        raise DataError(f"{tables}: missing; add a table [[{tables}]].")
    learners = []
    for number, entry in enumerate(keys.pop(tables)):
        checked = _checked(_table(entry, "name"), _LEARNER_KEYS, f"{tables}[{number}].")
        if "name" not in checked:
            raise DataError(f"{tables}[{number}].name: missing.")
        learners.append(LearnerChoice(checked.pop("name"), **checked))
    return Study(keys.pop("name", default_name), data, learners, **keys)


def _data(keys: dict[str, Any]) -> list[DataChoice] | list[EnvironmentChoice]:
    """Return the data sets or the environments of a file, taken out of its keys."""
    if "data" in keys and "environments" in keys:
        raise DataError("environments: a study has either these or data.")
    if "data" not in keys and "environments" not in keys:
        raise DataError("data: missing; add a table [[data]], or [[environments]] for agents.")
    name, known = ("data", _DATA_KEYS) if "data" in keys else ("environments", _ENVIRONMENT_KEYS)
    tables = [
        _checked(_table(entry, "source"), known, f"{name}[{number}].")
        for number, entry in enumerate(keys.pop(name))
    ]
    if any("source" not in table for table in tables):
        raise DataError(f"{name}: each entry needs a source.")
    if name == "data":
        return [DataChoice(**table) for table in tables]
    return [EnvironmentChoice(**table) for table in tables]


def _table(entry: Any, key: str) -> Any:
    """Return an entry as a table; a plain word stands for its most important key."""
    return {key: entry} if isinstance(entry, str) else entry


#: What the kinds of values are called in a study file; a whole number is a number, too.
_KINDS = {
    bool: "true or false",
    dict: "a table",
    float: "a number",
    int: "a whole number",
    list: "a list",
    str: "a text",
}


def _checked(table: Any, keys: Mapping[str, type | tuple[type, ...]], where: str) -> dict[str, Any]:
    if not isinstance(table, Mapping):
        raise DataError(f"{where.rstrip('.')}: expected a table, got {type(table).__name__}.")
    for key, value in table.items():
        if key not in keys:
            nearest = nearest_names(key, keys, count=1)
            raise DataError(f"{where}{key}: no such key. Nearest: {', '.join(nearest)}.")
        expected = keys[key]
        names = expected if isinstance(expected, tuple) else (expected,)
        # Truth values are whole numbers to Python, but not to a reader.
        if not isinstance(value, names) or (isinstance(value, bool) and bool not in names):
            kinds = [name for name in names if not (name is int and float in names)]
            words = " or ".join(_KINDS[kind] for kind in kinds)
            raise DataError(f"{where}{key}: expected {words}, got {value!r}.")
    return dict(table)


def _beside(choice: Any, folder: Path) -> Any:
    source = choice.source
    if isinstance(choice, EnvironmentChoice):
        return choice
    if isinstance(source, str) and not Path(source).is_absolute() and (folder / source).is_file():
        return replace(choice, source=str(folder / source))
    return choice


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
    acting = description.get("task") == "control"
    # That agents act is said by the headings.
    left_out = (*_TABLES, "task") if acting else _TABLES
    blocks = [_lines({key: item for key, item in description.items() if key not in left_out})]
    headings = ("environments", "agents") if acting else _TABLES
    for name, heading in zip(_TABLES, headings, strict=True):
        blocks += [f"[[{heading}]]\n{_lines(entry)}" for entry in description.get(name, ())]
    return "\n\n".join(blocks)


def _lines(table: Mapping[str, Any]) -> str:
    # To tune nothing is another wish than none at all.
    written = {
        key: item
        for key, item in table.items()
        if item is not None and (key == "tune" or not _is_nothing(item))
    }
    return "\n".join(f"{_key(key)} = {_value(item, key)}" for key, item in written.items())


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
        return f"[{', '.join(_value(member, key) for member in item)}]"
    if isinstance(item, Mapping):
        pairs = [
            f"{_key(name)} = {_value(member, name)}"
            for name, member in item.items()
            if member is not None
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    raise DataError(f"{key}: TOML has no way to write {item!r}.")
