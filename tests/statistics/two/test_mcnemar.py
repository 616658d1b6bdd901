"""McNemar's test and the overlap of errors: worked numbers and statsmodels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar

from verulam.statistics import ErrorOverlap, error_overlap, mcnemar


@pytest.mark.parametrize(
    ("first", "second", "statistic", "p_value"), [(15, 5, 4.05, 0.044), (25, 10, 5.6, 0.01796)]
)
def test_worked_numbers(first, second, statistic, p_value):
    result = mcnemar(first, second)
    assert result.statistic == pytest.approx(statistic)
    assert result.p_value == pytest.approx(p_value, abs=2e-4)
    assert result.critical_value == pytest.approx(3.84, abs=0.005)


@pytest.mark.parametrize("counts", [(15, 5), (3, 9), (40, 41), (7, 7), (0, 6)])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("correction", [False, True])
def test_matches_statsmodels(counts, exact, correction):
    expected = their_mcnemar([[9, counts[0]], [counts[1], 30]], exact=exact, correction=correction)
    result = mcnemar(*counts, method="exact" if exact else "chi-square", correction=correction)
    if counts == (7, 7) and correction and not exact:
        # statsmodels squares |0| - 1; a difference of nothing is no evidence at all.
        assert result.p_value == 1.0
        return
    assert_allclose(result.p_value, expected.pvalue, rtol=1e-10)


def test_one_sided_halves_the_two_sided():
    for method in ("chi-square", "exact"):
        two = mcnemar(15, 5, method=method).p_value
        assert mcnemar(15, 5, method=method, alternative="greater").p_value == pytest.approx(
            two / 2
        )
        assert mcnemar(15, 5, method=method, alternative="less").p_value > 0.9


def test_critical_count_of_the_exact_test():
    limit = int(mcnemar(15, 5, method="exact").critical_value)
    assert mcnemar(limit, 20 - limit, method="exact").reject
    assert not mcnemar(limit - 1, 21 - limit, method="exact").reject
    assert mcnemar(2, 18, method="exact", alternative="less").critical_value == 5
    assert np.isnan(mcnemar(1, 1, method="exact").critical_value)


def test_small_counts_get_a_caveat():
    assert "prefer the exact test" in str(mcnemar(15, 5).caveats)
    assert "exact" not in str(mcnemar(60, 40).caveats)


def test_overlap_counts_zero_for_wrong():
    rng = np.random.default_rng(0)
    true, first, second = rng.integers(0, 3, (3, 300))
    overlap = error_overlap(true, first, second)
    assert overlap.both_wrong == np.sum((first != true) & (second != true))
    assert overlap.only_first_wrong == np.sum((first != true) & (second == true))
    assert overlap.only_second_wrong == np.sum((first == true) & (second != true))
    assert overlap.total == 300
    rates = np.mean(first != true) - np.mean(second != true)
    assert (overlap.only_first_wrong - overlap.only_second_wrong) / 300 == pytest.approx(rates)
    assert overlap.to_frame().to_numpy().sum() == 300
    counts = overlap.only_first_wrong, overlap.only_second_wrong
    assert overlap.mcnemar(method="exact").p_value == mcnemar(*counts, method="exact").p_value


def test_the_signed_root_has_the_same_tails():
    result = mcnemar(30, 14)
    assert_allclose(result.p_value, stats.chi2.sf(result.statistic, 1))


@pytest.mark.parametrize(("alternative", "rejects"), [("greater", True), ("less", False)])
def test_one_sided_statistic_keeps_its_side(alternative, rejects):
    result = mcnemar(30, 10, alternative=alternative)
    assert_allclose(result.statistic, 19 / np.sqrt(40))
    assert result.statistic_name == "z"
    limit = result.critical_value
    beyond = result.statistic > limit if alternative == "greater" else result.statistic < limit
    assert beyond == result.reject == rejects


def test_an_overlap_counts_all_cases():
    overlap = ErrorOverlap(1, 2, 3, 4)
    assert overlap.total == 10
    assert overlap.disagreement == pytest.approx(0.5)
    assert overlap.to_frame().to_numpy().sum() == 10
