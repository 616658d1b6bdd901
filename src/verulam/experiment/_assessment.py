"""Is it good enough: contestants against a level that is acceptable."""

from dataclasses import replace
from typing import Literal

import pandas as pd

from verulam.base import DataError
from verulam.experiment._answers import Answer, listed
from verulam.experiment._contestants import Responses
from verulam.measures import Measure
from verulam.statistics import runs_t_test


def assess(responses: Responses, acceptable: float, *, alpha: float) -> pd.DataFrame:
    """Return one row per data set and contestant, tested against what is acceptable.

    Parameters
    ----------
    responses
        The scores.
    acceptable
        Level of the measure that is still good enough.
    alpha
        Level of significance.

    Notes
    -----
    The claim, that the contestant is better, is the alternative; equality is in the null
    hypothesis (Alpaydin 19.10.3).
    """
    claim: Literal["greater", "less"] = "greater" if responses.measure.greater_is_better else "less"
    rows = []
    for data in responses.data:
        for name, scores in responses.by_split(data).items():
            known = scores.dropna()
            try:
                test = runs_t_test(known, acceptable, alternative=claim, alpha=alpha)
                p_value, decision = test.p_value, test.decision
            except DataError:  # one split, or no variance
                p_value, decision = float("nan"), "not tested"
            rows.append((data, name, known.mean(), p_value, decision))
    columns = ["data", "contestant", "mean", "p_value", "decision"]
    return pd.DataFrame(rows, columns=columns)


def assessment_answer(
    said: Answer, assessments: pd.DataFrame, measure: Measure, acceptable: float
) -> Answer:
    """Return the answer to whether contestants are good enough.

    Parameters
    ----------
    said
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
        f"Shown to be good enough ({level}): {listed(good)}."
        if good
        else f"No contestant is shown to be good enough ({level})."
    )
    recommended = next((name for name in said.order if name in good), None)
    return replace(said, sentence=sentence, recommended=recommended)
