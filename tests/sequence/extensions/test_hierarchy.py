"""Hierarchies: walks through the levels simulated and enumerated, learned, and their limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.sequence import (
    FlatHierarchy,
    GaussianEmission,
    HiddenMarkovModel,
    HierarchicalTransitions,
    HierarchyLevel,
    TransitionMatrix,
    flatten_hierarchy,
    hierarchical_model,
)

INNER = HierarchyLevel([0.7, 0.3], [[0.2, 0.5, 0.3], [0.1, 0.3, 0.6]])
MIDDLE = HierarchyLevel([0.4, 0.6], [[0.3, 0.3, 0.4], [0.5, 0.2, 0.3]], (INNER, None))
ROOT = HierarchyLevel([0.8, 0.2], [[0.25, 0.75, 0.0], [0.9, 0.1, 0.0]], (MIDDLE, None))
EMISSION = GaussianEmission(means=[[0.0], [2.0], [4.0], [6.0]], covariances=np.ones((4, 1)))


def walk(random, n_steps):
    """Yield leaves by following the levels up and down, as the text describes them."""

    def enter(level, place):
        child = random.choice(len(level.initial), p=level.initial)
        inner = level.child(child)
        return (*place, child) if inner is None else enter(inner, (*place, child))

    def level_at(place):
        level = ROOT
        for step in place:
            level = level.child(step)
        return level

    leaf, leaves = enter(ROOT, ()), []
    for _ in range(n_steps):
        leaves.append(leaf)
        while True:
            level = level_at(leaf[:-1])
            row = level.transitions[leaf[-1]]
            child = random.choice(len(row), p=row)
            if child == len(row) - 1:
                leaf = leaf[:-1]
                continue
            place = (*leaf[:-1], child)
            inner = level.child(child)
            leaf = place if inner is None else enter(inner, place)
            break
    return leaves


def test_flattened_chain_moves_as_the_hierarchy_does():
    flat = flatten_hierarchy(ROOT)
    assert flat.paths == [(0, 0, 0), (0, 0, 1), (0, 1), (1,)]
    assert_allclose(flat.transitions.sum(axis=1), 1.0)
    assert_allclose(flat.initial, [0.8 * 0.4 * 0.7, 0.8 * 0.4 * 0.3, 0.8 * 0.6, 0.2])
    # From the last inner leaf: to itself, or out of the inner level, or out of the middle one.
    inner, middle = 0.6, 0.6 * 0.4
    again = middle * 0.25
    expected = 0.3 + inner * 0.3 * 0.3 + again * 0.4 * 0.3
    assert_allclose(flat.transitions[1, 1], expected)
    assert_allclose(flat.transitions[1, 3], middle * 0.75)
    leaves = walk(np.random.default_rng(0), 20_000)
    codes = np.array([flat.paths.index(leaf) for leaf in leaves])
    counts = np.zeros((4, 4))
    np.add.at(counts, (codes[:-1], codes[1:]), 1)
    assert_allclose(counts / counts.sum(axis=1, keepdims=True), flat.transitions, atol=0.02)


@pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
def test_likelihood_sums_over_paths_of_leaves(sum_over_paths):
    X = np.array([0.2, 3.9, 2.2, 6.3, 0.1])
    model = hierarchical_model(ROOT, EMISSION, max_iter=1).fit(X)
    flat = flatten_hierarchy(ROOT)
    logs = -0.5 * (X[:, None] - [0, 2, 4, 6]) ** 2 - 0.5 * np.log(2 * np.pi)
    expected, _ = sum_over_paths(flat.initial, flat.transitions, logs)
    assert_allclose(model.objective_curve_[0], expected)


def test_transitions_as_often_as_the_tables_say_give_the_tables_back():
    part = HierarchicalTransitions(ROOT)
    moves = part.start(4, np.random.default_rng(0))
    stationary = np.linalg.matrix_power(moves.matrix, 200)[0]
    again = part.updated_tables(moves, moves.weights * stationary[moves.sources])
    # The root's first children play no part once a sequence has begun.
    for new, old in zip(again[1:], moves.tables[1:], strict=True):
        assert_allclose(new, old)


@pytest.mark.filterwarnings("ignore:StructuredModel had not converged")
def test_log_likelihood_never_falls_and_the_levels_are_learned():
    flat = flatten_hierarchy(ROOT)
    truth = HiddenMarkovModel.from_parameters(flat.initial, flat.transitions, EMISSION)
    sequences = truth.sample(300, 4, random_state=0).observations
    even = HierarchyLevel([0.5, 0.5], [[1 / 3] * 3] * 2)
    middle = HierarchyLevel([0.5, 0.5], [[1 / 3] * 3] * 2, (even, None))
    root = HierarchyLevel([0.5, 0.5], [[0.5, 0.5, 0.0]] * 2, (middle, None))
    model = hierarchical_model(root, EMISSION, max_iter=40).fit(sequences)
    assert np.diff(model.objective_curve_).min() > -1e-8
    assert_allclose(model.transitions_, flat.transitions, atol=0.12)
    assert model.score(sequences) > truth.score(sequences) - 1.0


def test_one_level_is_a_plain_model():
    matrix = np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]])
    emission = GaussianEmission(means=[[0.0], [2.0], [4.0]], covariances=np.ones((3, 1)))
    series = np.repeat([0.0, 4.0, 2.0], 10) + np.random.default_rng(0).normal(size=30)
    root = HierarchyLevel(np.full(3, 1 / 3), np.column_stack([matrix, np.zeros(3)]))
    flat = hierarchical_model(root, emission).fit(series)
    plain = HiddenMarkovModel(3, emission, transitions=TransitionMatrix(values=matrix)).fit(series)
    assert_allclose(flat.objective_curve_, plain.objective_curve_)
    assert_allclose(flat.transitions_, plain.transitions_, atol=1e-12)


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (HierarchyLevel([1.0], [[0.5, 0.5]]), "The root must not end"),
        (
            HierarchyLevel([0.5, 0.5], [[1, 0, 0], [0, 1, 0]], (None,)),
            "the root has 1 children; expected 2",
        ),
        (
            HierarchyLevel([1.0], [[1.0, 0.0]], (HierarchyLevel([0.5, 0.6], np.ones((2, 3)) / 3),)),
            r"initial of level \[0\] sums to 1.1",
        ),
    ],
)
def test_bad_hierarchies(root, message):
    with pytest.raises(DataError, match=message):
        flatten_hierarchy(root)


def test_levels_must_be_levels():
    with pytest.raises(DataError, match="A level is NoneType; expected a HierarchyLevel"):
        hierarchical_model(None)
    with pytest.raises(DataError, match="A level is str"):
        flatten_hierarchy(HierarchyLevel([1.0, 0.0], [[0, 1, 0], [1, 0, 0]], ("a", None)))


def test_a_flat_level_is_its_own_chain():
    level = HierarchyLevel([0.3, 0.7], [[0.25, 0.75, 0.0], [0.9, 0.1, 0.0]])
    flat = flatten_hierarchy(level)
    assert isinstance(flat, FlatHierarchy)
    assert_allclose(flat.initial, [0.3, 0.7])
    assert_allclose(flat.transitions, [[0.25, 0.75], [0.9, 0.1]])
    assert flat.paths == [(0,), (1,)]
