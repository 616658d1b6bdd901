"""Resampling: how training and test rows are drawn, from a word such as "10-fold"."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from verulam.base import (
    DataError,
    DataWarning,
    Seed,
    spawn_seeds,
    unknown_name,
)
from verulam.experiment._resampling.kinds import (
    KINDS,
    ORDERED,
    Kind,
    SplitNumbers,
    accepted_forms,
    read_form,
)
from verulam.experiment._resampling.rows import (
    Rows,
    Split,
    check_share,
    least_units,
    most_folds,
    read_rows,
)
from verulam.measures import Measure

#: Measures that are defined where one of two classes is absent from the tested rows.
_WITHOUT_A_CLASS = frozenset(
    ["error", "accuracy", "balanced_accuracy", "risk", "kappa", "log_loss", "brier"]
)
#: Kinds whose folds become fewer where the rows allow no more.
_BY_FOLDS = ("k-fold", "disjoint")
#: Kinds of which it is worth saying that classes keep their shares.
_STRATIFIED = ("k-fold", "5x2")


@dataclass(frozen=True)
class Resampling:
    """One way to draw training and test rows; make it with :func:`resampling`.

    Attributes
    ----------
    kind
        "k-fold", "5x2", "leave-one-out", "holdout", "bootstrap", "out-of-bag", "disjoint",
        "expanding" or "sliding" of rows; "seeds" of agents.
    folds
        Parts: of k-fold, each is tested once; of disjoint, each is halved; the number of seeds.
    repeats
        How often the rows are shuffled anew, or drawn with replacement.
    max_repeats
        How often at the most, where repeats are added until the choice is settled; None adds
        none. Of k-fold, and of seeds, where a repeat is as many further ones.
    share
        The part of the rows that a holdout tests.
    groups
        Column whose equal values stay on one side of every split, such as the patient that
        several rows are about; None where each row stands for itself.
    order
        Column that says when each row was, of "expanding" and "sliding": every row is tested after
        learning from earlier ones alone. None takes the rows in the order they have.
    gap
        Rows between those learnt from and those tested, which are used for neither.

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
    order: str | None = None
    gap: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown_name("kind of resampling", self.kind, KINDS)
        if self.kind in ORDERED and self.groups:
            raise ValueError(f"groups={self.groups!r}; {self.kind} goes by time, not by groups.")
        if self.kind not in ORDERED and self.order:
            raise ValueError(f"order={self.order!r}; only {' and '.join(ORDERED)} go by time.")
        if self.kind == "5x2":
            object.__setattr__(self, "folds", 2)
        for name, least in (("folds", 2), ("repeats", 1), ("gap", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name}={value!r}; expected a whole number of at least {least}.")
        self._check_max_repeats()
        check_share(self.share)

    def _check_max_repeats(self) -> None:
        most = self.max_repeats
        if most is None:
            return
        whole = isinstance(most, int) and not isinstance(most, bool) and most >= self.repeats
        if self.kind == "seeds" and whole:
            return
        if self.kind != "k-fold" or self.repeats < 2 or not whole:
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
            "expanding": f"{self.folds} periods, each tested after all before it",
            "sliding": f"{self.folds} periods, each tested after the one before it",
            "seeds": f"{self._seeds(' to ')} seeds, the same for all agents",
        }[self.kind]
        if self.kind == "seeds":
            return words
        if self.kind in ORDERED:
            words += f", by {self.order}" if self.order else ", in the order of the rows"
            return f"{words}, {self.gap} rows between" if self.gap else words
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
        column = self.groups or self.order
        return f"{self._word} by {column}" if column else self._word

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
            case "seeds":
                return f"{self._seeds('-')} seeds"
            case "expanding" | "sliding":
                return f"{self.kind} {self.folds}" + (f" gap {self.gap}" if self.gap else "")
            case _:
                return f"{self.kind} {self.repeats}"

    def _seeds(self, until: str) -> str:
        """Return how many seeds there are, and may become."""
        most = "" if self.max_repeats is None else f"{until}{self.max_repeats * self.folds}"
        return f"{self.repeats * self.folds}{most}"

    def to_dict(self) -> dict[str, Any]:
        """Return the kind and the numbers that it uses, as `resampling` reads them."""
        numbers = {
            key: value for key in self._kind.defaults if (value := getattr(self, key)) is not None
        }
        columns = {name: getattr(self, name) for name in ("groups", "order")}
        used = {name: column for name, column in columns.items() if column}
        return {"kind": self.kind} | numbers | used

    def n_splits(self, n_rows: int) -> int:
        """Return how many splits are drawn from so many rows (or groups, where there are any)."""
        if self.kind == "leave-one-out":
            return n_rows
        folded = self._kind.parts_per_fold or self.kind in (*ORDERED, "seeds")
        return self.most_repeats * (self.folds if folded else 1)

    @property
    def most_repeats(self) -> int:
        """How often the rows are split anew at the most."""
        return self.max_repeats or self.repeats

    def usable(
        self,
        targets: Any,
        *,
        task: str,
        groups: Any = None,
        times: Any = None,
        every_class: bool = False,
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
        times
            When each row was, for kinds that go by time.
        every_class
            Whether both of two classes must be in each fold, as measures such as the area under
            the curve need it: then there are no more folds than rows of the rarer one.
        """
        return self._allowed(targets, task, groups, times, every_class=every_class)

    def draw(
        self, targets: Any, groups: Any = None, seed: Seed = 0, *, task: str, times: Any = None
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
        times
            When each row was, for kinds that go by time.
        """
        allowed = self._allowed(targets, task, groups, times)
        if allowed.notice:
            warnings.warn(allowed.notice, DataWarning, stacklevel=2)
        return allowed.draw(seed)

    def _drawn(self, rows: Rows, seed: Seed) -> tuple[Split, ...]:
        numbers = SplitNumbers(self.folds, self.repeats, self.share, self.gap)
        # A seed is tested once: those of a further repeat are other ones.
        further = self.folds if self.kind == "seeds" else 0
        return tuple(
            Split(repeat, fold, pair.train, pair.test + repeat * further)
            # Seeds of the repeats do not depend on their number: more repeats keep the first ones.
            for repeat, repeat_seed in enumerate(spawn_seeds(seed, self.most_repeats))
            for fold, pair in enumerate(self._kind.draw(rows, numbers, repeat_seed))
        )

    def _allowed(
        self, targets: Any, task: str, groups: Any, times: Any, *, every_class: bool = False
    ) -> "UsableResampling":
        """Return the resampling with the numbers of folds that the rows allow."""
        rows = read_rows(targets, task, groups, times)
        if self.kind == "seeds":
            return UsableResampling(self, rows)
        # Also where folds do not matter: it refuses rows that cannot be split at all.
        least = least_units(rows)
        needed = self._kind.parts_per_fold
        if needed == 0 or self.folds * needed <= least.parts:
            return UsableResampling(self, rows)
        both = every_class and len(rows.classes) == 2
        if self.kind == "k-fold" and rows.classes and rows.groups is None and not both:
            largest = most_folds(rows)
            if self.folds <= largest.parts:
                notice = f"Not every fold tests every class: {least.reason}."
                return UsableResampling(self, rows, notice)
            least = largest
        # Rather fewer folds, with a notice, than no study.
        folds = least.parts // needed
        if folds < 2:
            raise DataError(
                f"{self} needs at least {2 * needed} parts, but {least.reason}; "
                "join classes, or take k-fold."
            )
        notice = f"{folds} folds instead of {self.folds}: {least.reason}."
        return UsableResampling(replace(self, folds=folds), rows, notice)


@dataclass(frozen=True, eq=False)
class UsableResampling:
    """What some rows allow.

    Attributes
    ----------
    resampling
        As asked for, or with fewer folds.
    rows
        The rows.
    notice
        Why there are fewer folds, or which class is too rare to be in each; empty where all is
        as asked for.
    """

    resampling: Resampling
    rows: Rows
    notice: str = ""

    def draw(self, seed: Seed = 0) -> tuple[Split, ...]:
        """Return the splits, fold by fold within repeat by repeat; the same seed gives the same."""
        return self.resampling._drawn(self.rows, seed)


def resampling(form: str | int | Mapping[str, Any] | Resampling) -> Resampling:
    """Return the resampling that a word or a table of a study file stands for.

    Parameters
    ----------
    form
        Such as "10-fold", "10x10-fold", "2-10x10-fold" (2 repeats, and up to 10 until the choice
        is settled), "5x2", "leave-one-out", "holdout 0.25", "bootstrap 200", "out-of-bag",
        "disjoint 30", each perhaps followed by "by" and a column of groups; "expanding 5 by DATE"
        or "sliding 5 gap 10 by DATE", with the column that says when; of agents "20 seeds" or
        "20-100 seeds" (20, and 20 more at a time until the choice is settled); a number of folds;
        what `title` says of one; or a mapping with `kind`, numbers and `groups` or `order`.

    Examples
    --------
    >>> resampling("10x10-fold")
    Resampling(kind='k-fold', folds=10, repeats=10, share=0.33..., groups=None, ...)
    >>> resampling({"kind": "holdout", "share": 0.25}).title
    'holdout of 0.25 of the rows'
    >>> resampling("5-fold by patient").title
    '5-fold cross-validation, with equal patient kept together'
    >>> resampling("expanding 4 by sold").title
    '4 periods, each tested after all before it, by sold'
    """
    if isinstance(form, Resampling):
        return form
    if isinstance(form, int) and not isinstance(form, bool):
        form = f"{form}-fold"
    if not isinstance(form, str | Mapping):
        raise DataError(f"resampling: {form!r}; {accepted_forms()}")
    numbers = read_form(form)
    try:
        return Resampling(**numbers)
    except ValueError as error:
        raise DataError(f"resampling.{error}") from error


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


def drawn(asked: Resampling, folds: int, repeats: int | None = None) -> Resampling:
    """Return a resampling with the numbers of folds and repeats that there were.

    Parameters
    ----------
    asked
        What was asked for.
    folds
        How many folds there are.
    repeats
        How many repeats there were; None where that is still open.

    Examples
    --------
    >>> from verulam.experiment import resampling
    >>> str(drawn(resampling("20-fold"), 11)), str(drawn(resampling("5x2"), 2))
    ('11-fold', '5x2')
    """
    if asked.max_repeats is not None and repeats:
        asked = replace(asked, repeats=repeats, max_repeats=None)
    return replace(asked, folds=folds) if asked.kind in _BY_FOLDS else asked


def drawn_word(asked: Resampling, folds: Mapping[str, int]) -> str:
    """Return the short form of what was drawn; data sets with fewer folds are named.

    Parameters
    ----------
    asked
        What was asked for.
    folds
        For each data set the number of its folds.

    Examples
    --------
    >>> from verulam.experiment import resampling
    >>> drawn_word(resampling("20-fold"), {"firms": 11})
    '11-fold instead of 20-fold'
    >>> drawn_word(resampling("10-fold"), {"iris": 10, "glass": 9, "wine": 10})
    '10-fold (glass 9-fold)'
    """
    forms = {label: str(drawn(asked, count)) for label, count in folds.items()}
    if len(set(forms.values())) == 1:
        form = next(iter(forms.values()))
        return form if form == str(asked) else f"{form} instead of {asked}"
    others = ", ".join(f"{label} {form}" for label, form in forms.items() if form != str(asked))
    return f"{asked} ({others})"


def drawn_title(
    asked: Resampling,
    folds: Mapping[str, int],
    tasks: Iterable[str],
    repeats: Mapping[str, int] | None = None,
) -> str:
    """Return how splits were drawn, in words.

    Parameters
    ----------
    asked
        What was asked for.
    folds
        For each data set the number of its folds.
    tasks
        What the data sets ask for, "classification" or "regression".
    repeats
        For each data set the number of its repeats; None where that is still open.

    Examples
    --------
    >>> from verulam.experiment import resampling
    >>> drawn_title(resampling("10-fold"), {"a": 10, "b": 9}, ["classification"] * 2)
    'stratified 10-fold cross-validation (9-fold cross-validation on b)'
    """
    titles = {
        label: drawn(asked, count, (repeats or {}).get(label)).title
        for label, count in folds.items()
    }
    usual = next(iter(titles.values())) if len(set(titles.values())) == 1 else asked.title
    others = [f"{title} on {label}" for label, title in titles.items() if title != usual]
    classes = asked.kind in _STRATIFIED and all(task == "classification" for task in tasks)
    exceptions = f" ({', '.join(others)})" if others else ""
    return f"{'stratified ' if classes else ''}{usual}{exceptions}"
