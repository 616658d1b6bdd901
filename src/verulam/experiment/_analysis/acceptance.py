"""Is it good enough: contestants against a level that is acceptable."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.experiment._analysis.answer import Answer
from verulam.experiment._store.responses import Responses
from verulam.experiment._words.phrases import few, named
from verulam.measures import Measure
from verulam.statistics import TestResult, binomial_test, runs_t_test

#: Gives what each row of a data set contributes to a contestant's score; None where unknown.
RowsOf = Callable[[str, str], np.ndarray | None]


def assess(
    responses: Responses, acceptable: float, *, alpha: float, rows_of: RowsOf | None = None
) -> pd.DataFrame:
    """Return one row per data set and contestant, tested against what is acceptable.

    Parameters
    ----------
    responses
        The scores.
    acceptable
        Level of the measure that is still good enough.
    alpha
        Level of significance.
    rows_of
        What each tested row of a data set contributes to the score of a contestant.

    Notes
    -----
    The claim, that the contestant is better, is the alternative; equality is in the null
    hypothesis. Several splits have a t test of their scores (Alpaydin 19.10.3). One split has a
    binomial test of its errors (19.10.1), and so have splits that all score alike, or that test
    one row each, if no row is tested twice.
    """
    if responses.measure.rows is None:  # not a mean over rows, so that nothing can be counted
        rows_of = None
    rows = []
    for data in responses.data:
        once = _tested_once(responses, data)
        for name, scores in responses.by_split(data).items():
            losses = rows_of(data, str(name)) if rows_of and once.get(str(name), False) else None
            test = _tested(scores.dropna(), losses, acceptable, responses.measure, alpha)
            found = ("none", float("nan"), "not tested")
            if test is not None:
                found = (test.name, test.p_value, test.decision)
            rows.append((data, name, scores.mean(), *found))
    columns = ["data", "contestant", "mean", "test", "p_value", "decision"]
    return pd.DataFrame(rows, columns=columns)


def _tested_once(responses: Responses, data: str) -> dict[str, bool]:
    """Return of which contestants no row was tested twice."""
    chosen = responses.full[responses.full["data"] == data]
    groups = chosen.groupby("contestant", observed=True)
    once = groups["repeat"].min() == groups["repeat"].max()
    single = once & (groups.size() == groups["fold"].nunique())
    return {str(name): bool(value) for name, value in single.items()}


def _tested(
    scores: pd.Series,
    losses: np.ndarray | None,
    acceptable: float,
    measure: Measure,
    alpha: float,
) -> TestResult | None:
    """Return the test of one contestant that its splits allow; None where there is none."""
    claim: Literal["greater", "less"] = "greater" if measure.greater_is_better else "less"
    counted = losses is not None and bool(np.isin(losses, (0.0, 1.0)).all())
    alike = len(scores) > 0 and float(np.ptp(scores)) == 0.0
    try:
        if losses is not None and counted and (alike or len(losses) == len(scores)):
            hits = int(losses.sum())
            return binomial_test(hits, len(losses), acceptable, alternative=claim, alpha=alpha)
        return runs_t_test(scores, acceptable, alternative=claim, alpha=alpha)
    except DataError:  # one split of a measure that is no count, or no variance
        return None


def assessment_answer(
    answer: Answer, assessments: pd.DataFrame, measure: Measure, acceptable: float
) -> Answer:
    """Return the answer to whether contestants are good enough.

    Parameters
    ----------
    answer
        The answer of the comparison.
    assessments
        What `assess` gave.
    measure
        What was measured.
    acceptable
        The level.
    """
    shown = assessments.groupby("contestant", sort=False)["decision"].agg(
        lambda decisions: bool((decisions == "reject").all())
    )
    good = [str(name) for name in shown.index[shown]]
    relation = "above" if measure.greater_is_better else "below"
    level = f"{measure.name} {relation} {acceptable:g}"
    sentence = (
        f"Shown to be good enough ({level}): {few([named(name) for name in good])}."
        if good
        else f"No contestant is shown to be good enough ({level})."
    )
    recommended = next((name for name in answer.order if name in good), None)
    # What would tell the best from the others is not what was asked.
    return replace(answer, sentence=sentence, recommended=recommended, advice="")
