"""Bayesian companions: agreement with their frequentist twins, symmetry, the region's effect."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.statistics import (
    BayesianComparison,
    bayesian_correlated_t,
    bayesian_signed_rank,
    corrected_t_test,
)

RNG = np.random.default_rng(12)
FIRST, SECOND = RNG.normal(0.20, 0.02, 20), RNG.normal(0.215, 0.02, 20)


def test_without_a_region_it_mirrors_the_corrected_t():
    comparison = bayesian_correlated_t(FIRST, SECOND, rope=0.0, test_share=0.2)
    test = corrected_t_test(FIRST, SECOND, test_share=0.2, alternative="greater")
    assert_allclose(comparison.left, test.p_value)
    assert comparison.rope == pytest.approx(0.0)


@pytest.mark.parametrize("function", [bayesian_correlated_t, bayesian_signed_rank])
def test_probabilities_sum_to_one_and_mirror(function):
    options = {} if function is bayesian_correlated_t else {"random_state": 0}
    comparison, mirrored = function(FIRST, SECOND, **options), function(SECOND, FIRST, **options)
    assert comparison.left + comparison.rope + comparison.right == pytest.approx(1)
    assert comparison.left == pytest.approx(mirrored.right, abs=0.01)
    assert comparison.left > comparison.right


@pytest.mark.parametrize("function", [bayesian_correlated_t, bayesian_signed_rank])
def test_a_wide_region_makes_learners_equivalent(function):
    comparison = function(FIRST, SECOND, rope=1.0)
    assert comparison.rope == pytest.approx(1.0, abs=1e-6)
    assert comparison.verdict() == "practically equivalent"


def test_signed_rank_by_hand():
    """Without data that differ, the weights cannot matter."""
    comparison = bayesian_signed_rank([1.0, 1, 1], [0.0, 0, 0], rope=0.1, random_state=0,
                                 prior_strength=1e-9)  # fmt: skip
    assert comparison.right == 1.0
    assert comparison.verdict() == "the first learner's values are larger"


def test_verdicts():
    clear = bayesian_correlated_t(FIRST - 1 + RNG.normal(0, 0.001, 20), SECOND)
    assert clear.verdict() == "the first learner's values are smaller"
    noisy = bayesian_correlated_t(FIRST, FIRST + RNG.normal(0, 0.05, 20), rope=0.001)
    assert noisy.verdict(0.99) == "no verdict"
    assert "P(first smaller)" in str(noisy)


def test_draws_repeat_with_their_seed():
    one, other = (bayesian_signed_rank(FIRST, SECOND, random_state=5) for _ in range(2))
    assert one == other
    with pytest.raises(DataError, match="prior_strength must be positive"):
        bayesian_signed_rank(FIRST, SECOND, prior_strength=0)


def test_a_verdict_needs_its_certainty():
    comparison = BayesianComparison("test", 0.1, 0.2, 0.7, 0.01)
    assert comparison.verdict(0.6) == "the first learner's values are larger"
    assert comparison.verdict() == "no verdict"
    assert "P(first larger) = 0.700" in str(comparison)
