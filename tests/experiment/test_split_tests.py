"""Verdicts on one data set."""

import numpy as np
import pytest
from tests.experiment.analysed import noisy, responses_of

from verulam import statistics
from verulam.experiment._split_tests import verdict_on_splits


def verdict(responses, resampling="k-fold", wrong=None):
    return verdict_on_splits(responses, "iris", resampling=resampling, alpha=0.05, wrong=wrong)


def test_two_contestants_have_one_test():
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.3, seed=2)}
    found = verdict(responses_of({"iris": scores}))
    expected = statistics.corrected_t_test(scores["a"], scores["b"], test_share=0.1)
    assert found.method == "the corrected resampled t test"
    assert found.overall.p_value == expected.p_value
    assert found.best == "a"
    assert found.group == ("a",)
    assert any("normal" in text for text in found.assumptions)


def test_five_by_two():
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.3, seed=2)}
    found = verdict(responses_of({"iris": scores}, folds=2), "5x2")
    assert found.method == "the combined 5x2 cv F test"
    assert "overlap" in found.why


def test_many_contestants_have_an_overall_test_first():
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.2, seed=2), "c": noisy(0.4, seed=3)}
    found = verdict(responses_of({"iris": scores}))
    expected = statistics.repeated_anova(np.transpose(list(scores.values())))
    assert found.overall.p_value == pytest.approx(expected.p_value)
    assert found.method.startswith("blocked analysis of variance, then")
    assert found.group == ("a", "b")


def test_greater_may_be_better():
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.9, seed=2)}
    found = verdict(responses_of({"iris": scores}, measure="accuracy"))
    assert found.best == "b"
    assert found.beats("b", "a")


def test_missing_splits_are_said():
    scores = {"a": [np.nan, *noisy(0.2, 9, seed=1)], "b": noisy(0.3, seed=2)}
    found = verdict(responses_of({"iris": scores}))
    (note,) = found.notes
    assert note.startswith("iris: a lacks 1 of 10 splits; its tests use only the splits that both")
    assert found.pairs["splits"].tolist() == [9]


def test_one_split_without_errors_allows_no_test():
    responses = responses_of({"iris": {"a": [0.2], "b": [0.3]}}, measure="log_loss")
    found = verdict(responses, "holdout")
    assert not found.tested
    assert "allows no test" in found.notes[0]


def test_nothing_finished():
    assert verdict(responses_of({"iris": {"a": [np.nan]}, "wine": {"a": [0.1]}})) is None
