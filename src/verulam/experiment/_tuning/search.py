"""Searches for the best setting of a learner, each within the same budget."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from verulam.base import DataError
from verulam.design import Factor, central_composite, response_surface_search
from verulam.experiment._tuning.options import halving_rounds
from verulam.experiment._tuning.space import (
    Setting,
    distinct_settings,
    draw_setting,
    grid_settings,
    setting_key,
)

#: Draws in a row that give nothing new before a space counts as used up.
_DRAWS = 200


@dataclass(frozen=True)
class Trial:
    """A setting that was tried.

    Attributes
    ----------
    setting
        The value of each parameter.
    share
        Part of the rows that it learnt from.
    loss
        Mean over the folds, smaller is better; NaN where the learner failed.
    """

    setting: Setting
    share: float
    loss: float


@dataclass(eq=False)
class Trials:
    """The trials of one search, which never pays twice for the same setting.

    Attributes
    ----------
    loss_of
        From a setting and a share of the rows to its loss.
    start
        The setting that the learner has without any search.
    made
        What has been tried, in order.
    """

    loss_of: Callable[[Setting, float], float]
    start: Setting
    made: list[Trial] = field(default_factory=list)

    def loss(self, setting: Setting, share: float = 1.0) -> float:
        """Return the loss of a setting, from memory where it has been tried."""
        key = setting_key(setting)
        # Few trials are made, each of them slow: a list is searched quickly enough.
        for trial in self.made:
            if trial.share == share and setting_key(trial.setting) == key:
                return trial.loss
        self.made.append(Trial(setting, share, self.loss_of(setting, share)))
        return self.made[-1].loss

    def new_settings(
        self, space: Sequence[Factor], random: np.random.Generator
    ) -> Iterator[Setting]:
        """Yield settings that have not been tried: the start, then draws, while there are any."""
        # Settings of small spaces are drawn again and again; only new ones are worth a fit.
        known = {setting_key(trial.setting) for trial in self.made}
        setting, idle = self.start, 0
        while idle < _DRAWS:
            idle += 1
            if setting_key(setting) not in known:
                known.add(setting_key(setting))
                idle = 0
                yield setting
            setting = draw_setting(space, random)

    def fill(self, space: Sequence[Factor], budget: int, random: np.random.Generator) -> None:
        """Spend what is left of a budget on settings drawn at random."""
        fresh = self.new_settings(space, random)
        while len(self.made) < budget and (setting := next(fresh, None)) is not None:
            self.loss(setting)

    def best(self) -> Trial:
        """Return the trial on all rows with the least loss, the earliest of equals."""
        # Losses on fewer rows are larger as a rule: they cannot be compared with those on all.
        complete = [trial for trial in self.made if trial.share == 1.0]
        sound = [trial for trial in complete if np.isfinite(trial.loss)]
        if not sound:
            raise DataError(f"None of {len(complete)} settings could be fitted and scored.")
        return min(sound, key=lambda trial: trial.loss)


Method = Callable[[Trials, Sequence[Factor], int, np.random.Generator], None]


def _random(
    trials: Trials, space: Sequence[Factor], budget: int, random: np.random.Generator
) -> None:
    trials.fill(space, budget, random)


def _grid(
    trials: Trials, space: Sequence[Factor], budget: int, random: np.random.Generator
) -> None:
    # A grid seldom uses up the budget: the rest goes to draws, so that all learners get as much.
    for setting in grid_settings(space, budget):
        trials.loss(setting)
    trials.fill(space, budget, random)


def _halving(
    trials: Trials, space: Sequence[Factor], budget: int, random: np.random.Generator
) -> None:
    rounds = halving_rounds(budget)
    fresh = trials.new_settings(space, random)
    pool = list(islice(fresh, rounds[0].settings))
    for rung in rounds:
        survivors = pool[: rung.settings]
        losses = np.array([trials.loss(setting, rung.share) for setting in survivors])
        # Stable, and NaN goes to the end: failures are the first to leave.
        pool = [survivors[place] for place in np.argsort(losses, kind="stable")]


def _surface(
    trials: Trials, space: Sequence[Factor], budget: int, random: np.random.Generator
) -> None:
    numbers = _ranges(space)
    # Lists have no slope: they stay as they are while the surface of the ranges is searched.
    rest = {name: value for name, value in trials.start.items() if name not in _names(numbers)}
    needed = smallest_budget("response surface", space)
    if needed > budget:
        raise DataError(
            f"budget: {budget}; the response surface of {', '.join(_names(numbers))} starts with "
            f"{needed} settings. Raise the budget, or search at random."
        )
    if numbers:
        response_surface_search(
            lambda setting: _finite_loss(trials, {**_plain(setting), **rest}),
            numbers,
            max_runs=budget,
            patience=budget,
        )
    trials.fill(space, budget, random)


def smallest_budget(method: str, space: Sequence[Factor]) -> int:
    """Return the number of settings that a search of a space cannot do without.

    Parameters
    ----------
    method
        One of `METHODS`.
    space
        What is varied.

    Examples
    --------
    >>> space = (Factor("x", (0.0, 1.0), "numeric"), Factor("y", (0.1, 10.0), "log"))
    >>> smallest_budget("response surface", space), smallest_budget("random", space)
    (9, 1)
    """
    if method == "response surface" and (numbers := _ranges(space)):
        return len(central_composite(numbers, "faced", centre_points=1))
    if method == "grid":
        # Of a range one value is enough; lists are taken whole.
        return int(
            np.prod([len(factor.levels) for factor in space if factor.kind == "categorical"])
        )
    return 1


def search(
    method: str,
    space: Sequence[Factor],
    loss_of: Callable[[Setting, float], float],
    *,
    start: Setting,
    budget: int,
    random: np.random.Generator,
) -> Trials:
    """Search a space for the setting with the least loss.

    Parameters
    ----------
    method
        One of `METHODS`.
    space
        What is varied.
    loss_of
        From a setting and the share of the rows to learn from to the loss; NaN for a failure.
    start
        The setting that the learner has without any search; it is one of those tried, unless
        the method leaves nothing of the budget.
    budget
        Number of settings on all rows, or what costs as much.
    random
        Where chance comes from.

    Examples
    --------
    >>> import numpy as np
    >>> space = (Factor("x", (-1.0, 3.0), "numeric"),)
    >>> trials = search("response surface", space, lambda s, share: (s["x"] - 0.5) ** 2,
    ...                start={"x": 0.0}, budget=8, random=np.random.default_rng(0))
    >>> round(trials.best().setting["x"], 6), len(trials.made)
    (0.5, 8)
    """
    trials = Trials(loss_of, start)
    METHODS[method](trials, space, budget, random)
    return trials


METHODS: Mapping[str, Method] = {
    "random": _random,
    "grid": _grid,
    "successive halving": _halving,
    "response surface": _surface,
}


def _finite_loss(trials: Trials, setting: Setting) -> float:
    """Return the loss; that of the worst setting so far where the learner failed."""
    # A surface is fitted to numbers: a failure counts as bad, but not so bad as to bend it away.
    loss = trials.loss(setting)
    if np.isfinite(loss):
        return loss
    losses = [trial.loss for trial in trials.made if np.isfinite(trial.loss)]
    return max(losses, default=1.0)


def _plain(setting: Mapping[str, object]) -> Setting:
    """Return a setting of Python's own numbers, as a search at random gives it."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in setting.items()
    }


def _ranges(space: Sequence[Factor]) -> list[Factor]:
    return [factor for factor in space if distinct_settings([factor]) > len(factor.levels)]


def _names(factors: Sequence[Factor]) -> list[str]:
    return [factor.name for factor in factors]
