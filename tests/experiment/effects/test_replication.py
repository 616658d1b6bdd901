"""Experimental error: formulas, agreement with the analysis of variance, what can be seen."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.experiment._effects.replication import experimental_error
from verulam.statistics import corrected_t_test, repeated_anova


def simulated(splits=10, contestants=3, between=0.3, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    blocks = between * rng.normal(size=(splits, 1))
    return pd.DataFrame(blocks + noise * rng.normal(size=(splits, contestants)))


def test_error_is_that_of_the_blocked_analysis_of_variance():
    table = simulated()
    mean_square = repeated_anova(table).table.loc["residual", "mean_square"]
    assert experimental_error(table).of_run == pytest.approx(np.sqrt(mean_square))


def test_components_are_found_with_many_replications():
    found = experimental_error(simulated(splits=5000))
    assert found.of_splits == pytest.approx(0.3, rel=0.03)
    assert found.of_run == pytest.approx(0.1, rel=0.03)
    assert found.removed == pytest.approx(0.9, abs=0.01)


def test_difference_of_two_has_the_error_of_the_corrected_t_test():
    table = simulated(contestants=2)
    found = experimental_error(table, overlap=1 / 9)
    test = corrected_t_test(table[0], table[1], test_share=0.1)
    assert (table[0] - table[1]).mean() / found.of_difference == pytest.approx(test.statistic)


def test_four_times_the_splits_halve_the_error_unless_they_share_rows():
    table = simulated(splits=40)
    fourfold = pd.concat([table] * 4)
    fewer, more = experimental_error(table), experimental_error(fourfold)
    assert fewer.of_difference / more.of_difference == pytest.approx(2, rel=0.02)
    shared = [experimental_error(each, overlap=1.0) for each in (table, fourfold)]
    assert shared[0].of_difference / shared[1].of_difference < 1.05


def test_detectable_difference_is_found_four_times_out_of_five():
    found = experimental_error(simulated(contestants=2), alpha=0.05)
    rng = np.random.default_rng(1)
    spread = np.sqrt(2) * found.of_run
    differences = found.detectable + spread * rng.normal(size=(4000, found.splits))
    t = differences.mean(axis=1) * np.sqrt(found.splits) / differences.std(axis=1, ddof=1)
    assert np.mean(np.abs(t) > 2.262) == pytest.approx(0.8, abs=0.02)


def test_splits_that_do_not_differ_take_nothing_out():
    found = experimental_error(simulated(between=0.0, splits=4, seed=3))
    assert found.of_splits == 0.0
    assert found.removed == 0.0


@pytest.mark.parametrize("table", [pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame([[1.0, 2.0]])])
def test_without_replication_there_is_no_error(table):
    with pytest.raises(DataError, match="at least 2 of each are needed"):
        experimental_error(table)
