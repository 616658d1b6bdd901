"""Columns as codes or lists."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from verulam.tree import DecisionTreeClassifier, DecisionTreeRegressor
from verulam.tree._growing.growth_parameters import ROW_BITS, ROW_MASK
from verulam.tree._levels import layouts
from verulam.tree._levels.layouts import (
    MOST_VALUES,
    N_SLOTS,
    encode,
    lay_out,
    pack_ranks,
    rank_columns,
)


def table(*columns):
    return np.ascontiguousarray(np.column_stack(columns).astype(float))


def listed(layout, place):
    """Return ranks and rows of a list."""
    column = layout.lists.columns[place]
    words = layout.lists.words[column][: layout.n_listed[place]]
    return words >> ROW_BITS, words & ROW_MASK


@pytest.fixture(params=["small", "large"])
def any_size(request, monkeypatch):
    """Lay small tables out as such, and as large ones are."""
    if request.param == "large":
        monkeypatch.setattr(layouts, "SORTED_ROWS", 0)


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(layouts, "SORTED_ROWS", 0)


@pytest.mark.usefixtures("any_size")
def test_few_values_are_coded_in_ascending_order():
    values = table([7, -2, 7, 0.5, -2], [5, 5, 1, 2, 2])
    layout = lay_out(values)
    assert_array_equal(layout.coded.columns, [0, 1])
    assert_array_equal(layout.coded.codes[:, 0], [2, 0, 2, 1, 0])
    assert_array_equal(layout.coded.levels[0, :3], [-2, 0.5, 7])
    assert_array_equal(layout.n_levels, [3, 3])


@pytest.mark.usefixtures("any_size")
@pytest.mark.parametrize("n_values", [MOST_VALUES, MOST_VALUES + 1])
def test_as_many_values_are_coded_as_a_word_has_bits(n_values):
    numbers = np.tile(np.random.default_rng(0).permutation(n_values) / 3.0, 3)
    layout = lay_out(table(numbers))
    assert len(layout.coded.columns) == (n_values == MOST_VALUES)
    if n_values == MOST_VALUES:
        codes = layout.coded.codes[:, 0]
        assert_array_equal(layout.coded.levels[0, codes], numbers)


@pytest.mark.usefixtures("any_size")
def test_many_values_are_listed_with_equal_ranks_for_equal_values():
    numbers = np.random.default_rng(0).integers(0, 90, size=300) / 7.0
    ranks, rows = listed(lay_out(table(numbers)), 0)
    assert_array_equal(np.sort(rows), np.arange(300))
    assert_array_equal(numbers[rows], np.sort(numbers))
    assert_array_equal(np.unique(numbers)[ranks.astype(int)], numbers[rows])


@pytest.mark.usefixtures("large")
def test_the_value_of_most_rows_is_left_out_of_the_list():
    numbers = np.array([0, 0, 3, 0, -1, 0, 0, 0, 3, 0], dtype=float)
    layout = lay_out(table(numbers))
    ranks, rows = listed(layout, 0)
    assert_array_equal(rows, [4, 2, 8])
    assert_array_equal(ranks, [0, 2, 2])
    assert (layout.lists.common_rank[0], layout.lists.common_value[0]) == (1, 0.0)


@pytest.mark.usefixtures("large")
def test_a_column_of_one_value_has_an_empty_list():
    layout = lay_out(table(np.full(20, 3.0), np.arange(20) % 2))
    assert_array_equal(layout.n_listed, [0])
    assert_array_equal(layout.place, [0, 0])


@pytest.mark.usefixtures("any_size")
def test_both_zeros_are_one_value():
    layout = lay_out(table([0.0, -0.0, 1.0, -0.0, 1.0]))
    assert_array_equal(layout.coded.codes[:, 0], [0, 0, 1, 0, 1])


def test_threads_do_not_change_the_layout(monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(7000, 20))
    values[:, ::3] = rng.integers(0, 5, size=(7000, 7))
    made = []
    for threads in ("1", "3"):
        monkeypatch.setenv("VERULAM_THREADS", threads)
        made.append(lay_out(values))
    one, several = made
    assert_array_equal(one.coded.codes, several.coded.codes)
    assert_array_equal(one.lists.words[one.lists.columns], several.lists.words[one.lists.columns])


def test_compiled_loops_equal_their_python_source():
    numbers = np.array([2.0, 5.0, 0.0, 2.0, 1.0])
    results = []
    for compiled in (True, False):
        codes, known = np.zeros(5, dtype=np.uint8), np.zeros(MOST_VALUES)
        slots, words = np.full(N_SLOTS, -1), np.zeros(5, dtype=np.uint64)
        order = np.argsort(numbers, kind="stable")
        one, other = (encode, pack_ranks) if compiled else (encode.py_func, pack_ranks.py_func)
        with np.errstate(over="ignore"):
            n_levels = one(numbers, numbers.view(np.uint64), codes, known, slots)
        rank = other(numbers, order, 1.5, words)
        results.append((n_levels, rank, *codes, *known[:4], *words))
    assert_array_equal(*results)
    assert results[0][:2] == (4, 2)


def test_compiled_ranks_of_columns_equal_their_python_source():
    numbers = np.array([[2.0, 5.0, 0.0, 2.0], [1.0, 1.0, 1.0, 1.0]])
    results = []
    for loop in (rank_columns, rank_columns.py_func):
        order = np.argsort(numbers, axis=1, kind="stable")
        codes, levels = np.zeros(8, dtype=np.uint8), np.zeros((2, MOST_VALUES))
        place, n_levels = np.zeros((2, 2), dtype=np.int64)
        n_coded = loop(numbers, order, codes, levels, place, n_levels)
        results.append([n_coded, *codes, *place, *n_levels, *order.ravel(), *levels[:, :3].ravel()])
    assert_array_equal(*results)
    assert results[0][:9] == [2, 1, 0, 2, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(), DecisionTreeRegressor()])
def test_trees_do_not_depend_on_the_layout_of_small_tables(learner, monkeypatch):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 7, 200), rng.random(200) < 0.9])
    y = rng.integers(0, 3, 200).astype(float)
    small = clone(learner).fit(X, y).tree_
    monkeypatch.setattr(layouts, "SORTED_ROWS", 0)
    large = clone(learner).fit(X, y).tree_
    assert_array_equal(small.column, large.column)
    assert_array_equal(small.threshold, large.threshold)
    assert_array_equal(small.n_rows, large.n_rows)
