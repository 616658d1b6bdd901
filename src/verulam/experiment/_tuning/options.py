"""Tuning inside the training rows, with the same budget for every learner."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from verulam.base import DataError, nearest_names
from verulam.experiment._tuning.search import METHODS, halving_rounds
from verulam.measures import Measure, as_measure


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
        if self.method not in METHODS:
            raise DataError(
                f"tuning.method: {self.method!r}; expected one of {', '.join(METHODS)}."
            )
        for key, least in (("budget", 1), ("folds", 2)):
            given = getattr(self, key)
            if isinstance(given, bool) or not isinstance(given, int) or given < least:
                raise DataError(
                    f"tuning.{key}: {given!r}; expected a whole number of at least {least}."
                )
        if self.measure is not None:
            as_measure(self.measure)

    @property
    def fits(self) -> int:
        """Number of fits that one run takes: every setting in every fold, and the last one."""
        settings = self.budget
        if self.method == "successive halving":
            settings = sum(each.settings for each in halving_rounds(self.budget))
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


def tuning(given: Mapping[str, Any] | Tuning | None) -> Tuning | None:
    """Return the tuning that a table of a study file stands for.

    Parameters
    ----------
    given
        A mapping with `method`, `budget`, `folds` and `measure`, each of which may be left out;
        None for no tuning.

    Examples
    --------
    >>> tuning({"method": "grid", "budget": 9}).title
    'grid search within the training rows, with a budget of 9 settings in 3 folds (28 fits a run)'
    """
    if given is None or isinstance(given, Tuning):
        return given
    if not isinstance(given, Mapping):
        raise DataError(f"tuning: {given!r}; expected a table with method, budget and folds.")
    keys = [each.name for each in fields(Tuning)]
    for key in given:
        if key not in keys:
            nearest = nearest_names(key, keys, count=1)[0]
            raise DataError(f"tuning.{key}: no such key. Nearest: {nearest}.")
    return Tuning(**given)
