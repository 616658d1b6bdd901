"""Contestants against a level that is acceptable."""

import numpy as np
import pytest
from tests.experiment.analysed import noisy, responses_of

from verulam.experiment import LearnerChoice, analyse
from verulam.experiment._analysis.acceptance import assess, assessment_answer
from verulam.experiment._analysis.answer import Answer
from verulam.experiment._report.report import render
from verulam.measures import as_measure
from verulam.statistics import binomial_test, runs_t_test

SCORES = {"a": noisy(0.2, seed=1), "b": noisy(0.02, seed=2)}
SAID = Answer("a", ("a", "b"), "Use a.", advice="More rows would tell a from b.")


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
