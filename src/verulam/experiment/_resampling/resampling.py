"""Resampling: how training and test rows are drawn, from a word such as "10-fold"."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from verulam.base import DataError, DataWarning, Seed, spawn_seeds, unknown_name
from verulam.experiment._identity import digest_bytes
from verulam.experiment._resampling.forms import accepted_forms, parsed
from verulam.experiment._resampling.kinds import KINDS, Kind, SplitNumbers
from verulam.experiment._resampling.rows import (
    Rows,
    Split,
    check_share,
    least_units,
    most_folds,
    read_rows,
    take_share,
)
from verulam.measures import Measure

#: Measures that are defined where one of two classes is absent from the tested rows.
_WITHOUT_A_CLASS = frozenset(
    ["error", "accuracy", "balanced_accuracy", "risk", "kappa", "log_loss", "brier"]
)


@dataclass(frozen=True)
class Resampling:
    """One way to draw training and test rows; make it with :func:`resampling`.

    Attributes
    ----------
    kind
        "k-fold", "5x2", "leave-one-out", "holdout", "bootstrap", "out-of-bag" or "disjoint".
    folds
        Parts: of k-fold, each is tested once; of disjoint, each is halved.
    repeats
        How often the rows are shuffled anew, or drawn with replacement.
    max_repeats
        How often at the most, where repeats are added until the choice is settled; None adds
        none. Of k-fold alone.
    share
        The part of the rows that a holdout tests.
    groups
        Column whose equal values stay on one side of every split, such as the patient that
        several rows are about; None where each row stands for itself.

    Notes
    -----
    Alpaydin 19.6. Classes are kept in their shares by all kinds but leave-one-out; groups are
    kept together by all kinds.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> iris = dataset("iris")
    >>> five_by_two = resampling("5x2")
    >>> five_by_two.title
    '2-fold cross-validation, repeated 5 times'
    >>> splits = five_by_two.draw(iris.target_values, task="classification", seed=1)
    >>> len(splits), len(splits[0].train), (splits[0].train == splits[1].test).all()
    (10, 75, np.True_)
    """

    kind: str
    folds: int = 10
    repeats: int = 1
    share: float = 1 / 3
    groups: str | None = None
    max_repeats: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown_name("kind of resampling", self.kind, KINDS)
        if self.kind == "5x2":
            object.__setattr__(self, "folds", 2)
        check_share(self.share)
        for name, least in (("folds", 2), ("repeats", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name}={value!r}; expected a whole number of at least {least}.")
        self._check_max_repeats()

    def _check_max_repeats(self) -> None:
        most = self.max_repeats
        if most is None:
            return
        whole = isinstance(most, int) and not isinstance(most, bool)
        if self.kind != "k-fold" or self.repeats < 2 or not whole or most < self.repeats:
            raise ValueError(
                f"max_repeats={most!r}; expected a whole number of at least the {self.repeats} "
                "repeats to begin with, which must be 2 or more, of k-fold."
            )

    @property
    def title(self) -> str:
        """What it is, in words."""
        words = {
            "k-fold": f"{self.folds}-fold cross-validation",
            "5x2": "2-fold cross-validation",
            "leave-one-out": "leave-one-out cross-validation",
            "holdout": f"holdout of {self.share:.3g} of the rows",
            "bootstrap": f"{self.repeats} bootstrap samples, tested on all rows",
            "out-of-bag": f"{self.repeats} bootstrap samples, tested on the rows not drawn",
            "disjoint": f"{self.folds} disjoint parts, each halved for training and testing",
        }[self.kind]
        drawn_once = self.repeats == 1 or self.kind in ("bootstrap", "out-of-bag")
        if self.max_repeats is not None:
            words = f"{words}, repeated {self.repeats} to {self.max_repeats} times"
        elif not drawn_once:
            words = f"{words}, repeated {self.repeats} times"
        return f"{words}, with equal {self.groups} kept together" if self.groups else words

    @property
    def caveats(self) -> tuple[str, ...]:
        """What to keep in mind when scores are read."""
        if self.kind == "holdout" and self.repeats > 1:
            return (KINDS["k-fold"].caveat,)
        if self.kind == "5x2" and self.repeats != 5:
            few = "too few scores to test with" if self.repeats < 5 else "more dependence, no news"
            return (self._kind.caveat, f"{self.repeats} halvings instead of 5 give {few}.")
        return (self._kind.caveat,)

    @property
    def _kind(self) -> Kind:
        return KINDS[self.kind]

    def __str__(self) -> str:
        """Return a form that `resampling` reads."""
        return f"{self._word} by {self.groups}" if self.groups else self._word

    @property
    def _word(self) -> str:
        match self.kind:
            case "k-fold":
                times = f"{self.repeats}x" if self.repeats > 1 else ""
                if self.max_repeats is not None:
                    times = f"{self.repeats}-{self.max_repeats}x"
                return f"{times}{self.folds}-fold"
            case "5x2":
                return f"{self.repeats}x2"
            case "holdout" if self.repeats == 1:
                return f"holdout {self.share!r}"
            case "holdout":
                return f"{self.repeats}x holdout {self.share!r}"
            case "disjoint":
                return f"disjoint {self.folds}"
            case "leave-one-out":
                return self.kind
            case _:
                return f"{self.kind} {self.repeats}"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the numbers that it uses, as `resampling` reads them."""
        numbers = {
            key: value for key in self._kind.defaults if (value := getattr(self, key)) is not None
        }
        return {"kind": self.kind} | numbers | ({"groups": self.groups} if self.groups else {})

    def n_splits(self, n_rows: int) -> int:
        """Return how many splits are drawn from so many rows (or groups, where there are any)."""
        if self.kind == "leave-one-out":
            return n_rows
        return self.most_repeats * (self.folds if self._kind.parts_per_fold else 1)

    @property
    def most_repeats(self) -> int:
        """How often the rows are split anew at the most."""
        return self.max_repeats or self.repeats

    def usable(
        self, targets: Any, *, task: str, groups: Any = None, every_class: bool = False
    ) -> "UsableResampling":
        """Return the resampling that the rows allow, and what to know about rare classes.

        Parameters
        ----------
        targets
            The column to predict.
        task
            "classification" or "regression".
        groups
            The group of each row.
        every_class
            Whether both of two classes must be in each fold, as measures such as the area under
            the curve need it: then there are no more folds than rows of the rarer one.
        """
        return self._usable(read_rows(targets, task, groups), every_class=every_class)

    def draw(
        self, targets: Any, groups: Any = None, seed: Seed = 0, *, task: str
    ) -> tuple[Split, ...]:
        """Return the splits, fold by fold within repeat by repeat.

        Parameters
        ----------
        targets
            The column to predict.
        groups
            The group of each row; no group is on both sides of a split.
        seed
            The same seed gives the same splits.
        task
            "classification" or "regression".
        """
        rows = read_rows(targets, task, groups)
        allowed = self._usable(rows)
        if allowed.notice:
            warnings.warn(allowed.notice, DataWarning, stacklevel=2)
        return allowed.resampling._drawn(rows, seed)

    def _drawn(self, rows: Rows, seed: Seed) -> tuple[Split, ...]:
        numbers = SplitNumbers(self.folds, self.repeats, self.share)
        return tuple(
            Split(repeat, fold, pair.train, pair.test)
            for repeat, repeat_seed in enumerate(spawn_seeds(seed, self.most_repeats))
            for fold, pair in enumerate(self._kind.draw(rows, numbers, repeat_seed))
        )

    def _usable(self, rows: Rows, *, every_class: bool = False) -> "UsableResampling":
        least = least_units(rows)
        needed = self._kind.parts_per_fold
        if needed == 0 or self.folds * needed <= least.parts:
            return UsableResampling(self)
        both = every_class and len(rows.classes) == 2
        if self.kind == "k-fold" and rows.classes and rows.groups is None and not both:
            largest = most_folds(rows)
            if self.folds <= largest.parts:
                return UsableResampling(self, f"Not every fold tests every class: {least.reason}.")
            least = largest
        folds = least.parts // needed
        if folds < 2:
            raise DataError(
                f"{self} needs at least {2 * needed} parts, but {least.reason}; "
                "join classes, or take k-fold."
            )
        notice = f"{folds} folds instead of {self.folds}: {least.reason}."
        return UsableResampling(replace(self, folds=folds), notice)


@dataclass(frozen=True)
class UsableResampling:
    """What some rows allow.

    Attributes
    ----------
    resampling
        As asked for, or with fewer folds.
    notice
        Why there are fewer folds, or which class is too rare to be in each; empty where all is
        as asked for.
    """

    resampling: Resampling
    notice: str = ""

    def draw(
        self, targets: Any, groups: Any = None, seed: Seed = 0, *, task: str
    ) -> tuple[Split, ...]:
        """Return the splits as `Resampling.draw` does, without a warning of what is known."""
        return self.resampling._drawn(read_rows(targets, task, groups), seed)


class LockedPart(NamedTuple):
    """Row numbers to develop with, and row numbers to leave alone until the end.

    Examples
    --------
    >>> len(lock_test_part([1.5, 2.5, 3.5] * 4, task="regression").test)
    4
    """

    development: np.ndarray
    test: np.ndarray


def resampling(given: str | Mapping[str, Any] | Resampling) -> Resampling:
    """Return the resampling that a word or a table of a study file stands for.

    Parameters
    ----------
    given
        Such as "10-fold", "10x10-fold", "2-10x10-fold" (2 repeats, and up to 10 until the choice
        is settled), "5x2", "leave-one-out", "holdout 0.25",
        "bootstrap 200", "out-of-bag", "disjoint 30", each perhaps followed by "by" and a column
        of groups, or a mapping with `kind`, numbers and `groups`.

    Examples
    --------
    >>> resampling("10x10-fold")
    Resampling(kind='k-fold', folds=10, repeats=10, share=0.33..., groups=None, max_repeats=None)
    >>> resampling({"kind": "holdout", "share": 0.25}).title
    'holdout of 0.25 of the rows'
    >>> resampling("5-fold by patient").title
    '5-fold cross-validation, with equal patient kept together'
    """
    if isinstance(given, Resampling):
        return given
    if not isinstance(given, str | Mapping):
        raise DataError(f"resampling: {given!r}; {accepted_forms()}")
    numbers = parsed(given)
    try:
        return Resampling(**numbers)
    except ValueError as error:
        raise DataError(f"resampling.{error}") from error


def lock_test_part(
    targets: Any, *, task: str, share: float = 1 / 3, seed: Seed = 0, groups: Any = None
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
    rows = read_rows(targets, task, groups)
    check_share(share)
    least_units(rows)
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
    >>> splits = resampling("5-fold").draw([0.5, 1.5, 2.5, 3.5] * 5, task="regression")
    >>> fingerprint(splits) == fingerprint(splits[:4])
    False
    """
    content = []
    for split in splits:
        layout = [split.repeat, split.fold, len(split.train), len(split.test)]
        content += [np.asarray(part, dtype="<i8") for part in (layout, split.train, split.test)]
    return digest_bytes(b"".join(part.tobytes() for part in content))


def distinct_share(split: Split) -> float:
    """Return the share of distinct rows among the training rows, near 0.632 in a bootstrap.

    Parameters
    ----------
    split
        One split.

    Examples
    --------
    >>> split = resampling("out-of-bag 1").draw(range(10_000), task="regression")[0]
    >>> round(distinct_share(split), 2)
    0.63
    """
    return len(np.unique(split.train)) / len(split.train)


def needs_every_class(measures: Iterable[Measure]) -> bool:
    """Return whether any of the measures has no value where one of two classes is absent.

    Examples
    --------
    >>> from verulam.measures import measure
    >>> needs_every_class([measure("error")]), needs_every_class([measure("auc")])
    (False, True)
    """
    return any(
        measure.task == "classification" and measure.name not in _WITHOUT_A_CLASS
        for measure in measures
    )
