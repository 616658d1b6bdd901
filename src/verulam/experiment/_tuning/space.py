"""What may be tuned: the range or the list of values of each parameter of a learner."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from verulam.base import DataError, nearest_names
from verulam.catalogue import entry
from verulam.experiment._design.factors import Factor
from verulam.experiment._tuning.default_spaces import DEFAULT_SPACES

#: The value of each parameter.
Setting = dict[str, Any]
_RANGE_KEYS = ("low", "high", "scale", "whole")
_KINDS = {"linear": "numeric", "log": "log"}


def search_space(given: Mapping[str, Any], where: str = "tune") -> tuple[Factor, ...]:
    """Return the parameters that a table of a study stands for.

    Parameters
    ----------
    given
        For each parameter a list of values, a `Factor`, or a range: a mapping with `low` and
        `high`, perhaps `scale` ("linear" or "log") and `whole`.
    where
        What the table is called, for messages.

    Examples
    --------
    >>> space = search_space({"C": {"low": 0.1, "high": 10, "scale": "log"}, "kernel": ["rbf"]})
    >>> [(each.name, each.kind, each.levels) for each in space]
    [('C', 'log', (0.1, 10)), ('kernel', 'categorical', ('rbf',))]
    """
    return tuple(_factor(name, values, f"{where}.{name}") for name, values in given.items())


def default_space(learner: Any) -> tuple[Factor, ...]:
    """Return what is tuned of a learner where nobody says; nothing for those not in the table.

    Parameters
    ----------
    learner
        Name in the catalogue, or an estimator.

    Examples
    --------
    >>> [each.name for each in default_space("support vector machine")]
    ['C', 'gamma']
    """
    if isinstance(learner, str):
        return DEFAULT_SPACES.get(entry(learner).name, ())
    for name, space in DEFAULT_SPACES.items():
        if entry(name).learner_class is type(learner):
            return space
    return ()


def draw_setting(space: Sequence[Factor], random: np.random.Generator) -> Setting:
    """Return a setting at random, each parameter by itself, evenly on its scale."""
    return {factor.name: _drawn(factor, random) for factor in space}


def distinct_settings(space: Sequence[Factor]) -> float:
    """Return how many settings there are; infinite where a parameter may be any number."""
    counts = [_count(factor) for factor in space]
    return float(np.prod(counts)) if counts else 0.0


def grid_settings(space: Sequence[Factor], most: int) -> list[Setting]:
    """Return every combination of evenly spaced values: as many a range as `most` allows.

    Parameters
    ----------
    space
        The parameters; lists are taken whole.
    most
        Largest number of settings.

    Examples
    --------
    >>> space = search_space({"C": {"low": 1, "high": 100, "scale": "log"}, "p": [1, 2]})
    >>> [(round(each["C"]), each["p"]) for each in grid_settings(space, 7)]
    [(1, 1), (1, 2), (10, 1), (10, 2), (100, 1), (100, 2)]
    """
    steps = 1
    while _grid_size(space, steps + 1) <= most and _grid_size(space, steps + 1) > _grid_size(
        space, steps
    ):
        steps += 1
    values = [_spaced(factor, steps) for factor in space]
    names = [factor.name for factor in space]
    settings = [dict(zip(names, chosen, strict=True)) for chosen in product(*values)]
    if len(settings) > most:
        raise DataError(
            f"A grid over {', '.join(names)} has {len(settings)} settings, above the budget of "
            f"{most}; search at random instead, or raise the budget."
        )
    return settings


def setting_key(setting: Setting) -> str:
    """Return what tells whether two settings are the same."""
    return repr(sorted(setting.items()))


def _factor(name: str, values: Any, where: str) -> Factor:
    if isinstance(values, Factor):
        return values
    if isinstance(values, Mapping):
        return _range(name, values, where)
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise DataError(
            f"{where}: {values!r}; expected a list of values, or a table with low and high."
        )
    try:
        return Factor(name, tuple(values))
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def _range(name: str, given: Mapping[str, Any], where: str) -> Factor:
    for key in given:
        if key not in _RANGE_KEYS:
            nearest = nearest_names(key, _RANGE_KEYS, count=1)[0]
            raise DataError(f"{where}.{key}: no such key. Nearest: {nearest}.")
    for key in ("low", "high"):
        if key not in given:
            raise DataError(f"{where}.{key}: missing.")
    scale = given.get("scale", "linear")
    if scale not in _KINDS:
        raise DataError(f"{where}.scale: {scale!r}; expected linear or log.")
    low, high = given["low"], given["high"]
    whole = given.get("whole", isinstance(low, int) and isinstance(high, int) and scale != "log")
    try:
        factor = Factor(name, (low, high), _KINDS[scale], whole=bool(whole))  # type: ignore[arg-type] # one of the kinds
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error
    if low >= high:
        raise DataError(f"{where}: low is {low!r}, not below high, {high!r}.")
    return factor


def _drawn(factor: Factor, random: np.random.Generator) -> Any:
    if factor.kind == "categorical":
        return factor.levels[int(random.integers(len(factor.levels)))]
    return factor.decoded([random.uniform(-1.0, 1.0)]).tolist()[0]


def _count(factor: Factor) -> float:
    if factor.kind == "categorical":
        return len(factor.levels)
    return factor.high - factor.low + 1 if factor.whole else np.inf


def _spaced(factor: Factor, steps: int) -> list[Any]:
    if factor.kind == "categorical":
        return list(factor.levels)
    places = np.linspace(-1.0, 1.0, steps) if steps > 1 else np.zeros(1)
    return list(dict.fromkeys(factor.decoded(places).tolist()))


def _grid_size(space: Sequence[Factor], steps: int) -> int:
    return int(np.prod([len(_spaced(factor, steps)) for factor in space]))
