"""The card of a model: what it was made from, what it may be asked, how good it is."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from textwrap import fill
from typing import Any

import numpy as np

from verulam.base import DataError, markdown_text, visible_text
from verulam.decision import LossTable
from verulam.experiment._final.insight import InsightSection, ModelInsight, plain_figure

#: Raised whenever older programs could not read what newer ones write.
CARD_FORMAT = 4
#: Of more categories a card names the first, and counts the others.
MOST_LEVELS_SHOWN = 12


@dataclass(frozen=True)
class ColumnCard:
    """One column that a model was made with.

    Attributes
    ----------
    name
        What it is called.
    role
        "input", "target", "identifier", "ignored" or "left out".
    kind
        "numeric", "categorical" and so on.
    levels
        The categories, in their order; empty for numbers.
    low, high
        Range of the numbers that the model has seen; None for others.
    missing
        Number of missing values that it has seen.
    form
        How numbers or dates were written where it was not plainly: a decimal sign with the unit
        behind it, ":" for times, or a format.
    typical
        The median, or the commonest category, of the rows that it has seen; None where unknown.
    """

    name: str
    role: str
    kind: str
    levels: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    missing: int = 0
    form: str = ""
    typical: Any = None

    @property
    def values(self) -> str:
        """What the column holds, in words."""
        if self.levels:
            shown = [str(level) for level in self.levels[:MOST_LEVELS_SHOWN]]
            more = len(self.levels) - len(shown)
            return ", ".join(shown) + (f" and {more} more" if more else "")
        if self.low is None or self.high is None:
            return ""
        return f"{_limit(self.low)} to {_limit(self.high)}"


@dataclass(frozen=True)
class ResponseCard:
    """How good a model is by one measure.

    Attributes
    ----------
    measure, title
        What was measured.
    value
        What came out.
    low, high
        Interval; None where there is none.
    confidence
        Coverage of the interval.
    method
        How the interval was made.
    where
        On which rows: "locked test part" or "cross-validation".
    """

    measure: str
    title: str
    value: float
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95
    method: str = ""
    where: str = "locked test part"

    def __str__(self) -> str:
        interval = ""
        if self.low is not None and self.high is not None:
            limits = f"{plain_figure(self.low)} to {plain_figure(self.high)}"
            interval = f" ({self.confidence:.0%} interval {limits})"
        return f"{self.title} {plain_figure(self.value)}{interval}, {self.where}"


@dataclass(frozen=True, eq=False, repr=False)
class ModelCard:
    """Everything that a user of a model should know; saved with it.

    Attributes
    ----------
    learner
        Name of the learner, with the setting of its factors.
    parameters
        Parameters of the estimator that differ from their defaults.
    preparation
        What is done to the columns first.
    task, target, classes
        What is predicted.
    columns
        Every column of the data set with its role.
    data
        Name, source, hash and number of rows of the data set.
    training_rows, test_rows
        How many rows the model was made from, and how many it was judged by.
    responses
        How good it is, the response that decided first.
    study
        Name, hash, question, design and seed of the study that chose it.
    created
        When it was made, as an ISO date and time in UTC.
    environment
        Versions and machine.
    caveats
        What to keep in mind.
    losses
        What decisions cost, where the study said so: actions, matrix and whether the last action
        is to withhold the decision.
    accepts_missing
        Whether inputs may be missing.
    as_array
        Whether the estimator was given plain numbers without the names of the columns.
    reason
        Why it is this learner, in words.
    insight
        What it goes by: importances of columns, weights, tree or rules, answers, worst errors.
    format
        Number of the form of the card.
    """

    learner: str
    parameters: Mapping[str, Any]
    preparation: str
    task: str
    target: str
    classes: tuple[Any, ...]
    columns: tuple[ColumnCard, ...]
    data: Mapping[str, Any]
    training_rows: int
    test_rows: int
    responses: tuple[ResponseCard, ...]
    study: Mapping[str, Any]
    created: str
    environment: Mapping[str, Any]
    caveats: tuple[str, ...]
    losses: Mapping[str, Any] | None = None
    accepts_missing: bool = False
    as_array: bool = False
    reason: str = ""
    insight: ModelInsight = field(default_factory=ModelInsight)
    format: int = CARD_FORMAT

    @property
    def inputs(self) -> tuple[ColumnCard, ...]:
        """The columns that the model needs, in their order."""
        return tuple(column for column in self.columns if column.role == "input")

    @property
    def importances(self) -> tuple[Mapping[str, Any], ...]:
        """What shuffling each column costs, the costliest first: column, mean, low, high."""
        return self.insight.importances

    @property
    def response(self) -> ResponseCard:
        """How good the model is by the measure that decided."""
        return self.responses[0]

    def loss_table(self) -> LossTable | None:
        """Return what decisions cost; None where the study did not say."""
        if self.losses is None:
            return None
        return LossTable(
            np.array(self.losses["actions"], dtype=object),
            np.array(self.classes, dtype=object),
            np.array(self.losses["matrix"], dtype=np.float64),
            bool(self.losses["can_reject"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ModelCard":
        """Return the card that `to_dict` gave, perhaps by way of JSON."""
        if content.get("format", 0) > CARD_FORMAT:
            raise DataError(
                f"The model was written by a newer Verulam (card format {content['format']}; this "
                f"one knows {CARD_FORMAT}). Upgrade Verulam to use it."
            )
        fields = dict(content)
        # JSON has lists alone: what was a tuple becomes one again.
        fields["columns"] = tuple(
            ColumnCard(**{**column, "levels": tuple(column["levels"])})
            for column in fields["columns"]
        )
        fields["responses"] = tuple(ResponseCard(**response) for response in fields["responses"])
        for name in ("classes", "caveats"):
            fields[name] = tuple(fields.get(name, ()))
        # Until format 2, importances were all that a card said of what a model goes by.
        insight = fields.pop("insight", {"importances": fields.pop("importances", ())})
        return cls(**fields, insight=ModelInsight.from_dict(insight))

    def facts(self) -> list[tuple[str, str]]:
        """Return the short facts as pairs of a heading and words."""
        parameters = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        packages = self.environment.get("packages", {})
        classes = f", one of {', '.join(map(str, self.classes))}" if self.classes else ""
        facts = [
            ("Predicts", f"{self.target} ({self.task}{classes})"),
            ("Learner", self.learner),
            *([("Chosen", self.reason)] if self.reason else []),
            ("Parameters", parameters or "the defaults"),
            ("Preparation", self.preparation),
            ("Made from", f"{self.training_rows} rows of {self.data['name']}"),
            ("Data hash", str(self.data["hash"])),
            ("Study", f"{self.study['name']} ({self.study['hash']}), seed {self.study['seed']}"),
            ("Made on", self.created),
            ("Versions", ", ".join(f"{name} {version}" for name, version in packages.items())),
        ]
        if self.losses is not None:
            facts.append(("Decisions", ", ".join(map(str, self.losses["actions"]))))
        return facts

    def to_markdown(self) -> str:
        """Return the card in Markdown; what looks like markup in the data is shown as it is."""
        title = markdown_text(f"{self.learner} for {self.target}")
        lines = [f"# {title}", "", f"**{markdown_text(str(self.response))}.**", ""]
        lines += ["| | |", "|---|---|", *map(_markdown_row, self.facts())]
        lines += ["", "## How good it is", "", "| measure | value | interval | by |"]
        lines += ["|---|---|---|---|", *map(_markdown_row, self._scores())]
        for part in self.insight.sections():
            lines += ["", f"## {part.title}", "", part.words, ""]
            if part.text:
                # Indented, so that whatever the lines hold is shown as it is.
                lines += [f"    {line}" for line in visible_text(part.text).splitlines()]
            else:
                lines += [_markdown_row(part.head), "|" + "---|" * len(part.head)]
                lines += map(_markdown_row, part.rows)
        lines += ["", "## Columns", "", "| column | role | kind | values | missing |"]
        lines += ["|---|---|---|---|---|", *map(_markdown_row, self._table())]
        if self.losses is not None:
            head = ["decision", *map(str, self.classes)]
            lines += ["", "## Losses", "", _markdown_row(head), "|" + "---|" * len(head)]
            for action, row in zip(self.losses["actions"], self.losses["matrix"], strict=True):
                lines.append(_markdown_row([str(action), *(f"{value:g}" for value in row)]))
        lines += ["", "## Keep in mind", ""]
        return "\n".join([*lines, *(f"- {markdown_text(line)}" for line in self.caveats), ""])

    def to_html(self) -> str:
        """Return the card as one HTML page that needs nothing else."""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.learner)} for {escape(self.target)}</title>"
            f"<style>{_STYLE}</style></head><body><main>{self._repr_html_()}</main></body></html>\n"
        )

    def _repr_html_(self) -> str:
        head = ("measure", "value", "interval", "by")
        parts = [
            f"<h1>{escape(self.learner)} for {escape(self.target)}</h1>",
            f"<p><strong>{escape(str(self.response))}.</strong></p>",
            _html_table((), self.facts()),
            "<h2>How good it is</h2>",
            _html_table(head, self._scores()),
            *map(_section_html, self.insight.sections()),
            "<h2>Columns</h2>",
            _html_table(("column", "role", "kind", "values", "missing"), self._table()),
        ]
        if self.losses is not None:
            rows = [
                [str(action), *(f"{value:g}" for value in row)]
                for action, row in zip(self.losses["actions"], self.losses["matrix"], strict=True)
            ]
            parts += ["<h2>Losses</h2>", _html_table(("decision", *map(str, self.classes)), rows)]
        caveats = "".join(f"<li>{escape(line)}</li>" for line in self.caveats)
        return "".join([*parts, f"<h2>Keep in mind</h2><ul>{caveats}</ul>"])

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.facts()) + 2
        lines = [fill(f"{self.learner} for {self.target}: {self.response}.", 80), ""]
        lines += [
            fill(f"{name:<{width}}{words}", 80, subsequent_indent=" " * width)
            for name, words in self.facts()
        ]
        if self.importances:
            named = [row["column"] for row in self.importances[:5] if row["mean"] > 0]
            lines += ["", fill(f"It goes most by: {', '.join(named)}.", 80)] if named else []
        lines += ["", "Keep in mind:"]
        lines += [fill(f"- {line}", 80, subsequent_indent="  ") for line in self.caveats]
        return visible_text("\n".join(lines))

    __repr__ = __str__

    def _scores(self) -> list[list[str]]:
        return [
            [
                response.title,
                plain_figure(response.value),
                _interval(response),
                f"{response.where}{f' ({response.method})' if response.method else ''}",
            ]
            for response in self.responses
        ]

    def _table(self) -> list[list[str]]:
        return [
            [column.name, column.role, column.kind, column.values, str(column.missing)]
            for column in self.columns
        ]


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0}"
    "main{max-width:60rem;margin:auto;padding:1rem;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;margin:.5rem 0}.scroll{overflow-x:auto}"
    "td,th{border-bottom:1px solid #8886;padding:.25rem .75rem .25rem 0;text-align:left;"
    "vertical-align:top;overflow-wrap:normal}.facts td:last-child{overflow-wrap:anywhere}"
    "pre{overflow-x:auto}"
)


def _limit(value: float) -> str:
    """Return an end of a range, with enough figures to recognise a value of the table."""
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"


def _interval(response: ResponseCard) -> str:
    """Return the interval of a figure; empty for none."""
    if response.low is None or response.high is None:
        return ""
    return f"{plain_figure(response.low)} to {plain_figure(response.high)}"


def _section_html(part: InsightSection) -> str:
    content = f"<pre>{escape(part.text)}</pre>" if part.text else _html_table(part.head, part.rows)
    return f"<h2>{escape(part.title)}</h2><p>{escape(part.words)}</p>{content}"


def _html_table(head: Any, rows: Any) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    if not head:  # facts, whose hashes and versions may break anywhere
        return f'<table class="facts">{body}</table>'
    return f'<div class="scroll"><table><tr>{cells}</tr>{body}</table></div>'


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"
