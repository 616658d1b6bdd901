"""What each kind of resampling draws."""

import re

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    StratifiedKFold,
)

from verulam.experiment._resampling.kinds import KINDS
from verulam.experiment._resampling.resampling import resampling

LABELS = np.repeat(["a", "b", "c"], [60, 30, 15])
NUMBERS = np.linspace(0.0, 1.0, 105)
GROUPS = np.tile(np.arange(21), 5)
FORMS = [form for kind in KINDS.values() for form in kind.forms]


def draw(form, targets=LABELS, *, groups=None, seed=0):
    task = "classification" if targets is LABELS else "regression"
    return resampling(form).draw(targets, groups, seed, task=task)


def class_counts(members):
    return np.array([(LABELS[members] == label).sum() for label in "abc"])


@pytest.mark.parametrize("targets", [LABELS, NUMBERS], ids=["classes", "numbers"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("form", ["3x5-fold", "5x2", "leave-one-out"])
def test_each_row_is_tested_once_per_repeat(form, groups, targets):
    splits = draw(form, targets, groups=groups)
    for repeat in {split.repeat for split in splits}:
        tested = np.concatenate([split.test for split in splits if split.repeat == repeat])
        assert sorted(tested) == list(range(105))
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(105))


@pytest.mark.parametrize(
    "form",
    [form for form in FORMS if not re.match("disjoint|expanding|sliding", form)] + ["disjoint 7"],
)
def test_no_group_is_on_both_sides(form):
    groups = np.tile(np.arange(35), 3)
    for split in draw(form, groups=groups)[:40]:
        shared = set(groups[split.train]) & set(groups[split.test])
        assert not shared or form.startswith("bootstrap")
        assert (np.diff(split.train) >= 0).all()
        assert (np.diff(split.test) > 0).all()


@pytest.mark.parametrize("form", ["10-fold", "2x3-fold", "5x2", "holdout", "disjoint 5"])
def test_classes_keep_their_shares(form):
    for split in draw(form):
        for members in (split.train, split.test):
            expected = len(members) * np.array([60, 30, 15]) / 105
            assert (np.abs(class_counts(members) - expected) <= 1).all()


@pytest.mark.parametrize("form", ["bootstrap 20", "out-of-bag 20"])
def test_a_bootstrap_draws_as_many_of_each_class_as_there_are(form):
    for split in draw(form):
        assert class_counts(split.train).tolist() == [60, 30, 15]


def test_counts_are_those_of_scikit_learn():
    """Sizes and class counts fold by fold, in whatever order the folds come."""

    def layout(pairs):
        return sorted((len(train), *class_counts(test)) for train, test in pairs)

    rows = LABELS.reshape(-1, 1)
    for form, maker in (
        ("10-fold", StratifiedKFold(10, shuffle=True, random_state=0)),
        ("4x7-fold", RepeatedStratifiedKFold(n_splits=7, n_repeats=4, random_state=0)),
        ("leave-one-out", LeaveOneOut()),
    ):
        ours = [(split.train, split.test) for split in draw(form)]
        assert layout(ours) == layout(maker.split(rows, LABELS))
    numbers = [(split.train, split.test) for split in draw("8-fold", NUMBERS)]
    sizes = [len(test) for _, test in KFold(8).split(rows)]
    assert [len(test) for _, test in numbers] == sizes


def test_leaving_one_group_out():
    splits = draw("leave-one-out", groups=GROUPS)
    peer = LeaveOneGroupOut().split(LABELS, LABELS, GROUPS)
    for split, (train, test) in zip(splits, peer, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_halves_swap_roles():
    splits = draw("5x2")
    assert [(split.repeat, split.fold) for split in splits] == [
        (repeat, fold) for repeat in range(5) for fold in range(2)
    ]
    for first, second in zip(splits[::2], splits[1::2], strict=True):
        np.testing.assert_array_equal(first.train, second.test)
        np.testing.assert_array_equal(first.test, second.train)
    halves = {tuple(split.test) for split in splits}
    assert len(halves) == 10


def test_disjoint_parts_share_no_row():
    splits = draw("disjoint 5")
    everything = np.concatenate([[*split.train, *split.test] for split in splits])
    assert sorted(everything) == list(range(105))
    assert all(abs(len(split.train) - len(split.test)) <= 1 for split in splits)


def distinct_share(split):
    """Return the share of distinct rows among the training rows."""
    return len(np.unique(split.train)) / len(split.train)


def test_a_bootstrap_sample_holds_63_percent_of_the_rows():
    """The share that is not drawn is (1 - 1/N)^N, with N = 10 already 0.3487."""
    splits = resampling("bootstrap 50").draw(np.arange(2000.0), task="regression")
    assert np.mean([distinct_share(split) for split in splits]) == pytest.approx(0.632, abs=0.003)
    small = resampling("bootstrap 4000").draw(np.arange(10.0), task="regression")
    assert np.mean([distinct_share(split) for split in small]) == pytest.approx(0.6513, abs=0.006)
    for split in splits:
        assert len(split.train) == 2000
        np.testing.assert_array_equal(split.test, np.arange(2000))


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
def test_out_of_bag_is_the_complement(groups):
    for split in draw("out-of-bag 30", groups=groups):
        assert len(split.test) > 0
        assert sorted(set(split.train) | set(split.test)) == list(range(105))
        assert not set(split.train) & set(split.test)


def test_something_is_always_out_of_bag():
    """Of two classes with two rows each, a quarter of all draws takes every row."""
    labels = ["a", "a", "b", "b"]
    splits = resampling("out-of-bag 200").draw(labels, task="classification")
    assert min(len(split.test) for split in splits) == 1


def test_groups_of_one_class_are_drawn_class_by_class():
    labels = np.repeat(["a", "b"], [12, 4])
    groups = np.repeat(np.arange(8), 2)
    for split in resampling("bootstrap 20").draw(labels, groups, task="classification"):
        assert (labels[split.train] == "b").sum() == 4
