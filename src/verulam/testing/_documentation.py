"""Docstrings that keep their promises: names, quoted defaults, attributes, an example."""

import ast
import inspect
import re
from collections.abc import Iterable
from typing import Any

from verulam.base import clone
from verulam.testing._samples import fitted, sample_for

_UNDERLINE = re.compile(r"^-{3,}\s*$")
_DEFAULT = re.compile(
    r"\b[Dd]efault(?:s to| is|:)? +(?:``?([^`]+)``?|([^\s,;)]+?)(?=[,;)]|\.?(?:\s|$)))"
)


def documented_names(docstring: str, section: str) -> list[str]:
    """Return the names that one section of a numpy-style docstring lists.

    Parameters
    ----------
    docstring
        With or without its indentation.
    section
        Such as "Parameters".

    Examples
    --------
    >>> from verulam.testing import check_learner
    >>> documented_names(check_learner.__doc__, "Parameters")
    ['learner']
    """
    names: list[str] = []
    for line in _section_lines(docstring, section):
        if line and not line[0].isspace():
            names += _listed_names(line)
    return names


def quoted_defaults(docstring: str) -> dict[str, Any]:
    """Return the defaults that the text of "Parameters" quotes, by parameter.

    Examples
    --------
    >>> quoted_defaults('''Do it.
    ...
    ... Parameters
    ... ----------
    ... depth
    ...     How deep to go. Default ``3``.
    ... ''')
    {'depth': 3}
    """
    defaults: dict[str, Any] = {}
    names: list[str] = []
    for line in _section_lines(docstring, "Parameters"):
        if line and not line[0].isspace():
            names = _listed_names(line)
        for match in _DEFAULT.finditer(line):
            try:
                value = ast.literal_eval(match[1] or match[2])
            except (SyntaxError, ValueError):
                # "the default learners" quotes no value.
                continue
            defaults.update(dict.fromkeys(names, value))
    return defaults


def check_documented_parameters(learner: Any) -> None:
    """Check that the docstring lists the constructor's parameters and quotes true defaults."""
    accepted = inspect.signature(type(learner)).parameters
    docstring = inspect.getdoc(type(learner)) or ""
    _same_names(documented_names(docstring, "Parameters"), accepted, type(learner).__name__)
    for name, value in quoted_defaults(docstring).items():
        true = accepted[name].default
        assert true == value, f"{name}: documented default {value!r}, true default {true!r}"


def check_documented_attributes(learner: Any) -> None:
    """Check that every documented attribute ends in an underscore and is there after `fit`.

    One whose text begins with "Only with" is there where that parameter asks for it.
    """
    docstring = inspect.getdoc(type(learner)) or ""
    names = documented_names(docstring, "Attributes")
    assert names, f"{type(learner).__name__} documents no attributes"
    conditional = _conditional_names(docstring)
    ready = fitted(clone(learner), sample_for(learner))
    for name in names:
        assert name.endswith("_"), f"attribute {name!r} does not end in an underscore"
        present = hasattr(ready, name) or name in conditional
        assert present, f"attribute {name!r} is documented but not there after fit"


def _conditional_names(docstring: str) -> set[str]:
    """Return the attributes whose text says that they are there only with some parameter."""
    conditional, names = set(), list[str]()
    for line in _section_lines(docstring, "Attributes"):
        if line and not line[0].isspace():
            names = _listed_names(line)
        elif line.strip().startswith("Only with"):
            conditional.update(names)
    return conditional


def check_doctest(learner: Any) -> None:
    """Check that the docstring has an example."""
    docstring = inspect.getdoc(type(learner)) or ""
    assert ">>> " in docstring, f"{type(learner).__name__} has no example in its docstring"


def _same_names(documented: Iterable[str], accepted: Iterable[str], where: str) -> None:
    missing = sorted(set(accepted) - set(documented))
    surplus = sorted(set(documented) - set(accepted))
    assert not missing, f"{where} does not document {', '.join(missing)}"
    assert not surplus, f"{where} documents {', '.join(surplus)}, which it does not have"


def _listed_names(line: str) -> list[str]:
    listed = line.partition(" : ")[0].rstrip(":")
    return [name.strip().lstrip("*") for name in listed.split(",") if name.strip()]


def _section_lines(docstring: str, section: str) -> list[str]:
    lines = inspect.cleandoc(docstring).splitlines()
    for number, line in enumerate(lines[:-1]):
        if line.strip() == section and _UNDERLINE.match(lines[number + 1]):
            body = lines[number + 2 :]
            for end, later in enumerate(body[1:]):
                if _UNDERLINE.match(later):
                    return body[:end]
            return body
    return []
