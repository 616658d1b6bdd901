"""Condensing: consistent with the training data, ends on conflicts, smaller with a penalty."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from verulam.base import DataError
from verulam.nonparametric import (
    CondensedNeighbours,
    CondensedSet,
    KNeighborsClassifier,
    PenalisedNeighbours,
    SubsetChoice,
    condense,
    drop_needless,
    search_subset,
)
from verulam.nonparametric._prototypes import condensing
from verulam.nonparametric._prototypes.condensing_loops import toggle_search

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=300) > 0, "right", "left")


def nearest_labels(queries, rows, labels):
    return labels[rows][cdist(queries, X[rows]).argmin(axis=1)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_subset_is_consistent_and_small(seed):
    subset = condense(X, Y, random_state=seed)
    assert_array_equal(nearest_labels(X, subset.rows, Y), Y)
    assert len(np.unique(subset.rows)) == len(subset.rows) < 150


def test_passes_by_the_pseudocode():
    """Figure 8.6 written out in plain Python, visiting rows in the same order."""
    order = np.random.default_rng(5).permutation(300)
    stored, added = [], True
    while added:
        added = False
        for row in order:
            if not stored or nearest_labels(X[[row]], stored, Y)[0] != Y[row]:
                stored.append(row)
                added = True
    assert_array_equal(condense(X, Y, random_state=5).rows, stored)


def test_the_subset_depends_on_the_order():
    first, second = (condense(X, Y, random_state=seed).rows for seed in (0, 1))
    assert set(first) != set(second)


def test_conflicting_copies_end():
    inputs = np.repeat(X[:20], 2, axis=0)
    labels = np.tile([0, 1], 20)
    subset = condense(inputs, labels, random_state=0)
    assert len(subset.rows) <= 40
    classifier = CondensedNeighbours(random_state=0).fit(inputs, labels)
    assert 0.0 < classifier.score(inputs, labels) < 1.0


def test_one_class_stores_one_row():
    assert len(condense(X, np.zeros(300), random_state=0).rows) == 1


def test_three_neighbours_store_copies():
    """Two opposing neighbours outvote a row stored once; stored twice it wins."""
    inputs = np.array([[0.0], [0.1], [-0.1], [5.0], [5.1], [4.9]])
    labels = np.array([1, 0, 0, 0, 0, 0])
    subset = condense(inputs, labels, n_neighbors=3, random_state=0)
    assert (subset.rows == 0).sum() == 2
    classifier = CondensedNeighbours(n_neighbors=3, random_state=0).fit(inputs, labels)
    assert_array_equal(classifier.predict(inputs[:3]), labels[:3])


def test_removing_needless_rows_keeps_consistency():
    subset = condense(X, Y, random_state=0).rows
    pruned = drop_needless(X, Y, subset)
    assert len(pruned) < len(subset)
    assert_array_equal(nearest_labels(X, pruned, Y), Y)
    classifier = CondensedNeighbours(prune=True, random_state=0).fit(X, Y)
    assert classifier.score(X, Y) == 1.0
    with pytest.raises(ValueError, match="prune=True is for n_neighbors=1"):
        CondensedNeighbours(prune=True, n_neighbors=3).fit(X, Y)


def test_resampler_gives_rows_and_indices():
    classifier = CondensedNeighbours(random_state=0)
    inputs, labels = classifier.fit_resample(X, Y)
    assert_array_equal(inputs, X[classifier.rows_])
    assert_array_equal(labels, Y[classifier.rows_])
    plain = KNeighborsClassifier(n_neighbors=1).fit(inputs, labels)
    assert_array_equal(plain.predict(X), classifier.predict(X))


def test_larger_penalties_give_smaller_subsets():
    sizes = [
        len(search_subset(X[:120], Y[:120], penalty, random_state=0).rows)
        for penalty in (0.1, 1.5, 30.0)
    ]
    assert sizes[0] > sizes[1] >= sizes[2] >= 1


def test_search_equals_trying_every_subset():
    inputs, labels = X[:9], (X[:9, 0] > 0).astype(int)
    labels[0] = 1 - labels[0]
    for penalty in (0.3, 1.2):
        costs = [
            (cdist(inputs, inputs[list(rows)]).argmin(axis=1), rows)
            for size in range(1, 10)
            for rows in combinations(range(9), size)
        ]
        least = min(
            (labels[np.array(rows)][nearest] != labels).sum() + penalty * len(rows)
            for nearest, rows in costs
        )
        subset = search_subset(inputs, labels, penalty, n_init=21, random_state=0)
        assert subset.cost == pytest.approx(least)


def test_the_search_takes_rows_out_again():
    """From all rows on, a search that only adds would stay where it is."""
    inputs, labels = np.arange(12.0)[:, None], (np.arange(12) > 5).astype(np.int64)
    members = np.ones(12, dtype=np.bool_)
    scratch = np.empty((2, 12), dtype=np.int64)
    cost = toggle_search(cdist(inputs, inputs), labels, members, np.arange(12), 0.5, *scratch)
    assert members.sum() == 2
    assert cost == 1.0
    crowded, sides = X[:120], Y[:120]
    start = condense(crowded, sides, random_state=0).rows
    subset = search_subset(crowded, sides, 3.0, n_init=1, random_state=0)
    assert len(subset.rows) < len(start)


def test_compiled_loops_equal_their_python_source(monkeypatch):
    codes = (Y == "left").astype(np.int64)[:40]
    order = np.arange(40)
    compiled = [condensing.hart_passes(X[:40], codes, order, k) for k in (1, 3)]
    monkeypatch.setattr(condensing, "hart_pass", condensing.hart_pass.py_func)
    for k, subset in zip((1, 3), compiled, strict=True):
        plain = condensing.hart_passes(X[:40], codes, order, k)
        assert_array_equal(subset.rows, plain.rows)
        assert subset.n_passes == plain.n_passes
    table = cdist(X[:40], X[:40])
    members = [np.arange(40) % 7 == 0 for _ in range(2)]
    costs = [
        search(table, codes, subset, order, 0.5, *np.empty((2, 40), dtype=np.int64))
        for search, subset in zip((toggle_search, toggle_search.py_func), members, strict=True)
    ]
    assert costs[0] == costs[1]
    assert_array_equal(members[0], members[1])


def test_bad_requests():
    with pytest.raises(ValueError, match="alpha must be above 0"):
        search_subset(X, Y, 0.0)
    with pytest.raises(ValueError, match="8001 rows"):
        search_subset(np.zeros((8001, 1)), np.zeros(8001), 1.0)
    with pytest.raises(ValueError, match="are too many"):
        drop_needless(np.zeros((70_000, 1)), np.zeros(70_000), np.arange(1000))


def test_penalised_search_as_a_learner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    cheap = PenalisedNeighbours(alpha=0.1, random_state=0).fit(X, y)
    dear = PenalisedNeighbours(alpha=3.0, random_state=0).fit(X, y)
    assert len(dear.rows_) < len(cheap.rows_)
    errors = (dear.predict(X) != y).sum()
    assert dear.cost_ == pytest.approx(errors + 3.0 * len(dear.rows_))
    rows, labels = dear.fit_resample(X, y)
    assert_array_equal(rows, X[dear.rows_])
    assert_array_equal(labels, y[dear.rows_])


def test_functions_refuse_what_is_no_data():
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.arange(10) % 2
    gap = X.copy()
    gap[3, 1] = np.nan
    for function in (condense, lambda X, y: search_subset(X, y, 1.0)):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            function(gap, y)
        with pytest.raises(DataError, match="y has 4 labels, but X has 10 rows"):
            function(X, y[:4])
    with pytest.raises(DataError, match="n_neighbors must be at least 1, not 0"):
        condense(X, y, n_neighbors=0)
    with pytest.raises(DataError, match="rows must be at least one number from 0 to 9"):
        drop_needless(X, y, [99])


def test_the_last_pass_stores_nothing():
    """One class needs one row, stored in the first pass; the second finds nothing to store."""
    subset = condense(X, np.zeros(300), random_state=0)
    assert isinstance(subset, CondensedSet)
    assert (len(subset.rows), subset.n_passes) == (1, 2)


def test_the_cost_is_errors_plus_the_price_of_the_rows():
    choice = search_subset(X, Y, 0.7, random_state=0)
    assert isinstance(choice, SubsetChoice)
    errors = (nearest_labels(X, choice.rows, Y) != Y).sum()
    assert choice.cost == pytest.approx(errors + 0.7 * len(choice.rows))
