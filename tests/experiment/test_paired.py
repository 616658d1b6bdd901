"""Tests against the best learner."""

import numpy as np
import pytest
from scipy import stats

from verulam.experiment._paired import equality_p_values as against

RANDOM = np.random.default_rng(0)


def test_the_variance_allows_for_overlapping_training_sets():
    best, other = RANDOM.normal(size=(2, 10))
    differences = other - best
    statistic = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 10 + 1 / 9))
    expected = 2 * stats.t.sf(abs(statistic), 9)
    assert against(best, {"other": other}, folds=10)["other"] == pytest.approx(expected)


def test_repeats_do_not_change_the_share_of_a_test_part():
    best, other = RANDOM.normal(size=(2, 30))
    differences = other - best
    statistic = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 30 + 1 / 9))
    expected = 2 * stats.t.sf(abs(statistic), 29)
    assert against(best, {"other": other}, folds=10)["other"] == pytest.approx(expected)


def test_several_tests_are_adjusted_together():
    best = RANDOM.normal(size=10)
    others = {"near": best + RANDOM.normal(size=10), "far": best + RANDOM.normal(2.0, size=10)}
    alone = {name: against(best, {name: scores}, folds=10)[name] for name, scores in others.items()}
    together = against(best, others, folds=10)
    assert together["far"] == pytest.approx(2 * alone["far"])
    assert together["near"] == pytest.approx(alone["near"])


def test_scores_without_variance():
    best = np.full(5, 0.1)
    found = against(best, {"same": best, "worse": best + 0.1}, folds=5)
    assert found == {"same": 1.0, "worse": 0.0}


def test_nothing_to_test():
    assert against(np.ones(5), {}, folds=5) == {}
