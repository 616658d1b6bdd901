"""Adjusted p-values: statsmodels, worked numbers, bounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from statsmodels.stats.multitest import multipletests

from verulam.statistics import adjust_p_values


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("bonferroni", "bonferroni"),
        ("holm", "holm"),
        ("hochberg", "simes-hochberg"),
        ("benjamini-hochberg", "fdr_bh"),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_matches_statsmodels(ours, theirs, seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.uniform(size=20) ** 3, 2)
    assert_allclose(
        adjust_p_values(values, ours), multipletests(values, method=theirs)[1], atol=1e-12
    )


def test_six_intervals_hold_together_with_seventy_percent():
    """Six tests at five percent: at most thirty percent for a false rejection."""
    assert_allclose(adjust_p_values([0.05] * 6, "bonferroni"), 0.3)


def test_order_of_strictness():
    values = np.random.default_rng(0).uniform(size=30) ** 2
    none, bh, hochberg, holm, bonferroni = (
        adjust_p_values(values, method)
        for method in ("none", "benjamini-hochberg", "hochberg", "holm", "bonferroni")
    )
    for smaller, larger in ((none, bh), (bh, hochberg), (hochberg, holm), (holm, bonferroni)):
        assert (smaller <= larger + 1e-15).all()
    assert bonferroni.max() <= 1
