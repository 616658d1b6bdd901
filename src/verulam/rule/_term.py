"""Terms: what a rule asks of one column."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, TableSchema, nearest_names

#: Relations to a number, as the text of a rule writes them.
NUMERIC_RELATIONS = ("<=", "<", ">=", ">")
#: Relations to one category, or to several.
CATEGORICAL_RELATIONS = ("=", "!=", "in")


@dataclass(frozen=True)
class Term:
    """One condition of a rule, on one column.

    A missing entry meets no condition, unless the term accepts it.

    Attributes
    ----------
    column
        Name of the column, or its position where the table has no names.
    relation
        "<=", "<", ">=" or ">" to a number; "=" or "!=" to a category or number; "in" a tuple
        of categories.
    value
        What the entry is compared with.
    accepts_missing
        Whether a missing entry meets the condition.

    Examples
    --------
    >>> from verulam.rule import Term
    >>> print(Term("age", "<=", 38.5))
    age <= 38.5
    >>> print(Term("job", "in", ("A", "B"), accepts_missing=True))
    job in {A, B} or missing
    """

    column: Any
    relation: str
    value: Any
    accepts_missing: bool = False

    def __post_init__(self) -> None:
        known = (*NUMERIC_RELATIONS, *CATEGORICAL_RELATIONS)
        if self.relation not in known:
            raise DataError(
                f"relation is {self.relation!r}; accepted are {', '.join(map(repr, known))}."
            )
        if self.relation in NUMERIC_RELATIONS and not isinstance(self.value, Real):
            raise DataError(
                f"value is {self.value!r}; the relation {self.relation!r} takes a number."
            )
        if self.relation == "in":
            if not isinstance(self.value, list | tuple | set | frozenset):
                raise DataError(
                    f"value is {self.value!r}; the relation 'in' takes a tuple of categories."
                )
            object.__setattr__(self, "value", tuple(self.value))

    def __str__(self) -> str:
        if self.relation in NUMERIC_RELATIONS and np.isinf(self.value):
            # No number is beyond infinity, so that only missing entries are told apart.
            return f"{name_text(self.column)} is {'missing' if self.accepts_missing else 'known'}"
        missing = " or missing" if self.accepts_missing else ""
        return f"{name_text(self.column)} {self.relation} {value_text(self.value)}{missing}"

    def holds(self, rows: NDArray[np.float64], schema: TableSchema) -> NDArray[np.bool_]:
        """Return for each encoded row whether it meets the condition."""
        place = column_place(self.column, schema)
        entries = rows[:, place]
        categories = schema.categories[place]
        if self.relation in NUMERIC_RELATIONS:
            met = self._compare(entries, categories)
        else:
            met = np.zeros(len(entries), dtype=bool)
            for code in self._codes(categories):
                met |= entries == code
            if self.relation == "!=":
                met = ~met & ~np.isnan(entries)
        return met | np.isnan(entries) if self.accepts_missing else met

    def _compare(
        self, entries: NDArray[np.float64], categories: np.ndarray | None
    ) -> NDArray[np.bool_]:
        if categories is not None:
            raise DataError(
                f"The term '{self}' compares column {self.column!r} with a number, but the "
                "column is categorical; use '=', '!=' or 'in'."
            )
        compare = {
            "<=": np.less_equal,
            "<": np.less,
            ">=": np.greater_equal,
            ">": np.greater,
        }[self.relation]
        return compare(entries, float(self.value))

    def _codes(self, categories: np.ndarray | None) -> list[float]:
        """Return what the accepted values are encoded as."""
        values = self.value if self.relation == "in" else (self.value,)
        if categories is None:
            return [float(value) for value in values]
        known = {value: float(code) for code, value in enumerate(categories.tolist())}
        for value in values:
            if value not in known:
                nearest = nearest_names(str(value), map(str, known))
                raise DataError(
                    f"The term '{self}' names the category {value!r}, which column "
                    f"{self.column!r} does not have. Nearest: {', '.join(nearest)}."
                )
        return [known[value] for value in values]


def column_place(column: Any, schema: TableSchema) -> int:
    """Return the position of a column, or raise the error that names the nearest ones."""
    if column not in schema.names:
        nearest = nearest_names(str(column), map(str, schema.names))
        raise DataError(f"There is no column {column!r}. Nearest: {', '.join(nearest)}.")
    return schema.names.index(column)


def name_text(column: Any) -> str:
    """Return the name of a column as rules write it."""
    return f"column {column}" if isinstance(column, int | np.integer) else str(column)


def value_text(value: Any) -> str:
    """Return a value as rules write it."""
    if isinstance(value, tuple):
        return "{" + ", ".join(value_text(part) for part in value) + "}"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return str(value)
