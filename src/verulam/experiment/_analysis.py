"""The analysis of a study, from its stored results alone."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._analysis_text import analysis_text, latex_table
from verulam.experiment._answers import Answer, answer, with_order
from verulam.experiment._assessment import assess, assessment_answer
from verulam.experiment._contestants import Responses, responses
from verulam.experiment._costs import pareto_front, summarise_all, summarise_data
from verulam.experiment._data_tests import verdict_over_data
from verulam.experiment._predictions import pooled_predictions
from verulam.experiment._remarks import caveats_of, notes_of
from verulam.experiment._resampling import resampling
from verulam.experiment._results import Results
from verulam.experiment._split_tests import verdict_on_splits
from verulam.experiment._verdict import Verdict
from verulam.measures import Measure


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
    verdicts
        For each data set what the tests say there.
    over_data
        What the tests say over all data sets; None where there is one.
    answer
        The recommendation, the order of all, and the words for them.
    front
        Contestants that none beats in both response and time to fit.
    assessments
        Tests against the acceptable level, where one was given.
    notes
        What is missing: failures, runs left, splits that are not shared.
    caveats
        What to keep in mind.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, analyse, run
    >>> learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    >>> study = Study("flowers", [DataChoice("iris")], learners, resampling="5x2")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = analyse(run(study, f"{folder}/runs.sqlite", engine="serial", progress=False))
    >>> print(found.answer.sentence)
    Use parametric.NaiveBayes. It has the lowest mean error (0.05467), and the tests reject that
    the other does equally well.
    >>> found.verdict.method, found.verdict.overall.decision
    ('the combined 5x2 cv F test', 'reject')
    """

    results: Results
    responses: Responses
    alpha: float
    tables: Mapping[str, pd.DataFrame]
    overall: pd.DataFrame | None
    verdicts: Mapping[str, Verdict]
    over_data: Verdict | None
    answer: Answer
    front: tuple[str, ...]
    assessments: pd.DataFrame | None
    notes: tuple[str, ...]
    caveats: tuple[str, ...]

    @property
    def measure(self) -> Measure:
        """The response that decides."""
        return self.responses.measure

    @property
    def design(self) -> str:
        """How the splits were drawn, in words."""
        return resampling(self.results.description["resampling"]).title

    @property
    def recommended(self) -> str | None:
        """The contestant to use; None where the study cannot say."""
        return self.answer.recommended

    @property
    def verdict(self) -> Verdict | None:
        """The verdict that the answer rests on; None where nothing has been run."""
        return self.over_data or next(iter(self.verdicts.values()), None)

    @property
    def table(self) -> pd.DataFrame:
        """One row per contestant, with the verdict on its equality with the best."""
        plain = next(iter(self.tables.values())) if self.overall is None else self.overall
        return _with_decisions(plain, self.verdict, self.front)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per data set and contestant."""
        parts = [
            _with_decisions(table, self.verdicts.get(data), None).reset_index(names="contestant")
            for data, table in self.tables.items()
        ]
        return pd.concat(
            [part.assign(data=data) for data, part in zip(self.tables, parts, strict=True)]
        ).set_index(["data", "contestant"])

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Write `to_frame` as CSV, or return it where no file is named."""
        return self.to_frame().to_csv(path)

    def to_latex(self) -> str:
        """Return the table for a LaTeX document that loads booktabs."""
        return latex_table(self)

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
            "pareto_front": list(self.front),
            "table": _records(self.table),
            "data_sets": {data: _records(table) for data, table in self.tables.items()},
            "verdicts": verdicts,
            "over_data": None if self.over_data is None else _verdict_dict(self.over_data),
            "assessments": None if self.assessments is None else _records(self.assessments),
            "notes": list(self.notes),
            "caveats": list(self.caveats),
        }

    def to_json(self) -> str:
        """Return everything that is said as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        return analysis_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.table.to_html(float_format="{:.4g}".format, na_rep="")
        notes = "".join(f"<li>{escape(line)}</li>" for line in (*self.notes, *self.caveats))
        return f"<p>{escape(self.answer.sentence)}</p>{table}<ul>{notes}</ul>"


def analyse(
    results: Results | str | Path,
    measure: Any = None,
    alpha: float = 0.05,
    *,
    acceptable: float | None = None,
) -> Analysis:
    """Analyse a study by the tests that its aim and its design allow.

    Parameters
    ----------
    results
        The study, or the path of its store.
    measure
        What decides, by name or as an object; None takes the first measure of the study.
    alpha
        Level of significance.
    acceptable
        Level of the measure that a good enough contestant keeps; None asks nothing.
    """
    if not isinstance(results, Results):
        results = Results(results)
    if not 0.0 < alpha < 1.0:
        raise DataError(f"alpha: {alpha!r}; expected a number between 0 and 1.")
    found = responses(results, measure)
    kind = resampling(results.description["resampling"]).kind
    verdicts = {}
    for data in found.data:
        wrong = partial(_wrong, results, found, data)
        verdict = verdict_on_splits(found, data, resampling=kind, alpha=alpha, wrong=wrong)
        if verdict is not None:
            verdicts[data] = verdict
    over_data = verdict_over_data(found, alpha=alpha)
    tables = {data: summarise_data(found, data) for data in found.data}
    overall = summarise_all(found) if len(found.data) > 1 else None
    assessments = None if acceptable is None else assess(found, acceptable, alpha=alpha)
    said = answer(found, verdicts, over_data, alpha=alpha)
    if results.description["aim"] == "order":
        said = with_order(said)
    if assessments is not None and results.description["aim"] == "assess":
        said = assessment_answer(said, assessments, found.measure, float(acceptable or 0.0))
    return Analysis(
        results=results,
        responses=found,
        alpha=alpha,
        tables=tables,
        overall=overall,
        verdicts=verdicts,
        over_data=over_data,
        answer=said,
        front=_front(found, tables, overall),
        assessments=assessments,
        notes=notes_of(results, verdicts, over_data),
        caveats=caveats_of(results, verdicts, over_data),
    )


def _wrong(results: Results, found: Responses, data: str, name: str) -> np.ndarray:
    contestant = next(each for each in found.contestants if each.name == name)
    pooled = pooled_predictions(results, data, contestant.learner, contestant.setting)
    assert pooled is not None
    return pooled.predicted != pooled.targets


def _front(
    found: Responses, tables: Mapping[str, pd.DataFrame], overall: pd.DataFrame | None
) -> tuple[str, ...]:
    if overall is not None:
        return pareto_front(overall, "mean_rank", "fit_seconds")
    table = next(iter(tables.values()))
    greater = found.measure.greater_is_better
    return pareto_front(table, "mean", "fit_seconds", greater_is_better=greater)


def _with_decisions(
    table: pd.DataFrame, verdict: Verdict | None, front: tuple[str, ...] | None
) -> pd.DataFrame:
    """Return the table with each contestant's test against the best."""
    table = table.assign(difference=np.nan, adjusted_p=np.nan, equality="not tested")
    if verdict is not None:
        for row in verdict.pairs.to_dict("records"):
            if verdict.best not in (row["first"], row["second"]):
                continue
            ahead = row["first"] == verdict.best
            other, sign = (row["second"], -1.0) if ahead else (row["first"], 1.0)
            table.loc[other, "difference"] = sign * row["difference"]
            table.loc[other, "adjusted_p"] = row["adjusted_p"]
            table.loc[other, "equality"] = row["decision"]
        table.loc[verdict.best, "equality"] = "best"
    if front is not None:
        table["pareto"] = [name in front for name in table.index]
    return table


def _verdict_dict(verdict: Verdict) -> dict[str, Any]:
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


def _records(table: pd.DataFrame, *, index: bool = True) -> list[dict[str, Any]]:
    """Return rows as plain values; undefined numbers become None."""
    rows = table.reset_index() if index else table
    return json.loads(rows.to_json(orient="records", double_precision=15))
