"""Ranking with a kernel: the linear case, groups, and preferences that no plane can score."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from verulam.base import DataError
from verulam.kernel import Gaussian, PreferenceKernel, RankingMachine, SpectrumKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 3))
Y = np.round(X @ [1.0, -2.0, 0.5] + 0.5 * RNG.normal(size=25))


def test_linear_kernel_is_a_machine_without_bias_on_differences():
    machine = RankingMachine(kernel="linear", C=0.5, tol=1e-7).fit(X, Y)
    weights = machine.dual_coef_ @ machine.support_vectors_
    first, second = np.nonzero(Y[:, None] > Y[None])
    differences = X[first] - X[second]
    both = np.vstack([differences, -differences])
    labels = np.repeat([1, -1], len(differences))
    peer = LinearSVC(loss="hinge", C=0.25, fit_intercept=False, tol=1e-9, max_iter=10**6)
    assert_allclose(weights, peer.fit(both, labels).coef_[0], atol=1e-3)
    assert machine.n_pairs_ == len(differences)


def test_preference_kernel_by_formula():
    pairs = np.hstack([X[:5], X[5:10]])
    kernel = Gaussian(1.0)
    u, v = X[:5], X[5:10]
    expected = kernel(u, u) - kernel(u, v) - kernel(v, u) + kernel(v, v)
    of_pairs = PreferenceKernel(kernel)
    assert_allclose(of_pairs(pairs), expected, atol=1e-12)
    assert_allclose(of_pairs.diagonal(pairs), np.diag(expected), atol=1e-12)


def test_a_hill_is_ranked_by_a_kernel_alone():
    height = -(X[:, 0] ** 2)
    assert RankingMachine(C=100.0).fit(X, height).score(X, height) > 0.95
    assert RankingMachine(kernel="linear").fit(X, height).score(X, height) < 0.7


def test_groups_are_not_compared():
    groups = np.arange(25) % 5
    machine = RankingMachine().fit(X, Y, groups)
    same_group = groups[:, None] == groups
    assert machine.n_pairs_ == ((Y[:, None] > Y) & same_group).sum()
    assert machine.score(X, Y, groups) > 0.8


def test_the_score_counts_pairs_within_groups():
    """Counted by hand, with noise, and a level for each group that the scores know nothing of."""
    groups = np.arange(25) % 4
    noisy = np.round(Y + 3 * np.random.default_rng(1).normal(size=25)) + 100 * groups
    machine = RankingMachine(kernel="linear").fit(X, Y)
    ahead = machine.predict(X)[:, None] > machine.predict(X)
    better = noisy[:, None] > noisy
    same_group = groups[:, None] == groups
    assert machine.score(X, noisy, groups) == pytest.approx(ahead[better & same_group].mean())
    assert machine.score(X, noisy) == pytest.approx(ahead[better].mean())
    assert machine.score(X, noisy) + 0.1 < machine.score(X, noisy, groups) < 1.0


@pytest.mark.parametrize("kernel", ["linear", Gaussian(1.0)])
def test_all_pairs_listed_are_the_relevances(kernel):
    pairs = np.argwhere(Y[:, None] > Y)
    listed = RankingMachine(kernel=kernel, tol=1e-7).fit_pairs(X, pairs)
    counted = RankingMachine(kernel=kernel, tol=1e-7).fit(X, Y)
    assert_allclose(listed.predict(X), counted.predict(X), atol=1e-3)
    assert listed.objective_ == pytest.approx(counted.objective_, rel=1e-6)
    assert listed.n_pairs_ == counted.n_pairs_ == len(pairs)
    assert listed.score_pairs(X, pairs) == pytest.approx(counted.score(X, Y))


def test_given_pairs_may_contradict_one_another():
    """Two against one: the majority is followed, and the slack of the third is paid."""
    pairs = [[0, 1], [0, 1], [1, 0]]
    machine = RankingMachine(kernel="linear", C=1.0, tol=1e-7).fit_pairs(X[:2], pairs)
    first, second = machine.predict(X[:2])
    assert first > second
    assert machine.score_pairs(X[:2], pairs) == pytest.approx(2 / 3)
    length = ((X[0] - X[1]) ** 2).sum()
    # One unit of net preference: the lead is that of a cost of one, at most the margin.
    assert first - second == pytest.approx(min(1.0, length), rel=1e-3)


def test_refused_pairs():
    machine = RankingMachine()
    with pytest.raises(DataError, match="rows from 0 to 30, but X has rows 0 to 24"):
        machine.fit_pairs(X, [[0, 30]])
    with pytest.raises(DataError, match=r"two columns.*got shape \(0,\)"):
        machine.fit_pairs(X, [])
    with pytest.raises(DataError, match="prefers row 3 to itself"):
        machine.fit_pairs(X, [[0, 1], [3, 3]])
    with pytest.raises(DataError, match="positions of rows; got float64"):
        machine.fit_pairs(X, [[0.5, 1.0]])


def test_pairs_of_objects():
    words = ["aaa", "aab", "bbb", "bba"]
    machine = RankingMachine(kernel=SpectrumKernel(length=1), C=10.0)
    machine.fit_pairs(words, [[0, 2], [1, 3]])
    assert machine.predict(["aa"]) > machine.predict(["bb"])


def test_refusals():
    with pytest.raises(DataError, match="nothing to rank"):
        RankingMachine().fit(X, np.ones(25))
    with pytest.raises(DataError, match="groups has 2"):
        RankingMachine().fit(X, Y, [0, 1])


def test_given_matrix_and_objects():
    kernel = Gaussian(1.5)
    rows = RankingMachine(kernel=kernel).fit(X, Y)
    by_matrix = RankingMachine(kernel="precomputed").fit(kernel(X), Y)
    assert_allclose(by_matrix.predict(kernel(X)), rows.predict(X), atol=1e-8)
    words = ["aab", "abb", "bbb", "aaa", "abab", "bbbb"]
    counts = np.array([word.count("b") for word in words])
    strings = RankingMachine(kernel=SpectrumKernel(1), C=10.0).fit(words, counts)
    assert strings.score(words, counts) == 1.0


def test_twenty_thousand_rows_without_a_list_of_their_pairs():
    """A list of their 200 million pairs would take 3 GB."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20_000, 2))
    relevances = rows @ [1.0, -1.0]
    machine = RankingMachine(kernel="linear", C=1e-5, tol=0.05).fit(rows, relevances)
    assert machine.n_pairs_ == 20_000 * 19_999 // 2
    assert machine.score(rows, relevances) > 0.99
    assert machine.gap_ <= 0.05 * machine.objective_


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("size", "cost"), [(1e100, 1.0), (1.0, 1e4)])
def test_hard_programs_come_to_an_end(kernel, size, cost):
    """The inner program cannot be solved to the last digit, and need not be."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(25, 2))
    relevances = rows @ [1.0, 2.0] + 0.3 * random.normal(size=25)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = RankingMachine(kernel=kernel, C=cost, max_iter=60).fit(size * rows, relevances)
    assert machine.score(size * rows, relevances) > 0.85


def test_columns_without_squares_are_refused():
    rows = 1e-160 * np.arange(6.0)[:, None]
    with pytest.raises(DataError, match="square is below floating point"):
        RankingMachine().fit(rows, np.arange(6))
    with pytest.raises(DataError, match="width must be at least"):
        Gaussian(1e-160)
