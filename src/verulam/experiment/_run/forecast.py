"""What a plan will cost, foretold from a few of its runs."""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from verulam.base import DataError
from verulam.experiment._plan.records import Plan, PlannedRun
from verulam.experiment._run.execute import execute
from verulam.experiment._study.budget import budget

#: Runs that are tried at the most, or trying would cost what it is to forecast.
MOST_PILOTS = 20


@dataclass(frozen=True)
class Forecast:
    """What a plan will cost.

    Attributes
    ----------
    runs
        Number of runs in the plan.
    pilots
        How many of them were tried.
    seconds
        Time for all runs, one after the other.
    memory
        Most megabytes that a pilot run took; NaN where it cannot be told.
    failures
        What went wrong in pilot runs.
    affordable
        About how many of the runs the budget of the study pays for; all of them without one.
    """

    runs: int
    pilots: int
    seconds: float
    memory: float
    failures: tuple[str, ...] = ()
    affordable: int = 0


def forecast(plan: Plan, *, pilots: int = MOST_PILOTS) -> Forecast:
    """Try a few runs of a plan and foretell its time and memory; nothing is stored.

    Parameters
    ----------
    plan
        The plan.
    pilots
        Most runs to try: one for each contestant on each data set, as far as they go.

    Notes
    -----
    Alpaydin 19.5E: a few runs at random settings show whether all is well before much is spent.
    Pairs of contestant and data set that were not tried are taken to cost the mean of the others.
    """
    if pilots < 1:
        raise DataError(f"pilots: {pilots!r}; expected a whole number of at least 1.")
    counts: dict[tuple[int, int], int] = {}
    pilot_runs: dict[tuple[int, int], PlannedRun] = {}
    for run in plan.runs:
        pair = (run.data, run.contestant)
        counts[pair] = counts.get(pair, 0) + 1
        if pair not in pilot_runs and len(pilot_runs) < pilots:
            pilot_runs[pair] = run
    # One thread, as the workers have it: else the time foretold would be too short.
    with threadpool_limits(1):
        tried = {pair: execute(plan, run) for pair, run in pilot_runs.items()}
    failures = [
        f"{plan.contestants[data][place].label}: {outcome.error}"
        for (data, place), outcome in tried.items()
        if outcome.status != "done"
    ]
    known = {
        pair: outcome.fit_seconds + outcome.predict_seconds
        for pair, outcome in tried.items()
        if outcome.status == "done"
    }
    # For pairs that no pilot has tried; a plan of failures alone has no time to tell.
    mean = float(np.mean(list(known.values()))) if known else float("nan")
    seconds = sum(count * known.get(pair, mean) for pair, count in counts.items())
    memories = [outcome.peak_memory for outcome in tried.values()]
    memory = float(np.nanmax(memories)) if np.isfinite(memories).any() else float("nan")
    return Forecast(
        len(plan.runs), len(tried), float(seconds), memory, tuple(failures), _paid(plan, seconds)
    )


def _paid(plan: Plan, seconds: float) -> int:
    """Return how many runs the budget pays for, if all of them together take so long."""
    limits = budget(plan.study.budget)
    most = None if limits is None else limits.most_seconds
    paid = len(plan.affordable)
    if most is None or not seconds > most:
        return paid
    return min(paid, int(len(plan) * most / seconds))
