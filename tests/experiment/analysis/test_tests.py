"""Verdicts on one data set."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.experiment.analysed import noisy, responses_of

from verulam import statistics
from verulam.base import UnknownNameError
from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._analysis.answer import Answer, assessment_answer
from verulam.experiment._analysis.tests import (
    _tested_once,
    assess,
    dropped_out,
    verdict_on_splits,
    verdict_over_data,
)
from verulam.experiment._report.report import render
from verulam.measures import as_measure
from verulam.statistics import binomial_test, runs_t_test

RNG = np.random.default_rng(3)
SCORES = {"a": noisy(0.2, seed=1), "b": noisy(0.02, seed=2)}
SAID = Answer("a", ("a", "b"), "Use a.", advice="More rows would tell a from b.")


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


def test_those_who_lack_the_same_are_named_together():
    long, short = noisy(0.2, 30, seed=1), noisy(0.5, 20, seed=2)
    (note,) = verdict(responses_of({"iris": {"a": long, "b": short, "c": short}})).notes
    assert note == (
        "iris: b and c could not win any more after 2 of 3 repeats and got no more of them; their "
        "tests use only the splits that both contestants of a pair have."
    )
    lacking = [*short, *[np.nan] * 10]
    (note,) = verdict(responses_of({"iris": {"a": long, "b": lacking, "c": lacking}})).notes
    assert note.startswith("iris: b and c lack 10 of 30 splits; their tests use only")


def test_who_dropped_out_has_an_article_where_it_is_a_thing():
    long, short = noisy(0.2, 30, seed=1), noisy(0.5, 20, seed=2)
    planned = responses_of({"iris": {"a": long, "decision tree": short}})
    (note,) = verdict(planned).notes
    assert note.startswith("iris: the decision tree could not win any more after 2 of 3 repeats")


def test_who_was_spared_further_repeats_is_said_not_to_have_won():
    long, short = noisy(0.2, 30, seed=1), noisy(0.5, 20, seed=2)
    planned = responses_of({"iris": {"a": long, "parametric.NaiveBayes": short}})
    (note,) = verdict(planned).notes
    assert note.startswith(
        "iris: naive Bayes could not win any more after 2 of 3 repeats and got no more of them; "
    )
    assert dropped_out(planned, "iris") == {"parametric.NaiveBayes": 2}
    lacking = responses_of({"iris": {"a": long, "b": [*short, *[np.nan] * 10]}})
    assert dropped_out(lacking, "iris") == {}
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


def over(means, *, procedure=None, **options):
    """Return the verdict on contestants with these mean scores on each data set."""
    count = len(next(iter(means.values())))
    tables = {
        f"set {place}": {name: [values[place]] * 2 for name, values in means.items()}
        for place in range(count)
    }
    return verdict_over_data(responses_of(tables, **options), alpha=0.05, procedure=procedure)


def test_two_contestants():
    first = RNG.uniform(0.1, 0.5, 8)
    second = first + RNG.uniform(0.01, 0.1, 8)
    found = over({"a": first, "b": second})
    wilcoxon, sign = found.tests
    assert wilcoxon.p_value == statistics.wilcoxon_test(first, second).p_value
    assert sign.p_value == statistics.sign_test(first, second).p_value
    assert found.best == "a"
    assert found.beats("a", "b")


def test_two_contestants_where_greater_is_better():
    first = RNG.uniform(0.1, 0.5, 8)
    found = over({"a": first, "b": first + 0.1 + RNG.uniform(0, 0.1, 8)}, measure="accuracy")
    assert found.best == "b"
    assert found.beats("b", "a")


def test_many_contestants():
    base = RNG.uniform(0.1, 0.5, 12)
    means = {"a": base + 0.2, "b": base + RNG.normal(0, 0.01, 12), "c": base}
    found = over(means)
    expected = statistics.compare_many(np.transpose(list(means.values())))
    assert found.overall.p_value == pytest.approx(expected.overall.p_value)
    assert found.many.nemenyi.critical_difference == pytest.approx(
        expected.nemenyi.critical_difference
    )
    assert found.group == ("b", "c")
    assert found.beats(found.best, "a")


def test_overall_test_over_few_data_sets_decides_as_compare_many_does():
    means = {"nb": [0.0467, 0.0311, 0.0276], "mine": [0.0633, 0.281, 0.032]}
    found = over(means | {"nm": means["mine"]})
    assert found.many.friedman.reject  # by the rough approximation, against the exact chance
    assert found.overall.p_value == pytest.approx(1 / 9)
    assert not found.undecided
    assert "cannot be told apart" in found.many.conclusion()
    assert "inf" not in found.overall.headline()


METHODS = {
    None: "Nemenyi's test",
    "nemenyi": "Nemenyi's test",
    "holm": "Holm's procedure on mean ranks",
    "shaffer": "Shaffer's procedure on mean ranks",
    "bergmann-hommel": "Bergmann and Hommel's procedure on mean ranks",
    "wilcoxon-holm": "Wilcoxon's signed rank test with Holm's procedure",
    "wilcoxon-shaffer": "Wilcoxon's signed rank test with Shaffer's procedure",
    "wilcoxon-bergmann-hommel": (
        "Wilcoxon's signed rank test with Bergmann and Hommel's procedure"
    ),
}


@pytest.mark.parametrize(("procedure", "words"), METHODS.items())
def test_procedure(procedure, words):
    rng = np.random.default_rng(5)
    means = dict(zip("abcd", rng.normal([0.5, 0.52, 0.6, 0.65], 0.05, size=(15, 4)).T, strict=True))
    verdict = over(means, procedure=procedure)
    assert verdict.method == (
        f"Friedman's test by Iman and Davenport's F, then {words} for every pair"
    )
    table = np.transpose(list(means.values()))
    options = {} if procedure is None else {"post_hoc": procedure}
    expected = statistics.compare_many(table, **options).pairs.table
    np.testing.assert_allclose(verdict.pairs["p_value"], expected["p_value"])
    np.testing.assert_allclose(verdict.pairs["adjusted_p"], expected["adjusted_p"])
    np.testing.assert_allclose(verdict.pairs["difference"], expected["difference"])
    decisions = np.where(expected["reject"], "reject", "fail to reject")
    assert verdict.pairs["decision"].tolist() == decisions.tolist()
    assert set(verdict.pairs) == {
        *("first", "second", "difference", "splits", "p_value", "adjusted_p"),
        *("decision", "better", "worse"),
    }
    assert verdict.beats("a", "d")


def test_signed_ranks_say_who_is_better():
    """Mean ranks favour a, signed ranks favour b."""
    rng = np.random.default_rng(0)
    others, a = rng.uniform(0.5, 1, size=(30, 4)), rng.uniform(0.3, 0.4, 30)
    b = a - rng.uniform(0.05, 0.1, 30)
    b[:8] = a[:8] + 0.01
    others[:8] = a[:8, None] + rng.uniform(0.001, 0.009, size=(8, 4))
    means = {"a": a, "b": b} | dict(zip("wxyz", others.T, strict=True))
    assert over(means, procedure="wilcoxon-shaffer").beats("b", "a")
    by_ranks = over(means, procedure="shaffer")
    assert by_ranks.best == "a"
    assert not by_ranks.beats("b", "a")
    accuracies = {name: 1 - values for name, values in means.items()}
    turned = over(accuracies, procedure="wilcoxon-shaffer", measure="accuracy")
    assert turned.best == "a"
    assert turned.beats("b", "a")


def test_too_many_contestants_for_the_procedure_is_no_note():
    means = {f"learner {k}": RNG.uniform(0.1, 0.5, 9) for k in range(11)}
    with pytest.raises(ValueError, match="at most 10 learners"):
        over(means, procedure="bergmann-hommel")
    with pytest.raises(ValueError, match="post_hoc must be one of"):
        over(means, procedure="tukey")


def test_nemenyi_needs_friedman():
    found = over({name: RNG.uniform(0.1, 0.5, 4) for name in "abc"})
    assert not found.overall.reject
    assert (found.pairs["decision"] == "fail to reject").all()


@pytest.mark.parametrize(("contestants", "sets", "fewest"), [("ab", 5, 6), ("abc", 2, 3)])
def test_too_few_data_sets(contestants, sets, fewest):
    found = over({name: RNG.uniform(0.1, 0.5, sets) for name in contestants})
    assert not found.tested
    assert f"{sets} data sets are too few" in found.notes[0]
    assert f"needs {fewest}" in found.notes[0]


def test_contestants_without_some_data_sets_are_left_out():
    means = {name: RNG.uniform(0.1, 0.5, 6) for name in "abc"}
    means["c"][2] = np.nan
    found = over(means)
    assert found.notes == ("c has no result on some data sets and is left out of the tests.",)
    assert found.names == ("a", "b")


def test_equal_everywhere_is_no_error():
    values = RNG.uniform(0.1, 0.5, 8)
    found = over({"a": values, "b": values})
    assert not found.tested
    assert found.notes


def test_one_data_set_has_none():
    assert over({"a": [0.1], "b": [0.2]}) is None


def test_claim_is_the_alternative():
    table = assess(responses_of({"iris": SCORES}), 0.1, alpha=0.05)
    expected = [runs_t_test(x, 0.1, alternative="less").p_value for x in SCORES.values()]
    np.testing.assert_allclose(table["p_value"], expected)
    assert table["decision"].tolist() == ["fail to reject", "reject"]


def test_direction():
    responses = responses_of({"iris": SCORES}, measure="accuracy")
    table = assess(responses, 0.1, alpha=0.05)
    assert table["decision"].tolist() == ["reject", "fail to reject"]


@pytest.mark.parametrize("scores", [[0.1], [0.1, 0.1, 0.1]])
def test_one_split_or_no_variance(scores):
    table = assess(responses_of({"iris": {"a": scores}}), 0.2, alpha=0.05)
    assert table["decision"].tolist() == ["not tested"]


def test_answer_names_the_good_ones():
    table = assess(responses_of({"iris": SCORES}), 0.1, alpha=0.05)
    said = assessment_answer(SAID, table, as_measure("error"), 0.1)
    assert said.sentence == "Shown to be good enough (error below 0.1): b."
    assert said.recommended == "b"
    assert said.advice == ""


def test_all_data_sets_count():
    tables = {"iris": {"a": noisy(0.02)}, "wine": {"a": noisy(0.5)}}
    table = assess(responses_of(tables), 0.1, alpha=0.05)
    said = assessment_answer(SAID, table, as_measure("error"), 0.1)
    assert said.sentence.startswith("No contestant is shown to be good enough")
    assert said.recommended is None


def counted_rows(**losses):
    return lambda data, name: np.array(losses[name], dtype=float)


def test_one_split_counts_its_errors():
    """Alpaydin 19.10.1: the errors on one validation set are binomial."""
    responses = responses_of({"iris": {"a": [0.05], "b": [0.2]}})
    rows = counted_rows(a=[1] * 5 + [0] * 95, b=[1] * 20 + [0] * 80)
    table = assess(responses, 0.2, alpha=0.05, rows_of=rows)
    expected = [binomial_test(e, 100, 0.2, alternative="less").p_value for e in (5, 20)]
    np.testing.assert_allclose(table["p_value"], expected)
    assert table["decision"].tolist() == ["reject", "fail to reject"]
    assert table["test"].tolist() == ["Binomial test"] * 2


def test_hits_are_counted_where_more_is_better():
    responses = responses_of({"iris": {"a": [0.9]}}, measure="accuracy")
    rows = counted_rows(a=[1] * 90 + [0] * 10)
    table = assess(responses, 0.8, alpha=0.05, rows_of=rows)
    expected = binomial_test(90, 100, 0.8, alternative="greater").p_value
    assert table["p_value"].tolist() == [expected]


def test_splits_without_a_single_error_are_counted():
    responses = responses_of({"iris": {"a": [0.0] * 10}})
    rows = counted_rows(a=[0] * 150)
    table = assess(responses, 0.05, alpha=0.05, rows_of=rows)
    assert table["p_value"].tolist() == [pytest.approx(0.95**150)]
    repeated = responses_of({"iris": {"a": [0.0] * 10}}, folds=5)  # each row is tested twice
    table = assess(repeated, 0.05, alpha=0.05, rows_of=rows)
    assert table["decision"].tolist() == ["not tested"]


def test_scores_that_are_no_counts_have_the_t_test():
    responses = responses_of({"iris": {"a": noisy(0.2, seed=1)}}, measure="auc")
    table = assess(responses, 0.1, alpha=0.05, rows_of=counted_rows(a=[0, 1]))
    assert table["test"].tolist() == [runs_t_test([0.1, 0.2], 0.1).name]


def test_a_level_over_one_split_of_a_stored_study(make_results):
    results = make_results([LearnerChoice("naive bayes")], resampling="holdout", aim="assess")
    found = analyse(results, acceptable=0.2)
    assert found.answer.sentence == ("Shown to be good enough (error below 0.2): naive Bayes.")
    page = render(found)
    assert "Against the level 0.2" in page
    assert "Binomial test" in page


def test_runs_of_two_repeats_may_have_tested_a_row_twice():
    runs = pd.DataFrame({"data": "iris", "contestant": "a", "repeat": [0, 1], "fold": [0, 1]})
    assert _tested_once(SimpleNamespace(full=runs), "iris") == {"a": False}
    assert _tested_once(SimpleNamespace(full=runs.assign(repeat=1)), "iris") == {"a": True}
    assert _tested_once(SimpleNamespace(full=runs.assign(repeat=1, fold=0)), "iris") == {"a": False}
