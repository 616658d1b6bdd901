"""How much more is needed: the numbers reach the wanted power, and no fewer would."""

import numpy as np
import pytest
from scipy import stats

from verulam.experiment._power_advice import (
    data_sets_for_ranks,
    data_sets_needed,
    rows_needed,
    splits_needed,
)
from verulam.statistics import sample_size


def corrected_power(effect, splits, share, alpha):
    """Return the power of the corrected resampled t test by its noncentral distribution."""
    shift = effect / np.sqrt(1 / splits + share / (1 - share))
    limit = stats.t.isf(alpha / 2, splits - 1)
    return stats.nct.sf(limit, splits - 1, shift) + stats.nct.cdf(-limit, splits - 1, shift)


@pytest.mark.parametrize(("effect", "share"), [(1.0, 0.1), (-1.5, 0.2), (2.0, 0.5)])
def test_splits_are_just_enough(effect, share):
    needed = splits_needed(effect, share, alpha=0.05)
    if share == 0.5:
        assert needed is None
        assert corrected_power(effect, 10**5, share, 0.05) < 0.8
        return
    assert corrected_power(effect, needed, share, 0.05) >= 0.8
    assert corrected_power(effect, needed - 1, share, 0.05) < 0.8


def test_without_overlap_it_is_the_plain_t_test():
    assert splits_needed(0.5, 1e-9, alpha=0.05) == sample_size(0.5)


def test_rows_are_just_enough():
    factor = rows_needed(0.3, 10, 0.1, alpha=0.05)
    assert corrected_power(0.3 * np.sqrt(factor), 10, 0.1, 0.05) == pytest.approx(0.8, abs=1e-6)
    assert rows_needed(-0.3, 10, 0.1, alpha=0.05) == pytest.approx(factor)


def test_data_sets():
    differences = np.array([0.1, -0.05, 0.2, 0.05, 0.1])
    plain = sample_size(differences.mean() / differences.std(ddof=1))
    assert data_sets_needed(differences, alpha=0.05) == np.ceil(plain * np.pi / 3)


@pytest.mark.parametrize("differences", [np.zeros(4), np.array([1.0, -1.0])])
def test_no_difference_needs_infinitely_many(differences):
    assert data_sets_needed(differences, alpha=0.05) is None


def test_tiny_differences_are_not_searched_for():
    assert data_sets_needed(np.array([1.0, -1.0, 1e-9]), alpha=0.05) is None


def test_ranks():
    # Demsar's standard error of a difference of mean ranks is sqrt(L (L + 1) / (6 N)).
    needed = data_sets_for_ranks(1.0, 4, alpha=0.05)
    z = 1.0 / np.sqrt(4 * 5 / (6 * needed))
    assert stats.norm.sf(stats.norm.isf(0.025) - z) >= 0.8
    assert data_sets_for_ranks(0.0, 4, alpha=0.05) is None
