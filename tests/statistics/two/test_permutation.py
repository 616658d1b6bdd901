"""Exchanges: random bits say what SciPy's permutations say."""

import numpy as np
import pytest
from scipy import stats

from verulam.base import generator
from verulam.statistics._two import permutation as exchanges
from verulam.statistics._two.permutation import exchanged


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("shift", [-0.25, 0.0, 0.25])
def test_means_agree_with_scipy(alternative, shift):
    differences = np.random.default_rng(0).normal(shift, size=60)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative=alternative, rng=1
    )
    ours = exchanged(differences, np.mean, alternative, 9999, generator(2))
    assert ours.statistic == pytest.approx(theirs.statistic)
    error = 5 * np.sqrt(theirs.pvalue * (1 - theirs.pvalue) / 9999) + 2e-3
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=error)
    assert ours.exchanges == 9999


def test_all_exchanges_of_few_pairs_are_tried():
    found = exchanged(np.ones(6), np.mean, "two-sided", 9999, generator(0))
    assert found.p_value == pytest.approx(2 / 64)
    assert found.exchanges == 64


def test_pairs_without_a_difference_change_only_the_mean():
    some = np.random.default_rng(3).normal(0.3, size=40)
    more = np.concatenate([some, np.zeros(60)])
    one, other = (exchanged(each, np.mean, "less", 999, generator(4)) for each in (some, more))
    assert one.p_value == other.p_value
    assert one.statistic == pytest.approx(other.statistic * 100 / 40)


def test_blocks_do_not_matter(monkeypatch):
    differences = np.random.default_rng(5).normal(0.2, size=40)
    whole = exchanged(differences, np.mean, "greater", 2000, generator(6))
    monkeypatch.setattr(exchanges, "BLOCK", 40 * 64)
    assert exchanged(differences, np.mean, "greater", 2000, generator(6)) == whole


def test_other_statistics_take_bounded_blocks():
    differences = np.random.default_rng(7).normal(1.0, size=30)
    found = exchanged(differences, np.median, "greater", 500, generator(8))
    assert found.p_value < 0.05
