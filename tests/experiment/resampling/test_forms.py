"""How a resampling is written."""

import pytest

from verulam.base import DataError
from verulam.experiment._resampling.resampling import Resampling, resampling


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
        (10, "resampling: 10; expected"),
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
