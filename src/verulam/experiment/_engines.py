"""Carrying out a plan: one after the other, in processes, or on a Dask cluster."""

import os
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from verulam.base import DataError, DataWarning
from verulam.experiment._execution import Outcome, execute
from verulam.experiment._plan import Plan, make_plan
from verulam.experiment._progress import Progress, show_progress
from verulam.experiment._results import Results
from verulam.experiment._store import Store
from verulam.experiment._study import Study
from verulam.experiment._workers import Engine, run_in_processes
from verulam.measures import as_measure


def run(
    study: Study | Plan,
    store: str | Path,
    *,
    engine: str = "processes",
    workers: int | None = None,
    progress: bool = True,
    retry: Sequence[str] = ("killed", "timed out"),
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
    progress
        Show a progress display, where the output is a terminal.
    retry
        Which unsuccessful runs are tried again: any of "failed", "killed", "timed out".

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
    processes = core_count() if workers is None else worker_count(workers, "workers")
    plan = study if isinstance(study, Plan) else make_plan(study)
    with Store(store) as opened:
        key = opened.add_plan(plan)
        _warn_of_changes(opened, key)
        settled = opened.settled(retry)
        left = _unsettled(plan, settled)
        carry_out = _engine(engine, processes, plan)
        with (
            show_progress(len(plan.runs), len(plan.runs) - len(left), show=progress) as display,
            closing(carry_out(plan, left)) as outcomes,
        ):
            _write(opened, outcomes, display)
    return Results(store, key, measures=[as_measure(each) for each in plan.study.measures or ()])


def _warn_of_changes(store: Store, study: str) -> None:
    changed = store.changed_packages(study)
    if changed:
        warnings.warn(
            f"The store {store.path} has finished runs of this study that were made with "
            f"{', '.join(changed)}; they are used as they are. Take another store to repeat them.",
            DataWarning,
            stacklevel=3,
        )


def _unsettled(plan: Plan, settled: set[str]) -> list[int]:
    """Return where the runs are that are still to do; those of the same identity just once."""
    first: dict[str, int] = {}
    for place, each in enumerate(plan.runs):
        if each.run_id not in settled:
            first.setdefault(each.run_id, place)
    return list(first.values())


def _write(store: Store, outcomes: Iterator[Outcome | None], display: Progress) -> None:
    """Write outcomes down whenever no more are at hand, so that a sudden end loses none."""
    waiting: list[Outcome] = []
    try:
        for outcome in outcomes:
            if outcome is None:
                store.add_outcomes(waiting)
                waiting = []
            else:
                waiting.append(outcome)
                display.advance(outcome)
    finally:
        store.add_outcomes(waiting)


def _engine(name: str, workers: int, plan: Plan) -> Engine:
    limits = [key for key in ("time_limit", "memory_limit") if getattr(plan.study, key) is not None]
    if name == "processes":
        return partial(run_in_processes, workers=workers)
    if limits:
        raise DataError(f"{limits[0]} needs engine='processes'; {name!r} cannot stop a run.")
    if name == "serial":
        return _run_serially
    if name == "dask" or name.startswith("dask://"):
        address = name.removeprefix("dask://") if name != "dask" else None
        return partial(_run_on_dask, workers=workers, address=address)
    raise DataError(f"engine: {name!r}; expected processes, serial, dask or dask://host:port.")


def _run_serially(plan: Plan, positions: Sequence[int]) -> Generator[Outcome | None]:
    # As in the workers: sums split among BLAS threads would differ in the last bits.
    with threadpool_limits(1):
        for position in positions:
            yield execute(plan, plan.runs[position])
            yield None


def _run_on_dask(
    plan: Plan, positions: Sequence[int], *, workers: int, address: str | None
) -> Generator[Outcome | None]:
    from distributed import Client, LocalCluster, as_completed

    cluster: Any = None
    if address is None:
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    try:
        with Client(address or cluster) as client:
            there = client.scatter(plan, broadcast=True, hash=False)
            size = max(1, min(16, len(positions) // (4 * workers)))
            batches = [positions[start : start + size] for start in range(0, len(positions), size)]
            futures = [client.submit(_execute_batch, there, batch, pure=False) for batch in batches]
            for _, outcomes in as_completed(futures, with_results=True):
                yield from outcomes
                yield None
    finally:
        if cluster is not None:
            cluster.close()


def _execute_batch(plan: Plan, positions: Sequence[int]) -> list[Outcome]:
    with threadpool_limits(1):
        return [execute(plan, plan.runs[position]) for position in positions]


def worker_count(given: int, name: str) -> int:
    """Return a number of processes, where -1 stands for one for each core.

    Parameters
    ----------
    given
        The number.
    name
        What the argument is called, for the message.
    """
    if given == -1:
        return core_count()
    if given < 1:
        raise DataError(f"{name}: {given!r}; expected a number of at least 1, or -1 for all cores.")
    return given


def core_count() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this operating system
        return os.cpu_count() or 1
