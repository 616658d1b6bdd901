"""Every learner by name, ours and borrowed, and the map from the texts to the code."""

from verulam.base import publish as _publish
from verulam.catalogue._complexity import (
    COMPLEXITY_GRADES,
    complexity_of,
    complexity_of_estimator,
)
from verulam.catalogue._entries import Entry, entries, entry, learner, our_entries
from verulam.catalogue._interpretability import GRADES, grade_of
from verulam.catalogue._map import MapRow, read_map
from verulam.catalogue._search import Found, find
from verulam.catalogue._table import learners

__all__ = [
    "COMPLEXITY_GRADES",
    "GRADES",
    "Entry",
    "Found",
    "MapRow",
    "complexity_of",
    "complexity_of_estimator",
    "entries",
    "entry",
    "find",
    "grade_of",
    "learner",
    "learners",
    "our_entries",
    "read_map",
]

_publish(__name__)
