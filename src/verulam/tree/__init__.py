"""Decision trees that take a table as it is, and say what they have learned."""

from verulam.tree._structure import (
    Condition,
    Path,
    TreeStructure,
    collapse,
    conditions,
    merge_conditions,
    paths,
)

__all__ = [
    "Condition",
    "Path",
    "TreeStructure",
    "collapse",
    "conditions",
    "merge_conditions",
    "paths",
]
