"""Carrying out a plan: one after the other, in processes, or on a Dask cluster."""

import json
import os
import warnings
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from verulam.base import DataError, DataWarning
from verulam.experiment._identity import digest
from verulam.experiment._plan.plan import make_plan
from verulam.experiment._plan.records import Outcome, Plan
from verulam.experiment._run.dask import run_on_dask
from verulam.experiment._run.execute import execute
from verulam.experiment._run.progress import Leaderboard, show_progress
from verulam.experiment._run.queue import RunQueue
from verulam.experiment._run.sequential import search_settings
from verulam.experiment._run.worker_pool import Engine, run_in_processes
from verulam.experiment._store.results import Results
from verulam.experiment._store.store import Store
from verulam.experiment._study.designs import without_added_settings
from verulam.experiment._study.study import Study, sequential_learners
from verulam.measures import as_measure


def run(
    study: Study | Plan,
    store: str | Path,
    *,
    engine: str = "processes",
    workers: int | None = None,
    recycle: int | None = None,
    progress: bool = True,
    retry: Sequence[str] = ("killed", "timed out"),
    check: bool = True,
) -> Results:
    """Carry out what is left of a study, and return its results.

    Runs that the store already has are not repeated, so an interrupted study goes on where it
    stopped, and one that has grown runs only what is new.

    Parameters
    ----------
    study
        The study, or its plan.
    store
        File for the results.
    engine
        "processes", "serial", "dask" for a local cluster, or "dask://host:port" for one that
        is already there. The results do not depend on it.
    workers
        Number of processes; None and -1 take one for each core.
    recycle
        Runs after which a process is replaced by a new one, against what libraries leave behind
        in it; None for never. Of the engine "processes" alone.
    progress
        Show a progress display, where the output is a terminal or a notebook.
    retry
        Which unsuccessful runs are tried again: any of "failed", "killed", "timed out".
    check
        Carry out one run of each contestant a second time, to see whether the same seed gives
        the same predictions; the analysis says of which it does not.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, run
    >>> study = Study("flowers", [DataChoice("iris")], [LearnerChoice("naive bayes")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(study, f"{folder}/runs.sqlite", engine="serial", progress=False)
    ...     results.status()
    {'done': 10}
    """
    if recycle is not None and (recycle < 1 or engine != "processes"):
        raise DataError(
            f"recycle: {recycle!r}; expected a whole number of at least 1, with engine processes."
        )
    processes = core_count() if workers is None else worker_count(workers, "workers")
    plan = study if isinstance(study, Plan) else make_plan(study)

    def carry_out(planned: Plan) -> Results:
        carry_out_runs = _engine(engine, processes, planned, recycle)
        return _carried_out(
            planned, store, carry_out_runs, progress=progress, retry=retry, check=check
        )

    results = carry_out(plan)
    if sequential_learners(plan.study):
        last = search_settings(plan.study, results, lambda larger: carry_out(make_plan(larger)))
        # The changes of the first step: every other one was compared with the one before it.
        results = Results(store, last.study, measures=results.measures, changes=results.changes)
    return results


def _carried_out(
    plan: Plan,
    store: str | Path,
    engine: Engine,
    *,
    progress: bool,
    retry: Sequence[str],
    check: bool,
) -> Results:
    """Carry out what is left of a plan, and return its results."""
    with Store(store) as opened:
        # Read before the plan is written, which is then the last of that name.
        before = opened.last_description(plan.study.name)
        key = opened.add_plan(plan)
        _warn_of_changes(opened, key)
        runs = RunQueue(plan, opened, key, retry=retry, check=check)
        already = max(0, runs.total - len(runs.queue))
        with (
            show_progress(
                runs.total, already, show=progress, leaderboard=Leaderboard(plan)
            ) as display,
            closing(engine(plan, runs.queue)) as outcomes,
        ):
            runs.write(outcomes, display)
    measures = [as_measure(measure) for measure in plan.study.measures or ()]
    now = json.loads(plan.study.to_json())
    changes = (
        study_changes(without_added_settings(before), without_added_settings(now)) if before else ()
    )
    return Results(store, key, measures=measures, changes=changes)


def _warn_of_changes(store: Store, study: str) -> None:
    changed = store.changed_packages(study)
    if changed:
        warnings.warn(
            f"The store {store.path} has finished runs of this study that were made with "
            f"{', '.join(changed)}; they are used as they are. Take another store to repeat them.",
            DataWarning,
            stacklevel=3,
        )


def _engine(name: str, workers: int, plan: Plan, recycle: int | None) -> Engine:
    if name == "processes":
        return partial(run_in_processes, workers=workers, recycle=recycle)
    if name == "serial":
        # A run can only be stopped from outside: with limits they go on in one other process.
        return partial(run_in_processes, workers=1) if plan.has_limits else _run_serially
    if name == "dask" or name.startswith("dask://"):
        address = name.removeprefix("dask://") if name != "dask" else None
        return partial(run_on_dask, workers=workers, address=address)
    raise DataError(f"engine: {name!r}; expected processes, serial, dask or dask://host:port.")


def _run_serially(plan: Plan, queue: deque[int]) -> Generator[Outcome | None]:
    # As in the workers: sums split among BLAS threads would differ in the last bits.
    with threadpool_limits(1):
        while queue:
            yield execute(plan, plan.runs[queue.popleft()])
            yield None


def worker_count(workers: int, name: str) -> int:
    """Return a number of processes, where -1 stands for one for each core.

    Parameters
    ----------
    workers
        The number.
    name
        What the argument is called, for the message.
    """
    if workers == -1:
        return core_count()
    if workers < 1:
        raise DataError(
            f"{name}: {workers!r}; expected a number of at least 1, or -1 for all cores."
        )
    return workers


def core_count() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this operating system
        return os.cpu_count() or 1


def study_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return one line for each part of a study that is not what it was.

    Parameters
    ----------
    before, after
        Descriptions of the study, as its store has them.

    Examples
    --------
    >>> before = {"seed": 0, "learners": [{"name": "naive bayes", "label": None}]}
    >>> after = {"seed": 1, "learners": [{"name": "nearest mean", "label": None}]}
    >>> study_changes(before, after)
    ['seed: 0 before, now 1', 'learners: without naive bayes, with nearest mean']
    """
    lines = []
    for key in dict.fromkeys([*before, *after]):
        old, new = before.get(key), after.get(key)
        if _is_same(old, new):
            continue
        if key in ("data", "learners"):
            lines.append(f"{key}: {', '.join(_entry_changes(old or [], new or []))}")
        elif isinstance(old, Mapping) and isinstance(new, Mapping):
            lines += [f"{key}.{line}" for line in study_changes(old, new)]
        else:
            lines.append(f"{key}: {_value_word(old)} before, now {_value_word(new)}")
    return lines


def _entry_changes(before: list[Any], after: list[Any]) -> list[str]:
    old, new = ({_entry_name(entry): entry for entry in entries} for entries in (before, after))
    words = [f"without {name}" for name in old if name not in new]
    words += [f"with {name}" for name in new if name not in old]
    for name in old:
        if name in new and not _is_same(old[name], new[name]):
            keys = dict.fromkeys([*old[name], *new[name]])
            changed = [key for key in keys if not _is_same(old[name].get(key), new[name].get(key))]
            words.append(f"{name} with other {' and '.join(changed)}")
    return words or ["in another order"]


def _entry_name(entry: Mapping[str, Any]) -> str:
    name = entry.get("label") or entry.get("name") or entry.get("source")
    return str(name["class"].rpartition(".")[2]) if isinstance(name, Mapping) else str(name)


def _is_same(first: Any, second: Any) -> bool:
    """Tell whether two values say the same; what is empty is as good as left out."""
    return (not first and not second and first != 0 and second != 0) or digest(first) == digest(
        second
    )


def _value_word(value: Any) -> str:
    return "nothing" if value in (None, "", [], {}) else str(value)
