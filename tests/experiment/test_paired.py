"""The corrected resampled t test, and Holm's rule."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from verulam.experiment._paired import corrected_resampled_t, holm


def test_without_overlap_it_is_the_paired_t_test():
    first, second = np.random.default_rng(0).normal(size=(2, 12))
    expected = stats.ttest_rel(first, second)
    test = corrected_resampled_t(first - second, test_to_train=0.0)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)
    assert test.degrees_of_freedom == 11


def test_overlap_shrinks_the_statistic_by_the_formula():
    differences = np.random.default_rng(1).normal(0.3, 1.0, size=10)
    plain = corrected_resampled_t(differences, test_to_train=0.0)
    corrected = corrected_resampled_t(differences, test_to_train=1 / 9)
    assert corrected.statistic / plain.statistic == pytest.approx(np.sqrt(0.1 / (0.1 + 1 / 9)))
    assert corrected.p_value > plain.p_value
    assert corrected.difference == pytest.approx(differences.mean())


def test_equal_differences():
    assert corrected_resampled_t([0.0] * 5, test_to_train=0.25).p_value == 1.0
    same = corrected_resampled_t([-0.1] * 5, test_to_train=0.25)
    assert same.p_value == 0.0
    assert same.statistic == -np.inf


def test_too_few():
    with pytest.raises(ValueError, match="1 value; a paired test needs at least 2"):
        corrected_resampled_t([0.1], test_to_train=0.25)


@pytest.mark.parametrize("seed", range(5))
def test_holm_agrees_with_statsmodels(seed):
    p_values = np.random.default_rng(seed).beta(0.5, 5, size=7)
    np.testing.assert_allclose(holm(list(p_values)), multipletests(p_values, method="holm")[1])


def test_holm_of_nothing():
    assert holm([]) == []
