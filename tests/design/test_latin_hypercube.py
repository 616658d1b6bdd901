"""Latin hypercubes: one setting in every part of every range."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import qmc

from verulam.base import DataError
from verulam.design import Factor, latin_hypercube

MIXED = [
    Factor("x", (2.0, 6.0), "numeric"),
    Factor("C", (0.01, 100.0), "log"),
    Factor("k", (1, 5), "numeric", whole=True),
    Factor("kernel", ("rbf", "poly", "linear")),
]


@pytest.mark.parametrize("count", [2, 7, 30])
def test_every_part_of_every_range_has_one_setting(count):
    table = latin_hypercube(MIXED, count, seed=3)
    for factor in MIXED[:2]:
        shares = (factor.coded(table[factor.name]) + 1) / 2
        assert_array_equal(np.sort(np.floor(shares * count)), np.arange(count))
    assert table.attrs["design"] == "latin hypercube"


def test_levels_and_whole_numbers_come_about_equally_often():
    table = latin_hypercube(MIXED, 30, seed=0)
    assert table["kernel"].value_counts().to_dict() == {"rbf": 10, "poly": 10, "linear": 10}
    assert table["k"].value_counts().to_dict() == {1: 6, 2: 6, 3: 6, 4: 6, 5: 6}
    assert table["k"].dtype == np.int64
    uneven = latin_hypercube(MIXED, 7, seed=0)["kernel"].value_counts()
    assert uneven.max() - uneven.min() <= 1


def test_the_seed_decides():
    first, again, other = (latin_hypercube(MIXED, 6, seed) for seed in (0, 0, 1))
    assert first.equals(again)
    assert not first.equals(other)


def test_it_fills_better_than_chance():
    factors = [Factor(name, (0.0, 1.0), "numeric") for name in "abc"]
    ours = qmc.discrepancy(latin_hypercube(factors, 16).to_numpy())
    random = np.random.default_rng(0)
    assert ours < min(qmc.discrepancy(random.random((16, 3))) for _ in range(50))


def test_one_factor():
    table = latin_hypercube([Factor("x", (0.0, 1.0), "numeric")], 4)
    assert_array_equal(np.sort(np.floor(4 * table["x"])), range(4))


@pytest.mark.parametrize("count", [1, 2.5, True, "4"])
def test_bad_numbers_of_settings(count):
    with pytest.raises(DataError, match=r"n_settings: .*; expected a whole number of at least 2"):
        latin_hypercube(MIXED, count)
