"""Growing conjunctions: the best condition by brute force, missing entries, redundancy."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.rule import foil_gain
from verulam.rule._learning import grow_loops
from verulam.rule._learning import problem as problem_module
from verulam.rule._learning.grow_loops import AT_LEAST, AT_MOST, EQUAL
from verulam.rule._learning.one_class import first_rules
from verulam.rule._learning.problem import (
    Conjunction,
    GrowthOptions,
    Problem,
    sort_columns,
    without_redundancy,
)

NUMERIC = np.zeros(3, dtype=np.int32)


def problem_of(rows, positive, n_categories=NUMERIC, weights=None):
    weights = np.ones(len(rows)) if weights is None else weights
    return Problem(sort_columns(rows, n_categories), positive.astype(np.uint8), weights)


def random_problem(seed, n=60):
    """Return a mixed problem with ties and gaps: two numeric columns, one of four categories."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack([rng.integers(0, 12, size=(n, 2)), rng.integers(0, 4, size=n)])
    rows = rows.astype(float)
    positive = rows[:, 0] + rng.normal(scale=3, size=n) > 8
    rows[rng.random(rows.shape) < 0.1] = np.nan
    weights = rng.integers(1, 4, size=n).astype(float)
    return problem_of(rows, positive, np.array([0, 0, 4], dtype=np.int32), weights)


def every_condition(problem):
    """Yield the rows that each possible condition accepts."""
    for place, column in enumerate(problem.table.columns):
        for value in np.unique(column[~np.isnan(column)]):
            if problem.table.n_categories[place]:
                yield column == value
            else:
                yield column <= value
                yield column >= value


def smoothed_gain(problem, accepted):
    positive = problem.positive.astype(bool)
    p, n = (problem.weights[side].sum() for side in (positive, ~positive))
    new_p, new_n = (problem.weights[accepted & side].sum() for side in (positive, ~positive))
    share, new_share = (p + 1) / (p + n + 1), (new_p + 1) / (new_p + new_n + 1)
    return new_p * (np.log2(new_share) - np.log2(share))


@pytest.mark.parametrize("seed", range(15))
def test_first_condition_has_the_most_gain_of_all(seed):
    problem = random_problem(seed)
    rows = np.arange(60, dtype=np.int32)
    grown = problem.grow(rows, GrowthOptions(most_conditions=1, midway=False))
    best = max(smoothed_gain(problem, accepted) for accepted in every_condition(problem))
    assert len(grown) == 1
    assert smoothed_gain(problem, grown.covered.astype(bool)) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_entropy_finds_the_purest_rows(seed):
    problem = random_problem(seed)
    rows = np.arange(60, dtype=np.int32)
    options = GrowthOptions("entropy", smoothing=0.0, most_conditions=1, least_positives=1.0)
    grown = problem.grow(rows, options)
    weights = problem.weights

    def share(accepted):
        return weights[accepted & (problem.positive > 0)].sum() / max(weights[accepted].sum(), 1)

    best = max(share(accepted) for accepted in every_condition(problem))
    assert share(grown.covered.astype(bool)) == pytest.approx(best)


def test_growth_ends_without_negatives():
    rows = np.arange(12, dtype=float)[:, None]
    positive = (rows[:, 0] >= 3) & (rows[:, 0] < 9)
    problem = problem_of(rows, positive, np.zeros(1, dtype=np.int32))
    grown = problem.grow(np.arange(12, dtype=np.int32), GrowthOptions())
    assert sorted(grown.values) == [2.5, 8.5]
    assert_array_equal(grown.covered, positive)


def test_a_condition_must_keep_the_least_weight_of_positives():
    rows = np.arange(6, dtype=float)[:, None]
    positive = np.array([1, 0, 0, 0, 0, 0])
    problem = problem_of(rows, positive, np.zeros(1, dtype=np.int32))
    assert len(problem.grow(np.arange(6, dtype=np.int32), GrowthOptions(least_positives=2))) == 0
    assert len(problem.grow(np.arange(6, dtype=np.int32), GrowthOptions(least_positives=1))) == 1


def test_missing_entries_meet_no_condition():
    rows = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    problem = problem_of(rows, np.array([1, 1, 0, 0]), np.zeros(1, dtype=np.int32))
    grown = problem.grow(np.arange(4, dtype=np.int32), GrowthOptions())
    assert_array_equal(grown.covered, [1, 1, 0, 0])


def test_prefix_counts_are_those_of_each_prefix():
    problem = random_problem(2)
    rows = np.arange(60, dtype=np.int32)
    grown = problem.grow(rows, GrowthOptions())
    counts = problem.prefix_counts(grown, rows)
    for length in range(len(grown) + 1):
        covered = rows[problem.shortened(grown, length).covered > 0]
        assert_allclose(counts[length], problem.weight_of(covered))
    assert foil_gain(*counts[0], *counts[1]) > 0


def test_choices_count_both_sides_of_each_value():
    table = sort_columns(
        np.array([[1.0, 0.0], [1.0, 1.0], [3.0, np.nan]]), np.array([0, 3], dtype=np.int32)
    )
    assert table.n_conditions == 2 * 2 + 2 * 3
    assert table.known.tolist() == [3, 2]


def test_redundant_bounds_are_dropped():
    conjunction = Conjunction(
        np.array([AT_MOST, AT_LEAST, AT_MOST, AT_LEAST, EQUAL, AT_MOST, AT_LEAST]),
        np.array([0, 0, 0, 0, 1, 0, 0]),
        np.array([5.0, 1.0, 4.0, 3.0, 2.0, 4.5, 2.5]),
        np.ones(1, dtype=np.uint8),
    )
    slim = without_redundancy(conjunction)
    assert list(zip(slim.kinds, slim.places, slim.values, strict=True)) == [
        (AT_MOST, 0, 4.0),
        (AT_LEAST, 0, 3.0),
        (EQUAL, 1, 2.0),
    ]


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_compiled_growth_equals_its_python_source(monkeypatch):
    problem = random_problem(4)
    rows = np.arange(60, dtype=np.int32)
    options = [GrowthOptions(), GrowthOptions(criterion="entropy", midway=False)]
    compiled = [problem.grow(rows, option) for option in options]
    counts = [problem.prefix_counts(grown, rows) for grown in compiled]
    for module in (grow_loops, problem_module):
        for name in dir(module):
            plain = getattr(getattr(module, name), "py_func", None)
            if plain is not None:
                monkeypatch.setattr(module, name, plain)
    for option, grown, count in zip(options, compiled, counts, strict=True):
        plain = problem.grow(rows, option)
        for name in ("kinds", "places", "values", "covered"):
            assert_array_equal(getattr(grown, name), getattr(plain, name))
        assert_array_equal(count, problem.prefix_counts(plain, rows))


def test_first_rules_skip_to_the_one_that_covers():
    coverage = np.array([[1, 0, 0], [1, 1, 0]], dtype=np.uint8)
    rows = np.arange(3, dtype=np.int32)
    assert first_rules(coverage, 0, rows).tolist() == [0, 1, 2]
    assert first_rules(coverage, 1, rows).tolist() == [1, 1, 2]
