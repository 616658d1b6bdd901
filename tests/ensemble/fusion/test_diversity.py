"""Diversity measures from their definitions, pair by pair."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from verulam.base import DataError
from verulam.ensemble import Diversity, MemberOutputs, diversity

RANDOM = np.random.default_rng(5)
TRUTH = RANDOM.integers(0, 3, size=120)
ANSWERS = np.array(
    [np.where(RANDOM.random(120) < accuracy, TRUTH, RANDOM.integers(0, 3, size=120))
     for accuracy in (0.5, 0.7, 0.9)]
)  # fmt: skip


def test_pairwise_measures_from_counts():
    report = diversity(ANSWERS, TRUTH)
    assert isinstance(report, Diversity)
    right = ANSWERS == TRUTH
    for i in range(3):
        for j in range(3):
            n11, n00 = (right[i] & right[j]).sum(), (~right[i] & ~right[j]).sum()
            n10, n01 = (right[i] & ~right[j]).sum(), (~right[i] & right[j]).sum()
            assert report.q[i, j] == pytest.approx(
                (n11 * n00 - n01 * n10) / (n11 * n00 + n01 * n10)
            )
            assert report.correlation[i, j] == pytest.approx(np.corrcoef(right[i], right[j])[0, 1])
            assert report.disagreement[i, j] == pytest.approx((n01 + n10) / 120)
            assert report.double_fault[i, j] == pytest.approx(n00 / 120)
            assert report.kappa[i, j] == pytest.approx(cohen_kappa_score(ANSWERS[i], ANSWERS[j]))
    assert np.allclose(report.errors, 1 - right.mean(axis=1))


def test_entropy_by_its_definition():
    right = (ANSWERS == TRUTH).sum(axis=0)
    assert diversity(ANSWERS, TRUTH).entropy == pytest.approx(np.minimum(right, 3 - right).mean())
    even = diversity([[0, 1], [1, 0]], [0, 0])
    assert even.entropy == 1.0


def test_identical_learners_have_no_diversity():
    for answers in (ANSWERS[0], TRUTH):
        report = diversity([answers] * 3, TRUTH)
        for measure in (report.q, report.correlation, report.kappa):
            assert np.allclose(measure, 1)
        assert (report.disagreement == 0).all()
        assert report.entropy == 0


def test_constant_members_are_measured_without_dividing_by_zero():
    report = diversity([[0] * 4, [0, 0, 1, 1]], [0, 0, 0, 1])
    frame = report.to_frame()
    assert np.isfinite(frame.to_numpy()).all()
    assert frame.index.tolist() == [("member 1", "member 2")]
    assert report.mean()["disagreement"] == frame["disagreement"].iloc[0]


def test_outputs_bring_their_names_and_wrong_shapes_are_refused():
    values = np.eye(3)[ANSWERS]
    said = MemberOutputs(values, ("a", "b", "c"), np.arange(3))
    assert diversity(said, TRUTH).names == ("a", "b", "c")
    with pytest.raises(DataError, match=r"shape \(members, 120\)"):
        diversity(ANSWERS[:, :5], TRUTH)
