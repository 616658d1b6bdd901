"""Areas under curves for several classes, against scikit-learn and by definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import mannwhitneyu
from sklearn import metrics

from verulam.base import DataWarning
from verulam.measures import auc, average_precision


@pytest.fixture
def problem():
    rng = np.random.default_rng(8)
    true = rng.integers(0, 4, 200)
    table = rng.dirichlet(np.ones(4), 200) + 0.4 * np.eye(4)[true]
    # Two decimals make ties; the rows still sum to one up to that rounding.
    table = np.round(table / table.sum(axis=1, keepdims=True), 2)
    table[:, 0] += 1.0 - table.sum(axis=1)
    return true, table, rng.uniform(size=200)


@pytest.mark.parametrize(
    ("average", "theirs"),
    [
        ("macro", {"multi_class": "ovr", "average": "macro"}),
        ("weighted", {"multi_class": "ovr", "average": "weighted"}),
        ("micro", {"multi_class": "ovr", "average": "micro"}),
        ("hand-till", {"multi_class": "ovo", "average": "macro"}),
    ],
)
def test_area_matches_scikit_learn(problem, average, theirs):
    true, table, _ = problem
    expected = metrics.roc_auc_score(true, table, **theirs)
    assert_allclose(auc(true, table, average=average), expected)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_weighted_areas_match_scikit_learn(problem, average):
    true, table, weight = problem
    options = {"average": average, "sample_weight": weight}
    assert_allclose(
        auc(true, table, **options),
        metrics.roc_auc_score(true, table, multi_class="ovr", **options),
    )
    indicators = np.eye(4)[true]
    assert_allclose(
        average_precision(true, table, **options),
        metrics.average_precision_score(indicators, table, **options),
    )


def test_two_classes_are_the_mann_whitney_statistic():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 10, 60).astype(float)
    true = rng.integers(0, 2, 60)
    statistic = mannwhitneyu(scores[true == 1], scores[true == 0]).statistic
    assert_allclose(auc(true, scores), statistic / (true.sum() * (60 - true.sum())))
    assert_allclose(auc(true, np.column_stack([-scores, scores])), auc(true, scores))


def test_absent_class_is_left_out_with_a_warning(problem):
    true, table, _ = problem
    present = true != 3
    with pytest.warns(DataWarning, match="No area is defined for 3"):
        value = auc(true[present], table[present], labels=[0, 1, 2, 3])
    single = [auc(true[present], table[present], labels=[0, 1, 2, 3], positive=k) for k in range(3)]
    assert_allclose(value, np.mean(single))


def test_averages_are_checked(problem):
    true, table, _ = problem
    with pytest.raises(ValueError, match="average must be one of macro"):
        auc(true, table, average="ovo")
    with pytest.raises(ValueError, match="ROC curves only"):
        average_precision(true, table, average="hand-till")
