"""Carrying out a plan on a Dask cluster: one that is there, or a local one for the occasion."""

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from threadpoolctl import threadpool_limits

from verulam.experiment._plan.records import Outcome, Plan
from verulam.experiment._run.execute import execute
from verulam.experiment._run.worker_pool import Prefetch, run_in_processes
from verulam.experiment._speed import DASK_BATCHES_AHEAD


def run_on_dask(
    plan: Plan, queue: deque[int], *, workers: int, address: str | None
) -> Generator[Outcome | None]:
    """Yield the outcome of each run as it ends, and None whenever no more are at hand.

    Parameters
    ----------
    plan
        The plan, which is sent to every worker once.
    queue
        Which of its runs to carry out; taken from the left, and may be added to meanwhile.
    workers
        Number of processes of a local cluster.
    address
        Where a cluster is; None starts a local one.
    """
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        if address is None:
            # Any free port: the scheduler's page would want 8787, which another cluster may hold.
            cluster: Any = stack.enter_context(
                LocalCluster(
                    n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0"
                )
            )
        client = stack.enter_context(Client(address or cluster, set_as_default=False))
        yield from _Dispatcher(client, plan, queue).outcomes()


class _Dispatcher:
    """Keeps a cluster supplied with batches of runs, and copes with workers that are lost."""

    def __init__(self, client: Any, plan: Plan, queue: deque[int]) -> None:
        self._client, self._plan, self._queue = client, plan, queue
        self._prefetch = Prefetch()
        self._sent: dict[str, Sequence[int]] = {}
        self._there: Any = None

    def outcomes(self) -> Generator[Outcome | None]:
        from distributed import as_completed

        self._scatter()
        arrivals = as_completed(loop=self._client.loop)
        self._supply(arrivals)
        while self._sent:
            for outcome in self._received(next(arrivals)):
                self._prefetch.note(outcome)
                yield outcome
            yield None
            self._supply(arrivals)

    def _scatter(self) -> None:
        self._there = self._client.scatter(self._plan, broadcast=True, hash=False)

    def _supply(self, arrivals: Any) -> None:
        threads = max(1, sum(self._client.nthreads().values()))
        while self._queue and len(self._sent) < DASK_BATCHES_AHEAD * threads:
            # A batch comes back as a whole: long runs go one by one, to be stored as they end.
            size = min(self._prefetch.batch(least=1), -(-len(self._queue) // threads))
            self._submit([self._queue.popleft() for _ in range(size)], arrivals)

    def _submit(self, batch: Sequence[int], arrivals: Any) -> None:
        future = self._client.submit(execute_batch, self._there, batch, pure=False)
        self._sent[future.key] = batch
        arrivals.add(future)

    def _received(self, future: Any) -> Iterator[Outcome]:
        from distributed import KilledWorker

        batch = self._sent.pop(future.key)
        if future.status == "finished":
            yield from future.result()
        elif future.status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):
                raise error
            yield from self._after_deaths(batch)
        else:
            # The only worker that had the plan is gone: it is sent anew, and so are the runs.
            self._scatter()
            self._queue.extendleft(reversed(batch))

    def _after_deaths(self, batch: Sequence[int]) -> Iterator[Outcome]:
        """Blame a run that was alone when workers died; else try those of the batch one by one."""
        if len(batch) == 1:
            words = "ProcessError: several workers died while they carried out this run"
            run = self._plan.runs[batch[0]]
            yield Outcome(run.run_id, "killed", stage="fit", error=words)
            return
        self._prefetch.one_by_one()
        self._queue.extendleft(reversed(batch))


def execute_batch(plan: Plan, positions: Sequence[int]) -> list[Outcome]:
    """Return the outcomes of some runs; this is what a worker of the cluster does.

    Parameters
    ----------
    plan
        The plan.
    positions
        Which of its runs. With limits they are carried out in a process that can be stopped.
    """
    if plan.has_limits:
        outcomes = run_in_processes(plan, deque(positions), workers=1)
        return [outcome for outcome in outcomes if outcome is not None]
    with threadpool_limits(1):
        return [execute(plan, plan.runs[position]) for position in positions]
