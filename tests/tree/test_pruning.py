"""Pruning: never worse on the pruning set, never larger, and the paths of scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from verulam.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MultivariateTreeClassifier,
    PruningPath,
    pessimistic_errors,
)
from verulam.tree._pruning import _thinned, best_first, beyond_leaves, sum_below


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=400) > 0).astype(int)


def test_reduced_error_on_a_set_of_its_own(noisy):
    X, y = noisy
    tree = DecisionTreeClassifier().fit(X[:250], y[:250])
    before, leaves = tree.score(X[250:], y[250:]), tree.get_n_leaves()
    tree.prune(X[250:], y[250:])
    assert tree.score(X[250:], y[250:]) >= before
    assert tree.get_n_leaves() < leaves


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_reduced_error_of_numbers(criterion):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 10, size=(300, 1))
    y = np.where(X[:, 0] < 6.31, 0.9, 2.0) + rng.normal(scale=0.3, size=300)
    tree = DecisionTreeRegressor(criterion=criterion).fit(X[:200], y[:200])

    def error():
        residuals = np.abs(tree.predict(X[200:]) - y[200:])
        return (residuals**2 if criterion == "squared_error" else residuals).mean()

    before = error()
    tree.prune(X[200:], y[200:])
    assert error() <= before
    assert tree.get_n_leaves() < 40


def test_pruned_leaves_are_labelled_by_training_rows():
    """The one subtree that the pruning set contradicts becomes a leaf of the training majority."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    y = [0, 0, 0, 1, 0]
    tree = DecisionTreeClassifier().fit(X, y)
    assert_array_equal(tree.prune([[3.0], [0.0]], [0, 0]).predict([[3.0]]), [0])
    assert tree.get_n_leaves() == 1
    whole = DecisionTreeClassifier().fit(X, y).prune([[3.0], [4.0]], [1, 0])
    assert_array_equal(whole.predict([[3.0], [4.0]]), [1, 0])


def test_pessimistic_bound_is_the_binomial_one():
    """So few errors have probability 0.25 at the bound; none of 6, 9 and 1: Quinlan's numbers."""
    bounds = pessimistic_errors(np.array([6.0, 9.0, 1.0]), np.zeros(3), 0.25)
    assert_allclose(bounds / [6, 9, 1], [0.206, 0.143, 0.75], atol=5e-4)
    bound = pessimistic_errors(np.array([16.0]), np.array([1.0]), 0.25)[0] / 16
    assert_allclose(stats.binom.cdf(1, 16, bound), 0.25)


@pytest.mark.parametrize("learner", [DecisionTreeClassifier, MultivariateTreeClassifier])
@pytest.mark.parametrize("seed", range(4))
def test_a_leaf_may_be_a_tenth_of_an_error_worse(learner, seed):
    """C4.5's rule, by recursion: a leaf, unless the bounds below add up to 0.1 less or better."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    grown, pruned = (learner(pruning=way).fit(X, y) for way in ("none", "pessimistic"))
    structure = getattr(grown.tree_, "structure", grown.tree_)
    errors = structure.weight - structure.values.max(axis=1)
    bounds = pessimistic_errors(structure.weight, errors, 0.25)

    def cost_and_leaves(node, slack):
        below = [cost_and_leaves(child, slack) for child in structure.children(node)]
        cost, leaves = (sum(numbers) for numbers in zip(*below, strict=True)) if below else (0, 0)
        as_leaf = not below or bounds[node] <= cost + slack
        return (bounds[node], 1) if as_leaf else (cost, leaves)

    assert pruned.get_n_leaves() == cost_and_leaves(0, 0.1)[1]
    assert cost_and_leaves(0, 0.1)[1] > cost_and_leaves(0, 3.0)[1]


def test_less_confidence_prunes_more(noisy):
    X, y = noisy
    sizes = [
        DecisionTreeClassifier(pruning="pessimistic", pruning_confidence=c).fit(X, y).get_n_leaves()
        for c in (0.5, 0.25, 0.05, 0.001)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_cost_complexity_path_is_that_of_scikit_learn():
    rng = np.random.default_rng(5)
    X = rng.permutation(200).reshape(100, 2) / 4.0
    y = X[:, 0] + 3 * rng.normal(size=100)
    ours = DecisionTreeRegressor().cost_complexity_pruning_path(X, y)
    theirs = TheirRegressor(random_state=0).cost_complexity_pruning_path(X, y)
    assert_allclose(ours.alphas[1:], theirs.ccp_alphas[-len(ours.alphas) + 1 :], rtol=1e-6)
    assert ours.n_leaves[-1] == 1
    alpha = float(np.sqrt(ours.alphas[-8] * ours.alphas[-7]))
    tree = DecisionTreeRegressor(pruning="cost_complexity", ccp_alpha=alpha).fit(X, y)
    other = TheirRegressor(ccp_alpha=alpha, random_state=0).fit(X, y)
    assert_allclose(tree.predict(X), other.predict(X))


def test_a_pruning_path_goes_from_the_whole_tree_to_its_root(noisy):
    X, y = noisy
    tree = DecisionTreeClassifier().fit(X, y)
    path = tree.cost_complexity_pruning_path(X, y)
    assert isinstance(path, PruningPath)
    assert (path.alphas[0], path.n_leaves[0], path.n_leaves[-1]) == (0.0, tree.get_n_leaves(), 1)
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    inner = tree.tree_.kind != 0
    assert_array_equal(np.isinf(path.collapsed_at), ~inner)
    # No node outlives its parent.
    below = np.flatnonzero(inner)[1:]
    assert (path.collapsed_at[below] <= path.collapsed_at[tree.tree_.parent[below]]).all()


def test_cross_validation_chooses_a_small_tree(noisy):
    X, y = noisy
    tree = DecisionTreeClassifier(preset="cart", pruning_folds=5, random_state=0).fit(X, y)
    assert tree.ccp_alpha_ > 0
    assert 1 < tree.get_n_leaves() < 20 < tree.n_leaves_grown_


def test_most_leaves_keeps_the_most_useful_splits(noisy):
    X, y = noisy
    tree = DecisionTreeClassifier(max_leaf_nodes=7).fit(X, y)
    assert tree.get_n_leaves() == 7
    whole = DecisionTreeClassifier().fit(X, y).tree_
    assert np.count_nonzero(beyond_leaves(whole, 7)) == np.count_nonzero(whole.kind) - 6
    order = best_first(whole)
    assert order[0] == 0
    assert sorted(order) == np.flatnonzero(whole.kind).tolist()
    assert sum_below(whole, np.ones(len(whole)))[0] == whole.n_leaves


def test_noise_is_pruned_to_the_root_and_signal_is_kept():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(120, 1))
    noise = rng.normal(size=120)
    learner = DecisionTreeRegressor(pruning="cost_complexity", random_state=0)
    assert learner.fit(X, noise).get_n_leaves() == 1
    step = np.where(X[:, 0] > 0.5, 5.0, 0.0) + 0.1 * noise
    assert learner.fit(X, step).get_n_leaves() == 2
    assert learner.ccp_alpha_ < 5.0


def test_candidates_are_thinned_evenly():
    assert _thinned(5).tolist() == [0, 1, 2, 3, 4]
    assert len(_thinned(1000)) == 100
    assert _thinned(1000)[[0, -1]].tolist() == [0, 999]
