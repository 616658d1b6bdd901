"""The simulator: records, speed, and the known inflation of uncorrected tests."""

import time

import numpy as np
import pytest

from verulam.statistics import Simulation, simulate, simulated_tests, size_table


def test_record():
    simulation = simulate("cv t", [0.0, 0.5], repeats=500, folds=8)
    assert list(simulation.table) == ["effect", "rejection_rate", "standard_error"]
    rate = simulation.table["rejection_rate"][1]
    assert simulation.table["standard_error"][1] == pytest.approx(np.sqrt(rate * (1 - rate) / 500))
    assert simulation.design == {"folds": 8}


def test_same_seed_same_rates():
    first, second = (simulate("delong", repeats=200, random_state=3).table for _ in range(2))
    assert first.equals(second)


def test_overlap_inflates_the_uncorrected_tests():
    """Ten folds overlap by a tenth, thirty random thirds by a third."""
    folds = simulate("cv t", folds=10, correlation=0.1).table["rejection_rate"][0]
    resampled = simulate("cv t", folds=30, correlation=1 / 3).table["rejection_rate"][0]
    corrected = simulate("corrected t", folds=30, correlation=1 / 3, test_share=1 / 3)
    assert 0.13 < folds < 0.18
    assert resampled > 0.5
    assert corrected.table["rejection_rate"][0] == pytest.approx(0.05, abs=0.008)


def test_list_of_tests():
    table = simulated_tests()
    assert table.loc["5x2 F", "design"] == "correlation=0.0"
    assert table.loc["hotelling", "experiment"].startswith("Hotelling's paired test")


def test_size_table_has_every_test():
    table = size_table(repeats=200)
    assert list(table.index) == list(simulated_tests().index)
    # Only pairs without adjustment reject too often, and do so.
    assert table.index[table["rejection_rate"] > 0.13].tolist() == ["lsd"]


def test_ten_thousand_repeats_of_the_combined_test_take_less_than_two_seconds():
    start = time.process_time()
    simulate("5x2 F", repeats=10_000)
    assert time.process_time() - start < 2.0


def test_a_simulation_remembers_its_design():
    simulation = simulate("cv t", repeats=50, random_state=0, folds=5)
    assert isinstance(simulation, Simulation)
    assert simulation.test == "cv t"
    assert simulation.design == {"folds": 5}
