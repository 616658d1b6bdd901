"""Contestants against a level that is acceptable."""

import numpy as np
import pytest
from tests.experiment.analysed import noisy, responses_of

from verulam.experiment._answers import Answer
from verulam.experiment._assessment import assess, assessment_answer
from verulam.measures import as_measure
from verulam.statistics import runs_t_test

SCORES = {"a": noisy(0.2, seed=1), "b": noisy(0.02, seed=2)}
SAID = Answer("a", ("a", "b"), "Use a.")


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


def test_all_data_sets_count():
    tables = {"iris": {"a": noisy(0.02)}, "wine": {"a": noisy(0.5)}}
    table = assess(responses_of(tables), 0.1, alpha=0.05)
    said = assessment_answer(SAID, table, as_measure("error"), 0.1)
    assert said.sentence.startswith("No contestant is shown to be good enough")
    assert said.recommended is None
