"""Shared splits."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.data import Dataset, dataset
from verulam.experiment._splits import draw_splits


def classes(**counts):
    labels = [label for label, count in counts.items() for _ in range(count)]
    frame = pd.DataFrame({"x": np.arange(float(len(labels))), "y": labels})
    return Dataset.from_frame(frame, target="y")


def numbers(n_rows):
    values = np.linspace(0.0, 1.0, n_rows)
    return Dataset.from_frame(pd.DataFrame({"x": values, "y": values + 0.5}), target="y")


def test_each_row_is_tested_once_per_repeat():
    splits = draw_splits(dataset("iris"), folds=10, repeats=3)
    assert len(splits) == 30
    for repeat in range(3):
        tested = np.concatenate([split.test for split in splits if split.repeat == repeat])
        assert sorted(tested) == list(range(150))
    for split in splits:
        assert not set(split.train) & set(split.test)
        assert len(split.train) + len(split.test) == 150


def test_classes_keep_their_shares():
    data = classes(a=20, b=10)
    labels = data.target_values.to_numpy()
    for split in draw_splits(data, folds=5):
        assert (labels[split.test] == "a").sum() == 4
        assert (labels[split.test] == "b").sum() == 2


def test_the_seed_decides():
    first, same, other = (
        np.concatenate([split.test for split in draw_splits(numbers(40), random_state=seed)])
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_small_class_means_fewer_folds():
    splits = draw_splits(classes(a=20, b=4), folds=10)
    assert splits.folds == 4
    assert splits.notice == "4 folds instead of 10: class 'b' has only 4 rows."


def test_few_rows_mean_fewer_folds():
    splits = draw_splits(numbers(7), folds=10)
    assert splits.folds == 3
    assert splits.notice == "3 folds instead of 10: the data set has only 7 rows."
    with pytest.raises(DataError, match="has 3 rows; at least 4"):
        draw_splits(numbers(3))


def test_a_class_of_one_cannot_be_split():
    with pytest.raises(DataError, match="Class 'b' of target 'y' has 1 row"):
        draw_splits(classes(a=20, b=1))


def test_one_class_is_not_enough():
    with pytest.raises(DataError, match="only the class 'a'"):
        draw_splits(classes(a=20))


@pytest.mark.parametrize(("folds", "repeats"), [(1, 1), (2.5, 1), (2, 0)])
def test_bad_counts(folds, repeats):
    with pytest.raises(ValueError, match="expected a whole number"):
        draw_splits(numbers(20), folds=folds, repeats=repeats)
