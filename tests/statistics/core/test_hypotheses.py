"""Hypotheses: the null one contains equality, the claim is the alternative."""

import pytest

from verulam.statistics._core.hypotheses import hypotheses, paired_hypotheses


@pytest.mark.parametrize(
    ("alternative", "null", "claim"),
    [
        ("two-sided", "the mean equals 2", "the mean differs from 2"),
        ("greater", "the mean is at most 2", "the mean is above 2"),
        ("less", "the mean is at least 2", "the mean is below 2"),
    ],
)
def test_one_quantity(alternative, null, claim):
    assert hypotheses("the mean", 2.0, alternative) == {"null": null, "alternative": claim}


def test_two_learners():
    words = paired_hypotheses("error rate", "less")
    assert words["null"] == "the first learner's error rate is not below the second's"
    assert words["alternative"] == "the first learner's error rate is below the second's"
    assert paired_hypotheses("mean", "two-sided")["alternative"] == "the means differ"
