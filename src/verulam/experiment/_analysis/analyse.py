"""The analysis of a study by the tests that its aim and its design allow."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import DataError, unknown_name
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._analysis.answer import Answer, answer, assessment_answer, with_order
from verulam.experiment._analysis.tests import (
    assess,
    dropped_out,
    verdict_on_splits,
    verdict_over_data,
)
from verulam.experiment._evidence.estimate import evidence_of
from verulam.experiment._evidence.evidence import rank_evidence
from verulam.experiment._evidence.simplicity import complexities, interpretability_grades
from verulam.experiment._evidence.tables import (
    leading_front,
    summarise_all,
    summarise_data,
    with_only_evidence,
    with_ranks,
)
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.predictions import StoredPredictions
from verulam.experiment._store.responses import Responses, responses
from verulam.experiment._store.results import Results
from verulam.experiment._study.analysis_options import (
    INTERPRETABILITY,
    PAIR_TESTS,
    AnalysisOptions,
    Simplicity,
    analysis_options,
)
from verulam.experiment._text import in_task_words
from verulam.experiment._words.caveats import (
    caveats_of,
    notes_of,
    overlooked_classes,
    race_sentence,
    unscored_contestants,
    warning_lines,
)

if TYPE_CHECKING:
    from verulam.experiment._evidence.evidence import Evidence
    from verulam.experiment._evidence.verdict import Verdict


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
        results, scores, simple.values, alpha=alpha, matters=options.matters, rule=options.rule
    )
    over_data = verdict_over_data(scores, alpha=alpha, procedure=options.procedure)
    ranks = rank_evidence(scores, evidence, simple.values, options.rule)
    tables = {data: summarise_data(scores, data, further) for data in scores.data}
    overall = summarise_all(scores, further) if len(scores.data) > 1 else None
    front = leading_front(tables, overall, scores.measure)
    if overall is None:
        table = with_only_evidence(tables, evidence, verdicts)
    else:
        table = with_ranks(overall, ranks, over_data)
    assessments = None
    if options.acceptable is not None:
        rows_of = partial(_row_losses, predictions, scores)
        assessments = assess(scores, options.acceptable, alpha=alpha, rows_of=rows_of)
    compared = answer(scores, verdicts, over_data, evidence, ranks, alpha=alpha)
    conclusion = _for_aim(compared, results, scores, assessments, options.acceptable)
    return Analysis(
        results=results,
        responses=scores,
        alpha=alpha,
        tables=tables,
        overall=overall,
        table=table.assign(pareto=[name in front for name in table.index]),
        verdicts=verdicts,
        over_data=over_data,
        evidence=evidence,
        ranks=ranks,
        answer=conclusion,
        front=front,
        assessments=assessments,
        race=_race(scores, evidence),
        notes=(
            *notes_of(results, verdicts, over_data),
            *unscored_contestants(scores),
            *overlooked_classes(predictions, scores, conclusion.recommended),
        ),
        notices=(*results.notices, *warning_lines(scores.runs)),
        caveats=caveats_of(results, verdicts, over_data, simple.words),
        predictions=predictions,
        simplicity=simple.words,
        acceptable=options.acceptable,
    )


def _race(scores: Responses, evidence: Mapping[str, "Evidence"]) -> str:
    """Return who got fewer repeats on the only data set, unable to win."""
    if len(scores.data) > 1 or not evidence:
        return ""
    ((data, known),) = evidence.items()
    return race_sentence(dropped_out(scores, data), known.repeats)


def _for_aim(
    conclusion: Answer,
    results: Results,
    scores: Responses,
    assessments: pd.DataFrame | None,
    acceptable: float | None,
) -> Answer:
    """Return an answer to what the study asks for, in the words of its task."""
    aim, task = results.description["aim"], results.description.get("task")
    if aim == "order":
        conclusion = with_order(conclusion, scores)
    if aim == "assess" and assessments is not None:
        level = float(acceptable or 0.0)
        conclusion = assessment_answer(conclusion, assessments, scores.measure, level)
    return replace(
        conclusion,
        sentence=in_task_words(conclusion.sentence, task),
        advice=in_task_words(conclusion.advice, task),
    )


def _verdicts(
    results: Results, scores: Responses, predictions: StoredPredictions, options: AnalysisOptions
) -> dict[str, "Verdict"]:
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
    merged = replace(wished, simplicity=None, **options)
    object.__setattr__(merged, "simplicity", simplicity)
    return merged


def _row_losses(
    predictions: StoredPredictions, scores: Responses, data: str, name: str
) -> np.ndarray | None:
    contestant = next(contestant for contestant in scores.contestants if contestant.name == name)
    return predictions.row_losses(scores.measure, data, contestant.learner, contestant.setting)
