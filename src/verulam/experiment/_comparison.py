"""The record of a comparison: its tables, tests and pictures, and how it reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import DataError, unknown_name, visible_text
from verulam.experiment._analysis.pairwise import compare_pairs
from verulam.experiment._report.report import contestant_rows
from verulam.experiment._report.report import report as write_report
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.predictions import (
    PooledPredictions,
    StoredPredictions,
    pooled_predictions,
)
from verulam.experiment._text import WIDTH, bulleted, full_name, spoken_name
from verulam.experiment._words.analysis_text import best_first, main_table
from verulam.measures import confusion, roc

if TYPE_CHECKING:
    from verulam.experiment._analysis.analysis import Analysis
    from verulam.experiment._evidence.evidence import Evidence
    from verulam.experiment._study.study import Study
    from verulam.measures import Measure
    from verulam.statistics import TestResult

#: Columns that a notebook has no room for; the printed text has them.
_LEFT_TO_TEXT = frozenset({"adjusted p", "repeats"})
#: Columns of the ranking, in their order, by their names in the table of the analysis.
_RANKING_COLUMNS = [
    "estimate",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "adjusted_p",
    "against_best",
    "probability_best",
    "probability_within",
    "regret",
    "complexity",
    "mean",
    "standard_deviation",
    "repeats",
    "fit_seconds",
    "predict_seconds",
    "model_size",
    "failed",
]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Learners compared on the same splits of one data set; made by `compare`.

    Attributes
    ----------
    analysis
        The whole analysis behind it.
    preparation
        Learner to what is done to the columns before it.
    persistent
        Whether its runs stay in a store that was named.
    study
        The study that it is.

    Examples
    --------
    >>> from verulam import compare
    >>> comparison = compare("iris", ["majority class", "nearest mean"], progress=False)
    >>> comparison.ranking()["estimate"].round(3).to_dict()
    {'nearest mean': 0.087, 'majority class': 0.667}
    >>> print(comparison.test().headline())
    t(19) = 29.58, p < 0.0001
    >>> comparison.scores().head(2)[["learner", "fold", "measure", "score"]]
              learner  fold measure     score
    0  majority class     0   error  0.666667
    1  majority class     1   error  0.666667
    """

    analysis: "Analysis"
    preparation: Mapping[str, str]
    persistent: bool = False
    study: "Study | None" = None

    @property
    def design(self) -> str:
        """How the splits were drawn, in words."""
        return self.analysis.results.design

    @property
    def notices(self) -> tuple[str, ...]:
        """What was done differently from what was asked, and warnings that learners gave."""
        return self.analysis.notices

    @property
    def data(self) -> str:
        """Name of the data set."""
        return self.analysis.responses.data[0]

    @property
    def measure(self) -> "Measure":
        """What was measured."""
        return self.analysis.responses.measure

    @property
    def learners(self) -> list[str]:
        """Names of the learners, in the order given."""
        return list(self.preparation)

    @property
    def recommended(self) -> str | None:
        """The learner to use; None where nothing can be said."""
        return self.analysis.recommended

    @property
    def conclusion(self) -> str:
        """What may be concluded."""
        return self.analysis.answer.sentence

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to keep in mind when concluding it."""
        return self.analysis.caveats

    @property
    def failures(self) -> pd.DataFrame:
        """The runs that failed, or that the measure could not score, with their errors."""
        scores = self.scores()
        return scores[scores["error"] != ""].reset_index(drop=True)

    def scores(self, measures: Any = None) -> pd.DataFrame:
        """Return every run as a tidy table: one row per run and measure.

        Parameters
        ----------
        measures
            A measure or several, by name or as objects, computed from the stored predictions;
            None takes the one that was compared.
        """
        results = self.analysis.results
        responses = results.resolve(measures)
        runs = results.runs()
        columns = ["stage", "error", "warning"]
        runs[columns] = runs[columns].fillna("")
        # By position: two learners that are the same share the runs that they are scored by.
        scored = results.scores(responses).set_index("position")
        parts = []
        for measure in responses:
            part = runs.assign(
                measure=measure.name, score=runs["position"].map(scored[measure.name])
            )
            unserved = (part["status"] == "done") & part["score"].isna()
            needed = (
                "predict_proba" if measure.needs == "probabilities" else "scores of the classes"
            )
            part.loc[unserved, "stage"] = "score"
            part.loc[unserved, "error"] = f"TypeError: measure {measure.name!r} needs {needed}"
            order = part["learner"].map(self.learners.index)
            parts.append(part.iloc[np.lexsort((part["fold"], part["repeat"], order))])
        costs = ["fit_seconds", "predict_seconds"]
        table = pd.concat(parts, ignore_index=True).astype(dict.fromkeys(costs, np.float64))
        return table[["learner", "repeat", "fold", "measure", "score", *costs, *columns]]

    @property
    def evidence(self) -> "Evidence":
        """What is known of all learners together; raises where the design tells nothing of it."""
        try:
            return self.analysis.evidence[self.data]
        except KeyError:
            raise DataError(
                f"{self.design} with {self.measure.name} tells nothing of how far a mean may be "
                "off; use cross-validation."
            ) from None

    def ranking(self) -> pd.DataFrame:
        """Return one row per learner, best first: what is known of it, beside the best."""
        table = best_first(self.analysis)
        ranking = table[_RANKING_COLUMNS].rename(columns={"failed": "failures"})
        return ranking.rename_axis("learner")

    def test(self, first: str | None = None, second: str | None = None) -> "TestResult":
        """Return the test that all learners do equally well, or that two of them do.

        Parameters
        ----------
        first, second
            Names of two learners; None tests all of them together.
        """
        analysis = self.analysis
        if first is None and second is None:
            overall = analysis.verdict.overall if analysis.verdict else None
            if overall is None:
                raise DataError(
                    "There is nothing to test: at least two learners with scores that differ are "
                    "needed."
                )
            return overall
        table = analysis.responses.by_split(self.data)
        known = [str(name) for name in table.columns]
        first, second = (self._name_among(known, name) for name in (first, second))
        stored = StoredPredictions(analysis.results)
        pairs = compare_pairs(
            table[[first, second]],
            resampling=resampling(analysis.results.description["resampling"]).kind,
            measure=self.measure,
            test_share=analysis.responses.test_shares[self.data],
            alpha=analysis.alpha,
            row_losses=partial(stored.row_losses, self.measure, self.data),
        )
        if not pairs.results:
            raise DataError(
                f"{first} and {second} cannot be tested: their scores do not vary, or there are "
                "too few."
            )
        return next(iter(pairs.results.values()))

    def plot_intervals(self, ax: Any = None) -> Any:
        """Draw the interval of each learner, what is within the margin, and the choice."""
        return self.analysis.plot_intervals(ax=ax)

    def plot_difference(
        self, first: str | None = None, second: str | None = None, ax: Any = None
    ) -> Any:
        """Draw how probable every difference of two learners is.

        Parameters
        ----------
        first, second
            Names of two learners; None takes the recommended one and its nearest rival.
        ax
            Axes to draw on; None makes new ones.
        """
        known = list(self.evidence.names)
        one, other = (
            None if name is None else self._name_among(known, name) for name in (first, second)
        )
        return self.analysis.plot_difference(one, other, ax=ax)

    def plot_probabilities(self, ax: Any = None) -> Any:
        """Draw how probably each learner is the best, and within the margin of the best."""
        return self.analysis.plot_probabilities(ax=ax)

    def plot_scores(self, ax: Any = None) -> Any:
        """Draw the score of every run, learner by learner, with means and standard deviations."""
        from verulam.plots import comparison

        return comparison(self, ax=ax)

    def plot_boxes(self, ax: Any = None) -> Any:
        """Draw a box of the scores of each learner."""
        from verulam.plots import score_boxes

        table = self.analysis.responses.by_split(self.data)
        return score_boxes(table, label=self.measure.title, ax=ax)

    def plot_costs(self, ax: Any = None) -> Any:
        """Draw the response of each learner against the time that it takes to fit."""
        from verulam.plots import cost_response

        names = {"mean": self.measure.title, "fit_seconds": "seconds to fit"}
        return cost_response(
            self.analysis.table.rename(columns=names),
            *names.values(),
            front=self.analysis.front,
            greater_is_better=self.measure.greater_is_better,
            ax=ax,
        )

    def plot_roc(self, ax: Any = None) -> Any:
        """Draw the ROC curve of each learner with probabilities, for two classes."""
        from verulam.plots import roc_curves

        pooled = {name: self._pooled(name) for name in self.analysis.responses.names}
        curves = {
            name: roc(predicted.targets == predicted.classes[1], predicted.probabilities[:, 1])
            for name, predicted in pooled.items()
            if predicted.probabilities is not None and len(predicted.classes) == 2
        }
        if not curves:
            raise DataError("ROC curves need two classes, and a learner with probabilities.")
        return roc_curves(curves, ax=ax)

    def plot_confusion(self, learner: str | None = None, ax: Any = None) -> Any:
        """Draw the confusion matrix of a learner over all validated rows.

        Parameters
        ----------
        learner
            Its name; None takes the recommended one.
        ax
            Axes to draw on; None makes new ones.
        """
        from verulam.plots import confusion_matrix

        pooled = self._pooled(learner or self.recommended)
        if not pooled.classes:
            raise DataError("A confusion matrix needs classes; the target is a number.")
        counts = confusion(pooled.targets, pooled.predicted, labels=list(pooled.classes))
        return confusion_matrix(counts, ax=ax)

    def report(self, path: str | Path | None = None, *, command: str = "") -> Path:
        """Write the report as one HTML file that needs nothing else, and return its path.

        Parameters
        ----------
        path
            The file; None writes one named after the data set to the current folder.
        command
            The command that gave the comparison, for whoever wants to give it again.
        """
        file = path or f"{self.data}-comparison.html"
        return write_report(
            self.analysis, file, command=command, persistent=self.persistent, study=self.study
        )

    @staticmethod
    def _name_among(names: Sequence[str], name: str | None) -> str:
        """Return the one of the names that is meant, by itself or by a name of the catalogue."""
        full = full_name(str(name))
        for candidate in (str(name), full, spoken_name(full)):
            if candidate in names:
                return candidate
        raise unknown_name("learner", str(name), names)

    def _pooled(self, learner: str | None) -> PooledPredictions:
        learner = self._name_among(self.learners, learner)
        pooled = pooled_predictions(self.analysis.results, self.data, learner)
        if pooled is None:
            raise DataError(f"{learner} has no finished run.")
        return pooled

    def __str__(self) -> str:
        failed = self.failures.drop_duplicates(["learner", "error"])
        blocks = [
            fill(f"{self.data}: {self.measure.title} by {self.design}", WIDTH),
            fill(self.conclusion, WIDTH),
            main_table(self.analysis),
        ]
        if self.analysis.race:
            blocks.append(fill(self.analysis.race, WIDTH))
        if self.analysis.answer.advice:
            blocks.append(fill(f"To know more: {self.analysis.answer.advice}", WIDTH))
        for heading, lines in (
            ("Preparation", self._preparation_lines()),
            ("Failed runs", [f"{run.learner}: {run.error}" for run in failed.itertuples()]),
            ("Notices", list(self.notices)),
            ("Keep in mind", list(self.caveats)),
        ):
            if lines:
                blocks.append(bulleted(heading, lines))
        return visible_text("\n\n".join(blocks))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = contestant_rows(self.analysis)
        heads = [head for head in (rows[0]["cells"] if rows else ()) if head not in _LEFT_TO_TEXT]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("contestant", *heads))
        body = "".join(
            f'<tr><th style="text-align:left">{escape(row["name"])}'
            + (" *</th>" if row["recommended"] else "</th>")
            + "".join(f"<td>{escape(row['cells'][name].text)}</td>" for name in heads)
            + "</tr>"
            for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        star = "<p>* recommended</p>" if any(row["recommended"] for row in rows) else ""
        failed = self.failures.drop_duplicates(["learner", "error"])
        lines = [
            *(f"{run.learner} failed: {run.error}" for run in failed.itertuples()),
            *self.notices,
            *self.caveats,
        ]
        notes = "".join(f"<li>{escape(line)}</li>" for line in lines)
        return (
            '<div style="max-width:54rem">'
            f"<p>{escape(self.data)}: {escape(self.measure.title)} by {escape(self.design)}</p>"
            f"<p><strong>{escape(self.conclusion)}</strong></p>"
            f'<div style="overflow-x:auto">{table}</div>{star}<ul>{notes}</ul></div>'
        )

    def _preparation_lines(self) -> list[str]:
        grouped: dict[str, list[str]] = {}
        for name, words in self.preparation.items():
            grouped.setdefault(words, []).append(spoken_name(name))
        return [f"{', '.join(names)}: {words}" for words, names in grouped.items()]
