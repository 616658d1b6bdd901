"""Contracts that every other package builds on."""

from verulam.base._errors import (
    DataError,
    DataWarning,
    UnknownNameError,
    nearest_names,
    unknown_name,
)

__all__ = [
    "DataError",
    "DataWarning",
    "UnknownNameError",
    "nearest_names",
    "unknown_name",
]
