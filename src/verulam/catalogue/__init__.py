"""Every learner by name, ours and borrowed, and the map from the texts to the code."""

from verulam.base import publish as _publish
from verulam.catalogue._entries import (
    Entry,
    agent_entries,
    entries,
    entry,
    learner,
    learners,
    our_entries,
)
from verulam.catalogue._grades import (
    COMPLEXITY_GRADES,
    GRADES,
    complexity_of,
    complexity_of_estimator,
    grade_of,
)
from verulam.catalogue._map import MapRow, read_map
from verulam.catalogue._search import SearchResult, find

__all__ = [
    "COMPLEXITY_GRADES",
    "GRADES",
    "Entry",
    "MapRow",
    "SearchResult",
    "agent_entries",
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
