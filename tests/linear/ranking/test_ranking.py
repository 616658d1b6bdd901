"""The linear ranker: losses without pairs, the same optimum as pairs, measures."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kendalltau
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score, ndcg_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from verulam.base import DataError, DataWarning
from verulam.linear import (
    BasisExpansion,
    LinearRanker,
    Preferences,
    kendall_tau,
    mean_average_precision,
    ndcg,
    preferences_from_relevance,
    rerank,
)
from verulam.linear._ranking.ranking_loops import (
    HINGE,
    LOGISTIC,
    SQUARED_HINGE,
    group_losses,
)


def _groups(n_groups=20, size=8, seed=0, noise=0.5):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_groups * size, 3))
    labels = np.repeat(np.arange(n_groups), size)
    hidden = rows @ [1.0, -2.0, 0.5] + noise * random.normal(size=len(rows)) + 3.0 * labels
    return rows, np.round(hidden), labels


def _losses_by_pairs(scores, relevances, starts, margin, kind):
    total, slopes = 0.0, np.zeros(len(scores))
    for start, end in itertools.pairwise(starts):
        for u in range(start, end):
            for v in range(start, end):
                if relevances[u] > relevances[v]:
                    difference = scores[u] - scores[v]
                    lack = max(margin - difference, 0.0)
                    value, slope = {
                        SQUARED_HINGE: (lack**2, 2 * lack),
                        HINGE: (lack, float(lack > 0)),
                        LOGISTIC: (np.log1p(np.exp(-difference)), 1 / (1 + np.exp(difference))),
                    }[kind]
                    total += value
                    slopes[u] -= slope
                    slopes[v] += slope
    return total, slopes


@pytest.mark.parametrize("kind", [SQUARED_HINGE, HINGE, LOGISTIC])
def test_losses_of_groups_are_those_of_their_pairs(kind):
    random = np.random.default_rng(0)
    scores, relevances = random.normal(size=30), random.integers(0, 4, size=30).astype(float)
    starts, slopes = np.array([0, 12, 13, 30]), np.empty(30)
    total = group_losses(scores, relevances, starts, 0.7, kind, slopes)
    expected = _losses_by_pairs(scores, relevances, starts, 0.7, kind)
    assert total == pytest.approx(expected[0])
    assert np.allclose(slopes, expected[1])


def test_large_groups_over_sorted_scores():
    random = np.random.default_rng(1)
    scores, relevances = random.normal(size=260), random.integers(0, 6, size=260).astype(float)
    scores[:20] = scores[20]
    starts, slopes = np.array([0, 260]), np.empty(260)
    total = group_losses(scores, relevances, starts, 0.7, SQUARED_HINGE, slopes)
    expected = _losses_by_pairs(scores, relevances, starts, 0.7, SQUARED_HINGE)
    assert total == pytest.approx(expected[0])
    assert np.allclose(slopes, expected[1])


def test_slopes_agree_with_differences():
    random = np.random.default_rng(2)
    scores, relevances = random.normal(size=12), random.integers(0, 3, size=12).astype(float)
    starts, slopes, other = np.array([0, 12]), np.empty(12), np.empty(12)
    for kind in (SQUARED_HINGE, LOGISTIC):
        group_losses(scores, relevances, starts, 0.5, kind, slopes)
        for row in range(12):
            step = np.zeros(12)
            step[row] = 1e-6
            ends = [
                group_losses(scores + sign * step, relevances, starts, 0.5, kind, other)
                for sign in (1, -1)
            ]
            assert slopes[row] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-5)


def test_the_optimum_is_that_of_a_support_vector_machine_on_differences():
    rows, relevances, labels = _groups()
    ranker = LinearRanker(alpha=2.0, tol=1e-9).fit(rows, relevances, labels)
    pairs = preferences_from_relevance(relevances, labels)
    differences = rows[pairs.better] - rows[pairs.worse]
    signs = np.where(np.arange(len(pairs)) % 2, 1, -1)
    # LinearSVC minimises half the squared weights and C times the squared hinges.
    machine = LinearSVC(C=1 / 2.0, fit_intercept=False, tol=1e-10, max_iter=100_000, dual=False)
    machine.fit(differences * signs[:, None], signs)
    assert ranker.n_pairs_ == len(pairs)
    assert np.allclose(ranker.coef_, machine.coef_[0], atol=1e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
def test_linearly_rankable_rows_are_ranked(loss):
    rows, _relevances, labels = _groups(noise=0.0)
    distinct = rows @ [1.0, -2.0, 0.5]
    ranker = LinearRanker(loss=loss, alpha=1e-3, max_iter=2000).fit(rows, distinct, labels)
    assert ranker.score(rows, distinct, labels) == pytest.approx(1.0, abs=0.01)


def test_a_bend_is_ranked_in_products_of_the_inputs():
    """Rows around a best place: no direction orders them, squares of the inputs do."""
    rows = np.random.default_rng(0).normal(size=(40, 2))
    relevance = -((rows - [0.5, -0.3]) ** 2).sum(axis=1)
    straight = LinearRanker(alpha=1e-3).fit(rows, relevance)
    bent = make_pipeline(BasisExpansion(), LinearRanker(alpha=1e-6, max_iter=2000))
    bent.fit(rows, relevance)
    assert straight.score(rows, relevance) < 0.5
    assert bent.score(rows, relevance) == pytest.approx(1.0)


def test_groups_are_not_compared_with_one_another():
    rows, relevances, labels = _groups()
    apart = LinearRanker().fit(rows, relevances, labels)
    shifted = relevances + 100.0 * np.random.default_rng(0).permutation(20)[labels]
    assert np.allclose(apart.coef_, LinearRanker().fit(rows, shifted, labels).coef_)


def test_order_of_the_rows_does_not_matter():
    rows, relevances, labels = _groups()
    order = np.random.default_rng(0).permutation(len(rows))
    one = LinearRanker(tol=1e-9).fit(rows, relevances, labels)
    two = LinearRanker(tol=1e-9).fit(rows[order], relevances[order], labels[order])
    assert np.allclose(one.coef_, two.coef_, atol=1e-6)


def test_online_corrections_by_pairs():
    rows = np.random.default_rng(0).normal(size=(30, 3))
    pairs = preferences_from_relevance(rows @ [1.0, -2.0, 0.5])
    ranker = LinearRanker(margin=0.01, max_iter=1000, random_state=0).fit_pairs(rows, pairs)
    differences = ranker.predict(rows)[pairs.better] - ranker.predict(rows)[pairs.worse]
    assert (differences > 0.01).all()
    assert ranker.n_iter_ < 1000


def test_sparse_rows():
    rows, relevances, labels = _groups()
    dense = LinearRanker().fit(rows, relevances, labels)
    sparse = LinearRanker().fit(sp.csr_array(rows), relevances, labels)
    assert np.allclose(dense.coef_, sparse.coef_)


def test_the_best_rows_and_a_second_order():
    rows, relevances, labels = _groups()
    ranker = LinearRanker().fit(rows, relevances, labels)
    scores = ranker.predict(rows[:10])
    assert ranker.top(rows[:10], k=3).tolist() == np.argsort(-scores)[:3].tolist()
    names = np.array(list("abcdefghij"))
    assert rerank(names, ranker, rows[:10]).tolist() == names[np.argsort(-scores)].tolist()


def test_rows_of_other_columns_have_no_order():
    rows, relevances, labels = _groups()
    ranker = LinearRanker().fit(rows, relevances, labels)
    with pytest.raises(ValueError, match=f"expecting {rows.shape[1]} features"):
        ranker.top(rows[:10, :-1])


def test_measures_are_means_over_groups():
    rows, relevances, labels = _groups(n_groups=5)
    relevances = relevances - relevances.min()
    scores = rows[:, 0]
    parts = [labels == label for label in range(5)]
    assert kendall_tau(relevances, scores, labels) == pytest.approx(
        np.mean([kendalltau(relevances[part], scores[part]).statistic for part in parts])
    )
    assert ndcg(relevances, scores, labels, k=3) == pytest.approx(
        np.mean([ndcg_score(relevances[part][None], scores[part][None], k=3) for part in parts])
    )
    hits = (relevances % 2).astype(float)
    assert mean_average_precision(hits, scores, labels) == pytest.approx(
        np.mean([average_precision_score(hits[part], scores[part]) for part in parts])
    )


def test_groups_of_one_row_have_no_say():
    assert kendall_tau([1, 2, 5], [1, 2, 0], ["q", "q", "r"]) == 1.0
    with pytest.warns(DataWarning, match="no group has rows to be ranked"):
        assert np.isnan(kendall_tau([1, 2], [1, 2], ["q", "r"]))


@pytest.mark.parametrize(
    ("labels", "message"),
    [(np.arange(4), "nothing to rank"), (np.zeros(3), "4 entries")],
)
def test_groups_that_give_no_pairs_are_named(labels, message):
    with pytest.raises(DataError, match=message):
        LinearRanker().fit(np.eye(4), [1, 2, 3, 4], labels)


def test_no_pairs_and_too_few_steps():
    with pytest.raises(DataError, match="no pairs"):
        LinearRanker().fit_pairs(np.eye(3), preferences_from_relevance([1, 1, 1]))
    with pytest.warns(ConvergenceWarning, match="without converging"):
        LinearRanker(max_iter=1).fit(*_groups())


def test_sparse_pairs_and_groups_are_never_written_out(monkeypatch):
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 5)) * (random.random((40, 5)) < 0.5)
    relevance = np.round(rows @ [1.0, -1.0, 0.5, 0.0, 2.0])
    pairs = preferences_from_relevance(relevance)
    ranker = LinearRanker(max_iter=5, random_state=0)
    with pytest.warns(ConvergenceWarning, match="short of the margin"):
        expected = ranker.fit_pairs(rows, pairs).coef_
    whole = LinearRanker().fit(rows, relevance).coef_
    compressed = sp.csr_array(rows)
    monkeypatch.setattr(sp.csr_array, "toarray", None)
    with pytest.warns(ConvergenceWarning, match="short of the margin"):
        assert np.allclose(ranker.fit_pairs(compressed, pairs).coef_, expected)
    assert np.allclose(LinearRanker().fit(compressed, relevance).coef_, whole, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LinearRanker().fit_pairs([[0.0], [1.0]], Preferences(*np.array([[0], [9]]))), "9"),
        (
            lambda: LinearRanker().fit_pairs(
                [[0.0], [1.0]], Preferences(*np.array([[1], [0]])), learning_rate=-1.0
            ),
            "learning_rate must be above zero",
        ),
        (lambda: kendall_tau([1, 2, 3], [1, 2]), "one number for each row"),
        (
            lambda: rerank(["a"], LinearRanker().fit([[0.0], [1.0]], [0, 1]), [[1.0], [2.0]]),
            "one row for each of the 1 candidates",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LinearRanker().fit_pairs([[1.0], [2.0]], [(0, 1)]), "preferences_from_order"),
        (lambda: LinearRanker().fit([[1.0], [2.0]], [1, 2], [np.nan, 1.0]), "1 missing entries"),
        (lambda: LinearRanker().fit([[1.0], [2.0]], [1, 2]).top([[1.0]], k=-1), "k must be at"),
        (lambda: kendall_tau([1, 2, np.nan], [1, 2, 3]), "no missing numbers"),
        (lambda: ndcg(["a", "b"], [1, 2]), "relevance must have numbers only"),
    ],
)
def test_what_cannot_be_ranked_is_named(call, message):
    with pytest.raises(DataError, match=message):
        call()
