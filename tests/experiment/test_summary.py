"""From scores to words."""

import numpy as np
import pandas as pd
import pytest

from verulam.experiment._summary import conclude, recommended, summarise
from verulam.measures import measure

NOISE = np.array([-0.02, 0.01, 0.02, -0.01, 0.0])
ERROR = measure("error")


def table(**scores):
    rows = [
        {"learner": name, "repeat": 0, "fold": fold, "score": score, "fit_seconds": 0.1,
         "predict_seconds": 0.2, "error": "broke" if np.isnan(score) else ""}
        for name, values in scores.items()
        for fold, score in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def summary_of(chosen=ERROR, **scores):
    return summarise(table(**scores), list(scores), chosen, folds=5)


def test_means_and_tests():
    summary = summary_of(plain=0.5 + NOISE, good=0.1 + NOISE[::-1], close=0.11 + NOISE)
    assert summary["mean"].round(6).to_dict() == {"plain": 0.5, "good": 0.1, "close": 0.11}
    assert summary["decision"].to_dict() == {
        "plain": "reject",
        "good": "best",
        "close": "fail to reject",
    }
    assert summary.loc["plain", "difference"] == pytest.approx(0.4)
    assert np.isnan(summary.loc["good", "p_value"])


def test_direction_follows_the_measure():
    scores = {"low": 0.5 + NOISE, "high": 0.9 + NOISE[::-1]}
    assert summary_of(measure("accuracy"), **scores).loc["high", "decision"] == "best"
    assert summary_of(ERROR, **scores).loc["low", "decision"] == "best"


def test_failed_learners_are_not_tested_and_cannot_be_best():
    summary = summary_of(good=0.2 + NOISE, broken=[0.0, np.nan, 0.0, 0.0, 0.0])
    assert summary["failures"].to_dict() == {"good": 0, "broken": 1}
    assert summary["decision"].to_dict() == {"good": "best", "broken": "not tested"}


def test_nothing_complete():
    summary = summary_of(broken=[np.nan] * 5)
    assert summary.loc["broken", "decision"] == "not tested"
    assert "nothing can be concluded" in conclude(summary, ERROR, ["broken"])


def test_the_simpler_is_recommended_where_nothing_is_rejected():
    summary = summary_of(simple=0.11 + NOISE, fancy=0.1 + NOISE[::-1])
    assert recommended(summary, ["simple", "fancy"]) == "simple"
    assert recommended(summary, ["fancy", "simple"]) == "fancy"
    text = conclude(summary, ERROR, ["simple", "fancy"])
    assert text.startswith("fancy has the lowest mean error (0.1). The tests fail to reject")
    assert text.endswith("Recommended: simple, the simplest of these.")


def test_a_clear_winner():
    summary = summary_of(simple=0.5 + NOISE, fancy=0.1 + NOISE[::-1])
    text = conclude(summary, ERROR, ["simple", "fancy"])
    assert "rejected for every other learner" in text
    assert text.endswith("Recommended: fancy.")
