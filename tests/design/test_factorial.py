"""Full factorials, one factor at a time, best guesses, and the order of runs."""

import numpy as np
import pytest

from verulam.base import UnknownNameError
from verulam.design._factorial import (
    best_guess,
    full_factorial,
    one_at_a_time,
    randomised_order,
)
from verulam.design._factors import Factor

FACTORS = [
    Factor("k", (1, 3, 5), "numeric"),
    Factor("weights", ("equal", "near")),
    Factor("p", (1.0, 1.5, 2.0, 4.0), "numeric"),
]


def test_a_full_factorial_has_every_combination_once():
    table = full_factorial(FACTORS)
    assert len(table) == 3 * 2 * 4 == len(table.drop_duplicates())
    for first in FACTORS:
        assert table[first.name].value_counts().nunique() == 1, "balance"
        for second in FACTORS:
            if first is not second:
                pairs = table.groupby([first.name, second.name]).size()
                assert pairs.nunique() == 1
                assert len(pairs) == len(first.levels) * len(second.levels)


def test_levels_keep_their_types():
    setting = full_factorial(FACTORS).to_dict("records")[0]
    assert setting == {"k": 1, "weights": "equal", "p": 1.0}
    assert isinstance(setting["k"], int)


def test_one_factor_at_a_time_stays_on_the_axes():
    baseline = {"k": 3, "weights": "near", "p": 2.0}
    table = one_at_a_time(FACTORS, baseline)
    assert len(table) == 1 + 2 + 1 + 3
    changed = sum((table[name] != level).astype(int) for name, level in baseline.items())
    assert changed.tolist() == [0] + [1] * 6
    assert len(table.drop_duplicates()) == len(table)
    assert "Interactions are ignored" in table.attrs["caveat"]


def test_a_baseline_that_is_no_level():
    table = one_at_a_time(FACTORS[:1], {"k": 4})
    assert table["k"].tolist() == [4, 1, 3, 5]


def test_bad_baselines():
    with pytest.raises(ValueError, match="baseline: the level of factor 'p' is missing"):
        one_at_a_time(FACTORS, {"k": 1, "weights": "near"})
    with pytest.raises(UnknownNameError, match="Unknown factor 'q'"):
        one_at_a_time(FACTORS[:1], {"k": 1, "q": 2})


def test_interactions_escape_one_factor_at_a_time():
    """The best corner is found by the factorial, and missed along the axes."""

    def error(setting):
        return 1.0 + setting["x"] + setting["y"] - 4 * setting["x"] * setting["y"]

    factors = [Factor("x", (0, 1), "numeric"), Factor("y", (0, 1), "numeric")]
    along = one_at_a_time(factors, {"x": 0, "y": 0}).apply(error, axis=1)
    together = full_factorial(factors).apply(error, axis=1)
    assert along.idxmin() == 0
    assert together.min() < along.min()


def test_best_guess_is_a_record_without_guarantee():
    tried = best_guess({"C": 1.0, "kernel": "linear"}, [{"kernel": "radial"}, {"C": 10.0}, {}])
    assert tried["C"].tolist() == [1.0, 1.0, 10.0, 10.0]
    assert tried["kernel"].tolist() == ["linear", "radial", "radial", "radial"]
    assert "no guarantee" in tried.attrs["caveat"]
    with pytest.raises(UnknownNameError, match=r"Unknown factor 'c'\. Nearest: C"):
        best_guess({"C": 1.0}, [{"c": 2.0}])


def test_order_is_a_seeded_permutation():
    first, same, other = (randomised_order(50, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, same)
    assert sorted(first) == list(range(50))
    assert not np.array_equal(first, other)


def test_every_order_is_equally_likely():
    orders = [tuple(randomised_order(3, seed)) for seed in range(1200)]
    counts = [orders.count(order) for order in set(orders)]
    assert len(counts) == 6
    assert max(abs(count - 200) for count in counts) < 60


def test_order_within_blocks():
    blocks = np.array(["late", "early"])[np.tile([0, 1, 1], 10)]
    order = randomised_order(30, 1, blocks)
    assert sorted(order) == list(range(30))
    assert blocks[order].tolist() == ["late"] * 10 + ["early"] * 20
    assert order[:10].tolist() != sorted(order[:10])
    with pytest.raises(ValueError, match="blocks has 2 entries, but there are 3 runs"):
        randomised_order(3, 0, ["a", "b"])
