"""Confusion tables: margins, agreement with scikit-learn, set identities of retrieval."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import confusion_matrix

from verulam.base import DataError
from verulam.measures import Retrieval, TwoClassCounts, confusion, retrieval


@pytest.fixture
def labels():
    rng = np.random.default_rng(1)
    return rng.integers(0, 4, 200), rng.integers(0, 4, 200), rng.uniform(size=200)


def test_matches_scikit_learn(labels):
    true, predicted, weight = labels
    counts = confusion(true, predicted).matrix
    assert_array_equal(counts, confusion_matrix(true, predicted))
    assert counts.to_numpy().dtype.kind == "i"
    assert_allclose(
        confusion(true, predicted, sample_weight=weight).matrix,
        confusion_matrix(true, predicted, sample_weight=weight),
    )


def test_margins_and_one_against_rest(labels):
    true, predicted, _ = labels
    table = confusion(true, predicted)
    assert_array_equal(table.true_totals, np.bincount(true))
    assert_array_equal(table.predicted_totals, np.bincount(predicted))
    margins = table.with_margins()
    assert margins.loc["total", "total"] == table.total == 200
    for label in range(4):
        counts = table.one_vs_rest(label)
        assert counts.tp == ((true == label) & (predicted == label)).sum()
        assert counts.tn == ((true != label) & (predicted != label)).sum()
        assert (counts.p, counts.predicted_p) == ((true == label).sum(), (predicted == label).sum())
        assert counts.p + counts.n == counts.predicted_p + counts.predicted_n == counts.total


def test_two_class_view_and_rates():
    table = confusion(["n", "n", "n", "y", "y"], ["y", "n", "n", "y", "n"])
    counts = table.two_class()
    assert counts == TwoClassCounts(tp=1, fn=1, fp=1, tn=2)
    assert table.two_class(positive="n") == TwoClassCounts(tp=2, fn=1, fp=1, tn=1)
    rates = counts.rates()
    assert rates["accuracy"] == 1 - rates["error"]
    assert rates["specificity"] == pytest.approx(1 - rates["fp_rate"])
    assert_allclose(table.rates().loc["y", "precision"], 0.5)
    assert np.isnan(TwoClassCounts(0, 0, 1, 1).rates()["tp_rate"])


def test_more_than_two_classes_need_a_positive(labels):
    with pytest.raises(DataError, match="say which is `positive`"):
        confusion(*labels[:2]).two_class()


def test_most_confused_is_sorted_and_off_the_diagonal():
    true = [0] * 9 + [1] * 5 + [2] * 3
    predicted = [0] * 4 + [1] * 3 + [2] * 2 + [0] * 5 + [2] * 3
    table = confusion(true, predicted).most_confused(2)
    assert table[["true", "predicted", "count"]].to_numpy().tolist() == [[1, 0, 5], [0, 1, 3]]
    assert_allclose(table["share_of_true"], [1.0, 3 / 9])
    assert confusion([0, 1], [0, 1]).most_confused().empty


def test_retrieval_sets():
    answer = retrieval(range(10), range(6, 12))
    assert answer.hits | answer.missed == answer.relevant
    assert answer.hits | answer.false_alarms == answer.retrieved
    assert (answer.precision, answer.recall) == (4 / 6, 4 / 10)
    counts = answer.counts(100)
    assert counts == TwoClassCounts(tp=4, fn=6, fp=2, tn=88)
    assert counts.rates()["precision"] == answer.precision
    assert retrieval({1, 2}, {1}).precision == 1.0
    assert retrieval({1}, {1, 2}).recall == 1.0
    assert np.isnan(retrieval({1}, ()).precision)
    with pytest.raises(DataError, match="database_size is 5, but 12"):
        answer.counts(5)


def test_a_retrieval_counts_hits_misses_and_false_alarms():
    answer = Retrieval(frozenset("abc"), frozenset("bcde"))
    assert (answer.hits, answer.missed, answer.false_alarms) == (set("bc"), set("a"), set("de"))
    assert (answer.precision, answer.recall) == (0.5, pytest.approx(2 / 3))
