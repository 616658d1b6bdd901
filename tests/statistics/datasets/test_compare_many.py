"""The whole comparison: conclusions in words, procedures for pairs, groups, speed."""

import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.statistics import (
    POST_HOC,
    ManyComparison,
    adjust_pairs,
    cliques,
    compare_many,
    friedman_test,
    mean_rank_test,
    nemenyi_test,
    wilcoxon_holm,
)

TABLE = pd.DataFrame(
    np.random.default_rng(9).normal([0, 0.1, 0.8, 1.6], size=(15, 4)), columns=list("abcd")
)
#: Ranks on 30 data sets, and how often they come: the mean ranks of Garcia and Herrera (2008).
GARCIA_NAMES = ["C4.5", "1-NN", "naive Bayes", "Kernel", "CN2"]
GARCIA_ROWS = [
    (8, [1, 4, 5, 3, 2]),
    (10, [2, 4, 1, 5, 3]),
    (11, [3, 2, 1, 5, 4]),
    (1, [2, 3.5, 5, 1, 3.5]),
]
GARCIA = pd.DataFrame([row for count, row in GARCIA_ROWS for _ in range(count)]).set_axis(
    GARCIA_NAMES, axis=1
)


def test_published_example():
    """Bergmann and Hommel reject eight of ten pairs, Shaffer six, Holm five."""
    assert_allclose(GARCIA.mean(), [2.1, 3.25, 2.2, 4 + 1 / 3, 3 + 7 / 60])
    rejected = {
        name: int(compare_many(GARCIA, post_hoc=name).pairs.table["reject"].sum())
        for name in ("nemenyi", "holm", "shaffer", "bergmann-hommel")
    }
    assert rejected == {"nemenyi": 4, "holm": 5, "shaffer": 6, "bergmann-hommel": 8}
    compared = compare_many(GARCIA, post_hoc="bergmann-hommel")
    assert compared.conclusion() == (
        "Over 30 data sets C4.5 ranks best (mean rank 2.10), but it cannot be told from naive "
        "Bayes (2.20); it ranks above CN2, 1-NN and Kernel (3.12, 3.25, 4.33; adjusted p < 0.05)."
    )
    assert compared.cliques == [["C4.5", "naive Bayes"], ["CN2", "1-NN"]]
    assert compare_many(GARCIA, post_hoc="shaffer").cliques == [
        ["C4.5", "naive Bayes", "CN2"],
        ["CN2", "1-NN"],
    ]


def test_nothing_rejected_is_not_called_equal():
    compared = compare_many(np.random.default_rng(0).normal(size=(12, 4)))
    assert compared.conclusion() == (
        "Over 12 data sets the 4 learners cannot be told apart (Iman-Davenport test, p = 0.102); "
        "learner 1 has the best mean rank, 1.75."
    )


@pytest.mark.parametrize("post_hoc", POST_HOC)
def test_best_of_all(post_hoc):
    table = np.random.default_rng(0).normal([0, 9, 18], 0.5, size=(20, 3))
    assert compare_many(table, post_hoc=post_hoc).conclusion() == (
        "Over 20 data sets learner 1 ranks best (mean rank 1.00), above learner 2 and learner 3 "
        "(2.00, 3.00; adjusted p < 0.05)."
    )
    turned = compare_many(-table, post_hoc=post_hoc, greater_is_better=True, alpha=0.01)
    assert "learner 1 ranks best" in turned.conclusion()
    assert "above learner 2 and learner 3" in turned.conclusion()
    assert "adjusted p < 0.01" in turned.conclusion()


def test_two_learners():
    table = np.random.default_rng(0).normal([0, 9], 0.5, size=(20, 2))
    assert compare_many(table).conclusion() == (
        "Over 20 data sets learner 1 ranks better (mean rank 1.00), above learner 2 "
        "(2.00; adjusted p < 0.05)."
    )


def test_overall_difference_without_a_pair():
    for seed in range(300):
        compared = compare_many(np.random.default_rng(seed).normal([0, 0, 0, 0.8], size=(10, 4)))
        if compared.iman_davenport.reject and not compared.pairs.table["reject"].any():
            assert "the 4 learners are not all equally good (Iman" in compared.conclusion()
            assert "but no two of them can be told apart; learner" in compared.conclusion()
            return
    pytest.fail("no such case was drawn")


def test_shared_first_place():
    rows = [[1, 2, 3], [2, 1, 3]] * 10
    assert compare_many(rows).conclusion() == (
        "Over 20 data sets learner 1 ranks best, level with learner 2 (mean rank 1.50), but it "
        "cannot be told from learner 2 (1.50); it ranks above learner 3 (3.00; adjusted p < 0.05)."
    )
    even = compare_many([[1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 3, 2]] * 2)
    assert even.conclusion().endswith("; learner 1 and learner 2 share the best mean rank, 1.75.")


def reversed_pair():
    """Return a table in which a ranks above b on average, and b below a by most and large gaps.

    On eight of thirty data sets a is a little ahead of b, with all the others in between.
    """
    rng = np.random.default_rng(0)
    others, a = rng.uniform(0, 1, size=(30, 4)), rng.uniform(-0.2, -0.1, 30)
    b = a - rng.uniform(0.05, 0.1, 30)
    b[:8] = a[:8] + 0.01
    others[:8] = a[:8, None] + rng.uniform(0.001, 0.009, size=(8, 4))
    return pd.DataFrame(np.column_stack([b, a, others]), columns=["b", "a", *"wxyz"])


@pytest.mark.parametrize("greater", [False, True])
def test_signed_ranks_against_the_mean_ranks(greater):
    table = -reversed_pair() if greater else reversed_pair()
    compared = compare_many(table, post_hoc="wilcoxon-holm", greater_is_better=greater)
    assert list(compared.ranks.index[:2]) == ["a", "b"]
    text = compared.conclusion()
    assert "data sets a ranks best (mean rank 1.73), above " in text
    assert text.endswith(
        f"; signed ranks favour b over it ({compared.ranks['b']:.2f}; adjusted p < 0.05)."
    )
    by_ranks = compare_many(table, post_hoc="shaffer", greater_is_better=greater).conclusion()
    assert "a ranks best (mean rank 1.73), but it cannot be told from b" in by_ranks


def test_best_that_no_test_tells_from_others():
    """Signed ranks tell b from c, and neither from a, which is erratic."""
    rng = np.random.default_rng(3)
    base = rng.uniform(size=30)
    a = base + np.where(np.arange(30) % 10 < 7, -1.0, 2.5)
    table = pd.DataFrame({"a": a, "b": base, "c": base + 0.01 + 0.01 * rng.uniform(size=30)})
    compared = compare_many(table, post_hoc="wilcoxon-holm")
    assert compared.conclusion() == (
        "Over 30 data sets a ranks best (mean rank 1.60), but it cannot be told from any other; "
        "1 of the 3 pairs can be told apart (adjusted p < 0.05)."
    )


def test_many_names_are_counted():
    table = np.random.default_rng(2).normal(np.repeat([0.0, 1.5], [10, 9]), size=(40, 19))
    compared = compare_many(table, post_hoc="shaffer")
    text = compared.conclusion()
    best = compared.ranks.index[0]
    counts = {
        decision: sum(
            row.reject == decision and best in (row.first, row.second)
            for row in compared.pairs.table.itertuples()
        )
        for decision in (True, False)
    }
    second = f"{compared.ranks.iloc[1]:.2f}"
    assert f"cannot be told from {counts[False]} of the other 18 ({second} to " in text
    assert f"ranks above {counts[True]} of the other 18 (" in text
    assert f" to {compared.ranks.iloc[-1]:.2f}; adjusted p < 0.05)." in text
    assert len(text) < 300


def test_printed():
    text = str(compare_many(TABLE, post_hoc="bergmann-hommel"))
    assert text.startswith("Iman-Davenport test: F(3, 42) = ")
    assert ". Pairs by Bergmann and Hommel's procedure on mean ranks. Over 15 data sets " in text
    tied = TABLE.round(0)
    assert str(compare_many(tied)).startswith("Iman-Davenport test (corrected for ties): F(3, 42)")
    assert friedman_test(tied).name == "Friedman's test (corrected for ties)"


@pytest.mark.parametrize("post_hoc", POST_HOC)
def test_procedure_decides_pairs_and_groups(post_hoc):
    compared = compare_many(TABLE, post_hoc=post_hoc)
    assert compared.overall.reject
    assert compared.cliques == cliques(compared.pairs)
    test, _, adjust = post_hoc.partition("-")
    if post_hoc == "nemenyi":
        expected, name = nemenyi_test(TABLE), "Nemenyi's test"
    elif test == "wilcoxon":
        expected, name = wilcoxon_holm(TABLE, adjust=adjust), "Wilcoxon's signed rank test with"
    else:
        expected, name = mean_rank_test(TABLE, adjust=post_hoc), "procedure on mean ranks"
    pd.testing.assert_frame_equal(compared.pairs.table, expected.table)
    assert name in compared.pairs.name
    assert np.isfinite(compared.pairs.critical_difference) == (post_hoc == "nemenyi")


def test_other_procedures_on_demand():
    compared = compare_many(TABLE, post_hoc="shaffer")
    assert_allclose(compared.nemenyi.p_matrix(), nemenyi_test(TABLE).p_matrix())
    assert_allclose(compared.wilcoxon.p_matrix(), wilcoxon_holm(TABLE).p_matrix())
    direct = compare_many(TABLE, post_hoc="wilcoxon-holm", greater_is_better=True, alpha=0.01)
    assert direct.wilcoxon is direct.pairs
    assert direct.nemenyi.alpha == 0.01
    assert direct.nemenyi.means.idxmin() == "d"
    default = compare_many(TABLE)
    assert default.nemenyi is default.pairs


def test_no_group_is_told_apart_where_the_overall_test_does_not_reject():
    for seed in range(2000):
        table = np.random.default_rng(seed).normal(size=(8, 5))
        compared = compare_many(table, post_hoc="bergmann-hommel", alpha=0.2)
        if compared.pairs.table["reject"].any() and not compared.overall.reject:
            assert compared.cliques == [list(compared.ranks.index)]
            assert "the 5 learners cannot be told apart" in compared.conclusion()
            return
    pytest.fail("no such case was drawn")


def rejections(learners, means, procedures, repeats=150):
    rng = np.random.default_rng(learners)
    counts = np.zeros(len(procedures))
    for _ in range(repeats):
        pairs = mean_rank_test(rng.normal(means, size=(20, learners)), adjust="none")
        raw = pairs.table["p_value"].to_numpy()
        limit = LIMITS[learners]
        for place, name in enumerate(procedures):
            if name == "nemenyi":
                counts[place] += (pairs.table["statistic"].abs() > limit).sum()
            else:
                counts[place] += (adjust_pairs(raw, name) < 0.05).sum()
    return counts


#: Demsar's critical values of Nemenyi's test at 0.05.
LIMITS = {4: 2.569, 8: 3.031}


def test_neither_shaffer_nor_nemenyi_rejects_more_throughout():
    """The reason for the default, and for Bergmann and Hommel's procedure beside it."""
    procedures = ("nemenyi", "shaffer", "bergmann-hommel")
    nemenyi, shaffer, most = rejections(4, [0, 0.3, 0.6, 1.0], procedures)
    assert nemenyi < shaffer < most
    nemenyi, shaffer, most = rejections(8, np.linspace(0, 1.5, 8), procedures)
    assert shaffer < nemenyi < most


@pytest.mark.parametrize("post_hoc", ["shaffer", "bergmann-hommel", "wilcoxon-shaffer"])
def test_false_rejections_are_rare_when_some_learners_differ(post_hoc):
    """Three equal learners and one far away: the overall test always rejects."""
    rng = np.random.default_rng(11)
    false = 0
    for _ in range(400):
        pairs = POST_HOC[post_hoc](rng.normal([0, 0, 0, 4], size=(20, 4))).table
        false += pairs["reject"][[0, 1, 3]].any()
    # Within three standard errors of five per cent.
    assert false / 400 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("post_hoc", ["nemenyi", "shaffer", "wilcoxon-shaffer"])
def test_fifty_learners_on_a_hundred_data_sets_take_less_than_a_second(post_hoc):
    table = np.random.default_rng(1).normal(size=(100, 50))
    compare_many(table[:, :3], post_hoc=post_hoc)
    start = time.process_time()
    compared = compare_many(table, post_hoc=post_hoc)
    assert time.process_time() - start < 1.0
    assert len(compared.pairs.table) == 1225


def test_ten_learners_by_all_partitions_take_less_than_a_second():
    table = np.random.default_rng(1).normal(size=(30, 10))
    start = time.process_time()
    compare_many(table, post_hoc="bergmann-hommel")
    assert time.process_time() - start < 1.0


def test_the_record_says_its_conclusion():
    errors = np.random.default_rng(0).random((12, 4))
    comparison = compare_many(errors + np.array([0, 0.1, 0.2, 2]))
    assert isinstance(comparison, ManyComparison)
    assert comparison.overall is comparison.iman_davenport
    assert comparison.conclusion() in " ".join(str(comparison).split())
