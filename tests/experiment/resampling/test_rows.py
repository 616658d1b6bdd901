"""Rows dealt into parts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedGroupKFold

from verulam.base import DataError
from verulam.experiment._resampling.rows import (
    deal_groups,
    deal_parts,
    least_units,
    read_rows,
    take_share,
)


def grouped(seed, n_groups=40, n_classes=3):
    """Return rows in groups of 1 to 15, each group with a taste for one class."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 16, size=n_groups)
    groups = np.repeat(np.arange(n_groups), sizes)
    taste = np.repeat(random.integers(0, n_classes, size=n_groups), sizes)
    labels = np.where(random.random(len(groups)) < 0.7, taste, random.integers(0, n_classes))
    return labels, groups


def test_labels_of_any_kind_are_read():
    labels = ["b", "a", "b", "c"]
    for targets in (labels, np.array(labels), pd.Series(labels, index=[4, 3, 2, 1])):
        rows = read_rows(targets, "classification")
        assert rows.classes == ("a", "b", "c")
        assert rows.strata.tolist() == [1, 0, 1, 2]
    category = pd.Series(labels).astype(pd.CategoricalDtype(["c", "b", "a", "unused"]))
    assert sorted(read_rows(category, "classification").classes) == ["a", "b", "c"]


def test_bad_rows():
    with pytest.raises(ValueError, match="task='clustering'; expected 'classification'"):
        read_rows([1, 2], "clustering")
    with pytest.raises(DataError, match="targets: the value of row 1 is missing"):
        read_rows(["a", None], "classification")
    with pytest.raises(DataError, match="groups: the value of row 0 is missing"):
        read_rows(["a", "b"], "classification", [np.nan, 1.0])
    with pytest.raises(DataError, match="groups has 3 rows and targets has 2"):
        read_rows(["a", "b"], "classification", [1, 2, 3])


@pytest.mark.parametrize(
    ("targets", "task", "groups", "parts", "reason"),
    [
        ("aaabb", "classification", None, 2, "class 'b' has only 2 rows"),
        ("aaabbb", "classification", "112234", 2, "class 'a' is in only 2 groups"),
        (range(9), "regression", None, 4, "there are only 9 rows"),
        (range(9), "regression", "112233445", 5, "there are only 5 groups"),
    ],
)
def test_what_is_scarcest(targets, task, groups, parts, reason):
    least = least_units(read_rows(list(targets), task, groups and list(groups)))
    assert (least.parts, least.reason) == (parts, reason)


@pytest.mark.parametrize(
    ("targets", "task", "groups", "message"),
    [
        ("aaab", "classification", None, "Class 'b' has 1 row, too few"),
        ("aabb", "classification", "1233", "Class 'b' is in 1 group, too few"),
        ("aaaa", "classification", None, "only the class 'a'; at least two"),
        ("123", "regression", None, "There are 3 rows; at least 4"),
        ("12345", "regression", "aaaaa", "There are 1 groups; at least 2"),
    ],
)
def test_too_little(targets, task, groups, message):
    rows = read_rows(list(targets), task, groups and list(groups))
    with pytest.raises(DataError, match=message):
        least_units(rows)


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_parts_have_equal_sizes_and_shares(parts):
    labels = np.repeat(["a", "b", "c"], [50, 31, 22])
    rows = read_rows(labels, "classification")
    counts = np.array(
        [np.bincount(rows.strata[deal_parts(rows, parts, 5) == part]) for part in range(parts)]
    )
    assert np.ptp(counts.sum(axis=1)) <= 1
    assert (np.ptp(counts, axis=0) <= 1).all()


@pytest.mark.parametrize("share", [0.1, 1 / 3, 0.5, 0.9])
def test_a_share_takes_each_class_within_rounding(share):
    labels = np.repeat(["a", "b", "c"], [60, 23, 2])
    rows = read_rows(labels, "classification")
    taken = take_share(rows, share, seed=3)
    counts = np.bincount(rows.strata[taken])
    assert abs(taken.sum() - share * 85) <= 1.5
    assert (np.abs(counts - share * np.array([60, 23, 2])) < 1).all()
    assert counts[2] == 1, "the smallest class is on both sides"


def test_a_share_of_numbers():
    rows = read_rows(np.arange(30.0), "regression")
    assert take_share(rows, 1 / 3, seed=0).sum() == 10
    chosen = np.array([take_share(rows, 0.2, seed) for seed in range(400)])
    assert chosen.mean(axis=0) == pytest.approx(0.2, abs=0.08), "every row has the same chance"


@pytest.mark.parametrize("parts", [2, 5, 10])
@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together_and_classes_apart(parts, seed):
    labels, groups = grouped(seed)
    rows = read_rows(labels, "classification", groups)
    dealt = deal_parts(rows, parts, seed)
    assert pd.Series(dealt).groupby(groups).nunique().max() == 1
    assert set(dealt) == set(range(parts))

    def unevenness(parts_of_rows):
        table = pd.crosstab(parts_of_rows, labels) / np.bincount(labels)
        return float(((table - 1 / parts) ** 2).to_numpy().sum())

    peer = np.empty(len(labels), dtype=int)
    maker = StratifiedGroupKFold(parts, shuffle=True, random_state=seed)
    for part, (_, members) in enumerate(maker.split(labels, labels, groups)):
        peer[members] = part
    assert unevenness(dealt) <= 1.3 * unevenness(peer) + 0.01


def test_groups_of_like_size_move_between_seeds():
    labels, groups = grouped(1)
    rows = read_rows(labels, "classification", groups)
    first, same, other = (deal_groups(rows, np.full(3, 1 / 3), seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert len(set(zip(first, other, strict=True))) > 3, "more than new names for the same parts"


def test_a_share_of_groups():
    labels, groups = grouped(2, n_groups=60)
    rows = read_rows(labels, "classification", groups)
    taken = take_share(rows, 1 / 3, seed=0)
    assert pd.Series(taken).groupby(groups).nunique().max() == 1
    assert taken.mean() == pytest.approx(1 / 3, abs=0.03)
    shares = pd.Series(taken).groupby(labels).mean()
    assert shares.to_numpy() == pytest.approx(1 / 3, abs=0.06)


def test_a_share_smaller_than_any_group():
    rows = read_rows(np.arange(20.0), "regression", np.repeat([1, 2], 10))
    with pytest.raises(DataError, match=r"share=0.1 .* 2 groups a share nearer to 1/2"):
        take_share(rows, 0.1, seed=0)


def test_labels_are_counted_in_their_order_whatever_comes_first():
    rows = read_rows(["b", "c", "a", "b"], "classification")
    assert rows.classes == ("a", "b", "c")
    assert [rows.classes[code] for code in rows.strata] == ["b", "c", "a", "b"]
    assert read_rows([2.0, 1.0], "regression", times=[30, 20]).times.tolist() == [1, 0]
