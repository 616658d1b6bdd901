"""Description lengths: the code in plain arithmetic, and deletions that never lengthen it."""

from math import log2

import numba
import numpy as np
import pytest

from verulam.rule import description_length
from verulam.rule._learning.description_length import RuleCounts, least_bits, rules_that_shorten
from verulam.rule._learning.description_length_loops import (
    exception_bits,
    rule_bits,
    rules_that_pay,
    shorten,
    subset_bits,
)

N_CONDITIONS, SHARE = 40.0, 0.3


def subset(n, k, p):
    return -k * log2(p) - (n - k) * log2(1 - p)


def random_counts(seed, n_rules=6):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.integers(0, 20, n_rules), rng.integers(0, 8, n_rules)
    missed, rejected = rng.integers(1, 40, 2)
    lengths = rng.integers(1, 5, n_rules)
    parts = (part.astype(float) for part in (positives, negatives))
    return RuleCounts(*parts, float(missed), float(rejected), lengths.astype(float))


def bits_of(counts, stays):
    """Return the whole length after the rules not stays give their rows back."""
    gone = ~stays
    missed = counts.missed + counts.positives[gone].sum()
    rejected = counts.rejected + counts.negatives[gone].sum()
    return description_length(
        counts.lengths[stays],
        covered=(counts.positives + counts.negatives)[stays].sum(),
        uncovered=missed + rejected,
        false_positives=counts.negatives[stays].sum(),
        false_negatives=missed,
        n_conditions=N_CONDITIONS,
        positive_share=SHARE,
    )


def test_length_in_plain_arithmetic():
    theory = 0.5 * (log2(2) + 2 * log2(log2(2)) + subset(50, 2, 2 / 50))
    data = log2(101) + subset(40, 1, 1 / 40) + subset(60, 2, 0.5 * 3 / 60)
    bits = description_length(
        [2], covered=40, uncovered=60, false_positives=1, false_negatives=2, n_conditions=50
    )
    assert bits == pytest.approx(theory + data)


def test_the_larger_side_gets_the_expected_share():
    data = log2(101) + subset(60, 4, 0.25 * 6 / 60) + subset(40, 2, 2 / 40)
    assert exception_bits(0.25, 60.0, 40.0, 4.0, 2.0) == pytest.approx(data)


def test_no_errors_cost_only_their_count():
    assert exception_bits(0.5, 10.0, 5.0, 0.0, 0.0) == pytest.approx(log2(16))


def test_longer_rules_cost_more():
    bits = [rule_bits(float(length), 100.0) for length in range(6)]
    assert bits[0] == 0.0
    assert np.all(np.diff(bits) > 0)


@pytest.mark.parametrize("seed", range(20))
def test_deletion_never_lengthens_the_description(seed):
    counts = random_counts(seed)
    stays = rules_that_shorten(counts, N_CONDITIONS, SHARE, strict=False)
    everything = np.ones(len(stays), dtype=bool)
    assert bits_of(counts, stays) <= bits_of(counts, everything) + 1e-9


def test_some_rules_stay_and_some_go():
    counts = RuleCounts(
        np.array([30.0, 1.0]), np.array([0.0, 0.0]), 2.0, 60.0, np.array([1.0, 4.0])
    )
    assert rules_that_shorten(counts, N_CONDITIONS, SHARE).tolist() == [True, False]


def test_strict_deletion_also_takes_rules_that_are_wrong_as_often_as_right():
    counts = RuleCounts(np.array([40.0]), np.array([40.0]), 0.0, 300.0, np.array([1.0]))
    assert rules_that_shorten(counts, N_CONDITIONS, 0.1, strict=False).all()
    assert not rules_that_shorten(counts, N_CONDITIONS, 0.1).any()


def test_least_bits_subtracts_what_deletion_saves():
    counts = random_counts(3)
    stays = rules_that_shorten(counts, N_CONDITIONS, SHARE)
    theory = sum(rule_bits(length, N_CONDITIONS) for length in counts.lengths)
    assert least_bits(counts, 0, N_CONDITIONS, SHARE) + theory == pytest.approx(
        bits_of(counts, stays)
    )


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_arithmetic_equals_its_python_source():
    counts = random_counts(1)
    arguments = (counts.positives, counts.negatives, (3.0, 9.0), counts.lengths, 0, 40.0, 0.3, True)
    stays = [np.ones(len(counts.lengths), dtype=bool) for _ in range(2)]
    saved = shorten(*arguments, stays[0]), shorten.py_func(*arguments, stays[1])
    assert stays[0].tolist() == stays[1].tolist()
    assert not stays[0].all()
    assert saved[0] == pytest.approx(saved[1])
    assert subset_bits(9.0, 2.0, 0.1) == pytest.approx(subset_bits.py_func(9.0, 2.0, 0.1))


def paying_rules(coverage, positives, negatives, theory):
    """Return the rules that stay, each deletion weighed anew from what the others cover."""
    stays, total = list(range(len(coverage))), positives.sum() + negatives.sum()

    def bits(places):
        inside = coverage[places].any(axis=0)
        right, wrong = positives[inside].sum(), negatives[inside].sum()
        return theory[places].sum() + exception_bits(
            positives.sum() / total,
            right + wrong,
            total - right - wrong,
            wrong,
            positives.sum() - right,
        )

    while stays:
        without = [bits([other for other in stays if other != place]) for place in stays]
        if min(without) >= bits(stays):
            break
        del stays[int(np.argmin(without))]
    return stays


@pytest.mark.parametrize("seed", range(5))
def test_rules_are_deleted_as_long_as_that_saves_bits(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(80) < 0.4
    coverage = rng.random((9, 80)) < np.where(positive, 0.25, 0.08)
    sides = np.where(positive, 1.0, 0.0), np.where(positive, 0.0, 1.0)
    theory = rng.uniform(1.0, 4.0, 9)
    stays = rules_that_pay(coverage, *sides, theory)
    assert np.flatnonzero(stays).tolist() == paying_rules(coverage, *sides, theory)
    assert 0 < stays.sum() < 9
