"""Searches that fit a quadratic to what was run and run next where it is best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError
from verulam.design._factors import Factor
from verulam.design._response_surface import fit_response_surface, next_point
from verulam.design._surface_designs import CompositeKind, central_composite

#: Where golden section cuts the longer side of the best point.
GOLDEN = (3 - 5**0.5) / 2


@dataclass(frozen=True, eq=False)
class SearchPath:
    """What a search tried, and the best of it.

    Attributes
    ----------
    path
        One row per run, in order: the setting, the response, and the step that led there.
    best
        The setting with the best response.
    response
        The best response.
    stopped
        Why the search ended.
    """

    path: pd.DataFrame
    best: dict[str, Any]
    response: float
    stopped: str


def quadratic_search(
    function: Callable[[float], float],
    start: Sequence[float],
    bounds: tuple[float, float],
    *,
    maximise: bool = False,
    max_runs: int = 20,
    tolerance: float = 1e-3,
    patience: int = 2,
    name: str = "x",
) -> SearchPath:
    """Search one factor: put a parabola through the best runs and run at its vertex.

    Parameters
    ----------
    function
        From a level to the response.
    start
        Three levels to begin with.
    bounds
        The lowest and the highest level that may be run.
    maximise
        Whether larger responses are better.
    max_runs
        Runs in all, those of the start included.
    tolerance
        Levels that are closer than this share of the bounds are the same.
    patience
        Runs in a row without improvement that end the search.
    name
        What the factor is called in the path.

    Notes
    -----
    Alpaydin 19.3. One step finds the best level of a quadratic exactly. Where the parabola opens
    the wrong way, golden section takes the step instead.

    Examples
    --------
    >>> found = quadratic_search(lambda x: (x - 2.2) ** 2, (0, 1, 5), (0, 5))
    >>> round(found.best["x"], 9), len(found.path), found.stopped
    (2.2, 4, 'the vertex is the best level already')
    """
    low, high = (float(end) for end in bounds)
    _check_start(start, low, high, max_runs)
    sign = -1.0 if maximise else 1.0
    width = tolerance * (high - low)
    tried = [(float(level), sign * _run(function, float(level))) for level in start]
    steps = ["start"] * len(tried)
    idle, stopped = 0, f"max_runs={max_runs} is reached"
    while len(tried) < max_runs:
        level, step = _proposal(sorted(tried), low, high)
        best_level, best_value = min(tried, key=lambda run: run[1])
        if step == "parabola" and abs(level - best_level) <= width:
            stopped = "the vertex is the best level already"
            break
        # A tenth of the tolerance: golden section may come close to a level, but not onto it.
        if min(abs(level - other) for other, _ in tried) <= width / 10:
            stopped = "the levels left to try are too close to those tried"
            break
        tried.append((level, sign * _run(function, level)))
        steps.append(step)
        idle = 0 if tried[-1][1] < best_value else idle + 1
        if idle >= patience:
            stopped = f"{patience} runs in a row brought no improvement"
            break
    levels, values = zip(*tried, strict=True)
    path = pd.DataFrame({name: levels, "response": sign * np.array(values), "step": steps})
    return _finished(path, [name], maximise, stopped)


def response_surface_search(
    function: Callable[[dict[str, Any]], float],
    factors: Sequence[Factor],
    *,
    maximise: bool = False,
    kind: CompositeKind = "faced",
    max_runs: int = 50,
    tolerance: float = 1e-3,
    patience: int = 2,
) -> SearchPath:
    """Search several factors: fit a surface to all runs, run where it is best, and repeat.

    Parameters
    ----------
    function
        From a setting to the response.
    factors
        What is varied, numeric or log; "faced" and "inscribed" starts stay within the levels.
    maximise
        Whether larger responses are better.
    kind
        Of the central composite design that the search starts with.
    max_runs
        Runs in all, those of the start included.
    tolerance
        A setting that is closer than this share of the range, in every factor, is the same.
    patience
        Runs in a row without improvement that end the search.

    Notes
    -----
    Alpaydin 19.3: it works where the response is near a quadratic with a single best setting.

    Examples
    --------
    >>> import numpy as np
    >>> factors = [Factor("C", (0.1, 10), "log"), Factor("k", (1, 9), "numeric", whole=True)]
    >>> found = response_surface_search(lambda s: np.log(s["C"]) ** 2 + (s["k"] - 6) ** 2, factors)
    >>> round(found.best["C"], 6), found.best["k"], found.stopped
    (1.0, 6, 'the best setting of the surface has been run')
    """
    # One run at the centre: a search spends its runs on new settings.
    settings = central_composite(factors, kind, centre_points=1).to_dict("records")
    if max_runs < len(settings):
        raise ValueError(f"max_runs={max_runs}; the start alone takes {len(settings)} runs.")
    tried = [{str(name): value for name, value in setting.items()} for setting in settings]
    values = [_run(function, setting) for setting in tried]
    steps, names = ["start"] * len(tried), [factor.name for factor in factors]
    sign = -1.0 if maximise else 1.0
    idle, stopped = 0, f"max_runs={max_runs} is reached"
    while len(tried) < max_runs:
        setting = next_point(
            fit_response_surface(pd.DataFrame(tried), values, factors), maximise=maximise
        ).setting
        if _same_as_tried(setting, tried, factors, tolerance):
            stopped = "the best setting of the surface has been run"
            break
        # Before the new run, which is to be compared with it.
        best = min(sign * value for value in values)
        tried.append(setting)
        values.append(_run(function, setting))
        steps.append("surface")
        idle = 0 if sign * values[-1] < best else idle + 1
        if idle >= patience:
            stopped = f"{patience} runs in a row brought no improvement"
            break
    path = pd.DataFrame(tried).assign(response=values, step=steps)
    return _finished(path, names, maximise, stopped)


def _check_start(start: Sequence[float], low: float, high: float, max_runs: int) -> None:
    if not low < high:
        raise ValueError(f"bounds=({low:g}, {high:g}); expected the lower one first.")
    if len(set(start)) != 3 or len(start) != 3:
        raise ValueError(f"start={list(start)}; expected three different levels.")
    outside = [level for level in start if not low <= level <= high]
    if outside:
        raise ValueError(f"start: {outside[0]} is outside of the bounds {low:g} to {high:g}.")
    if max_runs < 3:
        raise ValueError(f"max_runs={max_runs}; the start alone takes 3 runs.")


def _run(function: Callable[[Any], float], setting: Any) -> float:
    value = float(function(setting))
    if not np.isfinite(value):
        raise DataError(f"The response at {setting} is {value}; a search needs numbers.")
    return value


def _proposal(runs: list[tuple[float, float]], low: float, high: float) -> tuple[float, str]:
    """Return the next level and how it was found, for runs in order of their level."""
    best = min(range(len(runs)), key=lambda place: runs[place][1])
    # Three neighbouring runs around the best; at an end, the three nearest to it.
    middle = min(max(best, 1), len(runs) - 2)
    (left, f_left), (centre, f_centre), (right, f_right) = runs[middle - 1 : middle + 2]
    # Divided differences: the slope on either side, and from these the second derivative.
    rise, fall = (f_right - f_centre) / (right - centre), (f_centre - f_left) / (centre - left)
    bend = (rise - fall) / (right - left)
    # A bend that is rounding alone would send the vertex anywhere.
    if bend > 1e-12 * max(abs(f_left), abs(f_centre), abs(f_right)) / (right - left) ** 2:
        vertex = (left + centre) / 2 - fall / (2 * bend)
        return min(max(vertex, low), high), "parabola"
    level = runs[best][0]
    before = runs[best - 1][0] if best > 0 else low
    after = runs[best + 1][0] if best < len(runs) - 1 else high
    # The longer side holds more that is unknown, and is cut in the golden ratio.
    side = after if after - level >= level - before else before
    return level + GOLDEN * (side - level), "golden section"


def _same_as_tried(
    setting: dict[str, Any],
    tried: Sequence[dict[str, Any]],
    factors: Sequence[Factor],
    tolerance: float,
) -> bool:
    # The largest distance over the factors, on their coded scale from -1 to +1, whose length is 2.
    apart = np.max(
        [
            np.abs(factor.coded([run[factor.name] for run in tried]) - factor.coded([value]))
            for factor, value in ((factor, setting[factor.name]) for factor in factors)
        ],
        axis=0,
    )
    return bool((apart <= 2 * tolerance).any())


def _finished(path: pd.DataFrame, names: list[str], maximise: bool, stopped: str) -> SearchPath:
    responses = path["response"].to_numpy()
    place = int(responses.argmax() if maximise else responses.argmin())
    best = {name: path[name].tolist()[place] for name in names}
    return SearchPath(path, best, float(responses[place]), stopped)
