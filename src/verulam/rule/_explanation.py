"""Why rules concluded what they did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import TableSchema
from verulam.rule._base import Rule
from verulam.rule._term import column_place, name_text


@dataclass(frozen=True)
class RuleExplanation:
    """The rules behind one prediction.

    Attributes
    ----------
    label
        The predicted class.
    probability
        Share of that class among the training rows that the same rules decided.
    rules
        The rules that spoke, each with its number from 1; none where the default decided.
    values
        What the row had in the columns that they looked at, by column.
    """

    label: Any
    probability: float
    rules: tuple[tuple[int, Rule], ...]
    values: dict[Any, str]

    def __str__(self) -> str:
        label = self.label.item() if isinstance(self.label, np.generic) else self.label
        lines = [f"Predicted {label!r} with probability {self.probability:.3f}"]
        if not self.rules:
            lines[0] += ": no rule covers the row"
        lines += [f"  R{number}: {rule}" for number, rule in self.rules]
        lines += [f"  {name_text(name)} = {value}" for name, value in self.values.items()]
        return "\n".join(lines)


def row_values(
    row: NDArray[np.float64], schema: TableSchema, rules: Sequence[Rule]
) -> dict[Any, str]:
    """Return what an encoded row has in the columns that the rules look at."""
    values: dict[Any, str] = {}
    for term in (term for rule in rules for term in rule.terms):
        place = column_place(term.column, schema)
        categories = schema.categories[place]
        if np.isnan(row[place]):
            values[term.column] = "missing"
        elif categories is None:
            values[term.column] = f"{row[place]:.6g}"
        else:
            values[term.column] = str(categories[int(row[place])])
    return values
