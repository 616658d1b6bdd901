"""Which resampling suits how many rows."""

import pytest

from verulam.base import DataError
from verulam.experiment._resampling_advice import suggest_resampling


@pytest.mark.parametrize(
    ("n_rows", "options", "expected", "reason"),
    [
        (20, {"n_classes": 2}, "out-of-bag 100", "20 rows: too few"),
        (500, {"smallest_class": 3}, "out-of-bag 100", "a class of 3 rows"),
        (150, {"n_classes": 3}, "30-fold", "150 rows: many folds"),
        (150, {"smallest_class": 12}, "12-fold", "12 instead of 30"),
        (200, {}, "30-fold", "193 rows to learn from"),
        (1_000, {"n_classes": 2}, "10-fold", "the custom"),
        (50_000, {"n_classes": 2}, "5-fold", "few folds suffice"),
        (2_000_000, {"n_classes": 2}, "disjoint 10", "share no row"),
    ],
)
def test_more_rows_mean_fewer_folds(n_rows, options, expected, reason):
    advice = suggest_resampling(n_rows, **options)
    assert str(advice.resampling) == expected
    assert reason in advice.reason


def test_folds_never_grow_with_the_rows():
    folds = [suggest_resampling(n_rows).resampling.folds for n_rows in (60, 300, 10_000, 900_000)]
    assert folds == [30, 10, 5, 5]


def test_the_suggestion_can_be_drawn():
    labels = ["a"] * 40 + ["b"] * 12
    advice = suggest_resampling(52, n_classes=2, smallest_class=12)
    assert len(advice.resampling.draw(labels, task="classification")) == 12


def test_a_class_of_one():
    with pytest.raises(DataError, match="1 of them in the smallest class"):
        suggest_resampling(40, smallest_class=1)
