"""The record of a comparison, and how it reads."""

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import Any

import pandas as pd

from verulam.experiment._text import number_text, seconds_text, text_table
from verulam.measures import Measure

WIDTH = 80


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Learners compared on the same splits of one data set.

    Attributes
    ----------
    data : str
        Name of the data set.
    measure
        What was measured.
    design : str
        How the splits were drawn.
    scores : DataFrame
        One row per run: learner, repeat, fold, score, times, and the error where it failed.
    summary : DataFrame
        One row per learner: means, times, and the test against the best.
    preparation : dict
        Learner to what is done to the columns before it.
    conclusion : str
        What may be concluded.
    caveats : tuple of str
        What to keep in mind when concluding it.
    notices : tuple of str
        What was done differently from what was asked, and warnings that learners gave.

    Examples
    --------
    >>> from verulam import compare
    >>> comparison = compare("iris", ["majority class", "nearest mean"], folds=5, progress=False)
    >>> comparison.summary["mean"].round(3).to_dict()
    {'majority class': 0.667, 'parametric.NearestMean': 0.0...}
    """

    data: str
    measure: Measure
    design: str
    scores: pd.DataFrame
    summary: pd.DataFrame
    preparation: dict[str, str]
    conclusion: str
    caveats: tuple[str, ...]
    notices: tuple[str, ...] = ()

    @property
    def failures(self) -> pd.DataFrame:
        """The runs that failed."""
        return self.scores[self.scores["error"] != ""]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per run."""
        return self.scores.copy()

    def plot(self, ax: Any = None) -> Any:
        """Draw the score of every run, learner by learner, and return the Axes."""
        from verulam.plots import comparison

        return comparison(self, ax=ax)

    def __str__(self) -> str:
        blocks = [f"{self.data}: {self.measure.title} by {self.design}", self._means()]
        if tests := self._tests():
            blocks.append(tests)
        blocks.append(fill(self.conclusion, WIDTH))
        blocks.append(self._listed("Preparation", self._preparation_lines()))
        failed = [f"{run.learner}: {run.error}" for run in _first_errors(self.failures)]
        for title, lines in (
            ("Failed runs", failed),
            ("Notices", list(self.notices)),
            ("Keep in mind", list(self.caveats)),
        ):
            if lines:
                blocks.append(self._listed(title, lines))
        return "\n\n".join(blocks)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        caveats = "".join(f"<li>{escape(line)}</li>" for line in (*self.notices, *self.caveats))
        return (
            f"<p>{escape(self.data)}: {escape(self.measure.title)} by {escape(self.design)}</p>"
            f"{self.summary.to_html(float_format='{:.4g}'.format, na_rep='')}"
            f"<p>{escape(self.conclusion)}</p><ul>{caveats}</ul>"
        )

    def _means(self) -> str:
        header = ["learner", self.measure.name, "s.d.", "fit", "predict"]
        rows = [
            [
                str(name),
                number_text(row["mean"]),
                number_text(row["standard_deviation"]),
                seconds_text(row["fit_seconds"]),
                seconds_text(row["predict_seconds"]),
            ]
            for name, row in self.summary.iterrows()
        ]
        if (self.summary["failures"] > 0).any():
            header.append("failed")
            for row, count in zip(rows, self.summary["failures"], strict=True):
                row.append(str(count))
        return text_table(header, rows)

    def _tests(self) -> str:
        tested = self.summary[self.summary["p_value"].notna()]
        if tested.empty:
            return ""
        best = self.summary.index[self.summary["decision"] == "best"][0]
        rows = [
            [str(name), f"{row['difference']:+.4f}", _p_text(row["p_value"]), row["decision"]]
            for name, row in tested.iterrows()
        ]
        return text_table([f"against {best}", "difference", "p (Holm)", "equality"], rows)

    def _preparation_lines(self) -> list[str]:
        grouped: dict[str, list[str]] = {}
        for name, words in self.preparation.items():
            grouped.setdefault(words, []).append(name)
        return [f"{', '.join(names)}: {words}" for words, names in grouped.items()]

    @staticmethod
    def _listed(title: str, lines: list[str]) -> str:
        items = [fill(f"- {line}", WIDTH, subsequent_indent="  ") for line in lines]
        return "\n".join([f"{title}:", *items])


def _first_errors(failures: pd.DataFrame) -> Any:
    return failures.drop_duplicates(["learner", "error"]).itertuples()


def _p_text(p_value: float) -> str:
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
