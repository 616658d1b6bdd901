"""Verdicts on one data set."""

import numpy as np
import pytest
from tests.experiment.analysed import noisy, responses_of

from verulam import statistics
from verulam.base import UnknownNameError
from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._analysis.split_tests import verdict_on_splits


def verdict(responses, resampling="k-fold", row_losses=None):
    return verdict_on_splits(
        responses, "iris", resampling=resampling, alpha=0.05, row_losses=row_losses
    )


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
    table = np.transpose(list(scores.values()))
    expected = statistics.repeated_anova(table, overlap=0.1 / 0.9)
    assert found.overall.statistic == pytest.approx(expected.statistic)
    assert found.overall.statistic < statistics.repeated_anova(table).statistic
    assert found.method.startswith("blocked analysis of variance, then")
    assert found.group == ("a", "b")


def test_parts_that_share_no_row_need_no_correction():
    scores = {"a": noisy(0.2, seed=1), "b": noisy(0.2, seed=2), "c": noisy(0.4, seed=3)}
    found = verdict(responses_of({"iris": scores}, test_share=0.5), "disjoint")
    expected = statistics.repeated_anova(np.transpose(list(scores.values())))
    assert found.overall.statistic == pytest.approx(expected.statistic)


def test_the_baseline_is_a_control_with_fewer_pairs_to_adjust_for():
    means = {"a": 0.2, "b": 0.201, "base": 0.21}
    scores = {name: noisy(mean, seed=place) for place, (name, mean) in enumerate(means.items())}
    found = verdict(responses_of({"iris": scores}, baselines=["base"]))
    both = {frozenset(pair) for pair in found.control[["first", "second"]].to_numpy().tolist()}
    assert both == {frozenset({"base", "a"}), frozenset({"base", "b"})}
    plain = statistics.adjust_p_values(found.control["p_value"], method="holm")
    np.testing.assert_allclose(found.control["adjusted_p"], plain)
    assert len(found.with_best) == 2
    alone = {name: scores[name] for name in ("a", "base")}
    assert verdict(responses_of({"iris": alone}, baselines=["base"])).control is None
    assert verdict(responses_of({"iris": scores})).control is None


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


def test_who_was_spared_further_repeats_is_said_not_to_have_won():
    long, short = noisy(0.2, 30, seed=1), noisy(0.5, 20, seed=2)
    planned = responses_of({"iris": {"a": long, "parametric.NaiveBayes": short}})
    (note,) = verdict(planned).notes
    assert note.startswith(
        "iris: naive Bayes could not win any more after 2 of 3 repeats and got no more of them; "
    )
    lacking = responses_of({"iris": {"a": long, "b": [*short, *[np.nan] * 10]}})
    (note,) = verdict(lacking).notes
    assert note.startswith("iris: b lacks 10 of 30 splits; ")
    failed = {"a": long, "b": [np.nan, *short[1:]]}
    (note,) = verdict(responses_of({"iris": failed}, status="failed")).notes
    assert note.startswith("iris: b lacks 11 of 30 splits; ")


def test_one_split_without_rows_allows_no_test():
    responses = responses_of({"iris": {"a": [0.2], "b": [0.3]}}, measure="kappa")
    found = verdict(responses, "holdout")
    assert not found.tested
    assert "allows no test" in found.notes[0]


def test_nothing_finished():
    assert verdict(responses_of({"iris": {"a": [np.nan]}, "wine": {"a": [0.1]}})) is None


def test_repeated_cross_validation_has_the_calibrated_test_beside(make_results):
    learners = [LearnerChoice("nearest mean"), LearnerChoice("naive bayes")]
    results = make_results(learners, ["wine"], resampling="3x3-fold")
    verdict = analyse(results).verdict
    assert [test.name for test in verdict.tests] == [
        "Corrected resampled t test",
        "Calibrated t test",
    ]
    single = make_results(learners, ["wine"], resampling="3-fold")
    assert len(analyse(single).verdict.tests) == 1


@pytest.mark.parametrize(
    ("resampling", "test", "name"),
    [
        ("3x3-fold", "calibrated_t_test", "Calibrated t test"),
        ("3-fold", "cv_t_test", "K-fold cv paired t test"),
        ("5x2", "five_by_two_t_test", "5x2 cv t test"),
        ("holdout", "mcnemar", "McNemar's test"),
    ],
)
def test_the_caller_may_name_the_test(make_results, resampling, test, name):
    learners = [LearnerChoice("nearest mean"), LearnerChoice("naive bayes")]
    results = make_results(learners, ["wine"], resampling=resampling)
    verdict = analyse(results, test=test).verdict
    assert verdict.overall.name.startswith(name.partition(" ")[0])
    assert verdict.why == "it was asked for"


def test_a_test_that_the_splits_do_not_allow_is_not_made(make_results):
    learners = [LearnerChoice("nearest mean"), LearnerChoice("naive bayes")]
    results = make_results(learners, ["wine"], resampling="3-fold")
    found = analyse(results, test="five_by_two_f_test")
    assert not found.verdict.tested
    assert any("combined 5x2 cv F test was asked for" in note for note in found.notes)
    with pytest.raises(UnknownNameError, match="Unknown test 'f_test'"):
        analyse(results, test="f_test")
