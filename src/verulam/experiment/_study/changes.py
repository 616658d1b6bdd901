"""What changed in a study since it was last carried out, in words."""

from collections.abc import Mapping
from typing import Any

from verulam.experiment._identity import digest


def study_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return one line for each part of a study that is not what it was.

    Parameters
    ----------
    before, after
        Descriptions of the study, as its store has them.

    Examples
    --------
    >>> before = {"seed": 0, "learners": [{"name": "naive bayes", "label": None}]}
    >>> after = {"seed": 1, "learners": [{"name": "nearest mean", "label": None}]}
    >>> study_changes(before, after)
    ['seed: 0 before, now 1', 'learners: without naive bayes, with nearest mean']
    """
    lines = []
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if _same(old, new):
            continue
        if key in ("data", "learners"):
            lines.append(f"{key}: {', '.join(_changed_entries(old or [], new or []))}")
        elif isinstance(old, Mapping) and isinstance(new, Mapping):
            lines += [f"{key}.{line}" for line in study_changes(old, new)]
        else:
            lines.append(f"{key}: {_word(old)} before, now {_word(new)}")
    return lines


def _changed_entries(before: list[Any], after: list[Any]) -> list[str]:
    old, new = ({_name(entry): entry for entry in entries} for entries in (before, after))
    words = [f"without {name}" for name in old if name not in new]
    words += [f"with {name}" for name in new if name not in old]
    for name in old:
        if name in new and not _same(old[name], new[name]):
            keys = dict.fromkeys([*old[name], *new[name]])
            changed = [key for key in keys if not _same(old[name].get(key), new[name].get(key))]
            words.append(f"{name} with other {' and '.join(changed)}")
    return words or ["in another order"]


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("label") or entry.get("name") or entry.get("source")
    return str(name["class"].rpartition(".")[2]) if isinstance(name, Mapping) else str(name)


def _same(first: Any, second: Any) -> bool:
    """Tell whether two values say the same; what is empty is as good as left out."""
    return (not first and not second and first != 0 and second != 0) or digest(first) == digest(
        second
    )


def _word(value: Any) -> str:
    return "nothing" if value in (None, "", [], {}) else str(value)
