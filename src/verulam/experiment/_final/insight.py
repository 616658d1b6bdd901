"""What a model goes by, as its card keeps and shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

IMPORTANCE_TITLE = "What it goes by"
IMPORTANCE_WORDS = (
    "By how much the measure that decided gets worse on rows not learnt from when the values of "
    "one column are shuffled. Columns that tell the same share what they tell."
)
COEFFICIENT_WORDS = (
    "Weights of the inputs as the learner was given them: numbers that were scaled count in "
    "standard deviations. Parts of texts and seasons are left out, since they mean nothing by "
    "themselves. The intervals are over fits to the training parts of several splits."
)
TEXT_WORDS = "The model itself; numbers are those of the table."
DEPENDENCE_WORDS = (
    "The mean prediction if a column had this value in every row, all other columns as they are."
)
WORST_TITLE = "Worst errors"
WORST_WORDS = (
    "Rows that were predicted worst in the runs of the study, when they were not learnt from, "
    "counted from 1. A wrong value in the table is often among them."
)
EXPLAINED_WORDS = (
    "Some rows of the table, counted from 1: what the model predicts for each, and what it would "
    "predict if one column had its typical value, the others as they are. The columns that matter "
    "most come first. In brackets behind a class is its probability or, for learners that give "
    "none, its score: below 0 it would be another class."
)


class InsightSection(NamedTuple):
    """A part of a card: a heading, what it says, and a table or lines of text."""

    title: str
    words: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: str = ""


@dataclass(frozen=True)
class ModelInsight:
    """What a model goes by, in plain values.

    Attributes
    ----------
    importances
        What shuffling each column costs, the costliest first: column, mean, low, high.
    coefficients
        Weights of a linear model, the largest first: column, value, low, high.
    text
        A tree or rules as lines; empty for models that nobody can read.
    dependences
        Mean predictions for values of the most important columns: column, values, answers, label,
        and whether they are shares of rows.
    worst
        Rows that were predicted worst: row, target, predicted, wrong, loss.
    explained
        What speaks for the predictions of some rows: row, kind, target, predicted, reasons.
    """

    importances: tuple[Mapping[str, Any], ...] = ()
    coefficients: tuple[Mapping[str, Any], ...] = ()
    text: str = ""
    dependences: tuple[Mapping[str, Any], ...] = ()
    worst: tuple[Mapping[str, Any], ...] = ()
    explained: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ModelInsight":
        """Return the record of plain values, whose lists may have been tuples."""
        fields: dict[str, Any] = {
            name: value if isinstance(value, str) else tuple(value)
            for name, value in content.items()
        }
        fields["dependences"] = tuple(
            {**row, "values": tuple(row["values"]), "answers": tuple(row["answers"])}
            for row in fields.get("dependences", ())
        )
        return cls(**fields)

    def sections(self) -> list[InsightSection]:
        """Return the parts that there is something to say in."""
        parts = [
            InsightSection(
                IMPORTANCE_TITLE,
                IMPORTANCE_WORDS,
                ("column", "cost of shuffling", "95 % interval"),
                tuple(_with_interval(row, "mean") for row in self.importances),
            ),
            InsightSection("How to read it", TEXT_WORDS, (), (), self.text),
            InsightSection(
                "Weights",
                COEFFICIENT_WORDS,
                ("input", "weight", "95 % interval"),
                tuple(_with_interval(row, "value") for row in self.coefficients),
            ),
            InsightSection(
                "How it answers",
                DEPENDENCE_WORDS,
                ("column", "mean prediction at its values"),
                tuple(map(_dependence_row, self.dependences)),
            ),
            InsightSection(
                "Single rows",
                EXPLAINED_WORDS,
                ("row", "kind", "is", "predicted", "because of"),
                tuple(map(_explained_row, self.explained)),
            ),
            InsightSection(
                WORST_TITLE,
                WORST_WORDS,
                *worst_table(self.worst),
            ),
        ]
        return [part for part in parts if part.rows or part.text]


def plain_figure(value: float) -> str:
    """Return a number as people write it: four figures, no exponent where it is large.

    Examples
    --------
    >>> [plain_figure(value) for value in (11783.26, 2021.0, 3.0, 0.01623, -0.5)]
    ['11,783', '2021', '3', '0.01623', '-0.5']
    """
    if 10_000 <= abs(value) < 1e15:
        return f"{value:,.0f}"
    if abs(value) < 1e-12:
        return "0"  # what is left of zero by rounding
    return f"{value:.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"


def _with_interval(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    interval = ""
    if row["low"] is not None:
        interval = f"{plain_figure(row['low'])} to {plain_figure(row['high'])}"
    return str(row["column"]), plain_figure(row[key]), interval


def _dependence_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    # Cards from before there were shares have probabilities alone.
    of = "share predicted" if row.get("shares") else "for"
    name = str(row["column"]) if row["label"] is None else f"{row['column']}, {of} {row['label']}"
    pairs = zip(row["values"], row["answers"], strict=True)
    return name, "; ".join(f"{_shown(value)}: {plain_figure(answer)}" for value, answer in pairs)


def _explained_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[key]) for key in ("row", "kind", "target", "predicted", "reasons"))


def worst_table(
    rows: Sequence[Mapping[str, Any]],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the head and the cells of the rows that were predicted badly.

    Parameters
    ----------
    rows
        Number, target, prediction, share of wrong predictions (None for numbers), and loss.
    """
    head = ("row", "is", "predicted")
    cells = [(str(row["row"]), _shown(row["target"]), _shown(row["predicted"])) for row in rows]
    losses = [plain_figure(row["loss"]) for row in rows]
    if all(row["wrong"] is None for row in rows):
        table = [(*cell, loss) for cell, loss in zip(cells, losses, strict=True)]
        return (*head, "mean error"), tuple(table)
    shares = ["" if row["wrong"] is None else f"{row['wrong']:.0%}" for row in rows]
    parts = zip(cells, shares, losses, strict=True)
    return (*head, "predicted wrongly", "loss"), tuple(
        (*c, share, loss) for c, share, loss in parts
    )


def _shown(value: Any) -> str:
    return plain_figure(value) if isinstance(value, float) else str(value)
