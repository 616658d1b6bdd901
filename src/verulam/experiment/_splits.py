"""Splits are drawn once and shared by every learner, so that scores pair up fold by fold."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from verulam.base import DataError, Seed, spawn_seeds
from verulam.data import Dataset


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers to learn from and row numbers to test on."""

    repeat: int
    fold: int
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class Splits:
    """All splits of one comparison.

    Attributes
    ----------
    folds, repeats
        How many of each there are; folds may be fewer than asked for.
    items
        The splits, fold by fold within repeat by repeat.
    notice
        Why there are fewer folds than asked for; empty where there are not.
    """

    folds: int
    repeats: int
    items: tuple[Split, ...]
    notice: str = ""

    def __iter__(self) -> Iterator[Split]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def draw_splits(
    data: Dataset, *, folds: int = 10, repeats: int = 1, random_state: Seed = 0
) -> Splits:
    """Return shuffled folds, stratified where the target is a class.

    Parameters
    ----------
    data
        A data set with a target.
    folds
        Parts per repeat; fewer are made where the smallest class has fewer rows.
    repeats
        How often the rows are shuffled and cut anew.
    random_state
        Seed of the shuffles.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> splits = draw_splits(dataset("iris"), folds=5)
    >>> len(splits), len(splits.items[0].train), len(splits.items[0].test)
    (5, 120, 30)
    """
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}={value!r}; expected a whole number of at least {least}.")
    classes = data.task == "classification"
    usable, notice = _usable_folds(data, folds)
    targets = data.target_values.to_numpy()
    maker = StratifiedKFold if classes else KFold
    items = [
        Split(repeat, fold, train, test)
        for repeat, seed in enumerate(spawn_seeds(random_state, repeats))
        for fold, (train, test) in enumerate(
            maker(usable, shuffle=True, random_state=seed).split(targets, targets)
        )
    ]
    return Splits(usable, repeats, tuple(items), notice)


def _usable_folds(data: Dataset, folds: int) -> tuple[int, str]:
    if data.task != "classification":
        if data.n_rows < 4:
            raise DataError(
                f"Data set {data.name!r} has {data.n_rows} rows; at least 4 are needed."
            )
        usable, owner = data.n_rows // 2, "the data set"
    else:
        counts = data.target_values.value_counts()
        counts = counts[counts > 0]
        if len(counts) < 2:
            raise DataError(
                f"Target {data.target!r} has only the class {str(counts.index[0])!r}; "
                "at least two classes are needed."
            )
        usable, owner = int(counts.min()), f"class {str(counts.idxmin())!r}"
        if usable < 2:
            raise DataError(
                f"Class {str(counts.idxmin())!r} of target {data.target!r} has 1 row, too few for "
                "training and testing; drop it or join it to another class."
            )
    if usable >= folds:
        return folds, ""
    rows = usable if data.task == "classification" else data.n_rows
    return usable, f"{usable} folds instead of {folds}: {owner} has only {rows} rows."
