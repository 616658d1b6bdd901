"""Resampling as a record: drawing, limits, locking, fingerprints."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from verulam.base import DataError, DataWarning, UnknownNameError, spawn_seeds
from verulam.data import dataset
from verulam.experiment._resampling.kinds import KINDS
from verulam.experiment._resampling.resampling import Resampling, resampling
from verulam.experiment._resampling.rows import Split, fingerprint, lock_test_part

FORMS = [form for kind in KINDS.values() for form in kind.forms]
LABELS = ["a"] * 70 + ["b"] * 60


def draw(form, **options):
    return resampling(form).draw(LABELS, task="classification", **options)


@pytest.mark.parametrize("form", [*FORMS, "3x holdout 0.2", "7x2", "2x3-fold", "2-4x3-fold"])
def test_what_is_written_is_read_again(form):
    asked = resampling(form)
    assert resampling(str(asked)) == asked
    assert resampling(asked.to_dict()) == asked
    assert resampling(asked) is asked


@pytest.mark.parametrize("form", FORMS)
def test_number_of_splits(form):
    assert len(draw(form)) == resampling(form).n_splits(len(LABELS))


@pytest.mark.parametrize("form", FORMS)
def test_the_seed_decides(form):
    first, same = fingerprint(draw(form, seed=1)), fingerprint(draw(form, seed=1))
    assert first == same
    by_chance = resampling(form).kind not in ("leave-one-out", "expanding", "sliding", "seeds")
    assert (first != fingerprint(draw(form, seed=2))) == by_chance


def test_repeats_that_may_be_added_are_those_of_the_longer_resampling():
    """So that what was run of the one serves the other."""
    asked = resampling("2-4x3-fold")
    assert (asked.repeats, asked.most_repeats) == (2, 4)
    assert fingerprint(draw("2-4x3-fold", seed=1)) == fingerprint(draw("4x3-fold", seed=1))
    shorter = draw("2x3-fold", seed=1)
    assert fingerprint(draw("2-4x3-fold", seed=1)[: len(shorter)]) == fingerprint(shorter)


def test_folds_are_those_of_scikit_learn():
    """Each repeat is a stratified K-fold with a seed of its own."""
    iris = dataset("iris")
    ours = resampling("3x10-fold").draw(iris.target_values, task="classification", seed=4)
    theirs = [
        Split(repeat, fold, train, test)
        for repeat, seed in enumerate(spawn_seeds(4, 3))
        for fold, (train, test) in enumerate(
            StratifiedKFold(10, shuffle=True, random_state=seed).split(
                iris.inputs, iris.target_values
            )
        )
    ]
    assert fingerprint(ours) == fingerprint(theirs)


def test_rare_class_is_in_some_folds_only():
    labels = np.array(["a"] * 20 + ["b"] * 2)
    allowed = resampling("10-fold").usable(labels, task="classification")
    assert allowed.resampling == Resampling("k-fold", folds=10)
    assert allowed.notice == "Not every fold tests every class: class 'b' has only 2 rows."
    with pytest.warns(DataWarning, match="class 'b' has only 2 rows"):
        splits = resampling("10-fold").draw(labels, task="classification")
    assert len(splits) == 10
    assert sum("b" in labels[split.test] for split in splits) == 2
    assert all("b" in labels[split.train] for split in splits)
    assert not resampling("2-fold").usable(labels, task="classification").notice


def test_small_class_means_fewer_folds_where_each_must_have_it():
    labels = ["a"] * 20 + ["b"] * 4
    allowed = resampling("10-fold").usable(labels, task="classification", every_class=True)
    assert allowed.resampling == Resampling("k-fold", folds=4)
    assert allowed.notice == "4 folds instead of 10: class 'b' has only 4 rows."
    assert len(allowed.draw()) == 4


def test_no_more_folds_than_rows_of_the_largest_class():
    labels = ["a"] * 6 + ["b"] * 5
    allowed = resampling("10-fold").usable(labels, task="classification")
    assert allowed.notice == "6 folds instead of 10: no class has more than 6 rows."
    assert len(allowed.draw()) == 6


def test_all_classes_of_one_row_are_named_at_once():
    labels = ["a"] * 20 + ["b", "c"]
    with pytest.raises(DataError, match=r"Classes 'b', 'c' have 1 row each.*drop them"):
        resampling("10-fold").usable(labels, task="classification")


def test_groups_limit_the_folds():
    groups = [1] * 10 + [2] * 10 + [3] * 4
    allowed = resampling("10-fold").usable(range(24), task="regression", groups=groups)
    assert allowed.notice == "3 folds instead of 10: there are only 3 groups."


def test_halves_of_parts_need_two_of_each_class():
    labels = ["a"] * 50 + ["b"] * 5
    allowed = resampling("disjoint 10").usable(labels, task="classification")
    assert allowed.resampling.folds == 2
    with pytest.raises(DataError, match=r"at least 4 parts, but class 'b' has only 3 rows"):
        resampling("disjoint 10").usable(labels[:-2], task="classification")


@pytest.mark.parametrize("form", [form for form in FORMS if "seeds" not in form])
def test_a_class_of_one_cannot_be_split(form):
    with pytest.raises(DataError, match="Class 'b' has 1 row"):
        resampling(form).draw(["a"] * 9 + ["b"], task="classification")


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"folds": 1}, "folds=1; expected a whole number of at least 2"),
        ({"folds": 2.5}, "folds=2.5; expected a whole number"),
        ({"repeats": 0}, "repeats=0; expected a whole number of at least 1"),
        ({"share": 1.0}, "share=1.0; expected a number between 0 and 1"),
    ],
)
def test_bad_numbers(numbers, message):
    with pytest.raises(ValueError, match=message):
        Resampling("k-fold", **numbers)
    with pytest.raises(UnknownNameError, match="Nearest: k-fold"):
        Resampling("kfold", **numbers)


def test_titles_and_caveats():
    assert resampling("10x10-fold").title == "10-fold cross-validation, repeated 10 times"
    assert resampling("disjoint 30").title.startswith("30 disjoint parts")
    assert resampling("bootstrap 7").title.startswith("7 bootstrap samples, tested on all")
    assert "too good" in resampling("bootstrap").caveats[0]
    assert "does not permit stratification" in resampling("leave-one-out").caveats[0]
    assert len(resampling("5x2").caveats) == 1
    assert "too few" in resampling("3x2").caveats[1]
    assert "dependence" in resampling("10x2").caveats[1]
    assert "overlap" in resampling("3x holdout").caveats[0]
    assert "One split" in resampling("holdout").caveats[0]


def test_the_locked_part_is_a_third_of_each_class():
    labels = np.repeat(["a", "b"], [90, 30])
    development, test = lock_test_part(labels, task="classification", seed=3)
    assert sorted([*development, *test]) == list(range(120))
    assert (labels[test] == "a").sum() == 30
    assert (labels[test] == "b").sum() == 10
    again = lock_test_part(labels, task="classification", seed=3)
    np.testing.assert_array_equal(test, again.test)
    other = lock_test_part(labels, task="classification", seed=4)
    assert not np.array_equal(test, other.test)


def test_locking_keeps_groups_together():
    groups = np.repeat(np.arange(12), 5)
    locked = lock_test_part(np.arange(60.0), task="regression", groups=groups)
    assert not set(groups[locked.development]) & set(groups[locked.test])
    assert len(locked.test) == 20


def test_locking_refuses_bad_shares_and_classes():
    with pytest.raises(ValueError, match="share=0; expected"):
        lock_test_part(LABELS, task="classification", share=0)
    with pytest.raises(DataError, match="Class 'b' has 1 row"):
        lock_test_part(["a", "a", "b"], task="classification")


def test_fingerprints_differ_where_anything_differs():
    splits = draw("2x3-fold")
    one = splits[0]
    changed = [
        splits[1:],
        splits[::-1],
        (replace(one, repeat=1), *splits[1:]),
        (replace(one, fold=1), *splits[1:]),
        (replace(one, train=one.test, test=one.train), *splits[1:]),
        (replace(one, train=one.train[1:]), *splits[1:]),
        (replace(one, train=one.train[:-1], test=np.r_[one.train[-1], one.test]), *splits[1:]),
        (),
    ]
    prints = [fingerprint(splits), *(fingerprint(other) for other in changed)]
    assert len(set(prints)) == len(prints)
    narrow = [Split(s.repeat, s.fold, s.train.astype(">i4"), s.test.astype("i4")) for s in splits]
    assert fingerprint(narrow) == prints[0], "the numbers count, not how they are stored"


def test_fingerprints_repeat_across_processes():
    code = (
        "from verulam.experiment import fingerprint, resampling\n"
        "labels = ['a'] * 70 + ['b'] * 60\n"
        "for form in ('10-fold', 'holdout', 'bootstrap 5'):\n"
        "    print(fingerprint(resampling(form).draw(labels, task='classification', seed=8)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = [fingerprint(draw(form, seed=8)) for form in ("10-fold", "holdout", "bootstrap 5")]
    assert done.stdout.split() == expected


def test_fingerprints_stay_what_they_are():
    """Stored studies refer to splits by these; a new value breaks every one of them."""
    assert (
        fingerprint([Split(0, 0, np.array([0, 2]), np.array([1]))])
        == "571fdb1a6dcfe325e13611d66779bd92"
    )
    assert fingerprint(draw("10-fold")) == "8f703cdf8160636f6a7614f7ac09d1cb"
    assert fingerprint(draw("out-of-bag 5")) == "2745731bf5b94c79c393c02d8598314b"


def test_half_to_learn_a_quarter_to_validate_a_quarter_to_test():
    """The three parts of 50, 25 and 25 per cent share no row, miss none, and keep the classes."""
    labels = np.array(["a"] * 80 + ["b"] * 40)
    seen = set()
    for seed in range(4):  # divided anew each time
        development, test = lock_test_part(labels, share=0.25, seed=seed, task="classification")
        inner = resampling("holdout 0.3333333333333333").draw(
            labels[development], seed=seed, task="classification"
        )[0]
        parts = [development[inner.train], development[inner.test], test]
        assert [len(part) for part in parts] == [60, 30, 30]
        assert sorted(np.concatenate(parts).tolist()) == list(range(120))
        assert [int((labels[part] == "a").sum()) for part in parts] == [40, 20, 20]
        seen.add(tuple(test))
    assert len(seen) == 4


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("10-fold", Resampling("k-fold", folds=10)),
        ("k-fold", Resampling("k-fold", folds=10)),
        ("30-Fold", Resampling("k-fold", folds=30)),
        ("10x10-fold", Resampling("k-fold", folds=10, repeats=10)),
        ("10×10-fold", Resampling("k-fold", folds=10, repeats=10)),
        ("repeated k-fold", Resampling("k-fold", folds=10, repeats=10)),
        ("2-10x10-fold", Resampling("k-fold", folds=10, repeats=2, max_repeats=10)),
        (
            {"kind": "k-fold", "folds": 5, "repeats": 3, "max_repeats": 6},
            Resampling("k-fold", folds=5, repeats=3, max_repeats=6),
        ),
        ("5x2", Resampling("5x2", repeats=5)),
        ("holdout", Resampling("holdout")),
        ("holdout 0.25", Resampling("holdout", share=0.25)),
        ("4x holdout .5", Resampling("holdout", share=0.5, repeats=4)),
        (" leave-one-out ", Resampling("leave-one-out")),
        ("bootstrap", Resampling("bootstrap", repeats=100)),
        ("bootstrap 200", Resampling("bootstrap", repeats=200)),
        ("out-of-bag 50", Resampling("out-of-bag", repeats=50)),
        ("disjoint", Resampling("disjoint", folds=10)),
        ("disjoint 30", Resampling("disjoint", folds=30)),
        ({"kind": "k-fold", "folds": 5}, Resampling("k-fold", folds=5)),
        ({"kind": "repeated k-fold", "folds": 5}, Resampling("k-fold", folds=5, repeats=10)),
        ({"kind": "5x2"}, Resampling("5x2", repeats=5)),
        ({"kind": "holdout", "share": 0.2}, Resampling("holdout", share=0.2)),
    ],
)
def test_accepted_forms(given, expected):
    assert resampling(given) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("ten-fold", "resampling: 'ten-fold'; expected '10-fold'"),
        ("bootstrap many", "'leave-one-out'"),
        (1.5, "resampling: 1.5; expected"),
        ("1-fold", r"resampling.folds=1; expected a whole number of at least 2"),
        ("1-10x10-fold", r"resampling.max_repeats=10; expected .* which must be 2 or more"),
        ("5-3x10-fold", r"resampling.max_repeats=3; expected a whole number of at least the 5"),
        ({"kind": "5x2", "max_repeats": 7}, r"resampling.max_repeats: no number of 5x2"),
        ("holdout 2", r"resampling.share=2.0; expected a number between 0 and 1"),
        ({"folds": 10}, r"resampling.kind: missing; expected"),
        ({"kind": "kfold"}, r"resampling.kind: 'kfold'; expected one of .* Nearest: k-fold"),
        ({"kind": 7}, r"resampling.kind: 7; expected one of"),
        ({"kind": "k-fold", "fold": 3}, r"resampling.fold: no number of k-fold; it takes folds"),
        ({"kind": "bootstrap", "folds": 3}, r"resampling.folds: no number of .* takes repeats"),
        ({"kind": "leave-one-out", "folds": 3}, r"it takes no numbers"),
        ({"kind": "k-fold", "folds": "3"}, r"resampling.folds: expected a number, got '3'"),
        ({"kind": "k-fold", "folds": True}, r"resampling.folds: expected a number, got True"),
        ({"kind": "k-fold", "folds": 2.5}, r"resampling.folds=2.5; expected a whole number"),
    ],
)
def test_errors_name_the_key_and_what_is_accepted(given, message):
    with pytest.raises(DataError, match=message):
        resampling(given)


@pytest.mark.parametrize(
    "given",
    ["5-fold by Patient id", {"kind": "k-fold", "folds": 5, "groups": "Patient id"}],
)
def test_a_column_of_groups(given):
    read = resampling(given)
    assert (read.folds, read.groups) == (5, "Patient id")
    assert str(read) == "5-fold by Patient id"
    assert resampling(str(read)) == resampling(read.to_dict()) == read


def test_groups_are_a_column():
    with pytest.raises(
        DataError, match=r"resampling\.groups: expected the name of a column, got 3"
    ):
        resampling({"kind": "k-fold", "groups": 3})


@pytest.mark.parametrize("form", ["10 fold", "10-folds", "10fold", "10", 10])
def test_ways_to_write_folds(form):
    assert resampling(form) == resampling("10-fold")


def test_periods_are_tested_after_what_came_before_them():
    times = np.random.default_rng(0).permutation(np.repeat(np.arange(30), 2))
    targets = times.astype(float)
    for form, first in (("expanding 4 by day", 0), ("sliding 4 by day", None)):
        splits = resampling(form).draw(targets, task="regression", times=times)
        assert len(splits) == 4
        assert sorted(np.concatenate([split.test for split in splits])) == sorted(
            np.flatnonzero(times >= times[splits[0].test].min())
        )
        for split in splits:
            assert times[split.train].max() < times[split.test].min()
            # Nothing between what is learnt and what is tested is left out.
            assert times[split.train].max() + 1 == times[split.test].min()
            if first is not None:
                assert times[split.train].min() == first
            assert 10 <= len(split.test) <= 14
    assert len({len(split.train) for split in splits}) == 1


def test_a_gap_keeps_the_latest_rows_out():
    times = np.arange(60)
    splits = resampling("sliding 5 gap 3 by day").draw(times * 1.0, task="regression", times=times)
    assert [times[split.test].min() - times[split.train].max() for split in splits] == [4] * 5
    with pytest.raises(DataError, match="gap: 20 rows leave nothing of the 10"):
        resampling("sliding 5 gap 20").draw(times * 1.0, task="regression", times=times)


def test_equal_times_are_in_one_period():
    times = np.repeat([0, 1, 2, 3, 4, 5], [10, 11, 9, 10, 12, 8])
    splits = resampling("expanding 5").draw(times * 1.0, task="regression", times=times)
    for split in splits:
        assert not set(times[split.train]) & set(times[split.test])
    with pytest.raises(DataError, match="2 different times, too few or too uneven for 6 periods"):
        resampling("expanding 5").draw(times * 1.0, task="regression", times=np.repeat([0, 1], 30))


def test_time_and_groups_do_not_mix():
    with pytest.raises(DataError, match="groups='p'; expanding goes by time"):
        resampling({"kind": "expanding", "groups": "p"})
    with pytest.raises(DataError, match="order: no number of k-fold"):
        resampling({"kind": "k-fold", "order": "day"})
    form = resampling({"kind": "sliding", "folds": 3, "gap": 2, "order": "day"})
    assert str(form) == "sliding 3 gap 2 by day"
    assert resampling(str(form)) == form == resampling(form.to_dict())
    assert form.title == "3 periods, each tested after the one before it, by day, 2 rows between"
