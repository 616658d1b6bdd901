"""Tuning inside the training rows, with the same budget for every learner, and its record."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from verulam.base import DataError, nearest_names
from verulam.measures import Measure, as_measure

if TYPE_CHECKING:
    from verulam.experiment._tuning.space import Setting

#: How a search goes through a space.
SEARCH_METHODS = ("random", "grid", "successive halving", "response surface")
#: Rounds of successive halving, where the budget has settings for as many.
ROUNDS = 3
#: Of so many settings one goes on to the next round, which learns from so many times the rows.
KEPT_ONE_IN = 3


@dataclass(frozen=True)
class Tuning:
    """How learners are tuned, each with the same budget.

    Attributes
    ----------
    method
        "random", "grid", "successive halving" or "response surface".
    budget
        Number of settings that each learner may try on all training rows; successive halving
        tries more of them on fewer rows, at the same cost.
    folds
        Parts of the training rows, each of which judges a setting once.
    measure
        What settings are judged by; None takes the first measure of the study.

    Examples
    --------
    >>> Tuning("random", budget=20, folds=3).fits
    61
    """

    method: str = "random"
    budget: int = 20
    folds: int = 3
    measure: str | Measure | None = None

    def __post_init__(self) -> None:
        if self.method not in SEARCH_METHODS:
            raise DataError(
                f"tuning.method: {self.method!r}; expected one of {', '.join(SEARCH_METHODS)}."
            )
        for key, least in (("budget", 1), ("folds", 2)):
            count = getattr(self, key)
            if isinstance(count, bool) or not isinstance(count, int) or count < least:
                raise DataError(
                    f"tuning.{key}: {count!r}; expected a whole number of at least {least}."
                )
        if self.measure is not None:
            as_measure(self.measure)

    @property
    def fits(self) -> int:
        """Number of fits that one run takes: every setting in every fold, and the last one."""
        settings = self.budget
        if self.method == "successive halving":
            settings = sum(rung.settings for rung in halving_rounds(self.budget))
        return settings * self.folds + 1

    @property
    def title(self) -> str:
        """What is done, in words."""
        names = {"random": "random search", "grid": "grid search"}
        method = names.get(self.method, self.method)
        measure = "" if self.measure is None else f" by {as_measure(self.measure).name}"
        return (
            f"{method} within the training rows, with a budget of {self.budget} settings in "
            f"{self.folds} folds{measure} ({self.fits} fits a run)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as a study file has it."""
        name = None if self.measure is None else as_measure(self.measure).name
        return asdict(self) | {"measure": name}


@dataclass(frozen=True)
class TuningRecord:
    """What a tuned learner chose, for the store.

    Attributes
    ----------
    setting
        The value of each tuned parameter.
    score, measure
        Mean of the measure over the parts, and which measure it was.
    settings, fits
        Number of different settings that were tried, and of fits in all.
    seconds
        Time that the search took.
    trials
        For each trial its setting, its share of the rows and its score; None for a failure.
    """

    setting: "Setting"
    score: float
    measure: str
    settings: int
    fits: int
    seconds: float
    trials: tuple[tuple["Setting", float, float | None], ...]


def tuning(options: Mapping[str, Any] | Tuning | None) -> Tuning | None:
    """Return the tuning that a table of a study file stands for.

    Parameters
    ----------
    options
        A mapping with `method`, `budget`, `folds` and `measure`, each of which may be left out;
        None for no tuning.

    Examples
    --------
    >>> tuning({"method": "grid", "budget": 9}).title
    'grid search within the training rows, with a budget of 9 settings in 3 folds (28 fits a run)'
    """
    if options is None or isinstance(options, Tuning):
        return options
    if not isinstance(options, Mapping):
        raise DataError(f"tuning: {options!r}; expected a table with method, budget and folds.")
    keys = [option.name for option in fields(Tuning)]
    for key in options:
        if key not in keys:
            nearest = nearest_names(key, keys, count=1)[0]
            raise DataError(f"tuning.{key}: no such key. Nearest: {nearest}.")
    return Tuning(**options)


@dataclass(frozen=True)
class Round:
    """One round of successive halving: how many settings learn from which share of the rows."""

    settings: int
    share: float


def halving_rounds(budget: int) -> tuple[Round, ...]:
    """Return rounds that together cost as much as `budget` settings on all rows.

    Parameters
    ----------
    budget
        Number of settings.

    Examples
    --------
    >>> [(rung.settings, round(rung.share, 3)) for rung in halving_rounds(12)]
    [(36, 0.111), (12, 0.333), (4, 1.0)]
    """
    # Each round has a third of the settings of the one before on three times the rows, so that
    # all rounds cost the same: the budget is shared among them evenly.
    count = min(ROUNDS, budget)
    last = budget // count
    steps = range(count - 1, -1, -1)
    return tuple(Round(last * KEPT_ONE_IN**step, float(KEPT_ONE_IN) ** -step) for step in steps)
