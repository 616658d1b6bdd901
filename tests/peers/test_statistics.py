"""Tests of two learners against mlxtend, on the same splits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from verulam.statistics import (
    cv_t_test,
    error_overlap,
    five_by_two_f_test,
    five_by_two_t_test,
    mcnemar,
    permutation_test,
)

pytestmark = pytest.mark.peers
evaluate = pytest.importorskip("mlxtend.evaluate")

INPUTS, TARGETS = load_breast_cancer(return_X_y=True)
LEARNERS = (
    make_pipeline(StandardScaler(), LogisticRegression()),
    DecisionTreeClassifier(max_depth=2, random_state=0),
)
SEED = 7


def scores(train, test):
    return [
        learner.fit(INPUTS[train], TARGETS[train]).score(INPUTS[test], TARGETS[test])
        for learner in LEARNERS
    ]


@pytest.fixture(scope="module")
def five_by_two():
    rng = np.random.RandomState(SEED)
    rows = np.arange(len(TARGETS))
    table = np.empty((2, 5, 2))
    for replication in range(5):
        halves = train_test_split(rows, test_size=0.5, random_state=rng.randint(0, 32767))
        table[:, replication, 0] = scores(*halves)
        table[:, replication, 1] = scores(*halves[::-1])
    return table


def test_five_by_two_t(five_by_two):
    expected = evaluate.paired_ttest_5x2cv(*LEARNERS, INPUTS, TARGETS, random_seed=SEED)
    result = five_by_two_t_test(*five_by_two)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)


def test_five_by_two_f(five_by_two):
    expected = evaluate.combined_ftest_5x2cv(*LEARNERS, INPUTS, TARGETS, random_seed=SEED)
    result = five_by_two_f_test(*five_by_two)
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)


def test_k_fold_t():
    expected = evaluate.paired_ttest_kfold_cv(
        *LEARNERS, INPUTS, TARGETS, cv=10, shuffle=True, random_seed=SEED
    )
    folds = KFold(10, shuffle=True, random_state=SEED).split(INPUTS)
    table = np.array([scores(train, test) for train, test in folds])
    result = cv_t_test(table[:, 0], table[:, 1])
    assert_allclose([result.statistic, result.p_value], expected, rtol=1e-10)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_mcnemar(exact, seed):
    true, first, second = np.random.default_rng(seed).integers(0, 2, (3, 80))
    overlap = error_overlap(true, first, second)
    # The peer counts right answers first, ours wrong ones: the corners change places.
    table = evaluate.mcnemar_table(true, first, second)
    counts = overlap.both_right, overlap.only_second_wrong, overlap.only_first_wrong
    assert table.ravel()[:3].tolist() == list(counts)
    expected = evaluate.mcnemar(table, exact=exact)[1]
    result = overlap.mcnemar(method="exact" if exact else "chi-square")
    if overlap.only_first_wrong == overlap.only_second_wrong:
        assert result.p_value == 1.0
    else:
        assert_allclose(result.p_value, expected, rtol=1e-10)
        counts = overlap.only_first_wrong, overlap.only_second_wrong
        assert mcnemar(*counts, method="exact" if exact else "chi-square").p_value == result.p_value


def test_permutation():
    first, second = np.random.default_rng(0).normal(size=(2, 9))
    expected = evaluate.permutation_test(
        first, second, method="approximate", paired=True, num_rounds=20_000, seed=0
    )
    assert permutation_test(first, second).p_value == pytest.approx(expected, abs=0.02)
