"""The ways to resample: what people write for them, and how each draws the rows of a repeat."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from verulam.base import DataError, generator, nearest_names
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


def draw_seeds(rows: Rows, numbers: SplitNumbers, seed: int) -> Iterator[Pair]:  # noqa: ARG001 (a seed is a row)
    """Yield one pair per seed, which stands in the place of a tested row; none is learnt from."""
    for row in range(numbers.folds):
        yield Pair(np.empty(0, dtype=np.int64), np.array([row]))


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
    "seeds": Kind(
        draw_seeds,
        {"folds": 20, "max_repeats": None},
        ("20 seeds", "20-100 seeds"),
        caveat="A seed is one world's chance and one agent's: intervals tell of other seeds, and "
        "not of other environments.",
    ),
}
#: Kinds that go by time: the column after "by" orders the rows.
ORDERED = ("expanding", "sliding")
#: Kinds whose scores are independent of one another, so that no variance is corrected.
INDEPENDENT = ("disjoint", "seeds")

#: A pattern, the kind it stands for, and the number that each of its groups is.
_FORMS: tuple[tuple[str, str], ...] = (
    (r"(?P<repeats>\d+)-(?P<max_repeats>\d+)x(?P<folds>\d+)-fold", "k-fold"),
    (r"(?:(?P<repeats>\d+)x)?(?P<folds>\d+)-fold", "k-fold"),
    (r"(?P<repeats>\d+)x2", "5x2"),
    (r"(?:(?P<repeats>\d+)x ?)?holdout(?: (?P<share>\d*\.?\d+))?", "holdout"),
    (r"leave-one-out", "leave-one-out"),
    (r"(?P<kind>bootstrap|out-of-bag)(?: (?P<repeats>\d+))?", ""),
    (r"disjoint(?: (?P<folds>\d+))?", "disjoint"),
    (r"k-fold", "k-fold"),
    (r"(?P<kind>expanding|sliding)(?: (?P<folds>\d+))?(?: gap (?P<gap>\d+))?", ""),
    (r"(?P<folds>\d+)(?:-(?P<most>\d+))? seeds", "seeds"),
)

#: Other names of a kind, with the numbers that the name implies.
_ALIASES: Mapping[str, dict[str, Any]] = {
    "repeated k-fold": {"kind": "k-fold", "repeats": 10},
    "loo": {"kind": "leave-one-out"},
    "loocv": {"kind": "leave-one-out"},
    "leave one out": {"kind": "leave-one-out"},
}

#: From a title to a word, one after the other; names of columns stand where they did.
_FROM_TITLE: tuple[tuple[str, str], ...] = (
    (r", when the budget was spent$", ""),
    # Data sets that allow fewer folds are named behind what was asked for.
    (r" \([^()]*-fold[^()]*\)$", ""),
    (r" instead of .*$", ""),
    (r"^stratified ", ""),
    (r" cross-validation\b", ""),
    (r", with equal (.+) kept together$", r" by \1"),
    (r", in the order of the rows", ""),
    (r"(, by .+?), (\d+) rows between$", r", \2 rows between\1"),
    (r", (\d+) rows between", r" gap \1"),
    (r"^(\d+) periods, each tested after all before it", r"expanding \1"),
    (r"^(\d+) periods, each tested after the one before it", r"sliding \1"),
    (r", by ", " by "),
    (r"^2-fold, repeated (\d+) times", r"\1x2"),
    (r"^(.+), repeated (\d+) to (\d+) times", r"\2-\3x\1"),
    (r"^(.+), repeated (\d+) times", r"\2x\1"),
    (r"holdout of ([\d.]+) of the rows", r"holdout \1"),
    (r"^(\d+) bootstrap samples, tested on all rows", r"bootstrap \1"),
    (r"^(\d+) bootstrap samples, tested on the rows not drawn", r"out-of-bag \1"),
    (r"^(\d+) disjoint parts, each halved for training and testing", r"disjoint \1"),
    (r"^(\d+) seeds, the same for all agents", r"\1 seeds"),
    (r"^(\d+) to (\d+) seeds, the same for all agents", r"\1-\2 seeds"),
)


def read_form(form: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the kind and numbers that a word or a table stands for, defaults included.

    Parameters
    ----------
    form
        A word such as "10-fold", a title such as "stratified 10-fold cross-validation, repeated
        10 times", or a mapping with `kind` and numbers.

    Examples
    --------
    >>> read_form("stratified 10-fold cross-validation, with equal patient kept together")
    {'folds': 10, 'repeats': 1, 'max_repeats': None, 'kind': 'k-fold', 'groups': 'patient'}
    """
    numbers = _from_word(form) if isinstance(form, str) else _from_table(form)
    return {**KINDS[numbers["kind"]].defaults, **numbers}


def accepted_forms() -> str:
    """Return the sentence that lists what may be written."""
    words = ", ".join(repr(form) for kind in KINDS.values() for form in kind.forms)
    return (
        f"expected {words}, each perhaps with 'by' and a column of groups, or a table with kind "
        f"(one of {', '.join(KINDS)}), its numbers and groups or order."
    )


def _from_word(word: str) -> dict[str, Any]:
    form, by, column = _short_form(word.strip()).partition(" by ")
    # Typographic multiplication signs and any spacing are read as well.
    plain = " ".join(form.lower().replace("×", "x").split())
    plain = re.sub(r"(?<=\d) ?x ?(?=\d)", "x", plain)
    # "10 fold", "10folds", "10-fold cv" and plain "10" are what people also write.
    plain = re.sub(r"^hold-out\b", "holdout", re.sub(r"(?<=[\dd]) ?cv$", "", plain))
    plain = re.sub(r"(?<=\d)[ -]?folds?$", "-fold", plain)
    plain = f"{plain}-fold" if plain.isdigit() else plain
    timed = plain.split(" ")[0] in ORDERED
    groups = {"order" if timed else "groups": column.strip()} if by else {}
    if plain in _ALIASES:
        return {**_ALIASES[plain], **groups}
    for pattern, kind in _FORMS:
        if match := re.fullmatch(pattern, plain):
            numbers = {
                name: _number(name, text)
                for name, text in match.groupdict().items()
                if text is not None
            }
            return {"kind": kind, **_in_repeats(numbers, word), **groups}
    raise DataError(f"resampling: {word!r}; {accepted_forms()}")


def _short_form(title: str) -> str:
    """Return the word of a title; a word stays as it is."""
    for pattern, replacement in _FROM_TITLE:
        title = re.sub(pattern, replacement, title, flags=re.IGNORECASE)
    return title


def _in_repeats(numbers: dict[str, Any], word: str) -> dict[str, Any]:
    """Return numbers in which the most seeds there may be are so many repeats of the first."""
    most = numbers.pop("most", None)
    if most is None:
        return numbers
    if not numbers["folds"] or most % numbers["folds"] or most < numbers["folds"]:
        raise DataError(
            f"resampling: {word!r}; seeds are added as many at a time as there are first, so that "
            "the second number must be a multiple of the first, as in '20-100 seeds'."
        )
    return {**numbers, "max_repeats": most // numbers["folds"]}


def _number(name: str, text: str) -> Any:
    if name == "kind":
        return text
    return float(text) if name == "share" else int(text)


def _from_table(table: Mapping[str, Any]) -> dict[str, Any]:
    if "kind" not in table:
        raise DataError(f"resampling.kind: missing; {accepted_forms()}")
    implied = _ALIASES.get(table["kind"], {"kind": table["kind"]})
    kind = implied["kind"]
    if kind not in KINDS:
        known = [*KINDS, *_ALIASES]
        nearest = f" Nearest: {nearest_names(kind, known, 1)[0]}." if isinstance(kind, str) else ""
        raise DataError(f"resampling.kind: {kind!r}; expected one of {', '.join(known)}.{nearest}")
    accepted = KINDS[kind].defaults
    for key, value in table.items():
        if key == "kind":
            continue
        if key == "groups" or (key == "order" and kind in ORDERED):
            if not isinstance(value, str) or not value:
                raise DataError(f"resampling.{key}: expected the name of a column, got {value!r}.")
            continue
        if key not in accepted:
            words = f"it takes {', '.join(accepted)}" if accepted else "it takes no numbers"
            raise DataError(f"resampling.{key}: no number of {kind}; {words}.")
        if value is None and accepted[key] is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DataError(f"resampling.{key}: expected a number, got {value!r}.")
    return {**implied, **{key: value for key, value in table.items() if key != "kind"}}
