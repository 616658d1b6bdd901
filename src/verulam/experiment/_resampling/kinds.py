"""The ways to resample: each draws the training and test rows of one repeat."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from verulam.base import DataError, generator
from verulam.experiment._resampling.rows import Rows, deal_parts, deal_periods, take_share

OVERLAP = "The training sets overlap, so that the scores are not independent."


class Pair(NamedTuple):
    """Sorted row numbers to learn from and to test on."""

    train: np.ndarray
    test: np.ndarray


class SplitNumbers(NamedTuple):
    """The numbers of a resampling; a kind uses some of them."""

    folds: int
    repeats: int
    share: float
    gap: int = 0


@dataclass(frozen=True)
class Kind:
    """One way to resample.

    Attributes
    ----------
    draw
        From rows, numbers and a seed to the pairs of one repeat.
    defaults
        The numbers that may be chosen, and what they are otherwise.
    forms
        What it looks like as a string.
    parts_per_fold
        Parts that the rows are dealt into for each fold; 0 where folds do not matter.
    caveat
        What to keep in mind.
    """

    draw: Callable[[Rows, SplitNumbers, int], Iterator[Pair]]
    defaults: Mapping[str, int | float | None] = field(default_factory=dict)
    forms: tuple[str, ...] = ()
    parts_per_fold: int = 0
    caveat: str = OVERLAP


def draw_k_fold(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:
    """Yield one pair per part, which is tested after learning from all others."""
    dealt = deal_parts(rows, numbers.folds, seed)
    for part in range(numbers.folds):
        yield Pair(np.flatnonzero(dealt != part), np.flatnonzero(dealt == part))


def draw_holdout(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:
    """Yield one pair: a share of the rows is tested."""
    held = take_share(rows, numbers.share, seed)
    yield Pair(np.flatnonzero(~held), np.flatnonzero(held))


def draw_leave_one_out(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:  # noqa: ARG001 (chance has no part in it)
    """Yield one pair per row, or per group, which alone is tested."""
    # A group is left out as a whole: its other rows would give the answer away.
    units = rows.units
    for unit in range(int(units.max()) + 1):
        yield Pair(np.flatnonzero(units != unit), np.flatnonzero(units == unit))


def draw_bootstrap(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:  # noqa: ARG001 (takes all rows)
    """Yield one pair: rows drawn with replacement, tested on the original rows."""
    units = _drawn_units(rows, generator(seed))
    yield Pair(_rows_of(rows, units), np.arange(rows.n_rows))


def draw_out_of_bag(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:  # noqa: ARG001 (takes all rows)
    """Yield one pair: rows drawn with replacement, tested on the rows not drawn."""
    random = generator(seed)
    units = _drawn_units(rows, random)
    # A draw that leaves nothing out, likely in the smallest sets alone, tests nothing.
    while len(np.unique(units)) == rows.n_units:
        units = _drawn_units(rows, random)
    yield Pair(_rows_of(rows, units), np.flatnonzero(~np.isin(rows.units, units)))


def draw_disjoint(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:
    """Yield one pair per part; half of the part is learnt from, the other half tested."""
    # Twice as many parts as folds: neighbouring halves share no row with any other pair.
    dealt = deal_parts(rows, 2 * numbers.folds, seed)
    for part in range(numbers.folds):
        yield Pair(np.flatnonzero(dealt == 2 * part), np.flatnonzero(dealt == 2 * part + 1))


def draw_expanding(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:  # noqa: ARG001 (time decides)
    """Yield one pair per period after the first, tested after learning from all before it."""
    dealt = deal_periods(rows, numbers.folds + 1)
    for period in range(1, numbers.folds + 1):
        yield _before(rows, np.flatnonzero(dealt < period), dealt == period, numbers.gap)


def draw_sliding(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:  # noqa: ARG001 (time decides)
    """Yield one pair per period after the first, tested after learning from the one before it."""
    dealt = deal_periods(rows, numbers.folds + 1)
    for period in range(1, numbers.folds + 1):
        yield _before(rows, np.flatnonzero(dealt == period - 1), dealt == period, numbers.gap)


def _before(rows: Rows, earlier: np.ndarray, tested: np.ndarray, gap: int) -> Pair:
    """Return a pair without the `gap` latest of the earlier rows."""
    times = np.arange(rows.n_rows) if rows.times is None else rows.times
    latest_first = earlier[np.argsort(-times[earlier], kind="stable")]
    if gap >= len(earlier) - 1:
        raise DataError(f"gap: {gap} rows leave nothing of the {len(earlier)} to learn from.")
    return Pair(np.sort(latest_first[gap:]), np.flatnonzero(tested))


def _drawn_units(rows: Rows, random: np.random.Generator) -> np.ndarray:
    """Return as many units as there are, with replacement, class by class where each has one."""
    strata = rows.strata
    if rows.groups is not None:
        table = rows.group_classes > 0
        pure = (table.sum(axis=1) == 1).all()
        # Groups of mixed classes cannot be drawn class by class: they are all of one stratum.
        strata = table.argmax(axis=1) if pure else np.zeros(rows.n_units, dtype=np.int64)
    drawn = []
    for stratum in range(int(strata.max()) + 1):
        members = np.flatnonzero(strata == stratum)
        # As many as there are, so that the classes keep their shares in each sample.
        drawn.append(members[random.integers(0, len(members), size=len(members))])
    return np.concatenate(drawn)


def _rows_of(rows: Rows, units: np.ndarray) -> np.ndarray:
    """Return the rows of the drawn units, a row as often as its unit was drawn."""
    times = np.bincount(units, minlength=rows.n_units)
    return np.repeat(np.arange(rows.n_rows), times[rows.units])


KINDS: Mapping[str, Kind] = {
    "k-fold": Kind(
        draw_k_fold,
        {"folds": 10, "repeats": 1, "max_repeats": None},
        ("10-fold", "10x10-fold", "2-10x10-fold"),
        parts_per_fold=1,
    ),
    "5x2": Kind(draw_k_fold, {"repeats": 5}, ("5x2",), parts_per_fold=1),
    "leave-one-out": Kind(
        draw_leave_one_out,
        forms=("leave-one-out",),
        caveat="Leaving one out does not permit stratification, and any two training sets share "
        "all rows but two.",
    ),
    "holdout": Kind(
        draw_holdout,
        {"share": 1 / 3, "repeats": 1},
        ("holdout", "holdout 0.25"),
        caveat="One split measures one training set: how the score varies is not seen.",
    ),
    "bootstrap": Kind(
        draw_bootstrap,
        {"repeats": 100},
        ("bootstrap", "bootstrap 200"),
        caveat="About 63.2% of the rows tested were also learnt from, so that the scores are too "
        "good; out-of-bag tests on the others, and the .632 estimates (bootstrap_errors of the "
        "results) lie between.",
    ),
    "out-of-bag": Kind(
        draw_out_of_bag,
        {"repeats": 100},
        ("out-of-bag", "out-of-bag 200"),
        caveat="A training set holds only about 63.2% of the rows, so that the scores are a "
        "little too bad.",
    ),
    "disjoint": Kind(
        draw_disjoint,
        {"folds": 10},
        ("disjoint", "disjoint 30"),
        parts_per_fold=2,
        caveat="Each training set is small: one half of one part of the rows.",
    ),
    "expanding": Kind(
        draw_expanding,
        {"folds": 5, "gap": 0},
        ("expanding 5 by DATE",),
        caveat="Each period is tested after learning from all before it: early scores come from "
        "fewer rows than the model in use will have.",
    ),
    "sliding": Kind(
        draw_sliding,
        {"folds": 5, "gap": 0},
        ("sliding 5 by DATE",),
        caveat="Each period is tested after learning from the one before it alone.",
    ),
}
#: Kinds that go by time: the column after "by" orders the rows.
ORDERED = ("expanding", "sliding")
