"""The record of an analysis: estimates, tests, an answer, and what to keep in mind."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from verulam.base import DataError, spreadsheet_table, unknown_name, visible_text, write_whole
from verulam.experiment._analysis.error_overlap import Overlap, error_overlaps
from verulam.experiment._effects.multivariate import VectorVerdict, vector_verdicts
from verulam.experiment._effects.nuisance import nuisance_effects
from verulam.experiment._effects.replication import ExperimentalError, experimental_error
from verulam.experiment._effects.study_effects import (
    data_interaction,
    overlap_of_splits,
    study_effects,
)
from verulam.experiment._evidence.simplicity import BY_KIND
from verulam.experiment._evidence.tables import with_evidence
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._text import is_share, measure_words, spoken_name
from verulam.experiment._words.analysis_text import analysis_text, latex_table, pairs_text

if TYPE_CHECKING:
    from verulam.experiment._analysis.answer import Answer
    from verulam.experiment._effects.effects import FactorEffects
    from verulam.experiment._evidence.evidence import Evidence, RankEvidence
    from verulam.experiment._evidence.verdict import Verdict
    from verulam.experiment._store.predictions import StoredPredictions
    from verulam.experiment._store.responses import Responses, StoredContestant
    from verulam.experiment._store.results import Results
    from verulam.measures import Measure

#: Contestants beyond the best of this number are left out where all would be too many.
MOST_LEADERS = 8


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What a study found: tables, tests, an answer, and what to keep in mind.

    Attributes
    ----------
    results
        Where everything comes from.
    responses
        The scores that were analysed.
    alpha
        Level of significance.
    tables
        For each data set one row per contestant: response, rank and costs.
    overall
        One row per contestant over several data sets; None where there is one.
    table
        The table that the answer rests on, with the verdict on each contestant's equality with
        the best.
    verdicts
        For each data set what the tests say there.
    over_data
        What the tests say over all data sets; None where there is one.
    evidence
        For each data set what is known of all contestants together: estimates, probabilities,
        differences that may be claimed, and the choice.
    ranks
        What the mean ranks over data sets tell; None where there is one data set.
    answer
        The recommendation, the order of all, and the words for them.
    front
        Contestants that none beats in both response and time to fit.
    assessments
        Tests against the acceptable level, where one was given.
    notes
        What is missing: failures, runs left, splits that are not shared.
    notices
        What was done otherwise than asked for, and the warnings that learners gave.
    caveats
        What to keep in mind.
    predictions
        The stored predictions, each read once.
    race
        Who got fewer repeats on the only data set, unable to win; empty where nobody did.
    simplicity
        What simple means, where that decides.
    acceptable
        The level that contestants were tested against; None for none.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, analyse, run
    >>> learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    >>> study = Study("flowers", [DataChoice("iris")], learners, resampling="5x2")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     analysis = analyse(run(study, f"{folder}/runs.sqlite", engine="serial", progress=False))
    >>> print(analysis.answer.sentence)
    Use naive Bayes: it errs on 5.5 % of unseen rows (2.6 to 11.1). It is better than the
    majority class, which is 53.1 to 69.3 points worse. This rests on 5 repeats of
    cross-validation; other random splits of these rows would lead to the same choice nearly
    always.
    >>> analysis.verdict.method, analysis.verdict.overall.decision
    ('the combined 5x2 cv F test', 'reject')
    """

    results: "Results"
    responses: "Responses"
    alpha: float
    tables: Mapping[str, pd.DataFrame]
    overall: pd.DataFrame | None
    table: pd.DataFrame
    verdicts: Mapping[str, "Verdict"]
    over_data: "Verdict | None"
    evidence: Mapping[str, "Evidence"]
    ranks: "RankEvidence | None"
    answer: "Answer"
    front: tuple[str, ...]
    assessments: pd.DataFrame | None
    notes: tuple[str, ...]
    notices: tuple[str, ...]
    caveats: tuple[str, ...]
    predictions: "StoredPredictions"
    race: str = ""
    simplicity: str = BY_KIND
    acceptable: float | None = None

    @property
    def measure(self) -> "Measure":
        """The response that decides."""
        return self.responses.measure

    @property
    def design(self) -> str:
        """How the splits were drawn, in words."""
        return self.results.design

    @property
    def recommended(self) -> str | None:
        """The contestant to use; None where the study cannot say."""
        return self.answer.recommended

    @property
    def verdict(self) -> "Verdict | None":
        """The verdict that the answer rests on; None where nothing has been run."""
        return self.over_data or next(iter(self.verdicts.values()), None)

    @cached_property
    def effects(self) -> tuple["FactorEffects", ...]:
        """Main effects and interactions of what the study varies, with their tables."""
        return study_effects(self.responses, self._kind)

    @cached_property
    def interaction(self) -> pd.DataFrame | None:
        """Whether the order of the contestants depends on the data set; None for one of them."""
        return data_interaction(self.responses, self._kind) if len(self.verdicts) > 1 else None

    @cached_property
    def nuisance(self) -> tuple["FactorEffects", ...]:
        """What the nuisance factors do to the leading contestants, where they are columns."""
        return tuple(
            effects
            for data in self.verdicts
            if self.results.nuisance_columns(data)
            for effects in nuisance_effects(self.results, self.responses, data, self.leaders(data))
        )

    @cached_property
    def vectors(self) -> tuple[VectorVerdict, ...]:
        """Tests of several responses at once, where the study has them."""
        if max(len(self.results.response), len(self.results.measures)) < 2:
            return ()
        return vector_verdicts(self.results, self.responses, alpha=self.alpha)

    @cached_property
    def overlaps(self) -> tuple[Overlap, ...]:
        """How far the leading contestants make the same errors, on each data set."""
        overlaps = []
        for data in self.responses.data:
            leaders = self.leaders(data)
            learnt = [contestant for contestant in leaders if not contestant.baseline]
            # A baseline errs elsewhere by its nature, which is no news.
            compared = learnt if len(learnt) > 1 else leaders
            # A learner that is chosen by its probabilities need not be the one that errs least.
            together = self.measure.task == "regression" or self.measure.needs == "labels"
            overlaps.append(error_overlaps(self.predictions, data, compared, together=together))
        return tuple(overlap for overlap in overlaps if overlap is not None)

    @cached_property
    def errors(self) -> dict[str, ExperimentalError]:
        """The experimental error on each data set, where there are replications."""
        errors = {}
        for data in self.verdicts:
            overlap = overlap_of_splits(self.responses, data, self._kind)
            try:
                table = self.responses.by_split(data)
                errors[data] = experimental_error(table, overlap=overlap, alpha=self.alpha)
            except DataError:  # one split, or one contestant
                continue
        return errors

    def plot_intervals(self, data: str | None = None, ax: Any = None) -> Any:
        """Draw the interval of each contestant, what is within the margin, and the choice.

        Parameters
        ----------
        data
            Label of the data set; None takes the first.
        ax
            Axes to draw on; None makes new ones.
        """
        from verulam.plots import contestant_intervals

        evidence = self._evidence_on(data)
        return contestant_intervals(
            evidence.table.rename(index=spoken_name),
            best=spoken_name(evidence.best),
            recommended=spoken_name(evidence.selection.name),
            margin=evidence.margin,
            label=f"{self.measure.title}, 95 % interval",
            greater_is_better=self.measure.greater_is_better,
            baseline=None if evidence.baseline is None else spoken_name(evidence.baseline),
            percent=is_share(self.measure),
            ax=ax,
        )

    def plot_difference(
        self,
        first: str | None = None,
        second: str | None = None,
        data: str | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw how probable every difference of two contestants is.

        Parameters
        ----------
        first, second
            Two contestants; None takes the recommended one and its nearest rival.
        data
            Label of the data set; None takes the first.
        ax
            Axes to draw on; None makes new ones.
        """
        from verulam.plots import difference_posterior

        evidence = self._evidence_on(data)
        if len(evidence.names) < 2:
            raise DataError("A difference needs two contestants.")
        first = first or evidence.selection.name
        second = second or evidence.rival(first)
        value, *_ = evidence.posterior.difference(first, second)
        places = evidence.names.index(first), evidence.names.index(second)
        return difference_posterior(
            value,
            float(evidence.posterior.standard_errors[places]),
            evidence.posterior.degrees_of_freedom,
            margin=evidence.margin,
            names=(spoken_name(first), spoken_name(second)),
            label=f"Difference in {measure_words(self.measure)}",
            greater_is_better=self.measure.greater_is_better,
            percent=is_share(self.measure),
            ax=ax,
        )

    def plot_probabilities(self, data: str | None = None, ax: Any = None) -> Any:
        """Draw how probably each contestant is the best, and within the margin of the best.

        Parameters
        ----------
        data
            Label of the data set; None takes the first.
        ax
            Axes to draw on; None makes new ones.
        """
        from verulam.plots import best_probabilities

        evidence = self._evidence_on(data)
        table = evidence.table.rename(index=spoken_name)
        return best_probabilities(table, recommended=spoken_name(evidence.selection.name), ax=ax)

    def _evidence_on(self, data: str | None) -> "Evidence":
        data = data or self.responses.data[0]
        if data not in self.responses.data:
            raise unknown_name("data set", data, self.responses.data)
        if data not in self.evidence:
            raise DataError(f"The runs on {data} tell nothing of how far a mean may be off.")
        return self.evidence[data]

    def leaders(self, data: str, most: int = MOST_LEADERS) -> list["StoredContestant"]:
        """Return the contestants with the best means on a data set, and the recommended one."""
        ranks = self.tables[data]["rank"].sort_values(kind="stable")
        # The recommended one may be simpler, and not among the best means.
        leading = set(ranks.index[:most]) | {self.recommended}
        return [
            contestant for contestant in self.responses.contestants if contestant.name in leading
        ]

    @property
    def _kind(self) -> str:
        return resampling(self.results.description["resampling"]).kind

    def to_frame(self) -> pd.DataFrame:
        """Return one row per data set and contestant."""
        parts = [
            with_evidence(table, self.evidence.get(data), self.verdicts.get(data)).reset_index(
                names="contestant"
            )
            for data, table in self.tables.items()
        ]
        return pd.concat(
            [part.assign(data=data) for data, part in zip(self.tables, parts, strict=True)]
        ).set_index(["data", "contestant"])

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Write `to_frame` as CSV, or return it where no file is named."""
        text: str = spreadsheet_table(self.to_frame()).to_csv()
        if path is None:
            return text
        write_whole(path, text)
        return None

    def to_latex(self) -> str:
        """Return the table for a LaTeX document that loads booktabs."""
        return latex_table(self)

    def pairs_text(self) -> str:
        """Return the tests of every pair, not of those with the best alone, as text."""
        return visible_text(pairs_text(self))

    def to_dict(self) -> dict[str, Any]:
        """Return everything that is said as plain values."""
        verdicts = {data: _verdict_dict(verdict) for data, verdict in self.verdicts.items()}
        return {
            "study": self.results.description,
            "status": self.results.status(),
            "measure": self.measure.name,
            "alpha": self.alpha,
            "design": self.design,
            "answer": self.answer.sentence,
            "recommended": self.recommended,
            "order": list(self.answer.order),
            "advice": self.answer.advice,
            "evidence": {
                data: _evidence_dict(evidence) for data, evidence in self.evidence.items()
            },
            "pareto_front": list(self.front),
            "table": _records(self.table),
            "data_sets": {data: _records(table) for data, table in self.tables.items()},
            "verdicts": verdicts,
            "over_data": None if self.over_data is None else _verdict_dict(self.over_data),
            "acceptable": self.acceptable,
            "assessments": None if self.assessments is None else _records(self.assessments),
            "simple": self.simplicity,
            "notes": list(self.notes),
            "notices": list(self.notices),
            "caveats": list(self.caveats),
            **_plain(_finding_values(self)),
        }

    def to_json(self) -> str:
        """Return everything that is said as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        return visible_text(analysis_text(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.table.to_html(float_format="{:.4g}".format, na_rep="")
        notes = "".join(
            f"<li>{escape(line)}</li>" for line in (*self.notes, *self.notices, *self.caveats)
        )
        return f"<p>{escape(self.answer.sentence)}</p>{table}<ul>{notes}</ul>"


def _finding_values(analysis: Analysis) -> dict[str, Any]:
    """Return the further findings as tables and plain values.

    Parameters
    ----------
    analysis
        The analysis of the study.
    """
    return {
        "effects": [_effect_values(effects) for effects in analysis.effects],
        "nuisance": [_effect_values(effects) for effects in analysis.nuisance],
        "interaction": analysis.interaction,
        "vector_responses": [
            {
                "data": verdict.data,
                "overall": verdict.overall.to_dict(),
                "means": verdict.means,
                "single": verdict.single,
                "pairs": verdict.pairs,
            }
            for verdict in analysis.vectors
        ],
        "error_overlap": [
            {
                "data": overlap.data,
                "rows": overlap.rows,
                "shared": overlap.shared,
                "disagreement": overlap.disagreement,
                "by_contestant": overlap.by_contestant,
                "vote": None if overlap.vote is None else vars(overlap.vote),
            }
            for overlap in analysis.overlaps
        ],
        "experimental_error": {data: vars(error) for data, error in analysis.errors.items()},
    }


def _effect_values(effects: "FactorEffects") -> dict[str, Any]:
    return {
        "scope": effects.scope,
        "factors": list(effects.factors),
        "table": effects.table,
        "means": {name: means.reset_index() for name, means in effects.means.items()},
        "estimates": effects.estimates,
        "aliases": {name: list(others) for name, others in effects.aliases.items()},
        "notes": list(effects.notes),
    }


def _evidence_dict(evidence: "Evidence") -> dict[str, Any]:
    agreeing, of = evidence.repeats_agreeing
    return {
        "best": evidence.best,
        "choice": evidence.selection.name,
        "rule": evidence.rule,
        "margin": evidence.margin,
        "agreement": evidence.selection.agreement,
        "repeats": evidence.repeats,
        "repeats_agreeing": agreeing,
        "repeats_compared": of,
        "table": _records(evidence.table),
        "claims": _records(evidence.claims, index=False),
    }


def _verdict_dict(verdict: "Verdict") -> dict[str, Any]:
    return {
        "scope": verdict.scope,
        "best": verdict.best,
        "group": list(verdict.group),
        "method": verdict.method,
        "why": verdict.why,
        "overall": None if verdict.overall is None else verdict.overall.to_dict(),
        "further": [test.to_dict() for test in verdict.further],
        "pairs": _records(verdict.pairs, index=False),
        "notes": list(verdict.notes),
    }


def _plain(value: Any) -> Any:
    """Return tables within nested values as rows of plain values."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(element) for element in value]
    return _records(value) if isinstance(value, pd.DataFrame) else value


def _records(table: pd.DataFrame, *, index: bool = True) -> list[dict[str, Any]]:
    """Return rows as plain values; undefined numbers become None."""
    rows = table.reset_index() if index else table
    return json.loads(rows.to_json(orient="records", double_precision=15))
