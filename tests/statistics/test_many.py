"""The whole comparison: conclusions in words, post hoc tests, speed."""

import time

import numpy as np
import pandas as pd
import pytest

from verulam.statistics import cliques, compare_many

TABLE = pd.DataFrame(
    np.random.default_rng(9).normal([0, 0.1, 0.8, 1.6], size=(15, 4)), columns=list("abcd")
)


def test_conclusions_in_words():
    rng = np.random.default_rng(0)
    equal = compare_many(rng.normal(size=(12, 4)))
    assert "choose the simplest" in equal.conclusion()
    clear = compare_many(rng.normal([0, 9, 18], 0.5, size=(20, 3)))
    assert clear.conclusion() == "learner 1 is the best learner, and differs from every other."
    shared = compare_many(TABLE)
    assert "but does not differ from" in shared.conclusion()
    assert str(shared).startswith("F(3, 42) = ")


def test_overall_difference_without_a_pair_asks_for_more_data():
    for seed in range(300):
        found = compare_many(np.random.default_rng(seed).normal([0, 0, 0, 0.8], size=(10, 4)))
        if found.iman_davenport.reject and not found.pairs.table["reject"].any():
            assert "more data sets are needed" in found.conclusion()
            return
    pytest.fail("no such case was drawn")


def test_post_hoc_decides_the_cliques():
    found = compare_many(TABLE, post_hoc="wilcoxon-holm")
    assert found.cliques == cliques(found.wilcoxon)
    assert found.pairs is found.wilcoxon


def test_fifty_learners_on_a_hundred_data_sets_take_less_than_a_second():
    table = np.random.default_rng(1).normal(size=(100, 50))
    compare_many(table[:, :3])
    start = time.perf_counter()
    found = compare_many(table)
    assert time.perf_counter() - start < 1.0
    assert len(found.nemenyi.table) == len(found.wilcoxon.table) == 1225
