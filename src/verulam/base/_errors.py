"""Errors and warnings with one home, and the wording they share."""

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches

from verulam.base._plain_text import visible_text

#: Packages between a user's call and the place where a warning arises.
_BETWEEN = ("verulam", "sklearn", "joblib", "contextlib")


class DataError(ValueError):
    """The data cannot be used as given; the message says where and what would work."""

    def __str__(self) -> str:
        # Names and values in the message come from the data.
        return visible_text(super().__str__())


class UnknownNameError(KeyError):
    """A name that is in no list; the message gives the nearest ones."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, quotes and all; a sentence reads better.
        return visible_text(str(self.args[0]))


class DataWarning(UserWarning):
    """The data was used, but something about it deserves a look."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's own call, however deep in the library it arises.

    Parameters
    ----------
    message
        What to say.
    category
        Kind of warning.
    """
    # A fixed stack level would name a line of ours wherever another layer lies in between.
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(visible_text(message), category, stacklevel=level)


def _package(module: dict[str, object]) -> str:
    return str(module.get("__name__", "")).partition(".")[0]


def unknown_name(kind: str, name: str, known: Iterable[str], *, hint: str = "") -> UnknownNameError:
    """Return the error for an unknown `name` of some `kind`, with the three nearest known ones."""
    nearest = nearest_names(name, known)
    message = f"Unknown {kind} {name!r}."
    if nearest:
        message += f" Nearest: {', '.join(nearest)}."
    return UnknownNameError(f"{message} {hint}".strip())


def nearest_names(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` known names that look most like `name`, whatever their case."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(name.lower(), by_lower, n=count, cutoff=0.0)
    return [by_lower[match] for match in matches]
