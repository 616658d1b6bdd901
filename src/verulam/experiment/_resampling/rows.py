"""Rows of a data set, stratified and grouped: dealt into parts, split, locked away."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

from verulam.base import DataError, Seed, generator
from verulam.experiment._identity import digest_bytes

#: Of more classes than this, an error says how many more there are.
MOST_NAMED = 10


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers to learn from and row numbers to test on."""

    repeat: int
    fold: int
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class Rows:
    """What drawing needs to know of each row.

    Attributes
    ----------
    strata
        Code of the row's class; all zero where the target is a number.
    classes
        The label behind each code; empty where the target is a number.
    groups
        Code of the row's group; None where each row stands for itself.
    times
        Rank of the row in time, equal for equal times; None where the order does not matter.
    """

    strata: np.ndarray
    classes: tuple[str, ...]
    groups: np.ndarray | None = None
    times: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.strata)

    @property
    def units(self) -> np.ndarray:
        """The number of the unit that moves as a whole: the row, or its group."""
        return np.arange(self.n_rows) if self.groups is None else self.groups

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.units.max()) + 1

    @property
    def group_classes(self) -> np.ndarray:
        """How many rows of each class (columns) there are in each group (rows)."""
        table = np.zeros((self.n_units, max(1, len(self.classes))), dtype=np.int64)
        np.add.at(table, (self.units, self.strata), 1)
        return table

    @property
    def units_per_class(self) -> np.ndarray:
        """How many units have each class."""
        if self.groups is None:
            return np.bincount(self.strata)
        return (self.group_classes > 0).sum(axis=0)


class LockedPart(NamedTuple):
    """Row numbers to develop with, and row numbers to leave alone until the end.

    Examples
    --------
    >>> len(lock_test_part([1.5, 2.5, 3.5] * 4, task="regression").test)
    4
    """

    development: np.ndarray
    test: np.ndarray


def read_rows(targets: Any, task: str, groups: Any = None, times: Any = None) -> Rows:
    """Return the classes, groups and times of the rows, or say what is wrong with them."""
    if task not in ("classification", "regression"):
        raise ValueError(f"task={task!r}; expected 'classification' or 'regression'.")
    column = pd.Series(targets).reset_index(drop=True)
    if task == "classification":
        codes, labels = _codes(column, "targets")
        classes = tuple(str(label) for label in labels)
    else:
        codes, classes = np.zeros(len(column), dtype=np.int64), ()
    if times is not None:
        ranks, _ = _codes(pd.Series(times).reset_index(drop=True), "times")
        if len(ranks) != len(codes):
            raise DataError(f"times has {len(ranks)} rows and targets has {len(codes)}.")
        return Rows(codes, classes, times=ranks)
    if groups is None:
        return Rows(codes, classes)
    group_codes, _ = _codes(pd.Series(groups).reset_index(drop=True), "groups")
    if len(group_codes) != len(codes):
        raise DataError(f"groups has {len(group_codes)} rows and targets has {len(codes)}.")
    return Rows(codes, classes, group_codes)


def lock_test_part(
    targets: Any,
    *,
    task: str,
    share: float = 1 / 3,
    seed: Seed = 0,
    groups: Any = None,
    times: Any = None,
) -> LockedPart:
    """Return the rows to develop with and the rows that stay locked away until the end.

    Parameters
    ----------
    targets
        The column to predict.
    task
        "classification" keeps the classes in their shares; "regression" has none to keep.
    share
        The part of the rows to lock away.
    seed
        The same seed locks the same rows.
    groups
        The group of each row; a group is locked as a whole or not at all.
    times
        When each row was; the latest are locked.

    Notes
    -----
    Alpaydin 19.1: a third is set aside before anything is tried, the rest is resampled.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> iris = dataset("iris")
    >>> development, test = lock_test_part(iris.target_values, task="classification")
    >>> len(development), iris.target_values[test].value_counts().tolist()
    (100, [17, 17, 16])
    """
    rows = read_rows(targets, task, groups, times)
    check_share(share)
    least_units(rows)
    if rows.times is not None:
        counts = np.bincount(rows.times)
        locked = ((np.cumsum(counts) - counts / 2) > (1 - share) * rows.n_rows)[rows.times]
    else:
        locked = take_share(rows, share, seed)
    return LockedPart(np.flatnonzero(~locked), np.flatnonzero(locked))


def fingerprint(splits: Iterable[Split]) -> str:
    """Return a hash of all row numbers and of where they stand, the same in every process.

    Learners are paired where the fingerprints of their splits are equal (Alpaydin 19.4).

    Parameters
    ----------
    splits
        In the order in which they were drawn.

    Examples
    --------
    >>> from verulam.experiment import resampling
    >>> splits = resampling("5-fold").draw([0.5, 1.5, 2.5, 3.5] * 5, task="regression")
    >>> fingerprint(splits) == fingerprint(splits[:4])
    False
    """
    content = []
    for split in splits:
        layout = [split.repeat, split.fold, len(split.train), len(split.test)]
        # Of one byte order and width, so that all machines agree on the hash.
        content += [np.asarray(part, dtype="<i8") for part in (layout, split.train, split.test)]
    return digest_bytes(b"".join(part.tobytes() for part in content))


def check_share(share: float) -> None:
    """Raise unless `share` lies between 0 and 1."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise ValueError(f"share={share!r}; expected a number between 0 and 1.")


@dataclass(frozen=True)
class Least:
    """What is scarcest: the smallest class, or all of the rows.

    Attributes
    ----------
    parts
        The number of parts that can be made, each with something of every class.
    reason
        Who has how many, for a message.
    """

    parts: int
    reason: str


def least_units(rows: Rows) -> Least:
    """Return how many parts the rows allow; raise where not even two can be made."""
    noun = "rows" if rows.groups is None else "groups"
    if not rows.classes:
        # A part of one row has no variance of its target, which measures such as r2 divide by.
        units = rows.n_rows // 2 if rows.groups is None else rows.n_units
        have = rows.n_rows if rows.groups is None else units
        if units < 2:
            least = 4 if rows.groups is None else 2
            raise DataError(f"There are {have} {noun}; at least {least} are needed.")
        return Least(units, f"there are only {have} {noun}")
    if len(rows.classes) < 2:
        raise DataError(
            f"targets has only the class {rows.classes[0]!r}; at least two classes are needed."
        )
    counts = rows.units_per_class
    # With a single unit a class is either never learnt or never tested.
    if counts.min() < 2:
        raise DataError(_single(rows, counts))
    smallest = int(counts.argmin())
    label, count = rows.classes[smallest], int(counts[smallest])
    verb = "has only" if rows.groups is None else "is in only"
    return Least(count, f"class {label!r} {verb} {count} {noun}")


def _single(rows: Rows, counts: np.ndarray) -> str:
    """Return which classes are too rare, all at once, and what can be done about it."""
    names = [repr(rows.classes[place]) for place in np.flatnonzero(counts < 2)]
    one = len(names) == 1
    shown = ", ".join(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        shown = f"{shown} and {len(names) - MOST_NAMED} others"
    if rows.groups is None:
        have = f"{'has' if one else 'have'} 1 row{'' if one else ' each'}"
    else:
        have = f"{'is' if one else 'are'} in 1 group{'' if one else ' each'}"
    it = "it" if one else "them"
    return (
        f"{'Class' if one else 'Classes'} {shown} {have}, too few for training and testing; "
        f"drop {it} or join {it} to another class."
    )


def most_folds(rows: Rows) -> Least:
    """Return how many parts the largest class allows, where rarer ones may be in some only."""
    count = int(rows.units_per_class.max())
    return Least(count, f"no class has more than {count} rows")


def deal_parts(rows: Rows, parts: int, seed: int) -> np.ndarray:
    """Return the part, from 0, of each row: of equal size, with every class while it lasts."""
    if rows.groups is not None:
        return deal_groups(rows, np.full(parts, 1 / parts), seed)
    maker = StratifiedKFold if rows.classes else KFold
    dealt = np.empty(rows.n_rows, dtype=np.int64)
    folds = maker(parts, shuffle=True, random_state=seed).split(rows.strata, rows.strata)
    with warnings.catch_warnings():
        # Of a class with fewer rows than parts, which a notice of the resampling tells.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        for part, (_, members) in enumerate(folds):
            dealt[members] = part
    return dealt


def deal_periods(rows: Rows, periods: int) -> np.ndarray:
    """Return the period, from 0, of each row: of nearly equal size, equal times in one of them."""
    times = np.arange(rows.n_rows) if rows.times is None else rows.times
    counts = np.bincount(times)
    # The middle of a time's rows decides, so that periods are as even as its size allows.
    middles = np.cumsum(counts) - counts / 2
    dealt = np.minimum((middles * periods / rows.n_rows).astype(np.int64), periods - 1)[times]
    if len(np.unique(dealt)) < periods:
        raise DataError(
            f"The rows have {len(counts)} different times, too few or too uneven for {periods} "
            "periods; take fewer folds."
        )
    return dealt


def take_share(rows: Rows, share: float, seed: Seed) -> np.ndarray:
    """Return whether each row is in the share, which has a row of each class, as has the rest."""
    if rows.groups is not None:
        taken = deal_groups(rows, np.array([1 - share, share]), seed) == 1
        if not taken.any() or taken.all():
            raise DataError(
                f"share={share:.3g} is less than half of one group on either side; "
                f"with {rows.n_units} groups a share nearer to 1/2 is needed."
            )
        return taken
    counts = np.bincount(rows.strata)
    # Counted for each class first, then drawn: chance decides which rows, never how many.
    taken_counts = _rounded_shares(counts, share)
    order = _shuffled_by(rows.strata, generator(seed))
    place = np.arange(rows.n_rows) - np.repeat(np.cumsum(counts) - counts, counts)
    taken = np.zeros(rows.n_rows, dtype=bool)
    taken[order[place < np.repeat(taken_counts, counts)]] = True
    return taken


def deal_groups(rows: Rows, shares: np.ndarray, seed: Seed) -> np.ndarray:
    """Return the part of each row, whole groups at a time, each part near its share of each class.

    Large groups are dealt first; each goes where its classes are most wanted.
    """
    random = generator(seed)
    table = rows.group_classes
    totals = table.sum(axis=0)
    sizes = table.sum(axis=1)
    # Sizes in powers of two: groups of like size are shuffled, so that repeats differ.
    order = random.permutation(len(table))
    order = order[np.argsort(-np.floor(np.log2(sizes[order])), kind="stable")]
    # Equal parts are named at random; of unequal ones, such as a locked share, each has its role.
    labels = random.permutation(len(shares)) if np.ptp(shares) == 0 else np.arange(len(shares))
    dealt = np.empty(len(table), dtype=np.int64)
    filled = np.zeros((len(shares), len(totals)))
    for group in order:
        # Rounded, or the last bit of a sum would decide between equals.
        surplus = np.round((filled / totals - shares[:, None]) @ table[group], 9)
        # The least surplus of the group's own classes; between equals the part that is emptiest.
        part = np.lexsort((filled.sum(axis=1) / shares, surplus))[0]
        filled[part] += table[group]
        dealt[group] = labels[part]
    return dealt[rows.units]


def _codes(column: pd.Series, name: str) -> tuple[np.ndarray, Any]:
    if column.isna().any():
        row = int(np.argmax(column.isna()))
        raise DataError(f"{name}: the value of row {row} is missing.")
    codes, labels = pd.factorize(column, sort=True)
    return codes.astype(np.int64), labels


def _rounded_shares(counts: np.ndarray, share: float) -> np.ndarray:
    """Return whole numbers near `share` of each count, whose sum is near `share` of the sum."""
    exact = share * counts
    whole = np.floor(exact).astype(np.int64)
    missing = round(float(exact.sum())) - int(whole.sum())
    # Stable, so that equal remainders are served in the order of the classes.
    whole[np.argsort(whole - exact, kind="stable")[: max(0, missing)]] += 1
    # Both sides get at least one row of each class, whatever the share.
    return np.clip(whole, 1, counts - 1)


def _shuffled_by(strata: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the row numbers class by class, shuffled within each class."""
    order = random.permutation(len(strata))
    return order[np.argsort(strata[order], kind="stable")]
