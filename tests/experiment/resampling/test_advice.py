"""Which resampling suits how many rows."""

import pytest

from verulam.base import DataError
from verulam.experiment import compare
from verulam.experiment._resampling.advice import suggest_resampling


@pytest.mark.parametrize(
    ("n_rows", "options", "expected", "reason"),
    [
        (20, {"n_classes": 2}, "out-of-bag 100", "20 rows: too few"),
        (30, {"n_classes": 2}, "2-10x10-fold", "27 rows to learn from"),
        (500, {"smallest_class": 3}, "2-10x10-fold", "has 3 rows, so that some folds lack it"),
        (150, {"n_classes": 3}, "2-10x10-fold", "the custom"),
        (5_000, {}, "2-10x10-fold", "up to 10 times until the choice would survive other splits"),
        (50_000, {"n_classes": 2}, "2-10x5-fold", "few folds suffice"),
        (2_000_000, {"n_classes": 2}, "disjoint 10", "share no row"),
    ],
)
def test_more_rows_mean_fewer_folds(n_rows, options, expected, reason):
    advice = suggest_resampling(n_rows, **options)
    assert str(advice.resampling) == expected
    assert reason in advice.reason


def test_folds_never_grow_with_the_rows():
    folds = [suggest_resampling(n_rows).resampling.folds for n_rows in (60, 300, 10_000, 900_000)]
    assert folds == [10, 10, 5, 5]


@pytest.mark.parametrize("name", ["iris", "stackloss"])
def test_compare_takes_what_is_suggested(name):
    baseline = {"iris": "majority class", "stackloss": "mean predictor"}[name]
    results = compare(name, [baseline], progress=False).analysis.results
    rows = {"iris": 150, "stackloss": 21}[name]
    assert results.description["resampling"] == str(suggest_resampling(rows).resampling)


def test_the_suggestion_can_be_drawn():
    labels = ["a"] * 40 + ["b"] * 12
    advice = suggest_resampling(52, n_classes=2, smallest_class=12)
    splits = advice.resampling.draw(labels, task="classification")
    assert len(splits) == 10 * 10
    assert {split.repeat for split in splits} == set(range(10))


def test_a_class_of_one():
    with pytest.raises(DataError, match="1 of them in the smallest class"):
        suggest_resampling(40, smallest_class=1)
