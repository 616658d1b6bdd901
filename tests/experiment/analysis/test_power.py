"""How many data sets are needed: the numbers reach the wanted power, and no fewer would."""

import numpy as np
import pytest
from scipy import stats

from verulam.experiment._analysis.power import data_sets_for_ranks, data_sets_needed
from verulam.statistics import sample_size


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
    fewer = 1.0 / np.sqrt(4 * 5 / (6 * (needed - 1)))
    assert stats.norm.sf(stats.norm.isf(0.025) - fewer) < 0.8
    assert data_sets_for_ranks(0.0, 4, alpha=0.05) is None
