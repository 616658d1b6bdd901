"""Groups of classes: valid partitions, and Fisher's direction against scikit-learn's."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from verulam.data import dataset
from verulam.tree import MultivariateTreeClassifier
from verulam.tree._nodes.class_grouping import (
    GROUPINGS,
    fisher_direction,
    group_by_exchange,
    two_groups,
    two_means,
)
from verulam.tree._nodes.problem import (
    CRITERIA,
    NodeOptions,
    NodeProblem,
    find_threshold,
    split_impurity_of,
)

OPTIONS = NodeOptions(CRITERIA["entropy"], 1, "exchange", 9, 3, 2, 5)


def blobs(seed=0, n_classes=6, n_inputs=3, n_per_class=15):
    random = np.random.default_rng(seed)
    centres = 3.0 * random.normal(size=(n_classes, n_inputs))
    codes = np.repeat(np.arange(n_classes), n_per_class)
    inputs = centres[codes] + random.normal(size=(len(codes), n_inputs))
    return NodeProblem(inputs, codes, np.ones(len(codes)), n_classes, OPTIONS, random)


@pytest.mark.parametrize("seed", range(4))
def test_the_direction_is_that_of_scikit_learn(seed):
    problem = blobs(seed, n_classes=2)
    ours = fisher_direction(problem, problem.codes == 1)
    theirs = LinearDiscriminantAnalysis().fit(problem.inputs, problem.codes).coef_[0]
    assert_allclose(ours / np.linalg.norm(ours), theirs / np.linalg.norm(theirs), rtol=1e-8)


def test_the_direction_counts_weights_as_repetitions():
    problem = blobs(n_classes=2)
    weights = np.random.default_rng(0).integers(1, 4, size=30)
    weighted = replace(problem, weights=weights.astype(float))
    repeated = replace(
        problem,
        inputs=np.repeat(problem.inputs, weights, axis=0),
        codes=np.repeat(problem.codes, weights),
        weights=np.ones(weights.sum()),
    )
    assert_allclose(
        fisher_direction(weighted, weighted.codes == 1),
        fisher_direction(repeated, repeated.codes == 1),
        rtol=1e-8,
    )


def test_groups_without_spread_still_have_a_direction():
    inputs = np.array([[0.0, 5.0], [0.0, 5.0], [1.0, 5.0], [1.0, 5.0]])
    problem = NodeProblem(
        inputs, np.array([0, 0, 1, 1]), np.ones(4), 2, OPTIONS, np.random.default_rng(0)
    )
    direction = fisher_direction(problem, problem.codes == 1)
    assert direction[0] > 0
    assert abs(direction[1]) < 1e-12


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("seed", range(5))
def test_groups_are_a_partition_with_both_sides_filled(grouping, seed):
    problem = blobs(seed)
    problem = replace(problem, options=replace(OPTIONS, grouping=grouping))
    groups = two_groups(problem)
    assert set(groups) == {0, 1}
    for code in problem.present:
        assert len(set(groups[problem.codes == code])) == 1


def test_two_means_follow_the_distances_and_weights():
    means = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0], [11.0, 0.0]])
    assert_array_equal(two_means(means, np.ones(4)), [False, False, True, True])
    line = np.array([[0.0], [4.0], [10.0]])
    # The middle point stays with the nearer end, however heavy.
    assert_array_equal(two_means(line, np.array([1.0, 9.0, 1.0])), [False, False, True])


def test_identical_means_are_still_divided():
    groups = two_means(np.zeros((3, 2)), np.ones(3))
    assert groups.any()
    assert not groups.all()


def test_exchange_never_raises_the_impurity():
    better = 0
    for seed in range(8):
        problem = blobs(seed)
        start = two_means(problem.class_means(), problem.class_weights)

        def worth(groups, problem=problem):
            direction = fisher_direction(problem, groups[problem.codes])
            return find_threshold(problem, problem.inputs @ direction).impurity

        after = worth(group_by_exchange(problem, start))
        assert after <= worth(start) + 1e-12
        better += after < worth(start) - 1e-9
    assert better > 0


@pytest.mark.parametrize("seed", [1, 2, 4, 5])
def test_the_grouping_that_is_asked_for_is_used(seed):
    """Here the exchange comes to other groups than 2-means, in a node and in a tree."""
    problem = blobs(seed)
    groups = {
        name: two_groups(replace(problem, options=replace(OPTIONS, grouping=name)))
        for name in GROUPINGS
    }
    start = two_means(problem.class_means(), problem.class_weights)
    assert_array_equal(groups["two_means"], start[problem.codes])
    exchanged = group_by_exchange(problem, start)
    assert_array_equal(groups["exchange"], exchanged[problem.codes])
    left = {}
    for name in GROUPINGS:
        tree = MultivariateTreeClassifier("lda", grouping=name, max_depth=1, standardise=False)
        branches = tree.fit(problem.inputs, problem.codes).apply(problem.inputs)
        left[name] = split_impurity_of(problem, branches - 1, 2)
    assert left["exchange"] < left["two_means"] - 1e-3


def test_setosa_is_set_apart_first():
    iris = dataset("iris")
    inputs = iris.inputs.to_numpy(float)
    codes = np.unique(iris.target_values, return_inverse=True)[1].astype(np.int64)
    problem = NodeProblem(inputs, codes, np.ones(150), 3, OPTIONS, np.random.default_rng(0))
    groups = two_groups(problem)
    assert groups[0] != groups[50] == groups[100]
