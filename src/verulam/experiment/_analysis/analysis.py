"""The analysis of a study, from its stored results alone."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, unknown_name
from verulam.experiment._analysis.acceptance import assess, assessment_answer
from verulam.experiment._analysis.answer import Answer, answer, with_order
from verulam.experiment._analysis.data_tests import verdict_over_data
from verulam.experiment._analysis.error_overlap import Overlap, error_overlaps
from verulam.experiment._analysis.split_tests import verdict_on_splits
from verulam.experiment._effects.effects import FactorEffects
from verulam.experiment._effects.multivariate import VectorVerdict, vector_verdicts
from verulam.experiment._effects.nuisance import nuisance_effects
from verulam.experiment._effects.replication import ExperimentalError, experimental_error
from verulam.experiment._effects.study_effects import (
    data_interaction,
    overlap_of_splits,
    study_effects,
)
from verulam.experiment._evidence.evidence import Evidence, evidence_of
from verulam.experiment._evidence.margin import is_share
from verulam.experiment._evidence.rank_evidence import RankEvidence, rank_evidence
from verulam.experiment._evidence.simplicity import BY_KIND, complexities, interpretability_grades
from verulam.experiment._evidence.tables import (
    pareto_front,
    summarise_all,
    summarise_data,
    with_evidence,
    with_ranks,
)
from verulam.experiment._evidence.verdict import Verdict
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.predictions import StoredPredictions
from verulam.experiment._store.responses import Responses, StoredContestant, responses, spoken_name
from verulam.experiment._store.results import Results
from verulam.experiment._study.analysis_options import (
    INTERPRETABILITY,
    PAIR_TESTS,
    AnalysisOptions,
    Simplicity,
    analysis_options,
)
from verulam.experiment._words.analysis_text import analysis_text, latex_table
from verulam.experiment._words.caveats import caveats_of, notes_of
from verulam.experiment._words.findings import finding_values
from verulam.experiment._words.phrases import measure_words
from verulam.experiment._words.prediction_notes import overlooked_classes, unscored_contestants
from verulam.experiment._words.run_notes import warning_lines
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
    caveats
        What to keep in mind.
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
    ...     found = analyse(run(study, f"{folder}/runs.sqlite", engine="serial", progress=False))
    >>> print(found.answer.sentence)
    Use naive Bayes: it errs on 5.5 % of unseen rows (2.6 to 11.1). It is better than the
    majority class, which is 53.1 to 69.3 points worse. This rests on 5 repeats of
    cross-validation; other random splits of these rows would lead to the same choice nearly
    always.
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
    evidence: Mapping[str, Evidence]
    ranks: RankEvidence | None
    answer: Answer
    front: tuple[str, ...]
    assessments: pd.DataFrame | None
    notes: tuple[str, ...]
    caveats: tuple[str, ...]
    simplicity: str = BY_KIND
    acceptable: float | None = None

    @property
    def measure(self) -> Measure:
        """The response that decides."""
        return self.responses.measure

    @property
    def design(self) -> str:
        """How the splits were drawn, in words."""
        return self.results.design

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """What was done otherwise than asked for, and the warnings that learners gave."""
        return (*self.results.notices, *warning_lines(self.responses.runs))

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
        if self.overall is None:
            data, plain = next(iter(self.tables.items()))
            table = with_evidence(plain, self.evidence.get(data), self.verdicts.get(data))
        else:
            table = with_ranks(self.overall, self.ranks, self.over_data)
        return table.assign(pareto=[name in self.front for name in table.index])

    @cached_property
    def predictions(self) -> StoredPredictions:
        """The stored predictions, each read once."""
        return StoredPredictions(self.results)

    @cached_property
    def effects(self) -> tuple[FactorEffects, ...]:
        """Main effects and interactions of what the study varies, with their tables."""
        return study_effects(self.responses, self._kind)

    @cached_property
    def interaction(self) -> pd.DataFrame | None:
        """Whether the order of the contestants depends on the data set; None for one of them."""
        return data_interaction(self.responses, self._kind) if len(self.verdicts) > 1 else None

    @cached_property
    def nuisance(self) -> tuple[FactorEffects, ...]:
        """What the nuisance factors do to the leading contestants, where they are columns."""
        return tuple(
            effects
            for data in self.verdicts
            for effects in nuisance_effects(self.results, self.responses, data, self.leaders(data))
        )

    @cached_property
    def vectors(self) -> tuple[VectorVerdict, ...]:
        """Tests of several responses at once, where the study has them."""
        return vector_verdicts(self.results, self.responses, alpha=self.alpha)

    @cached_property
    def overlaps(self) -> tuple[Overlap, ...]:
        """How far the leading contestants make the same errors, on each data set."""
        found = []
        for data in self.responses.data:
            leaders = self.leaders(data)
            learnt = [each for each in leaders if not each.baseline]
            # A baseline errs elsewhere by its nature, which is no news.
            chosen = learnt if len(learnt) > 1 else leaders
            found.append(error_overlaps(self.predictions, data, chosen))
        return tuple(each for each in found if each is not None)

    @cached_property
    def errors(self) -> dict[str, ExperimentalError]:
        """The experimental error on each data set, where there are replications."""
        found = {}
        for data in self.verdicts:
            overlap = overlap_of_splits(self.responses, data, self._kind)
            try:
                table = self.responses.by_split(data)
                found[data] = experimental_error(table, overlap=overlap, alpha=self.alpha)
            except DataError:  # one split, or one contestant
                continue
        return found

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

        known = self._known(data)
        return contestant_intervals(
            known.table.rename(index=spoken_name),
            best=spoken_name(known.best),
            recommended=spoken_name(known.selection.name),
            margin=known.margin,
            label=f"{self.measure.title}, 95 % interval",
            greater_is_better=self.measure.greater_is_better,
            baseline=None if known.baseline is None else spoken_name(known.baseline),
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

        known = self._known(data)
        if len(known.names) < 2:
            raise DataError("A difference needs two contestants.")
        first = first or known.selection.name
        second = second or known.rival(first)
        value, *_ = known.posterior.difference(first, second)
        places = known.names.index(first), known.names.index(second)
        return difference_posterior(
            value,
            float(known.posterior.standard_errors[places]),
            known.posterior.degrees_of_freedom,
            margin=known.margin,
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

        known = self._known(data)
        table = known.table.rename(index=spoken_name)
        return best_probabilities(table, recommended=spoken_name(known.selection.name), ax=ax)

    def _known(self, data: str | None) -> Evidence:
        data = data or self.responses.data[0]
        if data not in self.responses.data:
            raise unknown_name("data set", data, self.responses.data)
        if data not in self.evidence:
            raise DataError(f"The runs on {data} tell nothing of how far a mean may be off.")
        return self.evidence[data]

    def leaders(self, data: str, most: int = MOST_LEADERS) -> list[StoredContestant]:
        """Return the contestants with the best means on a data set, and the recommended one."""
        ranks = self.tables[data]["rank"].sort_values(kind="stable")
        leading = set(ranks.index[:most]) | {self.recommended}
        return [each for each in self.responses.contestants if each.name in leading]

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
            "evidence": {data: _evidence_dict(known) for data, known in self.evidence.items()},
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
            **_plain(finding_values(self)),
        }

    def to_json(self) -> str:
        """Return everything that is said as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        return analysis_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = self.table.to_html(float_format="{:.4g}".format, na_rep="")
        notes = "".join(
            f"<li>{escape(line)}</li>" for line in (*self.notes, *self.notices, *self.caveats)
        )
        return f"<p>{escape(self.answer.sentence)}</p>{table}<ul>{notes}</ul>"


def analyse(
    results: Results | str | Path,
    measure: Any = None,
    alpha: float | None = None,
    *,
    acceptable: float | None = None,
    test: str | None = None,
    simplicity: Simplicity | None = None,
    costs: Mapping[str, Mapping[str, float]] | None = None,
    matters: float | None = None,
    rule: str | None = None,
    procedure: str | None = None,
) -> Analysis:
    """Analyse a study by the tests that its aim and its design allow.

    What is not said here is taken from what the study itself wishes (`Study.analysis`).

    Parameters
    ----------
    results
        The study, or the path of its store.
    measure
        What decides, by name or as an object; None takes the first measure of the study.
    alpha
        Level of significance; 0.05 where the study does not say.
    acceptable
        Level of the measure that a good enough contestant keeps.
    test
        Paired test to use on the splits instead of the one that the design suggests, such as
        "corrected_t_test", "calibrated_t_test" or "five_by_two_t_test".
    simplicity
        Cost by which the simpler of two is found, "interpretability", "fit_seconds",
        "predict_seconds", "model_size", "peak_memory" or one of `costs`, or several with their
        weights; None takes the kind of model, by the grades of the catalogue.
    costs
        Costs of one's own, such as how hard a learner is to program: for each name a number for
        each contestant, of which less is better.
    matters
        Difference of the measure, in its own units, below which two contestants are as good as
        equal; None takes 1 percentage point for shares, and otherwise a share of what guessing
        scores.
    rule
        Rule of choice: "half standard error", "one standard error", "best mean" or "not
        rejected".
    procedure
        Procedure for all pairs over several data sets, such as "shaffer" or "nemenyi".
    """
    if test is not None and test not in PAIR_TESTS:
        raise unknown_name("test", test, PAIR_TESTS)
    if not isinstance(results, Results):
        results = Results(results)
    options = _options(
        results,
        measure,
        alpha=alpha,
        acceptable=acceptable,
        test=test,
        simplicity=simplicity,
        matters=matters,
        rule=rule,
        procedure=procedure,
    )
    alpha = options.alpha
    scores = responses(results, measure)
    learners = results.description["learners"]
    further = {INTERPRETABILITY: interpretability_grades(scores, learners), **(costs or {})}
    simple = complexities(scores, learners, options.simplicity, costs)
    predictions = StoredPredictions(results)
    verdicts = _verdicts(results, scores, predictions, options)
    evidence = evidence_of(
        results,
        scores,
        simple.values,
        alpha=alpha,
        matters=options.matters,
        rule=options.rule,
    )
    over_data = verdict_over_data(scores, alpha=alpha, procedure=options.procedure)
    ranks = rank_evidence(scores, evidence, simple.values, options.rule)
    tables = {data: summarise_data(scores, data, further) for data in scores.data}
    overall = summarise_all(scores, further) if len(scores.data) > 1 else None
    assessments = None
    if options.acceptable is not None:
        rows_of = partial(_row_losses, predictions, scores)
        assessments = assess(scores, options.acceptable, alpha=alpha, rows_of=rows_of)
    conclusion = answer(scores, verdicts, over_data, evidence, ranks, alpha=alpha)
    if results.description["aim"] == "order":
        conclusion = with_order(conclusion, scores)
    if results.description["aim"] == "assess" and assessments is not None:
        level = float(options.acceptable or 0.0)
        conclusion = assessment_answer(conclusion, assessments, scores.measure, level)
    return Analysis(
        results=results,
        responses=scores,
        alpha=alpha,
        tables=tables,
        overall=overall,
        verdicts=verdicts,
        over_data=over_data,
        evidence=evidence,
        ranks=ranks,
        answer=conclusion,
        front=_front(scores, tables, overall),
        assessments=assessments,
        notes=(
            *notes_of(results, verdicts, over_data),
            *unscored_contestants(scores),
            *overlooked_classes(predictions, scores, conclusion.recommended),
        ),
        caveats=caveats_of(results, verdicts, over_data, simple.words),
        simplicity=simple.words,
        acceptable=options.acceptable,
    )


def _verdicts(
    results: Results, scores: Responses, predictions: StoredPredictions, options: AnalysisOptions
) -> dict[str, Verdict]:
    """Return what the tests say on each data set that has results."""
    kind = resampling(results.description["resampling"]).kind
    verdicts = {}
    for data in scores.data:
        verdict = verdict_on_splits(
            scores,
            data,
            resampling=kind,
            alpha=options.alpha,
            row_losses=partial(_row_losses, predictions, scores, data),
            test=options.test,
        )
        if verdict is not None:
            verdicts[data] = verdict
    return verdicts


def _options(results: Results, measure: Any, **asked: Any) -> AnalysisOptions:
    """Return how to analyse: what is asked for here, and for the rest what the study wishes."""
    wished = analysis_options(results.description.get("analysis"))
    options = {name: value for name, value in asked.items() if value is not None}
    if measure is not None:  # a level and a margin are those of the study's own measure
        wished = replace(wished, acceptable=None, matters=None)
    alpha = options.get("alpha", wished.alpha)
    if not 0.0 < alpha < 1.0:
        raise DataError(f"alpha: {alpha!r}; expected a number between 0 and 1.")
    simplicity = options.pop("simplicity", wished.simplicity)
    # Costs of one's own are known to the caller alone, and checked with them.
    chosen = replace(wished, simplicity=None, **options)
    object.__setattr__(chosen, "simplicity", simplicity)
    return chosen


def _row_losses(
    predictions: StoredPredictions, found: Responses, data: str, name: str
) -> np.ndarray | None:
    contestant = next(each for each in found.contestants if each.name == name)
    return predictions.row_losses(found.measure, data, contestant.learner, contestant.setting)


def _front(
    found: Responses, tables: Mapping[str, pd.DataFrame], overall: pd.DataFrame | None
) -> tuple[str, ...]:
    if overall is not None:
        return pareto_front(overall, "mean_rank", "fit_seconds")
    table = next(iter(tables.values()))
    greater = found.measure.greater_is_better
    return pareto_front(table, "mean", "fit_seconds", greater_is_better=greater)


def _evidence_dict(known: Evidence) -> dict[str, Any]:
    agreeing, of = known.repeats_agreeing
    return {
        "best": known.best,
        "choice": known.selection.name,
        "rule": known.rule,
        "margin": known.margin,
        "agreement": known.selection.agreement,
        "repeats": known.repeats,
        "repeats_agreeing": agreeing,
        "repeats_compared": of,
        "table": _records(known.table),
        "claims": _records(known.claims, index=False),
    }


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


def _plain(value: Any) -> Any:
    """Return tables within nested values as rows of plain values."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return _records(value) if isinstance(value, pd.DataFrame) else value


def _records(table: pd.DataFrame, *, index: bool = True) -> list[dict[str, Any]]:
    """Return rows as plain values; undefined numbers become None."""
    rows = table.reset_index() if index else table
    return json.loads(rows.to_json(orient="records", double_precision=15))
